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
    if (dtype == PE_F64 || sum == 0 || !isfinite(sum)) /* beyond double is beyond every dtype */
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

/* Zeros, infinities and NaN, beside which the other number counts by its sign alone. */
static bool decides(const struct pe__operand *x)
{
    return is_double(x) && (x->ball.hi == 0 || !isfinite(x->ball.hi));
}

void pe__operand_exact(const struct pe__operand *x, mpfr_t y)
{
    if (is_double(x))
        mpfr_set_d(y, x->ball.hi, MPFR_RNDN);
    else
        x->exact(x->context, x->i, y);
}

struct pair {
    const struct pe__operand *at[2];
};

static void product_exact(const void *context, size_t i, mpfr_t y)
{
    const struct pair *pair = context;
    mpfr_t factor;
    mpfr_init2(factor, mpfr_get_prec(y) + 53); /* holds any double */
    pe__operand_exact(pair->at[0], factor);
    pe__operand_exact(pair->at[1], y);
    mpfr_mul(y, y, factor, MPFR_RNDN);
    mpfr_clear(factor);
    (void)i;
}

static void summand_exact(const void *context, size_t i, mpfr_t y)
{
    const struct pair *pair = context;
    pe__operand_exact(pair->at[i], y);
}

static void sum_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(summand_exact, context, 2, y);
}

double pe__product_of(enum pe_dtype dtype, const struct pe__operand *a, const struct pe__operand *b)
{
    if ((is_double(a) && is_double(b)) || decides(a) || decides(b))
        return pe__product(dtype, a->ball.hi, b->ball.hi);
    struct pair pair = {{a, b}};
    double rounded;
    if (pe__ball_round_f64(pe__ball_mul(a->ball, b->ball), dtype, &rounded))
        return rounded;
    return pe__round_exact_f64(dtype, product_exact, &pair, 0);
}

double pe__sum_of(enum pe_dtype dtype, const struct pe__operand *a, const struct pe__operand *b)
{
    if (is_double(a) && is_double(b))
        return pe__sum(dtype, a->ball.hi, b->ball.hi);
    struct pair pair = {{a, b}};
    double rounded;
    if (pe__ball_round_f64(pe__ball_add(a->ball, b->ball), dtype, &rounded))
        return rounded;
    return pe__round_exact_f64(dtype, sum_exact, &pair, 0);
}
