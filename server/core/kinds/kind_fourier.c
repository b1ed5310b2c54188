// SPDX-License-Identifier: Apache-2.0
/*
 * kind_fourier.c: sines and cosines of given, drawn or doubling frequencies of a real number or its
 * logarithm: how networks are told a noise level, or a point in space.
 */
#include "params.h"
#include "sinusoid.h"
#include "value.h"

#define FREQUENCY_MAX 1e15
#define POWERS_MAX    60 /* pairs of doubling frequencies */

enum { BANDS_GAUSSIAN, BANDS_POWERS };

static const struct pe_param rows[] = {
    PE__ROW_DIM(2, 2),
    PE__ROW_ORDER("sin_cos"),
    {.name = "freqs",
     .type = PE_REALS,
     .min = -FREQUENCY_MAX,
     .max = FREQUENCY_MAX,
     .flags = PE_OPTIONAL,
     .help = "Frequencies, one for each of the dim/2 pairs; those of bands without it."},
    {.name = "bands",
     .type = PE_ENUM,
     .choices = "gaussian powers",
     .fallback = "gaussian",
     .help = "Frequencies that are not given: gaussian draws them, normally distributed, powers "
             "has 2^(i-1), in turns sin(2^i pi p)."},
    {.name = "freqs_seed",
     .type = PE_INT,
     .min = 0,
     .max = PE_POSITION_MAX,
     .fallback = "0",
     .help = "Seed of drawn frequencies."},
    {.name = "freqs_std",
     .aliases = "scale",
     .type = PE_REAL,
     .min = 0,
     .max = 1000,
     .fallback = "1",
     .help = "Standard deviation of drawn frequencies."},
    {.name = "angle_unit",
     .type = PE_ENUM,
     .choices = "radian turn",
     .fallback = "turn",
     .help = "Unit of position times frequency; one turn is 2 pi."},
    {.name = "log_positions",
     .aliases = "log",
     .type = PE_BOOL,
     .fallback = "false",
     .help = "Takes the natural logarithm of every position, which must be greater than 0."},
    PE__ROWS_PLACE,
};

/* ---- Rules -------------------------------------------------------------------------------- */

/* What says where frequencies come from is not read, so neither is `name`. */
static bool drop(struct pe_spec *spec, const char *name, const char *reason,
                 struct pe_faults *faults)
{
    bool given = pe__params_value(&spec->params, name)->given;
    pe__params_drop(&spec->params, name);
    if (!given)
        return true;
    return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, name, NULL, "%s is not read with %s",
                        name, reason);
}

static bool check_given(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *freqs = pe__params_value(&spec->params, "freqs");
    bool ok = drop(spec, "bands", "freqs", faults);
    ok &= drop(spec, "freqs_seed", "freqs", faults);
    ok &= drop(spec, "freqs_std", "freqs", faults);
    if (!dim->given)
        pe__params_derive(&spec->params, "dim", 2 * (double)freqs->list_n);
    if (!dim->set || dim->number == 2 * (double)freqs->list_n)
        return ok;
    return pe_fault_add(faults, PE_SHAPE_MISMATCH, "freqs", NULL,
                        "freqs must have dim/2 (%.0f) numbers, got %zu", dim->number / 2,
                        freqs->list_n);
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *bands = pe__params_value(&spec->params, "bands");
    if (pe__params_value(&spec->params, "freqs")->set)
        return check_given(spec, faults);
    if (!bands->set || bands->number != BANDS_POWERS)
        return true;
    bool ok = drop(spec, "freqs_seed", "bands=powers", faults);
    ok &= drop(spec, "freqs_std", "bands=powers", faults);
    if (!dim->set || dim->number <= 2 * POWERS_MAX)
        return ok;
    return pe_fault_add(faults, PE_INVALID_VALUE, "dim", NULL,
                        "dim must be at most %d with bands=powers, got %.0f", 2 * POWERS_MAX,
                        dim->number);
}

