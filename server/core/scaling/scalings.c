// SPDX-License-Identifier: Apache-2.0
/*
 * scalings.c: the table of scalings, in the order of the choices of `scaling`, and what they share.
 */
#include "scalings.h"

#include <assert.h>

#include "frequency.h"
#include "params.h"

static const struct pe__scaling none = {.name = "none"};

static const struct pe__scaling *const scalings[] = {
    &none,
    &pe__scaling_linear,
    &pe__scaling_ntk,
    &pe__scaling_ntk_fixed,
    &pe__scaling_ntk_mixed,
    &pe__scaling_ntk_divide,
    &pe__scaling_ntk_by_parts,
    &pe__scaling_dynamic,
    &pe__scaling_dynamic_step,
    &pe__scaling_yarn,
    &pe__scaling_llama3,
    &pe__scaling_longrope,
    &pe__scaling_proportional,
};

const struct pe__scaling *pe__scaling_of(const struct pe_spec *spec)
{
    size_t i = (size_t)pe_spec_number(spec, "scaling");
    assert(i < sizeof scalings / sizeof *scalings);
    return scalings[i];
}

void pe__series_base(const struct pe__series *series, mpfr_t base)
{
    const struct pe_value *factor = pe_params_get(&series->spec->params, "base_factor");
    mpfr_set_d(base, pe_spec_number(series->spec, "base"), MPFR_RNDN);
    if (factor->set)
        mpfr_mul_d(base, base, factor->number, MPFR_RNDN);
}

void pe__series_power(const struct pe__series *series, size_t numerator, size_t denominator,
                      mpfr_t w)
{
    const struct pe_value *factor = pe_params_get(&series->spec->params, "base_factor");
    pe__frequency(pe_spec_number(series->spec, "base"), numerator, denominator, 1, w);
    if (!factor->set)
        return;
    mpfr_t more;
    mpfr_init2(more, mpfr_get_prec(w));
    pe__frequency(factor->number, numerator, denominator, 1, more);
    mpfr_mul(w, w, more, MPFR_RNDN);
    mpfr_clear(more);
}

bool pe__series_check_list(struct pe_spec *spec, const char *name, size_t n,
                           struct pe_faults *faults)
{
    const struct pe_value *list = pe__params_value(&spec->params, name);
    if (!list || !list->set || n == 0 || list->list_n == n)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, name, NULL,
                        "%s must have a number for each of the %zu pairs, got %zu", name, n,
                        list->list_n);
}

/* factor from the lengths, where it is not given. */
static bool derive_factor(struct pe_spec *spec, const struct pe__scaling *scaling,
                          struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    size_t row = (size_t)pe_params_find(params, "factor", 6);
    const struct pe_value *longest = pe__params_value(params, "max_position");
    const struct pe_value *original = pe__params_value(params, "original_max");
    if (params->value[row].given)
        return true;
    if (!longest->given)
        return pe_fault_add(faults, PE_MISSING_PARAMETER, "factor", "for example factor=4",
                            "factor is required with scaling=%s", scaling->name);
    if (!longest->set || !original->set)
        return true; /* refused or missing: said elsewhere */
    double ratio = longest->number / original->number;
    if (!(ratio >= params->rows[row].min && ratio <= params->rows[row].max))
        return pe_fault_add(faults, PE_INVALID_VALUE, "max_position", NULL,
                            "max_position/original_max is %g, as a factor it must be %g to %g",
                            ratio, params->rows[row].min, params->rows[row].max);
    pe__params_drop(params, "max_position");
    pe__params_derive(params, "factor", ratio);
    return true;
}

/* The rule's factor; 1 without one. */
static void attention_rule(const struct pe__series *series, mpfr_t factor)
{
    const struct pe__scaling *scaling = pe__scaling_of(series->spec);
    if (scaling->attention)
        scaling->attention(series, factor);
    else
        mpfr_set_ui(factor, 1, MPFR_RNDN);
}

bool pe__scaling_attention(const struct pe__series *series, mpfr_t factor)
{
    const struct pe_value *given = pe_params_get(&series->spec->params, "attention_factor");
    if (given->given)
        mpfr_set_d(factor, given->number, MPFR_RNDN);
    else
        attention_rule(series, factor);
    const struct pe_value *gain = pe_params_get(&series->spec->params, "attention_gain");
    if (gain->set)
        mpfr_mul_d(factor, factor, gain->number, MPFR_RNDN);
    return mpfr_cmp_ui(factor, 1) != 0;
}

/* The rule's factor as the nearest double, for the echo. Whoever gives that number means the rule.
 * Where there is no rule a gain of 1 is not spoken of. */
static void derive_attention(struct pe_spec *spec, const struct pe__series *series)
{
    struct pe_value *given = pe__params_value(&spec->params, "attention_factor");
    mpfr_t factor;
    mpfr_init2(factor, 256);
    attention_rule(series, factor);
    double rule = mpfr_get_d(factor, MPFR_RNDN);
    if (!given->given || given->number == rule) {
        given->given = false;
        pe__params_derive(&spec->params, "attention_factor", rule);
    }
    mpfr_clear(factor);
    bool idle = pe_spec_number(spec, "attention_gain") == 1;
    if (idle && !pe__scaling_of(spec)->attention)
        pe__params_drop(&spec->params, "attention_gain");
}

static bool check_base(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *base = pe__params_value(&spec->params, "base");
    const struct pe_value *factor = pe__params_value(&spec->params, "base_factor");
    if (!base->set || !factor->set || base->number * factor->number > 1)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "base_factor", NULL,
                        "base times base_factor must be above 1, got %g * %g", base->number,
                        factor->number);
}

bool pe__scaling_check(struct pe_spec *spec, const struct pe__series *series,
                       struct pe_faults *faults)
{
    bool ok = check_base(spec, faults);
    if (!pe__params_value(&spec->params, "scaling")->set)
        return ok;
    const struct pe__scaling *scaling = pe__scaling_of(spec);
    ok = (!scaling->has_factor || derive_factor(spec, scaling, faults)) && ok;
    ok = (!scaling->check || scaling->check(spec, series, faults)) && ok;
    if (ok && faults->n == 0)
        derive_attention(spec, series);
    return ok;
}
