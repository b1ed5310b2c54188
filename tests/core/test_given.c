// SPDX-License-Identifier: Apache-2.0
/*
 * test_given.c: rotation by cosines and sines of the caller's. f64 is the exact sum of two
 * products, which MPFR holds, rounded once; the other dtypes are the two products and their sum in
 * double, rounded once.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

#define ROWS  40
#define PAIRS 5
#define DIM   12   /* two channels pass through */
#define EXACT 8192 /* bits that hold the sum of two products of doubles */

/* Rows of cosines, then sines, of every size that is taken; and zeros. */
static void fill_table(double *table)
{
    static const double sizes[] = {1, 0x1p-30, 0x1p-100, 0x1p-1000, 0x1p60, 0x1p99, 0};
    double scale[2 * PAIRS * ROWS];
    pe_fill_random(1, "table", PE_CONTENT_UNIFORM, 1, 0, 2 * PAIRS * ROWS, PE_F64, table);
    pe_fill_random(2, "scale", PE_CONTENT_UNIFORM, 1, 0, 2 * PAIRS * ROWS, PE_F64, scale);
    for (size_t i = 0; i < (size_t)2 * PAIRS * ROWS; i++) {
        size_t row = i / (2 * PAIRS);
        /* the first rows are of one size each, the others are mixed */
        size_t which = row < 7 ? row : (size_t)((scale[i] + 1) / 2 * 7) % 7;
        table[i] *= sizes[which];
    }
}

static void plan_make(const char *text, const double *table, const struct pe_stages *stages,
                      const struct pe_positions *positions, struct pe_plan **plan)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, &spec, &faults));
    spec.table = table;
    spec.table_rows = ROWS;
    spec.table_cols = 2 * PAIRS;
    bool ok = pe_spec_finish(&spec, &faults);
    cr_assert(ok, "%s: %s", faults.item[0].param, faults.item[0].detail);
    cr_assert_eq(pe_plan_staged(&spec, stages, positions, plan), PE_OK);
    pe_spec_release(&spec);
}

