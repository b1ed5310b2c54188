// SPDX-License-Identifier: Apache-2.0
/*
 * test_operation.c: products and sums rounded once, against MPFR's exact ones rounded by the
 * reference. Operands are chosen so that going through double would round twice, next to ties, and
 * out of the range where two-products are exact.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "operation.h"
#include "ref/ref_round.h"

#define EXACT_BITS 2200 /* holds any sum of two doubles that is tested, and any product */

static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};

static const double overflow_at[] = {[PE_F32] = 0x1p128, [PE_F16] = 0x1p16, [PE_BF16] = 0x1p128};

/* The reference knows no overflow. */
static double rounded(enum pe_dtype dtype, mpfr_srcptr exact)
{
    double y = ref_round(dtype, exact);
    return dtype != PE_F64 && fabs(y) >= overflow_at[dtype] ? copysign(INFINITY, y) : y;
}

static void expect_operations(double a, double b)
{
    MPFR_DECL_INIT(exact, EXACT_BITS);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        mpfr_set_d(exact, a, MPFR_RNDN);
        mpfr_mul_d(exact, exact, b, MPFR_RNDN);
        double product = pe__product(dtypes[d], a, b);
        if (isfinite(a * b))
            cr_expect_eq(product, rounded(dtypes[d], exact), "%s %a * %a: %a",
                         pe_dtype_name(dtypes[d]), a, b, product);
        mpfr_set_d(exact, a, MPFR_RNDN);
        mpfr_add_d(exact, exact, b, MPFR_RNDN);
        double sum = pe__sum(dtypes[d], a, b);
        if (isfinite(a + b))
            cr_expect_eq(sum, rounded(dtypes[d], exact), "%s %a + %a: %a", pe_dtype_name(dtypes[d]),
                         a, b, sum);
    }
}

/* Numbers of a dtype, and their products and sums. */
Test(operation, rounds_once_whatever_the_operands)
{
    enum { N = 4000 };
    static double a[N];
    static double b[N];
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        pe_fill_random(d, "a", PE_CONTENT_NORMAL, 3, 0, N, PE_F64, a);
        pe_fill_random(d, "b", PE_CONTENT_UNIFORM, 1, 0, N, PE_F64, b);
        for (size_t i = 0; i < N; i++) {
            double x = ldexp(a[i], (int)(i % 23) - 11);
            pe_store(dtypes[d], &x, 0, x);
            x = pe_load(dtypes[d], &x, 0);
            expect_operations(x, b[i]);
            expect_operations(x, x * 1.5);
        }
    }
}

/* 1 + 2^-24 + 2^-77 is no tie of f32, although its double is; likewise in the other formats. */
Test(operation, does_not_round_through_double)
{
    static const struct {
        double a, b;
    } rows[] = {
        {1, 0x1p-24 + 0x1p-76},     {1, 0x1p-24 - 0x1p-77},     {1, 0x1p-11 + 0x1p-63},
        {1, 0x1p-8 - 0x1p-61},      {1 + 0x1p-24, 1 + 0x1p-52}, {1 + 0x1p-52, 1 + 0x1p-8 - 0x1p-52},
        {1 + 0x1p-23, 1 + 0x1p-24}, {0x1.8p-149, 0x1p-202},     {0x1p-150, 0x1p-202},
        {-0x1p-25, 0x1p-77},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        expect_operations(rows[r].a, rows[r].b);
        expect_operations(-rows[r].b, rows[r].a);
    }
}

Test(operation, works_at_the_ends_of_double)
{
    static const double ends[] = {0x1p-1074, 0x1.8p-1060, 0x1.5p-700,  0x1.7p-401,
                                  0x1.7p401, 0x1.5p700,   0x1.ffp1000, 0x1.fffffffffffffp1023,
                                  0x1.3p-10};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (size_t j = 0; j < sizeof ends / sizeof *ends; j++)
            expect_operations(ends[i], -ends[j]);
    cr_expect_eq(pe__product(PE_F32, 0x1.8p1000, 0x1.8p-1000), 2.25);
    cr_expect_eq(pe__product(PE_F16, 256, 256), INFINITY);
    cr_expect_eq(pe__sum(PE_F16, 65504, 15), 65504);
    cr_expect_eq(pe__sum(PE_F16, 65504, 16), INFINITY);
}

Test(operation, does_as_ieee_says_with_zeros_and_infinities)
{
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        cr_expect(signbit(pe__product(dtypes[d], -0.0, 3)));
        cr_expect_not(signbit(pe__product(dtypes[d], -0.0, -3)));
        cr_expect(signbit(pe__sum(dtypes[d], -0.0, -0.0)));
        cr_expect_not(signbit(pe__sum(dtypes[d], 1, -1)));
        cr_expect(isnan(pe__product(dtypes[d], INFINITY, 0)));
        cr_expect(isnan(pe__sum(dtypes[d], INFINITY, -INFINITY)));
        cr_expect(isnan(pe__sum(dtypes[d], NAN, 1)));
        cr_expect_eq(pe__product(dtypes[d], -INFINITY, 2), -INFINITY);
        cr_expect_eq(pe__sum(dtypes[d], 1, INFINITY), INFINITY);
    }
}

/* ---- Real numbers ------------------------------------------------------------------------- */

/* The root of context, to any precision. */
static void root(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    mpfr_sqrt_ui(y, *(const unsigned long *)context, MPFR_RNDN);
}

static struct pe__operand root_of(const unsigned long *x, double eps)
{
    double hi = sqrt((double)*x);
    return (struct pe__operand){{hi, 0, eps}, root, x, 0};
}

/* Whether the ball decides (it is hopeless here) or MPFR: the same. */
Test(operation, takes_real_numbers)
{
    MPFR_DECL_INIT(exact, 400);
    MPFR_DECL_INIT(other, 400);
    for (unsigned long x = 2; x < 60; x++) {
        unsigned long z = 3 * x + 1;
        struct pe__operand a = root_of(&x, 1e-15 * (double)x);
        struct pe__operand b = root_of(&z, INFINITY);
        struct pe__operand c = pe__operand_of(-0.625 * (double)x);
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            mpfr_sqrt_ui(exact, x, MPFR_RNDN);
            mpfr_sqrt_ui(other, z, MPFR_RNDN);
            mpfr_mul(other, other, exact, MPFR_RNDN);
            cr_expect_eq(pe__product_of(dtypes[d], &a, &b), rounded(dtypes[d], other));
            mpfr_mul_d(other, exact, c.ball.hi, MPFR_RNDN);
            cr_expect_eq(pe__product_of(dtypes[d], &c, &a), rounded(dtypes[d], other));
            mpfr_add_d(other, exact, c.ball.hi, MPFR_RNDN);
            cr_expect_eq(pe__sum_of(dtypes[d], &a, &c), rounded(dtypes[d], other));
            mpfr_sqrt_ui(other, z, MPFR_RNDN);
            mpfr_add(other, other, exact, MPFR_RNDN);
            cr_expect_eq(pe__sum_of(dtypes[d], &b, &a), rounded(dtypes[d], other));
        }
    }
    unsigned long two = 2;
    struct pe__operand a = root_of(&two, INFINITY);
    struct pe__operand zero = pe__operand_of(-0.0);
    cr_expect(signbit(pe__product_of(PE_F32, &zero, &a)) && pe__product_of(PE_F32, &zero, &a) == 0);
}
