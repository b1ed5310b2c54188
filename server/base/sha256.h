// SPDX-License-Identifier: Apache-2.0
/* sha256.h: SHA-256 (FIPS 180-4), for spec ids, ETags and Repr-Digest. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t len;
    unsigned char block[64];
};

void sha256_init(struct sha256 *sha);
void sha256_update(struct sha256 *sha, const void *data, size_t len);
void sha256_final(struct sha256 *sha, unsigned char digest[32]);
void sha256_digest(const void *data, size_t len, unsigned char digest[32]);
/* As base64 (RFC 4648), NUL-terminated, as fields of HTTP spell it. */
#define SHA256_BASE64 45
void sha256_base64(const unsigned char digest[32], char out[SHA256_BASE64]);
/* Its first `digits` (<= 64) lower-case hex digits; out has digits + 1. */
void sha256_digits(const unsigned char digest[32], size_t digits, char *out);
/* The same of the digest of one text. */
void sha256_hex(const void *data, size_t len, size_t digits, char *out);

#endif
