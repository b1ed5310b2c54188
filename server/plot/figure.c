// SPDX-License-Identifier: Apache-2.0
/* figure.c: see figure.h. */
#include "figure.h"

#define TEXT_SIZE (12 * UNIT)

void figure_init(struct figure *figure, struct arena *arena, int32_t width, int32_t height)
{
    *figure = (struct figure){.arena = arena, .width = width, .height = height};
    figure->text_size = TEXT_SIZE;
    figure->title = figure->describes = "";
    figure->body = (struct box){0, 0, width * UNIT, height * UNIT};
}

static struct mark *append(struct figure *figure, enum mark_type type, enum ink ink, int32_t size)
{
    struct mark *mark = arena_calloc(figure->arena, 1, sizeof *mark);

    if (!mark) {
        figure->failed = true;
        return &figure->nowhere;
    }
    mark->type = type;
    mark->ink = ink;
    mark->size = size;
    if (figure->last)
        figure->last->next = mark;
    else
        figure->first = mark;
    figure->last = mark;
    return mark;
}

static struct mark *append_points(struct figure *figure, enum mark_type type, enum ink ink,
                                  int32_t size, const struct point *points, size_t n)
{
    struct mark *mark = append(figure, type, ink, size);
    mark->points = points;
    mark->points_n = points ? n : 0;
    return mark;
}

struct mark *figure_line(struct figure *figure, const struct point *points, size_t n, enum ink ink,
                         int32_t width)
{
    return append_points(figure, MARK_LINE, ink, width, points, n);
}

struct mark *figure_area(struct figure *figure, const struct point *points, size_t n, enum ink ink)
{
    return append_points(figure, MARK_AREA, ink, 0, points, n);
}

struct mark *figure_dots(struct figure *figure, const struct point *points, size_t n, enum ink ink,
                         int32_t radius)
{
    return append_points(figure, MARK_DOTS, ink, radius, points, n);
}

struct mark *figure_cells(struct figure *figure, const struct box *box, size_t rows, size_t columns,
                          const uint8_t *levels, enum ramp ramp)
{
    struct mark *mark = append(figure, MARK_CELLS, INK_TEXT, 0);
    mark->cells.box = *box;
    mark->cells.rows = rows;
    mark->cells.columns = columns;
    mark->cells.levels = levels;
    mark->cells.ramp = ramp;
    return mark;
}

struct mark *figure_text(struct figure *figure, struct point at, enum anchor anchor, enum ink ink,
                         int32_t size, const char *text)
{
    struct mark *mark = append(figure, MARK_TEXT, ink, size);
    if (!text)
        figure->failed = true;
    mark->caption.at = at;
    mark->caption.anchor = anchor;
    mark->caption.text = text ? text : "";
    return mark;
}

struct point *figure_points(struct figure *figure, size_t n)
{
    struct point *points = arena_calloc(figure->arena, n, sizeof *points);
    figure->failed |= !points;
    return points;
}

struct mark *figure_rule(struct figure *figure, struct point from, struct point to, enum ink ink,
                         int32_t width)
{
    struct point *points = figure_points(figure, 2);
    if (points) {
        points[0] = from;
        points[1] = to;
    }
    return figure_line(figure, points, 2, ink, width);
}

struct mark *figure_box(struct figure *figure, const struct box *box, enum ink ink)
{
    struct point *points = figure_points(figure, 4);
    if (points) {
        points[0] = (struct point){box->left, box->top};
        points[1] = (struct point){box->right, box->top};
        points[2] = (struct point){box->right, box->bottom};
        points[3] = (struct point){box->left, box->bottom};
    }
    return figure_area(figure, points, 4, ink);
}
