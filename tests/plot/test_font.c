// SPDX-License-Identifier: Apache-2.0
/* test_font.c: UTF-8, the widths of DejaVu Sans, what it lacks, and that its outlines are whole. */
#include <criterion/criterion.h>
#include <string.h>

#include "font.h"
#include "glyphs.h"

Test(font, reads_utf8_and_broken_bytes_one_by_one)
{
    static const uint32_t expected[] = {'a', 0xe9, 0x416, 0x20ac, 0x1f600, 0xff, 'z', 0xe2, 0};
    const char *text = "a\xc3\xa9\xd0\x96\xe2\x82\xac\xf0\x9f\x98\x80\xff"
                       "z\xe2";
    const char *at = text;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        cr_expect_eq(font_next(&at), expected[i], "character %zu", i);
    cr_expect_eq(at, text + strlen(text));
    cr_expect_eq(font_next(&at), 0);
}

/* Advances as the font's table hmtx has them, in 2048ths of the size. */
Test(font, is_as_wide_as_the_file_says)
{
    static const struct {
        const char *text;
        int32_t units;
    } rows[] = {{"", 0},    {" ", 651},         {"A", 1401},        {"0", 1303},
                {"i", 569}, {"Ai", 1401 + 569}, {"\xd0\x96", 2206}, {"\xe6\x97\xa5", 2048}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(font_width(rows[i].text, GLYPH_EM), rows[i].units, "\"%s\": %d", rows[i].text,
                     font_width(rows[i].text, GLYPH_EM));
    cr_expect_eq(font_width("A", 1200), (1401 * 1200 + 2047) / 2048);
}

Test(font, finds_what_it_lacks)
{
    cr_expect_eq(font_missing("Wavelength \xe2\x88\x92 10\xe2\x81\xb4 \xce\xb8 \xd0\x96"), 0);
    cr_expect_eq(font_missing("a\xe6\x97\xa5"), 0x65e5);
    cr_expect_null(font_glyph(0x1f600));
}

Test(font, fits_whole_characters)
{
    cr_expect_eq(font_fit("AAA", GLYPH_EM, 2 * 1401), 2);
    cr_expect_eq(font_fit("AAA", GLYPH_EM, 2 * 1401 - 1), 1);
    cr_expect_eq(font_fit("\xd0\x96\xd0\x96", GLYPH_EM, 2206), 2);
    cr_expect_eq(font_fit("AAA", GLYPH_EM, 100000), 3);
}

/* Contours have points, within two ems of the base line; "u" has one that is a single point. */
Test(font, has_whole_outlines)
{
    cr_assert_gt(glyphs_n, 500);
    for (size_t i = 0; i < glyphs_n; i++) {
        cr_assert(i == 0 || glyphs[i].code > glyphs[i - 1].code, "U+%04X", glyphs[i].code);
        size_t points = 1;
        for (uint32_t at = glyphs[i].first; at < glyphs[i + 1].first; at++) {
            const int16_t *units = glyph_points + (size_t)2 * at;
            bool begins = units[0] == GLYPH_CONTOUR;
            cr_assert(!begins || points >= 1, "U+%04X: %zu points", glyphs[i].code, points);
            points = begins ? 0 : points + 1;
            cr_assert(begins || (units[0] > -GLYPH_EM && units[0] < 2 * GLYPH_EM &&
                                 units[1] > -GLYPH_EM && units[1] < 2 * GLYPH_EM),
                      "U+%04X at %d, %d", glyphs[i].code, units[0], units[1]);
        }
        cr_assert_geq(points, 1, "U+%04X", glyphs[i].code);
    }
}
