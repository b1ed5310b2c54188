// SPDX-License-Identifier: Apache-2.0
/* blob.c: shared immutable bytes; the last user frees them. */
#include "blob.h"

#include <assert.h>
#include <stdlib.h>

#include "pages.h"

#define SURPLUS_MAX ((size_t)4096) /* what a blob may take without a use for it */

struct blob *blob_from_buf(struct buf *buf)
{
    assert(!buf->failed);
    struct blob *blob = malloc(sizeof *blob);
    if (!blob)
        return NULL;
    atomic_init(&blob->refs, 1);
    bool surplus = buf->capacity - buf->len >= SURPLUS_MAX && buf->len > 0;
    char *fitting = surplus ? pages_resize(buf->data, buf->len, buf->len) : NULL;
    blob->len = buf->len;
    blob->data = fitting ? fitting : buf->data;
    buf_init(buf, buf->len_max);
    return blob;
}

void blob_settle(struct blob *blob)
{
    char *settled = pages_settle(blob->data, blob->len);

    if (settled)
        blob->data = settled;
}

struct blob *blob_ref(struct blob *blob)
{
    atomic_fetch_add_explicit(&blob->refs, 1, memory_order_relaxed);
    return blob;
}

void blob_unref(struct blob *blob)
{
    /* Release what this thread did with it; acquire what all others did before the memory goes. */
    if (!blob || atomic_fetch_sub_explicit(&blob->refs, 1, memory_order_acq_rel) != 1)
        return;
    pages_free(blob->data);
    free(blob);
}
