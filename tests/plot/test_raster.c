// SPDX-License-Identifier: Apache-2.0
/* test_raster.c: how much of each pixel a polygon covers, by its area. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "raster.h"

#define SIDE 12

static struct raster *raster;

static void begin(void)
{
    raster = raster_new(SIDE, SIDE);
    raster_clear(raster, 0, 0);
}

static void end(void)
{
    raster_free(raster);
}

TestSuite(raster, .init = begin, .fini = end);

static int at(int x, int y)
{
    return raster_row(raster, y)[3 * x];
}

static void add_box(int left, int top, int right, int bottom)
{
    raster_polygon(raster,
                   (struct point[]){{left, top}, {right, top}, {right, bottom}, {left, bottom}}, 4);
}

static int sum(void)
{
    int all = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        all += at(i % SIDE, i / SIDE);
    return all;
}

/* A quarter of a pixel, a half, all of it. */
Test(raster, covers_by_area)
{
    add_box(150, 250, 400, 400);
    raster_fill(raster, 0xffffff);
    cr_expect_eq(at(1, 2), 64);
    cr_expect_eq(at(2, 2), 128);
    cr_expect_eq(at(1, 3), 128);
    cr_expect_eq(at(3, 3), 255);
    cr_expect_eq(at(4, 3), 0);
    cr_expect_eq(at(3, 4), 0);
}

/* A triangle of 50 pixels; edges are sampled, so the sum is near. */
Test(raster, fills_triangles)
{
    raster_polygon(raster, (struct point[]){{100, 100}, {1100, 100}, {100, 1100}}, 3);
    raster_fill(raster, 0xffffff);
    cr_expect(abs(sum() - 50 * 255) < 50 * 255 / 100, "%d", sum());
    cr_expect_eq(at(2, 2), 255);
    cr_expect_eq(at(9, 9), 0);
    cr_expect(abs(at(6, 5) - at(5, 6)) <= 8, "%d %d", at(6, 5), at(5, 6));
}

Test(raster, unites_what_winds_alike_and_cuts_out_what_does_not)
{
    add_box(100, 100, 900, 900);
    add_box(300, 300, 1100, 1100);
    raster_fill(raster, 0xffffff);
    cr_expect_eq(sum(), (64 + 64 - 36) * 255);
    raster_clear(raster, 0, 0);
    add_box(100, 100, 900, 900);
    raster_polygon(raster, (struct point[]){{300, 300}, {300, 700}, {700, 700}, {700, 300}}, 4);
    raster_fill(raster, 0xffffff);
    cr_expect_eq(sum(), (64 - 16) * 255);
    cr_expect_eq(at(5, 5), 0);
}

Test(raster, mixes_with_what_is_there)
{
    raster_clear(raster, 0, 0x0000ff);
    add_box(50, 0, 200, 100);
    raster_fill(raster, 0xff0000);
    const uint8_t *row = raster_row(raster, 0);
    cr_expect(row[0] == 128 && row[1] == 0 && row[2] == 128, "%d %d %d", row[0], row[1], row[2]);
    cr_expect(row[3] == 255 && row[5] == 0);
    cr_expect(row[6] == 0 && row[8] == 255);
}

/* What is outside is cut off, and a picture in bands is the same as in one piece. */
Test(raster, keeps_its_rows)
{
    static const struct point star[] = {
        {-900, 500}, {2100, 130}, {-100, 2070}, {777, -800}, {1003, 1900}};
    uint8_t whole[SIDE * SIDE * 3];
    raster_polygon(raster, star, 5);
    raster_fill(raster, 0xa0b0c0);
    for (int y = 0; y < SIDE; y++)
        memcpy(whole + y * SIDE * 3, raster_row(raster, y), SIDE * 3);
    cr_expect_gt(sum(), 0);
    struct raster *band = raster_new(SIDE, 5);
    for (int top = 0; top < SIDE; top += 5) {
        raster_clear(band, top, 0);
        raster_polygon(band, star, 5);
        raster_fill(band, 0xa0b0c0);
        for (int y = top; y < SIDE && y < top + 5; y++)
            cr_expect_arr_eq(raster_row(band, y), whole + y * SIDE * 3, SIDE * 3, "row %d", y);
    }
    raster_free(band);
    raster_clear(raster, 0, 0);
    raster_span(raster, 3, -5, 4, 0xffffff);
    raster_span(raster, 12, 0, 4, 0xffffff);
    cr_expect_eq(sum(), 4 * 255);
}
