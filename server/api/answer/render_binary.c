// SPDX-License-Identifier: Apache-2.0
/*
 * render_binary.c: heads of answers whose numbers are bytes: .npy and .bin with the main tensor,
 * .safetensors with all of them and what JSON says beside them as metadata. Everything but the
 * elements is known from the shapes, so that an answer's size is known before it is computed.
 */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "answer.h"
#include "npy.h"
#include "safetensors.h"
#include "write.h"

static_assert(BYTE_ORDER == LITTLE_ENDIAN, "tensors are sent as they stand in memory");

#define TENSORS_MAX        16
#define METADATA_MAX       16 /* members of an answer */
#define METADATA_BYTES_MAX ((size_t)256 << 20)

static size_t tensor_bytes(const struct tree *node)
{
    const struct tree_tensor *tensor = &node->as.tensor;
    return tree_tensor_count(tensor) * pe_dtype_size(tensor->dtype);
}

/* ---- Heads --------------------------------------------------------------------------------- */

static void write_npy_head(struct buf *out, const struct tree_tensor *tensor)
{
    if (buf_reserve(out, NPY_HEADER_OUT_MAX))
        out->len += npy_header(tensor->dtype, tensor->rank, tensor->shape, out->data + out->len);
}

/* Texts as they are, everything else as JSON. */
static void write_member(struct buf *text, const struct tree *member)
{
    if (member->type == TREE_STRING)
        buf_puts(text, member->as.string);
    else
        json_write_tree(text, member);
}

/* The members of the envelope that are not tensors; links are for those who read JSON. Their texts
 * stand one behind the other in `texts`. */
static size_t list_metadata(const struct answer *answer, struct buf *texts,
                            struct safetensors_pair pairs[METADATA_MAX])
{
    size_t n = 0, start[METADATA_MAX];

    for (const struct tree *member = answer->root->first; member; member = member->next) {
        if (member == answer->tensors || strcmp(member->key, "links") == 0)
            continue;
        assert(n < METADATA_MAX);
        start[n] = texts->len;
        pairs[n].key = member->key;
        write_member(texts, member);
        pairs[n].value_len = texts->len - start[n];
        n++;
    }
    for (size_t i = 0; i < n; i++)
        pairs[i].value = texts->data + start[i];
    return n;
}

static void write_safetensors_head(struct buf *out, const struct answer *answer)
{
    struct safetensors_tensor tensors[TENSORS_MAX];
    struct safetensors_pair pairs[METADATA_MAX];
    struct buf texts;
    size_t tensors_n = 0;

    for (const struct tree *node = answer->outputs->first; node; node = node->next) {
        assert(tensors_n < TENSORS_MAX);
        const struct tree_tensor *tensor = &node->as.tensor;
        struct tensor_view view = {.dtype = tensor->dtype, .rank = tensor->rank};
        memcpy(view.shape, tensor->shape, sizeof view.shape);
        view.bytes = tensor_bytes(node);
        tensors[tensors_n++] = (struct safetensors_tensor){node->key, view};
    }
    buf_init(&texts, METADATA_BYTES_MAX);
    size_t pairs_n = list_metadata(answer, &texts, pairs);
    struct safetensors file = {tensors, tensors_n, pairs, pairs_n};
    if (texts.failed)
        out->failed = true;
    else
        safetensors_header(&file, out);
    buf_release(&texts);
}

void answer_write_head(struct buf *out, const struct answer *answer, enum format format)
{
    if (format == FORMAT_NPY)
        write_npy_head(out, &answer->main->as.tensor);
    else if (format == FORMAT_SAFETENSORS)
        write_safetensors_head(out, answer);
}
