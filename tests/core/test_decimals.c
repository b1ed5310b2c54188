// SPDX-License-Identifier: Apache-2.0
/*
 * test_decimals.c: the short decimals of intervals, written out by hand.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "identify/decimals.h"
#include "posenc.h"

#define MAX 128

Test(decimals, count_the_digits_of_a_number)
{
    static const struct {
        double x;
        int digits;
    } rows[] = {{0, 0},      {1, 1},     {10000, 1},     {500000, 1},   {1.5, 2},
                {-0.25, 2},  {0.001, 1}, {1234567, 7},   {100.001, 6},  {1e22, 1},
                {1e-300, 1}, {1e300, 1}, {1.25e-200, 3}, {1.0 / 3, 16}, {-10203, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(pe__digits(rows[i].x), rows[i].digits, "%.17g: %d", rows[i].x,
                     pe__digits(rows[i].x));
}

static void expect(bool whole, double low, double high, size_t max, const double *wanted, size_t n,
                   bool more)
{
    double out[MAX];
    bool has_more = false;
    size_t found = (whole ? pe__wholes : pe__decimals)(low, high, out, max, &has_more);
    cr_expect_eq(found, n, "[%g, %g]: %zu numbers", low, high, found);
    for (size_t i = 0; i < found && i < n; i++)
        cr_expect_eq(out[i], wanted[i], "[%g, %g]: %.17g at %zu", low, high, out[i], i);
    cr_expect_eq(has_more, more, "[%g, %g]", low, high);
}

#define EXPECT(whole, low, high, max, more, ...)                                                   \
    expect(whole, low, high, max, (const double[]){__VA_ARGS__},                                   \
           sizeof(const double[]){__VA_ARGS__} / sizeof(double), more)

/* The fewest digits first, of equally many the ones next to the middle. */
Test(decimals, of_an_interval_come_by_their_digits)
{
    EXPECT(false, 9999.5, 10000.5, MAX, false, 10000);
    EXPECT(false, 1.993, 2.104, MAX, false, 2, 2.1, 2.05, 2.04, 2.06, 2.03, 2.07, 2.02, 2.08, 2.01,
           2.09);
    EXPECT(false, 0.124, 0.1261, MAX, false, 0.125, 0.126, 0.124);
    EXPECT(false, 3, 3, MAX, false, 3);
    EXPECT(false, 1e-20, 1e-20, MAX, false, 1e-20);
}

/* Below a power of ten decimals of as many digits are closer to each other. */
Test(decimals, are_found_on_both_sides_of_a_power_of_ten)
{
    EXPECT(false, 9950, 10060, MAX, false, 10000, 9990, 9980, 9970, 9960, 9950);
    EXPECT(false, 0.9895, 1.011, MAX, false, 1, 0.99, 0.999, 0.998, 0.997, 0.996, 0.995, 0.994,
           0.993, 0.992, 0.991, 1.01);
    EXPECT(false, 99.95, 100.04, MAX, false, 100);
}

/* Whether v stands in text with so few digits. */
static bool is_short(double v, int digits)
{
    char text[32];
    snprintf(text, sizeof text, "%.*e", digits - 1, v);
    return strtod(text, NULL) == v;
}

/* All decimals of at most three digits, one by one. */
static size_t all_of(double low, double high, double *out)
{
    size_t n = 0;
    for (int e = -6; e < 7; e++)
        for (int m = 100; m < 1000; m++) {
            char text[32];
            snprintf(text, sizeof text, "%de%d", m, e);
            double value = strtod(text, NULL);
            if (value >= low && value <= high)
                out[n++] = value;
        }
    return n;
}

static int digits_of(double v)
{
    return is_short(v, 1) ? 1 : is_short(v, 2) ? 2 : 3;
}

Test(decimals, are_all_of_three_digits)
{
    static double all[MAX], out[MAX];
    for (uint64_t i = 0; i < 20000; i++) {
        double low =
            ldexp(1 + (double)(pe_draw(0, "low", i + 1) >> 11) * 0x1p-53, (int)(i % 24) - 12);
        double high = low * (1 + (double)(pe_draw(0, "high", i + 1) >> 11) * 0x1p-58);
        double middle = (low + high) / 2;
        bool more = false;
        size_t n = all_of(low, high, all), found = pe__decimals(low, high, out, MAX, &more);
        if (n == 0)
            continue;
        cr_assert_eq(found, n, "[%.17g, %.17g]: %zu, not %zu", low, high, found, n);
        cr_assert_not(more);
        for (size_t k = 1; k < n; k++) {
            int before = digits_of(out[k - 1]), after = digits_of(out[k]);
            cr_assert(before < after ||
                          (before == after && fabs(out[k - 1] - middle) <= fabs(out[k] - middle)),
                      "[%.17g, %.17g]: %.17g before %.17g", low, high, out[k - 1], out[k]);
        }
    }
}

/* Where there is none of three digits all of the fewest do; past fifteen, the middle. */
Test(decimals, have_more_digits_where_none_is_short)
{
    EXPECT(false, 31415.8, 31416.2, MAX, false, 31416);
    EXPECT(false, 1.234559, 1.234582, MAX, false, 1.23457, 1.23458, 1.23456);
    double low = 1.0 / 3, high = nextafter(low, 1);
    double out[2];
    bool more = false;
    cr_expect_eq(pe__decimals(low, high, out, 2, &more), 1);
    cr_expect(out[0] >= low && out[0] <= high);
    cr_expect_not(more);
}

/* Those next to the middle are kept. */
Test(decimals, are_at_most_so_many)
{
    EXPECT(false, 1.9, 2.11, 3, true, 2, 2.1, 1.9);
    EXPECT(false, 9950, 10060, 2, true, 10000, 9990);
    EXPECT(true, -100, 100.5, 3, true, 0, 1, -1);
}

Test(decimals, are_none_of_what_is_no_interval)
{
    static const double ends[][2] = {{2, 1},         {NAN, 1}, {1, NAN}, {1, INFINITY},
                                     {1e-40, 1e-39}, {0, 0},   {1, 1e23}};
    double out[MAX];
    bool more = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        cr_expect_eq(pe__decimals(ends[i][0], ends[i][1], out, MAX, &more), 0, "[%g, %g]",
                     ends[i][0], ends[i][1]);
    cr_expect_eq(pe__wholes(1, -1, out, MAX, &more), 0);
    cr_expect_eq(pe__wholes(NAN, 1, out, MAX, &more), 0);
    cr_expect_not(more);
}

/* Whole numbers of any sign; where there is none the decimals. */
Test(decimals, are_whole_where_they_can_be)
{
    EXPECT(true, -1.2, 2.3, MAX, false, 1, 0, 2, -1);
    EXPECT(true, 6.9, 7.1, MAX, false, 7);
    EXPECT(true, -7.1, -6.9, MAX, false, -7);
    EXPECT(true, 0.2, 0.39, 1, true, 0.3);
    EXPECT(true, -0.5026, -0.4988, MAX, false, -0.5, -0.501, -0.502, -0.499);
}
