// SPDX-License-Identifier: Apache-2.0
/*
 * sha256.c: SHA-256 as FIPS 180-4 describes it, section numbers in the comments. Blocks are
 * compressed by the processor's own instructions (sha256_ni.c) where it has them.
 */
#include "sha256.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "sha256_blocks.h"

const uint32_t sha256_round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

enum { PORTABLE = 1, NATIVE };

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store_big_endian(uint32_t x, unsigned char *at)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(x >> (24 - 8 * i));
}

/* 6.2.2: one block. The working variables are named as there. */
static void compress(uint32_t state[8], const unsigned char block[64])
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = load_big_endian(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
        uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + sha256_round_constants[t] + w[t];
        uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void sha256_blocks_portable(uint32_t state[8], const unsigned char *blocks, size_t n)
{
    for (; n > 0; n--, blocks += 64)
        compress(state, blocks);
}

static void compress_blocks(uint32_t state[8], const unsigned char *blocks, size_t n)
{
    static atomic_int choice; /* 0 until asked */
    int chosen = atomic_load_explicit(&choice, memory_order_relaxed);
    if (chosen == 0) {
        chosen = sha256_ni_works() ? NATIVE : PORTABLE;
        atomic_store_explicit(&choice, chosen, memory_order_relaxed);
    }
    (chosen == NATIVE ? sha256_blocks_ni : sha256_blocks_portable)(state, blocks, n);
}

void sha256_init(struct sha256 *sha)
{
    /* 5.3.3: the same of the square roots of the first 8 primes. */
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, initial, sizeof initial);
    sha->len = 0;
}

void sha256_update(struct sha256 *sha, const void *data, size_t len)
{
    const unsigned char *at = data;
    size_t held = sha->len % 64;
    sha->len += len;
    if (held > 0) {
        size_t n = len < 64 - held ? len : 64 - held;
        memcpy(sha->block + held, at, n);
        at += n;
        len -= n;
        if (held + n < 64)
            return;
        compress_blocks(sha->state, sha->block, 1);
    }
    compress_blocks(sha->state, at, len / 64);
    if (len % 64 > 0)
        memcpy(sha->block, at + len / 64 * 64, len % 64);
}

void sha256_final(struct sha256 *sha, unsigned char digest[32])
{
    /* 5.1.1: a one bit, zeros up to 8 bytes before the end of a block, the length in bits. */
    static const unsigned char padding[64] = {0x80};
    unsigned char bits[8];
    store_big_endian((uint32_t)(sha->len >> 29), bits);
    store_big_endian((uint32_t)(sha->len << 3), bits + 4);
    size_t held = sha->len % 64;
    sha256_update(sha, padding, held < 56 ? 56 - held : 120 - held);
    sha256_update(sha, bits, sizeof bits);
    for (int i = 0; i < 8; i++)
        store_big_endian(sha->state[i], digest + 4 * i);
}

void sha256_digest(const void *data, size_t len, unsigned char digest[32])
{
    struct sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, data, len);
    sha256_final(&sha, digest);
}

void sha256_base64(const unsigned char digest[32], char out[SHA256_BASE64])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < 33; i += 3) { /* one byte more than there is: 43 digits and a = */
        uint32_t last = i + 2 < 32 ? digest[i + 2] : 0;
        uint32_t bits = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 | last;
        for (int shift = 18; shift >= 0; shift -= 6)
            *out++ = alphabet[bits >> shift & 63];
    }
    out[-1] = '=';
    *out = '\0';
}

void sha256_digits(const unsigned char digest[32], size_t digits, char *out)
{
    assert(digits <= 64);
    for (size_t i = 0; i < digits; i++)
        out[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
    out[digits] = '\0';
}

void sha256_hex(const void *data, size_t len, size_t digits, char *out)
{
    unsigned char digest[32];
    sha256_digest(data, len, digest);
    sha256_digits(digest, digits, out);
}
