// SPDX-License-Identifier: Apache-2.0
/*
 * test_coordinate.c: cos and sin of real numbers in place of positions lie within the bound that
 * comes with them, which leaves few to MPFR.
 */
#include "coordinate.h"

#include <criterion/criterion.h>
#include <math.h>

#include "plan_from.h"

#define BITS 400

/* |hi + lo - exact|, rounded up. */
static double error_of(double hi, double lo, mpfr_srcptr exact)
{
    MPFR_DECL_INIT(error, BITS);
    mpfr_sub_d(error, exact, hi, MPFR_RNDA);
    mpfr_sub_d(error, error, lo, MPFR_RNDA);
    return fabs(mpfr_get_d(error, MPFR_RNDA));
}

/* At one position, for the frequencies 1000, 1 and 2^-30, in radians. */
static void expect_within(const struct pe_plan *plan, double p)
{
    static const double w[] = {1000, 1, 0x1p-30};
    const struct pe__pos at = {p, 0};
    const struct pe__coordinate coordinate = {plan, &at, 0};
    struct pe__planes planes;
    struct pe__walk walk = {.valid = false};
    double eps = pe__coordinate_cis_row(&coordinate, &walk, 0, 3, &planes);
    mpfr_t angle, c, s;
    mpfr_inits2(BITS, angle, c, s, (mpfr_ptr)NULL);
    for (size_t k = 0; k < 3; k++) {
        mpfr_set_d(angle, p, MPFR_RNDN);
        mpfr_log(angle, angle, MPFR_RNDN);
        mpfr_mul_d(angle, angle, w[k], MPFR_RNDN);
        mpfr_sin_cos(s, c, angle, MPFR_RNDN);
        cr_expect_leq(error_of(planes.cos_hi[k], planes.cos_lo[k], c), eps, "cos %zu at %a", k, p);
        cr_expect_leq(error_of(planes.sin_hi[k], planes.sin_lo[k], s), eps, "sin %zu at %a", k, p);
    }
    cr_expect_lt(eps, 0x1p-88, "the bound at %a is %a", p, eps);
    mpfr_clears(angle, c, s, (mpfr_ptr)NULL);
}

Test(coordinate, has_values_within_its_bound)
{
    static const double one = 1;
    struct pe_positions positions = positions_of(&one, 1);
    struct pe_plan *plan = plan_from("fourier:freqs=1000+1+9.313225746154785e-10,"
                                     "log_positions=true,angle_unit=radian",
                                     &positions);
    for (uint64_t i = 0; i < 3000; i++) {
        double fraction = (double)(pe_draw(0, "positions", i) >> 11) * 0x1p-53;
        expect_within(plan, ldexp(1 + fraction, (int)(i % 1100) - 1040));
    }
    for (int i = -60; i <= 52; i++)
        expect_within(plan, 1 + ldexp(1, -abs(i)) * (i < 0 ? -0.5 : 1));
    pe_plan_free(plan);
}

Test(coordinate, is_exact_at_zero)
{
    static const double one = 1;
    struct pe_positions positions = positions_of(&one, 1);
    struct pe_plan *plan = plan_from("fourier:freqs=0.1,log_positions=true", &positions);
    const struct pe__pos at = {1, 0};
    const struct pe__coordinate coordinate = {plan, &at, 0};
    struct pe__planes planes;
    struct pe__walk walk = {.valid = false};
    cr_expect_eq(pe__coordinate_cis_row(&coordinate, &walk, 0, 1, &planes), 0);
    cr_expect(planes.cos_hi[0] == 1 && planes.cos_lo[0] == 0 && planes.sin_hi[0] == 0);
    pe_plan_free(plan);
}
