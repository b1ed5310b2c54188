// SPDX-License-Identifier: Apache-2.0
/* operation.c: see operation.h. */
#include "operation.h"

#include <math.h>

#include "dtype.h"
#include "exact.h"

#define FACTOR_MIN   0x1p-400 /* products of factors in this range have exact low parts */
#define FACTOR_MAX   0x1p400
#define PRODUCT_BITS 106

static bool is_plain_factor(double a)
{
    return fabs(a) >= FACTOR_MIN && fabs(a) <= FACTOR_MAX;
}

static double product_by_mpfr(enum pe_dtype dtype, double a, double b)
{
    MPFR_DECL_INIT(product, PRODUCT_BITS);
    mpfr_set_d(product, a, MPFR_RNDN);
    mpfr_mul_d(product, product, b, MPFR_RNDN);
    return pe__round_mpfr_f64(dtype, product);
}

double pe__product(enum pe_dtype dtype, double a, double b)
{
    double product = a * b;
    if (dtype == PE_F64 || a == 0 || b == 0 || !isfinite(a) || !isfinite(b))
        return product;
    if (!is_plain_factor(a) || !is_plain_factor(b))
        return product_by_mpfr(dtype, a, b);
    struct pe__dd exact = pe__two_prod(a, b);
    pe__round_f64(dtype, exact.hi, exact.lo, 0, &product);
    return product;
}

double pe__sum(enum pe_dtype dtype, double a, double b)
{
    double sum = a + b;
    if (dtype == PE_F64 || !isfinite(sum)) /* beyond double is beyond every dtype */
        return sum;
    struct pe__dd exact = pe__two_sum(a, b);
    pe__round_f64(dtype, exact.hi, exact.lo, 0, &sum);
    return sum;
}

/* ---- With real numbers -------------------------------------------------------------------- */

static bool is_double(const struct pe__operand *x)
{
    return x->ball.eps == 0 && x->ball.lo == 0;
}

/* A double and a real number that MPFR gives to any precision. */
struct pair {
    double a;
    const struct pe__operand *b;
};

static void product_exact(const void *context, size_t i, mpfr_t y)
{
    const struct pair *pair = context;
    (void)i;
    pair->b->exact(pair->b->context, pair->b->i, y);
    mpfr_mul_d(y, y, pair->a, MPFR_RNDN);
}

static void summand_exact(const void *context, size_t i, mpfr_t y)
{
    const struct pair *pair = context;
    if (i == 0)
        mpfr_set_d(y, pair->a, MPFR_RNDN);
    else
        pair->b->exact(pair->b->context, pair->b->i, y);
}

static void sum_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(summand_exact, context, 2, y);
}

double pe__product_with(enum pe_dtype dtype, double a, const struct pe__operand *b)
{
    if (is_double(b) || a == 0 || !isfinite(a))
        return pe__product(dtype, a, b->ball.hi);
    struct pe__ball product = pe__ball_mul(pe__ball_exact(a), b->ball);
    struct pair pair = {a, b};
    double rounded;
    if (pe__ball_round_f64(product, dtype, &rounded))
        return rounded;
    return pe__round_exact_f64(dtype, product_exact, &pair, 0);
}

double pe__sum_with(enum pe_dtype dtype, double a, const struct pe__operand *b)
{
    if (is_double(b) || !isfinite(a))
        return pe__sum(dtype, a, b->ball.hi);
    struct pe__ball sum = pe__ball_add(pe__ball_exact(a), b->ball);
    struct pair pair = {a, b};
    double rounded;
    if (pe__ball_round_f64(sum, dtype, &rounded))
        return rounded;
    return pe__round_exact_f64(dtype, sum_exact, &pair, 0);
}
