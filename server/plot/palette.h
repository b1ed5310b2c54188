// SPDX-License-Identifier: Apache-2.0
/*
 * palette.h: the colours of pictures. Lines have those of Okabe and Ito, which people of any colour
 * vision tell apart, darker or lighter where the paper asks for it; numbers in cells those of
 * cividis, or between two that differ from a neutral middle where they have a sign.
 */
#ifndef PLOT_PALETTE_H
#define PLOT_PALETTE_H

#include <stdint.h>

#define SERIES_N 8
#define LEVELS_N 256 /* of a ramp */

enum ink {
    INK_PAPER,
    INK_TEXT,
    INK_MUTED, /* captions of second rank */
    INK_AXIS,
    INK_RULE,    /* lines to read values by */
    INK_SHADE,   /* areas behind lines */
    INK_ON_DARK, /* on cells, whatever the theme */
    INK_ON_LIGHT,
    INK_SERIES, /* the first of SERIES_N */
    INKS_N = INK_SERIES + SERIES_N
};

enum ramp { RAMP_RISING, RAMP_SIGNED };
enum theme { THEME_LIGHT, THEME_DARK, THEME_AUTO }; /* auto: what the reader prefers, in SVG */
enum palette { PALETTE_DEFAULT, PALETTE_CIVIDIS, PALETTE_GRAY };

struct look {
    enum theme theme;
    enum palette palette;
};

/* 0xrrggbb. Of a theme that is light or dark. */
uint32_t palette_ink(enum palette palette, enum theme theme, enum ink ink);
uint32_t palette_level(enum palette palette, enum ramp ramp, uint8_t level);
/* The one of INK_ON_DARK and INK_ON_LIGHT that can be read on a level. */
enum ink palette_on(enum palette palette, enum ramp ramp, uint8_t level);

#endif
