// SPDX-License-Identifier: Apache-2.0
/*
 * rotary.c: what the rotating kinds share: rules between their parameters, channels of a pair in
 * the two layouts, frequencies.
 */
#include <math.h>

#include "params.h"
#include "rotary.h"

/* Writes the fraction as rotary_dim, as Python's int(dim * fraction) does. */
static bool convert_fraction(struct pe_params *params, unsigned multiple, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(params, "dim");
    const struct pe_value *rotary_dim = pe__params_value(params, "rotary_dim");
    const struct pe_value *fraction = pe__params_value(params, "partial_rotary_factor");
    if (!fraction->set || !dim->set)
        return true;
    double channels = trunc(dim->number * fraction->number);
    bool conflict = rotary_dim->given && rotary_dim->set && rotary_dim->number != channels;
    pe__params_drop(params, "partial_rotary_factor");
    if (conflict)
        return pe_fault_add(
            faults, PE_CONFLICTING_PARAMETERS, "partial_rotary_factor", NULL,
            "partial_rotary_factor of dim %.0f gives rotary_dim %.0f, but rotary_dim "
            "is given as %.0f",
            dim->number, channels, rotary_dim->number);
    if (channels < multiple || fmod(channels, multiple) != 0)
        return pe_fault_add(
            faults, PE_INVALID_VALUE, "partial_rotary_factor", NULL,
            "partial_rotary_factor of dim %.0f gives rotary_dim %.0f, which must be a "
            "positive multiple of %u",
            dim->number, channels, multiple);
    pe__params_derive(params, "rotary_dim", channels);
    return true;
}

bool pe__rotary_check(struct pe_spec *spec, unsigned multiple, size_t axes,
                      struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    bool ok = convert_fraction(params, multiple, faults);
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

void pe__rotary_frequency(const struct pe_spec *spec, size_t k, size_t width, bool scaled, mpfr_t w)
{
    const struct pe__series series = {spec, width, width / 2};
    const struct pe__scaling *scaling = pe__scaling_of(spec);
    mpfr_t fine;
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
