// SPDX-License-Identifier: Apache-2.0
/*
 * render.h: what csv and txt share: a tensor seen as a sheet of rows and columns. The last axis
 * gives the columns and the leading axes one index column each; a tensor of rank 1 is a single
 * column under its own name, beside its index.
 */
#ifndef API_RENDER_H
#define API_RENDER_H

#include "answer.h"

#define RENDER_SOURCES_MAX 16 /* tensors side by side */

struct render_sheet {
    const struct tree *sources[RENDER_SOURCES_MAX]; /* tensors, each `columns` wide */
    size_t sources_n;
    size_t rows, columns;
    const struct answer_axis *index[TREE_RANK_MAX]; /* index columns, from left to right */
    size_t index_axis[TREE_RANK_MAX];               /* the axis each of them stands for */
    size_t index_n;
    const struct answer_axis *across; /* labels of the columns; NULL: the sources' keys */
    const size_t *shape;
};

/* The answer's main tensor (which must be there) as a sheet. */
void render_sheet_init(struct render_sheet *sheet, const struct answer *answer);
/* Position along each axis of the tensor at a row (all but the last one for rank >= 2). */
void render_sheet_place(const struct render_sheet *sheet, size_t row, size_t place[TREE_RANK_MAX]);

/* A label: text of the axis, a number (- for none), or the place itself. `at` may point into
 * `digits`. */
struct render_label {
    const char *at;
    size_t len;
    char digits[PE_AXES_MAX * PE_TEXT_MAX];
};
void render_label(struct render_label *label, const struct answer_axis *axis, size_t i);
void render_column_label(struct render_label *label, const struct render_sheet *sheet,
                         size_t source, size_t column);

/* One element as text; returns its length. */
size_t render_number(const struct tree_tensor *tensor, size_t i, char out[PE_TEXT_MAX]);

/* A tree without tensors as `name: value` lines, nested names joined by dots. */
void render_tree_txt(struct buf *out, const struct tree *tree);

#endif
