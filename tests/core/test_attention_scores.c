// SPDX-License-Identifier: Apache-2.0
/*
 * test_attention_scores.c: scores of all queries with all keys, against vectors that MPFR encodes
 * one by one (ref_scores.h), against definitions of biases, and against pe_scores where that is
 * asked for the same.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/plan_from.h"
#include "ref/ref_scores.h"

#define TOKENS 6
#define DIM    16

struct setup {
    struct pe_attention job;
    struct pe_positions positions;
    double at[2][TOKENS], q[TOKENS * DIM], k[TOKENS * DIM], scores[TOKENS * TOKENS];
};

static const double whole[TOKENS] = {0, 1, 2, 3, 4, 5};
static const double scattered[TOKENS] = {0.1, -3, 0.7, 4096.5, 1e-9, 1e6};

static void setup_init(struct setup *setup, const double *at)
{
    *setup = (struct setup){0};
    memcpy(setup->at[0], at, sizeof setup->at[0]);
    for (size_t i = 0; i < TOKENS; i++)
        setup->at[1][i] = 7 - 2 * (double)i;
    setup->positions = (struct pe_positions){1, TOKENS, {setup->at[0], setup->at[1]}};
    pe_fill_random(3, "q", PE_CONTENT_NORMAL, 1, 0, TOKENS * DIM, PE_F64, setup->q);
    pe_fill_random(3, "k", PE_CONTENT_NORMAL, 1, 0, TOKENS * DIM, PE_F64, setup->k);
    setup->job = (struct pe_attention){.positions = &setup->positions,
                                       .q = setup->q,
                                       .k = setup->k,
                                       .dim = DIM,
                                       .scale = 1,
                                       .scores = setup->scores};
}

static void run(struct setup *setup, const char *text)
{
    const struct pe_stages none = {0};
    struct pe_plan *plan =
        staged_plan(text, setup->job.stages ? setup->job.stages : &none, &setup->positions);
    setup->positions.axes = pe_spec_axes(pe_plan_spec(plan));
    setup->job.plan = plan;
    cr_assert_eq(pe_attention_scores(&setup->job), PE_OK, "%s", text);
    pe_plan_free(plan);
}

/* y * scale / sqrt(dim), as the job has it. */
static void scale(const struct setup *setup, mpfr_t y)
{
    mpfr_t root;
    mpfr_init2(root, REF_BITS);
    mpfr_mul_d(y, y, setup->job.scale, MPFR_RNDN);
    mpfr_sqrt_ui(root, DIM, MPFR_RNDN);
    if (setup->job.scale_sqrt_dim)
        mpfr_div(y, y, root, MPFR_RNDN);
    mpfr_clear(root);
}

static void expect_encoded(struct setup *setup, const char *text, const struct ref_encoding *e)
{
    struct ref_vector q, k;
    mpfr_t sum;
    mpfr_init2(sum, REF_BITS);
    ref_vector_init(&q);
    ref_vector_init(&k);
    run(setup, text);
    for (size_t i = 0; i < TOKENS * TOKENS; i++) {
        size_t m = i / TOKENS, n = i % TOKENS;
        ref_encode(e, setup->q + m * DIM, setup->at[0][m], &q);
        ref_encode(e, setup->k + n * DIM, setup->at[0][n], &k);
        ref_dot(&q, &k, DIM, sum);
        scale(setup, sum);
        double wanted = mpfr_get_d(sum, MPFR_RNDN);
        cr_expect(setup->scores[i] == wanted, "%s: score of %zu with %zu is %a, not %a", text, m, n,
                  setup->scores[i], wanted);
    }
    ref_vector_clear(&q);
    ref_vector_clear(&k);
    mpfr_clear(sum);
}

