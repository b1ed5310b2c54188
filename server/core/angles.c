// SPDX-License-Identifier: Apache-2.0
/*
 * angles.c: frequencies, wavelengths and angles of pairs, rounded once. Each frequency comes from
 * MPFR as a ball (ball.h), the rest are products and quotients of those; where they leave a doubt
 * everything is done by MPFR.
 */
#include <math.h>
#include <string.h>

#include "angles.h"
#include "ball.h"
#include "round.h"
#include "scalings.h"
#include "staged.h"

#define BAND_BITS 128 /* of frequencies that are compared */

/* ---- What both are made of ---------------------------------------------------------------- */

static void set_turn(mpfr_t turn)
{
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
}

static void divide_by_turn(mpfr_t y)
{
    mpfr_t turn;
    mpfr_init2(turn, mpfr_get_prec(y));
    set_turn(turn);
    mpfr_div(y, y, turn, MPFR_RNDN);
    mpfr_clear(turn);
}

static void multiply_by_turn(mpfr_t y)
{
    mpfr_t turn;
    mpfr_init2(turn, mpfr_get_prec(y));
    set_turn(turn);
    mpfr_mul(y, y, turn, MPFR_RNDN);
    mpfr_clear(turn);
}

/* ---- Frequencies -------------------------------------------------------------------------- */

enum quantity { INV_FREQ, BASE_INV_FREQ, WAVELENGTH, TURNS };

/* A quantity of a pair whose frequency is number `i` of the plan. */
struct request {
    const struct pe_plan *plan;
    enum quantity quantity;
    double context;
};

