// SPDX-License-Identifier: Apache-2.0
/* fuzz_gzip.c: any bytes as a gzip body, within its limit; any bytes there and back. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "gzip.h"

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_round_trip(const void *data, size_t size)
{
    struct buf packed, out;
    struct gzip_fault fault;
    buf_init(&packed, 2 * LIMIT);
    buf_init(&out, size);
    assert(gzip_deflate(data, size, 1 + (int)(size % 9), &packed) == GZIP_OK);
    assert(gzip_inflate(packed.data, packed.len, &out, &fault) == GZIP_OK);
    assert(out.len == size && (size == 0 || memcmp(out.data, data, size) == 0));
    buf_release(&packed);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf out;
    struct gzip_fault fault = {NULL, 0};
    buf_init(&out, LIMIT);
    enum gzip_result result = gzip_inflate(data, size, &out, &fault);
    assert(result != GZIP_NO_MEMORY && out.len <= LIMIT && out.capacity <= LIMIT);
    assert((result == GZIP_MALFORMED) == (fault.says != NULL) && fault.at <= size);
    if (result == GZIP_OK)
        expect_round_trip(out.data, out.len);
    buf_release(&out);
    expect_round_trip(data, size);
    return 0;
}
