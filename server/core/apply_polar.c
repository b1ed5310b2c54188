// SPDX-License-Identifier: Apache-2.0
/*
 * apply_polar.c: every channel as a length at an angle: row j of the first half is radius(x_j) cos
 * t_j, of the second radius(x_j) sin t_j. Each radius is by MPFR and each value rounded by itself,
 * correctly.
 */
#include "apply.h"
#include "coordinate.h"
#include "exact.h"
#include "staged.h"

struct polar {
    struct pe__codes codes;
    const struct pe_plan *plan;
    bool phased;
};

/* ---- Phases ------------------------------------------------------------------------------- */

#define NEAR_BITS   256
#define AGREED_BITS 200 /* an angle and a phase that agree in so many bits are one number */
#define NEAR_ZERO   0x1p-40

static double phase_of(const struct polar *polar, size_t pair)
{
    const struct pe_spec *spec = &polar->plan->spec;
    return spec->kind->ops->polar->phase(spec, pair);
}

/* Whether the phase takes the whole angle back, one that is not rounded. */
static bool is_taken_back(const struct polar *polar, size_t pair)
{
    const struct pe__slab *slab = polar->codes.slab;
    const struct pe_stages *stages = &polar->plan->stages;
    if (pe__stage_named(stages, PE_STAGE_ANGLE) || pe__stage_named(stages, PE_STAGE_TABLE))
        return false;
    const struct pe__pos at =
        pe__plan_position(polar->plan, slab->positions->at[0][polar->codes.token]);
    const struct pe__coordinate coordinate = {polar->plan, &at, 0};
    MPFR_DECL_INIT(angle, NEAR_BITS);
    MPFR_DECL_INIT(rest, NEAR_BITS);
    pe__plan_angle(&coordinate, pair, angle);
    mpfr_add_d(rest, angle, phase_of(polar, pair), MPFR_RNDN);
    return mpfr_zero_p(rest) || mpfr_get_exp(rest) < mpfr_get_exp(angle) - AGREED_BITS;
}

static void set_code(struct pe__codes *codes, size_t pair, bool is_sine, struct pe__ball ball)
{
    codes->hi[is_sine][pair] = ball.hi;
    codes->lo[is_sine][pair] = ball.lo;
}

static struct pe__ball phase_ball(const struct pe_plan *plan, size_t i)
{
    return (struct pe__ball){plan->constant_hi[i], plan->constant_lo[i], 0x1p-104};
}

/* cos(t + d) = cos t cos d - sin t sin d, sin(t + d) = sin t cos d + cos t sin d. */
static void add_phase(struct polar *polar, size_t pair)
{
    struct pe__codes *codes = &polar->codes;
    struct pe__ball c = pe__code_ball(codes, pair, false), s = pe__code_ball(codes, pair, true);
    struct pe__ball cd = phase_ball(polar->plan, pair);
    struct pe__ball sd = phase_ball(polar->plan, polar->plan->pairs + pair);
    if (sd.hi == 0)
        return;
    struct pe__ball minus = {-sd.hi, -sd.lo, sd.eps};
    struct pe__ball cosine = pe__ball_add(pe__ball_mul(c, cd), pe__ball_mul(s, minus));
    struct pe__ball sine = pe__ball_add(pe__ball_mul(s, cd), pe__ball_mul(c, sd));
    double eps = cosine.eps > sine.eps ? cosine.eps : sine.eps;
    if (fabs(sine.hi) < NEAR_ZERO && is_taken_back(polar, pair)) {
        cosine = pe__ball_exact(1);
        sine = pe__ball_exact(0);
        eps = 0;
    }
    set_code(codes, pair, false, cosine);
    set_code(codes, pair, true, sine);
    codes->eps[pair] = eps;
}

/* A code with its phase, for MPFR. */
struct phased {
    const struct polar *polar;
    size_t pair;
    bool is_sine;
};

static void term_exact(const void *context, size_t i, mpfr_t y)
{
    const struct phased *code = context;
    mpfr_t d;
    mpfr_init2(d, mpfr_get_prec(y) + 53); /* holds any double */
    mpfr_set_d(d, phase_of(code->polar, code->pair), MPFR_RNDN);
    if (i == 0)
        mpfr_cos(d, d, MPFR_RNDN);
    else
        mpfr_sin(d, d, MPFR_RNDN);
    if (i == 1 && !code->is_sine)
        mpfr_neg(d, d, MPFR_RNDN);
    pe__codes_exact(&code->polar->codes, code->pair, code->is_sine == (i == 0), y);
    mpfr_mul(y, y, d, MPFR_RNDN);
    mpfr_clear(d);
}

/* ---- Rows --------------------------------------------------------------------------------- */

static void code_exact(const struct polar *polar, size_t pair, bool is_sine, mpfr_t y)
{
    if (polar->phased)
        pe__exact_sum(term_exact, &(struct phased){polar, pair, is_sine}, 2, y);
    else
        pe__codes_exact(&polar->codes, pair, is_sine, y);
}

static void cosine_exact(const void *context, size_t pair, mpfr_t y)
{
    code_exact(context, pair, false, y);
}

static void sine_exact(const void *context, size_t pair, mpfr_t y)
{
    code_exact(context, pair, true, y);
}

struct radius {
    const struct pe_plan *plan;
    double x;
};

static void radius_exact(const void *context, size_t i, mpfr_t y)
{
    const struct radius *radius = context;
    (void)i;
    radius->plan->spec.kind->ops->polar->radius(radius->x, y);
}

/* Beside infinities and NaN the other number counts by its sign. */
static struct pe__operand radius_of(const struct radius *radius)
{
    if (!isfinite(radius->x))
        return pe__operand_of(radius->x < 0 ? 0 : radius->x);
    return (struct pe__operand){pe__ball_from(radius_exact, radius, 0), radius_exact, radius, 0};
}

static void do_row(void *context, size_t token, const void *x, void *y)
{
    const struct polar *polar = context;
    const struct pe_apply *job = polar->codes.slab->job;
    enum pe_dtype to = job->out->dtype;
    size_t pairs = polar->plan->pairs;
    (void)token;
    for (size_t pair = 0; pair < pairs; pair++) {
        struct radius radius = {polar->plan, pe_load(job->in->dtype, x, pair)};
        struct pe__operand r = radius_of(&radius);
        struct pe__operand c = {pe__code_ball(&polar->codes, pair, false), cosine_exact, polar,
                                pair};
        struct pe__operand s = {pe__code_ball(&polar->codes, pair, true), sine_exact, polar, pair};
        pe_store(to, y, pair, pe__product_of(to, &r, &c));
        pe_store(to, y, pairs + pair, pe__product_of(to, &r, &s));
    }
}

void pe__apply_polar(const struct pe__slab *slab)
{
    struct polar polar = {.plan = slab->job->plan};
    pe__codes_init(&polar.codes, slab);
    for (size_t token = 0; token < slab->job->in->tokens; token++) {
        polar.phased = slab->job->is_key && polar.plan->constant_hi &&
                       pe__has_position(slab->positions, token);
        pe__codes_make(&polar.codes, token);
        for (size_t pair = 0; polar.phased && pair < polar.plan->pairs; pair++)
            add_phase(&polar, pair);
        pe__slab_rows(slab, token, 1, do_row, &polar);
    }
}
