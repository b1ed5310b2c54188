// SPDX-License-Identifier: Apache-2.0
/*
 * cis_exact.c: cos and sin of a position by MPFR, as many bits of them as are asked for.
 */
#include "cis_tables.h"

#define EXACT_GUARD_BITS 72
#define LOST_MAX         4096 /* a component that small beside its angle is an exact zero */

void pe__pos_exact(const void *position, mpfr_t y)
{
    const struct pe__pos *pos = position;
    mpfr_set_d(y, pos->hi, MPFR_RNDN);
    mpfr_add_d(y, y, pos->lo, MPFR_RNDN);
}

/* What is multiplied by a frequency. */
struct factor {
    pe__real_fn *real;
    const void *context;
};

/* factor * w_k, off by at most 10 * 2^-precision of itself. */
static void set_angle(mpfr_ptr angle, const struct pe__cis *cis, const struct factor *factor,
                      size_t k)
{
    mpfr_prec_t precision = mpfr_get_prec(angle);
    factor->real(factor->context, angle);
    if (precision <= PE__SEED_PRECISION) {
        mpfr_mul(angle, angle, cis->w[k], MPFR_RNDN);
        return;
    }
    mpfr_t w;
    mpfr_init2(w, precision);
    cis->frequency(cis->context, k, w);
    mpfr_mul(angle, angle, w, MPFR_RNDN);
    mpfr_clear(w);
}

/* The exponent of an angle in radians, at most. */
static long exponent_of(enum pe__unit unit, mpfr_srcptr angle)
{
    const long turn_bits = 3; /* 2 pi < 2^3 */
    if (mpfr_zero_p(angle))
        return 0;
    return mpfr_get_exp(angle) + (unit == PE__TURNS ? turn_bits : 0);
}

/* Rounds a component x of the angle into y (NULL: nobody asks) and returns true, or false when x is
 * not good enough for it. The angle is off by 2^(exponent + 3.4 - precision), so the relative error
 * of x is at most 2^(lost + 4.4 - precision); two more bits make room for the roundings. */
static bool settle(mpfr_ptr y, long angle_exponent, mpfr_srcptr x)
{
    if (!y)
        return true;
    long lost = mpfr_zero_p(x) ? LOST_MAX + 1 : angle_exponent - mpfr_get_exp(x);
    if (lost > LOST_MAX) { /* but noise */
        mpfr_set_zero(y, 1);
        return true;
    }
    if (mpfr_get_prec(x) < mpfr_get_prec(y) + (lost > 0 ? lost : 0) + 2)
        return false;
    mpfr_set(y, x, MPFR_RNDN);
    return true;
}

void pe__cis_exact_of(const struct pe__cis *cis, pe__real_fn *real, const void *context, size_t k,
                      mpfr_ptr c, mpfr_ptr s)
{
    const struct factor factor = {real, context};
    mpfr_prec_t precision = EXACT_GUARD_BITS + (c ? mpfr_get_prec(c) : mpfr_get_prec(s));
    mpfr_t angle, cosine, sine;
    mpfr_inits2(precision, angle, cosine, sine, (mpfr_ptr)NULL);
    for (;;) {
        set_angle(angle, cis, &factor, k);
        long exponent = exponent_of(cis->unit, angle);
        pe__unit_cis(cis->unit, cosine, sine, angle);
        if (settle(c, exponent, cosine) && settle(s, exponent, sine))
            break;
        precision *= 2;
        mpfr_set_prec(angle, precision);
        mpfr_set_prec(cosine, precision);
        mpfr_set_prec(sine, precision);
    }
    mpfr_clears(angle, cosine, sine, (mpfr_ptr)NULL);
}

void pe__cis_exact(const struct pe__cis *cis, struct pe__pos position, size_t k, mpfr_ptr c,
                   mpfr_ptr s)
{
    pe__cis_exact_of(cis, pe__pos_exact, &position, k, c, s);
}
