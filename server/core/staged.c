// SPDX-License-Identifier: Apache-2.0
/*
 * staged.c: what a plan gives when a pipeline rounds on the way: frequencies, cos and sin, rows and
 * biases, each rounded where its stage is named. A rounded angle is a double, whose cos and sin
 * come from digit tables of the frequency 1, or, too small for their digits, from the first terms
 * of the series.
 */
#include "staged.h"

#include <math.h>
#include <string.h>

#include "dtype.h"
#include "operation.h"
#include "round.h"

static enum pe_dtype dtype_of(const struct pe_plan *plan, enum pe_stage stage)
{
    return plan->stages.dtype[stage];
}

static bool names(const struct pe_plan *plan, enum pe_stage stage)
{
    return pe__stage_named(&plan->stages, stage);
}

/* ---- Frequencies -------------------------------------------------------------------------- */

/* Of the scaled frequencies, or of those without scaling. */
struct frequencies {
    const struct pe_plan *plan;
    bool scaled;
};

void pe__plan_formula(const struct pe_plan *plan, size_t k, bool scaled, mpfr_t w)
{
    plan->spec.kind->ops->frequency(&plan->spec, plan->order ? plan->order[k] : k, scaled, w);
}

static void frequency_exact(const void *context, size_t k, mpfr_t w)
{
    const struct frequencies *frequencies = context;
    pe__plan_formula(frequencies->plan, k, frequencies->scaled, w);
}

void pe__plan_frequency(const struct pe_plan *plan, size_t k, bool scaled, mpfr_t w)
{
    struct frequencies frequencies = {plan, scaled};
    if (names(plan, PE_STAGE_FREQ))
        mpfr_set_d(
            w, pe__round_exact_f64(dtype_of(plan, PE_STAGE_FREQ), frequency_exact, &frequencies, k),
            MPFR_RNDN);
    else
        frequency_exact(&frequencies, k, w);
}

#define FREQUENCY_BITS 160

struct pe__ball pe__plan_frequency_ball(const struct pe_plan *plan, size_t k, bool scaled)
{
    mpfr_t w;
    mpfr_init2(w, FREQUENCY_BITS);
    pe__plan_frequency(plan, k, scaled, w);
    struct pe__ball ball = {.hi = mpfr_get_d(w, MPFR_RNDN)};
    ball.eps = names(plan, PE_STAGE_FREQ) ? 0 : fabs(ball.hi) * 0x1p-104;
    mpfr_sub_d(w, w, ball.hi, MPFR_RNDN);
    ball.lo = mpfr_get_d(w, MPFR_RNDN);
    mpfr_clear(w);
    return ball;
}

/* ---- Angles ------------------------------------------------------------------------------- */

static void turns_to_radians(const struct pe_plan *plan, mpfr_t y)
{
    if (plan->unit != PE__TURNS)
        return;
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(y));
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(y, y, pi, MPFR_RNDN);
    mpfr_mul_2ui(y, y, 1, MPFR_RNDN);
    mpfr_clear(pi);
}

/* What angle k is a multiple of: the coordinate, or its running product, which lacks the scaling.
 */
static void speed(const void *context, size_t k, mpfr_t w)
{
    const struct pe_plan *plan = context;
    pe__plan_frequency(plan, k, true, w);
    turns_to_radians(plan, w);
    if (!plan->running)
        return;
    mpfr_t base;
    mpfr_init2(base, mpfr_get_prec(w));
    pe__plan_formula(plan, k, false, base);
    mpfr_div(w, w, base, MPFR_RNDN);
    mpfr_clear(base);
}

struct pe__ball pe__plan_speed_ball(const struct pe_plan *plan, size_t k)
{
    struct pe__ball w = pe__plan_frequency_ball(plan, k, true);
    if (plan->running)
        return pe__ball_div(w, pe__plan_frequency_ball(plan, k, false));
    return plan->unit == PE__TURNS ? pe__ball_mul(w, pe__ball_turn()) : w;
}

void pe__plan_angle(const struct pe__coordinate *coordinate, size_t k, mpfr_t y)
{
    mpfr_t factor;
    mpfr_init2(factor, mpfr_get_prec(y));
    pe__coordinate_exact(coordinate, 0, factor);
    pe__plan_frequency(coordinate->plan, k, true, y);
    mpfr_mul(y, y, factor, MPFR_RNDN);
    mpfr_clear(factor);
}

/* Frequency k times what stands in `factor`. */
static double rounded_angle(const struct pe_plan *plan, const struct pe__operand *factor, size_t k)
{
    struct pe__operand w = {plan->w[k], speed, plan, k};
    return pe__product_of(dtype_of(plan, PE_STAGE_ANGLE), factor, &w) + 0; /* an exact 0 is +0 */
}

static struct pe__operand factor_of(const struct pe__coordinate *coordinate)
{
    return (struct pe__operand){pe__coordinate_ball(coordinate), pe__coordinate_exact, coordinate,
                                0};
}

