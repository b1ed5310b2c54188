// SPDX-License-Identifier: Apache-2.0
/*
 * raster.h: polygons into pixels, with smooth edges. All in integers, so that the same polygon
 * gives the same pixels on every machine and of every compiler. Places are hundredths of a pixel.
 */
#ifndef PLOT_RASTER_H
#define PLOT_RASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "figure.h"

#define RASTER_EDGES_MAX 1024 /* of what is filled at once */

struct raster;

/* Pixels of a picture from row `top` on, `rows` of them; those before and after are not kept. NULL
 * without memory. */
struct raster *raster_new(int32_t width, int32_t rows);
void raster_free(struct raster *raster);
/* Begins anew at another row, all in one colour. */
void raster_clear(struct raster *raster, int32_t top, uint32_t colour);
/* Three bytes a pixel: red, green, blue. */
const uint8_t *raster_row(const struct raster *raster, int32_t row);

/* Adds an edge; edges of closed polygons, whose inside is where they wind around. Those past
 * RASTER_EDGES_MAX are a mistake of the caller. */
void raster_edge(struct raster *raster, struct point from, struct point to);
void raster_polygon(struct raster *raster, const struct point *points, size_t n);
/* Paints the inside of all edges added since. */
void raster_fill(struct raster *raster, uint32_t colour);
/* Whole pixels of a row, from left to right (exclusive). */
void raster_span(struct raster *raster, int32_t row, int32_t left, int32_t right, uint32_t colour);
bool raster_shows(const struct raster *raster, int32_t top, int32_t bottom);

#endif
