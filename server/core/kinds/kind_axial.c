// SPDX-License-Identifier: Apache-2.0
/*
 * kind_axial.c: rotary position embedding of images, videos and grids of any dimension: a block of
 * pairs per axis, each with frequencies from the highest on.
 */
#include <math.h>

#include "kind.h"
#include "params.h"
#include "sections.h"

enum { BANDS_GEOMETRIC, BANDS_LINEAR, BANDS_LOG, BANDS_CONSTANT };

static const struct pe_param rows[] = {
    PE__ROW_DIM(2, 2),
    PE__ROW_BASE,
    PE__ROTARY_ROW_LAYOUT(PE__MORE_LAYOUTS, PE__MORE_LAYOUTS_HELP),
    PE__SECTION_ROWS("restart"),
    {.name = "bands",
     .type = PE_ENUM,
     .choices = "geometric|lang linear|pixel log constant",
     .fallback = "geometric",
     .help = "Frequencies of a block of s pairs: geometric: powers of the base, as spectrum says; "
             "linear: from pi to pi*max_freq/2 in equal steps; log: in equal ratios; constant: 1."},
    {.name = "max_freq",
     .type = PE_REAL,
     .min = 2,
     .max = 1e30,
     .flags = PE_DERIVED | PE_OPTIONAL,
     .when = "bands=linear|log",
     .help = "Twice the last frequency, over pi; 10 for linear and 224 for log bands without it."},
    {.name = "angle_unit",
     .type = PE_ENUM,
     .choices = "radian turn",
     .fallback = "radian",
     .help = "Unit of position times frequency; one turn is 2 pi."},
    PE__ROTARY_ROWS_ROTATION(2),
    PE__ROTARY_ROWS_SERIES,
};

/* ---- Bands -------------------------------------------------------------------------------- */

/* Those that are no powers of a base read nothing about one. */
static bool refuse_series(struct pe_params *params, struct pe_faults *faults)
{
    static const char *const names[] = {"base",    "base_factor", "spectrum",
                                        "scaling", "freqs",       "freq_method"};
    bool ok = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (pe__params_value(params, names[i])->given)
            ok = pe_fault_add(faults, PE_UNKNOWN_PARAMETER, names[i],
                              "this one is read only with bands=geometric",
                              "%s is not read with linear, log or constant bands", names[i]);
        else
            pe__params_drop(params, names[i]);
    }
    return ok;
}

static bool check_bands(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *split = pe__params_value(&spec->params, "axes_split");
    const struct pe_value *max_freq = pe__params_value(&spec->params, "max_freq");
    double bands = pe_spec_number(spec, "bands");
    if (bands == BANDS_GEOMETRIC)
        return true;
    if ((bands == BANDS_LINEAR || bands == BANDS_LOG) && !max_freq->given)
        pe__params_derive(&spec->params, "max_freq", bands == BANDS_LINEAR ? 10 : 224);
    bool ok = refuse_series(&spec->params, faults);
    if (split->number == PE__SPLIT_INTERLEAVED || split->number == PE__SPLIT_INTERLEAVED_GGML)
        ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "bands", "use axes_split=alternate",
                          "interleaved blocks have no bands of their own");
    return ok;
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = check_bands(spec, faults);
    return pe__sections_check(spec, faults) && ok;
}

#define GUARD_BITS 16

/* Frequency k of s, from pi on to pi*m in equal steps or ratios, m = max_freq/2. */
static void band(const struct pe_spec *spec, bool log_steps, size_t k, size_t s, mpfr_t w)
{
    mpfr_t fine, share;
    mpfr_init2(fine, mpfr_get_prec(w) + GUARD_BITS);
    mpfr_init2(share, mpfr_get_prec(w) + GUARD_BITS);
    mpfr_set_d(fine, pe_spec_number(spec, "max_freq") / 2, MPFR_RNDN); /* exact */
    mpfr_set_ui(share, k, MPFR_RNDN);
    mpfr_div_ui(share, share, s > 1 ? s - 1 : 1, MPFR_RNDN);
    if (log_steps) {
        mpfr_pow(fine, fine, share, MPFR_RNDN);
    } else {
        mpfr_sub_ui(fine, fine, 1, MPFR_RNDN);
        mpfr_mul(fine, fine, share, MPFR_RNDN);
        mpfr_add_ui(fine, fine, 1, MPFR_RNDN);
    }
    mpfr_const_pi(share, MPFR_RNDN);
    mpfr_mul(w, fine, share, MPFR_RNDN);
    mpfr_clears(fine, share, (mpfr_ptr)NULL);
}

