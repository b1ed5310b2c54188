// SPDX-License-Identifier: Apache-2.0
/*
 * sums.c: dot products and Euclidean lengths, correctly rounded, so that the order of summation
 * cannot show. Fast: compensated summation of exact products (Ogita, Rump, Oishi 2005, Dot2) with
 * a running error bound and the rounding test. Else: one MPFR number wide enough to hold any sum
 * of products of doubles exactly; this is the only path that allocates (a few hundred bytes, freed
 * before it returns) and it serves about one sum in 2^40, or those that cancel.
 */
#include <math.h>
#include <mpfr.h>

#include "dd.h"
#include "dtype.h"
#include "round.h"

#define BLOCK 128 /* elements widened at a time */

/* Least product 2^-2148, largest 2^2048, 2^64 terms. */
#define EXACT_BITS (2148 + 2048 + 64)

/* The factors of a sum: a[i] * b[i], i < n. */
struct factors {
    enum pe_dtype dtype;
    const void *a, *b;
    size_t n;
};

/* high + low is the sum but for rounding errors of at most 2^-53 weight. */
struct sum {
    double high, low;
    double weight;
    bool in_range; /* all products exact as hi + lo: finite and 0 or within 2^+-800 */
};

static void sum_add_product(struct sum *sum, double a, double b)
{
    struct pe__dd product = pe__two_prod(a, b);
    double size = fabs(product.hi);
    bool large = fabs(a) > 0x1p900 || fabs(b) > 0x1p900 || !(size < 0x1p800);
    bool small = size < 0x1p-800 && a != 0 && b != 0;
    sum->in_range &= !large && !small;

    struct pe__dd next = pe__two_sum(sum->high, product.hi);
    double error = next.lo + product.lo;
    sum->high = next.hi;
    sum->low += error;
    sum->weight += fabs(error) + fabs(sum->low);
}

static struct sum sum_products(const struct factors *factors)
{
    struct sum sum = {.in_range = true};
    double a[BLOCK];
    double b[BLOCK];
    for (size_t first = 0; first < factors->n && sum.in_range; first += BLOCK) {
        size_t n = factors->n - first < BLOCK ? factors->n - first : BLOCK;
        pe__load_row(factors->dtype, factors->a, first, n, a);
        pe__load_row(factors->dtype, factors->b, first, n, b);
        for (size_t i = 0; i < n; i++)
            sum_add_product(&sum, a[i], b[i]);
    }
    return sum;
}

/* The bound of the error of high + low, with room for its own rounding errors. */
static double sum_error(const struct sum *sum)
{
    return sum->weight * (0x1p-53 * 1.001);
}

/* The sum itself into `exact`. True when all factors are finite; else *special is the sum of the
 * products that are not: NaN or an infinity. */
static bool sum_exactly(const struct factors *factors, mpfr_t exact, double *special)
{
    bool finite = true;
    *special = 0;
    mpfr_set_zero(exact, 1);
    mpfr_t product;
    mpfr_init2(product, 106);
    for (size_t i = 0; i < factors->n; i++) {
        double a = pe_load(factors->dtype, factors->a, i);
        double b = pe_load(factors->dtype, factors->b, i);
        if (isfinite(a) && isfinite(b)) {
            mpfr_set_d(product, a, MPFR_RNDN);
            mpfr_mul_d(product, product, b, MPFR_RNDN);
            mpfr_add(exact, exact, product, MPFR_RNDN);
        } else {
            finite = false;
            *special += a * b;
        }
    }
    mpfr_clear(product);
    if (isnan(*special))
        *special = __builtin_nan("");
    return finite;
}

static double dot_exactly(const struct factors *factors)
{
    mpfr_t sum;
    double special;
    mpfr_init2(sum, EXACT_BITS);
    bool finite = sum_exactly(factors, sum, &special);
    double result = finite ? mpfr_get_d(sum, MPFR_RNDN) : special;
    mpfr_clear(sum);
    return result;
}

double pe_dot(enum pe_dtype dtype, const void *a, const void *b, size_t n)
{
    struct factors factors = {dtype, a, b, n};
    struct sum sum = sum_products(&factors);
    if (!sum.in_range)
        return dot_exactly(&factors);
    if (sum.weight == 0)
        return sum.high;
    struct pe__dd total = pe__two_sum(sum.high, sum.low);
    double result;
    if (pe__round(PE_F64, total.hi, total.lo, sum_error(&sum), &result, 0))
        return result;
    return dot_exactly(&factors);
}

/* The root is first rounded to odd (towards zero, last bit set where inexact), so that rounding to
 * double afterwards is right even where the root lies next to a midpoint. */
static double norm_exactly(const struct factors *factors)
{
    mpfr_t sum;
    mpfr_t root;
    double special;
    mpfr_init2(sum, EXACT_BITS);
    mpfr_init2(root, 64);
    bool finite = sum_exactly(factors, sum, &special);
    int inexact = mpfr_sqrt(root, sum, MPFR_RNDZ);
    if (inexact && mpfr_min_prec(root) < mpfr_get_prec(root))
        mpfr_nextabove(root);
    double result = finite ? mpfr_get_d(root, MPFR_RNDN) : special;
    mpfr_clears(sum, root, (mpfr_ptr)NULL);
    return result;
}

double pe_norm(enum pe_dtype dtype, const void *a, size_t n)
{
    struct factors factors = {dtype, a, a, n};
    struct sum sum = sum_products(&factors);
    if (!sum.in_range)
        return norm_exactly(&factors);
    struct pe__dd total = pe__two_sum(sum.high, sum.low);
    if (total.hi == 0)
        return 0;

    /* One step of Newton's method: root + (total - root^2) / (2 root), short of the real root by at
     * most root * 2^-107 and off by the rounding of the correction, root * 2^-103. */
    double root = sqrt(total.hi);
    struct pe__dd square = pe__two_prod(root, root);
    double rest = ((total.hi - square.hi) - square.lo) + total.lo;
    double eps = root * 0x1p-102 + sum_error(&sum) / root;
    double result;
    if (pe__round(PE_F64, root, rest / (2 * root), eps, &result, 0))
        return result;
    return norm_exactly(&factors);
}

double pe_mean(const double *a, size_t n)
{
    mpfr_t sum;
    mpfr_init2(sum, EXACT_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < n; i++)
        mpfr_add_d(sum, sum, a[i], MPFR_RNDN);
    mpfr_t mean;
    mpfr_init2(mean, 53);
    mpfr_div_ui(mean, sum, n, MPFR_RNDN);
    double result = mpfr_get_d(mean, MPFR_RNDN);
    mpfr_clears(sum, mean, (mpfr_ptr)NULL);
    return result;
}
