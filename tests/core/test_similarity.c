// SPDX-License-Identifier: Apache-2.0
/*
 * test_similarity.c: similarities and the bound of their decay, against their definitions by MPFR
 * and against published numbers.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/plan_from.h"
#include "ref/ref_scores.h"

#define DIM_MAX 128

static enum pe_status similarity(const char *text, const struct pe_positions *queries,
                                 const struct pe_positions *keys, bool cosine, double *out)
{
    double work[DIM_MAX];
    struct pe_plan *plan = plan_from(text, keys);
    struct pe_similarity job = {
        .plan = plan, .queries = queries, .keys = keys, .cosine = cosine, .work = work, .out = out};
    enum pe_status status = pe_similarity(&job);
    pe_plan_free(plan);
    return status;
}

static void expect_close(const char *what, double got, double wanted, double tolerance)
{
    cr_expect(fabs(got - wanted) <= tolerance, "%s: %.17g, not %.17g", what, got, wanted);
}

/* Of sinusoids: half the width at the same place, and what is published at distances 1 and 2. */
Test(similarity, of_sinusoids)
{
    static const double at[] = {0, 1, 2, 17, 18, 19};
    struct pe_positions positions = positions_of(at, 6);
    double out[36];
    cr_assert_eq(similarity("sinusoidal:dim=64", &positions, &positions, false, out), PE_OK);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            double distance = fabs(at[i] - at[j]);
            if (distance == 0)
                cr_expect_eq(out[6 * i + j], 32);
            if (distance == 1)
                cr_expect_eq(out[6 * i + j], 30.916831661619025);
            if (distance == 2)
                cr_expect_eq(out[6 * i + j], 28.303862004129687);
            cr_expect_eq(out[6 * i + j], out[6 * j + i]);
        }
}

/* Mean of cos(d w) of 64 pairs, to ten digits. */
Test(similarity, of_rotations_is_the_published_decay)
{
    static const double at[] = {0, 1, 10, 100, 1000, 10000};
    static const struct {
        const char *text;
        double expected[6];
    } rows[] = {
        {"rope:dim=128",
         {1, 0.9702138095, 0.6690628578, 0.4772414797, 0.1590270021, -0.0278937801}},
        {"rope:dim=128,base=500000",
         {1, 0.9779092242, 0.7642052291, 0.6109886834, 0.4922638904, 0.1869947764}},
        {"rope:dim=128,base=500000,attention_factor=1.7",
         {1, 0.9779092242, 0.7642052291, 0.6109886834, 0.4922638904, 0.1869947764}},
    };
    struct pe_positions keys = positions_of(at, 6), query = positions_of(at, 1);
    for (size_t r = 0; r < 3; r++) {
        double out[6];
        cr_assert_eq(similarity(rows[r].text, &query, &keys, false, out), PE_OK);
        for (size_t i = 0; i < 6; i++)
            expect_close(rows[r].text, out[i], rows[r].expected[i], 5e-11);
        cr_expect_eq(out[0], 1);
    }
}

/* By the definition, to the last bit: rows and columns, partial widths, far and real places. */
Test(similarity, is_rounded_once)
{
    static const double rows[] = {0, 1, 5, -3, 0.1, 1e6}, columns[] = {2, 1, 0, 7.5, 3, 4096};
    static const struct {
        const char *text;
        size_t pairs, per_axis, width;
    } kinds[] = {
        {"rope:dim=32", 16, 16, 32},
        {"rope:dim=64,rotary_dim=16,layout=half", 8, 8, 16},
        {"rope2d:dim=32", 16, 8, 16},
    };
    struct pe_positions positions = {.axes = 2, .n = 6, .at = {rows, columns}};
    mpfr_t sum, angle, distance;
    mpfr_inits2(REF_BITS, sum, angle, distance, (mpfr_ptr)NULL);
    for (size_t r = 0; r < 3; r++) {
        double out[36];
        cr_assert_eq(similarity(kinds[r].text, &positions, &positions, r == 1, out), PE_OK);
        for (size_t i = 0; i < 36; i++) {
            mpfr_set_zero(sum, 1);
            for (size_t pair = 0; pair < kinds[r].pairs; pair++) {
                const double *at = pair < kinds[r].per_axis ? rows : columns;
                ref_frequency(angle, 1e4, 2 * (pair % kinds[r].per_axis), kinds[r].width);
                mpfr_set_d(distance, at[i / 6], MPFR_RNDN);
                mpfr_sub_d(distance, distance, at[i % 6], MPFR_RNDN);
                mpfr_mul(angle, angle, distance, MPFR_RNDN);
                mpfr_cos(angle, angle, MPFR_RNDN);
                mpfr_add(sum, sum, angle, MPFR_RNDN);
            }
            mpfr_div_ui(sum, sum, kinds[r].pairs, MPFR_RNDN);
            cr_expect_eq(out[i], mpfr_get_d(sum, MPFR_RNDN), "%s: %zu", kinds[r].text, i);
        }
    }
    mpfr_clears(sum, angle, distance, (mpfr_ptr)NULL);
}

