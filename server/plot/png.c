// SPDX-License-Identifier: Apache-2.0
/*
 * png.c: a figure as PNG: what each mark looks like in pixels, a band of rows at a time, so that
 * the memory does not depend on the height; libpng writes the file.
 */
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "font.h"
#include "glyphs.h"
#include "picture.h"
#include "raster.h"

#define BAND_ROWS        64
#define CORNERS          12 /* of a dot, and of the end of a line */
#define SEGMENTS_AT_ONCE (RASTER_EDGES_MAX / (4 + CORNERS) - 1)
#define LEVEL            6 /* of zlib */

struct painter {
    const struct figure *figure;
    struct raster *raster;
    int32_t density;
    enum theme theme;
};

static uint32_t colour_of(const struct painter *painter, enum ink ink)
{
    return palette_ink(painter->figure->look.palette, painter->theme, ink);
}

static struct point scaled(const struct painter *painter, struct point point)
{
    return (struct point){point.x * painter->density, point.y * painter->density};
}

/* ---- Lines ---------------------------------------------------------------------------------- */

/* The whole root, rounded down. */
static int64_t root(int64_t square)
{
    int64_t low = 0, high = (int64_t)1 << 31;

    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (middle * middle <= square)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A regular polygon; corners on a circle of radius 10000, counterclockwise as seen with y
 * downwards. */
static void add_round(struct raster *raster, struct point center, int32_t radius)
{
    static const int16_t cosines[CORNERS] = {10000,  8660,  5000,  0, -5000, -8660,
                                             -10000, -8660, -5000, 0, 5000,  8660};
    struct point corners[CORNERS];

    for (int i = 0; i < CORNERS; i++) {
        int32_t sine = cosines[(i + 3 * CORNERS / 4) % CORNERS];
        corners[i] = (struct point){center.x + radius * cosines[i] / 10000,
                                    center.y + radius * sine / 10000};
    }
    raster_polygon(raster, corners, CORNERS);
}

/* A segment as a quadrangle, which winds as the rounds at its ends do. */
static void add_segment(struct raster *raster, struct point from, struct point to, int32_t width)
{
    int64_t x = to.x - from.x, y = to.y - from.y, length = root(x * x + y * y);
    if (length == 0)
        return;
    int32_t nx = (int32_t)(-y * width / 2 / length), ny = (int32_t)(x * width / 2 / length);
    const struct point corners[] = {{from.x - nx, from.y - ny},
                                    {to.x - nx, to.y - ny},
                                    {to.x + nx, to.y + ny},
                                    {from.x + nx, from.y + ny}};
    raster_polygon(raster, corners, 4);
}

static struct point between(struct point from, struct point to, int64_t at, int64_t length)
{
    return (struct point){(int32_t)(from.x + (to.x - from.x) * at / length),
                          (int32_t)(from.y + (to.y - from.y) * at / length)};
}

/* The pieces of a broken line go on around corners. */
static void paint_dashes(const struct painter *painter, const struct mark *mark, uint32_t colour)
{
    int32_t width = mark->size * painter->density;
    int64_t on = (int64_t)mark->dash.on * painter->density, done = 0;
    int64_t period = on + (int64_t)mark->dash.off * painter->density;

    for (size_t i = 0; i + 1 < mark->points_n; i++) {
        struct point from = scaled(painter, mark->points[i]);
        struct point to = scaled(painter, mark->points[i + 1]);
        int64_t x = to.x - from.x, y = to.y - from.y, length = root(x * x + y * y);
        for (int64_t at = 0, end; at < length; at = end) {
            int64_t phase = (done + at) % period;
            end = at + (phase < on ? on : period) - phase;
            if (phase < on && at == 0 && i > 0)
                add_round(painter->raster, from, width / 2);
            if (phase < on)
                add_segment(painter->raster, between(from, to, at, length),
                            between(from, to, end < length ? end : length, length), width);
            raster_fill(painter->raster, colour);
        }
        done += length;
    }
}

static void paint_line(const struct painter *painter, const struct mark *mark)
{
    struct raster *raster = painter->raster;
    uint32_t colour = colour_of(painter, mark->ink);
    int32_t width = mark->size * painter->density;

    if (mark->dash.on > 0) {
        paint_dashes(painter, mark, colour);
        return;
    }
    for (size_t i = 0; i + 1 < mark->points_n; i++) {
        struct point from = scaled(painter, mark->points[i]);
        struct point to = scaled(painter, mark->points[i + 1]);
        add_segment(raster, from, to, width);
        if (width > UNIT) /* else there is nothing to round */
            add_round(raster, to, width / 2);
        if (i % SEGMENTS_AT_ONCE == SEGMENTS_AT_ONCE - 1)
            raster_fill(raster, colour);
    }
    raster_fill(raster, colour);
}

/* ---- Areas, dots, cells --------------------------------------------------------------------- */

static void paint_area(const struct painter *painter, const struct mark *mark)
{
    for (size_t i = 0; i < mark->points_n; i++)
        raster_edge(painter->raster, scaled(painter, mark->points[i]),
                    scaled(painter, mark->points[i + 1 < mark->points_n ? i + 1 : 0]));
    raster_fill(painter->raster, colour_of(painter, mark->ink));
}

static void paint_dots(const struct painter *painter, const struct mark *mark)
{
    for (size_t i = 0; i < mark->points_n; i++) {
        add_round(painter->raster, scaled(painter, mark->points[i]), mark->size * painter->density);
        raster_fill(painter->raster, colour_of(painter, mark->ink));
    }
}

/* The first pixel whose middle is at or behind a place. */
static int32_t pixel_from(int64_t place)
{
    return (int32_t)((place + UNIT / 2) / UNIT);
}

static void paint_cells(const struct painter *painter, const struct mark *mark)
{
    const struct box *box = &mark->cells.box;
    int64_t rows = (int64_t)mark->cells.rows, columns = (int64_t)mark->cells.columns;
    int64_t width = (int64_t)(box->right - box->left) * painter->density;
    int64_t height = (int64_t)(box->bottom - box->top) * painter->density;
    int64_t left = (int64_t)box->left * painter->density,
            top = (int64_t)box->top * painter->density;

    for (int64_t row = 0; row < rows; row++) {
        int32_t first = pixel_from(top + height * row / rows);
        int32_t end = pixel_from(top + height * (row + 1) / rows);
        if (!raster_shows(painter->raster, first * UNIT, end * UNIT))
            continue;
        for (int64_t column = 0; column < columns; column++) {
            uint32_t colour = palette_level(painter->figure->look.palette, mark->cells.ramp,
                                            mark->cells.levels[row * columns + column]);
            for (int32_t y = first; y < end; y++)
                raster_span(painter->raster, y, pixel_from(left + width * column / columns),
                            pixel_from(left + width * (column + 1) / columns), colour);
        }
    }
}

/* ---- Text ----------------------------------------------------------------------------------- */

/* The outlines of one glyph, whose contours begin where GLYPH_CONTOUR says. */
static void add_glyph(struct raster *raster, const struct glyph *glyph, struct point at,
                      int64_t size)
{
    struct point first = {0, 0}, last = {0, 0};
    bool begins = true;

    for (uint32_t i = glyph->first; i < glyph[1].first; i++) {
        const int16_t *units = glyph_points + (size_t)2 * i;
        if (units[0] == GLYPH_CONTOUR) {
            if (!begins)
                raster_edge(raster, last, first);
            begins = true;
            continue;
        }
        struct point point = {at.x + (int32_t)((units[0] * size + GLYPH_EM / 2) >> 11),
                              at.y - (int32_t)((units[1] * size + GLYPH_EM / 2) >> 11)};
        if (begins)
            first = point;
        else
            raster_edge(raster, last, point);
        begins = false;
        last = point;
    }
    if (!begins)
        raster_edge(raster, last, first);
}

/* On whole pixels, so that what is level is sharp. */
static void paint_text(const struct painter *painter, const struct mark *mark)
{
    int32_t size = mark->size * painter->density, half = UNIT / 2;
    int32_t width = font_width(mark->caption.text, size);
    struct point at = scaled(painter, mark->caption.at);
    uint32_t colour = colour_of(painter, mark->ink), code;
    const char *text = mark->caption.text;
    int64_t units = 0;

    at.x -= mark->caption.anchor == ANCHOR_END      ? width
            : mark->caption.anchor == ANCHOR_MIDDLE ? width / 2
                                                    : 0;
    at.x = (at.x + half) / UNIT * UNIT;
    at.y = (at.y + half) / UNIT * UNIT;
    if (!raster_shows(painter->raster, at.y - 2 * size, at.y + size))
        return;
    while ((code = font_next(&text))) {
        const struct glyph *glyph = font_glyph(code);
        if (!glyph)
            continue;
        add_glyph(painter->raster, glyph,
                  (struct point){at.x + (int32_t)(units * size / GLYPH_EM), at.y}, size);
        raster_fill(painter->raster, colour);
        units += glyph->advance;
    }
}

/* ---- The file ------------------------------------------------------------------------------- */

static void paint_band(const struct painter *painter, int32_t top)
{
    static void (*const paint[])(const struct painter *, const struct mark *) = {
        [MARK_LINE] = paint_line,   [MARK_AREA] = paint_area, [MARK_DOTS] = paint_dots,
        [MARK_CELLS] = paint_cells, [MARK_TEXT] = paint_text,
    };

    raster_clear(painter->raster, top, colour_of(painter, INK_PAPER));
    for (const struct mark *mark = painter->figure->first; mark; mark = mark->next)
        paint[mark->type](painter, mark);
}

static void append(png_structp png, png_bytep data, size_t len)
{
    buf_append(png_get_io_ptr(png), (const char *)data, len);
}

static void flush(png_structp png)
{
    (void)png;
}

/* Says nothing: what goes wrong is memory, and that is told as such. */
static void fail(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static bool write_file(png_structp png, png_infop info, const struct painter *painter)
{
    int32_t width = painter->figure->width * painter->density;
    int32_t height = painter->figure->height * painter->density;

    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, LEVEL);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_write_info(png, info);
    for (int32_t row = 0; row < height; row++) {
        if (row % BAND_ROWS == 0)
            paint_band(painter, row);
        png_write_row(png, (png_bytep)raster_row(painter->raster, row));
    }
    png_write_end(png, info);
    return true;
}

bool picture_write_png(struct buf *out, const struct figure *figure, unsigned density)
{
    struct painter painter = {figure, raster_new(figure->width * (int32_t)density, BAND_ROWS),
                              (int32_t)density,
                              figure->look.theme == THEME_DARK ? THEME_DARK : THEME_LIGHT};
    png_structp png =
        painter.raster ? png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, warn) : NULL;
    png_infop info = png ? png_create_info_struct(png) : NULL;

    if (info)
        png_set_write_fn(png, out, append, flush);
    bool ok = info && write_file(png, info, &painter);
    png_destroy_write_struct(&png, &info);
    raster_free(painter.raster);
    return ok && !out->failed && !figure->failed;
}
