// SPDX-License-Identifier: Apache-2.0
/*
 * scaling_base.c: scalings that divide every frequency, or come from another base. A base b*g^(r/(r
 * - 2)) divides frequency k by g^(2k/(r - 2)): the first one stays, the last one is divided by g.
 */
#include "frequency.h"
#include "params.h"
#include "scalings.h"

static double number(const struct pe__series *series, const char *name)
{
    return pe_spec_number(series->spec, name);
}

/* w /= stretch^exponent. */
static void divide_by_power(mpfr_t stretch, mpfr_t exponent, mpfr_t w)
{
    mpfr_pow(stretch, stretch, exponent, MPFR_RNDN);
    mpfr_div(w, w, stretch, MPFR_RNDN);
}

/* The same for a quotient of integers; `stretch` is destroyed. */
static void divide_by_ratio_power(mpfr_t stretch, size_t numerator, size_t denominator, mpfr_t w)
{
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(w));
    mpfr_set_ui(exponent, numerator, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, denominator, MPFR_RNDN);
    divide_by_power(stretch, exponent, w);
    mpfr_clear(exponent);
}

/* ---- linear ------------------------------------------------------------------------------- */

static void linear(const struct pe__series *series, size_t k, mpfr_t w)
{
    (void)k;
    mpfr_div_d(w, w, number(series, "factor"), MPFR_RNDN);
}

const struct pe__scaling pe__scaling_linear = {
    .name = "linear", .has_factor = true, .frequency = linear};

/* ---- proportional ------------------------------------------------------------------------- */

/* The pairs span the whole vector, and those past kept_pairs, which is the kind's, do not turn. */
static bool proportional_check(struct pe_spec *spec, const struct pe__series *series,
                               struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    const struct pe_value *dim = pe__params_value(params, "dim");
    const struct pe_value *rotary_dim = pe__params_value(params, "rotary_dim");
    (void)series;
    if (!pe__params_value(params, "kept_pairs"))
        return pe_fault_add(faults, PE_INVALID_VALUE, "scaling", "kind=rope has it",
                            "scaling=proportional is for kinds of one position axis, not for %s",
                            spec->kind->name);
    if (!pe__params_value(params, "factor")->given)
        pe__params_derive(params, "factor", 1);
    if (!dim->set || !rotary_dim->set || dim->number == rotary_dim->number)
        return true;
    return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "rotary_dim",
                        "say how many pairs turn with kept_pairs",
                        "with scaling=proportional pairs span the whole vector, so that rotary_dim "
                        "must be dim (%.0f), got %.0f",
                        dim->number, rotary_dim->number);
}

const struct pe__scaling pe__scaling_proportional = {
    .name = "proportional", .check = proportional_check, .frequency = linear};

/* ---- By another base ---------------------------------------------------------------------- */

/* With two channels r - 2 is zero. */
static bool check_width(struct pe_spec *spec, const struct pe__series *series,
                        struct pe_faults *faults)
{
    if (series->width != 2)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "scaling", NULL,
                        "scaling=%s needs more than two rotated channels",
                        pe__scaling_of(spec)->name);
}

/* ntk: g = factor. */
static void ntk_stretch(const struct pe__series *series, mpfr_t g)
{
    mpfr_set_d(g, number(series, "factor"), MPFR_RNDN);
}

/* dynamic: g = factor * S / M - (factor - 1), S = max(context, M). */
static void dynamic_stretch(const struct pe__series *series, mpfr_t g)
{
    double factor = number(series, "factor"), most = number(series, "original_max");
    double context = number(series, "context");
    mpfr_set_d(g, factor, MPFR_RNDN);
    mpfr_mul_d(g, g, context > most ? context : most, MPFR_RNDN);
    mpfr_div_d(g, g, most, MPFR_RNDN);
    mpfr_sub_d(g, g, factor, MPFR_RNDN);
    mpfr_add_ui(g, g, 1, MPFR_RNDN);
}

/* dynamic_step (first Qwen): g = max(2^(ceil(log2(S / L)) + 1) - 1, 1), a step at every doubling.
 */
static void step_stretch(const struct pe__series *series, mpfr_t g)
{
    double original = number(series, "original_max"), context = number(series, "context");
    double step = 1; /* the power of two that reaches the context */
    while (original * step < context)
        step *= 2;
    mpfr_set_d(g, step > 1 ? 2 * step - 1 : 1, MPFR_RNDN);
}

typedef void stretch_rule(const struct pe__series *series, mpfr_t g);

