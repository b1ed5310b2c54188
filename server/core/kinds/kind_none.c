// SPDX-License-Identifier: Apache-2.0
/*
 * kind_none.c: no encoding: what everything else is compared with.
 */
#include "kind.h"
#include "rows.h"

static const struct pe_param rows[] = {PE__ROW_DIM(1, 0), PE__ROW_SHIFT};

static const struct pe_library libraries[] = {
    {"transformers", "SmolLM3 and Llama 4 in every fourth layer, Cohere 2 and EXAONE 4 in "
                     "layers of full attention"},
    {"vLLM", "the same models"},
    {"llama.cpp", "the same models"},
    {0},
};

static const struct pe_reference references[] = {
    {"The Impact of Positional Encoding on Length Generalization in Transformers", 2023,
     "arXiv:2305.19466"},
    {0},
};

static const char *const examples[] = {"/v1/scores?kind=none", NULL};

static const struct pe__kind_ops ops = {0};

const struct pe_kind pe__kind_none = {
    .name = "none",
    .aliases = "nope",
    .title = "No positional encoding",
    .formula = "y = x",
    .help = "Vectors and scores stay as they are. Attention is then equivariant to permutations: "
            "it sees a set of tokens, not a sequence.",
    .outside = "There is no range of positions to leave, but attention thins out over more "
               "tokens than in training.",
    .acts = PE_ACTS_NOT,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_UNBOUNDED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
