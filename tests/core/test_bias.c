// SPDX-License-Identifier: Apache-2.0
/*
 * test_bias.c: alibi's slopes against the golden file and the rule, biases and sums with scores
 * against MPFR bit for bit, t5's buckets against the published edges.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/plan_from.h"
#include "golden/golden.h"
#include "ref/ref_round.h"

static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};

static const double origin[] = {0};

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static struct pe_plan *alibi_plan(size_t heads)
{
    char text[40];
    snprintf(text, sizeof text, "alibi:heads=%zu", heads);
    struct pe_positions positions = positions_of(origin, 1);
    return plan_from(text, &positions);
}

/* ---- Slopes ------------------------------------------------------------------------------- */

Test(bias, truth_of_alibi)
{
    json_t *document = golden_load("truth_alibi.json");
    const char *heads_text;
    json_t *slopes;
    json_object_foreach(json_object_get(document, "heads"), heads_text, slopes)
    {
        double expected[128];
        double got[128];
        size_t heads = golden_list(slopes, expected, 128);
        struct pe_plan *plan = alibi_plan(heads);
        pe_slopes(plan, PE_F64, got);
        pe_plan_free(plan);
        cr_expect_eq(memcmp(got, expected, heads * sizeof(double)), 0, "%s heads", heads_text);
    }
    json_decref(document);
}

/* The rule as the paper's code recurses: powers of two by the ratio, else those of the next lower
 * one and every other one of twice it. Exponents in eighths of 1/n of -log2. */
static double rule_exponent(size_t heads, size_t head)
{
    size_t n = 1;
    while (n * 2 <= heads)
        n *= 2;
    if (head < n)
        return -8.0 / (double)n * (double)(head + 1);
    return rule_exponent(2 * n, 2 * (head - n));
}

static void slope_by_mpfr(size_t heads, size_t head, mpfr_t slope)
{
    mpfr_set_d(slope, rule_exponent(heads, head), MPFR_RNDN);
    mpfr_exp2(slope, slope, MPFR_RNDN);
}

