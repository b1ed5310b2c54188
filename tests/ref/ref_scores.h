// SPDX-License-Identifier: Apache-2.0
/*
 * ref_scores.h: reference for scores: encodes the query and the key at their places, element by
 * element, with MPFR, and takes the dot product of the results. Unlike the library it knows nothing
 * of distances or of parts.
 */
#ifndef TESTS_REF_SCORES_H
#define TESTS_REF_SCORES_H

#include "ref/ref_trig.h"

#define REF_BITS    1400 /* enough for vectors whose elements differ by 2^600 */
#define REF_DIM_MAX 128

enum ref_kind { REF_NONE, REF_ROPE, REF_SINUSOIDAL, REF_INTEGER, REF_BINARY, REF_LEARNED };

struct ref_encoding {
    enum ref_kind kind;
    size_t dim, rotary_dim;
    double base;
    bool half;
    double direction, shift;
    uint64_t seed; /* learned, with its standard deviation */
    double std;
    bool zero_last; /* sinusoidal of odd dim: a zero column instead of one more sine */
};

struct ref_vector {
    mpfr_t at[REF_DIM_MAX];
};

static inline void ref_vector_init(struct ref_vector *y)
{
    for (size_t i = 0; i < REF_DIM_MAX; i++) {
        mpfr_init2(y->at[i], REF_BITS);
        mpfr_set_zero(y->at[i], 1);
    }
}

static inline void ref_vector_clear(struct ref_vector *y)
{
    for (size_t i = 0; i < REF_DIM_MAX; i++)
        mpfr_clear(y->at[i]);
}

static inline void ref_pair_angle(const struct ref_encoding *e, double position, size_t pair,
                                  mpfr_t c, mpfr_t s)
{
    mpfr_t angle;
    mpfr_init2(angle, REF_BITS);
    size_t width = e->kind == REF_ROPE ? e->rotary_dim : e->dim;
    ref_frequency(angle, e->base, 2 * pair, width);
    mpfr_mul_d(angle, angle, (position + e->shift) * e->direction, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    mpfr_clear(angle);
}

static inline void ref_rotate(const struct ref_encoding *e, double position, struct ref_vector *y)
{
    mpfr_t c, s, a, b;
    mpfr_inits2(REF_BITS, c, s, a, b, (mpfr_ptr)NULL);
    for (size_t pair = 0; pair < e->rotary_dim / 2; pair++) {
        mpfr_ptr first = y->at[e->half ? pair : 2 * pair];
        mpfr_ptr second = y->at[e->half ? pair + e->rotary_dim / 2 : 2 * pair + 1];
        ref_pair_angle(e, position, pair, c, s);
        mpfr_mul(a, first, c, MPFR_RNDN);
        mpfr_mul(b, second, s, MPFR_RNDN);
        mpfr_sub(a, a, b, MPFR_RNDN);
        mpfr_mul(b, first, s, MPFR_RNDN);
        mpfr_mul(c, second, c, MPFR_RNDN);
        mpfr_add(second, b, c, MPFR_RNDN);
        mpfr_set(first, a, MPFR_RNDN);
    }
    mpfr_clears(c, s, a, b, (mpfr_ptr)NULL);
}

/* What an adding kind adds in one channel. */
static inline void ref_code(const struct ref_encoding *e, double position, size_t channel, mpfr_t y)
{
    double value = position + e->shift;
    size_t pairs = e->dim / 2;
    mpfr_t other;
    switch (e->kind) {
    case REF_SINUSOIDAL:
        if (e->zero_last && channel == e->dim - 1) {
            mpfr_set_zero(y, 1);
            return;
        }
        mpfr_init2(other, REF_BITS);
        if (e->half ? channel < pairs : channel % 2 == 0)
            ref_pair_angle(e, position, e->half ? channel : channel / 2, other, y);
        else
            ref_pair_angle(e, position, e->half ? channel - pairs : channel / 2, y, other);
        mpfr_clear(other);
        return;
    case REF_BINARY:
        value = (double)((uint64_t)value >> channel & 1);
        break;
    case REF_LEARNED:
        pe_fill_random(e->seed, "table", PE_CONTENT_NORMAL, e->std,
                       (size_t)value * e->dim + channel, 1, PE_F64, &value);
        break;
    default:
        break;
    }
    mpfr_set_d(y, value, MPFR_RNDN);
}

/* y = x at the position. */
static inline void ref_encode(const struct ref_encoding *e, const double *x, double position,
                              struct ref_vector *y)
{
    for (size_t i = 0; i < e->dim; i++)
        mpfr_set_d(y->at[i], x[i], MPFR_RNDN);
    if (e->kind == REF_ROPE)
        ref_rotate(e, position, y);
    if (e->kind == REF_NONE || e->kind == REF_ROPE)
        return;
    mpfr_t code;
    mpfr_init2(code, REF_BITS);
    for (size_t i = 0; i < e->dim; i++) {
        ref_code(e, position, i, code);
        mpfr_add(y->at[i], y->at[i], code, MPFR_RNDN);
    }
    mpfr_clear(code);
}

static inline void ref_dot(const struct ref_vector *a, const struct ref_vector *b, size_t n,
                           mpfr_t sum)
{
    mpfr_t product;
    mpfr_init2(product, REF_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < n; i++) {
        mpfr_mul(product, a->at[i], b->at[i], MPFR_RNDN);
        mpfr_add(sum, sum, product, MPFR_RNDN);
    }
    mpfr_clear(product);
}

static inline void ref_length(const struct ref_vector *a, size_t n, mpfr_t length)
{
    ref_dot(a, a, n, length);
    mpfr_sqrt(length, length, MPFR_RNDN);
}

#endif