static bool logarithm_asked(const struct pe_spec *spec)
{
    return pe_spec_number(spec, "log_positions") != 0;
}

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    if (!logarithm_asked(spec) || position.hi > 0)
        return true;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "a position must be greater than 0 to have a logarithm, got %s",
                        pe__show_number(position.hi, shown));
}

/* ---- Numbers ------------------------------------------------------------------------------ */

#define SUM_BITS 1200 /* hold any position exactly */

static void logarithm(const struct pe_spec *spec, const struct pe__pos *at, size_t axis, mpfr_t y)
{
    mpfr_t position;
    (void)spec;
    mpfr_init2(position, at[axis].lo == 0 ? 53 : SUM_BITS);
    pe__pos_exact(&at[axis], position);
    mpfr_log(y, position, MPFR_RNDN);
    mpfr_clear(position);
}

static pe__coordinate_fn *coordinate(const struct pe_spec *spec)
{
    return logarithm_asked(spec) ? logarithm : NULL;
}

static size_t pairs_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) / 2;
}

/* Element k of the normal stream "freqs", times the deviation. */
static void drawn(const struct pe_spec *spec, size_t k, mpfr_t w)
{
    double value;
    uint64_t seed = (uint64_t)pe_spec_number(spec, "freqs_seed");
    pe_fill_random(seed, "freqs", PE_CONTENT_NORMAL, 1, k, 1, PE_F64, &value);
    mpfr_set_d(w, value, MPFR_RNDN);
    mpfr_mul_d(w, w, pe_spec_number(spec, "freqs_std"), MPFR_RNDN);
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    const struct pe_value *freqs = pe_params_get(&spec->params, "freqs");
    (void)scaled; /* there is no scaling */
    if (freqs->set)
        mpfr_set_d(w, freqs->list[k], MPFR_RNDN);
    else if (pe_spec_number(spec, "bands") == BANDS_POWERS)
        mpfr_set_ui_2exp(w, 1, (mpfr_exp_t)k - 1, MPFR_RNDN);
    else
        drawn(spec, k, w);
}

static void base(const struct pe_spec *spec, mpfr_t b)
{
    (void)spec; /* the frequencies are no powers of one */
    mpfr_set_nan(b);
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    size_t n = pairs_n(spec);
    pe__order_channels((enum pe__order)pe_spec_number(spec, "order"), n, n, pair, c, s);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_library libraries[] = {
    {"diffusers", "GaussianFourierProjection: log_positions=true, its weight as freqs"},
    {0},
};

static const struct pe_reference references[] = {
    {"Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional Domains",
     2020, "arXiv:2006.10739"},
    {"NeRF: Representing Scenes as Neural Radiance Fields for View Synthesis", 2020,
     "arXiv:2003.08934"},
    {"Score-Based Generative Modeling through Stochastic Differential Equations", 2021,
     "arXiv:2011.13456"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=fourier&freqs=0.5,-1.25,3&log_positions=true&positions=0.1,1,7.5",
    "/v1/table?kind=fourier&dim=8&bands=powers&order=interleaved&positions=0:1:0.125",
    "/v1/frequencies?kind=fourier&dim=16&freqs_std=16",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = has_position,
    .frequencies_n = pairs_n,
    .frequency = frequency,
    .base = base,
    .coordinate = coordinate,
    .pairs_n = pairs_n,
    .pair_channels = pair_channels,
};

const struct pe_kind pe__kind_fourier = {
    .name = "fourier",
    .title = "Fourier features",
    .formula = "t = 2 pi*freqs[i]*x, x = p or ln p; PE[p,i] = sin(t), PE[p,dim/2+i] = cos(t); "
               "y = x + PE",
    .help = "Adds sines and cosines of frequencies that are given, drawn, or twice the one before. "
            "Diffusion models tell their networks the noise level so, often as a logarithm; "
            "NeRF a coordinate.",
    .outside = "Has a value everywhere. Frequencies above those that the trained points resolve "
               "take arbitrary phases between them.",
    .acts = PE_ADDS,
    .properties = PE_UNBOUNDED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
