// SPDX-License-Identifier: Apache-2.0
/*
 * angles.c: frequencies, wavelengths and angles of pairs, every number by MPFR and rounded once.
 * There are few of them; what is done for every token goes through cis.c instead.
 */
#include "kind.h"
#include "round.h"

/* ---- Frequencies -------------------------------------------------------------------------- */

enum quantity { INV_FREQ, BASE_INV_FREQ, WAVELENGTH, TURNS };

/* A quantity of a pair whose frequency is number `i` of the plan. */
struct request {
    const struct pe_plan *plan;
    enum quantity quantity;
    double context;
};

static void init_turn(mpfr_t turn, mpfr_prec_t bits)
{
    mpfr_init2(turn, bits);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
}

static void divide_by_turn(mpfr_t y)
{
    mpfr_t turn;
    init_turn(turn, mpfr_get_prec(y));
    mpfr_div(y, y, turn, MPFR_RNDN);
    mpfr_clear(turn);
}

static void quantity_exact(const void *context, size_t i, mpfr_t y)
{
    const struct request *request = context;
    const struct pe_spec *spec = &request->plan->spec;
    spec->kind->ops->frequency(spec, i, request->quantity != BASE_INV_FREQ, y);
    if (request->quantity == TURNS)
        mpfr_mul_d(y, y, request->context, MPFR_RNDN);
    if (request->quantity == TURNS || request->quantity == WAVELENGTH)
        divide_by_turn(y);
    if (request->quantity == WAVELENGTH)
        mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

/* 0: the scaling keeps the frequency; 2: it divides it. */
static int64_t band_of(const struct pe_plan *plan, size_t k)
{
    mpfr_t scaled;
    mpfr_t base;
    mpfr_inits2(128, scaled, base, (mpfr_ptr)NULL);
    plan->spec.kind->ops->frequency(&plan->spec, k, true, scaled);
    plan->spec.kind->ops->frequency(&plan->spec, k, false, base);
    int64_t band = mpfr_less_p(scaled, base) ? 2 : 0;
    mpfr_clears(scaled, base, (mpfr_ptr)NULL);
    return band;
}

void pe_frequencies(const struct pe_plan *plan, const struct pe_frequencies *out)
{
    void *columns[] = {
        [INV_FREQ] = out->inv_freq,
        [BASE_INV_FREQ] = out->base_inv_freq,
        [WAVELENGTH] = out->wavelength,
        [TURNS] = out->turns,
    };
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        size_t axis;
        size_t k;
        pe__pair_source(plan, pair, &axis, &k);
        for (enum quantity quantity = INV_FREQ; quantity <= TURNS; quantity++) {
            struct request request = {plan, quantity, out->context};
            if (columns[quantity])
                pe__round_exact(out->dtype, quantity_exact, &request, k, columns[quantity], pair);
        }
        if (out->band)
            out->band[pair] = band_of(plan, k);
    }
}

/* ---- Angles ------------------------------------------------------------------------------- */

struct angle {
    const struct pe_plan *plan;
    struct pe__pos at;
    enum pe_angle form;
};

/* direction * position * w_k in radians. */
static void radians_exact(const struct angle *angle, size_t k, mpfr_t y)
{
    const struct pe_plan *plan = angle->plan;
    mpfr_t position;
    mpfr_init2(position, mpfr_get_prec(y));
    mpfr_set_d(position, angle->at.hi, MPFR_RNDN);
    mpfr_add_d(position, position, angle->at.lo, MPFR_RNDN);
    mpfr_mul_d(position, position, plan->direction, MPFR_RNDN);
    plan->spec.kind->ops->frequency(&plan->spec, k, true, y);
    mpfr_mul(y, y, position, MPFR_RNDN);
    if (mpfr_zero_p(y))
        mpfr_set_zero(y, 1);
    mpfr_clear(position);
}

/* The angle's turns less the whole ones, of which there are at most 2^54. The fraction has lost as
 * many bits as it has zeros in front: more than the spare ones only show once it is computed. */
static void fraction_exact(const struct angle *angle, size_t k, mpfr_t y)
{
    const mpfr_exp_t spare = 64;
    mpfr_prec_t bits = mpfr_get_prec(y) + 64 + spare;
    mpfr_t turns;
    mpfr_t whole;
    mpfr_inits2(bits, turns, whole, (mpfr_ptr)NULL);
    for (;;) {
        radians_exact(angle, k, turns);
        divide_by_turn(turns);
        mpfr_floor(whole, turns);
        mpfr_sub(turns, turns, whole, MPFR_RNDN);
        if (mpfr_zero_p(whole) || (!mpfr_zero_p(turns) && mpfr_get_exp(turns) >= -spare))
            break;
        bits *= 2;
        mpfr_set_prec(turns, bits);
        mpfr_set_prec(whole, bits);
    }
    mpfr_set(y, turns, MPFR_RNDN);
    mpfr_clears(turns, whole, (mpfr_ptr)NULL);
}

static void angle_exact(const void *context, size_t k, mpfr_t y)
{
    const struct angle *angle = context;
    if (angle->form != PE_ANGLE_MOD) {
        radians_exact(angle, k, y);
        if (angle->form == PE_TURNS)
            divide_by_turn(y);
        return;
    }
    mpfr_t turn;
    init_turn(turn, mpfr_get_prec(y));
    fraction_exact(angle, k, y);
    mpfr_mul(y, y, turn, MPFR_RNDN);
    mpfr_clear(turn);
}

void pe_angles(const struct pe_plan *plan, const struct pe_positions *positions,
               const size_t *pairs, size_t pairs_n, enum pe_angle form, enum pe_dtype dtype,
               void *out)
{
    for (size_t token = 0; token < positions->n; token++)
        for (size_t j = 0; j < pairs_n; j++) {
            size_t axis;
            size_t k;
            pe__pair_source(plan, pairs[j], &axis, &k);
            struct angle angle = {plan, pe__plan_position(plan, positions->at[axis][token]), form};
            pe__round_exact(dtype, angle_exact, &angle, k, out, token * pairs_n + j);
        }
}
