// SPDX-License-Identifier: Apache-2.0
/*
 * scaling.h: how the frequencies of rotating kinds are changed for contexts longer than those of
 * the training. A scaling is one row of pe__scalings; its parameters are rows of PE__SCALING_ROWS.
 * Formulas: transformers 5 (modeling_rope_utils.py) where nothing else is said.
 */
#ifndef PE_CORE_SCALING_H
#define PE_CORE_SCALING_H

#include <mpfr.h>

#include "posenc.h"

/* The frequencies to be changed: w_k = (base * base_factor)^(-2k / width), k < n. */
struct pe__series {
    const struct pe_spec *spec;
    size_t width, n;
};

struct pe__scaling {
    const char *name;
    bool has_factor; /* reads `factor` */
    /* Rules between its parameters, and defaults that follow from others. NULL: none. */
    bool (*check)(struct pe_spec *spec, const struct pe__series *series, struct pe_faults *faults);
    /* Changes w, the frequency k, to the scaled one, relative error <= 2^(8 - precision). NULL:
     * stays as it is. */
    void (*frequency)(const struct pe__series *series, size_t k, mpfr_t w);
    /* Where all it does is to use another base: that base divided by the given one. NULL else. */
    void (*base_ratio)(const struct pe__series *series, mpfr_t ratio);
    /* What cos and sin are multiplied by, relative error <= 2^(8 - precision). NULL: 1. */
    void (*attention)(const struct pe__series *series, mpfr_t factor);
    /* What models whose attention factor is left to the softmax multiply its scale by. NULL: 1. */
    void (*softmax)(const struct pe__series *series, mpfr_t factor);
    /* The term above the line of the attention factor, by `mscale`. NULL: there is none. */
    void (*mscale)(const struct pe__series *series, mpfr_t term);
    /* What is raised to a power, and the base multiplied by it, as the context grows. NULL: nothing
     * is. */
    void (*alpha)(const struct pe__series *series, mpfr_t alpha);
};

/* The scaling that the spec names. */
const struct pe__scaling *pe__scaling_of(const struct pe_spec *spec);
/* What all check functions have in common, then the scaling's own. */
bool pe__scaling_check(struct pe_spec *spec, const struct pe__series *series,
                       struct pe_faults *faults);

/* The attention factor: the one given, or the scaling's, times attention_gain. False if it is 1. */
bool pe__scaling_attention(const struct pe__series *series, mpfr_t factor);

/* Whether a list, where it is given, has a number for each of n pairs (0: not known). */
bool pe__series_check_list(struct pe_spec *spec, const char *name, size_t n,
                           struct pe_faults *faults);

/* The series' base, base_factor included, and w = base^(-numerator / denominator). */
void pe__series_base(const struct pe__series *series, mpfr_t base);
void pe__series_power(const struct pe__series *series, size_t numerator, size_t denominator,
                      mpfr_t w);

/* Names of the scalings that read a parameter, for `when`. */
#define PE__WITH_FACTOR                                                                            \
    "scaling=linear|ntk|ntk_fixed|ntk_mixed|ntk_divide|ntk_by_parts|dynamic|yarn|llama3|longrope|" \
    "proportional"
#define PE__WITH_ORIGINAL "scaling=ntk_by_parts|dynamic|dynamic_step|yarn|llama3|longrope"
#define PE__WITH_CONTEXT  "scaling=dynamic|dynamic_step|longrope"
#define PE__WITH_RAMP     "scaling=ntk_by_parts|yarn"

