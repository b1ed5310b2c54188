// SPDX-License-Identifier: Apache-2.0
/*
 * exact.h: sums of values that MPFR can give to any precision, where cancellation decides how many
 * bits the terms need.
 */
#ifndef PE_CORE_EXACT_H
#define PE_CORE_EXACT_H

#include "round.h"

/* Holds any sum of products of doubles without rounding: from 2^-2148 to 2^2048, 2^64 terms. */
#define PE__EXACT_BITS (2148 + 2048 + 64)

/* y = the sum of term(context, i), i < n, with a relative error of at most 2^(8 - precision), as
 * the terms have themselves (half a bit more is tolerated). A sum that has lost PE__EXACT_BITS to
 * cancellation counts as 0. The first term that is not finite decides a sum that is not. */
void pe__exact_sum(pe__exact_fn *term, const void *context, size_t n, mpfr_t y);

/* sum += a * b, without rounding if sum has PE__EXACT_BITS. */
void pe__exact_add_product(mpfr_t sum, double a, double b);

#endif
