// SPDX-License-Identifier: Apache-2.0
/* test_utf8.c: every character both ways, and what RFC 3629 forbids. */
#include "utf8.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The definition, written out: length and bytes of a character. */
static size_t encode_by_table(uint32_t code, unsigned char out[4])
{
    unsigned char a = code & 63, b = code >> 6 & 63, c = code >> 12 & 63, d = code >> 18 & 7;
    if (code < 0x80)
        return out[0] = (unsigned char)code, 1;
    if (code < 0x800)
        return out[0] = 0xc0 | b, out[1] = 0x80 | a, 2;
    if (code < 0x10000)
        return out[0] = 0xe0 | c, out[1] = 0x80 | b, out[2] = 0x80 | a, 3;
    return out[0] = 0xf0 | d, out[1] = 0x80 | c, out[2] = 0x80 | b, out[3] = 0x80 | a, 4;
}

Test(utf8, every_character_both_ways)
{
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        unsigned char wanted[4];
        char got[4];
        size_t n = encode_by_table(code, wanted);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        if (!surrogate) {
            cr_assert_eq(utf8_encode(code, got), n, "U+%04X", code);
            cr_assert_eq(memcmp(got, wanted, n), 0, "U+%04X", code);
        }
        uint32_t back = 0;
        size_t len = utf8_decode((char *)wanted, n, &back);
        cr_assert_eq(len, surrogate ? 0 : n, "U+%04X: length %zu", code, len);
        cr_assert(surrogate || back == code, "U+%04X came back as U+%04X", code, back);
        for (size_t cut = 1; cut < n; cut++)
            cr_assert_eq(utf8_decode((char *)wanted, cut, &back), 0, "U+%04X cut", code);
    }
}

Test(utf8, refuses_what_is_not_utf8)
{
    static const char *const wrong[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xc3(",
        "\xe2\x82(",
        "\xe2(\xac",
        "\xf0\x9f\x8e(",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80",
        "\xfc\x84\x80\x80\x80\x80",
        "\xfe",
        "\xff",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint32_t code;
        cr_assert_eq(utf8_decode(wrong[i], strlen(wrong[i]), &code), 0, "row %zu", i);
    }
}