static void quantity_exact(const void *context, size_t i, mpfr_t y)
{
    const struct request *request = context;
    pe__plan_frequency(request->plan, i, request->quantity != BASE_INV_FREQ, y);
    if (request->quantity == TURNS || request->quantity == WAVELENGTH)
        mpfr_abs(y, y, MPFR_RNDN);
    if (request->quantity == TURNS)
        mpfr_mul_d(y, y, request->context, MPFR_RNDN);
    if ((request->quantity == TURNS || request->quantity == WAVELENGTH) &&
        request->plan->unit == PE__RADIANS)
        divide_by_turn(y);
    if (request->quantity == WAVELENGTH)
        mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

/* The two frequencies of a pair. */
struct frequencies {
    struct pe__ball scaled, base;
};

static struct pe__ball absolute(struct pe__ball w)
{
    return w.hi < 0 ? (struct pe__ball){-w.hi, -w.lo, w.eps} : w;
}

static struct pe__ball quantity_ball(const struct frequencies *w, const struct request *request)
{
    bool radians = request->plan->unit == PE__RADIANS;
    struct pe__ball turn = radians ? pe__ball_turn() : pe__ball_exact(1);
    switch (request->quantity) {
    case BASE_INV_FREQ:
        return w->base;
    case WAVELENGTH:
        return pe__ball_div(turn, absolute(w->scaled));
    case TURNS:
        return pe__ball_div(pe__ball_mul(absolute(w->scaled), pe__ball_exact(request->context)),
                            turn);
    case INV_FREQ:
    default:
        return w->scaled;
    }
}

/* Whether two frequencies are the same number, as far as more than doubles can tell. */
static bool same(mpfr_t a, mpfr_t b)
{
    return mpfr_eq(a, b, BAND_BITS / 2) != 0;
}

/* 0: the scaling keeps the frequency; 2: it divides it by its factor, or nothing is left of it; 1:
 * anything between. */
static int64_t band_of(const struct pe_plan *plan, size_t k)
{
    const struct pe_params *params = &plan->spec.params;
    int factor = pe_params_find(params, "factor", 6);
    MPFR_DECL_INIT(scaled, BAND_BITS);
    MPFR_DECL_INIT(base, BAND_BITS);
    pe__plan_formula(plan, k, true, scaled);
    pe__plan_formula(plan, k, false, base);
    if (same(scaled, base))
        return 0;
    if (mpfr_zero_p(scaled))
        return 2;
    if (factor < 0 || !params->value[factor].set)
        return 1;
    mpfr_div_d(base, base, params->value[factor].number, MPFR_RNDN);
    return same(scaled, base) ? 2 : 1;
}

static void frequencies_of_pair(const struct pe_plan *plan, const struct pe_frequencies *out,
                                size_t pair)
{
    void *const columns[] = {
        [INV_FREQ] = out->inv_freq,
        [BASE_INV_FREQ] = out->base_inv_freq,
        [WAVELENGTH] = out->wavelength,
        [TURNS] = out->turns,
    };
    size_t k = pe__pair_source(plan, pair).k;
    struct frequencies w = {pe__plan_frequency_ball(plan, k, true),
                            pe__plan_frequency_ball(plan, k, false)};
    for (enum quantity quantity = INV_FREQ; quantity <= TURNS; quantity++) {
        struct request request = {plan, quantity, out->context};
        void *column = columns[quantity];
        if (column && !pe__ball_round(quantity_ball(&w, &request), out->dtype, column, pair))
            pe__round_exact(out->dtype, quantity_exact, &request, k, column, pair);
    }
    if (out->band)
        out->band[pair] = band_of(plan, k);
}

void pe_frequencies(const struct pe_plan *plan, const struct pe_frequencies *out)
{
    for (size_t pair = 0; pair < plan->pairs; pair++)
        frequencies_of_pair(plan, out, pair);
}

/* ---- Angles ------------------------------------------------------------------------------- */

/* Whether angles come in turns: a rounded one is in radians. */
static bool is_in_turns(const struct pe_plan *plan)
{
    return plan->unit == PE__TURNS && !plan->w;
}

/* direction * position * w_k, rounded if that stage is named. */
static void product_exact(const struct pe__angle *angle, size_t k, mpfr_t y)
{
    if (angle->plan->w)
        mpfr_set_d(y, pe__staged_angle(&angle->coordinate, k), MPFR_RNDN);
    else
        pe__plan_angle(&angle->coordinate, k, y);
    if (angle->plan->direction < 0)
        mpfr_neg(y, y, MPFR_RNDN);
    if (mpfr_zero_p(y))
        mpfr_set_zero(y, 1);
}

static void turns_exact(const struct pe__angle *angle, size_t k, mpfr_t y)
{
    product_exact(angle, k, y);
    if (!is_in_turns(angle->plan))
        divide_by_turn(y);
}

#define WHOLE_BITS 4096 /* a distance from whole turns that takes more is noise: they are whole */

static bool is_below(mpfr_srcptr x, mpfr_exp_t exponent)
{
    return mpfr_zero_p(x) || mpfr_get_exp(x) < exponent;
}

/* The angle's turns less the whole ones, of which there are at most 2^54. The fraction has lost as
 * many bits as it, or what it lacks to 1, has zeros in front: more than the spare ones only show
 * once it is computed. */
static void fraction_exact(const struct pe__angle *angle, size_t k, mpfr_t y)
{
    const mpfr_exp_t spare = 64;
    mpfr_prec_t bits = mpfr_get_prec(y) + 64 + spare;
    mpfr_t turns;
    mpfr_t whole;
    mpfr_inits2(bits, turns, whole, (mpfr_ptr)NULL);
    for (;;) {
        turns_exact(angle, k, turns);
        bool has_lost_none = !mpfr_number_p(turns) /* of an infinite angle */ || is_below(turns, 0);
        mpfr_floor(whole, turns);
        mpfr_sub(turns, turns, whole, MPFR_RNDN);
        mpfr_ui_sub(whole, 1, turns, MPFR_RNDN);
        if (has_lost_none || !(is_below(turns, -spare) || is_below(whole, -spare)))
            break;
        if (bits > WHOLE_BITS) {
            mpfr_set_zero(turns, 1);
            break;
        }
        bits *= 2;
        mpfr_set_prec(turns, bits);
        mpfr_set_prec(whole, bits);
    }
    mpfr_set(y, turns, MPFR_RNDN);
    mpfr_clears(turns, whole, (mpfr_ptr)NULL);
}

void pe__angle_exact(const void *context, size_t k, mpfr_t y)
{
    const struct pe__angle *angle = context;
    switch (angle->form) {
    case PE_TURNS:
        turns_exact(angle, k, y);
        break;
    case PE_ANGLE_MOD:
        fraction_exact(angle, k, y);
        multiply_by_turn(y);
        break;
    case PE_ANGLE:
    default:
        product_exact(angle, k, y);
        if (is_in_turns(angle->plan))
            multiply_by_turn(y);
    }
}

/* Reduces turns to [0, 1); unknown where the ball holds a whole number. */
static struct pe__ball fraction_ball(struct pe__ball turns)
{
    if (turns.hi == 0 && turns.eps == 0)
        return turns;
    struct pe__ball fraction = pe__ball_add(turns, pe__ball_exact(-floor(turns.hi)));
    if (!(fraction.hi > fraction.eps))
        fraction.eps = INFINITY;
    return fraction;
}

static struct pe__ball product_ball(const struct pe__angle *angle, size_t k, struct pe__ball w)
{
    double direction = angle->plan->direction;
    struct pe__ball factor = pe__coordinate_ball(&angle->coordinate);
    factor.hi *= direction;
    factor.lo *= direction;
    if (!angle->plan->w)
        return pe__ball_mul(w, factor);
    return pe__ball_exact(direction * pe__staged_angle(&angle->coordinate, k) + 0);
}

struct pe__ball pe__angle_ball(const struct pe__angle *angle, size_t k, struct pe__ball w)
{
    struct pe__ball product = product_ball(angle, k, w);
    bool in_turns = is_in_turns(angle->plan);
    if (angle->form == PE_ANGLE)
        return in_turns ? pe__ball_mul(product, pe__ball_turn()) : product;
    struct pe__ball turns = in_turns ? product : pe__ball_div(product, pe__ball_turn());
    return angle->form == PE_TURNS ? turns : pe__ball_mul(fraction_ball(turns), pe__ball_turn());
}

void pe_angles(const struct pe_plan *plan, const struct pe_positions *positions,
               const size_t *pairs, size_t pairs_n, enum pe_angle form, enum pe_dtype dtype,
               void *out)
{
    for (size_t j = 0; j < pairs_n; j++) {
        struct pe__source source = pe__pair_source(plan, pairs[j]);
        struct pe__ball w = pe__plan_frequency_ball(plan, source.k, true);
        for (size_t token = 0; token < positions->n; token++) {
            size_t i = token * pairs_n + j;
            struct pe__pos at[PE_AXES_MAX] = {{0, 0}};
            struct pe__angle angle = {plan, {plan, at, source.axis}, form};
            for (size_t axis = 0; axis < plan->axes; axis++)
                at[axis] = pe__plan_position(plan, positions->at[axis][token]);
            if (isnan(at[0].hi)) { /* no position: the angle 0 */
                pe_store(dtype, out, i, 0);
                continue;
            }
            struct pe__ball ball = pe__angle_ball(&angle, source.k, w);
            if (!pe__ball_round(ball, dtype, out, i))
                pe__round_exact(dtype, pe__angle_exact, &angle, source.k, out, i);
        }
    }
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* A position, divided. */
struct used {
    struct pe__pos at;
    double divisor;
};

static void used_exact(const void *context, size_t i, mpfr_t y)
{
    const struct used *used = context;
    (void)i;
    mpfr_set_d(y, used->at.hi, MPFR_RNDN);
    mpfr_add_d(y, y, used->at.lo, MPFR_RNDN);
    mpfr_div_d(y, y, used->divisor, MPFR_RNDN);
}

/* What scaling=linear divides by, 1 without it. */
static double divisor_of(const struct pe_spec *spec)
{
    bool scales = pe_params_find(&spec->params, "scaling", strlen("scaling")) >= 0;
    bool linear = scales && pe__scaling_of(spec) == &pe__scaling_linear;
    return linear ? pe_spec_number(spec, "factor") : 1;
}

void pe_positions_used(const struct pe_plan *plan, const double *at, size_t n, double *out)
{
    struct used used = {.divisor = divisor_of(&plan->spec)};
    for (size_t i = 0; i < n; i++) {
        used.at = pe__plan_position(plan, at[i]);
        if (used.at.lo == 0)
            out[i] = used.at.hi / used.divisor;
        else
            pe__round_exact(PE_F64, used_exact, &used, 0, out, i);
    }
}
