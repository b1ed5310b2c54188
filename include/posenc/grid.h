// SPDX-License-Identifier: Apache-2.0
/* grid.h: positions of the cells of a grid, such as the patches of an image. See posenc.h. */
#ifndef POSENC_GRID_H
#define POSENC_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "position.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PE_GRID_SIDE_MAX ((size_t)4096) /* cells along one axis */

/* In which order the cells follow each other. */
enum pe_grid_order {
    PE_GRID_ROW,    /* the last axis runs fastest */
    PE_GRID_COLUMN, /* the first axis runs fastest */
    PE_GRID_MERGE,  /* row by row inside of blocks of merge x merge cells on the last two axes, and
                       block by block in the same way; the axes before them outside of all that */
};

/* What coordinate the cell of number i = 0, 1, ... has on an axis of N cells. */
enum pe_coords {
    PE_COORDS_INDEX,    /* i + offset */
    PE_COORDS_LINSPACE, /* from -1 to 1, both included: 2i/(N-1) - 1; -1 where N = 1 */
    PE_COORDS_CENTER,   /* middles of cells between -1 and 1: 2(i + 0.5)/N - 1 */
    PE_COORDS_SCALED,   /* (i + offset)/N * ref */
    PE_COORDS_CROP,     /* start + (stop - start) i/N */
};

struct pe_grid {
    size_t axes;              /* 1 to PE_AXES_MAX, */
    size_t size[PE_AXES_MAX]; /* outermost first: rows, columns; frames, rows, columns */
    enum pe_grid_order order;
    size_t merge; /* PE_GRID_MERGE: side of a block */
    enum pe_coords coords;
    double offset;
    double ref[PE_AXES_MAX], start[PE_AXES_MAX], stop[PE_AXES_MAX]; /* where the rule reads them */
    bool longest; /* N is the longest side for all axes, not each axis' own */
};

/* Reads the sizes: "14x14", "4x14x14". */
bool pe_grid_parse(const char *text, const char *param, struct pe_grid *grid,
                   struct pe_faults *faults);
/* The canonical text of the sizes. Returns the length it needs, as snprintf does. */
size_t pe_grid_print(const struct pe_grid *grid, char *out, size_t size);
#define PE_GRID_TEXT_MAX 48 /* bytes, with the NUL */
/* Whether blocks fill the grid, and all coordinates are positions. */
bool pe_grid_check(const struct pe_grid *grid, struct pe_faults *faults);
size_t pe_grid_cells(const struct pe_grid *grid);
/* Where the cell that comes in place `cell` stands on an axis: its number i there. */
size_t pe_grid_index(const struct pe_grid *grid, size_t axis, size_t cell);
/* The coordinate of number i: the double nearest to the rule's real value. Slow where that is no
 * quotient of whole numbers. */
double pe_grid_coordinate(const struct pe_grid *grid, size_t axis, size_t i);

/* For kinds that count pixels: coordinates of the cells of a map of rows x columns, row by row,
 * from whether each is valid (NULL: all are): how many valid ones there are in its column up to its
 * row, and in its row up to its column; then, for axes_n = 4, how many in all of its column, and of
 * its row. at: one list of rows * columns per axis. */
void pe_pixels_count(const bool *valid, size_t rows, size_t columns, size_t axes_n,
                     double *const at[]);

#ifdef __cplusplus
}
#endif

#endif
