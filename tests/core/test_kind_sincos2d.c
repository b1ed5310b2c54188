// SPDX-License-Identifier: Apache-2.0
/*
 * sincos2d: blocks, axes and orders against the definition by MPFR; printed numbers of an
 * independent script; what is refused.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "ref/ref_trig.h"
#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define DIM_MAX  32

/* Where a value comes from: an axis, sine or cosine, exponent numerator / denominator. */
struct source {
    char what; /* 's', 'c' or '0' */
    size_t axis, numerator, denominator;
};

static const double lists[3][4] = {{1, 0, 17, -3}, {2, 0.25, 5, 1000}, {0, 1, 2, 3}};

static double value_of(struct source source, double base, size_t token)
{
    mpfr_t x;
    mpfr_init2(x, 300);
    ref_frequency(x, base, source.numerator, source.denominator);
    mpfr_mul_d(x, x, lists[source.axis][token], MPFR_RNDN);
    if (source.what == 's')
        mpfr_sin(x, x, MPFR_RNDN);
    else
        mpfr_cos(x, x, MPFR_RNDN);
    double value = source.what == '0' ? 0 : ref_round(PE_F64, x);
    mpfr_clear(x);
    return value;
}

static const struct {
    const char *text;
    size_t dim, axes;
    double base;
    struct source from[DIM_MAX];
} layouts[] = {
    {"sincos2d:dim=8",
     8,
     2,
     10000,
     {{'s', 0, 0, 2},
      {'s', 0, 1, 2},
      {'c', 0, 0, 2},
      {'c', 0, 1, 2},
      {'s', 1, 0, 2},
      {'s', 1, 1, 2},
      {'c', 1, 0, 2},
      {'c', 1, 1, 2}}},
    {"sincos2d:dim=8,section_axes=1+0,order=cos_sin,base=100",
     8,
     2,
     100,
     {{'c', 1, 0, 2},
      {'c', 1, 1, 2},
      {'s', 1, 0, 2},
      {'s', 1, 1, 2},
      {'c', 0, 0, 2},
      {'c', 0, 1, 2},
      {'s', 0, 0, 2},
      {'s', 0, 1, 2}}},
    {"sincos2d:dim=8,order=grouped",
     8,
     2,
     10000,
     {{'s', 0, 0, 2},
      {'s', 0, 1, 2},
      {'s', 1, 0, 2},
      {'s', 1, 1, 2},
      {'c', 0, 0, 2},
      {'c', 0, 1, 2},
      {'c', 1, 0, 2},
      {'c', 1, 1, 2}}},
    {"sincos2d:dim=8,order=interleaved",
     8,
     2,
     10000,
     {{'s', 0, 0, 2},
      {'c', 0, 0, 2},
      {'s', 0, 1, 2},
      {'c', 0, 1, 2},
      {'s', 1, 0, 2},
      {'c', 1, 0, 2},
      {'s', 1, 1, 2},
      {'c', 1, 1, 2}}},
    /* three axes, as for videos, and two channels that are left over */
    {"sincos2d:dim=14,sections=1+3+2",
     14,
     3,
     10000,
     {{'s', 0, 0, 1},
      {'c', 0, 0, 1},
      {'s', 1, 0, 3},
      {'s', 1, 1, 3},
      {'s', 1, 2, 3},
      {'c', 1, 0, 3},
      {'c', 1, 1, 3},
      {'c', 1, 2, 3},
      {'s', 2, 0, 2},
      {'s', 2, 1, 2},
      {'c', 2, 0, 2},
      {'c', 2, 1, 2},
      {'0', 0, 0, 1},
      {'0', 0, 0, 1}}},
    {"sincos2d:dim=12,spacing=endpoint",
     12,
     2,
     10000,
     {{'s', 0, 0, 2},
      {'s', 0, 1, 2},
      {'s', 0, 2, 2},
      {'c', 0, 0, 2},
      {'c', 0, 1, 2},
      {'c', 0, 2, 2},
      {'s', 1, 0, 2},
      {'s', 1, 1, 2},
      {'s', 1, 2, 2},
      {'c', 1, 0, 2},
      {'c', 1, 1, 2},
      {'c', 1, 2, 2}}},
};

Test(sincos2d, has_its_values_in_their_channels)
{
    for (size_t i = 0; i < N(layouts); i++) {
        struct pe_positions positions = {
            .axes = layouts[i].axes, .n = N(lists[0]), .at = {lists[0], lists[1], lists[2]}};
        struct pe_plan *plan = plan_from(layouts[i].text, &positions);
        size_t dim = layouts[i].dim;
        double table[N(lists[0]) * DIM_MAX];
        cr_assert_eq(pe_spec_axes(pe_plan_spec(plan)), layouts[i].axes, "%s", layouts[i].text);
        pe_table(plan, &positions, PE_F64, table, dim);
        for (size_t c = 0; c < positions.n * dim; c++)
            cr_expect_eq(table[c], value_of(layouts[i].from[c % dim], layouts[i].base, c / dim),
                         "%s, token %zu, channel %zu: %a", layouts[i].text, c / dim, c % dim,
                         table[c]);
        pe_plan_free(plan);
    }
}

Test(sincos2d, has_the_printed_numbers)
{
    static const double wanted[] = {0.8414709848, 0.009999833334, 0.5403023059,  0.9999500004,
                                    0.9092974268, 0.01999866669,  -0.4161468365, 0.9998000067};
    static const double row[] = {1}, column[] = {2};
    struct pe_positions positions = {.axes = 2, .n = 1, .at = {row, column}};
    struct pe_plan *plan = plan_from("sincos2d:dim=8", &positions);
    double table[8];
    pe_table(plan, &positions, PE_F64, table, 8);
    for (size_t i = 0; i < 8; i++)
        cr_expect_float_eq(table[i], wanted[i], 5e-10 * fmax(fabs(table[i]), 0.01), "%zu: %.10g", i,
                           table[i]);
    pe_plan_free(plan);
}

Test(sincos2d, refuses)
{
    static const struct {
        const char *text, *detail;
    } cases[] = {
        {"sincos2d:dim=6", "dim must be a multiple of 4 to be shared by 2 axes, got 6"},
        {"sincos2d:dim=8,sections=2+3", "add up to dim/2 (4) at most, got 5"},
        {"sincos2d:dim=8,sections=2+2,section_axes=0", "each of the 2 sections, got 1"},
        {"sincos2d:dim=8,sections=2+0", "sections must be at least 1, got 0"},
        {"sincos2d:dim=8,sections=2+1.5", "sections must be an integer, got 1.5"},
        {"sincos2d:dim=8,sections=3+1,spacing=endpoint", "block 1 has 1"},
        {"sincos2d:dim=32,section_axes=0+1+2+3+4+5+6+7+0", "at most 8 blocks, got 9"},
        {"sincos2d:dim=9", "dim must be even"},
    };
    for (size_t i = 0; i < N(cases); i++)
        cr_expect(strstr(fault_of(cases[i].text, 0), cases[i].detail), "%s: %s", cases[i].text,
                  fault_of(cases[i].text, 0));
}
