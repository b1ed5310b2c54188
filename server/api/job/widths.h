// SPDX-License-Identifier: Apache-2.0
/*
 * widths.h: how rows of cos, sin and angles are laid out: which pair each column is of (the key
 * `width`), and cos and sin in one tensor (the key `pack`).
 */
#ifndef API_WIDTHS_H
#define API_WIDTHS_H

#include "columns.h"

/* In the order of the choices of KEY_WIDTH. */
enum width { WIDTH_HALF, WIDTH_TILED, WIDTH_REPEATED, WIDTH_PER_AXIS, WIDTH_FULL };
/* In the order of the choices of KEY_PACK. */
enum pack { PACK_SEPARATE, PACK_COS_SIN, PACK_SIN_COS, PACK_STACKED };

#define KEY_WIDTH(fallback, flags)                                                                 \
    {                                                                                              \
        "width", NULL, PE_ENUM, 0, 0, 0, flags, fallback, "half tiled repeated per_axis full",     \
            NULL,                                                                                  \
            "Columns of cos, sin and angles: half (without it), one per pair; tiled, all pairs "   \
            "twice; "                                                                              \
            "repeated, each pair twice; per_axis, the pairs of each axis twice; full, as the "     \
            "layout needs them."                                                                   \
    }

#define KEY_PACK                                                                                   \
    {                                                                                              \
        "pack", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL, "separate cos_sin sin_cos stacked",     \
            NULL,                                                                                  \
            "cos and sin as tensors of their own (separate, without it), or as one, table: "       \
            "joined "                                                                              \
            "row by row, or stacked on a last axis (cos, sin)."                                    \
    }

enum width width_of(const struct job *job);
enum pack pack_of(const struct job *job);

/* The chosen pairs, laid out by `width`: for each column its pair. */
bool widths_read(struct job *job, const struct pe_spec *spec, const struct columns *pairs,
                 struct columns *columns);
/* Of these columns the chosen ones, whose numbers stay their labels. */
bool widths_choose(struct job *job, const struct columns *chosen, struct columns *columns);

/* Columns in one row of a packed table. */
size_t packed_width(enum pack pack, const struct columns *columns);
/* Rows of it, from dense rows of all pairs. */
void packed_take(enum pack pack, const struct columns *columns, const void *cos, const void *sin,
                 void *out, size_t rows_n, size_t size);

#endif
