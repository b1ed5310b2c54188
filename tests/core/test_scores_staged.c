// SPDX-License-Identifier: Apache-2.0
/*
 * test_scores_staged.c: scores of pipelines that round, against vectors encoded and multiplied by
 * MPFR, one operation after the other.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "core/scores_setup.h"
#include "ref/ref_stages.h"

#define DIM       8
#define OFFSETS_N 4

static const char *const pipelines[] = {
    "f64",
    "f32",
    "all-bf16",
    "pos:bf16",
    "angle:f32",
    "table:bf16",
    "apply:f16",
    "dot:f32",
    "freq:bf16,apply:f32,dot:bf16",
    "angle:f16,table:f16,dot:f64",
    "transformers,dot:f32",
};

enum kind { ROPE, SINUSOIDAL, NONE };
static const char *const specs[] = {
    [ROPE] = "rope:dim=8,layout=half", [SINUSOIDAL] = "sinusoidal:dim=8", [NONE] = "none:dim=8"};

/* ---- The reference ------------------------------------------------------------------------ */

struct vector {
    mpfr_t at[DIM];
};

static void vector_init(struct vector *y)
{
    for (size_t i = 0; i < DIM; i++)
        mpfr_init2(y->at[i], REF_STAGE_BITS);
}

static void vector_clear(struct vector *y)
{
    for (size_t i = 0; i < DIM; i++)
        mpfr_clear(y->at[i]);
}

static void encode(enum kind kind, const struct pe_stages *stages, const double *x, double position,
                   struct vector *y)
{
    mpfr_t c, s;
    mpfr_inits2(REF_STAGE_BITS, c, s, (mpfr_ptr)NULL);
    for (size_t i = 0; i < DIM; i++)
        mpfr_set_d(y->at[i], x[i], MPFR_RNDN);
    for (size_t pair = 0; pair < DIM / 2; pair++) {
        struct ref_turn turn = {.pair = {10000, pair, DIM}};
        if (kind == ROPE)
            ref_staged_turn(stages, &turn, position, y->at[pair], y->at[pair + DIM / 2]);
        if (kind != SINUSOIDAL)
            continue;
        ref_staged_cos_sin(stages, &turn, position, c, s);
        ref_staged_add(stages, PE_STAGE_APPLY, y->at[2 * pair], s);
        ref_staged_add(stages, PE_STAGE_APPLY, y->at[2 * pair + 1], c);
    }
    mpfr_clears(c, s, (mpfr_ptr)NULL);
}

static void dot(const struct pe_stages *stages, const struct vector *q, const struct vector *k,
                mpfr_t sum)
{
    mpfr_t product;
    mpfr_init2(product, REF_STAGE_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < DIM; i++) {
        mpfr_set(product, q->at[i], MPFR_RNDN);
        ref_staged_mul(stages, PE_STAGE_DOT, product, k->at[i]);
        ref_staged_add(stages, PE_STAGE_DOT, sum, product);
    }
    mpfr_clear(product);
}

static double length(const struct vector *x)
{
    const struct pe_stages exact = {0};
    mpfr_t sum;
    mpfr_init2(sum, REF_STAGE_BITS);
    dot(&exact, x, x, sum);
    mpfr_sqrt(sum, sum, MPFR_RNDN);
    double rounded = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    return rounded;
}

/* ---- Every cell --------------------------------------------------------------------------- */

