// SPDX-License-Identifier: Apache-2.0
/*
 * chart.h: what pictures of numbers are put together from: titles, legends, panels with axes, and
 * in them lines and cells. What is placed takes its room from the figure's body, so that nothing
 * covers anything; what has none makes the figure cramped.
 */
#ifndef PLOT_CHART_H
#define PLOT_CHART_H

#include "figure.h"
#include "scale.h"

#define PANELS_MAX 16

/* One direction of a panel. */
struct axis {
    const char *name; /* with its unit; NULL: none */
    enum scale_type type;
    double low, high; /* values */
    bool whole;       /* only whole numbers have ticks */
    bool exact;       /* it ends where the values do */
    bool first_on_top;
    /* Of cells: what each stands for, as numbers or words; `low` and `high` follow. */
    size_t cells_n;
    const double *values;
    const char *const *labels;
};

struct panel {
    struct box area;
    struct scale x, y;
};

/* What colours of cells mean. */
struct shades {
    const char *name;
    double low, high;
    enum ramp ramp;
};

/* A line, or dots, and what they are of. */
struct legend {
    const char *text;
    enum ink ink;
    bool dots;
    struct dash dash;
    int32_t width; /* of a line, 0: as usual; of dots their radius */
};

/* Title, and a line of second rank (NULL: none), on top. Both are shortened where they are too
 * long. */
void chart_title(struct figure *figure, const char *title, const char *below);
/* Below the title. */
void chart_legend(struct figure *figure, const struct legend *entries, size_t n);
/* A sentence at the bottom, in as many lines as it takes. */
void chart_note(struct figure *figure, const char *text);
/* Room at the right for what the colours mean; chart_shades() puts it beside an area, once that is
 * known. */
void chart_shades_room(struct figure *figure, const struct shades *shades);
void chart_shades(struct figure *figure, const struct shades *shades, const struct box *area);
/* The body in n boxes, row by row; `aspect`: width of a box over its height that is best, x 100. */
void chart_split(struct figure *figure, size_t n, int32_t aspect, struct box *boxes);
/* Axes around the panel's area, within the box; `caption` above, NULL: none. Cells get an area in
 * which they are alike, if `square` as high as wide. */
void chart_axes(struct figure *figure, const struct box *box, const char *caption,
                const struct axis *x, const struct axis *y, bool square, struct panel *panel);

/* Shades from the least to the greatest; where the values are on both sides of zero and that means
 * something, as far to either. */
struct shades chart_shades_of(const char *name, const double *values, size_t n, bool about_zero);
uint8_t chart_level(const struct shades *shades, double value);
/* Rows from the top; where there is room, with their values. */
void chart_cells(struct figure *figure, const struct panel *panel, size_t rows, size_t columns,
                 const double *values, const struct shades *shades);
/* Values without a place in the panel, as those that are no numbers, interrupt a line. */
void chart_line(struct figure *figure, const struct panel *panel, const double *x, const double *y,
                size_t n, const struct legend *style);
/* A text that is no wider, with an ellipsis if it was; in the arena. */
const char *chart_shorten(struct figure *figure, const char *text, int32_t size, int32_t width);
/* Lines of a text, from the top of the box; where they end. Past `bottom` the figure is cramped. */
int32_t chart_paragraph(struct figure *figure, const struct box *box, enum ink ink, int32_t size,
                        const char *text);

#endif
