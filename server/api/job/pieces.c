// SPDX-License-Identifier: Apache-2.0
/*
 * pieces.c: see pieces.h. In JSON readouts and what follows stand behind the tensors and are
 * printed last: some of them are only known when all rows have passed by.
 */
#include "pieces.h"

#include <string.h>

#include "write.h"

#define TEXT_BYTES_MAX ((size_t)1 << 30)

/* ---- Listing ------------------------------------------------------------------------------- */

/* Ends the text that has been written since the last piece. */
static void text_end(struct pieces *pieces)
{
    size_t at = 0;
    for (size_t i = 0; i < pieces->n; i++)
        at += pieces->piece[i].len;
    if (pieces->text.len > at)
        pieces->piece[pieces->n++] = (struct piece){.at = at, .len = pieces->text.len - at};
}

/* About how many bytes an element is printed in. */
static size_t element_bytes(const struct job *job, const struct output *output)
{
    size_t size = pe_dtype_size(output->dtype);
    return format_is_binary(job->format) ? size : size == 8 ? 20 : size == 4 ? 12 : 9;
}

/* How many rows of text, those of the last axis, one row of an output makes. */
static size_t lines_of(const struct job *job, const struct output *output)
{
    bool single = output->rank == 0 || (output->rank == 1 && job->format == FORMAT_CSV);
    return job_output_row(output) / (single ? 1 : output->shape[output->rank - 1]);
}

static void rows_add(struct pieces *pieces, const struct job *job, const struct output *output)
{
    size_t row = job_output_row(output);
    struct piece *piece = &pieces->piece[pieces->n++];
    *piece = (struct piece){.output = output, .rows = output->count / row};
    piece->row_bytes = row * pe_dtype_size(output->dtype);
    pieces->bytes += output->count * element_bytes(job, output);
    if (format_is_binary(job->format)) {
        piece->row_max = piece->row_bytes;
        return;
    }
    piece->lines = lines_of(job, output);
    piece->row_max = job->format == FORMAT_CSV
                         ? piece->lines * answer_csv_row_max(&job->answer)
                         : row * JSON_ELEMENT_MAX + piece->lines * (2 * TREE_RANK_MAX + 1);
}

static void list_tensors(struct pieces *pieces, const struct job *job)
{
    struct buf *text = &pieces->text;
    buf_putc(text, '{');
    for (size_t i = 0; i < job->outputs_n; i++) {
        const struct output *output = &job->outputs[i];
        const struct tree_tensor *tensor = &output->node->as.tensor;
        buf_puts(text, i > 0 ? "}," : "");
        json_write_key(text, output->name);
        json_write_tensor_head(text, tensor);
        if (output->count == 0) {
            json_write_tensor_data(text, tensor);
        } else {
            text_end(pieces);
            rows_add(pieces, job, output);
        }
    }
    buf_puts(text, job->outputs_n > 0 ? "}}" : "}");
}

static void list_json(struct pieces *pieces, const struct job *job)
{
    const struct answer *answer = &job->answer;
    struct buf *text = &pieces->text;
    buf_putc(text, '{');
    for (const struct tree *node = answer->root->first; node != answer->readouts;
         node = node->next) {
        buf_puts(text, node == answer->root->first ? "" : ",");
        json_write_key(text, node->key);
        if (node == answer->outputs)
            list_tensors(pieces, job);
        else
            json_write_tree(text, node);
    }
    text_end(pieces);
    pieces->piece[pieces->n++] = (struct piece){.late = true};
}

static void list_csv(struct pieces *pieces, const struct job *job)
{
    const struct output *main = &job->outputs[job->main];
    if (job->outputs_n == 0)
        return;
    if (main->count == 0) {
        answer_write_csv(&pieces->text, &job->answer);
        text_end(pieces);
        return;
    }
    answer_write_csv_header(&pieces->text, &job->answer);
    text_end(pieces);
    rows_add(pieces, job, main);
}

/* The head is known before the elements. */
static bool list_binary(struct pieces *pieces, const struct job *job)
{
    struct err *err = &job->request->err;
    answer_write_head(&pieces->text, &job->answer, job->format);
    if (pieces->text.len > ANSWER_HEAD_MAX) {
        err->cost = (double)pieces->text.len;
        err->limit = (double)ANSWER_HEAD_MAX;
        return err_add(err, ERR_limit_exceeded, NULL, "ask for .npy, .bin or .json",
                       "parameters and readouts make a header of %zu bytes, the limit is %zu",
                       pieces->text.len, ANSWER_HEAD_MAX);
    }
    pieces->bytes = pieces->text.len;
    text_end(pieces);
    for (size_t i = 0; i < job->outputs_n; i++)
        if (job->outputs[i].count > 0 && (job->format == FORMAT_SAFETENSORS || i == job->main))
            rows_add(pieces, job, &job->outputs[i]);
    return true;
}

bool pieces_list(struct pieces *pieces, const struct job *job)
{
    buf_init(&pieces->text, TEXT_BYTES_MAX);
    buf_init(&pieces->late, TEXT_BYTES_MAX);
    bool ok = true;
    if (format_is_binary(job->format))
        ok = list_binary(pieces, job);
    else if (job->format == FORMAT_CSV)
        list_csv(pieces, job);
    else
        list_json(pieces, job);
    return ok && !pieces->text.failed;
}

void pieces_release(struct pieces *pieces)
{
    buf_release(&pieces->text);
    buf_release(&pieces->late);
}

/* ---- Making -------------------------------------------------------------------------------- */

/* Readouts and what stands behind them. */
static void print_late(const struct job *job, struct buf *out)
{
    for (const struct tree *node = job->answer.readouts; node; node = node->next) {
        buf_putc(out, ',');
        json_write_key(out, node->key);
        json_write_tree(out, node);
    }
    buf_puts(out, "}\n");
}

bool pieces_text(struct job *job, struct pieces *pieces, const struct piece *piece,
                 const char **data, size_t *len)
{
    if (!piece->late) {
        *data = pieces->text.data + piece->at;
        *len = piece->len;
        return true;
    }
    bool ok =
        (!job->endpoint->conclude || job->endpoint->conclude(job)) && tree_ok(job->answer.root);
    if (ok)
        print_late(job, &pieces->late);
    *data = pieces->late.data;
    *len = pieces->late.len;
    return ok && !pieces->late.failed;
}

void pieces_print(const struct job *job, const struct piece *piece, size_t first, size_t n,
                  const void *data, struct buf *out)
{
    struct tree_tensor tensor = piece->output->node->as.tensor;
    tensor.data = data;
    if (job->format == FORMAT_CSV)
        answer_write_csv_rows(out, &job->answer, data, first * piece->lines, n * piece->lines);
    else
        json_write_tensor_rows(out, &tensor, first * piece->lines, n * piece->lines);
}
