// SPDX-License-Identifier: Apache-2.0
/*
 * rotary.c: what the rotating kinds share: rules between their parameters, channels of a pair in
 * the two layouts, frequencies.
 */
#include <math.h>

#include "frequency.h"
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

bool pe__rotary_check(struct pe_spec *spec, unsigned multiple, struct pe_faults *faults)
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
    return ok;
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

void pe__rotary_frequency(const struct pe_spec *spec, size_t k, size_t width, bool scaled, mpfr_t w)
{
    bool linear = pe_spec_number(spec, "scaling") == 1;
    double divisor = scaled && linear ? pe_spec_number(spec, "factor") : 1;
    pe__frequency(pe_spec_number(spec, "base"), 2 * k, width, divisor, w);
}
