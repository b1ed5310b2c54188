// SPDX-License-Identifier: Apache-2.0
/*
 * test_sums.c: dot products and lengths against mpfr_sum over exact products, on easy and hard
 * sums, in any order.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

#define N_MAX 300

/* The sum of exact products by MPFR to the precision of `sum`; the sign of inexactness. */
static int sum_by_mpfr(enum pe_dtype dtype, const void *a, const void *b, size_t n, mpfr_t sum)
{
    static mpfr_t product[N_MAX];
    static mpfr_ptr terms[N_MAX];
    for (size_t i = 0; i < n; i++) {
        mpfr_init2(product[i], 106);
        mpfr_set_d(product[i], pe_load(dtype, a, i), MPFR_RNDN);
        mpfr_mul_d(product[i], product[i], pe_load(dtype, b, i), MPFR_RNDN);
        terms[i] = product[i];
    }
    int inexact = mpfr_sum(sum, terms, n, MPFR_RNDN);
    for (size_t i = 0; i < n; i++)
        mpfr_clear(product[i]);
    return inexact;
}

static double reference_dot(enum pe_dtype dtype, const void *a, const void *b, size_t n)
{
    mpfr_t sum;
    mpfr_init2(sum, 53);
    sum_by_mpfr(dtype, a, b, n, sum);
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    return result;
}

