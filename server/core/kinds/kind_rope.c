// SPDX-License-Identifier: Apache-2.0
/*
 * kind_rope.c: rotary position embedding over one axis.
 */
#include "given.h"
#include "kind.h"
#include "params.h"
#include "rotary.h"

static const struct pe_param rows[] = {PE__ROTARY_ROWS_LAYOUT(2),
                                       PE__ROTARY_ROWS_ROTATION(2),
                                       PE__ROTARY_ROWS_SERIES,
                                       {.name = "pair_table",
                                        .type = PE_ENUM,
                                        .flags = PE_QUIET,
                                        .choices = "matched tiled repeated",
                                        .fallback = "matched",
                                        .help = "The table of rotary_dim columns that vectors are "
                                                "multiplied by, channel by channel: as the layout "
                                                "needs it, or tiled or repeated all the same "
                                                "(V-JEPA 2: interleaved and tiled)."}};

/* Tiled is what half needs, and repeated what interleaved does. */
static void settle_pair_table(struct pe_spec *spec)
{
    enum { MATCHED, TILED, REPEATED };
    struct pe_value *table = pe__params_value(&spec->params, "pair_table");
    const struct pe_value *layout = pe__params_value(&spec->params, "layout");
    if (!table->set || !layout->set)
        return;
    bool interleaved = layout->number == PE__LAYOUT_INTERLEAVED;
    if (table->number == (interleaved ? REPEATED : TILED))
        *table = (struct pe_value){.set = true, .number = MATCHED};
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    settle_pair_table(spec);
    bool ok = pe__given_drop(spec, faults);
    ok &= pe__rotary_check(spec, 2, 1, faults);
    return pe__given_check(spec, faults) && ok;
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

static const struct pe_library libraries[] = {
    {"transformers", "Llama, Mistral, Qwen, Gemma: layout=half; GPT-J, Cohere, GLM, Llama 4: "
                     "interleaved"},
    {"vLLM", "is_neox_style: layout=half, else interleaved"},
    {"llama.cpp", "NORM: interleaved; NEOX: layout=half"},
    {"ONNX", "RotaryEmbedding with interleaved=0: layout=half"},
    {"ONNX Runtime", "com.microsoft.RotaryEmbedding, in the same way"},
    {"Meta llama", "interleaved"},
    {"torchtune", "interleaved; Qwen 2, Phi-3: layout=half"},
    {"keras-hub", "layout=half"},
    {"rotary-embedding-torch", "interleaved"},
    {"diffusers", "use_real_unbind_dim -1: interleaved; -2: layout=half"},
    {0},
};

static const struct pe_reference references[] = {
    {"RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, "arXiv:2104.09864"},
    {"Extending Context Window of Large Language Models via Positional Interpolation", 2023,
     "arXiv:2306.15595"},
    {"YaRN: Efficient Context Window Extension of Large Language Models", 2023, "arXiv:2309.00071"},
    {"LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens", 2024, "arXiv:2402.13753"},
    {"Round and Round We Go! What makes Rotary Positional Encodings useful?", 2024,
     "arXiv:2410.06205"},
    {"The Llama 3 Herd of Models", 2024, "arXiv:2407.21783"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=rope&dim=8&positions=0:4",
    "/v1/frequencies?kind=rope&dim=128&base=500000&scaling=llama3&factor=8&original_max=8192",
    "/v1/scores?kind=rope&layout=half",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = pe__given_has_row,
    .frequencies_n = pe__rotary_pairs_n,
    .frequency = frequency,
    .series = series,
    .base = base,
    .attention = pe__rotary_attention,
    .pairs_n = pe__rotary_pairs_n,
    .pair_channels = pe__rotary_channels,
};

const struct pe_kind pe__kind_rope = {
    .name = "rope",
    .aliases = "rotary",
    .title = "Rotary position embedding",
    .formula = "t = direction*p*base^(-2i/rotary_dim); (a,b) -> (a cos t - b sin t, a sin t + b "
               "cos t)",
    .help =
        "Rotates each pair of channels of q and k by an angle proportional to the position. "
        "Lengths stay as they are, but for an attention factor, and q.k depends on the distance "
        "alone.",
    .outside = "Has a value everywhere. Pairs that did not complete a turn in training reach new "
               "angles, and attention breaks down soon after; the scalings bring them back into "
               "the range.",
    .acts = PE_ROTATES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_UNBOUNDED | PE_TABULATED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
