// SPDX-License-Identifier: Apache-2.0
/*
 * test_ball.c: balls contain the exact result of each operation on any numbers of their operands,
 * and are not much wider than promised; numbers out of range are not claimed to be known.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

#include "ball.h"
#include "posenc.h"

#define BITS 2400

static double draw_unit(uint64_t k)
{
    return (double)(pe_draw(8, "ball", k) >> 11) * 0x1p-53;
}

/* A normalized double-double of about 2^exponent with a relative bound of 2^-looseness, or 0. */
static struct pe__ball draw_ball(uint64_t k, int exponent, int looseness)
{
    double hi = ldexp(1 + draw_unit(4 * k), exponent);
    double lo = ldexp(draw_unit(4 * k + 1) - 0.5, exponent - 52);
    struct pe__dd x = pe__two_sum(pe_draw(8, "sign", k) % 2 ? hi : -hi, lo);
    return (struct pe__ball){x.hi, x.lo, looseness ? ldexp(hi, -looseness) : 0};
}

/* hi + lo + end * eps. */
static void set_end(mpfr_t y, struct pe__ball x, int end)
{
    mpfr_set_d(y, x.hi, MPFR_RNDN);
    mpfr_add_d(y, y, x.lo, MPFR_RNDN);
    mpfr_add_d(y, y, end * x.eps, MPFR_RNDN);
}

