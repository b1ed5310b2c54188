// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_staged.c: rotating, adding and biasing with an apply stage, against MPFR one operation
 * after the other. Pipelines of other projects are in test_apply_peers.c.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "core/apply_to.h"
#include "ref/ref_stages.h"

#define DIM    12
#define ROTARY 8
#define TOKENS 9

static const double places[TOKENS] = {0, 1, 2, 77, 255, 4097, 30011, -5, 0.75};

static const char *const pipelines[] = {
    "apply:bf16",
    "apply:f16",
    "apply:f32",
    "apply:f64",
    "f32,apply:f32",
    "all-bf16",
    "f64",
    "angle:f32,apply:bf16",
    "table:f16,apply:f32",
    "freq:bf16,table:f64,apply:f16",
};

/* Elements of one dtype, as doubles too. */
static void fill(enum pe_dtype dtype, size_t n, void *out, double *values)
{
    pe_fill_random(5, "x", PE_CONTENT_NORMAL, 1.7, 0, n, dtype, out);
    for (size_t i = 0; i < n; i++)
        values[i] = pe_load(dtype, out, i);
}

static void expect_element(const char *what, enum pe_dtype dtype, mpfr_srcptr exact,
                           const void *out, size_t i)
{
    double wanted = ref_round(dtype, exact);
    double got = pe_load(dtype, out, i);
    cr_expect_eq(got, wanted, "%s, element %zu: %a, not %a", what, i, got, wanted);
}

/* ---- Rotating ----------------------------------------------------------------------------- */

static void expect_rotation(const char *pipeline, enum pe_dtype from, enum pe_dtype to,
                            bool inverse)
{
    double x[TOKENS * DIM];
    double in[TOKENS * DIM];
    double out[TOKENS * DIM];
    struct pe_positions at = positions_of(places, TOKENS);
    struct pe_stages stages = stages_from(pipeline);
    struct pe_view view_in;
    struct pe_view view_out;
    fill(from, TOKENS * DIM, in, x);
    cr_assert(pe_view_init(&view_in, from, in, "td", (size_t[]){TOKENS, DIM}, 2, 1));
    cr_assert(pe_view_init(&view_out, to, out, "td", (size_t[]){TOKENS, DIM}, 2, 1));
    apply_staged("rope:dim=12,rotary_dim=8,layout=half", &stages, &at, 1, inverse, &view_in,
                 &view_out);
    mpfr_t a, b;
    mpfr_inits2(REF_STAGE_BITS, a, b, (mpfr_ptr)NULL);
    for (size_t token = 0; token < TOKENS; token++)
        for (size_t pair = 0; pair < ROTARY / 2; pair++) {
            size_t first = token * DIM + pair;
            size_t second = first + ROTARY / 2;
            struct ref_turn turn = {{10000, pair, ROTARY}, .direction = inverse ? -1 : 1};
            mpfr_set_d(a, x[first], MPFR_RNDN);
            mpfr_set_d(b, x[second], MPFR_RNDN);
            ref_staged_turn(&stages, &turn, places[token], a, b);
            expect_element(pipeline, to, a, out, first);
            expect_element(pipeline, to, b, out, second);
        }
    for (size_t token = 0; token < TOKENS; token++)
        for (size_t channel = ROTARY; channel < DIM; channel++) { /* passed through */
            mpfr_set_d(a, x[token * DIM + channel], MPFR_RNDN);
            expect_element(pipeline, to, a, out, token * DIM + channel);
        }
    mpfr_clears(a, b, (mpfr_ptr)NULL);
}

