// SPDX-License-Identifier: Apache-2.0
/*
 * rotary.c: what the rotating kinds share: rules between their parameters, channels of a pair in
 * the two layouts, frequencies.
 */
#include <math.h>
#include <string.h>

#include "method.h"
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

static bool check_offset(struct pe_params *params, struct pe_faults *faults)
{
    struct pe_value *offset = pe__params_value(params, "rotary_offset");
    const struct pe_value *dim = pe__params_value(params, "dim");
    const struct pe_value *rotary_dim = pe__params_value(params, "rotary_dim");
    if (!offset->set || !dim->set || !rotary_dim->set || rotary_dim->number > dim->number)
        return true;
    double tail = dim->number - rotary_dim->number;
    if (offset->number < 0)
        offset->number = tail;
    if (offset->number <= tail)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "rotary_offset", NULL,
                        "rotary_offset must be at most dim - rotary_dim (%.0f), got %.0f", tail,
                        offset->number);
}

/* Frequencies that the caller gives leave nothing to be said of the series. */
static bool check_freqs(struct pe_spec *spec, size_t pairs, struct pe_faults *faults)
{
    static const char *const idle[] = {"base", "base_factor", "scaling", "freq_method"};
    const struct pe_value *freqs = pe__params_value(&spec->params, "freqs");
    bool ok = pe__series_check_list(spec, "freqs", pairs, faults);
    ok = pe__series_check_list(spec, "freq_factors", pairs, faults) && ok;
    if (!freqs || !freqs->set)
        return ok;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        const struct pe_value *value = pe__params_value(&spec->params, idle[i]);
        bool plain = i >= 2 && value->number == 0;
        if (value->given && !plain)
            ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, idle[i],
                              "freq_factors divides the frequencies that are given",
                              "%s says nothing where the frequencies are given by freqs", idle[i]);
    }
    pe__params_drop(&spec->params, "base");
    return ok;
}

bool pe__rotary_check_pairs(struct pe_spec *spec, size_t pairs, struct pe_faults *faults)
{
    bool ok = check_kept(&spec->params, pairs, faults);
    return check_freqs(spec, pairs, faults) && ok;
}

bool pe__rotary_check_turning(struct pe_spec *spec, unsigned multiple, struct pe_faults *faults)
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
    ok = check_offset(params, faults) && ok;
    if (direction->set && direction->number == 0)
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "direction", NULL,
                          "direction must be 1 or -1, got 0");
    return ok;
}

bool pe__rotary_check(struct pe_spec *spec, unsigned multiple, size_t axes,
                      struct pe_faults *faults)
{
    bool ok = pe__rotary_check_turning(spec, multiple, faults);
    const struct pe_value *rotary_dim = pe__params_value(&spec->params, "rotary_dim");
    size_t width = rotary_dim->set ? (size_t)rotary_dim->number / axes : 0;
    ok = pe__rotary_check_pairs(spec, width / 2, faults) && ok;
    const struct pe__series series = {spec, width, width / 2};
    return pe__scaling_check(spec, &series, faults) && ok;
}

size_t pe__rotary_pairs_n(const struct pe_spec *spec)
{
    return (size_t)pe_spec_number(spec, "rotary_dim") / 2;
}

void pe__rotary_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second)
{
    bool interleaved = pe_spec_number(spec, "layout") == PE__LAYOUT_INTERLEAVED;
    *first = interleaved ? 2 * pair : pair;
    *second = interleaved ? 2 * pair + 1 : pair + pe__rotary_pairs_n(spec);
}

/* The scalings lose no more than this many bits. */
#define GUARD_BITS 64

/* A parameter that has a value; NULL where it has none, or the kind has no such parameter. */
static const struct pe_value *value_of(const struct pe_spec *spec, const char *name)
{
    int row = pe_params_find(&spec->params, name, strlen(name));
    return row >= 0 && spec->params.value[row].set ? &spec->params.value[row] : NULL;
}

/* The reciprocal is that of a power of the base that the scaling comes to. */
static bool has_other_base(const struct pe__series *series, bool scaled)
{
    bool reciprocal = pe__method_of(series->spec) == PE__METHOD_RECIPROCAL;
    return scaled && reciprocal && pe__scaling_of(series->spec)->base_ratio;
}

static void power_of_series(const struct pe__series *series, size_t k, bool scaled, mpfr_t w)
{
    if (pe__method_of(series->spec) != PE__METHOD_RECIPROCAL) {
        pe__series_power(series, 2 * k, series->width, w);
        return;
    }
    mpfr_t base;
    mpfr_init2(base, mpfr_get_prec(w));
    if (has_other_base(series, scaled))
        pe__rotary_base(series->spec, series->width, base);
    else
        pe__series_base(series, base);
    mpfr_set_d(w, pe__method_reciprocal(base, k, series->width), MPFR_RNDN);
    mpfr_clear(base);
}

void pe__rotary_frequency(const struct pe__series *series, size_t k, size_t pair, bool scaled,
                          mpfr_t w)
{
    const struct pe_spec *spec = series->spec;
    const struct pe__scaling *scaling = pe__scaling_of(spec);
    const struct pe_value *kept = value_of(spec, "kept_pairs");
    const struct pe_value *freqs = value_of(spec, "freqs");
    const struct pe_value *divisors = value_of(spec, "freq_factors");
    mpfr_t fine;
    mpfr_init2(fine, mpfr_get_prec(w) + GUARD_BITS);
    if (freqs)
        mpfr_set_d(fine, freqs->list[pair], MPFR_RNDN);
    else
        power_of_series(series, k, scaled, fine);
    if (scaled && scaling->frequency && !has_other_base(series, scaled))
        scaling->frequency(series, k, fine);
    if (scaled && divisors)
        mpfr_div_d(fine, fine, divisors->list[pair], MPFR_RNDN);
    if (scaled && kept && pair >= (size_t)kept->number)
        mpfr_set_zero(fine, 1);
    mpfr_set(w, fine, MPFR_RNDN);
    mpfr_clear(fine);
}

void pe__rotary_base(const struct pe_spec *spec, size_t width, mpfr_t b)
{
    const struct pe__series series = {spec, width, width / 2};
    const struct pe__scaling *scaling = pe__scaling_of(spec);
    mpfr_t ratio;
    if (value_of(spec, "freqs")) {
        mpfr_set_nan(b);
        return;
    }
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
