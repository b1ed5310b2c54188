// SPDX-License-Identifier: Apache-2.0
/* inflate.c: see inflate.h. */
#include "inflate.h"

#include <stdint.h>
#include <string.h>

#include "body.h"
#include "budget.h"
#include "err.h"
#include "gzip.h"
#include "pages.h"

static bool is_aligned(const char *data)
{
    return (uintptr_t)data % BODY_ALIGN == 0;
}

/* An empty buffer with aligned memory of this capacity. */
static bool buf_begin(struct buf *out, size_t capacity, size_t limit)
{
    size_t rounded = (capacity + BODY_ALIGN - 1) / BODY_ALIGN * BODY_ALIGN;

    buf_init(out, limit);
    out->data = pages_alloc(rounded);
    out->capacity = out->data ? rounded : 0;
    return out->data;
}

/* A buffer that had to grow lies anywhere. */
static bool buf_align(struct buf *out)
{
    struct buf aligned;

    if (is_aligned(out->data))
        return true;
    if (!buf_begin(&aligned, out->len, out->len_max))
        return false;
    memcpy(aligned.data, out->data, out->len);
    aligned.len = out->len;
    buf_release(out);
    *out = aligned;
    return true;
}

static bool refuse(struct err *err, enum gzip_result result, const struct gzip_fault *fault,
                   size_t limit)
{
    if (result == GZIP_TOO_LARGE)
        return err_add(err, ERR_body_too_large, NULL, NULL,
                       "the body has more than %zu bytes when inflated, which is the limit", limit);
    if (result == GZIP_MALFORMED)
        return err_add(err, ERR_bad_request, "Content-Encoding", NULL,
                       "the body is not what its Content-Encoding says: %s (byte %zu)", fault->says,
                       fault->at);
    err->retry_after_s = 1;
    return err_add(err, ERR_overloaded, NULL, "try again later",
                   "no memory to inflate the body beside other requests");
}

/* Room for what the body announces. Only a body of several members can hold more, and grows: that
 * is counted when it is done. */
static enum gzip_result inflate_counted(const char *body, size_t len, struct budget *memory,
                                        struct buf *out, struct gzip_fault *fault)
{
    size_t announced = gzip_announced(body, len);

    if (!buf_begin(out, announced <= out->len_max ? announced : 0, out->len_max))
        return GZIP_NO_MEMORY;
    size_t taken = out->capacity;
    if (memory && !budget_take(memory, taken))
        return GZIP_NO_MEMORY;
    enum gzip_result result = gzip_inflate(body, len, out, fault);
    if (result == GZIP_OK && !buf_align(out))
        result = GZIP_NO_MEMORY;
    size_t more = result == GZIP_OK && out->capacity > taken ? out->capacity - taken : 0;
    if (memory && more > 0 && !budget_take(memory, more)) {
        more = 0;
        result = GZIP_NO_MEMORY;
    }
    size_t surplus = result == GZIP_OK ? taken + more - out->capacity : taken;
    if (memory)
        budget_give(memory, surplus);
    return result;
}

bool body_inflate(const char *body, size_t len, size_t limit, struct budget *memory,
                  struct buf *out, struct err *err)
{
    struct gzip_fault fault;

    buf_init(out, limit);
    enum gzip_result result = inflate_counted(body, len, memory, out, &fault);
    if (result == GZIP_OK)
        return true;
    buf_release(out);
    return refuse(err, result, &fault, limit);
}
