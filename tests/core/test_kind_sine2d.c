// SPDX-License-Identifier: Apache-2.0
/*
 * sine2d: rows and columns, and their shares, against the definition by MPFR; printed numbers of an
 * independent script; what is refused.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "ref/ref_round.h"
#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define BITS     3000

/* How a spec makes angles. */
struct sine2d {
    const char *text;
    size_t dim;
    double base;
    bool normalize;
    double scale; /* 0: 2 pi */
    double eps, offset;
};

/* Four lists: rows, columns, the last ones. The second pixel is padding without valid ones. */
static const double lists[4][5] = {
    {1, 0, 3, 17, 4096}, {2, 0, 1, 5, 1}, {3, 0, 3, 20, 4096}, {2, 0, 7, 5, 1}};

static void set_coordinate(const struct sine2d *spec, size_t axis, size_t token, mpfr_t x)
{
    mpfr_t last;
    mpfr_init2(last, BITS);
    mpfr_set_d(x, lists[axis][token], MPFR_RNDN);
    mpfr_set_d(last, lists[axis + 2][token], MPFR_RNDN);
    if (spec->normalize) {
        mpfr_add_d(x, x, spec->offset, MPFR_RNDN);
        mpfr_add_d(last, last, spec->eps, MPFR_RNDN);
        mpfr_div(x, x, last, MPFR_RNDN);
        mpfr_const_pi(last, MPFR_RNDN);
        mpfr_mul_ui(last, last, 2, MPFR_RNDN);
        if (spec->scale != 0)
            mpfr_set_d(last, spec->scale, MPFR_RNDN);
        mpfr_mul(x, x, last, MPFR_RNDN);
    }
    mpfr_clear(last);
}

/* Channel j: its axis' half, exponent 2 floor(j/2) / n, sine where even. */
static double reference(const struct sine2d *spec, size_t token, size_t channel,
                        enum pe_dtype dtype)
{
    size_t n = spec->dim / 2;
    size_t j = channel % n;
    mpfr_t x;
    mpfr_t power;
    mpfr_inits2(BITS, x, power, (mpfr_ptr)NULL);
    set_coordinate(spec, channel / n, token, x);
    mpfr_set_d(power, spec->base, MPFR_RNDN);
    mpfr_log(power, power, MPFR_RNDN);
    mpfr_mul_ui(power, power, j - j % 2, MPFR_RNDN);
    mpfr_div_ui(power, power, n, MPFR_RNDN);
    mpfr_exp(power, power, MPFR_RNDN);
    mpfr_div(x, x, power, MPFR_RNDN);
    if (j % 2 == 0)
        mpfr_sin(x, x, MPFR_RNDN);
    else
        mpfr_cos(x, x, MPFR_RNDN);
    double value = ref_round(dtype, x);
    mpfr_clears(x, power, (mpfr_ptr)NULL);
    return value;
}

Test(sine2d, follows_its_formula)
{
    static const struct sine2d specs[] = {
        {"sine2d:dim=16", 16, 10000, false, 0, 0, 0},
        {"sine2d:dim=16,normalize=true", 16, 10000, true, 0, 1e-6, 0},
        {"sine2d:dim=260,normalize=true,base=20,scale=1", 260, 20, true, 1, 1e-6, 0},
        {"sine2d:dim=8,normalize=true,eps=1e-300,offset=-0.5", 8, 10000, true, 0, 1e-300, -0.5},
        {"sine2d:dim=4,normalize=true,scale=1000000,offset=0.1", 4, 10000, true, 1e6, 1e-6, 0.1},
    };
    for (size_t i = 0; i < N(specs); i++) {
        struct pe_positions positions = {.axes = specs[i].normalize ? 4 : 2, .n = N(lists[0])};
        for (size_t axis = 0; axis < positions.axes; axis++)
            positions.at[axis] = lists[axis];
        struct pe_plan *plan = plan_from(specs[i].text, &positions);
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            static double table[N(lists[0]) * 260];
            pe_table(plan, &positions, dtype, table, specs[i].dim);
            for (size_t c = 0; c < positions.n * specs[i].dim; c++) {
                size_t token = c / specs[i].dim, channel = c % specs[i].dim;
                double wanted = reference(&specs[i], token, channel, dtype);
                cr_expect_eq(pe_load(dtype, table, c), wanted, "%s in %s, pixel %zu, %zu: %a",
                             specs[i].text, pe_dtype_name(dtype), token, channel,
                             pe_load(dtype, table, c));
            }
        }
        pe_plan_free(plan);
    }
}

