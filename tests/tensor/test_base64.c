// SPDX-License-Identifier: Apache-2.0
/*
 * test_base64.c: the vectors of RFC 4648 and of tensors, every byte in every place against a slow
 * encoder, and what is refused, with the character that is wrong.
 */
#include "base64.h"

#include <stdio.h>

#include "refusal.h"

/* Bit by bit. */
static void encode_slowly(const unsigned char *data, size_t len, char *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t bit = 0; bit < 8 * len; bit += 6) {
        unsigned value = 0;
        for (size_t i = bit; i < bit + 6; i++)
            value = value << 1 | (i < 8 * len ? data[i / 8] >> (7 - i % 8) & 1u : 0);
        out[n++] = letters[value];
    }
    while (n % 4)
        out[n++] = '=';
    out[n] = '\0';
}

/* Decodes a copy of exactly the text's size into memory of exactly the size that is asked for. */
static bool decode(const char *text, size_t len, unsigned char **out, size_t *n, struct err *err)
{
    char *copy = copy_of(text, len);
    *out = malloc(BASE64_BYTES_MAX(len) + (len < 4));
    bool ok = base64_decode(&(struct tensor_source){copy, len, "/x/b64"}, *out, n, err);
    free(copy);
    return ok;
}

static void expect_bytes(const char *text, const void *bytes, size_t len)
{
    struct err err = {.n = 0};
    unsigned char *out;
    size_t n = 99;
    cr_assert(decode(text, strlen(text), &out, &n, &err), "%s: %s", text, err.item[0].detail);
    cr_assert_eq(n, len, "%s: %zu bytes, not %zu", text, n, len);
    cr_assert(len == 0 || memcmp(out, bytes, len) == 0, "%s", text);
    free(out);
}

static void expect_both_ways(const void *bytes, size_t len, const char *text)
{
    char *out = malloc(BASE64_LEN(len) + 1);
    base64_encode(bytes, len, out);
    out[BASE64_LEN(len)] = '\0';
    cr_assert_str_eq(out, text);
    expect_bytes(text, bytes, len);
    free(out);
}

Test(base64, vectors_of_the_rfc)
{
    static const char *const texts[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                        "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t len = 0; len <= 6; len++)
        expect_both_ways("foobar", len, texts[len]);
}

Test(base64, tensors_are_little_endian)
{
    static const float f32[] = {1, 0x1.14a281p-1f, 0x1.aed549p-1f, -0.0f}; /* 1, cos 1, sin 1, -0 */
    static const double f64[] = {1, 0x1.14a280fb5068cp-1, 0x1.aed548f090ceep-1, -0.0};
    static const unsigned char bf16[] = {0x80, 0x3f, 0x00, 0x40, 0x40, 0x40, 0x80, 0x40};
    expect_both_ways(f32, sizeof f32, "AACAP0BRCj+kalc/AAAAgA==");
    expect_both_ways(f64, sizeof f64, "AAAAAAAA8D+MBrUPKErhP+4MCY9U7eo/AAAAAAAAAIA=");
    expect_both_ways(bf16, sizeof bf16, "gD8AQEBAgEA=");
    expect_both_ways(&(float){0.10598751157522202f}, 4, "+w/ZPQ==");
}

Test(base64, every_byte_in_every_place)
{
    unsigned char data[770];
    char text[BASE64_LEN(sizeof data) + 1];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 37 >> (i % 3));
    for (size_t start = 0; start < 5; start++)
        for (size_t len = 0; len < 20; len++) {
            encode_slowly(data + start, len, text);
            expect_both_ways(data + start, len, text);
        }
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t place = 0; place < 6; place++) {
            unsigned char six[6] = {0};
            six[place] = (unsigned char)byte;
            encode_slowly(six, 6, text);
            expect_both_ways(six, 6, text);
        }
    encode_slowly(data, sizeof data, text);
    expect_both_ways(data, sizeof data, text);
}

