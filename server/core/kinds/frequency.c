// SPDX-License-Identifier: Apache-2.0
/*
 * frequency.c: powers of the base by MPFR. The exponent is not a binary number in general, so its
 * rounding error is multiplied by |ln w|: 64 guard bits cover that for any base of a double.
 */
#include "frequency.h"

#define GUARD_BITS 64

void pe__frequency(double base, size_t numerator, size_t denominator, double divisor, mpfr_t w)
{
    mpfr_prec_t bits = mpfr_get_prec(w) + GUARD_BITS;
    mpfr_t x, power;
    mpfr_init2(x, bits);
    mpfr_init2(power, bits);
    mpfr_set_ui(power, numerator, MPFR_RNDN);
    mpfr_div_ui(power, power, denominator, MPFR_RNDN);
    mpfr_neg(power, power, MPFR_RNDN);
    mpfr_set_d(x, base, MPFR_RNDN);
    mpfr_pow(x, x, power, MPFR_RNDN);
    mpfr_div_d(w, x, divisor, MPFR_RNDN);
    mpfr_clears(x, power, (mpfr_ptr)0);
}
