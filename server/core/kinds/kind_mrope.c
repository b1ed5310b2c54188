// SPDX-License-Identifier: Apache-2.0
/*
 * kind_mrope.c: rotary position embedding of texts with images and videos: one series of
 * frequencies, whose pairs turn with the time, the row or the column of a token.
 */
#include "kind.h"
#include "sections.h"

static const struct pe_param rows[] = {
    PE__ROW_DIM(2, 2),
    PE__ROW_BASE,
    PE__ROTARY_ROW_LAYOUT(PE__MORE_LAYOUTS, PE__MORE_LAYOUTS_HELP),
    PE__SECTION_ROWS("global"),
    PE__ROTARY_ROWS_ROTATION(2),
    PE__ROTARY_ROWS_SERIES,
};

static const struct pe_library libraries[] = {
    {"transformers", "layout=half. Qwen2-VL, Qwen2.5-VL: sections=16,24,24; Qwen3-VL: 24,20,20 and "
                     "Qwen3.5: 11,11,10, both with axes_split=interleaved; GLM-4.1V: interleaved "
                     "pairs; ERNIE 4.5-VL: sections=22,22,20, section_axes=1,2,0, "
                     "axes_split=alternate_tail, interleaved pairs"},
    {"vLLM", "the same models; HunYuan-VL: four sections with scaling=ntk"},
    {"llama.cpp", "layout=half. MROPE: four sections; IMROPE: axes_split=interleaved_ggml"},
    {0},
};

static const struct pe_reference references[] = {
    {"Qwen2-VL: Enhancing Vision-Language Model's Perception of the World at Any Resolution", 2024,
     "arXiv:2409.12191"},
    {"RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, "arXiv:2104.09864"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=mrope&dim=16&layout=half&sections=2,3,3&positions=0,1,1;0,1,1;0,1,2",
    "/v1/frequencies?kind=mrope&dim=128&base=5000000&sections=24,20,20&axes_split=interleaved",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = pe__sections_check,
    .frequencies_n = pe__rotary_pairs_n,
    .frequency = pe__sections_frequency,
    .series = pe__sections_series,
    .base = pe__sections_base,
    .attention = pe__rotary_attention,
    .pairs_n = pe__rotary_pairs_n,
    .axes = pe__sections_axes,
    .pair_source = pe__sections_source,
    .pair_channels = pe__sections_channels,
};

const struct pe_kind pe__kind_mrope = {
    .name = "mrope",
    .aliases = "xdrope",
    .title = "Multimodal rotary position embedding",
    .formula = "t = direction*p_axis(i)*base^(-2i/rotary_dim); (a,b) -> (a cos t - b sin t, a sin "
               "t + b cos t)",
    .help = "Deals the pairs of rope out to several positions of a token: time, row and column. A "
            "token of text has the same number in all, and is then rotated as by rope.",
    .outside = "As rope, axis by axis. A block of few slow pairs, such as that of the columns, "
               "meets new angles later than the one of the time.",
    .acts = PE_ROTATES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_UNBOUNDED,
    .axes = 3,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
