// SPDX-License-Identifier: Apache-2.0
/*
 * rotary.c: what the rotating kinds share: rules between their parameters, channels of a pair in
 * the two layouts, frequencies.
 */
#include <math.h>

#include "params.h"
#include "rotary.h"
#include "scalings.h"

/* Writes the fraction of dim as the parameter that it stands for. */
static bool derive_from_fraction(struct pe_params *params, const char *name, double number,
                                 struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(params, "dim");
    const struct pe_value *value = pe__params_value(params, name);
    if (value->given && value->set && value->number != number)
        return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "partial_rotary_factor", NULL,
                            "partial_rotary_factor of dim %.0f gives %s %.0f, but %s is given as "
                            "%.0f",
                            dim->number, name, number, name, value->number);
    pe__params_derive(params, name, number);
    return true;
}

static bool is_proportional(struct pe_spec *spec)
{
    return pe__params_value(&spec->params, "kept_pairs") &&
           pe__params_value(&spec->params, "scaling")->set &&
           pe__scaling_of(spec) == &pe__scaling_proportional;
}

/* partial_rotary_factor, truncated as Python's int(dim * fraction) does. */
static bool convert_fraction(struct pe_spec *spec, unsigned multiple, struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    const struct pe_value *dim = pe__params_value(params, "dim");
    const struct pe_value *fraction = pe__params_value(params, "partial_rotary_factor");
    if (!fraction->set || !dim->set)
        return true;
    double channels = dim->number * fraction->number;
    pe__params_drop(params, "partial_rotary_factor");
    if (is_proportional(spec))
        return derive_from_fraction(params, "kept_pairs", trunc(channels / 2), faults);
    channels = trunc(channels);
    if (channels < multiple || fmod(channels, multiple) != 0)
        return pe_fault_add(
            faults, PE_INVALID_VALUE, "partial_rotary_factor", NULL,
            "partial_rotary_factor of dim %.0f gives rotary_dim %.0f, which must be a "
            "positive multiple of %u",
            dim->number, channels, multiple);
    return derive_from_fraction(params, "rotary_dim", channels, faults);
}

/* All pairs turn, unless fewer are asked for. */
static bool check_kept(struct pe_params *params, size_t pairs, struct pe_faults *faults)
{
    const struct pe_value *kept = pe__params_value(params, "kept_pairs");
    if (!kept || !kept->set || pairs == 0)
        return true;
    if (kept->number > (double)pairs)
        return pe_fault_add(faults, PE_INVALID_VALUE, "kept_pairs", NULL,
                            "kept_pairs must be at most rotary_dim/2 (%zu), got %.0f", pairs,
                            kept->number);
    if (kept->number == (double)pairs)
        pe__params_drop(params, "kept_pairs");
    return true;
}

bool pe__rotary_check(struct pe_spec *spec, unsigned multiple, size_t axes,
                      struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    bool ok = convert_fraction(spec, multiple, faults);
    const struct pe_value *dim = pe__params_value(params, "dim");
    const struct pe_value *rotary_dim = pe__params_value(params, "rotary_dim");
    const struct pe_value *direction = pe__params_value(params, "direction");
    if (dim->set && rotary_dim->set && rotary_dim->number > dim->number)
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "rotary_dim", NULL,
                          "rotary_dim must be at most dim (%.0f), got %.0f", dim->number,
                          rotary_dim->number);
    if (direction->set && direction->number == 0)
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "direction", NULL,
                          "direction must be 1 or -1, got 0");
    size_t width = rotary_dim->set ? (size_t)rotary_dim->number / axes : 0;
    ok = check_kept(params, width / 2, faults) && ok;
    const struct pe__series series = {spec, width, width / 2};
    return pe__scaling_check(spec, &series, faults) && ok;
}

size_t pe__rotary_pairs_n(const struct pe_spec *spec)
{
    return (size_t)pe_spec_number(spec, "rotary_dim") / 2;
}

void pe__rotary_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second)
{
    bool interleaved = pe_spec_number(spec, "layout") == 0;
    *first = interleaved ? 2 * pair : pair;
    *second = interleaved ? 2 * pair + 1 : pair + pe__rotary_pairs_n(spec);
}

/* The scalings lose no more than this many bits. */
#define GUARD_BITS 64

static bool is_kept(const struct pe_spec *spec, size_t k)
{
    int row = pe_params_find(&spec->params, "kept_pairs", 10);
    const struct pe_value *kept = row < 0 ? NULL : &spec->params.value[row];
    return !kept || !kept->set || k < (size_t)kept->number;
}

void pe__rotary_frequency(const struct pe_spec *spec, size_t k, size_t width, bool scaled, mpfr_t w)
{
    const struct pe__series series = {spec, width, width / 2};
    const struct pe__scaling *scaling = pe__scaling_of(spec);
    mpfr_t fine;
    if (scaled && !is_kept(spec, k)) {
        mpfr_set_zero(w, 1);
        return;
    }
    mpfr_init2(fine, mpfr_get_prec(w) + GUARD_BITS);
    pe__series_power(&series, 2 * k, width, fine);
    if (scaled && scaling->frequency)
        scaling->frequency(&series, k, fine);
    mpfr_set(w, fine, MPFR_RNDN);
    mpfr_clear(fine);
}

void pe__rotary_base(const struct pe_spec *spec, size_t width, mpfr_t b)
{
    const struct pe__series series = {spec, width, width / 2};
    const struct pe__scaling *scaling = pe__scaling_of(spec);
    mpfr_t ratio;
    pe__series_base(&series, b);
    if (!scaling->base_ratio)
        return;
    mpfr_init2(ratio, mpfr_get_prec(b));
    scaling->base_ratio(&series, ratio);
    mpfr_mul(b, b, ratio, MPFR_RNDN);
    mpfr_clear(ratio);
}

bool pe__rotary_attention(const struct pe_spec *spec, mpfr_t factor)
{
    const struct pe__series series = {.spec = spec};
    mpfr_t fine;
    mpfr_init2(fine, mpfr_get_prec(factor) + GUARD_BITS);
    bool changes = pe__scaling_attention(&series, fine);
    mpfr_set(factor, fine, MPFR_RNDN);
    mpfr_clear(fine);
    return changes;
}
