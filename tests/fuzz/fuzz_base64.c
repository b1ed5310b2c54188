// SPDX-License-Identifier: Apache-2.0
/* fuzz_base64.c: any text as base64, which then is the only text of its bytes; any bytes there and
 * back. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of a text, to be freed; NULL when it is refused, with a reason. */
static void *decode(const void *text, size_t len, size_t *bytes)
{
    struct err err = {.n = 0};
    void *out = malloc(BASE64_BYTES_MAX(len) + 1);
    bool ok = base64_decode(&(struct tensor_source){text, len, ""}, out, bytes, &err);
    assert(ok == (err.n == 0));
    if (ok)
        return out;
    free(out);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    char *text = malloc(BASE64_LEN(size) + 1);
    void *bytes = decode(data, size, &n);
    if (bytes) {
        assert(BASE64_LEN(n) == size);
        base64_encode(bytes, n, text);
        assert(memcmp(text, data, size) == 0);
        free(bytes);
    }
    base64_encode(data, size, text);
    bytes = decode(text, BASE64_LEN(size), &n);
    assert(bytes && n == size && memcmp(bytes, data, size) == 0);
    free(bytes);
    free(text);
    return 0;
}
