// SPDX-License-Identifier: Apache-2.0
/*
 * dd.h: double-double arithmetic, about 106 bits as an unevaluated sum hi + lo with |lo| <=
 * ulp(hi)/2 (Dekker 1971; Joldes, Muller, Popescu 2017, whose error bounds are quoted). fma() is
 * used only where it is exact and the instruction exists; elsewhere Dekker's product gives the same
 * value. Products must stay within 2^+-900, or their low part underflows.
 */
#ifndef PE_CORE_DD_H
#define PE_CORE_DD_H

#include <math.h>

/* Whether the target has a fused multiply-add instruction. */
#if defined __FMA__ || defined __ARM_FEATURE_FMA
#define PE__FMA 1
#endif

struct pe__dd {
    double hi, lo;
};

/* a + b exactly. */
static inline struct pe__dd pe__two_sum(double a, double b)
{
    double s = a + b;
    double t = s - a;
    return (struct pe__dd){s, (a - (s - t)) + (b - t)};
}

/* a + b exactly, for |a| >= |b| or a = 0. */
static inline struct pe__dd pe__fast_two_sum(double a, double b)
{
    double s = a + b;
    return (struct pe__dd){s, b - (s - a)};
}

/* a * b exactly. */
static inline struct pe__dd pe__two_prod(double a, double b)
{
    double p = a * b;
#ifdef PE__FMA
    return (struct pe__dd){p, __builtin_fma(a, b, -p)};
#else
    double ta = 134217729.0 * a; /* Veltkamp's split at 2^27 + 1 */
    double tb = 134217729.0 * b;
    double ah = ta - (ta - a);
    double bh = tb - (tb - b);
    double al = a - ah;
    double bl = b - bh;
    return (struct pe__dd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
#endif
}

/* a + b, relative error <= 3 * 2^-106 (AccurateDWPlusDW). */
static inline struct pe__dd pe__dd_add(struct pe__dd a, struct pe__dd b)
{
    struct pe__dd s = pe__two_sum(a.hi, b.hi);
    struct pe__dd t = pe__two_sum(a.lo, b.lo);
    struct pe__dd v = pe__fast_two_sum(s.hi, s.lo + t.hi);
    return pe__fast_two_sum(v.hi, t.lo + v.lo);
}

/* a * b, relative error <= 5 * 2^-106 (DWTimesDW2 without the last fma). */
static inline struct pe__dd pe__dd_mul(struct pe__dd a, struct pe__dd b)
{
    struct pe__dd p = pe__two_prod(a.hi, b.hi);
    return pe__fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline struct pe__dd pe__dd_mul_d(struct pe__dd a, double b)
{
    struct pe__dd p = pe__two_prod(a.hi, b);
    return pe__fast_two_sum(p.hi, p.lo + a.lo * b);
}

#endif
