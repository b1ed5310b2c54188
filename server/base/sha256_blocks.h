// SPDX-License-Identifier: Apache-2.0
/*
 * sha256_blocks.h: the inner function of SHA-256 in two forms with the same results: C for every
 * processor, and the SHA instructions of x86-64. Private to sha256*.c and their test.
 */
#ifndef BASE_SHA256_BLOCKS_H
#define BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
 * primes. */
extern const uint32_t sha256_round_constants[64];

/* Takes n blocks of 64 bytes into the state (6.2.2). */
void sha256_blocks_portable(uint32_t state[8], const unsigned char *blocks, size_t n);
/* The same; to be called only where sha256_ni_works(). */
void sha256_blocks_ni(uint32_t state[8], const unsigned char *blocks, size_t n);
bool sha256_ni_works(void);

#endif
