// SPDX-License-Identifier: Apache-2.0
/*
 * raster.c: see raster.h. Each row of pixels is looked at along SUBS lines; where a line is inside
 * the polygon, from one crossing with its edges to another, is known to a hundredth of a pixel.
 */
#include "raster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SUBS      20
#define SUB_STEP  (UNIT / SUBS)
#define SUB_FIRST (SUB_STEP / 2)
#define FULL      (SUBS * UNIT) /* of what a pixel can be covered */

struct edge {
    struct point from, to; /* downwards */
    int32_t winds;         /* +1, -1 */
};

struct crossing {
    int32_t x, winds;
};

struct raster {
    int32_t width, top, rows;
    uint8_t *rgb;
    int32_t *change;     /* of coverage from one pixel to the next, in the row being filled */
    int32_t first, last; /* pixels in which it is not 0 */
    size_t edges_n;
    struct edge edges[RASTER_EDGES_MAX];
    size_t crossings_n[SUBS];
    struct crossing crossings[SUBS][RASTER_EDGES_MAX];
};

struct raster *raster_new(int32_t width, int32_t rows)
{
    struct raster *raster = calloc(1, sizeof *raster);

    if (!raster)
        return NULL;
    raster->width = width;
    raster->rows = rows;
    raster->rgb = calloc((size_t)rows, (size_t)width * 3);
    raster->change = calloc((size_t)width + 2, sizeof *raster->change);
    if (raster->rgb && raster->change)
        return raster;
    raster_free(raster);
    return NULL;
}

void raster_free(struct raster *raster)
{
    if (!raster)
        return;
    free(raster->rgb);
    free(raster->change);
    free(raster);
}

static void put_pixel(uint8_t *at, uint32_t colour)
{
    at[0] = (uint8_t)(colour >> 16);
    at[1] = (uint8_t)(colour >> 8);
    at[2] = (uint8_t)colour;
}

void raster_clear(struct raster *raster, int32_t top, uint32_t colour)
{
    raster->top = top;
    for (int32_t row = 0; row < raster->rows; row++)
        raster_span(raster, top + row, 0, raster->width, colour);
}

const uint8_t *raster_row(const struct raster *raster, int32_t row)
{
    return raster->rgb + (size_t)(row - raster->top) * (size_t)raster->width * 3;
}

bool raster_shows(const struct raster *raster, int32_t top, int32_t bottom)
{
    return bottom > raster->top * UNIT && top < (raster->top + raster->rows) * UNIT;
}

void raster_span(struct raster *raster, int32_t row, int32_t left, int32_t right, uint32_t colour)
{
    if (row < raster->top || row >= raster->top + raster->rows)
        return;
    uint8_t *at = raster->rgb + (size_t)(row - raster->top) * (size_t)raster->width * 3;
    for (int32_t x = left < 0 ? 0 : left; x < right && x < raster->width; x++)
        put_pixel(at + (size_t)x * 3, colour);
}

/* ---- Edges ---------------------------------------------------------------------------------- */

void raster_edge(struct raster *raster, struct point from, struct point to)
{
    if (from.y == to.y)
        return;
    assert(raster->edges_n < RASTER_EDGES_MAX);
    raster->edges[raster->edges_n++] =
        from.y < to.y ? (struct edge){from, to, 1} : (struct edge){to, from, -1};
}

void raster_polygon(struct raster *raster, const struct point *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        raster_edge(raster, points[i], points[i + 1 < n ? i + 1 : 0]);
}

/* Where an edge is at a height between its ends. */
static int32_t edge_at(const struct edge *edge, int32_t y)
{
    int64_t run = (int64_t)(y - edge->from.y) * (edge->to.x - edge->from.x);
    int64_t rise = edge->to.y - edge->from.y;
    int64_t down = run < 0 && run % rise ? 1 : 0; /* to the left always */
    return (int32_t)(edge->from.x + run / rise - down);
}

/* Puts a crossing among those of its line, from left to right. */
static void add_crossing(struct raster *raster, int32_t sub, struct crossing crossing)
{
    struct crossing *line = raster->crossings[sub];
    size_t at = raster->crossings_n[sub]++;

    for (; at > 0 && line[at - 1].x > crossing.x; at--)
        line[at] = line[at - 1];
    line[at] = crossing;
}

static void cross_row(struct raster *raster, int32_t row)
{
    int32_t top = row * UNIT + SUB_FIRST;

    memset(raster->crossings_n, 0, sizeof raster->crossings_n);
    for (size_t i = 0; i < raster->edges_n; i++) {
        const struct edge *edge = &raster->edges[i];
        int32_t sub = edge->from.y <= top ? 0 : (edge->from.y - top + SUB_STEP - 1) / SUB_STEP;
        for (; sub < SUBS && top + sub * SUB_STEP < edge->to.y; sub++)
            add_crossing(raster, sub,
                         (struct crossing){edge_at(edge, top + sub * SUB_STEP), edge->winds});
    }
}

/* ---- Filling -------------------------------------------------------------------------------- */

/* Covers, or uncovers, all that is right of x. */
static void change_at(struct raster *raster, int32_t x, int32_t by)
{
    x = x < 0 ? 0 : x > raster->width * UNIT ? raster->width * UNIT : x;
    int32_t pixel = x / UNIT, part = x % UNIT;
    raster->change[pixel] += by * (UNIT - part);
    raster->change[pixel + 1] += by * part;
    raster->first = pixel < raster->first ? pixel : raster->first;
    raster->last = pixel + 1 > raster->last ? pixel + 1 : raster->last;
}

static void cover_line(struct raster *raster, int32_t sub)
{
    const struct crossing *line = raster->crossings[sub];
    int32_t winds = 0;

    for (size_t i = 0; i < raster->crossings_n[sub]; i++) {
        int32_t before = winds;
        winds += line[i].winds;
        if (before == 0 || winds == 0)
            change_at(raster, line[i].x, before == 0 ? 1 : -1);
    }
}

static void blend(uint8_t *at, uint32_t colour, int32_t covered)
{
    for (int i = 0; i < 3; i++) {
        int32_t paint = (int32_t)(colour >> (16 - 8 * i) & 0xff);
        at[i] = (uint8_t)((paint * covered + at[i] * (FULL - covered) + FULL / 2) / FULL);
    }
}

static void paint_row(struct raster *raster, int32_t row, uint32_t colour)
{
    uint8_t *at = raster->rgb + (size_t)(row - raster->top) * (size_t)raster->width * 3;
    int32_t covered = 0;

    for (int32_t x = raster->first; x <= raster->last; x++) {
        covered += raster->change[x];
        raster->change[x] = 0;
        if (covered > 0 && x < raster->width)
            blend(at + (size_t)x * 3, colour, covered);
    }
}

void raster_fill(struct raster *raster, uint32_t colour)
{
    int32_t top = INT32_MAX, bottom = INT32_MIN;

    for (size_t i = 0; i < raster->edges_n; i++) {
        top = raster->edges[i].from.y < top ? raster->edges[i].from.y : top;
        bottom = raster->edges[i].to.y > bottom ? raster->edges[i].to.y : bottom;
    }
    int32_t first = top / UNIT < raster->top ? raster->top : top / UNIT;
    for (int32_t row = first; row < raster->top + raster->rows && row * UNIT < bottom; row++) {
        raster->first = raster->width + 1;
        raster->last = 0;
        cross_row(raster, row);
        for (int32_t sub = 0; sub < SUBS; sub++)
            cover_line(raster, sub);
        paint_row(raster, row, colour);
    }
    raster->edges_n = 0;
}
