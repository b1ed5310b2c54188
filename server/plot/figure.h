// SPDX-License-Identifier: Apache-2.0
/*
 * figure.h: a picture as a list of marks, painted in their order: lines, areas, dots, cells, text.
 * svg.c writes it as text, png.c draws it. Whoever makes one says where things are and what they
 * mean; which colours that comes to is palette.h's.
 *
 * Places and lengths are integers, hundredths of the unit of SVG (a CSS pixel), y downwards: both
 * formats show the same, and it does not depend on the machine.
 */
#ifndef PLOT_FIGURE_H
#define PLOT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "palette.h"

#define UNIT        100 /* of a CSS pixel */
#define DENSITY_MAX 3   /* pixels of a PNG for each CSS pixel */

struct point {
    int32_t x, y;
};

struct box {
    int32_t left, top, right, bottom;
};

/* Of a line that is broken: its pieces and the gaps between them; all 0: it is whole. */
struct dash {
    int32_t on, off;
};

enum mark_type { MARK_LINE, MARK_AREA, MARK_DOTS, MARK_CELLS, MARK_TEXT };
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

struct mark {
    enum mark_type type;
    enum ink ink;
    int32_t size; /* of a line its width, of dots their radius, of text its height */
    struct dash dash;
    const char *name;           /* what a line or dots are of, for readers of SVG; NULL */
    const struct point *points; /* a line's, an area's, the dots' */
    size_t points_n;
    struct { /* MARK_TEXT: at the base line */
        struct point at;
        enum anchor anchor;
        const char *text;
    } caption;
    struct { /* MARK_CELLS: levels of a colour map, row by row from the top */
        struct box box;
        size_t rows, columns;
        const uint8_t *levels;
        enum ramp ramp;
    } cells;
    struct mark *next;
};

struct figure {
    struct arena *arena;
    int32_t width, height; /* CSS pixels */
    struct look look;
    int32_t text_size;             /* of captions; titles are larger */
    const char *title, *describes; /* for those who do not see it */
    struct mark *first, *last;
    struct mark nowhere; /* what is returned without memory; never painted */
    struct box body;     /* what titles and legends have left so far */
    bool failed;         /* no memory */
    bool cramped;        /* something has no room in this size */
};

/* Everything is in the arena, and so must be all texts. */
void figure_init(struct figure *figure, struct arena *arena, int32_t width, int32_t height);

/* Each appends a mark; without memory the figure has failed. The points are not copied. */
struct mark *figure_line(struct figure *figure, const struct point *points, size_t n, enum ink ink,
                         int32_t width);
struct mark *figure_area(struct figure *figure, const struct point *points, size_t n, enum ink ink);
struct mark *figure_dots(struct figure *figure, const struct point *points, size_t n, enum ink ink,
                         int32_t radius);
struct mark *figure_cells(struct figure *figure, const struct box *box, size_t rows, size_t columns,
                          const uint8_t *levels, enum ramp ramp);
struct mark *figure_text(struct figure *figure, struct point at, enum anchor anchor, enum ink ink,
                         int32_t size, const char *text);
/* A straight line. */
struct mark *figure_rule(struct figure *figure, struct point from, struct point to, enum ink ink,
                         int32_t width);
struct mark *figure_box(struct figure *figure, const struct box *box, enum ink ink);
/* Memory for n points. NULL: the figure has failed. */
struct point *figure_points(struct figure *figure, size_t n);

#endif
