// SPDX-License-Identifier: Apache-2.0
/*
 * test_attention.c: the attention factor, which multiplies cos and sin: tables, vectors there and
 * back, scores and lengths, each against one expression of MPFR's. Frequencies have tests of their
 * own; here they are taken from the kind.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "apply_to.h"
#include "kind.h"
#include "scores_setup.h"

#define BITS     400
#define N(array) (sizeof(array) / sizeof *(array))

#define YARN "rope:dim=16,scaling=yarn,factor=4,original_max=64"
#define LONGROPE                                                                                   \
    "rope:dim=8,scaling=longrope,factor=32,original_max=4096,short_factor=1+1+1.5+2,"              \
    "long_factor=1+2+3+4"
#define HALF   "rope:dim=16,layout=half,attention_factor=0.5"
#define PART   "rope:dim=16,rotary_dim=8,attention_factor=1.3,direction=-1,shift=3"
#define DOUBLE "rope:dim=16,scaling=yarn,factor=4,original_max=64,attention_gain=2"
#define GAIN   "rope:dim=16,scaling=linear,factor=2,attention_gain=0.75"
#define STILL  "rope:dim=16,kept_pairs=3,attention_factor=1.3"

static const char *const specs[] = {YARN, LONGROPE, HALF, PART, DOUBLE, GAIN, STILL};

/* The factor by its definition. */
static void factor_of(const char *spec, mpfr_t factor)
{
    mpfr_t length;
    mpfr_init2(length, BITS);
    if (strstr(spec, "attention_factor")) {
        mpfr_set_d(factor, strcmp(spec, HALF) == 0 ? 0.5 : 1.3, MPFR_RNDN);
    } else if (strcmp(spec, GAIN) == 0) {
        mpfr_set_d(factor, 0.75, MPFR_RNDN);
    } else if (strcmp(spec, LONGROPE) == 0) {
        mpfr_log_ui(factor, 32, MPFR_RNDN);
        mpfr_log_ui(length, 4096, MPFR_RNDN);
        mpfr_div(factor, factor, length, MPFR_RNDN);
        mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
        mpfr_sqrt(factor, factor, MPFR_RNDN);
    } else {
        mpfr_log_ui(factor, 4, MPFR_RNDN);
        mpfr_div_ui(factor, factor, 10, MPFR_RNDN);
        mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
        if (strcmp(spec, DOUBLE) == 0)
            mpfr_mul_ui(factor, factor, 2, MPFR_RNDN);
    }
    mpfr_clear(length);
}