Test(base64, refuses_everything_else_by_name)
{
    static const struct {
        const char *text, *detail;
    } rows[] = {
        {"-w_ZPQ==", "character 1 of the base64 is '-', of the URL-safe alphabet; the standard one "
                     "has '+' there"},
        {"+w_ZPQ==", "character 3 of the base64 is '_', of the URL-safe alphabet; the standard one "
                     "has '/' there"},
        {"+w/ZPQ-=", "character 7 of the base64 is '-', of the URL-safe alphabet; the standard one "
                     "has '+' there"},
        {"+w/ZPQ", "the base64 has 6 characters with its padding, no multiple of 4"},
        {"+w/ZPQ=", "the base64 has 7 characters with its padding, no multiple of 4"},
        {"+w/ZP", "the base64 has 5 characters with its padding, no multiple of 4"},
        {"A", "the base64 has 1 characters with its padding, no multiple of 4"},
        {"AAAA=", "the base64 has 5 characters with its padding, no multiple of 4"},
        {"AAAA==", "the base64 has 6 characters with its padding, no multiple of 4"},
        {"AAA==", "the base64 has 5 characters with its padding, no multiple of 4"},
        {"=", "the base64 has 1 characters with its padding, no multiple of 4"},
        {"+w/Z*Q==", "character 5 of the base64 is '*', of no base64 alphabet"},
        {"+w/ZPQ==\n", "character 9 of the base64 is white space (0x0a), which is not skipped"},
        {"+w/Z\r\nPQ==", "character 5 of the base64 is white space (0x0d), which is not skipped"},
        {" +w/ZPQ==", "character 1 of the base64 is white space (0x20), which is not skipped"},
        {"+w/Z\tQ==", "character 5 of the base64 is white space (0x09), which is not skipped"},
        {"AAA=\n", "character 5 of the base64 is white space (0x0a), which is not skipped"},
        {"AA=A", "character 3 of the base64 is '=', which only fills up the last four"},
        {"AA==AAAA", "character 3 of the base64 is '=', which only fills up the last four"},
        {"A===", "character 4 of the base64 is '=', which only fills up the last four"},
        {"====", "character 3 of the base64 is '=', which only fills up the last four"},
        {"AAAA====", "character 7 of the base64 is '=', which only fills up the last four"},
        {"AAB=", "character 3 of the base64 has unused bits that are not zero"},
        {"AAC=", "character 3 of the base64 has unused bits that are not zero"},
        {"AB==", "character 2 of the base64 has unused bits that are not zero"},
        {"AAAAAI==", "character 6 of the base64 has unused bits that are not zero"},
        {"AA\x7f=", "character 3 of the base64 is byte 0x7f, of no base64 alphabet"},
        {"AAA\x80", "character 4 of the base64 is byte 0x80, of no base64 alphabet"},
        {"\xc3\xa9", "character 1 of the base64 is byte 0xc3, of no base64 alphabet"},
        {"\"AAAA\"", "character 1 of the base64 is '\"', of no base64 alphabet"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err err = {.n = 0};
        unsigned char *out;
        size_t n;
        cr_assert_not(decode(rows[i].text, strlen(rows[i].text), &out, &n, &err), "%s",
                      rows[i].text);
        expect_refusal(&err, ERR_malformed_tensor, "/x/b64", rows[i].detail);
        cr_assert_str_eq(err.item[0].hint,
                         "the standard alphabet is expected: A-Z a-z 0-9 + and /, with = at the "
                         "end up to a multiple of 4 characters");
        free(out);
    }
}

/* One wrong byte anywhere in a longer text is found where it is. */
Test(base64, finds_a_wrong_character_anywhere)
{
    char text[64];
    for (size_t place = 0; place < sizeof text; place++)
        for (unsigned byte = 0; byte < 256; byte++) {
            memset(text, 'Q', sizeof text);
            text[place] = (char)byte;
            bool right = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                         (byte >= 'a' && byte <= 'z') || byte == '+' || byte == '/';
            struct err err = {.n = 0};
            unsigned char *out;
            size_t n, at = 0;
            bool ok = decode(text, sizeof text, &out, &n, &err);
            free(out);
            if (byte == '=' && place == sizeof text - 1)
                continue; /* padding */
            cr_assert_eq(ok, right, "byte 0x%02x", byte);
            if (!ok)
                cr_assert_eq(sscanf(err.item[0].detail, "character %zu", &at), 1);
            cr_assert(ok || at == place + 1, "byte 0x%02x at %zu: %s", byte, place,
                      err.item[0].detail);
        }
}
