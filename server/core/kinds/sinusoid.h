// SPDX-License-Identifier: Apache-2.0
/*
 * sinusoid.h: what the kinds that add sines and cosines share: where a pair's two values stand, and
 * the frequencies that libraries give the pairs.
 */
#ifndef PE_CORE_SINUSOID_H
#define PE_CORE_SINUSOID_H

#include <mpfr.h>

#include "kind.h"
#include "rows.h"

/* The order of the values: sin and cos of one pair after the other, all sines first, all cosines
 * first. */
enum pe__order { PE__ORDER_INTERLEAVED, PE__ORDER_SIN_COS, PE__ORDER_COS_SIN };

#define PE__ROW_ORDER(usual)                                                                       \
    {                                                                                              \
        .name = "order", .aliases = "layout", .type = PE_ENUM,                                     \
        .choices = "interleaved sin_cos|half cos_sin", .fallback = (usual),                        \
        .help = "Where pair i stands: interleaved has sin in 2i and cos in 2i+1, sin_cos has all " \
                "sines before all cosines, cos_sin all cosines first."                             \
    }

#define PE__ROW_FREQ_SHIFT(usual, condition)                                                       \
    {                                                                                              \
        .name = "freq_shift", .aliases = "downscale_freq_shift", .type = PE_REAL,                  \
        .min = -PE_DIM_MAX, .max = PE_DIM_MAX, .fallback = (usual), .when = (condition),           \
        .help = "Taken from the denominator of the exponent, -i/(floor(dim/2)-freq_shift), which " \
                "must stay 0.5 or more: 0 never reaches 1/base, with 1 the last pair does."        \
    }

/* freq_shift against dim. */
bool pe__freq_shift_check(const struct pe_spec *spec, struct pe_faults *faults);
/* w = base^(-k / (floor(dim / 2) - freq_shift)). */
void pe__freq_shift_frequency(const struct pe_spec *spec, size_t k, mpfr_t w);

/* Channels of pair k where there are so many sines, and as many cosines or one less. */
void pe__order_channels(enum pe__order order, size_t sines_n, size_t cosines_n, size_t k, size_t *c,
                        size_t *s);

#endif
