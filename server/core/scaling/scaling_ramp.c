// SPDX-License-Identifier: Apache-2.0
/*
 * scaling_ramp.c: scalings that keep the fast pairs, divide the slow ones and go from one to the
 * other over a ramp of pairs: YaRN (arXiv:2309.00071) and its precursor NTK-by-parts
 * (jquesnelle/yarn).
 */
#include "params.h"
#include "scalings.h"

static double number(const struct pe__series *series, const char *name)
{
    return pe_spec_number(series->spec, name);
}

/* The pair, as a real number, that makes `turns` turns in original_max positions:
 * r ln(L / (2 pi turns)) / (2 ln b). */
static void pair_of_turns(const struct pe__series *series, double turns, mpfr_t pair)
{
    mpfr_t base;
    mpfr_init2(base, mpfr_get_prec(pair));
    mpfr_const_pi(base, MPFR_RNDN);
    mpfr_mul_2ui(base, base, 1, MPFR_RNDN);
    mpfr_mul_d(base, base, turns, MPFR_RNDN);
    mpfr_d_div(pair, number(series, "original_max"), base, MPFR_RNDN);
    mpfr_log(pair, pair, MPFR_RNDN);
    mpfr_mul_ui(pair, pair, series->width, MPFR_RNDN);
    pe__series_base(series, base);
    mpfr_log(base, base, MPFR_RNDN);
    mpfr_mul_2ui(base, base, 1, MPFR_RNDN);
    mpfr_div(pair, pair, base, MPFR_RNDN);
    mpfr_clear(base);
}

/* Where a ramp begins and ends: between the pairs of these turns, or the whole pairs around them,
 * but not outside 0 .. last. */
struct ramp {
    double turns_first, turns_last;
    bool whole;
    size_t last;
};

/* ramp = (k - low) / (high - low), not below 0 or above 1. */
static void ramp_at(const struct pe__series *series, const struct ramp *shape, size_t k,
                    mpfr_t ramp)
{
    mpfr_t low, high, milli;
    mpfr_inits2(mpfr_get_prec(ramp), low, high, milli, (mpfr_ptr)NULL);
    pair_of_turns(series, shape->turns_first, low);
    pair_of_turns(series, shape->turns_last, high);
    if (shape->whole) {
        mpfr_floor(low, low);
        mpfr_ceil(high, high);
    }
    if (mpfr_sgn(low) < 0)
        mpfr_set_zero(low, 1);
    if (mpfr_cmp_ui(high, shape->last) > 0)
        mpfr_set_ui(high, shape->last, MPFR_RNDN);
    if (mpfr_equal_p(low, high)) { /* as the libraries avoid the division by zero */
        mpfr_set_ui(milli, 1, MPFR_RNDN);
        mpfr_div_ui(milli, milli, 1000, MPFR_RNDN);
        mpfr_add(high, high, milli, MPFR_RNDN);
    }
    mpfr_sub(high, high, low, MPFR_RNDN);
    mpfr_ui_sub(ramp, k, low, MPFR_RNDN);
    mpfr_div(ramp, ramp, high, MPFR_RNDN);
    if (mpfr_sgn(ramp) < 0)
        mpfr_set_zero(ramp, 1);
    if (mpfr_cmp_ui(ramp, 1) > 0)
        mpfr_set_ui(ramp, 1, MPFR_RNDN);
    mpfr_clears(low, high, milli, (mpfr_ptr)NULL);
}

/* mask = (1 - ramp) * share. */
static void mask_at(const struct pe__series *series, const struct ramp *shape, double share,
                    size_t k, mpfr_t mask)
{
    ramp_at(series, shape, k, mask);
    mpfr_ui_sub(mask, 1, mask, MPFR_RNDN);
    mpfr_mul_d(mask, mask, share, MPFR_RNDN);
}

/* a = a * (1 - mask) + b * mask. */
static void blend(mpfr_t a, mpfr_t b, mpfr_t mask)
{
    mpfr_t part;
    mpfr_init2(part, mpfr_get_prec(a));
    mpfr_mul(part, b, mask, MPFR_RNDN);
    mpfr_ui_sub(mask, 1, mask, MPFR_RNDN);
    mpfr_mul(a, a, mask, MPFR_RNDN);
    mpfr_add(a, a, part, MPFR_RNDN);
    mpfr_clear(part);
}

/* ---- yarn --------------------------------------------------------------------------------- */

