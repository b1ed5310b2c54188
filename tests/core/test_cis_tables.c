// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <math.h>

#include "cis_tables.h"

/* w = 1, 1/2, 3/8 turns per position. */
static void eighths(const void *context, size_t k, mpfr_t w)
{
    static const double turns[] = {1, 0.5, 0.375};
    (void)context;
    mpfr_set_d(w, turns[k], MPFR_RNDN);
}

static void assert_component(mpfr_srcptr x, double eighth, const char *which, double p)
{
    static const double roots[] = {1,  0.70710678118654752,  0, -0.70710678118654752,
                                   -1, -0.70710678118654752, 0, 0.70710678118654752};
    double expected = roots[(size_t)eighth];
    if (expected == trunc(expected))
        cr_assert_eq(mpfr_get_d(x, MPFR_RNDN), expected, "%s at %g", which, p);
    else
        cr_assert_float_eq(mpfr_get_d(x, MPFR_RNDN), expected, 1e-16, "%s at %g", which, p);
    cr_assert(mpfr_sgn(x) != 0 || !mpfr_signbit(x), "%s at %g is -0", which, p);
}

/* Far positions too: nothing of 2 pi has been rounded off. */
Test(cis_tables, quarters_of_a_turn_are_exact)
{
    static const double positions[] = {0, 1, 3, -5, 1023, -0x1p40 - 1, 0x1p53};
    static const size_t eighths_n[] = {8, 4, 3};
    struct pe__cis *cis = pe__cis_new(eighths, NULL, PE__TURNS, 3, (1 << PE__GROUPS_N) - 1);
    struct pe__walk walk = {.valid = false};
    struct pe__planes row;
    mpfr_t c, s;
    mpfr_inits2(96, c, s, (mpfr_ptr)NULL);
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        double p = positions[i];
        double eps = pe__cis_row(cis, &walk, (struct pe__pos){p, 0}, 0, 3, &row);
        cr_assert_leq(eps, 0x1p-96);
        for (size_t k = 0; k < 3; k++) {
            double eighth = fmod(p * (double)eighths_n[k], 8);
            eighth = eighth < 0 ? eighth + 8 : eighth;
            pe__cis_exact(cis, (struct pe__pos){p, 0}, k, c, s);
            assert_component(c, eighth, "cos", p);
            assert_component(s, fmod(eighth + 6, 8), "sin", p);
            cr_assert_float_eq(row.cos_hi[k], mpfr_get_d(c, MPFR_RNDN), 1e-16);
            cr_assert_float_eq(row.sin_hi[k], mpfr_get_d(s, MPFR_RNDN), 1e-16);
        }
    }
    mpfr_clears(c, s, (mpfr_ptr)NULL);
    pe__cis_free(cis);
}