static void expect_cells(enum kind kind, const char *pipeline, bool anchor_is_key)
{
    static struct setup setup;
    struct pe_stages stages = stages_from(pipeline);
    setup_init(&setup, DIM, OFFSETS_N);
    setup.job.stages = &stages;
    setup.job.anchor_is_key = anchor_is_key;
    setup.anchors[2] = 4095;
    setup.offsets[3] = -1.5;
    for (size_t t = 0; t < 4; t++)
        setup.job.terms[t] = NULL;
    cr_assert_eq(run(&setup, specs[kind]), PE_OK);
    struct vector q, k;
    vector_init(&q);
    vector_init(&k);
    mpfr_t sum;
    mpfr_init2(sum, REF_STAGE_BITS);
    for (size_t i = 0; i < ANCHORS_N * OFFSETS_N; i++) {
        double anchor = setup.anchors[i / OFFSETS_N];
        double place = anchor + setup.offsets[i % OFFSETS_N];
        encode(kind, &stages, setup.q, anchor_is_key ? place : anchor, &q);
        encode(kind, &stages, setup.k, anchor_is_key ? anchor : place, &k);
        dot(&stages, &q, &k, sum);
        double wanted = mpfr_get_d(sum, MPFR_RNDN);
        cr_expect_eq(setup.scores[i], wanted, "%s, %s, cell %zu: %a, not %a", specs[kind], pipeline,
                     i, setup.scores[i], wanted);
        mpfr_sub_d(sum, sum, wanted, MPFR_RNDN);
        cr_expect_float_eq(setup.rest[i], mpfr_get_d(sum, MPFR_RNDN), fabs(wanted) * 0x1p-76,
                           "%s, %s, rest of %zu", specs[kind], pipeline, i);
        if (!anchor_is_key) { /* norms are those of the query at anchors, the key at places */
            cr_expect_eq(setup.norm_q_after[i / OFFSETS_N], length(&q), "%s, %s", specs[kind],
                         pipeline);
            cr_expect_eq(setup.norm_k_after[i], length(&k), "%s, %s", specs[kind], pipeline);
        }
    }
    mpfr_clear(sum);
    vector_clear(&q);
    vector_clear(&k);
}

Test(scores_staged, encodes_both_vectors_where_they_stand)
{
    for (enum kind kind = ROPE; kind <= NONE; kind++)
        for (size_t p = 0; p < sizeof pipelines / sizeof *pipelines; p++)
            expect_cells(kind, pipelines[p], false);
    expect_cells(ROPE, "f32,apply:f32,dot:f32", true);
    expect_cells(SINUSOIDAL, "all-bf16", true);
}

/* In f64 the scores are C's own: a c - b s, a s + b c and a running sum. */
Test(scores_staged, in_f64_is_plain_double_arithmetic)
{
    static struct setup setup;
    struct pe_stages stages = stages_from("f64");
    setup_init(&setup, DIM, OFFSETS_N);
    setup.job.stages = &stages;
    cr_assert_eq(run(&setup, "rope:dim=8"), PE_OK);
    for (size_t i = 0; i < ANCHORS_N * OFFSETS_N; i++) {
        double at[2] = {setup.anchors[i / OFFSETS_N],
                        setup.anchors[i / OFFSETS_N] + setup.offsets[i % OFFSETS_N]};
        struct pe_positions positions = positions_of(at, 2);
        struct pe_plan *plan = staged_plan("rope:dim=8", &stages, &positions);
        double c[DIM];
        double s[DIM];
        pe_cos_sin(plan, &positions, PE_F64, c, s);
        pe_plan_free(plan);
        double sum = 0;
        for (size_t pair = 0; pair < DIM / 2; pair++) {
            const double *q = setup.q + 2 * pair;
            const double *k = setup.k + 2 * pair;
            const double *ck = c + DIM / 2;
            const double *sk = s + DIM / 2;
            sum += (q[0] * c[pair] - q[1] * s[pair]) * (k[0] * ck[pair] - k[1] * sk[pair]);
            sum += (q[0] * s[pair] + q[1] * c[pair]) * (k[0] * sk[pair] + k[1] * ck[pair]);
        }
        cr_expect_eq(setup.scores[i], sum, "cell %zu: %a, not %a", i, setup.scores[i], sum);
    }
}

/* ---- What remains exact ------------------------------------------------------------------- */

static double spread(const char *spec, const char *pipeline)
{
    static struct setup setup;
    struct pe_stages stages = stages_from(pipeline);
    setup_init(&setup, 64, OFFSETS_MAX);
    setup.job.stages = &stages;
    cr_assert_eq(run(&setup, spec), PE_OK);
    double worst = 0;
    for (size_t o = 0; o < OFFSETS_MAX; o++) {
        double least = INFINITY;
        double most = -INFINITY;
        for (size_t a = 0; a < ANCHORS_N; a++) {
            least = fmin(least, setup.scores[a * OFFSETS_MAX + o]);
            most = fmax(most, setup.scores[a * OFFSETS_MAX + o]);
        }
        worst = fmax(worst, most - least);
    }
    return worst;
}

