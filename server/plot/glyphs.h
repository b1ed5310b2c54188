// SPDX-License-Identifier: Apache-2.0
/*
 * glyphs.h: the font of pictures as deploy/glyphs.c makes it when the daemon is built: DejaVu Sans,
 * in its own units. The fonts are free to embed (Bitstream Vera licence, changes in the public
 * domain).
 */
#ifndef PLOT_GLYPHS_H
#define PLOT_GLYPHS_H

#include <stddef.h>
#include <stdint.h>

#define GLYPH_EM      2048     /* units */
#define GLYPH_CONTOUR (-32768) /* in place of x: here begins another contour */

struct glyph {
    uint32_t code;
    int32_t advance; /* units */
    uint32_t first;  /* of its points; those of the next glyph follow */
};

extern const int16_t glyph_points[]; /* x, y, x, y, ...; y upwards */
extern const struct glyph glyphs[];  /* by code, and one more to end the last */
extern const size_t glyphs_n;

#endif