static void frequency(const struct pe_spec *spec, size_t pair, bool scaled, mpfr_t w)
{
    double bands = pe_spec_number(spec, "bands");
    if (bands == BANDS_GEOMETRIC) {
        pe__sections_frequency(spec, pair, scaled, w);
    } else if (bands == BANDS_CONSTANT) {
        mpfr_set_ui(w, 1, MPFR_RNDN);
    } else {
        struct pe__place place = pe__pair_place(spec, pair);
        band(spec, bands == BANDS_LOG, place.index, pe__section_size(spec, place.block), w);
    }
}

static void base(const struct pe_spec *spec, mpfr_t b)
{
    if (pe_spec_number(spec, "bands") == BANDS_GEOMETRIC)
        pe__sections_base(spec, b);
    else
        mpfr_set_nan(b);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_library libraries[] = {
    {"transformers",
     "Qwen2-VL vision: layout=half; Pixtral: layout=half, spectrum=strided; Gemma 4 "
     "vision: layout=half_per_axis; Llama 4 vision: section_axes=1,0, shift=1; "
     "DINOv3: layout=half, base=100, angle_unit=turn; Kimi K2.5: axes_split=alternate"},
    {"timm",
     "RotaryEmbeddingCat, in pixels with bands=log; RotaryEmbeddingDinoV3: angle_unit=turn"},
    {"diffusers", "FLUX and Qwen-Image: sections=8,28,28; CogVideoX, HunyuanDiT, Wan; Lumina: "
                  "axes_split=alternate"},
    {"rotary-embedding-torch", "get_axial_freqs, in pixels with bands=linear"},
    {"llama.cpp", "VISION: layout=half"},
    {"EVA", "EVA-02"},
    {0},
};

static const struct pe_reference references[] = {
    {"Rotary Position Embedding for Vision Transformer", 2024, "arXiv:2403.13298"},
    {"Pixtral 12B", 2024, "arXiv:2410.07073"},
    {"DINOv3", 2025, "arXiv:2508.10104"},
    {"RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, "arXiv:2104.09864"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=axial&dim=8&layout=half&spectrum=strided&positions=1;2",
    "/v1/frequencies?kind=axial&dim=128&sections=8,28,28",
    "/v1/frequencies?kind=axial&dim=16&bands=linear&max_freq=10",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .frequencies_n = pe__rotary_pairs_n,
    .frequency = frequency,
    .series = pe__sections_series,
    .base = base,
    .attention = pe__rotary_attention,
    .pairs_n = pe__rotary_pairs_n,
    .axes = pe__sections_axes,
    .pair_source = pe__sections_source,
    .pair_channels = pe__sections_channels,
};

const struct pe_kind pe__kind_axial = {
    .name = "axial",
    .title = "Axial rotary position embedding",
    .formula = "t = direction*p_axis*w_k, w_k = base^(-2k/(2s)) in a block of s pairs; (a,b) -> (a "
               "cos t - b sin t, a sin t + b cos t)",
    .help = "Rotates one block of pairs per axis: rows and columns of an image, frames of a video. "
            "Each block has fast and slow pairs. Lengths stay as they are, and q.k depends on the "
            "distances along the axes alone.",
    .outside = "Has a value everywhere. On larger grids slow pairs meet new angles; with "
               "coordinates scaled to a fixed range they stay within it, and steps get smaller "
               "instead.",
    .acts = PE_ROTATES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_UNBOUNDED,
    .axes = 2,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
