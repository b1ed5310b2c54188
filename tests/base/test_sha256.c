// SPDX-License-Identifier: Apache-2.0
/*
 * test_sha256.c: the example digests of NIST for FIPS 180-4, and lengths around the padding's edges
 * (digests by Python's hashlib).
 */
#include "sha256.h"

#include "sha256_blocks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    size_t times;
    const char *digest;
} rows[] = {
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "qrsmnopqrstnopqrstu",
     1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {"a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
    {"a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
    {"a", 57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
    {"a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
    {"a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    {"a", 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
    {"a", 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
    {"a", 120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
    {"a", 128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
};

Test(sha256, digests)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t unit = strlen(rows[i].text), len = unit * rows[i].times;
        char *text = malloc(len + 1);
        for (size_t k = 0; k < rows[i].times; k++)
            memcpy(text + k * unit, rows[i].text, unit);
        char hex[65];
        sha256_hex(text, len, 64, hex);
        cr_assert_str_eq(hex, rows[i].digest, "row %zu", i);
        sha256_hex(text, len, 16, hex);
        cr_assert_eq(strlen(hex), 16);
        cr_assert_eq(strncmp(hex, rows[i].digest, 16), 0, "row %zu, 16 digits", i);
        free(text);
    }
}

Test(sha256, is_the_same_in_pieces)
{
    const char *text = rows[3].text;
    size_t len = strlen(text);
    for (size_t a = 0; a <= len; a++)
        for (size_t b = a; b <= len; b++) {
            struct sha256 sha;
            unsigned char digest[32];
            sha256_init(&sha);
            sha256_update(&sha, text, a);
            sha256_update(&sha, text + a, b - a);
            sha256_update(&sha, text + b, len - b);
            sha256_final(&sha, digest);
            char hex[65];
            for (int i = 0; i < 32; i++)
                snprintf(hex + 2 * i, 3, "%02x", digest[i]);
            cr_assert_str_eq(hex, rows[3].digest, "cut at %zu and %zu", a, b);
        }
}

Test(sha256, base64)
{
    /* Python: base64.b64encode(hashlib.sha256(text).digest()) */
    static const struct {
        const char *text, *base64;
    } cases[] = {
        {"", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
        {"abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
        {"a", "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char digest[32];
        char base64[SHA256_BASE64];
        sha256_digest(cases[i].text, strlen(cases[i].text), digest);
        sha256_base64(digest, base64);
        cr_expect_str_eq(base64, cases[i].base64, "%s", base64);
    }
}

Test(sha256, both_forms_of_the_inner_function_agree)
{
    unsigned char blocks[9 * 64 + 1];
    uint32_t word = 12345;
    if (!sha256_ni_works())
        cr_skip_test("this processor has no SHA instructions");
    for (size_t i = 0; i < sizeof blocks; i++, word = word * 1664525 + 1013904223)
        blocks[i] = (unsigned char)(word >> 24);
    for (size_t n = 0; n <= 9; n++) {
        uint32_t a[8], b[8];
        for (int i = 0; i < 8; i++, word = word * 1664525 + 1013904223)
            a[i] = b[i] = word;
        sha256_blocks_portable(a, blocks + 1, n);
        sha256_blocks_ni(b, blocks + 1, n);
        cr_assert_arr_eq(a, b, sizeof a, "%zu blocks", n);
    }
}

/* The same rows, by the C code alone. */
Test(sha256, digests_without_the_instructions)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t unit = strlen(rows[i].text), len = unit * rows[i].times;
        size_t padded = (len + 1 + 8 + 63) / 64 * 64;
        unsigned char *text = calloc(padded, 1);
        uint32_t state[8];
        struct sha256 fresh;
        char hex[65];
        for (size_t k = 0; k < rows[i].times; k++)
            memcpy(text + k * unit, rows[i].text, unit);
        text[len] = 0x80;
        for (size_t k = 0; k < 8; k++)
            text[padded - 1 - k] = (unsigned char)((uint64_t)len * 8 >> 8 * k);
        sha256_init(&fresh);
        memcpy(state, fresh.state, sizeof state);
        sha256_blocks_portable(state, text, padded / 64);
        for (int k = 0; k < 8; k++)
            snprintf(hex + 8 * k, 9, "%08x", state[k]);
        cr_expect_str_eq(hex, rows[i].digest, "row %zu", i);
        free(text);
    }
}