Test(apply_staged, rounds_every_operation_of_a_rotation)
{
    static const enum pe_dtype dtypes[][2] = {
        {PE_F64, PE_F64},  {PE_F32, PE_F32},  {PE_F16, PE_F16}, {PE_BF16, PE_BF16},
        {PE_F64, PE_BF16}, {PE_BF16, PE_F64}, {PE_F32, PE_F16}};
    for (size_t p = 0; p < sizeof pipelines / sizeof *pipelines; p++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            expect_rotation(pipelines[p], dtypes[d][0], dtypes[d][1], (p + d) % 2 == 1);
}

/* f64 all the way: what C's own multiplication and addition give for the table's doubles. */
Test(apply_staged, in_f64_is_plain_double_arithmetic)
{
    double x[TOKENS * DIM];
    double in[TOKENS * DIM];
    double out[TOKENS * DIM];
    double c[TOKENS * DIM / 2];
    double s[TOKENS * DIM / 2];
    struct pe_positions at = positions_of(places, TOKENS);
    struct pe_stages stages = stages_from("f64");
    struct pe_view view_in;
    struct pe_view view_out;
    fill(PE_F64, TOKENS * DIM, in, x);
    pe_view_init(&view_in, PE_F64, in, "td", (size_t[]){TOKENS, DIM}, 2, 1);
    pe_view_init(&view_out, PE_F64, out, "td", (size_t[]){TOKENS, DIM}, 2, 1);
    apply_staged("rope:dim=12", &stages, &at, 1, false, &view_in, &view_out);
    struct pe_plan *plan = staged_plan("rope:dim=12", &stages, &at);
    pe_cos_sin(plan, &at, PE_F64, c, s);
    pe_plan_free(plan);
    for (size_t i = 0; i < TOKENS * DIM / 2; i++) {
        double a = x[2 * i];
        double b = x[2 * i + 1];
        cr_expect_eq(out[2 * i], a * c[i] - b * s[i]);
        cr_expect_eq(out[2 * i + 1], a * s[i] + b * c[i]);
    }
}

Test(apply_staged, in_place_is_the_same)
{
    double x[TOKENS * DIM];
    float in[TOKENS * DIM];
    float out[TOKENS * DIM];
    struct pe_positions at = positions_of(places, TOKENS);
    struct pe_stages stages = stages_from("f32,apply:bf16");
    struct pe_view view_in;
    struct pe_view view_out;
    static const char *const specs[] = {"rope:dim=12", "sinusoidal:dim=12", "learned:dim=12"};
    static const double rows[TOKENS] = {0, 1, 2, 77, 255, 1097, 2011, 5, 75}; /* also of a table */
    for (size_t i = 0; i < 3; i++) {
        fill(PE_F32, TOKENS * DIM, in, x);
        pe_view_init(&view_in, PE_F32, in, "td", (size_t[]){TOKENS, DIM}, 2, 1);
        pe_view_init(&view_out, PE_F32, out, "td", (size_t[]){TOKENS, DIM}, 2, 1);
        at = positions_of(rows, TOKENS);
        apply_staged(specs[i], &stages, &at, 1, false, &view_in, &view_out);
        apply_staged(specs[i], &stages, &at, 1, false, &view_in, &view_in);
        cr_expect_arr_eq(in, out, sizeof in, "%s", specs[i]);
    }
}

/* An apply stage is honest at position 0: f32 vectors are rounded to it there too. Without one
 * position 0 gives the input back. */
Test(apply_staged, does_not_skip_position_0)
{
    static const double zero[] = {0};
    float x[] = {1.00390625f, -0x1p-140f};
    float y[2];
    struct pe_positions at = positions_of(zero, 1);
    struct pe_view in;
    struct pe_view out;
    pe_view_init(&in, PE_F32, x, "td", (size_t[]){1, 2}, 2, 1);
    pe_view_init(&out, PE_F32, y, "td", (size_t[]){1, 2}, 2, 1);
    struct pe_stages stages = stages_from("apply:bf16");
    apply_staged("rope:dim=2", &stages, &at, 1, false, &in, &out);
    cr_expect_eq(y[0], 1.0f, "a tie");
    cr_expect_eq(y[1], 0.0f);
    stages = stages_from("f32");
    apply_staged("rope:dim=2", &stages, &at, 1, false, &in, &out);
    cr_expect_eq(y[0], x[0]);
    cr_expect_eq(y[1], x[1]);
}

/* ---- Adding ------------------------------------------------------------------------------- */

Test(apply_staged, rounds_sums)
{
    enum { WIDTH = 5 }; /* two pairs, and a channel that stays as it is */
    double x[TOKENS * WIDTH];
    double in[TOKENS * WIDTH];
    double out[TOKENS * WIDTH];
    struct pe_positions at = positions_of(places, TOKENS);
    struct pe_view view_in;
    struct pe_view view_out;
    mpfr_t y[2];
    mpfr_inits2(REF_STAGE_BITS, y[0], y[1], (mpfr_ptr)NULL);
    for (size_t p = 0; p < sizeof pipelines / sizeof *pipelines; p++) {
        bool inverse = p % 2 == 1;
        struct pe_stages stages = stages_from(pipelines[p]);
        fill(PE_F32, TOKENS * WIDTH, in, x);
        pe_view_init(&view_in, PE_F32, in, "td", (size_t[]){TOKENS, WIDTH}, 2, 1);
        pe_view_init(&view_out, PE_F64, out, "td", (size_t[]){TOKENS, WIDTH}, 2, 1);
        apply_staged("sinusoidal:dim=5", &stages, &at, 1, inverse, &view_in, &view_out);
        for (size_t i = 0; i < TOKENS * WIDTH; i++) {
            size_t channel = i % WIDTH;
            struct ref_turn turn = {.pair = {10000, channel / 2, WIDTH}};
            ref_staged_cos_sin(&stages, &turn, places[i / WIDTH], y[1], y[0]);
            mpfr_ptr sum = y[channel % 2];
            if (inverse)
                mpfr_neg(sum, sum, MPFR_RNDN);
            mpfr_add_d(sum, sum, x[i], MPFR_RNDN);
            ref_stage(&stages, PE_STAGE_APPLY, sum);
            if (channel == WIDTH - 1)
                mpfr_set_d(sum, x[i], MPFR_RNDN);
            expect_element(pipelines[p], PE_F64, sum, out, i);
        }
    }
    mpfr_clears(y[0], y[1], (mpfr_ptr)NULL);
}

/* 300 + 1.5 in bf16, where steps are 2 from 256 on. */
Test(apply_staged, rounds_sums_of_rows)
{
    const double at[] = {300};
    double x[2] = {1.5, -0.5};
    double y[2];
    struct pe_positions one = positions_of(at, 1);
    struct pe_view in;
    struct pe_view out;
    pe_view_init(&in, PE_F64, x, "td", (size_t[]){1, 2}, 2, 1);
    pe_view_init(&out, PE_F64, y, "td", (size_t[]){1, 2}, 2, 1);
    struct pe_stages stages = stages_from("apply:bf16");
    apply_staged("integer:dim=2", &stages, &one, 1, false, &in, &out);
    cr_expect_eq(y[0], 302);
    cr_expect_eq(y[1], 300);
    apply_staged("integer:dim=2", &stages, &one, 1, true, &in, &out);
    cr_expect_eq(y[0], -298);
    cr_expect_eq(y[1], -300);
    apply_staged("none:dim=2", &stages, &one, 1, false, &in, &out);
    cr_expect_eq(y[0], 1.5, "nothing is done");
}

/* ---- Biasing ------------------------------------------------------------------------------ */

Test(apply_staged, rounds_biased_scores)
{
    static const double at[] = {0, 1, 10};
    static const double scores[] = {1.00390625, 2, 100.25};
    struct pe_positions query = positions_of(at, 1);
    struct pe_positions keys = positions_of(at, 3);
    double out[3];
    struct pe_stages stages = stages_from("apply:bf16");
    struct pe_plan *plan = plan_from("alibi:slope=0.3", &keys);
    pe_add_bias(plan, &stages, NULL, &query, &keys, 0, 1, 1, PE_F64, scores, out);
    cr_expect_eq(out[0], 1, "a tie, at distance 0");
    cr_expect_eq(out[1], 1.703125, "1.7 with 8 bits");
    cr_expect_eq(out[2], 97.5, "97.25 and a trace of 0.3: above the tie in steps of 0.5");
    pe_add_bias(plan, NULL, NULL, &query, &keys, 0, 1, 1, PE_F64, scores, out);
    cr_expect_eq(out[2], 97.25);
    pe_plan_free(plan);
}

/* NaN and infinities go through as in any arithmetic. */
Test(apply_staged, carries_what_is_not_finite)
{
    const double at[] = {3};
    double x[4] = {INFINITY, 1, NAN, 1};
    double y[4];
    struct pe_positions one = positions_of(at, 1);
    struct pe_view in;
    struct pe_view out;
    pe_view_init(&in, PE_F64, x, "td", (size_t[]){1, 4}, 2, 1);
    pe_view_init(&out, PE_F64, y, "td", (size_t[]){1, 4}, 2, 1);
    struct pe_stages stages = stages_from("f32,apply:f32");
    apply_staged("rope:dim=4", &stages, &one, 1, false, &in, &out);
    cr_expect_eq(y[0], -INFINITY, "cos 3 < 0");
    cr_expect_eq(y[1], INFINITY);
    cr_expect(isnan(y[2]) && isnan(y[3]));
}