static void rebase(const struct pe__series *series, stretch_rule *stretch, size_t k, mpfr_t w)
{
    mpfr_t g;
    mpfr_init2(g, mpfr_get_prec(w));
    stretch(series, g);
    divide_by_ratio_power(g, 2 * k, series->width - 2, w);
    mpfr_clear(g);
}

static void base_ratio(const struct pe__series *series, stretch_rule *stretch, mpfr_t ratio)
{
    mpfr_t g;
    mpfr_init2(g, mpfr_get_prec(ratio));
    stretch(series, g);
    mpfr_ui_div(g, 1, g, MPFR_RNDN);
    mpfr_set_ui(ratio, 1, MPFR_RNDN);
    divide_by_ratio_power(g, series->width, series->width - 2, ratio);
    mpfr_clear(g);
}

static void ntk(const struct pe__series *series, size_t k, mpfr_t w)
{
    rebase(series, ntk_stretch, k, w);
}

static void ntk_base(const struct pe__series *series, mpfr_t ratio)
{
    base_ratio(series, ntk_stretch, ratio);
}

static void dynamic(const struct pe__series *series, size_t k, mpfr_t w)
{
    rebase(series, dynamic_stretch, k, w);
}

static void dynamic_base(const struct pe__series *series, mpfr_t ratio)
{
    base_ratio(series, dynamic_stretch, ratio);
}

static void dynamic_step(const struct pe__series *series, size_t k, mpfr_t w)
{
    rebase(series, step_stretch, k, w);
}

static void dynamic_step_base(const struct pe__series *series, mpfr_t ratio)
{
    base_ratio(series, step_stretch, ratio);
}

const struct pe__scaling pe__scaling_ntk = {.name = "ntk",
                                            .has_factor = true,
                                            .check = check_width,
                                            .frequency = ntk,
                                            .base_ratio = ntk_base};

const struct pe__scaling pe__scaling_dynamic = {.name = "dynamic",
                                                .has_factor = true,
                                                .check = check_width,
                                                .frequency = dynamic,
                                                .base_ratio = dynamic_base,
                                                .alpha = dynamic_stretch};

const struct pe__scaling pe__scaling_dynamic_step = {.name = "dynamic_step",
                                                     .check = check_width,
                                                     .frequency = dynamic_step,
                                                     .base_ratio = dynamic_step_base,
                                                     .alpha = step_stretch};

/* ---- Relatives ---------------------------------------------------------------------------- */

/* vLLM's ntk: the base times the factor, then all divided by factor^(2/r). */
static void ntk_fixed(const struct pe__series *series, size_t k, mpfr_t w)
{
    mpfr_t g;
    mpfr_init2(g, mpfr_get_prec(w));
    ntk_stretch(series, g);
    divide_by_ratio_power(g, 2 * k + 2, series->width, w);
    mpfr_clear(g);
}

const struct pe__scaling pe__scaling_ntk_fixed = {
    .name = "ntk_fixed", .has_factor = true, .frequency = ntk_fixed};

/* vLLM's ntk with mixed_b: w / factor^(((k + 1) / n)^mixed_b). */
static void ntk_mixed(const struct pe__series *series, size_t k, mpfr_t w)
{
    mpfr_t g, exponent, power;
    mpfr_inits2(mpfr_get_prec(w), g, exponent, power, (mpfr_ptr)NULL);
    ntk_stretch(series, g);
    mpfr_set_ui(exponent, k + 1, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, series->n, MPFR_RNDN);
    mpfr_set_d(power, number(series, "mixed_b"), MPFR_RNDN);
    mpfr_pow(exponent, exponent, power, MPFR_RNDN);
    divide_by_power(g, exponent, w);
    mpfr_clears(g, exponent, power, (mpfr_ptr)NULL);
}

const struct pe__scaling pe__scaling_ntk_mixed = {
    .name = "ntk_mixed", .has_factor = true, .frequency = ntk_mixed};

/* keras-hub's "dynamic": every frequency divided by factor^(r/(r - 2)). */
static void ntk_divide(const struct pe__series *series, size_t k, mpfr_t w)
{
    (void)k;
    mpfr_t g;
    mpfr_init2(g, mpfr_get_prec(w));
    ntk_stretch(series, g);
    divide_by_ratio_power(g, series->width, series->width - 2, w);
    mpfr_clear(g);
}

const struct pe__scaling pe__scaling_ntk_divide = {
    .name = "ntk_divide", .has_factor = true, .check = check_width, .frequency = ntk_divide};
