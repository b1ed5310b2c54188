// SPDX-License-Identifier: Apache-2.0
/*
 * rotary.h: what the rotating kinds share: their parameter rows, the rules between them and the
 * two layouts of a pair.
 */
#ifndef PE_CORE_ROTARY_H
#define PE_CORE_ROTARY_H

#include <mpfr.h>

#include "rows.h"
#include "scaling.h"

/* The rows of all rotating kinds; dim and rotary_dim are multiples of `multiple`. In two parts, so
 * that a kind can put rows of its own between layout and rotary_dim. */
#define PE__ROTARY_ROWS_LAYOUT(multiple)                                                           \
    PE__ROW_DIM(multiple, multiple), PE__ROW_BASE, PE__ROTARY_ROW_LAYOUT("", "")

enum pe__layout { PE__LAYOUT_INTERLEAVED, PE__LAYOUT_HALF, PE__LAYOUT_HALF_PER_AXIS };

/* With more layouts than the two. */
#define PE__ROTARY_ROW_LAYOUT(more_choices, more_help)                                             \
    {                                                                                              \
        .name = "layout", .type = PE_ENUM, .choices = PE_LAYOUTS more_choices,                     \
        .fallback = "interleaved",                                                                 \
        .help =                                                                                    \
            "Channels of pair i: interleaved 2i and 2i+1, half i and i+rotary_dim/2" more_help "." \
    }

#define PE__ROTARY_ROWS_ROTATION(multiple)                                                         \
    {.name = "rotary_dim",                                                                         \
     .type = PE_INT,                                                                               \
     .min = (multiple),                                                                            \
     .max = PE_DIM_MAX,                                                                            \
     .multiple_of = (multiple),                                                                    \
     .flags = PE_DERIVED,                                                                          \
     .fallback = "@dim",                                                                           \
     .help = "Channels that are rotated, at most dim; the rest passes through."},                  \
        {.name = "partial_rotary_factor",                                                          \
         .aliases = "rotary_pct",                                                                  \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = 1,                                                                                 \
         .flags = PE_OPTIONAL,                                                                     \
         .help = "Another way to say rotary_dim: this fraction of dim, truncated; with "           \
                 "scaling=proportional kept_pairs: this fraction of dim/2."},                      \
        {.name = "direction",                                                                      \
         .type = PE_INT,                                                                           \
         .min = -1,                                                                                \
         .max = 1,                                                                                 \
         .fallback = "1",                                                                          \
         .help = "1 rotates counter-clockwise, -1 clockwise; 0 is not allowed."},                  \
        {.name = "rotary_offset",                                                                  \
         .type = PE_INT,                                                                           \
         .min = 0,                                                                                 \
         .max = PE_DIM_MAX,                                                                        \
         .flags = PE_QUIET,                                                                        \
         .fallback = "0",                                                                          \
         .choices = "tail",                                                                        \
         .help = "First rotated channel, at most dim - rotary_dim, for which tail stands; those "  \
                 "before it pass through too."},                                                   \
        {.name = "output_order",                                                                   \
         .type = PE_ENUM,                                                                          \
         .flags = PE_QUIET,                                                                        \
         .choices = "same halves|deinterleaved",                                                   \
         .fallback = "same",                                                                       \
         .help = "Where the rotated members of pair i go: where they come from, or with halves "   \
                 "to i and i+rotary_dim/2 (DeepSeek-V3 in transformers)."},                        \
        PE__ROWS_PLACE, PE__SCALING_ROWS

/* What kinds have besides in which every pair has a frequency of its own. */
#define PE__ROTARY_ROWS_SERIES                                                                     \
    {.name = "kept_pairs",                                                                         \
     .type = PE_INT,                                                                               \
     .min = 0,                                                                                     \
     .max = PE_DIM_MAX / 2,                                                                        \
     .flags = PE_OPTIONAL,                                                                         \
     .help = "Pairs that turn (p-RoPE), at most rotary_dim/2, all without it; the frequencies of " \
             "those behind them are 0."},                                                          \
        {.name = "freqs",                                                                          \
         .aliases = "inv_freq",                                                                    \
         .type = PE_REALS,                                                                         \
         .min = 0,                                                                                 \
         .max = 1e6,                                                                               \
         .flags = PE_OPTIONAL,                                                                     \
         .help = "Frequencies of the pairs in radians per position, in place of base and "         \
                 "scaling."},                                                                      \
        {.name = "freq_method",                                                                    \
         .type = PE_ENUM,                                                                          \
         .flags = PE_QUIET,                                                                        \
         .choices = "exact reciprocal iterated",                                                   \
         .fallback = "exact",                                                                      \
         .help = "How f32 is reached: by one rounding; reciprocal as fl(1/fl(base^fl(2i/r))) "     \
                 "(torch), which needs the stage freq:f32; iterated as a running product of "      \
                 "angles (ggml), which needs angle:f32."},                                         \
    {                                                                                              \
        .name = "freq_factors", .type = PE_REALS, .min = 1e-6, .max = 1e38, .flags = PE_OPTIONAL,  \
        .help = "Divisors of the frequencies, pair by pair, after any scaling."                    \
    }

/* rotary_dim (or kept_pairs) from partial_rotary_factor; rotary_dim <= dim; direction 1 or -1; the
 * scaling's rules. The rotated channels come in multiples of `multiple`, on `axes` position axes
 * with a series of frequencies each. */
bool pe__rotary_check(struct pe_spec *spec, unsigned multiple, size_t axes,
                      struct pe_faults *faults);
/* Its parts for kinds whose series differ: the rules of the turning, and of what is said pair by
 * pair; then there are those of the scaling. */
bool pe__rotary_check_turning(struct pe_spec *spec, unsigned multiple, struct pe_faults *faults);
bool pe__rotary_check_pairs(struct pe_spec *spec, size_t pairs, struct pe_faults *faults);
size_t pe__rotary_pairs_n(const struct pe_spec *spec);
void pe__rotary_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second);
/* w = base^(-2k / width) or freqs[pair]; when `scaled` asks for it changed by the scaling, divided
 * by freq_factors[pair], and 0 past kept_pairs. */
void pe__rotary_frequency(const struct pe__series *series, size_t k, size_t pair, bool scaled,
                          mpfr_t w);
/* What cos and sin are multiplied by; false if it is 1. */
bool pe__rotary_attention(const struct pe_spec *spec, mpfr_t factor);
/* The base that the scaling comes to, for series of this width; NaN with freqs. */
void pe__rotary_base(const struct pe_spec *spec, size_t width, mpfr_t b);

#endif
