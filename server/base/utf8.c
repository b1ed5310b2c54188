// SPDX-License-Identifier: Apache-2.0
/* utf8.c: RFC 3629, strictly. */
#include "utf8.h"

#include <stdbool.h>

static bool continues(const char *text, size_t n, uint32_t *code)
{
    for (size_t i = 1; i < n; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0) != 0x80)
            return false;
        *code = *code << 6 | (byte & 0x3f);
    }
    return true;
}

size_t utf8_decode(const char *text, size_t len, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length; less is overlong */
    unsigned char lead = (unsigned char)text[0];
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    size_t n = lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
    if (n == 0 || n > len)
        return 0;
    *code = lead & (0x7fu >> n);
    if (!continues(text, n, code) || *code < least[n] || *code > 0x10ffff)
        return 0;
    return *code >= 0xd800 && *code <= 0xdfff ? 0 : n;
}

size_t utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00u >> n & 0xf0) | code);
    return n;
}