/* A rounded frequency is still a rotation by distance; anything else lets the places show. */
Test(scores_staged, spread_only_where_places_are_rounded)
{
    cr_expect_eq(spread("rope:dim=64", "exact"), 0);
    cr_expect_eq(spread("rope:dim=64", "freq:bf16"), 0);
    cr_expect(spread("rope:dim=64", "f64") > 0);
    cr_expect(spread("rope:dim=64", "f64") < 1e-13);
    cr_expect(spread("rope:dim=64", "angle:f32") > 1e-8);
    cr_expect_eq(spread("alibi:slope=0.3", "all-bf16"), 0, "no distance here is rounded");
    cr_expect_eq(spread("none", "dot:bf16"), 0);
}

/* ---- Biases ------------------------------------------------------------------------------- */

static double alibi_score(const char *pipeline, double anchor, double offset)
{
    static struct setup setup;
    struct pe_stages stages = stages_from(pipeline);
    setup_init(&setup, 2, 1);
    setup.job.stages = &stages;
    setup.job.anchors_n = 1;
    setup.anchors[0] = anchor;
    setup.offsets[0] = offset;
    setup.q[0] = 1.5;
    setup.q[1] = 0x1.02p-3;
    setup.k[0] = 1.25;
    setup.k[1] = 1;
    cr_assert_eq(run(&setup, "alibi:slope=0.3"), PE_OK);
    cr_expect_eq(setup.norm_q_after[0], setup.job.norm_q_before);
    return setup.scores[0];
}

/* q.k is 1.875 + 0.1259765625 = 2.0009765625; 2 in bf16. The bias is -3 at distance 10. */
Test(scores_staged, adds_biases_after_the_dot_product)
{
    const double qk = 1.875 + 0x1.02p-3;
    const long double bias = 10.0L * (double)0.3; /* not quite 3 */
    cr_expect_eq(alibi_score("dot:f64", 0, 10), (double)(qk - bias));
    cr_expect_eq(alibi_score("dot:bf16", 0, 10), (double)(2 - bias));
    cr_expect_eq(alibi_score("dot:bf16,angle:f32", 0, 10), -1);
    cr_expect_eq(alibi_score("apply:bf16", 0, 10), -1, "-0.9990234375 with 8 bits");
    cr_expect_eq(alibi_score("freq:bf16,dot:bf16", 0, 10), 2 - 3.0078125);
    cr_expect_eq(alibi_score("pos:bf16,freq:bf16,dot:bf16", 257, 2), 2 - 4 * 0.30078125,
                 "257 becomes 256, and 259 becomes 260");
    cr_expect_eq(alibi_score("pos:bf16,freq:bf16,dot:bf16", 259, -2), 2 - 4 * 0.30078125);
}

/* ---- Means and normalization -------------------------------------------------------------- */

