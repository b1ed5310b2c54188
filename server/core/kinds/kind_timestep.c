// SPDX-License-Identifier: Apache-2.0
/*
 * kind_timestep.c: sinusoids of the step of a diffusion process, written as its libraries do: all
 * sines first, or all cosines, and a denominator with something taken from it.
 */
#include "params.h"
#include "sinusoid.h"

static const struct pe_param rows[] = {
    PE__ROW_DIM(2, 0),
    {.name = "base",
     .aliases = "max_period theta",
     .type = PE_REAL,
     .min = 1,
     .max = 1e30,
     .flags = PE_OPEN_MIN,
     .fallback = "10000",
     .help = "Base of the series of frequencies, which are powers from 1 down."},
    PE__ROW_ORDER("sin_cos"),
    PE__ROW_FREQ_SHIFT("1", NULL),
    PE__ROWS_PLACE,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    return pe__freq_shift_check(spec, faults);
}

static size_t pairs_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) / 2;
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    (void)scaled; /* there is no scaling */
    pe__freq_shift_frequency(spec, k, w);
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    size_t n = pairs_n(spec);
    pe__order_channels((enum pe__order)pe_spec_number(spec, "order"), n, n, pair, c, s);
}

static const struct pe_library libraries[] = {
    {"diffusers", "get_timestep_embedding: its scale is position_scale, flip_sin_to_cos "
                  "order=cos_sin; Stable Diffusion: order=cos_sin, freq_shift=0"},
    {"ggml", "timestep_embedding: order=cos_sin, freq_shift=0"},
    {"guided-diffusion", "order=cos_sin, freq_shift=0"},
    {0},
};

static const struct pe_reference references[] = {
    {"Denoising Diffusion Probabilistic Models", 2020, "arXiv:2006.11239"},
    {"High-Resolution Image Synthesis with Latent Diffusion Models", 2022, "arXiv:2112.10752"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=timestep&dim=8&positions=0,1,10,500,999",
    "/v1/table?kind=timestep&dim=8&order=cos_sin&freq_shift=0&position_scale=1000&positions=0.5",
    "/v1/frequencies?kind=timestep&dim=320",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .frequencies_n = pairs_n,
    .frequency = frequency,
    .pairs_n = pairs_n,
    .pair_channels = pair_channels,
};

const struct pe_kind pe__kind_timestep = {
    .name = "timestep",
    .title = "Diffusion timestep embedding",
    .formula = "h = floor(dim/2); PE[p,i] = sin(p*base^(-i/(h-freq_shift))), PE[p,h+i] = cos of "
               "the same; y = x + PE",
    .help = "Sines and cosines of the time step or noise level of a diffusion model, fractions "
            "included; an odd dim gets a last column of zeros. Networks take it as a vector of its "
            "own; here, as all that adds, it can be added too.",
    .outside = "Has a value everywhere; processes have steps from 0 to their end, often 1000.",
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