/* A running product on its way. */
struct chain {
    double angle;
    struct pe__running done;
};

/* What `speed` multiplies: the coordinate, or with a chain that starts from it the running product
 * at frequency k, which has f32 for each step. */
static struct pe__operand multiplied(const struct pe_plan *plan, const struct pe__operand *factor,
                                     size_t k, struct chain *chain)
{
    if (!plan->running)
        return *factor;
    struct pe__running to = plan->running[k];
    if (to.factor != chain->done.factor || to.steps < chain->done.steps) {
        if (!pe__ball_round_f64(factor->ball, PE_F32, &chain->angle))
            chain->angle = pe__round_exact_f64(PE_F32, factor->exact, factor->context, factor->i);
        chain->done = (struct pe__running){0, to.factor};
    }
    for (; chain->done.steps < to.steps; chain->done.steps++)
        chain->angle = pe__product(PE_F32, chain->angle, to.factor);
    return pe__operand_of(chain->angle);
}

double pe__staged_angle(const struct pe__coordinate *coordinate, size_t k)
{
    struct chain chain = {0};
    struct pe__operand factor = factor_of(coordinate);
    struct pe__operand angle = multiplied(coordinate->plan, &factor, k, &chain);
    return rounded_angle(coordinate->plan, &angle, k);
}

/* ---- Cos and sin of an angle -------------------------------------------------------------- */

/* A double from here on is a multiple of 2^-66, the tables' last digit. */
#define SMALL_MAX 0x1p-13
#define SMALL_EPS 0x1p-102

/* cos a = 1 - z/2 + z^2/24 - z^3/720 + .., z = a^2 < 2^-26. The next term is below 2^-119, those in
 * plain double are off by less than 2^-109. */
static struct pe__dd cos_small(double a)
{
    struct pe__dd z = pe__two_prod(a, a);
    double rest = z.hi * z.hi * (1.0 / 24 - z.hi / 720);
    struct pe__dd sum = pe__dd_add((struct pe__dd){1, 0}, (struct pe__dd){-z.hi / 2, -z.lo / 2});
    return pe__dd_add(sum, (struct pe__dd){rest, 0});
}

/* sin a = a - a t, t = z/6 (1 - z/20 (1 - z/42 ..)) < 2^-28. What t lacks is below 2^-82 of it. */
static struct pe__dd sin_small(double a)
{
    const struct pe__dd sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
    struct pe__dd z = pe__two_prod(a, a);
    double inner = z.hi / 20 * (1 - z.hi / 42);
    struct pe__dd t = pe__dd_mul(pe__dd_mul(z, sixth), pe__fast_two_sum(1, -inner));
    struct pe__dd at = pe__dd_mul_d(t, a);
    return pe__dd_add((struct pe__dd){a, 0}, (struct pe__dd){-at.hi, -at.lo});
}

static void set_lane(struct pe__planes *out, size_t j, struct pe__dd c, struct pe__dd s)
{
    out->cos_hi[j] = c.hi;
    out->cos_lo[j] = c.lo;
    out->sin_hi[j] = s.hi;
    out->sin_lo[j] = s.lo;
}

/* Lanes that the tables do not reach: small angles, and infinite ones. */
static void fill_rest(size_t n, const double *angles, struct pe__planes *out)
{
    const struct pe__dd none = {__builtin_nan(""), 0};
    for (size_t j = 0; j < n; j++) {
        if (!isfinite(angles[j]))
            set_lane(out, j, none, none);
        else if (angles[j] != 0 && fabs(angles[j]) < SMALL_MAX)
            set_lane(out, j, cos_small(angles[j]), sin_small(angles[j]));
    }
}

double pe__staged_cis_row(const struct pe__coordinate *coordinate, size_t first, size_t n,
                          struct pe__planes *out)
{
    const struct pe_plan *plan = coordinate->plan;
    struct pe__operand factor = factor_of(coordinate);
    struct chain chain = {0};
    double angles[PE__BLOCK] = {0};
    double tabled[PE__BLOCK] = {0}; /* only what the tables reach */
    for (size_t j = 0; j < n; j++) {
        struct pe__operand angle = multiplied(plan, &factor, first + j, &chain);
        angles[j] = rounded_angle(plan, &angle, first + j);
        bool is_tabled = isfinite(angles[j]) && fabs(angles[j]) >= SMALL_MAX;
        tabled[j] = is_tabled ? angles[j] : 0;
    }
    double eps = pe__cis_angles(plan->cis, n, tabled, out);
    fill_rest(n, angles, out);
    return factor.ball.hi == 0 ? 0 : fmax(eps, SMALL_EPS);
}

