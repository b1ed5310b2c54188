// SPDX-License-Identifier: Apache-2.0
/*
 * scales.c: rotating kinds that also stretch or shrink what they rotate, by a power of the
 * position: scale^e at position p, e = (p - center) / scale_base. Powers are exponentials
 * (exponential.h), or by MPFR to any precision.
 */
#include <math.h>
#include <stdlib.h>

#include "exponential.h"
#include "kind.h"
#include "round.h"

#define LOG_BITS   160
#define GUARD_BITS 64 /* the exponent is below 2^10 and relative errors grow with it */

bool pe__scales_new(struct pe_plan *plan)
{
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    MPFR_DECL_INIT(log, LOG_BITS);
    plan->scale_log = malloc(plan->pairs * sizeof *plan->scale_log);
    if (!plan->scale_log)
        return false;
    plan->bytes += plan->pairs * sizeof *plan->scale_log;
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        ops->scale(&plan->spec, pair, log);
        mpfr_log(log, log, MPFR_RNDN);
        struct pe__dd *to = &plan->scale_log[pair];
        to->hi = mpfr_get_d(log, MPFR_RNDN);
        mpfr_sub_d(log, log, to->hi, MPFR_RNDN);
        to->lo = mpfr_get_d(log, MPFR_RNDN);
    }
    return true;
}

/* ---- In double-double --------------------------------------------------------------------- */

/* sign * (p - center) / scale_base. */
static struct pe__ball exponent_ball(const struct pe_plan *plan, struct pe__pos at, int sign)
{
    struct pe__ball p = {sign * at.hi, sign * at.lo, 0};
    struct pe__ball away = pe__ball_add(p, pe__ball_exact(-sign * plan->center));
    return pe__ball_div(away, pe__ball_exact(plan->scale_base));
}

static struct pe__ball scale_ball(const struct pe_plan *plan, const struct pe__ball *exponent,
                                  size_t pair)
{
    if (exponent->hi == 0)
        return pe__ball_exact(1);
    struct pe__dd e = {exponent->hi, exponent->lo};
    return pe__exp_ball(pe__dd_mul(plan->scale_log[pair], e));
}

static void multiply(struct pe__ball scale, double *hi, double *lo)
{
    struct pe__dd product =
        pe__dd_mul((struct pe__dd){*hi, *lo}, (struct pe__dd){scale.hi, scale.lo});
    *hi = product.hi;
    *lo = product.lo;
}

double pe__plan_scale(const struct pe_plan *plan, struct pe__pos at, int sign, size_t first,
                      size_t n, double eps, struct pe__planes *out)
{
    struct pe__ball exponent = exponent_ball(plan, at, sign);
    double most = 0;
    if (isnan(at.hi) || exponent.hi == 0)
        return eps;
    for (size_t j = 0; j < n; j++) {
        struct pe__ball scale = scale_ball(plan, &exponent, first + j);
        multiply(scale, &out->cos_hi[j], &out->cos_lo[j]);
        multiply(scale, &out->sin_hi[j], &out->sin_lo[j]);
        most = scale.hi > most ? scale.hi : most;
        if (isinf(scale.eps))
            return INFINITY;
    }
    return most * (eps + 2 * PE__EXP_ERROR) * 1.001 + PE__BALL_LOST;
}

/* ---- By MPFR ------------------------------------------------------------------------------ */

void pe__plan_scale_exact(const struct pe_plan *plan, struct pe__pos at, int sign, size_t pair,
                          mpfr_t y)
{
    mpfr_t exponent, scale;
    mpfr_init2(exponent, mpfr_get_prec(y) + GUARD_BITS);
    mpfr_init2(scale, mpfr_get_prec(y) + GUARD_BITS);
    mpfr_set_d(exponent, at.hi, MPFR_RNDN);
    mpfr_add_d(exponent, exponent, at.lo, MPFR_RNDN);
    mpfr_sub_d(exponent, exponent, plan->center, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, sign * plan->scale_base, MPFR_RNDN);
    plan->spec.kind->ops->scale(&plan->spec, pair, scale);
    mpfr_pow(scale, scale, exponent, MPFR_RNDN);
    mpfr_mul(y, y, scale, MPFR_RNDN);
    mpfr_clears(exponent, scale, (mpfr_ptr)NULL);
}

/* ---- As numbers --------------------------------------------------------------------------- */

struct place {
    const struct pe_plan *plan;
    struct pe__pos at;
};

static void scale_exact(const void *context, size_t pair, mpfr_t y)
{
    const struct place *place = context;
    mpfr_set_ui(y, 1, MPFR_RNDN);
    pe__plan_scale_exact(place->plan, place->at, 1, pair, y);
}

void pe_scales(const struct pe_plan *plan, const struct pe_positions *positions,
               enum pe_dtype dtype, void *out)
{
    for (size_t token = 0; token < positions->n; token++) {
        struct place place = {plan, {plan->center, 0}};
        if (pe__has_position(positions, token))
            place.at = pe__plan_position(plan, positions->at[0][token]);
        struct pe__ball exponent = exponent_ball(plan, place.at, 1);
        for (size_t pair = 0; pair < plan->pairs; pair++) {
            size_t i = token * plan->pairs + pair;
            if (!pe__ball_round(scale_ball(plan, &exponent, pair), dtype, out, i))
                pe__round_exact(dtype, scale_exact, &place, pair, out, i);
        }
    }
}