/* Two vectors in bf16: the mean of their scores, scaled; divided by lengths; by the first. */
Test(scores_staged, are_scaled_and_normalized_at_the_end)
{
    static struct setup setup;
    static const enum pe_normalize ways[] = {PE_NORMALIZE_NONE, PE_NORMALIZE_MEAN,
                                             PE_NORMALIZE_COSINE, PE_NORMALIZE_FIRST};
    struct pe_stages stages = stages_from("all-bf16");
    struct vector q, k;
    vector_init(&q);
    vector_init(&k);
    mpfr_t sum, part;
    mpfr_inits2(REF_STAGE_BITS, sum, part, (mpfr_ptr)NULL);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        setup_init(&setup, DIM, OFFSETS_N);
        pe_fill_random(0, "q", PE_CONTENT_NORMAL, 1, 0, 2 * DIM, PE_F64, setup.q);
        pe_fill_random(0, "k", PE_CONTENT_NORMAL, 1, 0, 2 * DIM, PE_F64, setup.k);
        setup.job.vectors_n = 2;
        setup.job.stages = &stages;
        setup.job.normalize = ways[w];
        setup.job.scale = 0.3;
        setup.job.scale_sqrt_dim = true;
        cr_assert_eq(run(&setup, "rope:dim=8,layout=half"), PE_OK);
        double first = 0;
        for (size_t i = 0; i < OFFSETS_N; i++) { /* those of the first anchor */
            mpfr_set_zero(sum, 1);
            for (size_t v = 0; v < 2; v++) {
                encode(ROPE, &stages, setup.q + v * DIM, setup.anchors[0], &q);
                encode(ROPE, &stages, setup.k + v * DIM, setup.anchors[0] + setup.offsets[i], &k);
                dot(&stages, &q, &k, part);
                if (ways[w] == PE_NORMALIZE_COSINE)
                    mpfr_div_d(part, part, length(&q) * length(&k), MPFR_RNDN);
                mpfr_add(sum, sum, part, MPFR_RNDN);
            }
            double wanted = mpfr_get_d(sum, MPFR_RNDN) / 2 * 0.3 / sqrt(DIM);
            if (ways[w] == PE_NORMALIZE_MEAN)
                wanted /= DIM / 2;
            first = i == 0 ? mpfr_get_d(sum, MPFR_RNDN) : first;
            if (ways[w] == PE_NORMALIZE_FIRST)
                wanted = mpfr_get_d(sum, MPFR_RNDN) / first;
            cr_expect_float_eq(setup.scores[i], wanted, 4e-16 * fmax(1, fabs(wanted)),
                               "way %zu, offset %zu: %.17g, not %.17g", w, i, setup.scores[i],
                               wanted);
        }
    }
    mpfr_clears(sum, part, (mpfr_ptr)NULL);
    vector_clear(&q);
    vector_clear(&k);
}

/* Terms of adding kinds are of the table's values as they are, added exactly. */
Test(scores_staged, gives_the_terms_of_the_staged_table)
{
    static struct setup setup;
    struct pe_stages stages = stages_from("pos:bf16,table:bf16,apply:bf16,dot:bf16");
    setup_init(&setup, DIM, OFFSETS_N);
    setup.job.stages = &stages;
    setup.anchors[1] = 257;
    cr_assert_eq(run(&setup, "sinusoidal:dim=8"), PE_OK);
    double row[DIM];
    const double at[] = {256};
    struct pe_positions moved = positions_of(at, 1);
    struct pe_stages table = stages_from("table:bf16");
    struct pe_plan *plan = staged_plan("sinusoidal:dim=8", &table, &moved);
    pe_table(plan, &moved, PE_F64, row, DIM);
    pe_plan_free(plan);
    cr_expect_eq(setup.terms[0][OFFSETS_N], pe_dot(PE_F64, setup.q, setup.k, DIM));
    cr_expect_eq(setup.terms[1][OFFSETS_N], pe_dot(PE_F64, setup.q, row, DIM), "257 is 256");
    cr_expect_eq(setup.terms[2][OFFSETS_N], pe_dot(PE_F64, row, setup.k, DIM));
    cr_expect_eq(setup.terms[3][OFFSETS_N], pe_dot(PE_F64, row, row, DIM));
}

/* An infinite angle has no cosine: the score is not a number, and nothing hangs or breaks. */
Test(scores_staged, says_so_when_there_is_no_number)
{
    static struct setup setup;
    struct pe_stages stages = stages_from("angle:f16");
    setup_init(&setup, DIM, 2);
    setup.job.stages = &stages;
    setup.anchors[1] = 1e5;
    cr_assert_eq(run(&setup, "rope:dim=8"), PE_OK);
    cr_expect(isfinite(setup.scores[0]));
    cr_expect(isnan(setup.scores[2]) && isnan(setup.norm_q_after[1]));
    stages = stages_from("dot:f16");
    setup_init(&setup, DIM, 2);
    setup.job.stages = &stages;
    setup.q[0] = setup.k[0] = 1000;
    cr_assert_eq(run(&setup, "none:dim=8"), PE_OK);
    cr_expect_eq(setup.scores[0], INFINITY, "a million is beyond f16");
}

