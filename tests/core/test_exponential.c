// SPDX-License-Identifier: Apache-2.0
/*
 * test_exponential.c: e^x against MPFR: correctly rounded for any double-double, and within its
 * bound as a ball.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

#include "exponential.h"

#define BITS 2400

static void exactly(struct pe__dd x, mpfr_t y)
{
    mpfr_set_d(y, x.hi, MPFR_RNDN);
    mpfr_add_d(y, y, x.lo, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
}

static void expect(struct pe__dd x)
{
    mpfr_t y, away;
    mpfr_inits2(BITS, y, away, (mpfr_ptr)NULL);
    exactly(x, y);
    double rounded = pe__exp(x), wanted = mpfr_get_d(y, MPFR_RNDN);
    cr_expect(rounded == wanted, "e^(%a + %a) is %a, not %a", x.hi, x.lo, rounded, wanted);

    struct pe__ball ball = pe__exp_ball(x);
    mpfr_sub_d(away, y, ball.hi, MPFR_RNDN);
    mpfr_sub_d(away, away, ball.lo, MPFR_RNDN);
    cr_expect(isinf(ball.eps) || mpfr_cmpabs(away, (mpfr_set_d(y, ball.eps, MPFR_RNDU), y)) <= 0,
              "e^(%a + %a) is not in its ball", x.hi, x.lo);
    mpfr_clears(y, away, (mpfr_ptr)NULL);
}

Test(exponential, of_random_numbers)
{
    double x[3];
    for (uint64_t i = 0; i < 4000; i++) {
        pe_fill_random(i, "x", PE_CONTENT_UNIFORM, 1, 0, 3, PE_F64, x);
        double hi = ldexp(x[0], (int)(i % 70) - 60);
        expect((struct pe__dd){hi, 0});
        expect((struct pe__dd){hi, hi * x[1] * 0x1p-54});
        expect((struct pe__dd){x[0] * 745, x[2] * 0x1p-50});
    }
}

Test(exponential, at_the_ends_of_its_range)
{
    static const double at[] = {0,       -0.0,     0x1p-1074, -0x1p-1074, 1e-300, -1e-20, 0x1p-53,
                                0x1p-54, -0x1p-54, -0x1p-55,  1,          -1,     700,    -700,
                                700.5,   -700.5,   709.78,    709.79,     710.5,  -708.4, -740,
                                -745,    -745.13,  -745.14,   -746,       -747,   1e6,    -1e300};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        expect((struct pe__dd){at[i], 0});
        cr_expect(pe__exp((struct pe__dd){at[i], 0}) >= 0);
    }
    cr_expect_eq(pe__exp((struct pe__dd){INFINITY, 0}), INFINITY);
    cr_expect_eq(pe__exp((struct pe__dd){-INFINITY, 0}), 0);
}