/* x c + y s, rounded once. */
static double exact_dot(double x, double c, double y, double s)
{
    mpfr_t a, b;
    mpfr_inits2(EXACT, a, b, (mpfr_ptr)NULL);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_mul_d(a, a, c, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    mpfr_mul_d(b, b, s, MPFR_RNDN);
    mpfr_add(a, a, b, MPFR_RNDN);
    mpfr_prec_round(a, 53, MPFR_RNDN);
    double sum = mpfr_get_d(a, MPFR_RNDN);
    mpfr_clears(a, b, (mpfr_ptr)NULL);
    return sum;
}

static void expected_row(bool half, double direction, const double *row, enum pe_dtype dtype,
                         const void *x, void *y)
{
    memcpy(y, x, DIM * pe_dtype_size(dtype));
    for (size_t i = 0; i < PAIRS; i++) {
        size_t first = half ? i : 2 * i, second = half ? i + PAIRS : 2 * i + 1;
        double a = pe_load(dtype, x, first), b = pe_load(dtype, x, second);
        double c = row[i], s = direction * row[PAIRS + i];
        bool wide = dtype == PE_F64;
        pe_store(dtype, y, first, wide ? exact_dot(a, c, -b, s) : a * c - b * s);
        pe_store(dtype, y, second, wide ? exact_dot(a, s, b, c) : a * s + b * c);
    }
}

static void compare_all(const char *spec, bool half, double direction, enum pe_dtype dtype)
{
    static double table[2 * PAIRS * ROWS], at[ROWS], x[ROWS * DIM], y[ROWS * DIM], z[DIM];
    size_t bytes = DIM * pe_dtype_size(dtype);
    struct pe_view view;
    struct pe_plan *plan;
    fill_table(table);
    for (size_t i = 0; i < ROWS; i++)
        at[i] = (double)((i * 17 + 3) % ROWS);
    const struct pe_positions positions = {.axes = 1, .n = ROWS, .at = {at}};
    plan_make(spec, table, &(struct pe_stages){0}, &positions, &plan);
    void *work = aligned_alloc(64, (pe_apply_work_bytes(plan) + 63) / 64 * 64);
    pe_fill_random(3, "x", PE_CONTENT_NORMAL, 1, 0, ROWS * DIM, dtype, x);
    memcpy(y, x, ROWS * bytes);
    cr_assert(pe_view_init(&view, dtype, y, "td", (size_t[]){ROWS, DIM}, 2, 1));
    pe_apply(&(struct pe_apply){.plan = plan,
                                .positions = &positions,
                                .positions_n = 1,
                                .in = &view,
                                .out = &view,
                                .work = work});
    for (size_t i = 0; i < ROWS; i++) {
        expected_row(half, direction, &table[(size_t)at[i] * 2 * PAIRS], dtype,
                     (const char *)x + i * bytes, z);
        for (size_t c = 0; c < DIM; c++)
            cr_expect_eq(pe_load(dtype, y, i * DIM + c), pe_load(dtype, z, c),
                         "%s %s row %.0f channel %zu: %a, not %a", spec, pe_dtype_name(dtype),
                         at[i], c, pe_load(dtype, y, i * DIM + c), pe_load(dtype, z, c));
    }
    free(work);
    pe_plan_free(plan);
}

Test(given, rotates_as_the_formula_says)
{
    for (enum pe_dtype dtype = PE_F64; dtype < PE_I64; dtype++) {
        compare_all("rope:dim=12,rotary_dim=10", false, 1, dtype);
        compare_all("rope:dim=12,rotary_dim=10,layout=half", true, 1, dtype);
        compare_all("rope:dim=12,rotary_dim=10,layout=half,direction=-1", true, -1, dtype);
    }
}

/* As the tables of other encodings: cos and sin come back as they are, or rounded by their stage.
 */
Test(given, is_a_table_like_others)
{
    static double table[2 * PAIRS * ROWS];
    const double at[] = {7, 0};
    const struct pe_positions positions = {.axes = 1, .n = 2, .at = {at}};
    const struct pe_stages staged = {.named = 1u << PE_STAGE_TABLE,
                                     .dtype = {[PE_STAGE_TABLE] = PE_BF16}};
    double c[2 * PAIRS], s[2 * PAIRS];
    fill_table(table);
    for (int rounds = 0; rounds < 2; rounds++) {
        struct pe_plan *plan;
        plan_make("rope:dim=10", table, rounds ? &staged : &(struct pe_stages){0}, &positions,
                  &plan);
        pe_cos_sin(plan, &positions, PE_F64, c, s);
        for (size_t i = 0; i < (size_t)2 * PAIRS; i++) {
            const double *row = &table[(size_t)at[i / PAIRS] * 2 * PAIRS];
            double wanted[2] = {row[i % PAIRS], row[PAIRS + i % PAIRS]};
            for (int k = 0; rounds && k < 2; k++) {
                pe_store(PE_BF16, wanted + k, 0, wanted[k]);
                wanted[k] = pe_load(PE_BF16, wanted + k, 0);
            }
            cr_expect(c[i] == wanted[0] && s[i] == wanted[1], "%zu: %a %a", i, c[i], s[i]);
        }
        pe_plan_free(plan);
    }
}

static void expect_fault(const char *text, const double *table, size_t cols, const char *param,
                         const char *says)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, &spec, &faults));
    spec.table = table;
    spec.table_rows = 2;
    spec.table_cols = cols;
    cr_expect_not(pe_spec_finish(&spec, &faults), "%s", text);
    cr_expect_str_eq(faults.item[0].param, param, "%s", text);
    cr_expect(strstr(faults.item[0].detail, says), "%s: %s", text, faults.item[0].detail);
    pe_spec_release(&spec);
}

Test(given, refuses_what_does_not_fit)
{
    static const double good[8] = {1, 1, 0, 0, 1, 1, 0, 0};
    static const double bad[8] = {1, 1, 0, 0, 1, 1, 0, 0x1p101};
    static const double none[8] = {1, NAN, 0, 0, 1, 1, 0, 0};
    expect_fault("rope:dim=4,base=100", good, 4, "base", "no effect");
    expect_fault("rope:dim=4,scaling=linear,factor=2", good, 4, "scaling", "no effect");
    expect_fault("rope:dim=4,shift=1", good, 4, "shift", "no effect");
    expect_fault("rope:dim=4,rotary_dim=2", good, 4, "cos", "rotary_dim/2 = 1 columns, got 2");
    expect_fault("rope:dim=4", bad, 4, "sin", "in row 1");
    expect_fault("rope:dim=4", none, 4, "cos", "NaN");
}

Test(given, has_no_other_rows)
{
    static const double table[8] = {1, 1, 0, 0, 1, 1, 0, 0};
    static const double wrong[] = {2, -1, 0.5};
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("rope:dim=4", &spec, &faults));
    spec.table = table;
    spec.table_rows = 2;
    spec.table_cols = 4;
    cr_assert(pe_spec_finish(&spec, &faults));
    for (size_t i = 0; i < 3; i++) {
        const struct pe_positions positions = {.axes = 1, .n = 1, .at = {&wrong[i]}};
        cr_expect_not(pe_positions_check(&spec, &positions, "positions", &faults));
        cr_expect(strstr(faults.item[i].detail, "rows 0 to 1"), "%s", faults.item[i].detail);
    }
    pe_spec_release(&spec);
}