Test(bias, slopes_of_1_to_128_heads)
{
    mpfr_t slope;
    mpfr_init2(slope, 200);
    for (size_t heads = 1; heads <= 128; heads++) {
        struct pe_plan *plan = alibi_plan(heads);
        for (size_t t = 0; t < 4; t++) {
            double got[128];
            pe_slopes(plan, dtypes[t], got);
            for (size_t head = 0; head < heads; head++) {
                slope_by_mpfr(heads, head, slope);
                cr_expect(same(pe_load(dtypes[t], got, head), ref_round(dtypes[t], slope)),
                          "%zu heads, head %zu, %s", heads, head, pe_dtype_name(dtypes[t]));
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clear(slope);
}

/* ---- Biases ------------------------------------------------------------------------------- */

static const double queries_at[] = {0, 1, 7, 4095.5, -3, 9007199254740992.0, 1e-300};
static const double keys_at[] = {0, 2, 7, 0.1, 100000, -9007199254740992.0, 5e-300, 1};
#define QUERIES_N (sizeof queries_at / sizeof queries_at[0])
#define KEYS_N    (sizeof keys_at / sizeof keys_at[0])
#define MATRIX_N  (QUERIES_N * KEYS_N)

/* -slope * |m - n| to 2400 bits, which hold the distance exactly. */
static void bias_by_mpfr(size_t heads, size_t head, double m, double n, mpfr_t bias)
{
    mpfr_t slope;
    mpfr_init2(slope, 300);
    slope_by_mpfr(heads, head, slope);
    mpfr_set_d(bias, m, MPFR_RNDN);
    mpfr_sub_d(bias, bias, n, MPFR_RNDN);
    mpfr_abs(bias, bias, MPFR_RNDN);
    mpfr_mul(bias, bias, slope, MPFR_RNDN);
    mpfr_neg(bias, bias, MPFR_RNDN);
    mpfr_clear(slope);
}

Test(bias, alibi_matrices)
{
    const size_t heads = 12;
    struct pe_positions queries = positions_of(queries_at, QUERIES_N);
    struct pe_positions keys = positions_of(keys_at, KEYS_N);
    struct pe_plan *plan = alibi_plan(heads);
    mpfr_t bias;
    mpfr_init2(bias, 2048);
    for (size_t t = 0; t < 2; t++) { /* the narrower formats overflow here */
        static double out[12 * MATRIX_N];
        pe_bias(plan, &queries, &keys, 0, heads, dtypes[t], out);
        for (size_t i = 0; i < heads * MATRIX_N; i++) {
            double m = queries_at[i / KEYS_N % QUERIES_N];
            double n = keys_at[i % KEYS_N];
            bias_by_mpfr(heads, i / MATRIX_N, m, n, bias);
            cr_expect(same(pe_load(dtypes[t], out, i), ref_round(dtypes[t], bias)),
                      "head %zu, %a to %a, %s", i / MATRIX_N, m, n, pe_dtype_name(dtypes[t]));
        }
        static double part[2 * MATRIX_N];
        pe_bias(plan, &queries, &keys, 9, 2, dtypes[t], part);
        size_t size = pe_dtype_size(dtypes[t]);
        cr_expect_eq(memcmp(part, (char *)out + 9 * MATRIX_N * size, 2 * MATRIX_N * size), 0);
    }
    mpfr_clear(bias);
    pe_plan_free(plan);
}

/* Without a distance the bias is +0, in every dtype. */
Test(bias, zero_on_the_diagonal)
{
    struct pe_positions positions = positions_of(queries_at, QUERIES_N);
    struct pe_plan *plan = alibi_plan(3);
    for (size_t t = 0; t < 4; t++) {
        double out[QUERIES_N * QUERIES_N];
        pe_bias(plan, &positions, &positions, 1, 1, dtypes[t], out);
        for (size_t i = 0; i < QUERIES_N; i++)
            cr_expect(same(pe_load(dtypes[t], out, i * (QUERIES_N + 1)), 0), "%zu", i);
    }
    pe_plan_free(plan);
}

/* ---- Adding to scores --------------------------------------------------------------------- */

/* Scores that are random, that all but cancel the bias, far larger and far smaller ones. */
static double draw_score(double bias, uint64_t k)
{
    uint64_t bits = pe_draw(3, "score", k);
    double unit = (double)(bits >> 11) * 0x1p-53;
    switch (bits % 4) {
    case 0:
        return 20 * unit - 10;
    case 1:
        return -bias * (1 + (double)(bits >> 62) * 0x1p-52) + 0; /* no -0 */
    case 2:
        return ldexp(unit, 60);
    default:
        return -ldexp(unit, -60);
    }
}

Test(bias, sums_with_scores_in_f64)
{
    const size_t heads = 3, batches = 4, first = 1, heads_n = 2;
    struct pe_positions queries = positions_of(queries_at, QUERIES_N);
    struct pe_positions keys = positions_of(keys_at, KEYS_N);
    struct pe_plan *plan = alibi_plan(heads);
    static double bias[2 * MATRIX_N];
    static double in[4 * 2 * MATRIX_N];
    static double out[4 * 2 * MATRIX_N];
    pe_bias(plan, &queries, &keys, first, heads_n, PE_F64, bias);
    for (size_t i = 0; i < batches * heads_n * MATRIX_N; i++)
        in[i] = draw_score(bias[i % (heads_n * MATRIX_N)], i + 1);
    pe_add_bias(plan, NULL, NULL, &queries, &keys, first, heads_n, batches, PE_F64, in, out);
    mpfr_t sum;
    mpfr_init2(sum, 2048);
    for (size_t i = 0; i < batches * heads_n * MATRIX_N; i++) {
        size_t head = first + i / MATRIX_N % heads_n;
        double m = queries_at[i / KEYS_N % QUERIES_N];
        double n = keys_at[i % KEYS_N];
        bias_by_mpfr(heads, head, m, n, sum);
        mpfr_add_d(sum, sum, in[i], MPFR_RNDN);
        cr_expect(same(out[i], ref_round(PE_F64, sum)), "%a + bias of head %zu, %a to %a: %a",
                  in[i], head, m, n, out[i]);
    }
    mpfr_clear(sum);
    pe_add_bias(plan, NULL, NULL, &queries, &keys, first, heads_n, batches, PE_F64, in, in);
    cr_expect_eq(memcmp(in, out, sizeof out), 0, "in place");
    pe_plan_free(plan);
}

/* The sum of the score and the bias rounded to double, rounded to the dtype. */
Test(bias, sums_with_narrow_scores)
{
    static const double at[] = {0, 1, 2, 30, 77};
    struct pe_positions positions = positions_of(at, 5);
    struct pe_plan *plan = alibi_plan(3);
    double bias[25];
    pe_bias(plan, &positions, &positions, 2, 1, PE_F64, bias);
    for (size_t t = 1; t < 4; t++) {
        float in[50];
        float out[50];
        for (size_t i = 0; i < 50; i++)
            pe_store(dtypes[t], in, i, draw_score(bias[i % 25], i + 1));
        pe_add_bias(plan, NULL, NULL, &positions, &positions, 2, 1, 2, dtypes[t], in, out);
        for (size_t i = 0; i < 50; i++) {
            float expected[1];
            double score = pe_load(dtypes[t], in, i); /* may be -0, which a bias of 0 keeps */
            double sum = bias[i % 25] == 0 ? score : score + bias[i % 25];
            pe_store(dtypes[t], expected, 0, sum);
            cr_expect(same(pe_load(dtypes[t], out, i), pe_load(dtypes[t], expected, 0)), "%s %zu",
                      pe_dtype_name(dtypes[t]), i);
        }
    }
    pe_plan_free(plan);
}

/* Rows of many keys are the same as keys one by one. */
Test(bias, long_rows)
{
    enum { KEYS = 300 };
    double at[KEYS];
    double row[KEYS];
    double sums[KEYS];
    double scores[KEYS];
    for (size_t j = 0; j < KEYS; j++) {
        at[j] = 140 - (double)j * 0.75;
        scores[j] = draw_score(1, j + 1);
    }
    struct pe_positions query = positions_of(at, 1);
    struct pe_positions keys = positions_of(at, KEYS);
    struct pe_plan *plan = alibi_plan(6);
    pe_bias(plan, &query, &keys, 4, 1, PE_F64, row);
    pe_add_bias(plan, NULL, NULL, &query, &keys, 4, 1, 1, PE_F64, scores, sums);
    for (size_t j = 0; j < KEYS; j++) {
        struct pe_positions key = positions_of(at + j, 1);
        double bias;
        double sum;
        pe_bias(plan, &query, &key, 4, 1, PE_F64, &bias);
        pe_add_bias(plan, NULL, NULL, &query, &key, 4, 1, 1, PE_F64, scores + j, &sum);
        cr_expect(same(row[j], bias) && same(sums[j], sum), "%zu", j);
    }
    pe_plan_free(plan);
}

/* A bias of 0 keeps -0 and infinities; NaN propagates. */
Test(bias, special_scores)
{
    static const double at[] = {3, 4};
    struct pe_positions positions = positions_of(at, 2);
    struct pe_plan *plan = alibi_plan(1);
    const double in[4] = {-0.0, INFINITY, -INFINITY, -0.0};
    const double with_nan[4] = {NAN, NAN, 0, 0};
    double out[4];
    pe_add_bias(plan, NULL, NULL, &positions, &positions, 0, 1, 1, PE_F64, in, out);
    cr_expect_eq(memcmp(out, in, sizeof in), 0);
    pe_add_bias(plan, NULL, NULL, &positions, &positions, 0, 1, 1, PE_F64, with_nan, out);
    cr_expect(isnan(out[0]) && isnan(out[1]));
    pe_plan_free(plan);
}

/* ---- Buckets ------------------------------------------------------------------------------ */

/* Distances at which a new bucket begins, causal 32 buckets and each side of bidirectional ones. */
static const int causal_edges[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                   16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
static const int side_edges[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};

static int bucket_by_edges(const int *edges, int n, int distance)
{
    int bucket = 0;
    while (bucket + 1 < n && edges[bucket + 1] <= distance)
        bucket++;
    return bucket;
}

Test(bias, t5_buckets)
{
    double keys_of[1201];
    int64_t got[1201];
    for (int i = 0; i < 1201; i++)
        keys_of[i] = i - 600;
    struct pe_positions query = positions_of(origin, 1);
    struct pe_positions keys = positions_of(keys_of, 1201);
    struct pe_plan *plan = plan_from("t5", &query);
    pe_buckets(plan, &query, &keys, got);
    pe_plan_free(plan);
    for (int i = 0; i < 1201; i++)
        cr_expect_eq(got[i], i > 600 ? 0 : bucket_by_edges(causal_edges, 32, 600 - i), "%d",
                     i - 600);
    plan = plan_from("t5:bidirectional=true", &query);
    pe_buckets(plan, &query, &keys, got);
    pe_plan_free(plan);
    for (int i = 0; i < 1201; i++) {
        int expected = bucket_by_edges(side_edges, 16, abs(i - 600)) + (i > 600 ? 16 : 0);
        cr_expect_eq(got[i], expected, "bidirectional %d", i - 600);
    }
}

/* Element [bucket][head] of the seeded table. */
Test(bias, t5_values)
{
    static const double at[] = {0, 1, 5, 50, 500};
    struct pe_positions positions = positions_of(at, 5);
    struct pe_plan *plan = plan_from("t5:heads=3,table_seed=5,table_std=0.25", &positions);
    double table[32 * 3];
    int64_t buckets[25];
    double got[3 * 25];
    pe_fill_random(5, "table", PE_CONTENT_NORMAL, 0.25, 0, 96, PE_F64, table);
    pe_buckets(plan, &positions, &positions, buckets);
    pe_bias(plan, &positions, &positions, 0, 3, PE_F64, got);
    for (size_t i = 0; i < 75; i++)
        cr_expect(same(got[i], table[buckets[i % 25] * 3 + (int64_t)(i / 25)]), "%zu", i);
    pe_plan_free(plan);
}
