// SPDX-License-Identifier: Apache-2.0
/*
 * sha256_ni.c: blocks of SHA-256 by the SHA instructions of x86-64; built with -msha -msse4.1.
 * sha256rnds2 does two rounds on a state that is kept as ABEF and CDGH; sha256msg1 and sha256msg2
 * make four words of the message schedule out of the sixteen before them.
 */
#include "sha256_blocks.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define CPUID_7_EBX_SHA (1u << 29)

bool sha256_ni_works(void)
{
    unsigned eax, ebx, ecx, edx;
    return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
           (ebx & CPUID_7_EBX_SHA);
}

struct state {
    __m128i abef, cdgh;
};

/* Four rounds with the words w[t] ... w[t+3]. */
static inline void rounds(struct state *s, __m128i w, int t)
{
    const __m128i *constants = (const __m128i *)(const void *)(sha256_round_constants + t);
    __m128i sum = _mm_add_epi32(w, _mm_loadu_si128(constants));
    s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, sum);
    s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* w[t] ... w[t+3] out of the sixteen words before, four in each of w0 (the oldest) to w3. */
static inline __m128i schedule(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    __m128i w9 = _mm_alignr_epi8(w3, w2, 4); /* w[t-7] ... w[t-4] */
    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), w9), w3);
}

static inline void compress(struct state *s, const unsigned char *block)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i w[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        w[i] = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
        w[i] = _mm_shuffle_epi8(w[i], big_endian);
        rounds(s, w[i], 4 * i);
    }
#pragma GCC unroll 12
    for (int i = 4; i < 16; i++) {
        __m128i next = schedule(w[i % 4], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
        w[i % 4] = next;
        rounds(s, next, 4 * i);
    }
}

void sha256_blocks_ni(uint32_t state[8], const unsigned char *blocks, size_t n)
{
    __m128i *halves = (__m128i *)(void *)state;
    __m128i dcba = _mm_loadu_si128(halves), hgfe = _mm_loadu_si128(halves + 1);
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    struct state s = {_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0)};
    for (; n > 0; n--, blocks += 64) {
        struct state before = s;
        compress(&s, blocks);
        s.abef = _mm_add_epi32(s.abef, before.abef);
        s.cdgh = _mm_add_epi32(s.cdgh, before.cdgh);
    }
    __m128i feba = _mm_shuffle_epi32(s.abef, 0x1b), dchg = _mm_shuffle_epi32(s.cdgh, 0xb1);
    _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool sha256_ni_works(void)
{
    return false;
}

void sha256_blocks_ni(uint32_t state[8], const unsigned char *blocks, size_t n)
{
    sha256_blocks_portable(state, blocks, n);
}

#endif
