// SPDX-License-Identifier: Apache-2.0
/*
 * timestep: printed numbers of an independent script, and that it is the sinusoid of the same keys,
 * which is compared with the recorded tables of diffusers.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))

Test(timestep, has_the_printed_numbers)
{
    static const struct {
        const char *text;
        size_t dim;
        double row[8];
    } cases[] = {
        {"timestep:dim=8",
         8,
         {-0.5440211109, 0.4476708347, 0.02154268027, 0.0009999998333, -0.8390715291, 0.8941984253,
          0.9997679295, 0.9999995}},
        {"timestep:dim=8,order=cos_sin,freq_shift=0",
         8,
         {-0.8390715291, 0.5403023059, 0.9950041653, 0.9999500004, -0.5440211109, 0.8414709848,
          0.09983341665, 0.009999833334}},
        {"timestep:dim=7",
         7,
         {-0.5440211109, 0.09983341665, 0.0009999998333, -0.8390715291, 0.9950041653, 0.9999995,
          0}},
    };
    static const double ten = 10;
    struct pe_positions positions = positions_of(&ten, 1);
    for (size_t i = 0; i < N(cases); i++) {
        double row[8];
        struct pe_plan *plan = plan_from(cases[i].text, &positions);
        pe_table(plan, &positions, PE_F64, row, cases[i].dim);
        for (size_t j = 0; j < cases[i].dim; j++)
            cr_expect_float_eq(row[j], cases[i].row[j], 6e-10 * fmax(fabs(row[j]), 1e-3),
                               "%s, channel %zu: %.10g", cases[i].text, j, row[j]);
        pe_plan_free(plan);
    }
}

Test(timestep, is_a_sinusoid)
{
    static const char *const pairs[][2] = {
        {"timestep:dim=32", "sinusoidal:dim=32,order=sin_cos,spacing=shift,freq_shift=1"},
        {"timestep:dim=33,freq_shift=0.5,order=cos_sin,max_period=100",
         "sinusoidal:dim=33,order=cos_sin,spacing=shift,freq_shift=0.5,base=100"},
        {"timestep:dim=16,order=interleaved,freq_shift=0,position_scale=0.25,shift=3",
         "sinusoidal:dim=16,position_scale=0.25,shift=3"},
    };
    for (size_t i = 0; i < N(pairs); i++) {
        double *rows = rows_of(pairs[i][0], 40);
        double *wanted = rows_of(pairs[i][1], 40);
        size_t dim = i == 0 ? 32 : i == 1 ? 33 : 16;
        for (size_t j = 0; j < 40 * dim; j++)
            cr_assert_eq(rows[j], wanted[j], "%s, element %zu", pairs[i][0], j);
        free(rows);
        free(wanted);
    }
}

Test(timestep, refuses)
{
    cr_expect(strstr(fault_of("timestep:dim=3", 0), "at most floor(dim/2)-0.5 (0.5), got 1"));
    cr_expect(strstr(fault_of("timestep:dim=1", 0), "dim must be at least 2, got 1"));
    cr_expect_str_empty(fault_of("timestep:dim=2,freq_shift=0", -0.5));
}
