// SPDX-License-Identifier: Apache-2.0
/*
 * ref_trig.h: reference for cos and sin of position * base^(-numerator/denominator), straight from
 * the definition: the frequency by exp and log, the angle as a product, sin_cos by MPFR. It shares
 * no code and no way of evaluation with the library.
 */
#ifndef TESTS_REF_TRIG_H
#define TESTS_REF_TRIG_H

#include "ref/ref_round.h"

/* exp(-numerator/denominator * ln(base)), relative error below 2^(2 - precision). */
static inline void ref_frequency(mpfr_t w, double base, size_t numerator, size_t denominator)
{
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(w) + 64);
    mpfr_set_d(exponent, base, MPFR_RNDN);
    mpfr_log(exponent, exponent, MPFR_RNDN);
    mpfr_mul_ui(exponent, exponent, numerator, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, denominator, MPFR_RNDN);
    mpfr_neg(exponent, exponent, MPFR_RNDN);
    mpfr_exp(w, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* Frequency number i of rope or sinusoidal with d channels. */
struct ref_pair {
    double base;
    size_t i, d;
};

/* cos and sin at a position |p| <= 2^53 with a relative error below 2^-(bits - 4) for angles that
 * are not within 2^-60 of a multiple of a quarter turn. */
static inline void ref_cos_sin(struct ref_pair pair, double position, mpfr_t c, mpfr_t s)
{
    mpfr_t angle;
    mpfr_init2(angle, mpfr_get_prec(c) + 120);
    ref_frequency(angle, pair.base, 2 * pair.i, pair.d);
    mpfr_mul_d(angle, angle, position, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    mpfr_clear(angle);
}

#endif
