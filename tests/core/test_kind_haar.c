// SPDX-License-Identifier: Apache-2.0
/*
 * haar: the basis by its definition, orthogonal, of length 1 where that is asked for; what is
 * refused.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "ref/ref_round.h"
#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))

Test(haar, halves_its_stretches)
{
    static const double wanted[8][8] = {
        /* constant, halves, quarters, eighths */
        {1, 1, 1, 0, 1, 0, 0, 0},   {1, 1, 1, 0, -1, 0, 0, 0},   {1, 1, -1, 0, 0, 1, 0, 0},
        {1, 1, -1, 0, 0, -1, 0, 0}, {1, -1, 0, 1, 0, 0, 1, 0},   {1, -1, 0, 1, 0, 0, -1, 0},
        {1, -1, 0, -1, 0, 0, 0, 1}, {1, -1, 0, -1, 0, 0, 0, -1},
    };
    double *rows = rows_of("haar:dim=8", 8);
    double *wide = rows_of("haar:dim=3,length=64", 64);
    for (size_t i = 0; i < 64; i++)
        cr_expect_eq(rows[i], wanted[i / 8][i % 8], "element %zu", i);
    for (size_t i = 0; i < 64 * 3; i++)
        cr_expect_eq(wide[i], wanted[i / 3 / 8][i % 3], "length 64: element %zu", i);
    free(rows);
    free(wide);
}

/* Products of two channels, summed over all positions. */
static double product(const double *rows, size_t n, size_t dim, size_t a, size_t b)
{
    double sum = 0;
    for (size_t p = 0; p < n; p++)
        sum += rows[p * dim + a] * rows[p * dim + b];
    return sum;
}

Test(haar, is_orthogonal)
{
    enum { COUNT = 32 };
    double *plain = rows_of("haar:dim=32", COUNT);
    double *normal = rows_of("haar:dim=32,normalize=true", COUNT);
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = 0; b <= a; b++) {
            double unit = product(normal, COUNT, COUNT, a, b);
            cr_expect(a == b || product(plain, COUNT, COUNT, a, b) == 0, "%zu and %zu", a, b);
            cr_expect_float_eq(unit, a == b, 1e-15, "%zu and %zu: %g", a, b, unit);
        }
    free(plain);
    free(normal);
}

Test(haar, has_rounded_roots)
{
    static const struct {
        const char *text;
        int log2_length;
    } cases[] = {{"haar:dim=16,length=16,normalize=true", 4},
                 {"haar:dim=16,length=32,normalize=true", 5},
                 {"haar:dim=5,length=9007199254740992,normalize=true", 53}};
    static const double zero = 0;
    const struct pe_positions positions = positions_of(&zero, 1);
    mpfr_t root;
    mpfr_init2(root, 200);
    for (size_t c = 0; c < N(cases); c++) {
        struct pe_plan *plan = plan_from(cases[c].text, &positions);
        size_t dim = pe_spec_dim(pe_plan_spec(plan));
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            double row[16];
            pe_table(plan, &positions, dtype, row, dim);
            for (size_t j = 0; j < dim; j = j ? 2 * j : 1) { /* those that begin at 0 */
                mpfr_set_ui_2exp(root, 1, (j ? ilogb((double)j) : 0) - cases[c].log2_length,
                                 MPFR_RNDN);
                mpfr_sqrt(root, root, MPFR_RNDN);
                cr_expect_eq(pe_load(dtype, row, j), ref_round(dtype, root), "%s in %s, %zu",
                             cases[c].text, pe_dtype_name(dtype), j);
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clear(root);
}

Test(haar, covers_a_stated_length)
{
    static const double bad[] = {-1, 0.5, 64};
    cr_expect_str_empty(fault_of("haar:dim=33", 63));
    for (size_t i = 0; i < N(bad); i++)
        cr_expect(strstr(fault_of("haar:dim=33", bad[i]), "integers 0 to 63"), "%g", bad[i]);
    cr_expect(strstr(fault_of("haar:dim=33,length=32", 0), "at least dim (33), got 32"));
    cr_expect(strstr(fault_of("haar:dim=33,length=96", 0), "a power of two"));
}