#define PE__SCALING_ROWS                                                                           \
    {.name = "base_factor",                                                                        \
     .type = PE_REAL,                                                                              \
     .min = 0,                                                                                     \
     .max = 1e30,                                                                                  \
     .flags = PE_OPTIONAL | PE_OPEN_MIN,                                                           \
     .help = "Multiplies the base, before any scaling; 1 without it."},                            \
        {.name = "scaling",                                                                        \
         .aliases = "rope_type",                                                                   \
         .type = PE_ENUM,                                                                          \
         .choices = "none|default linear|pi ntk ntk_fixed ntk_mixed ntk_divide ntk_by_parts "      \
                    "dynamic dynamic_step yarn llama3 longrope|su proportional",                   \
         .fallback = "none",                                                                       \
         .help = "How frequencies are changed for longer contexts."},                              \
        {.name = "factor",                                                                         \
         .aliases = "alpha",                                                                       \
         .type = PE_REAL,                                                                          \
         .min = 1,                                                                                 \
         .max = 1e6,                                                                               \
         .flags = PE_OPTIONAL,                                                                     \
         .when = PE__WITH_FACTOR,                                                                  \
         .help = "How many times longer the context is to be; yarn and longrope: "                 \
                 "max_position/original_max without it, proportional: 1."},                        \
        {.name = "original_max",                                                                   \
         .aliases = "original_max_position_embeddings",                                            \
         .type = PE_INT,                                                                           \
         .min = 1,                                                                                 \
         .max = PE_POSITION_MAX,                                                                   \
         .when = PE__WITH_ORIGINAL,                                                                \
         .help = "Sequence length of the training, in positions; for dynamic the config's "        \
                 "max_position_embeddings."},                                                      \
        {.name = "context",                                                                        \
         .aliases = "seq_len",                                                                     \
         .type = PE_INT,                                                                           \
         .min = 1,                                                                                 \
         .max = PE_POSITION_MAX,                                                                   \
         .flags = PE_DERIVED,                                                                      \
         .fallback = "@original_max",                                                              \
         .when = PE__WITH_CONTEXT,                                                                 \
         .help = "Sequence length in use, in positions."},                                         \
        {.name = "max_position",                                                                   \
         .aliases = "max_position_embeddings",                                                     \
         .type = PE_INT,                                                                           \
         .min = 1,                                                                                 \
         .max = PE_POSITION_MAX,                                                                   \
         .flags = PE_OPTIONAL,                                                                     \
         .when = "scaling=yarn|longrope",                                                          \
         .help = "Longest context of the model; gives factor where that is missing."},             \
        {.name = "low_freq_factor",                                                                \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .flags = PE_OPEN_MIN,                                                                     \
         .fallback = "1",                                                                          \
         .when = "scaling=llama3",                                                                 \
         .help = "Pairs with fewer turns than this in original_max positions are divided."},       \
        {.name = "high_freq_factor",                                                               \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .flags = PE_OPEN_MIN,                                                                     \
         .fallback = "4",                                                                          \
         .when = "scaling=llama3",                                                                 \
         .help = "Pairs with more turns than this in original_max positions are kept."},           \
        {.name = "beta_fast",                                                                      \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .flags = PE_OPEN_MIN,                                                                     \
         .fallback = "32",                                                                         \
         .when = "scaling=yarn",                                                                   \
         .help = "Pairs with more turns than this in original_max positions are kept."},           \
        {.name = "beta_slow",                                                                      \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .flags = PE_OPEN_MIN,                                                                     \
         .fallback = "1",                                                                          \
         .when = "scaling=yarn",                                                                   \
         .help = "Pairs with fewer turns than this in original_max positions are divided."},       \
        {.name = "truncate",                                                                       \
         .type = PE_BOOL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1,                                                                                 \
         .fallback = "true",                                                                       \
         .when = "scaling=yarn",                                                                   \
         .help = "Whether the ramp between kept and divided pairs begins and ends at whole "       \
                 "pairs."},                                                                        \
        {.name = "yarn_clamp",                                                                     \
         .type = PE_ENUM,                                                                          \
         .choices = "rotary_dim pairs",                                                            \
         .fallback = "rotary_dim",                                                                 \
         .when = "scaling=yarn",                                                                   \
         .help = "Last end of the ramp: rotary_dim - 1, or the last pair (keras-hub)."},           \
        {.name = "extrapolation_factor",                                                           \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1,                                                                                 \
         .fallback = "1",                                                                          \
         .when = PE__WITH_RAMP,                                                                    \
         .help = "Share of a kept pair's frequency that is kept."},                                \
        {.name = "ntk_factor",                                                                     \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1,                                                                                 \
         .fallback = "1",                                                                          \
         .when = "scaling=ntk_by_parts",                                                           \
         .help = "Share of the frequencies of the larger base between the two ramps."},            \
        {.name = "mixed_b",                                                                        \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 100,                                                                               \
         .flags = PE_OPEN_MIN,                                                                     \
         .fallback = "0.625",                                                                      \
         .when = "scaling=ntk_mixed",                                                              \
         .help = "Exponent by which the division grows from the first pair to the last."},         \
        {.name = "short_factor",                                                                   \
         .type = PE_REALS,                                                                         \
         .min = 1e-6,                                                                              \
         .max = 1e6,                                                                               \
         .when = "scaling=longrope",                                                               \
         .help = "Divisors of the frequencies, pair by pair, for a context up to original_max."},  \
        {.name = "long_factor",                                                                    \
         .type = PE_REALS,                                                                         \
         .min = 1e-6,                                                                              \
         .max = 1e6,                                                                               \
         .when = "scaling=longrope",                                                               \
         .help = "Divisors of the frequencies, pair by pair, for a longer context."},              \
        {.name = "mscale",                                                                         \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .fallback = "0",                                                                          \
         .when = "scaling=yarn",                                                                   \
         .help = "With mscale_all_dim: weight of the logarithm above the line; 0: not used."},     \
        {.name = "mscale_all_dim",                                                                 \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .fallback = "0",                                                                          \
         .when = "scaling=yarn",                                                                   \
         .help = "With mscale: weight of the logarithm below the line; 0: not used."},             \
        {.name = "mscale_coefficient",                                                             \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .fallback = "0.1",                                                                        \
         .when = "scaling=yarn",                                                                   \
         .help = "The attention factor is this times ln(factor), plus 1."},                        \
        {.name = "attention_gain",                                                                 \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .flags = PE_OPEN_MIN,                                                                     \
         .fallback = "1",                                                                          \
         .help = "Multiplies the attention factor, by whatever rule it comes (ggml's "             \
                 "attn_factor)."},                                                                 \
    {                                                                                              \
        .name = "attention_factor", .type = PE_REAL, .min = 0, .max = 1e6,                         \
        .flags = PE_OPEN_MIN | PE_DERIVED | PE_OPTIONAL,                                           \
        .help = "Multiplies cos and sin; by the rule of the scaling without it, and 1 without a "  \
                "scaling."                                                                         \
    }

#endif
