// SPDX-License-Identifier: Apache-2.0
/*
 * picture.h: a figure in its formats. The same figure gives the same bytes; those of PNG also
 * depend on zlib, which compresses them, but its pixels do not.
 */
#ifndef PLOT_PICTURE_H
#define PLOT_PICTURE_H

#include "buf.h"
#include "figure.h"

void picture_write_svg(struct buf *out, const struct figure *figure);
/* `density` pixels for each unit of width and height, 1 .. DENSITY_MAX. With THEME_AUTO it is
 * light. False without memory. */
bool picture_write_png(struct buf *out, const struct figure *figure, unsigned density);

#endif
