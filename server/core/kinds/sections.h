// SPDX-License-Identifier: Apache-2.0
/*
 * sections.h: what the rotating kinds of several position axes share. Their pairs are dealt out to
 * blocks (sections) of stated sizes; each block reads one axis, and several may read the same.
 */
#ifndef PE_CORE_SECTIONS_H
#define PE_CORE_SECTIONS_H

#include "rotary.h"

#define PE__SECTIONS_MAX PE_AXES_MAX

enum pe__split {
    PE__SPLIT_BLOCKS,
    PE__SPLIT_ALTERNATE,
    PE__SPLIT_INTERLEAVED,
    PE__SPLIT_INTERLEAVED_GGML,
    PE__SPLIT_ALTERNATE_TAIL,
};

enum pe__spectrum { PE__SPECTRUM_GLOBAL, PE__SPECTRUM_RESTART, PE__SPECTRUM_STRIDED };

/* For PE__ROTARY_ROW_LAYOUT. */
#define PE__MORE_LAYOUTS      " half_per_axis"
#define PE__MORE_LAYOUTS_HELP ", half_per_axis j and j+s within the 2s channels of its block"

#define PE__SECTION_ROWS(spectrum_fallback)                                                        \
    {.name = "sections",                                                                           \
     .aliases = "mrope_section xdrope_section",                                                    \
     .type = PE_REALS,                                                                             \
     .min = 0,                                                                                     \
     .max = PE_DIM_MAX / 2,                                                                        \
     .multiple_of = 1,                                                                             \
     .flags = PE_DERIVED | PE_OPTIONAL,                                                            \
     .help = "Pairs of each block, at most 8 blocks, in all rotary_dim/2; shared equally without " \
             "it, first blocks first."},                                                           \
        {.name = "section_axes",                                                                   \
         .type = PE_REALS,                                                                         \
         .min = 0,                                                                                 \
         .max = PE_AXES_MAX - 1,                                                                   \
         .multiple_of = 1,                                                                         \
         .flags = PE_DERIVED | PE_OPTIONAL,                                                        \
         .help = "Position axis that each block reads; 0, 1, 2 and so on without it."},            \
        {.name = "axes_split",                                                                     \
         .type = PE_ENUM,                                                                          \
         .choices = "blocks alternate interleaved interleaved_ggml alternate_tail",                \
         .fallback = "blocks",                                                                     \
         .help =                                                                                   \
             "Which pairs are of which block: blocks one after the other; alternate: pair i of "   \
             "block i mod their number; interleaved: of three blocks, pairs 1, 4, 7 and so on of " \
             "the second, 2, 5, 8 and so on of the third, as many as their sections say, the "     \
             "others of the first; interleaved_ggml: of four, the same rule with pairs 0, 3, 6 "   \
             "and so on of the first, the others of the fourth; alternate_tail: of three, the "    \
             "first two alternate, the third comes last."},                                        \
    {                                                                                              \
        .name = "spectrum", .type = PE_ENUM, .choices = "global restart strided",                  \
        .fallback = (spectrum_fallback),                                                           \
        .help = "Frequency of a pair: global: exponent 2i/rotary_dim by its number i among all "   \
                "pairs; restart: 2k/(2s) by its number k in its block of s; strided: 2(kA + "      \
                "a)/rotary_dim in block a of A."                                                   \
    }

/* Where a pair is: its block, and its number there. The number is 0 for the interleaved splits,
 * whose pairs are not counted. */
struct pe__place {
    size_t block, index;
};

/* Defaults of the sections and the rules about them, then those of the turning and the scaling. */
bool pe__sections_check(struct pe_spec *spec, struct pe_faults *faults);
/* Blocks that there are, and pairs of one. */
size_t pe__sections_n(const struct pe_spec *spec);
size_t pe__section_size(const struct pe_spec *spec, size_t block);
struct pe__place pe__pair_place(const struct pe_spec *spec, size_t pair);
/* For struct pe__kind_ops. Each pair has a frequency of its own, numbered like it. */
size_t pe__sections_axes(const struct pe_spec *spec);
void pe__sections_source(const struct pe_spec *spec, size_t pair, size_t *axis, size_t *k);
void pe__sections_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second);
struct pe__series pe__sections_series(const struct pe_spec *spec, size_t pair, size_t *number);
void pe__sections_frequency(const struct pe_spec *spec, size_t pair, bool scaled, mpfr_t w);
void pe__sections_base(const struct pe_spec *spec, mpfr_t b);

#endif
