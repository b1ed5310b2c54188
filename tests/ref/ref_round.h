// SPDX-License-Identifier: Apache-2.0
/*
 * ref_round.h: reference for rounding a number of many digits to an element type, by counting it in
 * units of the last place that the format has at the number's size.
 */
#ifndef TESTS_REF_ROUND_H
#define TESTS_REF_ROUND_H

#include <math.h>
#include <mpfr.h>

#include "posenc.h"

/* Bits of the significand; exponent of the least normal number as 0.5 <= significand < 1. */
static const struct {
    long bits, exponent_min;
} ref_formats[] = {
    [PE_F64] = {53, -1021}, [PE_F32] = {24, -125}, [PE_F16] = {11, -13}, [PE_BF16] = {8, -125}};

/* y rounded to nearest, ties to even, as a double (exact); magnitudes stay below overflow. *margin
 * is how far y is from the nearest tie, in units of the last place of a number of its size. */
static inline double ref_round_margin(enum pe_dtype dtype, mpfr_srcptr y, double *margin)
{
    MPFR_DECL_INIT(n, 2048);
    MPFR_DECL_INIT(whole, 2048);
    *margin = 0.5;
    if (mpfr_zero_p(y))
        return 0;
    long exponent = mpfr_get_exp(y);
    if (exponent < ref_formats[dtype].exponent_min)
        exponent = ref_formats[dtype].exponent_min;
    long unit = exponent - ref_formats[dtype].bits;
    mpfr_mul_2si(n, y, -unit, MPFR_RNDN);
    mpfr_rint(whole, n, MPFR_RNDN); /* ties to even */
    mpfr_sub(n, n, whole, MPFR_RNDN);
    *margin = 0.5 - fabs(mpfr_get_d(n, MPFR_RNDN));
    mpfr_mul_2si(whole, whole, unit, MPFR_RNDN);
    double rounded = mpfr_get_d(whole, MPFR_RNDN);
    return rounded == 0 && mpfr_signbit(y) ? -0.0 : rounded;
}

static inline double ref_round(enum pe_dtype dtype, mpfr_srcptr y)
{
    double margin;
    return ref_round_margin(dtype, y, &margin);
}

#endif
