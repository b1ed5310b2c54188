// SPDX-License-Identifier: Apache-2.0
/*
 * exponential.c: e^x: the powers of 2 taken away, what is left halved eight times, the series of
 * e^r - 1, doubled back. Where that does not decide the rounding, MPFR does.
 */
#include "exponential.h"

#include <math.h>

#define HALVINGS 8
#define LEAST    (-746) /* e^x is below half of the smallest double from here on */
#define MOST     710    /* and beyond the largest */

#define EXACT_BITS 2200 /* hold the sum of any two doubles below 2^10 */

/* e^r - 1 = r + r^2/2! + ... + r^10/10! for |r| < 2^-9; the next term is below 2^-124. */
static struct pe__dd exp_less_one(struct pe__dd r)
{
    static const struct pe__dd factors[] = {
        {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
        {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
        {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
        {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
        {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
        {0x1.1111111111111p-7, 0x1.1111111111111p-63},
        {0x1.5555555555555p-5, 0x1.5555555555555p-59},
        {0x1.5555555555555p-3, 0x1.5555555555555p-57},
        {0x1p-1, 0},
        {1, 0},
    };
    struct pe__dd sum = {0, 0};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        sum = pe__dd_mul(pe__dd_add(sum, factors[i]), r);
    return sum;
}

#define EXPONENT_MIN (-600) /* the low part of the result is a normal number */
#define EXPONENT_MAX 700

/* The size of x makes 2^-92.5 of the relative 2^-102 in it; to take away the power of 2 as much as
 * 2^-94 is lost, and in the series and in doubling it back, where e^2r - 1 = 2t + t^2 for t = e^r -
 * 1, less than 2^-97. */
struct pe__ball pe__exp_ball(struct pe__dd x)
{
    static const struct pe__dd ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    if (!(x.hi >= EXPONENT_MIN && x.hi <= EXPONENT_MAX))
        return (struct pe__ball){1, 0, INFINITY};
    double n = rint(x.hi / ln2.hi);
    struct pe__dd r = pe__dd_add(x, pe__dd_mul_d(ln2, -n));
    struct pe__dd t = exp_less_one((struct pe__dd){ldexp(r.hi, -HALVINGS), ldexp(r.lo, -HALVINGS)});
    for (int i = 0; i < HALVINGS; i++)
        t = pe__dd_add((struct pe__dd){2 * t.hi, 2 * t.lo}, pe__dd_mul(t, t));
    t = pe__dd_add((struct pe__dd){1, 0}, t);
    double hi = ldexp(t.hi, (int)n);
    return (struct pe__ball){hi, ldexp(t.lo, (int)n), hi * PE__EXP_ERROR};
}

static void exact(const void *context, size_t i, mpfr_t y)
{
    const struct pe__dd *x = context;
    (void)i;
    mpfr_t argument;
    mpfr_init2(argument, EXACT_BITS); /* holds any sum of two doubles */
    mpfr_set_d(argument, x->hi, MPFR_RNDN);
    mpfr_add_d(argument, argument, x->lo, MPFR_RNDN);
    mpfr_exp(y, argument, MPFR_RNDN);
    mpfr_clear(argument);
}

double pe__exp(struct pe__dd x)
{
    double rounded;
    if (x.hi == 0)
        return 1;
    if (x.hi < LEAST)
        return 0;
    if (x.hi > MOST)
        return INFINITY;
    if (!pe__ball_round(pe__exp_ball(x), PE_F64, &rounded, 0))
        pe__round_exact(PE_F64, exact, &x, 0, &rounded, 0);
    return rounded;
}
