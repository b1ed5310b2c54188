// SPDX-License-Identifier: Apache-2.0
/*
 * test_palette.c: what is written can be read on what it is written on, lines stand out and differ,
 * also for those who do not see red or green, and ramps rise. Contrast as WCAG 2 defines it.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "palette.h"

static double linear(uint32_t part)
{
    double value = part / 255.0;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t colour)
{
    return 0.2126 * linear(colour >> 16) + 0.7152 * linear(colour >> 8 & 0xff) +
           0.0722 * linear(colour & 0xff);
}

static double contrast(uint32_t a, uint32_t b)
{
    double low = luminance(a), high = luminance(b);
    return (fmax(low, high) + 0.05) / (fmin(low, high) + 0.05);
}

Test(palette, captions_can_be_read)
{
    for (enum palette palette = PALETTE_DEFAULT; palette <= PALETTE_GRAY; palette++)
        for (enum theme theme = THEME_LIGHT; theme <= THEME_DARK; theme++) {
            uint32_t paper = palette_ink(palette, theme, INK_PAPER);
            cr_expect_geq(contrast(palette_ink(palette, theme, INK_TEXT), paper), 7);
            cr_expect_geq(contrast(palette_ink(palette, theme, INK_MUTED), paper), 4.5);
            for (int i = 0; i < SERIES_N; i++) {
                uint32_t line = palette_ink(palette, theme, (enum ink)(INK_SERIES + i));
                cr_expect_geq(contrast(line, paper), 3, "palette %d, theme %d, line %d: %06x: %g",
                              palette, theme, i, line, contrast(line, paper));
            }
        }
}

Test(palette, numbers_on_cells_can_be_read)
{
    for (enum palette palette = PALETTE_DEFAULT; palette <= PALETTE_GRAY; palette++)
        for (enum ramp ramp = RAMP_RISING; ramp <= RAMP_SIGNED; ramp++)
            for (int level = 0; level < LEVELS_N; level++) {
                uint32_t cell = palette_level(palette, ramp, (uint8_t)level);
                enum ink ink = palette_on(palette, ramp, (uint8_t)level);
                double seen = contrast(cell, palette_ink(palette, THEME_LIGHT, ink));
                cr_expect_geq(seen, 4.5, "palette %d, ramp %d, level %d: %06x: %g", palette, ramp,
                              level, cell, seen);
            }
}

Test(palette, ramps_rise)
{
    for (enum palette palette = PALETTE_DEFAULT; palette <= PALETTE_GRAY; palette++)
        for (int level = 1; level < LEVELS_N; level++)
            cr_expect_geq(luminance(palette_level(palette, RAMP_RISING, (uint8_t)level)),
                          luminance(palette_level(palette, RAMP_RISING, (uint8_t)(level - 1))),
                          "palette %d, level %d", palette, level);
    cr_expect_eq(palette_level(PALETTE_CIVIDIS, RAMP_RISING, 0), 0x00224e);
    cr_expect_eq(palette_level(PALETTE_CIVIDIS, RAMP_RISING, 255), 0xfee838);
    /* Both signs grow darker from the middle, which is neutral. */
    for (int level = 1; level < 128; level++) {
        cr_expect_geq(luminance(palette_level(PALETTE_DEFAULT, RAMP_SIGNED, (uint8_t)level)),
                      luminance(palette_level(PALETTE_DEFAULT, RAMP_SIGNED, (uint8_t)(level - 1))));
        cr_expect_geq(
            luminance(palette_level(PALETTE_DEFAULT, RAMP_SIGNED, (uint8_t)(255 - level))),
            luminance(palette_level(PALETTE_DEFAULT, RAMP_SIGNED, (uint8_t)(256 - level))));
    }
}

/* As those without red or green cones see it (Vienot, Brettel and Mollon 1999), in linear light. */
static void seen_without(int cone, uint32_t colour, double out[3])
{
    double r = linear(colour >> 16), g = linear(colour >> 8 & 0xff), b = linear(colour & 0xff);
    double mixed = cone == 0 ? 0.11238 * r + 0.88762 * g : 0.29275 * r + 0.70725 * g;
    out[0] = out[1] = mixed;
    out[2] = cone == 0 ? 0.00401 * r - 0.00401 * g + b : -0.02234 * r + 0.02234 * g + b;
}

/* Two of the first five lines differ by some light, or by some blue, for everybody. */
Test(palette, lines_differ_for_everybody)
{
    for (enum theme theme = THEME_LIGHT; theme <= THEME_DARK; theme++)
        for (int a = 0; a < 5; a++)
            for (int b = 0; b < a; b++)
                for (int cone = 0; cone < 2; cone++) {
                    double first[3], second[3], apart = 0;
                    seen_without(cone,
                                 palette_ink(PALETTE_DEFAULT, theme, (enum ink)(INK_SERIES + a)),
                                 first);
                    seen_without(cone,
                                 palette_ink(PALETTE_DEFAULT, theme, (enum ink)(INK_SERIES + b)),
                                 second);
                    for (int i = 0; i < 3; i++)
                        apart =
                            fmax(apart, fabs(cbrt(fmax(first[i], 0)) - cbrt(fmax(second[i], 0))));
                    cr_expect_geq(apart, 0.05, "theme %d, lines %d and %d: %g", theme, a, b, apart);
                }
}
