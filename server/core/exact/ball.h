// SPDX-License-Identifier: Apache-2.0
/*
 * ball.h: real numbers known as hi + lo up to a bound: double-double arithmetic that carries its
 * error along, for sums whose terms are not exact themselves. A bound of 0 means exact; an infinite
 * one that nothing is known (out of range, division by what may be zero), so that the rounding test
 * (round.h) sends the value to MPFR. With u = 2^-53 the relative errors of dd.h are 3 u^2 for sums
 * and 5 u^2 for products; the constants below are next powers of two with room for the rounding of
 * the bounds themselves.
 */
#ifndef PE_CORE_BALL_H
#define PE_CORE_BALL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "dd.h"
#include "round.h"

struct pe__ball {
    double hi, lo;
    double eps;
};

#define PE__BALL_SLACK (1 + 0x1p-40) /* the bound's own rounding errors */
#define PE__BALL_LOST  0x1p-1000     /* more than any underflow takes, 2^50 times over */

static inline struct pe__ball pe__ball_exact(double x)
{
    return (struct pe__ball){x, 0, 0};
}

/* 2 pi */
static inline struct pe__ball pe__ball_turn(void)
{
    return (struct pe__ball){0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52, 0x1p-105};
}

/* Products and quotients of such numbers do not overflow, nor do their splits. */
static inline bool pe__ball_below(struct pe__ball a)
{
    return fabs(a.hi) <= 0x1p400;
}

static inline struct pe__ball pe__ball_add(struct pe__ball a, struct pe__ball b)
{
    struct pe__dd sum = pe__dd_add((struct pe__dd){a.hi, a.lo}, (struct pe__dd){b.hi, b.lo});
    double eps = a.eps + b.eps + fabs(sum.hi) * 0x1p-104;
    return (struct pe__ball){sum.hi, sum.lo, eps * PE__BALL_SLACK};
}

static inline struct pe__ball pe__ball_mul(struct pe__ball a, struct pe__ball b)
{
    struct pe__dd product = pe__dd_mul((struct pe__dd){a.hi, a.lo}, (struct pe__dd){b.hi, b.lo});
    double eps = fabs(a.hi) * b.eps + fabs(b.hi) * a.eps + a.eps * b.eps +
                 fabs(product.hi) * 0x1p-103 + (a.hi != 0 && b.hi != 0 ? PE__BALL_LOST : 0);
    bool in_range = pe__ball_below(a) && pe__ball_below(b);
    /* + 0: an exact zero is +0 */
    return (struct pe__ball){product.hi + 0, product.lo,
                             in_range ? eps * PE__BALL_SLACK : INFINITY};
}

/* a / b: quotient of the high parts, corrected by the remainder (exact but for the low parts'
 * share, together below 10 u^2). */
static inline struct pe__ball pe__ball_div(struct pe__ball a, struct pe__ball b)
{
    double q = a.hi / b.hi;
    struct pe__dd p = pe__two_prod(q, b.hi);
    double rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
    struct pe__dd sum = pe__fast_two_sum(q, rest / b.hi);
    double lost = a.hi != 0 ? PE__BALL_LOST : 0;
    double eps = (a.eps + fabs(q) * b.eps + lost) / fabs(b.hi) * 1.001 + fabs(q) * 0x1p-102 + lost;
    bool in_range = pe__ball_below(a) && pe__ball_below(b) && fabs(b.hi) >= 0x1p-400;
    bool known = in_range && b.eps < fabs(b.hi) * 0x1p-20;
    return (struct pe__ball){sum.hi + 0, sum.lo, known ? eps * PE__BALL_SLACK : INFINITY};
}

/* One step of Newton's method from the root of the high part. */
static inline struct pe__ball pe__ball_sqrt(struct pe__ball a)
{
    if (a.hi == 0 && a.eps == 0)
        return a;
    double root = sqrt(a.hi);
    struct pe__dd square = pe__two_prod(root, root);
    double rest = ((a.hi - square.hi) - square.lo) + a.lo;
    struct pe__dd sum = pe__fast_two_sum(root, rest / (2 * root));
    double eps = a.eps / root * 1.001 + root * 0x1p-102;
    bool known = a.hi >= 0x1p-800 && a.hi <= 0x1p800 && a.eps < a.hi * 0x1p-20;
    return (struct pe__ball){sum.hi, sum.lo, known ? eps * PE__BALL_SLACK : INFINITY};
}

/* Rounds to element i of out; false when the ball does not decide the result. */
static inline bool pe__ball_round(struct pe__ball a, enum pe_dtype dtype, void *out, size_t i)
{
    return isfinite(a.hi) && isfinite(a.eps) && pe__round(dtype, a.hi, a.lo, a.eps, out, i);
}

/* The same with the result as a double. */
static inline bool pe__ball_round_f64(struct pe__ball a, enum pe_dtype dtype, double *out)
{
    return isfinite(a.hi) && isfinite(a.eps) && pe__round_f64(dtype, a.hi, a.lo, a.eps, out);
}

/* exact(context, i), known to about 104 bits. */
struct pe__ball pe__ball_from(pe__exact_fn *exact, const void *context, size_t i);

/* ---- Sums of products --------------------------------------------------------------------- */

/* Compensated sum of products of double-doubles (Ogita, Rump, Oishi 2005, Dot2). */
struct pe__sum {
    double hi, lo;
    double weight; /* sizes of what was rounded: the error is at most u * weight ... */
    double size;   /* ... + 8 u^2 * size, the sum of the products' sizes */
    bool live;     /* some product is not zero */
};

static inline void pe__sum_add(struct pe__sum *sum, struct pe__dd x, struct pe__dd y)
{
    struct pe__dd product = pe__two_prod(x.hi, y.hi);
    struct pe__dd next = pe__two_sum(sum->hi, product.hi);
    double exact_part = next.lo + product.lo;
    double error = exact_part + (x.hi * y.lo + x.lo * y.hi);
    sum->hi = next.hi;
    sum->lo += error;
    sum->weight += fabs(exact_part) + fabs(error) + fabs(sum->lo);
    sum->size += fabs(product.hi);
    sum->live |= (x.hi != 0) & (y.hi != 0);
}

static inline struct pe__ball pe__sum_ball(const struct pe__sum *sum)
{
    if (!sum->live)
        return pe__ball_exact(0);
    struct pe__dd total = pe__two_sum(sum->hi, sum->lo);
    double eps = sum->weight * 0x1p-53 + sum->size * 0x1p-103 + PE__BALL_LOST;
    bool in_range = sum->size <= 0x1p900 && isfinite(eps);
    return (struct pe__ball){total.hi, total.lo, in_range ? eps * 1.001 : INFINITY};
}

#endif
