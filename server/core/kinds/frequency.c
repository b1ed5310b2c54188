// SPDX-License-Identifier: Apache-2.0
/*
 * frequency.c: powers of the base by MPFR. The exponent is not a binary number in general, so its
 * rounding error is multiplied by |ln w|: 64 guard bits cover that for any base of a double.
 */
#include "frequency.h"

#define GUARD_BITS 64

/* w = base^-exponent; `exponent` is scratch then. */
static void negative_power(double base, mpfr_t exponent, mpfr_t w)
{
    mpfr_t x;
    mpfr_init2(x, mpfr_get_prec(exponent));
    mpfr_neg(exponent, exponent, MPFR_RNDN);
    mpfr_set_d(x, base, MPFR_RNDN);
    mpfr_pow(w, x, exponent, MPFR_RNDN);
    mpfr_clear(x);
}

void pe__frequency(double base, size_t numerator, size_t denominator, double divisor, mpfr_t w)
{
    mpfr_prec_t bits = mpfr_get_prec(w) + GUARD_BITS;
    mpfr_t x, power;
    mpfr_init2(x, bits);
    mpfr_init2(power, bits);
    mpfr_set_ui(power, numerator, MPFR_RNDN);
    mpfr_div_ui(power, power, denominator, MPFR_RNDN);
    negative_power(base, power, x);
    mpfr_div_d(w, x, divisor, MPFR_RNDN);
    mpfr_clears(x, power, (mpfr_ptr)0);
}

void pe__frequency_shifted(double base, size_t numerator, size_t denominator, double shift,
                           mpfr_t w)
{
    mpfr_prec_t bits = mpfr_get_prec(w) + GUARD_BITS;
    mpfr_t exponent, reduced;
    mpfr_init2(exponent, bits);
    mpfr_init2(reduced, bits);
    mpfr_set_ui(reduced, denominator, MPFR_RNDN);
    mpfr_sub_d(reduced, reduced, shift, MPFR_RNDN);
    mpfr_set_ui(exponent, numerator, MPFR_RNDN);
    mpfr_div(exponent, exponent, reduced, MPFR_RNDN);
    negative_power(base, exponent, w);
    mpfr_clears(exponent, reduced, (mpfr_ptr)0);
}