/* ---- q and k with encodings of their own --------------------------------------------------- */

#define BITS 400

/* x rotated, half-split, by p * base^(-2i/8), times `gain`. */
static void rotate(const double *x, double p, double base, double gain, mpfr_t y[DIM])
{
    mpfr_t w, c, s, part;
    mpfr_inits2(BITS, w, c, s, part, (mpfr_ptr)NULL);
    for (int i = 0; i < DIM / 2; i++) {
        mpfr_set_d(w, base, MPFR_RNDN);
        mpfr_set_d(part, -2.0 * i / DIM, MPFR_RNDN); /* exact */
        mpfr_pow(w, w, part, MPFR_RNDN);
        mpfr_mul_d(w, w, p, MPFR_RNDN);
        mpfr_sin_cos(s, c, w, MPFR_RNDN);
        mpfr_mul_d(y[i], c, x[i] * gain, MPFR_RNDN);
        mpfr_mul_d(part, s, x[i + DIM / 2] * gain, MPFR_RNDN);
        mpfr_sub(y[i], y[i], part, MPFR_RNDN);
        mpfr_mul_d(y[i + DIM / 2], s, x[i] * gain, MPFR_RNDN);
        mpfr_mul_d(part, c, x[i + DIM / 2] * gain, MPFR_RNDN);
        mpfr_add(y[i + DIM / 2], y[i + DIM / 2], part, MPFR_RNDN);
    }
    mpfr_clears(w, c, s, part, (mpfr_ptr)NULL);
}

static double dot_of(const struct setup *setup, double m, double n)
{
    mpfr_t q[DIM], k[DIM], sum;
    mpfr_init2(sum, BITS);
    mpfr_set_zero(sum, 1);
    for (int i = 0; i < DIM; i++)
        mpfr_inits2(BITS, q[i], k[i], (mpfr_ptr)NULL);
    rotate(setup->q, m, 10000, 1, q);
    rotate(setup->k, n + 2, 500000, 2, k);
    for (int i = 0; i < DIM; i++) {
        mpfr_mul(q[i], q[i], k[i], MPFR_RNDN);
        mpfr_add(sum, sum, q[i], MPFR_RNDN);
        mpfr_clears(q[i], k[i], (mpfr_ptr)NULL);
    }
    double score = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    return score;
}

Test(scores_staged, may_have_an_encoding_of_each)
{
    static struct setup setup;
    double at[ANCHORS_N * OFFSETS_N];
    setup_init(&setup, DIM, OFFSETS_N);
    for (size_t i = 0; i < (size_t)ANCHORS_N * OFFSETS_N; i++)
        at[i] = setup.anchors[i / OFFSETS_N] + setup.offsets[i % OFFSETS_N];
    struct pe_positions places = positions_of(at, ANCHORS_N * OFFSETS_N);
    struct pe_plan *of_k =
        plan_from("rope:dim=8,layout=half,base=500000,shift=2,attention_factor=2", &places);
    setup.job.k_plan = of_k;
    cr_assert_eq(run(&setup, "rope:dim=8,layout=half"), PE_OK);
    for (size_t a = 0; a < ANCHORS_N; a++) {
        for (size_t o = 0; o < OFFSETS_N; o++) {
            double m = setup.anchors[a], expected = dot_of(&setup, m, m + setup.offsets[o]);
            cr_expect_eq(setup.scores[a * OFFSETS_N + o], expected, "%zu %zu: %a, not %a", a, o,
                         setup.scores[a * OFFSETS_N + o], expected);
            cr_expect_eq(setup.norm_k_after[a * OFFSETS_N + o], 2 * setup.job.norm_k_before);
        }
        cr_expect_eq(setup.norm_q_after[a], setup.job.norm_q_before);
    }
    pe_plan_free(of_k);
}
