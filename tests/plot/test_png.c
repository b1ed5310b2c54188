// SPDX-License-Identifier: Apache-2.0
/* test_png.c: the pixels that libpng reads again: where marks are, at every density, across bands.
 */
#include <criterion/criterion.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

#define WIDTH  240
#define HEIGHT 160

static struct arena arena;
static struct figure figure;
static uint8_t *rgb;
static size_t width, height;

static void begin(void)
{
    arena_init(&arena, 1 << 20);
    figure_init(&figure, &arena, WIDTH, HEIGHT);
}

static void end(void)
{
    free(rgb);
    arena_release(&arena);
}

TestSuite(png, .init = begin, .fini = end);

static void draw(unsigned density)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    struct buf out;
    buf_init(&out, 1 << 22);
    cr_assert(picture_write_png(&out, &figure, density));
    cr_assert(png_image_begin_read_from_memory(&image, out.data, out.len));
    image.format = PNG_FORMAT_RGB;
    free(rgb);
    rgb = malloc(PNG_IMAGE_SIZE(image));
    cr_assert(png_image_finish_read(&image, NULL, rgb, 0, NULL));
    width = image.width;
    height = image.height;
    buf_release(&out);
}

static uint32_t at(size_t x, size_t y)
{
    const uint8_t *pixel = rgb + 3 * (y * width + x);
    return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

static uint32_t colour(enum ink ink)
{
    return palette_ink(PALETTE_DEFAULT, THEME_LIGHT, ink);
}

Test(png, has_the_size_and_the_paper)
{
    for (unsigned density = 1; density <= DENSITY_MAX; density++) {
        draw(density);
        cr_expect_eq(width, WIDTH * density);
        cr_expect_eq(height, HEIGHT * density);
        for (size_t i = 0; i < width * height; i++)
            cr_assert_eq(at(i % width, i / width), 0xffffff);
    }
    figure.look.theme = THEME_DARK;
    draw(1);
    cr_expect_eq(at(0, 0), palette_ink(PALETTE_DEFAULT, THEME_DARK, INK_PAPER));
}

/* Bands end at row 64 and 128. */
Test(png, draws_boxes_across_bands)
{
    figure_box(&figure, &(struct box){2000, 3000, 5000, 13000}, INK_SERIES);
    for (unsigned density = 1; density <= DENSITY_MAX; density++) {
        draw(density);
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++) {
                bool inside =
                    x >= 20 * density && x < 50 * density && y >= 30 * density && y < 130 * density;
                cr_assert_eq(at(x, y), inside ? colour(INK_SERIES) : 0xffffff, "%zu, %zu", x, y);
            }
    }
}

/* From the middle of one pixel to that of another, two pixels wide. */
Test(png, draws_lines_and_dashes)
{
    figure_rule(&figure, (struct point){1000, 2000}, (struct point){9000, 2000}, INK_SERIES, 200);
    struct mark *broken =
        figure_rule(&figure, (struct point){1000, 5000}, (struct point){9000, 5000}, INK_TEXT, 200);
    broken->dash = (struct dash){800, 400};
    draw(1);
    for (size_t x = 12; x < 88; x++) {
        cr_assert_eq(at(x, 19), colour(INK_SERIES), "%zu", x);
        cr_assert_eq(at(x, 20), colour(INK_SERIES), "%zu", x);
        cr_assert_eq(at(x, 18), 0xffffff, "%zu", x);
        cr_assert_eq(at(x, 50), (x - 10) % 12 < 8 ? colour(INK_TEXT) : 0xffffff, "%zu", x);
    }
}

Test(png, draws_dots_and_slopes)
{
    static const struct point center = {10000, 8000};
    figure_dots(&figure, &center, 1, INK_SERIES + 1, 1000);
    figure_rule(&figure, (struct point){1000, 1000}, (struct point){5000, 5000}, INK_AXIS, 300);
    draw(2);
    cr_expect_eq(at(200, 160), colour(INK_SERIES + 1));
    cr_expect_eq(at(200 + 18, 160), colour(INK_SERIES + 1));
    cr_expect_eq(at(200 + 22, 160), 0xffffff);
    cr_expect_eq(at(200 + 16, 160 + 16), 0xffffff);
    cr_expect_eq(at(60, 60), colour(INK_AXIS));
    cr_expect_eq(at(70, 60), 0xffffff);
}

Test(png, paints_cells_of_any_size)
{
    static const uint8_t levels[] = {0, 255, 255, 0};
    figure_cells(&figure, &(struct box){1000, 1000, 1750, 3000}, 2, 2, levels, RAMP_RISING);
    draw(2); /* cells of 7.5 by 20 pixels from 20, 20 */
    cr_expect_eq(at(20, 20), 0x00224e);
    cr_expect_eq(at(26, 39), 0x00224e);
    cr_expect_eq(at(28, 39), 0xfee838);
    cr_expect_eq(at(20, 40), 0xfee838);
    cr_expect_eq(at(34, 59), 0x00224e);
    cr_expect_eq(at(35, 59), 0xffffff);
    cr_expect_eq(at(20, 60), 0xffffff);
}

/* "I" at a size at which its stem covers the fourth pixel; what is anchored at its end ends
 * there. */
Test(png, writes_text)
{
    figure_text(&figure, (struct point){5000, 10000}, ANCHOR_START, INK_TEXT, 2048, "I");
    figure_text(&figure, (struct point){20000, 10000}, ANCHOR_END, INK_TEXT, 2048, "I");
    draw(1);
    cr_expect_eq(at(53, 95), colour(INK_TEXT));
    cr_expect_eq(at(53, 86), colour(INK_TEXT));
    cr_expect_eq(at(50, 95), 0xffffff);
    cr_expect_eq(at(55, 95), 0xffffff);
    cr_expect_eq(at(52, 101), 0xffffff);
    cr_expect_eq(at(52, 83), 0xffffff);
    cr_expect_eq(at(200 - 6 + 3, 95), colour(INK_TEXT));
    cr_expect_eq(at(201, 95), 0xffffff);
}
