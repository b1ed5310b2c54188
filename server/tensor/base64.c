// SPDX-License-Identifier: Apache-2.0
/*
 * base64.c: four characters at a time through a table of their six bits, in which the eighth bit
 * marks what is outside the alphabet, so that a group is checked at once. What is wrong is only
 * looked for once a group is.
 */
#include "base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define WRONG 0x80

// clang-format off
#define W WRONG
/* The six bits of each character. */
static const uint8_t values[256] = {
    W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,
    W, W, W, W, W, W, W, W, W, W, W,62, W, W, W,63,52,53,54,55,56,57,58,59,60,61, W, W, W, W, W, W,
    W, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25, W, W, W, W, W,
    W,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51, W, W, W, W, W,
    W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,
    W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,
    W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,
    W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W,
};
#undef W
// clang-format on

void base64_encode(const void *data, size_t len, char *out)
{
    const uint8_t *at = data;
    for (; len >= 3; len -= 3, at += 3, out += 4) {
        uint32_t bits = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        out[0] = alphabet[bits >> 18];
        out[1] = alphabet[bits >> 12 & 63];
        out[2] = alphabet[bits >> 6 & 63];
        out[3] = alphabet[bits & 63];
    }
    if (len == 0)
        return;
    uint32_t bits = (uint32_t)at[0] << 16 | (len == 2 ? (uint32_t)at[1] << 8 : 0);
    out[0] = alphabet[bits >> 18];
    out[1] = alphabet[bits >> 12 & 63];
    out[2] = len == 2 ? alphabet[bits >> 6 & 63] : '=';
    out[3] = '=';
}

/* ---- Reading -------------------------------------------------------------------------------- */

static const char hint[] = "the standard alphabet is expected: A-Z a-z 0-9 + and /, with = at the "
                           "end up to a multiple of 4 characters";

/* Says what is wrong with the character at text[at], which does not belong there. */
static bool refuse_character(const struct tensor_source *text, size_t at, struct err *err)
{
    unsigned char c = ((const unsigned char *)text->bytes)[at];
    if (c == '-' || c == '_')
        return err_add(err, ERR_malformed_tensor, text->where, hint,
                       "character %zu of the base64 is '%c', of the URL-safe alphabet; the "
                       "standard one has '%c' there",
                       at + 1, c, c == '-' ? '+' : '/');
    if (c == '=')
        return err_add(err, ERR_malformed_tensor, text->where, hint,
                       "character %zu of the base64 is '=', which only fills up the last four",
                       at + 1);
    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return err_add(err, ERR_malformed_tensor, text->where, hint,
                       "character %zu of the base64 is white space (0x%02x), which is not skipped",
                       at + 1, c);
    if (c > 0x20 && c < 0x7f)
        return err_add(err, ERR_malformed_tensor, text->where, hint,
                       "character %zu of the base64 is '%c', of no base64 alphabet", at + 1, c);
    return err_add(err, ERR_malformed_tensor, text->where, hint,
                   "character %zu of the base64 is byte 0x%02x, of no base64 alphabet", at + 1, c);
}

/* Whole groups of four without padding, up to the first that is wrong; returns the characters
 * read. */
static size_t decode_groups(const uint8_t *text, size_t len, uint8_t *out)
{
    size_t i = 0;
    for (; len - i >= 4; i += 4, out += 3) {
        uint8_t a = values[text[i]], b = values[text[i + 1]], c = values[text[i + 2]],
                d = values[text[i + 3]];
        if ((a | b | c | d) & WRONG)
            break;
        out[0] = (uint8_t)(a << 2 | b >> 4);
        out[1] = (uint8_t)(b << 4 | c >> 2);
        out[2] = (uint8_t)(c << 6 | d);
    }
    return i;
}

/* The last group, text[0..n) without its padding (n is 2 or 3): its unused bits must be zero. */
static bool decode_last(const uint8_t *text, size_t n, uint8_t *out)
{
    uint8_t a = values[text[0]], b = values[text[1]], c = n == 3 ? values[text[2]] : 0;
    out[0] = (uint8_t)(a << 2 | b >> 4);
    if (n == 3)
        out[1] = (uint8_t)(b << 4 | c >> 2);
    return ((n == 3 ? c << 6 : b << 4) & 0xff) == 0;
}

bool base64_decode(const struct tensor_source *text, void *out, size_t *bytes, struct err *err)
{
    const uint8_t *at = text->bytes;
    size_t len = text->len, done = decode_groups(at, len, out), n = done, padding = 0;
    *bytes = done / 4 * 3;
    if (done == len)
        return true;
    while (n < len && !(values[at[n]] & WRONG))
        n++;
    while (n + padding < len && padding < 2 && at[n + padding] == '=')
        padding++;
    if (n + padding < len) /* a letter behind '=' is right, and the '=' is not */
        return refuse_character(text, values[at[n + padding]] & WRONG ? n + padding : n, err);
    size_t last = n - done; /* characters in a group that '=' fills up */
    if (last < 2 || last + padding != 4)
        return err_add(err, ERR_malformed_tensor, text->where, hint,
                       "the base64 has %zu characters with its padding, no multiple of 4", len);
    if (!decode_last(at + done, last, (uint8_t *)out + *bytes))
        return err_add(err, ERR_malformed_tensor, text->where, hint,
                       "character %zu of the base64 has unused bits that are not zero", n);
    *bytes += last - 1;
    return true;
}
