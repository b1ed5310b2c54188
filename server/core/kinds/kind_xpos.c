// SPDX-License-Identifier: Apache-2.0
/*
 * kind_xpos.c: rotary position embedding whose pairs fade with the distance: q is multiplied by a
 * power of the position, k divided by it.
 */
#include <math.h>

#include "kind.h"
#include "params.h"
#include "rotary.h"

static const struct pe_param rows[] = {
    PE__ROTARY_ROWS_LAYOUT(2),
    {.name = "scale_base",
     .aliases = "xpos_scale_base",
     .type = PE_REAL,
     .min = 0,
     .max = PE_POSITION_MAX,
     .flags = PE_OPEN_MIN,
     .fallback = "512",
     .help = "Positions in which a pair's scale counts once."},
    {.name = "center",
     .type = PE_REAL,
     .min = -PE_POSITION_MAX,
     .max = PE_POSITION_MAX,
     .flags = PE_OPTIONAL,
     .help = "Position where the scale is 1; half of (largest position + 1), rounded down, "
             "without it."},
    PE__ROTARY_ROWS_ROTATION(2),
    PE__ROTARY_ROWS_SERIES,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    return pe__rotary_check(spec, 2, 1, faults);
}

/* exp of this has no more than doubles hold, with room for vectors. */
#define EXPONENT_MAX 600

static const double log_of_first = 1.2527629684953681; /* ln 3.5, all others are smaller */

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    const struct pe_value *center = pe_params_get(&spec->params, "center");
    double base = pe_spec_number(spec, "scale_base");
    if (!center->set || fabs(position.hi - center->number) / base * log_of_first <= EXPONENT_MAX)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, param, "a larger scale_base",
                        "position %.17g is %.17g from the center, with scale_base %g it may be at "
                        "most %g",
                        position.hi, fabs(position.hi - center->number), base,
                        floor(EXPONENT_MAX / log_of_first * base));
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    size_t width = (size_t)pe_spec_number(spec, "rotary_dim");
    pe__rotary_frequency(&(struct pe__series){spec, width, width / 2}, k, k, scaled, w);
}

static struct pe__series series(const struct pe_spec *spec, size_t k, size_t *number)
{
    size_t width = (size_t)pe_spec_number(spec, "rotary_dim");
    *number = k;
    return (struct pe__series){spec, width, width / 2};
}

static void base(const struct pe_spec *spec, mpfr_t b)
{
    pe__rotary_base(spec, (size_t)pe_spec_number(spec, "rotary_dim"), b);
}

/* (2i + 0.4r) / 1.4r */
static void scale(const struct pe_spec *spec, size_t pair, mpfr_t y)
{
    size_t width = (size_t)pe_spec_number(spec, "rotary_dim");
    mpfr_set_ui(y, 10 * pair + 2 * width, MPFR_RNDN);
    mpfr_div_ui(y, y, 7 * width, MPFR_RNDN);
}

static const struct pe_library libraries[] = {
    {"rotary-embedding-torch", "use_xpos, interleaved"},
    {"x-transformers", "rotary_xpos, interleaved"},
    {"torchscale", "xPos, interleaved"},
    {0},
};

static const struct pe_reference references[] = {
    {"A Length-Extrapolatable Transformer", 2022, "arXiv:2212.10554"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=xpos&dim=8&positions=0:4&with=scale",
    "/v1/apply?kind=xpos&dim=8&positions=0:4",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = has_position,
    .frequencies_n = pe__rotary_pairs_n,
    .frequency = frequency,
    .series = series,
    .base = base,
    .attention = pe__rotary_attention,
    .pairs_n = pe__rotary_pairs_n,
    .pair_channels = pe__rotary_channels,
    .scale = scale,
};

const struct pe_kind pe__kind_xpos = {
    .name = "xpos",
    .title = "Extrapolatable position embedding",
    .formula = "t = p*base^(-2i/rotary_dim), z_i = (2i + 0.4*rotary_dim)/(1.4*rotary_dim), e = (p "
               "- center)/scale_base; rope, then q times z_i^e and k times z_i^-e",
    .help =
        "Rotates as rope does and makes scores fade with the distance, fast pairs first: q is "
        "multiplied by a power of the position, k divided by it. It is for attention to earlier "
        "tokens; to later ones scores would grow. The table holds cos and sin alone, the "
        "tensor `scale` the factors of q.",
    .outside = "Distances beyond those of training have faded most; far from the center the "
               "factors of q and k leave the range of float32.",
    .acts = PE_ROTATES,
    .properties = PE_RELATIVE,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