Test(attention_scores, are_those_of_vectors_encoded_one_by_one)
{
    static const struct {
        const char *text;
        bool whole_only;
        struct ref_encoding encoding;
    } kinds[] = {
        {"none:dim=16", false, {.kind = REF_NONE, .dim = DIM}},
        {"rope:dim=16", false, {REF_ROPE, DIM, DIM, 1e4, false, 1, 0, 0, 0, false}},
        {"rope:dim=16,layout=half,shift=0.5,direction=-1",
         false,
         {REF_ROPE, DIM, DIM, 1e4, true, -1, 0.5, 0, 0, false}},
        {"rope:dim=16,rotary_dim=8,base=100",
         false,
         {REF_ROPE, DIM, 8, 100, false, 1, 0, 0, 0, false}},
        {"sinusoidal:dim=16",
         false,
         {.kind = REF_SINUSOIDAL, .dim = DIM, .base = 1e4, .direction = 1}},
        {"integer:dim=16", false, {.kind = REF_INTEGER, .dim = DIM}},
        {"learned:dim=16,rows=8", true, {.kind = REF_LEARNED, .dim = DIM, .std = 0.02}},
    };
    static const struct {
        bool sqrt_dim;
        double factor;
    } scales[] = {{false, 1}, {true, 1}, {false, 0.3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t s = 0; s < 3; s++) {
            struct setup setup;
            setup_init(&setup, s == 1 && !kinds[i].whole_only ? scattered : whole);
            setup.job.scale_sqrt_dim = scales[s].sqrt_dim;
            setup.job.scale = scales[s].factor;
            expect_encoded(&setup, kinds[i].text, &kinds[i].encoding);
        }
}

/* A vector by rows and columns: pair i < DIM/4 by the row, the others by the column. */
static void turn_in_two(const double *x, double row, double column, struct ref_vector *y)
{
    static const struct ref_encoding half = {
        .kind = REF_ROPE, .dim = DIM / 2, .rotary_dim = DIM / 2, .base = 1e4, .direction = 1};
    struct ref_vector part;
    ref_vector_init(&part);
    for (size_t axis = 0; axis < 2; axis++) {
        ref_encode(&half, x + axis * DIM / 2, axis ? column : row, &part);
        for (size_t i = 0; i < DIM / 2; i++)
            mpfr_set(y->at[axis * DIM / 2 + i], part.at[i], MPFR_RNDN);
    }
    ref_vector_clear(&part);
}

Test(attention_scores, on_two_axes)
{
    struct setup setup;
    struct ref_vector q, k;
    mpfr_t sum;
    mpfr_init2(sum, REF_BITS);
    ref_vector_init(&q);
    ref_vector_init(&k);
    setup_init(&setup, scattered);
    run(&setup, "rope2d:dim=16");
    for (size_t i = 0; i < TOKENS * TOKENS; i++) {
        size_t m = i / TOKENS, n = i % TOKENS;
        turn_in_two(setup.q + m * DIM, setup.at[0][m], setup.at[1][m], &q);
        turn_in_two(setup.k + n * DIM, setup.at[0][n], setup.at[1][n], &k);
        ref_dot(&q, &k, DIM, sum);
        cr_expect_eq(setup.scores[i], mpfr_get_d(sum, MPFR_RNDN), "%zu with %zu", m, n);
    }
    ref_vector_clear(&q);
    ref_vector_clear(&k);
    mpfr_clear(sum);
}

/* Where both stand at the same place a rotation leaves the product as it is, whose digits may end
 * half-way between two doubles. */
Test(attention_scores, at_distance_0_are_products_as_they_are)
{
    static const char *const kinds[] = {"rope:dim=16", "rope2d:dim=16", "rope:dim=16,shift=0.1"};
    for (size_t i = 0; i < 3; i++) {
        struct setup setup;
        float narrow[TOKENS * DIM];
        setup_init(&setup, scattered);
        pe_fill_random(5, "x", PE_CONTENT_NORMAL, 1, 0, TOKENS * DIM, PE_F32, narrow);
        for (size_t j = 0; j < TOKENS * DIM; j++)
            setup.q[j] = setup.k[j] = (double)narrow[j];
        run(&setup, kinds[i]);
        for (size_t t = 0; t < TOKENS; t++)
            cr_expect_eq(setup.scores[t * TOKENS + t],
                         pe_dot(PE_F64, setup.q + t * DIM, setup.k + t * DIM, DIM), "%s: %zu",
                         kinds[i], t);
    }
}

/* q.k / sqrt(dim) - slope |m - n|: the bias is not scaled. */
Test(attention_scores, of_biases_add_them_to_what_is_scaled)
{
    struct setup setup;
    mpfr_t sum, product;
    mpfr_inits2(REF_BITS, sum, product, (mpfr_ptr)NULL);
    setup_init(&setup, whole);
    setup.job.scale_sqrt_dim = true;
    setup.job.head = 2;
    run(&setup, "alibi:heads=8");
    for (size_t i = 0; i < TOKENS * TOKENS; i++) {
        size_t m = i / TOKENS, n = i % TOKENS;
        mpfr_set_zero(sum, 1);
        for (size_t c = 0; c < DIM; c++) {
            mpfr_set_d(product, setup.q[m * DIM + c], MPFR_RNDN);
            mpfr_mul_d(product, product, setup.k[n * DIM + c], MPFR_RNDN);
            mpfr_add(sum, sum, product, MPFR_RNDN);
        }
        scale(&setup, sum);
        mpfr_sub_d(sum, sum, 0.125 * fabs((double)m - (double)n), MPFR_RNDN);
        cr_expect_eq(setup.scores[i], mpfr_get_d(sum, MPFR_RNDN), "%zu with %zu", m, n);
    }
    mpfr_clears(sum, product, (mpfr_ptr)NULL);
}

/* (q.(k + a)) / sqrt(dim): the learned vector is part of the key. */
Test(attention_scores, of_biases_that_are_made_of_vectors_are_scaled_as_a_whole)
{
    struct setup setup;
    double table[5 * DIM];
    mpfr_t sum, factor;
    mpfr_inits2(REF_BITS, sum, factor, (mpfr_ptr)NULL);
    setup_init(&setup, whole);
    setup.job.scale_sqrt_dim = true;
    run(&setup, "shaw:dim=16,max_distance=2,table_std=0.5");
    pe_fill_random(0, "table", PE_CONTENT_NORMAL, 0.5, 0, 5 * DIM, PE_F64, table);
    for (size_t i = 0; i < TOKENS * TOKENS; i++) {
        size_t m = i / TOKENS, n = i % TOKENS;
        double offset = fmin(fmax((double)n - (double)m, -2), 2) + 2;
        mpfr_set_zero(sum, 1);
        for (size_t c = 0; c < DIM; c++) {
            mpfr_set_d(factor, setup.k[n * DIM + c], MPFR_RNDN);
            mpfr_add_d(factor, factor, table[(size_t)offset * DIM + c], MPFR_RNDN);
            mpfr_mul_d(factor, factor, setup.q[m * DIM + c], MPFR_RNDN);
            mpfr_add(sum, sum, factor, MPFR_RNDN);
        }
        scale(&setup, sum);
        cr_expect_eq(setup.scores[i], mpfr_get_d(sum, MPFR_RNDN), "%zu with %zu", m, n);
    }
    mpfr_clears(sum, factor, (mpfr_ptr)NULL);
}

/* cope needs the keys between the two; pe_add_bias is given all of them too. */
Test(attention_scores, of_contextual_biases_see_the_keys_between)
{
    struct setup setup;
    double scores[TOKENS * TOKENS];
    setup_init(&setup, whole);
    run(&setup, "cope:dim=16,table_std=0.5");
    struct pe_plan *plan = plan_from("cope:dim=16,table_std=0.5", &setup.positions);
    for (size_t i = 0; i < TOKENS * TOKENS; i++)
        scores[i] = pe_dot(PE_F64, setup.q + i / TOKENS * DIM, setup.k + i % TOKENS * DIM, DIM);
    pe_add_bias(plan, NULL, &(struct pe_vectors){setup.q, setup.k}, &setup.positions,
                &setup.positions, 0, 1, 1, PE_F64, scores, scores);
    for (size_t i = 0; i < TOKENS * TOKENS; i++)
        cr_expect_float_eq(setup.scores[i], scores[i], 1e-14, "%zu", i);
    pe_plan_free(plan);
}

Test(attention_scores, that_are_causal_see_nothing_behind_the_query)
{
    struct setup all, seen;
    setup_init(&all, whole);
    setup_init(&seen, whole);
    seen.job.causal = true;
    run(&all, "rope:dim=16");
    run(&seen, "rope:dim=16");
    for (size_t i = 0; i < TOKENS * TOKENS; i++)
        cr_expect_eq(seen.scores[i], i % TOKENS > i / TOKENS ? -INFINITY : all.scores[i]);
}

/* A stage rounds as it does for single scores. */
Test(attention_scores, with_stages_are_those_of_pe_scores)
{
    static const char *const kinds[] = {"rope:dim=16", "sinusoidal:dim=16", "none:dim=16"};
    const struct pe_stages stages = {
        .named = 1u << PE_STAGE_TABLE | 1u << PE_STAGE_APPLY | 1u << PE_STAGE_DOT,
        .dtype = {[PE_STAGE_TABLE] = PE_BF16, [PE_STAGE_APPLY] = PE_F32, [PE_STAGE_DOT] = PE_F32}};
    for (size_t i = 0; i < 3; i++) {
        struct setup setup;
        setup_init(&setup, whole);
        setup.job.stages = &stages;
        run(&setup, kinds[i]);
        struct pe_plan *plan = staged_plan(kinds[i], &stages, &setup.positions);
        for (size_t j = 0; j < TOKENS * TOKENS; j++) {
            double anchor = (double)(j / TOKENS), offset = (double)(j % TOKENS) - anchor;
            double score, norms[2];
            struct pe_scores one = {.plan = plan,
                                    .q = setup.q + j / TOKENS * DIM,
                                    .k = setup.k + j % TOKENS * DIM,
                                    .vectors_n = 1,
                                    .dim = DIM,
                                    .anchors = &anchor,
                                    .offsets = &offset,
                                    .anchors_n = 1,
                                    .offsets_n = 1,
                                    .stages = &stages,
                                    .scale = 1,
                                    .scores = &score,
                                    .norm_q_after = &norms[0],
                                    .norm_k_after = &norms[1]};
            cr_assert_eq(pe_scores(&one), PE_OK);
            cr_expect_eq(setup.scores[j], score, "%s: %zu", kinds[i], j);
        }
        pe_plan_free(plan);
    }
}

static bool at_once(void *asked)
{
    return ++*(size_t *)asked == 3;
}

Test(attention_scores, stop_when_they_are_told_to)
{
    struct setup setup;
    size_t asked = 0;
    setup_init(&setup, whole);
    struct pe_plan *plan = plan_from("rope:dim=16", &setup.positions);
    setup.job.plan = plan;
    setup.job.stop = at_once;
    setup.job.stop_context = &asked;
    cr_expect_eq(pe_attention_scores(&setup.job), PE_STOPPED);
    pe_plan_free(plan);
}
