// SPDX-License-Identifier: Apache-2.0
/* draw.h: test vectors from a seed. See posenc.h. */
#ifndef POSENC_DRAW_H
#define POSENC_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SplitMix64 in counter form: draw(k) = mix((seed ^ fnv1a(stream)) + k * golden), k = 1, 2, ... */
enum pe_content { PE_CONTENT_NORMAL, PE_CONTENT_UNIFORM };
uint64_t pe_draw(uint64_t seed, const char *stream, uint64_t k);
/* Elements [first, first + n) of the stream times gain, rounded once to dtype. */
void pe_fill_random(uint64_t seed, const char *stream, enum pe_content content, double gain,
                    size_t first, size_t n, enum pe_dtype dtype, void *out);

#ifdef __cplusplus
}
#endif

#endif