/* cos and sin of direction * (position + shift) * w_pair, without the factor. */
static void turn_of(const struct pe_plan *plan, double position, size_t pair, mpfr_t c, mpfr_t s)
{
    const struct pe_spec *spec = pe_plan_spec(plan);
    mpfr_t angle;
    mpfr_init2(angle, BITS);
    spec->kind->ops->frequency(spec, pair, true, angle);
    mpfr_mul_d(angle, angle, position * pe_spec_number(spec, "direction"), MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    mpfr_clear(angle);
}

static double shift_of(const struct pe_plan *plan)
{
    return pe_spec_number(pe_plan_spec(plan), "shift");
}

Test(attention, tables_hold_the_factor_times_cos_and_sin)
{
    static const double at[] = {0, 1, 5, 63, 4096, 1000000, -7, 0.5};
    struct pe_positions positions = positions_of(at, N(at));
    mpfr_t factor, c, s;
    mpfr_inits2(BITS, factor, c, s, (mpfr_ptr)NULL);
    for (size_t i = 0; i < N(specs); i++) {
        struct pe_plan *plan = plan_from(specs[i], &positions);
        double wide[2][N(at) * 8];
        float narrow[2][N(at) * 8];
        size_t pairs = pe_spec_pairs(pe_plan_spec(plan));
        pe_cos_sin(plan, &positions, PE_F64, wide[0], wide[1]);
        pe_cos_sin(plan, &positions, PE_F32, narrow[0], narrow[1]);
        factor_of(specs[i], factor);
        for (size_t v = 0; v < N(at) * pairs; v++) {
            turn_of(plan, at[v / pairs] + shift_of(plan), v % pairs, c, s);
            mpfr_mul(c, c, factor, MPFR_RNDN);
            mpfr_mul(s, s, factor, MPFR_RNDN);
            cr_expect(wide[0][v] == mpfr_get_d(c, MPFR_RNDN), "%s: cos %zu", specs[i], v);
            cr_expect(wide[1][v] == mpfr_get_d(s, MPFR_RNDN), "%s: sin %zu", specs[i], v);
            cr_expect(narrow[0][v] == mpfr_get_flt(c, MPFR_RNDN), "%s: f32 cos %zu", specs[i], v);
            cr_expect(narrow[1][v] == mpfr_get_flt(s, MPFR_RNDN), "%s: f32 sin %zu", specs[i], v);
        }
        pe_plan_free(plan);
    }
    mpfr_clears(factor, c, s, (mpfr_ptr)NULL);
}

/* a * c - b * s, or with `second` a * s + b * c, times factor^(inverse ? -1 : 1). */
static double member_of(const struct pe_plan *plan, const char *spec, double position, size_t pair,
                        const double *x, bool second, bool inverse)
{
    size_t a, b;
    mpfr_t factor, c, s;
    mpfr_inits2(BITS, factor, c, s, (mpfr_ptr)NULL);
    pe_spec_pair_channels(pe_plan_spec(plan), pair, &a, &b);
    turn_of(plan, position, pair, c, s);
    if (inverse)
        mpfr_neg(s, s, MPFR_RNDN);
    factor_of(spec, factor);
    mpfr_mul_d(c, c, second ? x[b] : x[a], MPFR_RNDN);
    mpfr_mul_d(s, s, second ? x[a] : -x[b], MPFR_RNDN);
    mpfr_add(c, c, s, MPFR_RNDN);
    (inverse ? mpfr_div : mpfr_mul)(c, c, factor, MPFR_RNDN);
    double value = mpfr_get_d(c, MPFR_RNDN);
    mpfr_clears(factor, c, s, (mpfr_ptr)NULL);
    return value;
}

static void check_apply(const char *spec, bool inverse)
{
    static const double at[] = {0, 1, 17, 4095, 1000003};
    struct pe_positions positions = positions_of(at, N(at));
    struct pe_plan *plan = plan_from(spec, &positions);
    size_t dim = pe_spec_dim(pe_plan_spec(plan)), pairs = pe_spec_pairs(pe_plan_spec(plan));
    double x[N(at) * 16], y[N(at) * 16];
    float x32[N(at) * 16], y32[N(at) * 16];
    pe_fill_random(1, "x", PE_CONTENT_NORMAL, 1, 0, N(at) * dim, PE_F64, x);
    for (size_t i = 0; i < N(at) * dim; i++)
        x[i] = x32[i] = (float)x[i];
    apply_rows(spec, &positions, inverse, dim, PE_F64, x, PE_F64, y);
    apply_rows(spec, &positions, inverse, dim, PE_F32, x32, PE_F32, y32);
    for (size_t t = 0; t < N(at); t++)
        for (size_t pair = 0; pair < pairs; pair++)
            for (unsigned second = 0; second < 2; second++) {
                size_t channels[2];
                pe_spec_pair_channels(pe_plan_spec(plan), pair, &channels[0], &channels[1]);
                size_t i = t * dim + channels[second];
                double expected = member_of(plan, spec, at[t] + shift_of(plan), pair, x + t * dim,
                                            second, inverse);
                cr_expect(y[i] == expected, "%s: %zu: %.17g, not %.17g", spec, i, y[i], expected);
                cr_expect(fabs(y32[i] - expected) <= fabs(expected) * 0x1p-24 + 0x1p-45,
                          "%s: f32 %zu", spec, i);
            }
    for (size_t i = 2 * pairs; i < dim; i++)
        cr_expect(y[i] == x[i], "%s: channel %zu passes", spec, i);
    pe_plan_free(plan);
}

Test(attention, vectors_there_and_back)
{
    for (size_t i = 0; i < N(specs); i++) {
        check_apply(specs[i], false);
        check_apply(specs[i], true);
    }
}

/* Sum over the channels of encoded q (at 0) times encoded k (at the offset). */
static double score_of(const struct pe_plan *plan, const char *spec, const double *q,
                       const double *k, double offset)
{
    size_t dim = pe_spec_dim(pe_plan_spec(plan)), pairs = pe_spec_pairs(pe_plan_spec(plan));
    mpfr_t factor, c, s, term, sum;
    mpfr_inits2(BITS, factor, c, s, term, sum, (mpfr_ptr)NULL);
    factor_of(spec, factor);
    mpfr_sqr(factor, factor, MPFR_RNDN);
    mpfr_set_zero(sum, 1);
    for (size_t pair = 0; pair < pairs; pair++) {
        size_t a, b;
        pe_spec_pair_channels(pe_plan_spec(plan), pair, &a, &b);
        turn_of(plan, -offset, pair, c, s);
        mpfr_set_d(term, q[a], MPFR_RNDN);
        mpfr_mul_d(term, term, k[a], MPFR_RNDN);
        mpfr_mul(term, term, c, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_set_d(term, q[b], MPFR_RNDN);
        mpfr_mul_d(term, term, k[b], MPFR_RNDN);
        mpfr_mul(term, term, c, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_set_d(term, q[a], MPFR_RNDN);
        mpfr_mul_d(term, term, k[b], MPFR_RNDN);
        mpfr_mul(term, term, s, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_set_d(term, q[b], MPFR_RNDN);
        mpfr_mul_d(term, term, -k[a], MPFR_RNDN);
        mpfr_mul(term, term, s, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_mul(sum, sum, factor, MPFR_RNDN);
    for (size_t i = 2 * pairs; i < dim; i++) {
        mpfr_set_d(term, q[i], MPFR_RNDN);
        mpfr_mul_d(term, term, k[i], MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    double score = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(factor, c, s, term, sum, (mpfr_ptr)NULL);
    return score;
}

static double length_of(const struct pe_plan *plan, const char *spec, const double *x)
{
    size_t dim = pe_spec_dim(pe_plan_spec(plan)), pairs = pe_spec_pairs(pe_plan_spec(plan));
    mpfr_t factor, term, sum;
    mpfr_inits2(BITS, factor, term, sum, (mpfr_ptr)NULL);
    factor_of(spec, factor);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < dim; i++) { /* rotated channels are the first ones */
        mpfr_set_d(term, x[i], MPFR_RNDN);
        if (i < 2 * pairs)
            mpfr_mul(term, term, factor, MPFR_RNDN);
        mpfr_sqr(term, term, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_sqrt(sum, sum, MPFR_RNDN);
    double length = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(factor, term, sum, (mpfr_ptr)NULL);
    return length;
}

Test(attention, scores_have_its_square_and_lengths_have_it)
{
    struct pe_positions positions = positions_of((const double[]){0, 8, 24}, 3);
    for (size_t i = 0; i < N(specs); i++) {
        static struct setup setup;
        struct pe_plan *plan = plan_from(specs[i], &positions);
        setup_init(&setup, pe_spec_dim(pe_plan_spec(plan)), OFFSETS_MAX);
        setup.job.plan = plan;
        for (unsigned t = 0; t < 4; t++)
            setup.job.terms[t] = NULL;
        cr_assert_eq(pe_scores(&setup.job), PE_OK);
        for (size_t cell = 0; cell < ANCHORS_N * OFFSETS_MAX; cell++) {
            double offset = (double)(cell % OFFSETS_MAX);
            double expected = score_of(plan, specs[i], setup.q, setup.k, offset);
            cr_expect(same(setup.scores[cell], expected), "%s: %zu: %.17g, not %.17g", specs[i],
                      cell, setup.scores[cell], expected);
            cr_expect_eq(setup.norm_k_after[cell], length_of(plan, specs[i], setup.k), "%s",
                         specs[i]);
        }
        for (size_t a = 0; a < ANCHORS_N; a++)
            cr_expect_eq(setup.norm_q_after[a], length_of(plan, specs[i], setup.q), "%s", specs[i]);

        setup.job.normalize = PE_NORMALIZE_COSINE; /* the factor cancels where all is rotated */
        cr_assert_eq(pe_scores(&setup.job), PE_OK);
        double q = length_of(plan, specs[i], setup.q), k = length_of(plan, specs[i], setup.k);
        double cosine = score_of(plan, specs[i], setup.q, setup.k, 5) / (q * k);
        cr_expect_float_eq(setup.scores[5], cosine, 1e-14, "%s", specs[i]);
        pe_plan_free(plan);
    }
}