static bool contains(struct pe__ball ball, mpfr_srcptr y)
{
    mpfr_t error;
    mpfr_init2(error, BITS);
    mpfr_sub_d(error, y, ball.hi, MPFR_RNDN);
    mpfr_sub_d(error, error, ball.lo, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
    bool inside = mpfr_cmp_d(error, ball.eps) <= 0;
    mpfr_clear(error);
    return inside;
}

static const int exponents[] = {0, 1, -1, 30, -200, 390, -390, -600, -990, 700};
static const int loosenesses[] = {0, 100, 60};

Test(ball, operations_contain_the_exact_result)
{
    mpfr_t a, b, y;
    mpfr_inits2(BITS, a, b, y, (mpfr_ptr)NULL);
    for (uint64_t k = 1; k <= 3000; k++) {
        struct pe__ball x = draw_ball(k, exponents[k % 10], loosenesses[k % 3]);
        struct pe__ball z = draw_ball(k + 100000, exponents[k / 10 % 10], loosenesses[k / 3 % 3]);
        for (int end = 0; end < 9; end++) {
            set_end(a, x, end % 3 - 1);
            set_end(b, z, end / 3 - 1);
            mpfr_add(y, a, b, MPFR_RNDN);
            cr_expect(contains(pe__ball_add(x, z), y), "sum %d, %d", (int)k, end);
            mpfr_mul(y, a, b, MPFR_RNDN);
            cr_expect(contains(pe__ball_mul(x, z), y), "product %d, %d", (int)k, end);
            mpfr_div(y, a, b, MPFR_RNDN);
            cr_expect(contains(pe__ball_div(x, z), y), "quotient %d, %d", (int)k, end);
            if (x.hi < 0)
                continue;
            mpfr_sqrt(y, a, MPFR_RNDN);
            cr_expect(contains(pe__ball_sqrt(x), y), "root %d, %d", (int)k, end);
        }
    }
    mpfr_clears(a, b, y, (mpfr_ptr)NULL);
}

Test(ball, results_of_exact_numbers_are_tight)
{
    for (uint64_t k = 1; k <= 1000; k++) {
        struct pe__ball x = draw_ball(k, exponents[k % 6], 0);
        struct pe__ball z = draw_ball(k + 100000, exponents[k / 6 % 6], 0);
        struct pe__ball results[] = {pe__ball_add(x, z), pe__ball_mul(x, z), pe__ball_div(x, z)};
        for (size_t i = 0; i < 3; i++)
            cr_expect_leq(results[i].eps, fabs(results[i].hi) * 0x1p-101, "%d, %zu", (int)k, i);
    }
}

Test(ball, zero_is_exact)
{
    struct pe__ball zero = pe__ball_exact(0);
    struct pe__ball minus = pe__ball_exact(-3);
    struct pe__ball results[] = {pe__ball_mul(zero, minus), pe__ball_div(zero, minus),
                                 pe__ball_sqrt(zero), pe__ball_add(minus, pe__ball_exact(3))};
    for (size_t i = 0; i < 4; i++)
        cr_expect(results[i].hi == 0 && !signbit(results[i].hi) && results[i].eps == 0, "%zu", i);
}

Test(ball, what_is_not_known)
{
    struct pe__ball one = pe__ball_exact(1);
    struct pe__ball wide = {0x1p-30, 0, 0x1p-40};
    struct pe__ball around_zero = {0x1p-60, 0, 0x1p-50};
    struct pe__ball results[] = {
        pe__ball_div(one, pe__ball_exact(0)),
        pe__ball_div(one, around_zero),
        pe__ball_div(one, wide),
        pe__ball_sqrt(around_zero),
        pe__ball_sqrt(pe__ball_exact(-1)),
        pe__ball_mul(pe__ball_exact(0x1p500), pe__ball_exact(0x1p500)),
        pe__ball_div(one, pe__ball_exact(0x1p-1000)),
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        cr_expect(!(results[i].eps < INFINITY), "%zu: %a", i, results[i].eps);
}

/* Sums of random products, with cancellation. */
Test(ball, sums_contain_the_exact_sum)
{
    mpfr_t a, b, y;
    mpfr_inits2(BITS, a, b, y, (mpfr_ptr)NULL);
    for (uint64_t k = 1; k <= 400; k++) {
        struct pe__sum sum = {0};
        size_t n = 1 + k % 90;
        double size = 0;
        mpfr_set_zero(y, 1);
        for (size_t i = 0; i < n; i++) {
            struct pe__ball x = draw_ball(k * 1000 + i, (int)(i * k % 40) - 20, 0);
            struct pe__ball z = draw_ball(k * 1000 + i + 500, (int)(i * k % 7), 0);
            if (i == n - 1 && k % 2) { /* all but undoes the rest */
                struct pe__ball partial = pe__sum_ball(&sum);
                x = (struct pe__ball){-partial.hi, -partial.lo, 0};
                z = pe__ball_exact(1);
            }
            pe__sum_add(&sum, (struct pe__dd){x.hi, x.lo}, (struct pe__dd){z.hi, z.lo});
            set_end(a, x, 0);
            set_end(b, z, 0);
            mpfr_mul(a, a, b, MPFR_RNDN);
            mpfr_add(y, y, a, MPFR_RNDN);
            size += fabs(x.hi * z.hi);
        }
        cr_expect(contains(pe__sum_ball(&sum), y), "%d", (int)k);
        cr_expect_leq(pe__sum_ball(&sum).eps, size * (double)n * 0x1p-100, "%d", (int)k);
    }
    mpfr_clears(a, b, y, (mpfr_ptr)NULL);
}

Test(ball, sums_out_of_range)
{
    static const double pairs[][2] = {{1e300, 1e300}, {1e305, 1}, {INFINITY, 1}, {NAN, 1}};
    for (size_t i = 0; i < 4; i++) {
        struct pe__sum sum = {0};
        pe__sum_add(&sum, (struct pe__dd){pairs[i][0], 0}, (struct pe__dd){pairs[i][1], 0});
        cr_expect_eq(pe__sum_ball(&sum).eps, INFINITY, "%zu", i);
    }
    struct pe__sum tiny = {0};
    pe__sum_add(&tiny, (struct pe__dd){1e-200, 0}, (struct pe__dd){1e-200, 0});
    cr_expect(pe__sum_ball(&tiny).eps >= 1e-305 && pe__sum_ball(&tiny).eps < 1e-290);
    struct pe__sum sum = {0};
    pe__sum_add(&sum, (struct pe__dd){0, 0}, (struct pe__dd){1e300, 0});
    cr_expect(pe__sum_ball(&sum).hi == 0 && pe__sum_ball(&sum).eps == 0);
}
