// SPDX-License-Identifier: Apache-2.0
/*
 * test_elementary.c: arctangent, logarithm, exponential and angles modulo 2 pi in plain doubles,
 * against MPFR.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

#include "identify/elementary.h"
#include "posenc.h"

#define BITS  200
#define LIMIT 4e-16

/* Uniform in [-1, 1). */
static double uniform(uint64_t i)
{
    return (double)(int64_t)pe_draw(0, "elementary", i + 1) * 0x1p-63;
}

/* How far off `got` is from y. */
static double distance(double got, mpfr_t y)
{
    mpfr_sub_d(y, y, got, MPFR_RNDN);
    return fabs(mpfr_get_d(y, MPFR_RNDN));
}

Test(elementary, arctangents)
{
    mpfr_t a, b;
    mpfr_inits2(BITS, a, b, (mpfr_ptr)NULL);
    for (uint64_t i = 0; i < 20000; i++) {
        double y = ldexp(uniform(2 * i), (int)(i % 40) - 20), x = uniform(2 * i + 1);
        mpfr_set_d(a, y, MPFR_RNDN);
        mpfr_set_d(b, x, MPFR_RNDN);
        mpfr_atan2(a, a, b, MPFR_RNDN);
        double got = pe__arctan2(y, x), off = distance(got, a);
        cr_expect(off <= LIMIT * fmax(1, fabs(got)), "atan2(%a, %a) is off by %g", y, x, off);
    }
    mpfr_clears(a, b, (mpfr_ptr)NULL);
    cr_expect_eq(pe__arctan2(0, 0), 0);
    cr_expect_eq(pe__arctan2(0, 1), 0);
    cr_expect_eq(pe__arctan2(0, -1), PE__PI);
    cr_expect_eq(pe__arctan2(1, 0), PE__PI / 2);
    cr_expect_eq(pe__arctan2(-1, 0), -PE__PI / 2);
}

/* Relative to 1 + |ln x|. */
Test(elementary, logarithms)
{
    mpfr_t y;
    mpfr_init2(y, BITS);
    for (uint64_t i = 0; i < 20000; i++) {
        double x = ldexp(1.5 + uniform(i) / 2, (int)(i % 2000) - 1000);
        mpfr_set_d(y, x, MPFR_RNDN);
        mpfr_log(y, y, MPFR_RNDN);
        double got = pe__plain_log(x), off = distance(got, y);
        cr_expect(off <= LIMIT * fmax(1, fabs(got)), "ln %a is off by %g", x, off);
    }
    mpfr_clear(y);
    cr_expect_eq(pe__plain_log(1), 0);
}

Test(elementary, exponentials)
{
    mpfr_t y;
    mpfr_init2(y, BITS);
    for (uint64_t i = 0; i < 20000; i++) {
        double x = ldexp(uniform(i), (int)(i % 12)) * 0.34, got = pe__plain_exp(x);
        mpfr_set_d(y, x, MPFR_RNDN);
        mpfr_exp(y, y, MPFR_RNDN);
        double off = distance(got, y);
        cr_expect(off <= LIMIT * got, "e^%a is off by %g", x, off / got);
    }
    mpfr_clear(y);
    cr_expect_eq(pe__plain_exp(0), 1);
    cr_expect_eq(pe__plain_exp(710), INFINITY);
    cr_expect_eq(pe__plain_exp(-800), 0);
}

/* Of an angle of less than 2^22 turns all digits are left; of more, as many as the angle has. */
Test(elementary, angles_less_their_turns)
{
    mpfr_t y, turn, turns;
    mpfr_inits2(BITS, y, turn, turns, (mpfr_ptr)NULL);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
    for (uint64_t i = 0; i < 20000; i++) {
        double angle = ldexp(uniform(i), (int)(i % 31)), got = pe__wrap(angle);
        mpfr_set_d(y, angle, MPFR_RNDN);
        mpfr_div(turns, y, turn, MPFR_RNDN);
        mpfr_rint(turns, turns, MPFR_RNDN);
        mpfr_mul(turns, turns, turn, MPFR_RNDN);
        mpfr_sub(y, y, turns, MPFR_RNDN);
        double off = distance(got, y), limit = fabs(angle) < 0x1p24 ? 1e-15 : 0x1p-53 * fabs(angle);
        cr_expect(fmin(off, fabs(off - 2 * PE__PI)) <= limit, "%a wrapped is off by %g", angle,
                  off);
        cr_expect(fabs(got) <= PE__PI + limit, "%a wrapped is %g", angle, got);
    }
    mpfr_clears(y, turn, turns, (mpfr_ptr)NULL);
}