Test(sine2d, has_the_printed_numbers)
{
    static const double wanted[2][4] = {
        {1.570795542e-6, -1, 0.03141074338, 0.9995065609},
        {-3.141591084e-6, 1, 0.06279048818, 0.9980267304},
    };
    static const double row[] = {1, 2}, last[] = {2, 2};
    struct pe_positions positions = {.axes = 4, .n = 2, .at = {row, row, last, last}};
    struct pe_plan *plan = plan_from("sine2d:dim=8,normalize=true", &positions);
    double table[16];
    pe_table(plan, &positions, PE_F64, table, 8);
    for (size_t i = 0; i < 16; i++)
        cr_expect_float_eq(table[i], wanted[i / 8][i % 4], 5e-10 * fabs(table[i]), "%zu: %.10g", i,
                           table[i]);
    pe_plan_free(plan);
}

Test(sine2d, orders_each_half)
{
    static const double row[] = {3}, column[] = {5};
    struct pe_positions positions = {.axes = 2, .n = 1, .at = {row, column}};
    static const struct {
        const char *text;
        size_t from[8]; /* channels of the usual order */
    } cases[] = {
        {"sine2d:dim=8", {0, 1, 2, 3, 4, 5, 6, 7}},
        {"sine2d:dim=8,order=sin_cos", {0, 2, 1, 3, 4, 6, 5, 7}},
        {"sine2d:dim=8,order=cos_sin", {1, 3, 0, 2, 5, 7, 4, 6}},
    };
    double usual[8];
    for (size_t i = 0; i < N(cases); i++) {
        double table[8];
        struct pe_plan *plan = plan_from(cases[i].text, &positions);
        pe_table(plan, &positions, PE_F64, i == 0 ? usual : table, 8);
        for (size_t j = 0; i > 0 && j < 8; j++)
            cr_expect_eq(table[j], usual[cases[i].from[j]], "%s, channel %zu", cases[i].text, j);
        pe_plan_free(plan);
    }
}

Test(sine2d, refuses)
{
    static const struct {
        const char *text;
        double position;
        const char *detail;
    } cases[] = {
        {"sine2d:dim=6", 0, "dim must be a multiple of 4, got 6"},
        {"sine2d:scale=1", 0, "scale is not read with normalize=false"},
        {"sine2d:normalize=true,shift=1", 0, "shift would change the last row and column"},
        {"sine2d:normalize=true,position_scale=2", 0, "position_scale would change"},
        {"sine2d:normalize=true,eps=0", 0, "eps must be greater than 0, got 0"},
    };
    for (size_t i = 0; i < N(cases); i++)
        cr_expect(strstr(fault_of(cases[i].text, cases[i].position), cases[i].detail), "%s: %s",
                  cases[i].text, fault_of(cases[i].text, cases[i].position));

    static const double row[] = {-1}, last[] = {2};
    struct pe_positions positions = {.axes = 4, .n = 1, .at = {row, last, last, last}};
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("sine2d:normalize=true", &spec, &faults));
    cr_assert(pe_spec_finish(&spec, &faults));
    cr_expect_not(pe_positions_check(&spec, &positions, "positions", &faults));
    cr_expect(strstr(faults.item[0].detail, "must be 0 or more, got -1"));
    pe_spec_release(&spec);
}
