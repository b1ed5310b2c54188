// SPDX-License-Identifier: Apache-2.0
/*
 * test_softmax.c: weights, their entropy and sums of values, against MPFR at 2000 bits and the
 * definition of what is rounded when.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "posenc.h"

#define BITS 2000
#define MAX  64

/* The weights, each step of the definition for itself. */
static void weights_of(const double *scores, size_t n, double *weights)
{
    double largest = -INFINITY;
    mpfr_t x, sum;
    mpfr_inits2(BITS, x, sum, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, scores[i]);
    for (size_t i = 0; i < n; i++) {
        mpfr_set_d(x, scores[i], MPFR_RNDN);
        mpfr_sub_d(x, x, largest, MPFR_RNDN);
        mpfr_exp(x, x, MPFR_RNDN);
        weights[i] = mpfr_get_d(x, MPFR_RNDN);
        mpfr_add_d(sum, sum, weights[i], MPFR_RNDN);
    }
    for (size_t i = 0; i < n; i++) {
        mpfr_set_d(x, weights[i], MPFR_RNDN);
        mpfr_div_d(x, x, mpfr_get_d(sum, MPFR_RNDN), MPFR_RNDN);
        weights[i] = mpfr_get_d(x, MPFR_RNDN);
    }
    mpfr_clears(x, sum, (mpfr_ptr)NULL);
}

/* -sum of p ln p, p = e^s / sum of e^s. */
static double entropy_of(const double *scores, size_t n)
{
    mpfr_t p, sum, entropy, log;
    mpfr_inits2(BITS, p, sum, entropy, log, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(entropy, 1);
    double from = isinf(scores[0]) ? scores[1] : scores[0]; /* any will do */
    for (size_t i = 0; i < n; i++) {
        mpfr_set_d(p, scores[i], MPFR_RNDN);
        mpfr_sub_d(p, p, from, MPFR_RNDN);
        mpfr_exp(p, p, MPFR_RNDN);
        mpfr_add(sum, sum, p, MPFR_RNDN);
    }
    for (size_t i = 0; i < n; i++) {
        if (isinf(scores[i]))
            continue;
        mpfr_set_d(p, scores[i], MPFR_RNDN);
        mpfr_sub_d(p, p, from, MPFR_RNDN);
        mpfr_exp(p, p, MPFR_RNDN);
        mpfr_div(p, p, sum, MPFR_RNDN);
        mpfr_log(log, p, MPFR_RNDN);
        mpfr_mul(p, p, log, MPFR_RNDN);
        mpfr_sub(entropy, entropy, p, MPFR_RNDN);
    }
    double rounded = mpfr_get_d(entropy, MPFR_RNDN);
    mpfr_clears(p, sum, entropy, log, (mpfr_ptr)NULL);
    return rounded;
}

static void expect_row(const double *scores, size_t n, const char *what)
{
    double weights[MAX], expected[MAX];
    pe_softmax(scores, n, weights);
    weights_of(scores, n, expected);
    for (size_t i = 0; i < n; i++)
        cr_expect(weights[i] == expected[i], "%s: weight %zu is %a, not %a", what, i, weights[i],
                  expected[i]);
    double entropy = pe_softmax_entropy(scores, n), wanted = entropy_of(scores, n);
    cr_expect(entropy == wanted, "%s: entropy %a, not %a", what, entropy, wanted);
}

Test(softmax, of_random_rows_is_rounded_where_it_says)
{
    double scores[MAX];
    for (uint64_t seed = 0; seed < 40; seed++) {
        size_t n = 1 + seed % MAX;
        double gain = ldexp(1, (int)(seed % 12) - 4);
        pe_fill_random(seed, "scores", PE_CONTENT_NORMAL, gain, 0, n, PE_F64, scores);
        expect_row(scores, n, "random");
    }
}

Test(softmax, of_rows_that_are_hard)
{
    static const struct {
        const char *what;
        double scores[4];
        size_t n;
    } rows[] = {
        {"one", {-7.5}, 1},
        {"equal", {3, 3, 3, 3}, 4},
        {"three equal", {0.1, 0.1, 0.1}, 3},
        {"masked", {1, -INFINITY, 2, -INFINITY}, 4},
        {"only one seen", {-INFINITY, 5, -INFINITY}, 3},
        {"nearly alone", {0, -40, -800}, 3},
        {"subnormal", {0, -744, -745, -745.2}, 4},
        {"gone", {0, -746, -1e6}, 3},
        {"close", {1, 1 + 0x1p-52, 1 - 0x1p-53}, 3},
        {"a difference that is no double", {0x1p-60, -3.7}, 2},
        {"far from 0", {1e15, 1e15 + 1, 1e15 - 2.5}, 3},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        expect_row(rows[r].scores, rows[r].n, rows[r].what);
}

Test(softmax, without_a_largest_score_is_no_number)
{
    static const double rows[][2] = {
        {-INFINITY, -INFINITY}, {NAN, 0}, {0, NAN}, {INFINITY, 0}, {-INFINITY, INFINITY}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double weights[2];
        pe_softmax(rows[r], 2, weights);
        cr_expect(isnan(weights[0]) && isnan(weights[1]), "%zu", r);
        cr_expect(isnan(pe_softmax_entropy(rows[r], 2)), "%zu", r);
    }
}

Test(softmax, entropy_of_equal_scores_is_the_logarithm_of_their_number)
{
    static const double same[8] = {2, 2, 2, 2, 2, 2, 2, 2};
    cr_expect_eq(pe_softmax_entropy(same, 1), 0);
    cr_expect_eq(pe_softmax_entropy(same, 2), 0x1.62e42fefa39efp-1); /* ln 2 */
    cr_expect_eq(pe_softmax_entropy(same, 8), 0x1.0a2b23f3bab73p+1); /* ln 8 */
}

/* A permutation of the keys makes no difference to sums that are rounded once. */
Test(softmax, outputs_do_not_show_the_order_of_keys)
{
    enum { KEYS = 37, DIM = 5 };
    double scores[KEYS], values[DIM * KEYS], turned[KEYS], moved[DIM * KEYS];
    double out[DIM], again[DIM];
    pe_fill_random(1, "scores", PE_CONTENT_NORMAL, 3, 0, KEYS, PE_F64, scores);
    pe_fill_random(1, "v", PE_CONTENT_NORMAL, 1, 0, DIM * KEYS, PE_F64, values);
    for (size_t shift = 1; shift < KEYS; shift++) {
        for (size_t i = 0; i < KEYS; i++) {
            turned[i] = scores[(i + shift) % KEYS];
            for (size_t c = 0; c < DIM; c++)
                moved[c * KEYS + i] = values[c * KEYS + (i + shift) % KEYS];
        }
        double weights[KEYS], others[KEYS];
        pe_softmax(scores, KEYS, weights);
        pe_softmax(turned, KEYS, others);
        for (size_t i = 0; i < KEYS; i++)
            cr_assert_eq(others[i], weights[(i + shift) % KEYS]);
        pe_attention_output(weights, 1, KEYS, values, DIM, out);
        pe_attention_output(others, 1, KEYS, moved, DIM, again);
        cr_assert_arr_eq(out, again, sizeof out);
    }
}
