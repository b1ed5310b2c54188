// SPDX-License-Identifier: Apache-2.0
/*
 * text_reference.h: decimals read into any format by MPFR, and reproducible random bits, for the
 * tests of numbers as text.
 */
#ifndef TESTS_CORE_TEXT_REFERENCE_H
#define TESTS_CORE_TEXT_REFERENCE_H

#include <mpfr.h>
#include <string.h>

#include "posenc.h"

#define N(array) (sizeof(array) / sizeof *(array))

static inline uint64_t random_bits(uint64_t i)
{
    return pe_draw(1, "text", i);
}

static inline double f64_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value nearest to the decimal in a narrow format, by MPFR with that format's precision and
 * exponent range. */
static inline double read_by_mpfr(const char *text, enum pe_dtype dtype)
{
    static const struct {
        mpfr_prec_t bits;
        mpfr_exp_t emin, emax; /* MPFR's significands are in [1/2, 1) */
    } formats[] = {
        [PE_F64] = {53, -1073, 1024},
        [PE_F32] = {24, -148, 128},
        [PE_F16] = {11, -23, 16},
        [PE_BF16] = {8, -132, 128},
    };
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(formats[dtype].emin);
    mpfr_set_emax(formats[dtype].emax);
    mpfr_t y;
    mpfr_init2(y, formats[dtype].bits);
    int ternary = mpfr_strtofr(y, text, NULL, 10, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    double value = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return value;
}

#endif