Test(similarity, of_codes_divided_by_their_lengths)
{
    static const double at[] = {1, 2, 3, 5};
    struct pe_positions positions = positions_of(at, 4);
    double out[16];
    cr_assert_eq(similarity("integer:dim=4", &positions, &positions, true, out), PE_OK);
    for (size_t i = 0; i < 16; i++)
        cr_expect_eq(out[i], 1); /* all point the same way */
    cr_assert_eq(similarity("binary:dim=4", &positions, &positions, true, out), PE_OK);
    cr_expect_eq(out[1], 0);                    /* 1000 and 0100 */
    cr_expect_eq(out[2], 0x1.6a09e667f3bcdp-1); /* 1000 and 1100: 1/sqrt(2) */
    cr_expect_eq(out[11], 0.5);                 /* 1100 and 1010 */
    cr_assert_eq(similarity("sinusoidal:dim=64", &positions, &positions, true, out), PE_OK);
    expect_close("sinusoidal", out[1], 30.916831661619025 / 32, 1e-15);
}

Test(similarity, with_a_code_of_no_length_has_no_cosine)
{
    static const double at[] = {0, 1};
    struct pe_positions positions = positions_of(at, 2);
    double out[4];
    cr_expect_eq(similarity("integer:dim=4", &positions, &positions, true, out), PE_INVALID_VALUE);
    cr_expect_eq(similarity("integer:dim=4", &positions, &positions, false, out), PE_OK);
    cr_expect_eq(out[3], 4);
}

/* The mean of |sum of the first i cis|, i = 1 .. pairs: at distance 0 that of 1, 2, ... */
Test(similarity, decays_within_a_bound)
{
    static const double at[] = {0, 1, 7, 100, 65536, 0.3};
    struct pe_positions positions = positions_of(at, 6);
    struct pe_plan *plan = plan_from("rope:dim=64", &positions);
    double out[6];
    mpfr_t x, y, c, s, sum;
    mpfr_inits2(REF_BITS, x, y, c, s, sum, (mpfr_ptr)NULL);
    pe_decay_bound(plan, at, 6, out);
    cr_expect_eq(out[0], 16.5);
    for (size_t i = 0; i < 6; i++) {
        mpfr_set_zero(x, 1);
        mpfr_set_zero(y, 1);
        mpfr_set_zero(sum, 1);
        for (size_t pair = 0; pair < 32; pair++) {
            ref_frequency(c, 1e4, 2 * pair, 64);
            mpfr_mul_d(c, c, at[i], MPFR_RNDN);
            mpfr_sin_cos(s, c, c, MPFR_RNDN);
            mpfr_add(x, x, c, MPFR_RNDN);
            mpfr_add(y, y, s, MPFR_RNDN);
            mpfr_hypot(c, x, y, MPFR_RNDN);
            mpfr_add(sum, sum, c, MPFR_RNDN);
        }
        mpfr_div_ui(sum, sum, 32, MPFR_RNDN);
        cr_expect_eq(out[i], mpfr_get_d(sum, MPFR_RNDN), "%g", at[i]);
    }
    mpfr_clears(x, y, c, s, sum, (mpfr_ptr)NULL);
    pe_plan_free(plan);
}
