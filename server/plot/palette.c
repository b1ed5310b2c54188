// SPDX-License-Identifier: Apache-2.0
/* palette.c: see palette.h. */
#include "palette.h"

#include <stdbool.h>
#include <stddef.h>

#define GRAY_OF_BLACK 117

/* Light, dark. */
static const uint32_t inks[INK_SERIES][2] = {
    [INK_PAPER] = {0xffffff, 0x16181d},   [INK_TEXT] = {0x1c1e21, 0xe8eaed},
    [INK_MUTED] = {0x5a6068, 0xa9b0ba},   [INK_AXIS] = {0x80868e, 0x868d97},
    [INK_RULE] = {0xe4e6e9, 0x2d3138},    [INK_SHADE] = {0xf1f3f6, 0x20242b},
    [INK_ON_DARK] = {0xffffff, 0xffffff}, [INK_ON_LIGHT] = {0x000000, 0x000000},
};

static const uint32_t series[SERIES_N][2] = {
    {0x0072b2, 0x4fa8e0}, {0xc04a00, 0xff8a45}, {0x009e73, 0x2cc79a}, {0xb45c93, 0xe59ac6},
    {0xb87a00, 0xf2b632}, {0x3a93c8, 0x8cd0f5}, {0x3c4043, 0xd8d8d8}, {0x7d6f00, 0xf0e442},
};

/* Colours at equal steps from the least to the greatest. */
static const uint32_t cividis[] = {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173,
                                   0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838};
static const uint32_t gray[] = {0x161616, 0xf6f6f6};
static const uint32_t signed_steps[] = {0x08427a, 0x2f7dbb, 0x9cc6e4, 0xf5f3ef,
                                        0xf0b98a, 0xd2691e, 0x8a3500};

static uint32_t mixed(const uint32_t *steps, size_t n, unsigned level)
{
    size_t at = level * (n - 1), i = at / (LEVELS_N - 1);
    uint32_t part = (uint32_t)(at % (LEVELS_N - 1)), colour = 0;

    for (int shift = 16; shift >= 0 && i + 1 < n; shift -= 8) {
        uint32_t from = steps[i] >> shift & 0xff, to = steps[i + 1] >> shift & 0xff;
        uint32_t value = from * (LEVELS_N - 1 - part) + to * part + (LEVELS_N - 1) / 2;
        colour |= value / (LEVELS_N - 1) << shift;
    }
    return i + 1 < n ? colour : steps[n - 1];
}

uint32_t palette_level(enum palette palette, enum ramp ramp, uint8_t level)
{
    if (palette == PALETTE_GRAY)
        return mixed(gray, sizeof gray / sizeof gray[0], level);
    if (palette == PALETTE_DEFAULT && ramp == RAMP_SIGNED)
        return mixed(signed_steps, sizeof signed_steps / sizeof signed_steps[0], level);
    return mixed(cividis, sizeof cividis / sizeof cividis[0], level);
}

/* Lines in the colours of a ramp, as far as they stand out from the paper. */
static uint32_t series_of_ramp(enum palette palette, enum theme theme, unsigned i)
{
    unsigned first = theme == THEME_DARK ? 110 : 0, last = theme == THEME_DARK ? 255 : 135;
    return palette_level(palette, RAMP_RISING,
                         (uint8_t)(first + i * (last - first) / (SERIES_N - 1)));
}

uint32_t palette_ink(enum palette palette, enum theme theme, enum ink ink)
{
    bool dark = theme == THEME_DARK;

    if (ink < INK_SERIES)
        return inks[ink][dark];
    unsigned i = (unsigned)ink - INK_SERIES;
    return palette == PALETTE_DEFAULT ? series[i][dark] : series_of_ramp(palette, theme, i);
}

enum ink palette_on(enum palette palette, enum ramp ramp, uint8_t level)
{
    uint32_t colour = palette_level(palette, ramp, level);
    uint32_t red = colour >> 16, green = colour >> 8 & 0xff, blue = colour & 0xff;
    /* Light is about the square of the value; from this gray on black stands out more than white.
     */
    uint32_t light = (2126 * red * red + 7152 * green * green + 722 * blue * blue) / 10000;
    return light < GRAY_OF_BLACK * GRAY_OF_BLACK ? INK_ON_DARK : INK_ON_LIGHT;
}