void pe__staged_cis_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c, mpfr_ptr s)
{
    double angle = pe__staged_angle(coordinate, k);
    if (isfinite(angle) && angle != 0) {
        pe__cis_exact(coordinate->plan->cis, (struct pe__pos){angle, 0}, 0, c, s);
        return;
    }
    if (c)
        mpfr_set_d(c, angle == 0 ? 1 : __builtin_nan(""), MPFR_RNDN);
    if (s)
        mpfr_set_d(s, angle == 0 ? 0 : __builtin_nan(""), MPFR_RNDN);
}

/* ---- Values ------------------------------------------------------------------------------- */

/* A block of elements of any floating dtype. */
union cells {
    double f64[PE__BLOCK];
    float f32[PE__BLOCK];
    uint16_t f16[PE__BLOCK], bf16[PE__BLOCK];
};

void pe__staged_values(const struct pe_plan *plan, pe__exact_fn *exact, const void *context,
                       size_t first, size_t n, double eps, double *hi, double *lo)
{
    enum pe_dtype dtype = dtype_of(plan, PE_STAGE_TABLE);
    union cells cells;
    uint16_t bad[PE__BLOCK];
    for (size_t start = 0; start < n; start += PE__BLOCK) {
        size_t some = n - start < PE__BLOCK ? n - start : PE__BLOCK;
        size_t bad_n = pe__round_row(dtype, some, hi + start, lo + start, eps, &cells, 1, bad);
        for (size_t i = 0; i < bad_n; i++)
            pe__round_exact(dtype, exact, context, first + start + bad[i], &cells, bad[i]);
        pe__load_row(dtype, &cells, 0, some, hi + start);
        memset(lo + start, 0, some * sizeof *lo);
    }
}

/* A row of a kind without frequencies. */
struct row {
    const struct pe_plan *plan;
    struct pe__pos position;
};

static void row_exact(const void *context, size_t channel, mpfr_t y)
{
    const struct row *row = context;
    const struct pe__kind_ops *ops = row->plan->spec.kind->ops;
    if (ops->row_exact) {
        ops->row_exact(row->plan, row->position, channel, y);
        return;
    }
    double hi;
    double lo;
    ops->row(row->plan, row->position, channel, 1, &hi, &lo);
    mpfr_set_d(y, hi, MPFR_RNDN);
    mpfr_add_d(y, y, lo, MPFR_RNDN);
}

double pe__plan_row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                    double *hi, double *lo)
{
    if (pe__is_padding(plan, position)) {
        memset(hi, 0, n * sizeof *hi);
        memset(lo, 0, n * sizeof *lo);
        return 0;
    }
    double eps = plan->spec.kind->ops->row(plan, position, first, n, hi, lo);
    if (!names(plan, PE_STAGE_TABLE))
        return eps;
    struct row row = {plan, position};
    pe__staged_values(plan, row_exact, &row, first, n, eps, hi, lo);
    return 0;
}

void pe__plan_row_exact(const struct pe_plan *plan, struct pe__pos position, size_t channel,
                        mpfr_t y)
{
    struct row row = {plan, position};
    if (pe__is_padding(plan, position))
        mpfr_set_zero(y, 1);
    else if (names(plan, PE_STAGE_TABLE))
        mpfr_set_d(y, pe__round_exact_f64(dtype_of(plan, PE_STAGE_TABLE), row_exact, &row, channel),
                   MPFR_RNDN);
    else
        row_exact(&row, channel, y);
}

/* ---- Biases ------------------------------------------------------------------------------- */

struct bias {
    const struct pe_plan *plan;
    struct pe__bias_at at; /* after the pos stage */
};

static struct bias bias_at(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct bias bias = {plan, *at};
    bias.at.query = pe_stages_position(&plan->stages, at->query);
    bias.at.key = pe_stages_position(&plan->stages, at->key);
    bias.at.last = pe_stages_position(&plan->stages, at->last);
    return bias;
}

static void bias_exact(const void *context, size_t i, mpfr_t y)
{
    const struct bias *bias = context;
    (void)i;
    bias->plan->spec.kind->ops->bias_exact(bias->plan, &bias->at, y);
}

struct pe__ball pe__plan_bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct bias bias = bias_at(plan, at);
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    struct pe__ball ball =
        ops->bias ? ops->bias(plan, &bias.at) : pe__ball_from(bias_exact, &bias, 0);
    for (enum pe_stage stage = PE_STAGE_ANGLE; stage <= PE_STAGE_TABLE; stage++) {
        double rounded;
        if (!names(plan, stage))
            continue;
        if (!pe__ball_round_f64(ball, dtype_of(plan, stage), &rounded))
            rounded = pe__round_exact_f64(dtype_of(plan, stage), bias_exact, &bias, 0);
        ball = pe__ball_exact(rounded);
    }
    return ball;
}

void pe__plan_bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    struct bias bias = bias_at(plan, at);
    if (names(plan, PE_STAGE_ANGLE) || names(plan, PE_STAGE_TABLE))
        mpfr_set_d(y, pe__plan_bias(plan, at).hi, MPFR_RNDN);
    else
        bias_exact(&bias, 0, y);
}
