// SPDX-License-Identifier: Apache-2.0
/*
 * kind_rope2d.c: rotary position embedding of rows and columns: half of the pairs turn with the
 * row, half with the column, both with the same frequencies.
 */
#include "kind.h"
#include "rotary.h"

enum { SPLIT_BLOCKS, SPLIT_ALTERNATE };

static const struct pe_param rows[] = {
    PE__ROTARY_ROWS_LAYOUT(4),
    {.name = "axes_split",
     .type = PE_ENUM,
     .choices = "blocks alternate",
     .fallback = "blocks",
     .help = "Which pairs turn with the row and which with the column: the first half and the "
             "second, or even and odd ones."},
    PE__ROTARY_ROWS_ROTATION(4),
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    return pe__rotary_check(spec, 4, 2, faults);
}

static size_t frequencies_n(const struct pe_spec *spec)
{
    return pe__rotary_pairs_n(spec) / 2;
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    size_t width = pe__rotary_pairs_n(spec);
    pe__rotary_frequency(&(struct pe__series){spec, width, width / 2}, k, k, scaled, w);
}

static void pair_source(const struct pe_spec *spec, size_t pair, size_t *axis, size_t *k)
{
    size_t n = frequencies_n(spec);
    bool blocks = pe_spec_number(spec, "axes_split") == SPLIT_BLOCKS;
    *axis = blocks ? pair / n : pair % 2;
    *k = blocks ? pair % n : pair / 2;
}

static void base(const struct pe_spec *spec, mpfr_t b)
{
    pe__rotary_base(spec, pe__rotary_pairs_n(spec), b);
}

static const struct pe_library libraries[] = {
    {"transformers", "Qwen2-VL vision: layout=half; Llama 4 vision: interleaved, columns "
                     "before rows"},
    {"llama.cpp", "VISION: layout=half"},
    {"timm", "RotaryEmbeddingCat, interleaved"},
    {"EVA-02", "interleaved, with positions scaled to the grid of pre-training"},
    {0},
};

static const struct pe_reference references[] = {
    {"RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, "arXiv:2104.09864"},
    {"Rotary Position Embedding for Vision Transformer", 2024, "arXiv:2403.13298"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=rope2d&dim=8&positions=0,0,1,1;0,1,0,1",
    "/v1/frequencies?kind=rope2d&dim=64",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .frequencies_n = frequencies_n,
    .frequency = frequency,
    .base = base,
    .attention = pe__rotary_attention,
    .pairs_n = pe__rotary_pairs_n,
    .pair_source = pair_source,
    .pair_channels = pe__rotary_channels,
};

const struct pe_kind pe__kind_rope2d = {
    .name = "rope2d",
    .title = "Rotary position embedding in two dimensions",
    .formula = "t = direction*p_axis*base^(-2k/(rotary_dim/2)), k < rotary_dim/4; (a,b) -> (a cos "
               "t - b sin t, a sin t + b cos t)",
    .help = "Rotates half of the pairs by the row and half by the column, for images cut into "
            "patches. Lengths stay as they are, and q.k depends on the two distances alone.",
    .outside = "Has a value everywhere. More rows or columns than in training bring new angles "
               "for the slow pairs; with coordinates scaled to the training grid they stay in "
               "the range.",
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
