// SPDX-License-Identifier: Apache-2.0
/*
 * plots.c: THE table of pictures: what each shows and by which function; and the keys that all of
 * them have besides those of the endpoint behind.
 */
#include "plots.h"

const struct pe_param plot_keys[] = {
    {"width", NULL, PE_INT, 240, 4096, 0, 0, "720", NULL, NULL, "Of the picture, in CSS pixels."},
    {"height", NULL, PE_INT, 160, 4096, 0, 0, "420", NULL, NULL, "Of the picture, in CSS pixels."},
    {"theme", NULL, PE_ENUM, 0, 0, 0, 0, "auto", "light dark auto", NULL,
     "Colours on light or dark paper; auto: in SVG what the reader prefers, in PNG light."},
    {"palette", NULL, PE_ENUM, 0, 0, 0, 0, "default", "default cividis gray", NULL,
     "Colours, all of which can be told apart whatever one's colour vision: of Okabe and Ito, of "
     "cividis alone, or grays."},
    {"title", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Above the picture, up to 200 bytes; the picture's own without it."},
    {"font_size", NULL, PE_REAL, 8, 32, 0, 0, "12", NULL, NULL,
     "Height of captions, in CSS pixels."},
    {"density", NULL, PE_INT, 1, DENSITY_MAX, 0, 0, "1", NULL, NULL,
     "Pixels of a PNG for each CSS pixel."},
};

const size_t plot_keys_n = sizeof plot_keys / sizeof plot_keys[0];

/* What each shows, of which kinds, and how. */
#define PLOT(plot_name, behind_it, kinds, says, ...)                                               \
    const struct endpoint plot_##plot_name##_endpoint = {                                          \
        .summary = says,                                                                           \
        .describes = "",                                                                           \
        .keys = plot_keys,                                                                         \
        .keys_n = sizeof plot_keys / sizeof plot_keys[0],                                          \
        .acts = kinds,                                                                             \
        .cache = CACHE_COMPUTED,                                                                   \
        .formats = FORMATS_PICTURES,                                                               \
        .behind = &behind_it##_endpoint,                                                           \
        .plot = &(const struct plot){__VA_ARGS__},                                                 \
    };

#define DEFAULTS(...)                                                                              \
    (const struct plot_default[])                                                                  \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

#define ALL    ~0U
#define BIASES (1U << PE_BIASES)

// clang-format off
PLOT(table, table, ALL, "Picture of a table: positions by channels, as colours.",
     .title = "Table", .selects = true, .draw = plot_draw_table)
PLOT(waves, table, ~BIASES, "Picture of channels as curves over the positions.",
     .title = "Channels as waves", .defaults = DEFAULTS({"positions", "0:128"}),
     .draw = plot_draw_waves)
PLOT(frequencies, frequencies, ALL, "Picture of wavelengths by pair, and of what a scaling does.",
     .title = "Wavelength of each pair", .draw = plot_draw_frequencies)
PLOT(rotation, rotation, ALL, "Picture of pairs as arrows that turn with the position.",
     .title = "Pairs turn with the position", .defaults = DEFAULTS({"positions", "0:8"}),
     .draw = plot_draw_rotation)
PLOT(angles, rotation, ALL, "Picture of angles: positions by pairs, as colours.",
     .title = "Angle of each pair", .selects = true,
     .defaults = DEFAULTS({"positions", "0:64"}, {"value", "angle_mod"}), .draw = plot_draw_angles)
PLOT(apply, apply, ~BIASES, "Picture of channels over the positions, before and after.",
     .title = "Before and after", .draw = plot_draw_apply)
PLOT(scores, scores, ALL, "Picture of the score q.k against the offset, from each anchor.",
     .title = "Score against offset", .selects = true, .draw = plot_draw_scores)
PLOT(decay, similarity, ALL, "Picture of similarity against the distance.",
     .title = "Similarity by distance",
     .defaults = DEFAULTS({"positions", "0"}, {"k_positions", "0:512"}), .draw = plot_draw_decay)
PLOT(attention, attention, ALL, "Picture of attention weights, queries by keys.",
     .title = "Attention weights", .draw = plot_draw_attention)
PLOT(attention_pair, attention, ALL, "Picture of the weights, and of those without the encoding.",
     .title = "Attention weights, with and without", .draw = plot_draw_attention_pair)
PLOT(similarity, similarity, ALL, "Picture of similarities, positions by positions.",
     .title = "Similarity of positions", .draw = plot_draw_matrix)
PLOT(grid, grid, ALL, "Picture of the similarity of one patch with all others.",
     .title = "Similarity with one patch", .draw = plot_draw_grid)
PLOT(precision, precision, ALL, "Picture of errors against the position, for each pipeline.",
     .title = "Error by position", .selects = true, .draw = plot_draw_precision)
PLOT(bias, table, BIASES, "Picture of what is added to scores, queries by keys, head by head.",
     .title = "Bias", .draw = plot_draw_table)
PLOT(properties, properties, ALL, "Picture of the properties of an encoding, with verdicts.",
     .title = "Properties", .draw = plot_draw_properties)
// clang-format on
