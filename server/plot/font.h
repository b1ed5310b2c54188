// SPDX-License-Identifier: Apache-2.0
/*
 * font.h: text as wide as it is drawn, and its outlines. Lengths are in hundredths of a unit of the
 * picture, as everywhere in this layer (figure.h). Text is UTF-8; a character that the font does
 * not have is as wide as an em, as those of many scripts are.
 */
#ifndef PLOT_FONT_H
#define PLOT_FONT_H

#include <stddef.h>
#include <stdint.h>

struct glyph;

/* The next character of *text, which moves on; 0 at the end. Broken bytes count one by one. */
uint32_t font_next(const char **text);
/* NULL: the font does not have it. */
const struct glyph *font_glyph(uint32_t code);
/* The first character that the font does not have, 0: it has all. */
uint32_t font_missing(const char *text);
int32_t font_width(const char *text, int32_t size);
/* Bytes of the longest beginning that is no wider. */
size_t font_fit(const char *text, int32_t size, int32_t width);

#endif
