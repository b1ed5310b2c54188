// SPDX-License-Identifier: Apache-2.0
/*
 * sums.c: dot products, Euclidean lengths and means, correctly rounded, so that the order of
 * summation cannot show. Fast: a compensated sum with an error bound (ball.h) and the rounding test
 * (round.h). Else one MPFR number wide enough to hold any sum of products of doubles exactly; this
 * path alone allocates (a few kilobytes, freed before it returns). It serves sums that cancel or
 * leave the range of double products, and about one in 2^40 of the others.
 */
#include <math.h>
#include <mpfr.h>

#include "ball.h"
#include "dtype.h"
#include "exact.h"
#include "round.h"

#define BLOCK 128 /* elements widened at a time */

/* The sum of a[i] * b[i], i < n; b NULL: of a[i]. */
struct dot {
    enum pe_dtype dtype;
    const void *a, *b;
    size_t n;
};

static struct pe__ball dot_ball(const struct dot *dot)
{
    struct pe__sum sum = {0};
    double a[BLOCK];
    double b[BLOCK];
    for (size_t first = 0; first < dot->n; first += BLOCK) {
        size_t n = dot->n - first < BLOCK ? dot->n - first : BLOCK;
        pe__load_row(dot->dtype, dot->a, first, n, a);
        for (size_t i = 0; i < n && !dot->b; i++)
            b[i] = 1;
        if (dot->b)
            pe__load_row(dot->dtype, dot->b, first, n, b);
        for (size_t i = 0; i < n; i++)
            pe__sum_add(&sum, (struct pe__dd){a[i], 0}, (struct pe__dd){b[i], 0});
    }
    return pe__sum_ball(&sum);
}

static bool round_ball(struct pe__ball value, double *result)
{
    return isfinite(value.hi) && isfinite(value.eps) &&
           pe__round(PE_F64, value.hi, value.lo, value.eps, result, 0);
}

/* The sum itself into `exact`. True when all factors are finite; else *special is the sum of the
 * products that are not: NaN or an infinity. */
static bool dot_exactly(const struct dot *dot, mpfr_t exact, double *special)
{
    bool finite = true;
    *special = 0;
    mpfr_set_zero(exact, 1);
    for (size_t i = 0; i < dot->n; i++) {
        double a = pe_load(dot->dtype, dot->a, i);
        double b = dot->b ? pe_load(dot->dtype, dot->b, i) : 1;
        if (isfinite(a) && isfinite(b)) {
            pe__exact_add_product(exact, a, b);
        } else {
            finite = false;
            *special += a * b;
        }
    }
    if (isnan(*special))
        *special = __builtin_nan("");
    return finite;
}

static double rounded(struct dot dot)
{
    double result;
    if (round_ball(dot_ball(&dot), &result))
        return result;

    mpfr_t sum;
    mpfr_init2(sum, PE__EXACT_BITS);
    if (dot_exactly(&dot, sum, &result))
        result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    return result;
}

double pe_dot(enum pe_dtype dtype, const void *a, const void *b, size_t n)
{
    return rounded((struct dot){dtype, a, b, n});
}

double pe_sum(const double *a, size_t n)
{
    return rounded((struct dot){PE_F64, a, NULL, n});
}

double pe_norm(enum pe_dtype dtype, const void *a, size_t n)
{
    struct dot dot = {dtype, a, a, n};
    double result;
    if (round_ball(pe__ball_sqrt(dot_ball(&dot)), &result))
        return result;

    /* The root is rounded to odd (towards zero, last bit set where inexact), so that rounding to
     * double afterwards is right even where the root lies next to a midpoint. */
    mpfr_t sum;
    mpfr_t root;
    mpfr_init2(sum, PE__EXACT_BITS);
    mpfr_init2(root, 64);
    bool finite = dot_exactly(&dot, sum, &result);
    int inexact = mpfr_sqrt(root, sum, MPFR_RNDZ);
    if (inexact && mpfr_min_prec(root) < mpfr_get_prec(root))
        mpfr_nextabove(root);
    if (finite)
        result = mpfr_get_d(root, MPFR_RNDN);
    mpfr_clears(sum, root, (mpfr_ptr)NULL);
    return result;
}

double pe_mean(const double *a, size_t n)
{
    mpfr_t sum;
    mpfr_t mean;
    mpfr_init2(sum, PE__EXACT_BITS);
    mpfr_init2(mean, 53);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < n; i++)
        mpfr_add_d(sum, sum, a[i], MPFR_RNDN);
    mpfr_div_ui(mean, sum, n, MPFR_RNDN);
    double result = mpfr_get_d(mean, MPFR_RNDN);
    mpfr_clears(sum, mean, (mpfr_ptr)NULL);
    return result;
}
