// SPDX-License-Identifier: Apache-2.0
/*
 * sinusoidal: numbers of the ways in which libraries write it, computed from the definition by an
 * independent script; the row of padding in tables, sums and scores.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "apply_to.h"
#include "rows_of.h"
#include "scores_setup.h"

#define N(array) (sizeof(array) / sizeof *(array))

Test(sinusoidal, has_the_numbers_of_each_library)
{
    static const struct {
        const char *text;
        double position;
        size_t dim;
        double row[8];
    } cases[] = {
        {"sinusoidal:dim=4", 1, 4, {0.8414709848, 0.5403023059, 0.009999833334, 0.9999500004}},
        {"sinusoidal:dim=8,order=sin_cos",
         1,
         8,
         {0.8414709848, 0.09983341665, 0.009999833334, 0.0009999998333, 0.5403023059, 0.9950041653,
          0.9999500004, 0.9999995}},
        {"sinusoidal:dim=8,order=sin_cos,spacing=endpoint,padding_idx=1",
         2,
         8,
         {0.9092974268, 0.09269850078, 0.004308856047, 0.0001999999987, -0.4161468365, 0.9956942241,
          0.9999907168, 0.99999998}},
        {"sinusoidal:dim=5,order=sin_cos,spacing=endpoint",
         1,
         5,
         {0.841470985, 9.99999998e-5, 0.540302306, 0.999999995, 0}},
        {"sinusoidal:dim=8,order=sin_cos,spacing=shift,freq_shift=1",
         10,
         8,
         {-0.5440211109, 0.4476708347, 0.02154268027, 0.0009999998333, -0.8390715291, 0.8941984253,
          0.9997679295, 0.9999995}},
        {"sinusoidal:dim=8,order=cos_sin,spacing=shift",
         10,
         8,
         {-0.8390715291, 0.5403023059, 0.9950041653, 0.9999500004, -0.5440211109, 0.8414709848,
          0.09983341665, 0.009999833334}},
        {"sinusoidal:dim=7,order=sin_cos,spacing=shift,freq_shift=1",
         10,
         7,
         {-0.5440211109, 0.09983341665, 0.0009999998333, -0.8390715291, 0.9950041653, 0.9999995,
          0}},
    };
    for (size_t i = 0; i < N(cases); i++) {
        double row[8];
        struct pe_positions positions = positions_of(&cases[i].position, 1);
        struct pe_plan *plan = plan_from(cases[i].text, &positions);
        pe_table(plan, &positions, PE_F64, row, cases[i].dim);
        for (size_t j = 0; j < cases[i].dim; j++)
            cr_expect_float_eq(row[j], cases[i].row[j], 6e-10 * fmax(fabs(row[j]), 1e-3),
                               "%s, channel %zu: %.10g", cases[i].text, j, row[j]);
        pe_plan_free(plan);
    }
}

/* The row of the used position: shift 2 makes it that of position -1. */
Test(sinusoidal, has_a_row_of_zeros_for_padding)
{
    static const double at[] = {-2, -1, 0};
    struct pe_positions positions = positions_of(at, N(at));
    struct pe_plan *plan = plan_from("sinusoidal:dim=6,shift=2,padding_idx=1", &positions);
    struct pe_plan *plain = plan_from("sinusoidal:dim=6,shift=2", &positions);
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_BF16};
    for (size_t d = 0; d < N(dtypes); d++) {
        double got[18], other[18];
        pe_table(plan, &positions, dtypes[d], got, 6);
        pe_table(plain, &positions, dtypes[d], other, 6);
        for (size_t i = 0; i < 18; i++)
            cr_expect_eq(pe_load(dtypes[d], got, i), i / 6 == 1 ? 0 : pe_load(dtypes[d], other, i),
                         "element %zu", i);
    }
    pe_plan_free(plan);
    pe_plan_free(plain);
}

Test(sinusoidal, adds_nothing_to_padding)
{
    static const double at[] = {1, 2};
    static const double x[] = {1, -2, 0.1, 4, 5, 6, 7, 8};
    struct pe_positions positions = positions_of(at, N(at));
    double y[8];
    apply_rows("sinusoidal:dim=4,padding_idx=1", &positions, false, 4, PE_F64, x, PE_F64, y);
    for (size_t j = 0; j < 4; j++) {
        cr_expect_eq(y[j], x[j], "channel %zu", j);
        cr_expect_neq(y[4 + j], x[4 + j], "channel %zu", j);
    }
}

/* A key on padding has q.k and what the query's place adds, but no term of its own. */
Test(sinusoidal, scores_padding_by_the_content)
{
    struct setup *setup = malloc(sizeof *setup);
    cr_assert(setup);
    setup_init(setup, 16, 4);
    cr_assert_eq(run(setup, "sinusoidal:dim=16,padding_idx=9"), PE_OK);
    size_t cell = 1 * 4 + 1; /* anchor 8, offset 1 */
    cr_expect_eq(setup->terms[1][cell], 0, "cross_q %g", setup->terms[1][cell]);
    cr_expect_eq(setup->terms[3][cell], 0, "position %g", setup->terms[3][cell]);
    cr_expect_neq(setup->terms[2][cell], 0);
    cr_expect_neq(setup->terms[1][cell + 1], 0);
    free(setup);
}