/* The root of the exact sum: wide enough for all numbers these tests use. */
static double reference_norm(enum pe_dtype dtype, const void *a, size_t n)
{
    mpfr_t sum;
    mpfr_t root;
    mpfr_init2(sum, 5000);
    mpfr_init2(root, 53);
    cr_assert_eq(sum_by_mpfr(dtype, a, a, n, sum), 0, "the reference itself is not exact");
    mpfr_sqrt(root, sum, MPFR_RNDN);
    double result = mpfr_get_d(root, MPFR_RNDN);
    mpfr_clears(sum, root, (mpfr_ptr)NULL);
    return result;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* A random double, 2^low <= |x| < 2^high. */
static double random_double(uint64_t k, int low, int high)
{
    uint64_t bits = pe_draw(1, "sums", k);
    double x =
        ldexp(1 + (double)(bits >> 12) * 0x1p-52, low + (int)(bits % (unsigned)(high - low)));
    return bits & 0x800 ? -x : x;
}

static void fill(double *a, size_t n, uint64_t k, int low, int high)
{
    for (size_t i = 0; i < n; i++)
        a[i] = random_double(k * 10007 + i, low, high);
}

/* Spans of exponents from all alike to far apart, and beyond what double products can hold. */
static const struct {
    int low, high;
} spans[] = {{0, 1},     {-4, 4},       {-40, 40},      {-300, 300},  {-500, -480},
             {490, 511}, {-1022, -900}, {-1022, -1021}, {1000, 1010}, {-1000, 1000}};
#define SPANS_N (sizeof spans / sizeof spans[0])

Test(sums, dot_of_random_vectors)
{
    double a[N_MAX];
    double b[N_MAX];
    uint64_t k = 0;
    for (size_t s = 0; s < SPANS_N; s++)
        for (size_t n = 0; n < N_MAX; n += 1 + n / 8) {
            fill(a, n, ++k, spans[s].low, spans[s].high);
            fill(b, n, ++k, spans[s].low, spans[s].high);
            double expected = reference_dot(PE_F64, a, b, n);
            double got = pe_dot(PE_F64, a, b, n);
            cr_expect(same_bits(got, expected), "span %zu, n %zu: %a, not %a", s, n, got, expected);
        }
}

Test(sums, norm_of_random_vectors)
{
    double a[N_MAX];
    uint64_t k = 0;
    for (size_t s = 0; s < SPANS_N; s++)
        for (size_t n = 0; n < N_MAX; n += 1 + n / 8) {
            fill(a, n, ++k, spans[s].low, spans[s].high);
            double expected = reference_norm(PE_F64, a, n);
            double got = pe_norm(PE_F64, a, n);
            cr_expect(same_bits(got, expected), "span %zu, n %zu: %a, not %a", s, n, got, expected);
        }
}

/* Sums that lose most of their digits: b is orthogonal to a but for the last bits. */
Test(sums, dot_with_cancellation)
{
    double a[N_MAX];
    double b[N_MAX];
    for (uint64_t k = 1; k <= 400; k++) {
        size_t n = 4 + k % 50 * 2;
        fill(a, n, k, -20, 20);
        fill(b, n, k + 1000, -20, 20);
        for (size_t i = 0; i + 2 < n; i += 2) {
            a[i + 1] = a[i];
            b[i + 1] = k % 3 ? -nextafter(b[i], k % 2 ? 0 : b[i]) : -b[i];
        }
        double partial = reference_dot(PE_F64, a, b, n - 1);
        b[n - 1] = k % 5 ? -partial / a[n - 1] : ldexp(1, -80);
        double expected = reference_dot(PE_F64, a, b, n);
        double got = pe_dot(PE_F64, a, b, n);
        cr_expect(same_bits(got, expected), "case %u: %a, not %a", (unsigned)k, got, expected);
    }
}

/* Values whose exact sum is a midpoint of two doubles, or beside it by one part in 2^1000. */
Test(sums, dot_next_to_midpoints)
{
    static const struct {
        double a[3], expected;
    } rows[] = {
        {{1, 0x1p-53, 0}, 1},
        {{1, 0x1p-53, 0x1p-1000}, 0x1.0000000000001p0},
        {{1, 0x1p-53, -0x1p-1000}, 1},
        {{0x1.0000000000001p0, 0x1p-53, 0}, 0x1.0000000000002p0},
        {{0x1.0000000000001p0, 0x1p-53, -0x1p-1074}, 0x1.0000000000001p0},
        {{1, -1, 0}, 0},
        {{1, -1, 0x1p-1074}, 0x1p-1074},
        {{0x1p1023, 0x1p1023, -0x1p1023}, 0x1p1023},
        {{0x1p1023, 0x1p1023, 0}, INFINITY},
        {{-0.0, -0.0, -0.0}, 0},
    };
    static const double ones[3] = {1, 1, 1};
    static const size_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (size_t o = 0; o < 6; o++) {
            double a[3];
            for (size_t i = 0; i < 3; i++)
                a[i] = rows[r].a[orders[o][i]];
            double got = pe_dot(PE_F64, a, ones, 3);
            cr_expect(same_bits(got, rows[r].expected), "row %zu, order %zu: %a", r, o, got);
        }
}

Test(sums, order_does_not_show)
{
    double a[N_MAX];
    double b[N_MAX];
    for (uint64_t k = 1; k <= 50; k++) {
        size_t n = 2 + k * 5;
        fill(a, n, k, -30, 30);
        fill(b, n, k + 77, -30, 30);
        double dot = pe_dot(PE_F64, a, b, n);
        double norm = pe_norm(PE_F64, a, n);
        for (size_t i = n - 1; i > 0; i--) {
            size_t j = pe_draw(k, "order", i) % (i + 1);
            double swap_a = a[i];
            double swap_b = b[i];
            a[i] = a[j], b[i] = b[j];
            a[j] = swap_a, b[j] = swap_b;
        }
        cr_expect(same_bits(pe_dot(PE_F64, a, b, n), dot), "dot of case %u", (unsigned)k);
        cr_expect(same_bits(pe_norm(PE_F64, a, n), norm), "norm of case %u", (unsigned)k);
    }
}

Test(sums, every_dtype_is_taken_as_its_exact_values)
{
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
    double a[N_MAX];
    double b[N_MAX];
    for (size_t d = 0; d < 4; d++)
        for (size_t n = 1; n <= N_MAX; n += 13) {
            pe_fill_random(n, "a", PE_CONTENT_NORMAL, 1, 0, n, dtypes[d], a);
            pe_fill_random(n, "b", PE_CONTENT_NORMAL, 1, 0, n, dtypes[d], b);
            double dot = reference_dot(dtypes[d], a, b, n);
            double norm = reference_norm(dtypes[d], a, n);
            cr_expect(same_bits(pe_dot(dtypes[d], a, b, n), dot), "dot of %zu %s", n,
                      pe_dtype_name(dtypes[d]));
            cr_expect(same_bits(pe_norm(dtypes[d], a, n), norm), "norm of %zu %s", n,
                      pe_dtype_name(dtypes[d]));
        }
}

/* Lengths with exact answers, and one whose square is one part in 2^107 away from that of a
 * midpoint: (2^53 + 1)^2 = 2^106 + 2^54 + 1, root exactly between two doubles. */
Test(sums, norms_with_known_answers)
{
    static const struct {
        double a[4], expected;
    } rows[] = {
        {{3, 4}, 5},
        {{-3, 0, 4}, 5},
        {{1, 1, 1, 1}, 2},
        {{0}, 0},
        {{-0.0, -0.0}, 0},
        {{0x1p53, 0x1p27, 1}, 0x1p53},
        {{0x1p53, 0x1p27, 1, 0x1p-500}, 0x1.0000000000001p53},
        {{0x1p53, 0x1p27, 0x1.fffffffffffffp-1}, 0x1p53},
        {{0x1p-1074}, 0x1p-1074},
        {{0x1p-1074, 0x1p-1074}, 0x1p-1074},
        {{0x1p-1074, 0x1p-1074, 0x1p-1074}, 0x1p-1073},
        {{0x1.8p1023, 0x1p950}, 0x1.8p1023},
        {{0x1p1023, 0x1p1023, 0x1p1023, 0x1p1023}, INFINITY},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        double got = pe_norm(PE_F64, rows[r].a, 4);
        cr_expect(same_bits(got, rows[r].expected), "row %zu: %a", r, got);
    }
}

Test(sums, not_finite_as_ieee_says)
{
    static const struct {
        double a[3], b[3], dot, norm;
    } rows[] = {
        {{INFINITY, 1, 2}, {1, 1, 1}, INFINITY, INFINITY},
        {{1, -INFINITY, 2}, {1, 1, 1}, -INFINITY, INFINITY},
        {{INFINITY, 1, 2}, {0, 1, 1}, NAN, INFINITY},
        {{INFINITY, -INFINITY, 2}, {1, 1, 1}, NAN, INFINITY},
        {{1, NAN, 2}, {1, 0, 1}, NAN, NAN},
        /* Finite products that overflow do not hide the infinity. */
        {{1e308, 1e308, -INFINITY}, {1e308, 1e308, 1}, -INFINITY, INFINITY},
        {{1e308, 1e308, -1e308}, {1e308, 1, 1e308}, 1e308, INFINITY},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        double dot = pe_dot(PE_F64, rows[r].a, rows[r].b, 3);
        double norm = pe_norm(PE_F64, rows[r].a, 3);
        cr_expect(isnan(rows[r].dot) ? isnan(dot) : dot == rows[r].dot, "dot %zu: %g", r, dot);
        if (r < 6)
            cr_expect(isnan(rows[r].norm) ? isnan(norm) : norm == rows[r].norm, "norm %zu: %g", r,
                      norm);
    }
}

Test(sums, mean_of_doubles)
{
    double ones[N_MAX];
    double a[N_MAX];
    for (size_t i = 0; i < N_MAX; i++)
        ones[i] = 1;
    for (size_t n = 1; n <= N_MAX; n += 7) {
        fill(a, n, n, -30, 30);
        mpfr_t sum;
        mpfr_init2(sum, 5000);
        cr_assert_eq(sum_by_mpfr(PE_F64, a, ones, n, sum), 0);
        mpfr_div_ui(sum, sum, n, MPFR_RNDN);
        double expected = mpfr_get_d(sum, MPFR_RNDN);
        mpfr_clear(sum);
        cr_expect(same_bits(pe_mean(a, n), expected), "n %zu: %a, not %a", n, pe_mean(a, n),
                  expected);
    }
}