static bool yarn_check(struct pe_spec *spec, const struct pe__series *series,
                       struct pe_faults *faults)
{
    (void)series;
    const struct pe_value *fast = pe__params_value(&spec->params, "beta_fast");
    const struct pe_value *slow = pe__params_value(&spec->params, "beta_slow");
    if (!fast->set || !slow->set || fast->number >= slow->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "beta_fast", NULL,
                        "beta_fast must be at least beta_slow (%g), got %g", slow->number,
                        fast->number);
}

static void yarn(const struct pe__series *series, size_t k, mpfr_t w)
{
    bool pairs = number(series, "yarn_clamp") != 0;
    const struct ramp shape = {
        .turns_first = number(series, "beta_fast"),
        .turns_last = number(series, "beta_slow"),
        .whole = number(series, "truncate") != 0,
        .last = (pairs ? series->n : series->width) - 1,
    };
    mpfr_t mask, kept;
    mpfr_inits2(mpfr_get_prec(w), mask, kept, (mpfr_ptr)NULL);
    mask_at(series, &shape, number(series, "extrapolation_factor"), k, mask);
    mpfr_set(kept, w, MPFR_RNDN);
    mpfr_div_d(w, w, number(series, "factor"), MPFR_RNDN);
    blend(w, kept, mask);
    mpfr_clears(mask, kept, (mpfr_ptr)NULL);
}

/* m = coefficient * weight * ln(factor) + 1. The default coefficient is the decimal number 0.1, not
 * the double next to it. */
static void magnitude(const struct pe__series *series, double weight, mpfr_t m)
{
    double coefficient = number(series, "mscale_coefficient");
    mpfr_set_d(m, number(series, "factor"), MPFR_RNDN);
    mpfr_log(m, m, MPFR_RNDN);
    mpfr_mul_d(m, m, weight, MPFR_RNDN);
    if (coefficient == 0.1)
        mpfr_div_ui(m, m, 10, MPFR_RNDN);
    else
        mpfr_mul_d(m, m, coefficient, MPFR_RNDN);
    mpfr_add_ui(m, m, 1, MPFR_RNDN);
}

static void yarn_attention(const struct pe__series *series, mpfr_t factor)
{
    double above = number(series, "mscale"), below = number(series, "mscale_all_dim");
    bool ratio = above != 0 && below != 0;
    mpfr_t divisor;
    mpfr_init2(divisor, mpfr_get_prec(factor));
    magnitude(series, ratio ? above : 1, factor);
    magnitude(series, ratio ? below : 0, divisor);
    mpfr_div(factor, factor, divisor, MPFR_RNDN);
    mpfr_clear(divisor);
}

static void yarn_mscale(const struct pe__series *series, mpfr_t term)
{
    magnitude(series, number(series, "mscale"), term);
}

/* DeepSeek: the square of what mscale_all_dim takes from cos and sin; 1 without it. */
static void yarn_softmax(const struct pe__series *series, mpfr_t factor)
{
    magnitude(series, number(series, "mscale_all_dim"), factor);
    mpfr_sqr(factor, factor, MPFR_RNDN);
}

const struct pe__scaling pe__scaling_yarn = {.name = "yarn",
                                             .has_factor = true,
                                             .check = yarn_check,
                                             .frequency = yarn,
                                             .attention = yarn_attention,
                                             .softmax = yarn_softmax,
                                             .mscale = yarn_mscale};

/* ---- ntk_by_parts ------------------------------------------------------------------------- */

static void ntk_by_parts(const struct pe__series *series, size_t k, mpfr_t w)
{
    const struct ramp slow = {1.25, 0.75, true, series->width - 1};
    const struct ramp fast = {16, 2, true, series->width - 1};
    mpfr_t mask, kept, rebased;
    mpfr_inits2(mpfr_get_prec(w), mask, kept, rebased, (mpfr_ptr)NULL);
    mpfr_set(kept, w, MPFR_RNDN);
    mpfr_set(rebased, w, MPFR_RNDN);
    pe__scaling_ntk.frequency(series, k, rebased);
    mpfr_div_d(w, w, number(series, "factor"), MPFR_RNDN);
    mask_at(series, &slow, number(series, "ntk_factor"), k, mask);
    blend(w, rebased, mask);
    mask_at(series, &fast, number(series, "extrapolation_factor"), k, mask);
    blend(w, kept, mask);
    mpfr_clears(mask, kept, rebased, (mpfr_ptr)NULL);
}

static bool ntk_by_parts_check(struct pe_spec *spec, const struct pe__series *series,
                               struct pe_faults *faults)
{
    return pe__scaling_ntk.check(spec, series, faults);
}

const struct pe__scaling pe__scaling_ntk_by_parts = {.name = "ntk_by_parts",
                                                     .has_factor = true,
                                                     .check = ntk_by_parts_check,
                                                     .frequency = ntk_by_parts};
