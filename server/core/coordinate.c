// SPDX-License-Identifier: Apache-2.0
/* coordinate.c: see coordinate.h. */
#include "coordinate.h"

#include <math.h>

#include "dd.h"

#define COORDINATE_BITS 192
#define COORDINATE_EPS  0x1p-188 /* relative, of that many bits */
#define STEP_BITS       66       /* the tables' last digit is 2^-66 */
#define TABLED_MAX      0x1p54   /* and this is their first */

static void real(const void *context, mpfr_t y)
{
    const struct pe__coordinate *coordinate = context;
    const struct pe_plan *plan = coordinate->plan;
    if (plan->coordinate)
        plan->coordinate(&plan->spec, coordinate->at, coordinate->axis, y);
    else
        pe__pos_exact(&coordinate->at[coordinate->axis], y);
}

void pe__coordinate_exact(const void *coordinate, size_t i, mpfr_t y)
{
    (void)i;
    real(coordinate, y);
}

struct pe__ball pe__coordinate_ball(const struct pe__coordinate *coordinate)
{
    const struct pe__pos *at = &coordinate->at[coordinate->axis];
    if (!coordinate->plan->coordinate)
        return (struct pe__ball){at->hi, at->lo, 0};
    MPFR_DECL_INIT(x, COORDINATE_BITS);
    real(coordinate, x);
    struct pe__ball ball = {.hi = mpfr_get_d(x, MPFR_RNDN)};
    ball.eps = fabs(ball.hi) * 0x1p-105;
    mpfr_sub_d(x, x, ball.hi, MPFR_RNDN);
    ball.lo = mpfr_get_d(x, MPFR_RNDN);
    return ball;
}

/* Splits x into a position that the tables have and a small rest; x is scratch then. */
static struct pe__pos split(mpfr_t x, double *rest)
{
    MPFR_DECL_INIT(steps, COORDINATE_BITS);
    struct pe__pos at;
    mpfr_mul_2ui(steps, x, STEP_BITS, MPFR_RNDN);
    mpfr_rint(steps, steps, MPFR_RNDN);
    mpfr_div_2ui(steps, steps, STEP_BITS, MPFR_RNDN);
    at.hi = mpfr_get_d(steps, MPFR_RNDN) + 0; /* no negative zero */
    mpfr_sub_d(steps, steps, at.hi, MPFR_RNDN);
    at.lo = mpfr_get_d(steps, MPFR_RNDN) + 0;
    mpfr_sub_d(x, x, at.hi, MPFR_RNDN);
    mpfr_sub_d(x, x, at.lo, MPFR_RNDN);
    *rest = mpfr_get_d(x, MPFR_RNDN);
    return at;
}

static void add_to(double *hi, double *lo, double more)
{
    struct pe__dd sum = pe__two_sum(*hi, *lo + more);
    *hi = sum.hi;
    *lo = sum.lo;
}

/* cis(a + t) = cis(a) (1 + it) up to t^2, for t = rest * w_k. Returns the largest |t|. */
static double turn_on(const double *speed, size_t n, double rest, struct pe__planes *out)
{
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        double t = rest * speed[j];
        double c = out->cos_hi[j];
        double s = out->sin_hi[j];
        add_to(&out->cos_hi[j], &out->cos_lo[j], -s * t);
        add_to(&out->sin_hi[j], &out->sin_lo[j], c * t);
        largest = fmax(largest, fabs(t));
    }
    return largest;
}

/* All values are left to MPFR. */
static double nothing_known(size_t n, struct pe__planes *out)
{
    for (size_t j = 0; j < n; j++)
        out->cos_hi[j] = out->cos_lo[j] = out->sin_hi[j] = out->sin_lo[j] = 0;
    return INFINITY;
}

static double largest_of(const double *speed, size_t n)
{
    double largest = 0;
    for (size_t j = 0; j < n; j++)
        largest = fmax(largest, fabs(speed[j]));
    return largest;
}

/* t^2 covers the series. Of the first term, at most |t|, the roundings of t (its speed, rest and
 * product, 2^-51.4 in all), of the product with c or s, of lo + more and what lo of c and s would
 * add lose less than 2^-50 of it, and 2^-53 of lo + more: 2^-106 + 2^-53 |t|. */
double pe__coordinate_cis_row(const struct pe__coordinate *coordinate, struct pe__walk *walk,
                              size_t first, size_t n, struct pe__planes *out)
{
    const struct pe_plan *plan = coordinate->plan;
    if (!plan->coordinate)
        return pe__cis_row(plan->cis, walk, coordinate->at[coordinate->axis], first, n, out);
    double rest;
    MPFR_DECL_INIT(x, COORDINATE_BITS);
    real(coordinate, x);
    double size = fabs(mpfr_get_d(x, MPFR_RNDN));
    if (!(size < TABLED_MAX))
        return nothing_known(n, out);
    struct pe__pos at = split(x, &rest);
    double eps = pe__cis_row(plan->cis, walk, at, first, n, out);
    if (rest == 0 && eps == 0)
        return 0;
    const double *speed = plan->speed + first;
    double t = turn_on(speed, n, rest, out);
    return eps + t * t + t * 0x1p-49 + 0x1p-105 + size * largest_of(speed, n) * COORDINATE_EPS;
}

void pe__coordinate_cis_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c,
                              mpfr_ptr s)
{
    pe__cis_exact_of(coordinate->plan->cis, real, coordinate, k, c, s);
}
