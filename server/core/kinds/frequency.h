// SPDX-License-Identifier: Apache-2.0
/*
 * frequency.h: powers of the base, to any precision.
 */
#ifndef PE_CORE_FREQUENCY_H
#define PE_CORE_FREQUENCY_H

#include <mpfr.h>
#include <stddef.h>

/* w = base^(-numerator / denominator) / divisor, error < 1 ulp of w. base > 1, divisor > 0. */
void pe__frequency(double base, size_t numerator, size_t denominator, double divisor, mpfr_t w);
/* w = base^(-numerator / (denominator - shift)), error < 1 ulp of w; denominator > shift. */
void pe__frequency_shifted(double base, size_t numerator, size_t denominator, double shift,
                           mpfr_t w);

#endif
