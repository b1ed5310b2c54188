// SPDX-License-Identifier: Apache-2.0
/*
 * svg.c: a figure as SVG 1.1 that needs nothing else: no script, no link, no font. Text stays text,
 * in the reader's sans-serif; colours are classes, so that the theme can be the reader's too.
 */
#include "picture.h"

#include <inttypes.h>
#include <string.h>

static void put_length(struct buf *out, int64_t hundredths)
{
    int64_t size = hundredths < 0 ? -hundredths : hundredths;

    if (hundredths < 0)
        buf_putc(out, '-');
    buf_printf(out, "%" PRId64, size / UNIT);
    if (size % UNIT)
        buf_printf(out, size % 10 ? ".%02" PRId64 : ".%" PRId64,
                   size % 10 ? size % UNIT : size % UNIT / 10);
}

static void put_attribute(struct buf *out, const char *name, int64_t hundredths)
{
    buf_printf(out, " %s=\"", name);
    put_length(out, hundredths);
    buf_putc(out, '"');
}

/* Characters that mean something in XML are named; those it cannot have become U+FFFD. */
static void put_text(struct buf *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '&')
            buf_puts(out, "&amp;");
        else if (*c == '<')
            buf_puts(out, "&lt;");
        else if (*c == '>')
            buf_puts(out, "&gt;");
        else if (*c == '"')
            buf_puts(out, "&quot;");
        else if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t')
            buf_puts(out, "\xef\xbf\xbd");
        else if (strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0)
            buf_puts(out, "\xef\xbf\xbd"), c += 2; /* U+FFFE and U+FFFF */
        else
            buf_putc(out, *c);
}

static void put_element(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "<%s>", name);
    put_text(out, text);
    buf_printf(out, "</%s>\n", name);
}

/* ---- Colours -------------------------------------------------------------------------------- */

static const char *const ink_classes[] = {
    [INK_PAPER] = "paper", [INK_TEXT] = "text",   [INK_MUTED] = "muted", [INK_AXIS] = "axis",
    [INK_RULE] = "rule",   [INK_SHADE] = "shade", [INK_ON_DARK] = "ond", [INK_ON_LIGHT] = "onl",
};

static void put_class(struct buf *out, enum ink ink)
{
    if (ink < INK_SERIES)
        buf_puts(out, ink_classes[ink]);
    else
        buf_printf(out, "s%d", (int)ink - INK_SERIES);
}

/* The class of the root, so that pictures of several themes may stand in one page. */
static void put_root(struct buf *out, const struct look *look)
{
    static const char *const themes[] = {"light", "dark", "auto"};
    static const char *const palettes[] = {"default", "cividis", "gray"};

    buf_printf(out, "posenc-%s-%s", themes[look->theme], palettes[look->palette]);
}

static void put_rule(struct buf *out, const struct look *look, const char *selector,
                     const char *properties)
{
    buf_putc(out, '.');
    put_root(out, look);
    buf_printf(out, " %s{%s}\n", selector, properties);
}

static void put_colours(struct buf *out, const struct look *look, enum theme theme)
{
    for (enum ink ink = 0; ink < INKS_N; ink++) {
        buf_putc(out, '.');
        put_root(out, look);
        buf_puts(out, " .");
        put_class(out, ink);
        buf_printf(out, "{color:#%06" PRIx32 "}\n", palette_ink(look->palette, theme, ink));
    }
}

static void put_style(struct buf *out, const struct look *look)
{
    buf_puts(out, "<style>\n");
    put_rule(out, look, "text", "font-family:sans-serif;fill:currentColor");
    put_rule(out, look, ".f", "fill:currentColor");
    put_rule(out, look, ".l",
             "fill:none;stroke:currentColor;stroke-linecap:round;stroke-linejoin:round");
    put_rule(out, look, ".d", "stroke-linecap:butt");
    put_colours(out, look, look->theme == THEME_DARK ? THEME_DARK : THEME_LIGHT);
    if (look->theme == THEME_AUTO) {
        buf_puts(out, "@media(prefers-color-scheme:dark){\n");
        put_colours(out, look, THEME_DARK);
        buf_puts(out, "}\n");
    }
    buf_puts(out, "</style>\n");
}

/* ---- Marks ---------------------------------------------------------------------------------- */

/* Absolute, so that a reader finds the numbers again. */
static void put_points(struct buf *out, const struct mark *mark)
{
    for (size_t i = 0; i < mark->points_n; i++) {
        buf_putc(out, i == 0 ? 'M' : i == 1 ? 'L' : ' ');
        put_length(out, mark->points[i].x);
        buf_putc(out, ' ');
        put_length(out, mark->points[i].y);
    }
}

static void end_named(struct buf *out, const struct mark *mark, const char *tag)
{
    if (!mark->name) {
        buf_puts(out, "/>\n");
        return;
    }
    buf_puts(out, "><title>");
    put_text(out, mark->name);
    buf_printf(out, "</title></%s>\n", tag);
}

static void put_path(struct buf *out, const struct mark *mark)
{
    bool area = mark->type == MARK_AREA;

    buf_puts(out, area                ? "<path class=\"f "
                  : mark->dash.on > 0 ? "<path class=\"l d "
                                      : "<path class=\"l ");
    put_class(out, mark->ink);
    buf_putc(out, '"');
    if (!area)
        put_attribute(out, "stroke-width", mark->size);
    if (mark->dash.on > 0) {
        buf_puts(out, " stroke-dasharray=\"");
        put_length(out, mark->dash.on);
        buf_putc(out, ' ');
        put_length(out, mark->dash.off);
        buf_putc(out, '"');
    }
    buf_puts(out, " d=\"");
    put_points(out, mark);
    buf_puts(out, area ? "Z\"" : "\"");
    end_named(out, mark, "path");
}

static void put_dots(struct buf *out, const struct mark *mark)
{
    buf_puts(out, "<g class=\"f ");
    put_class(out, mark->ink);
    buf_puts(out, "\">");
    if (mark->name)
        put_element(out, "title", mark->name);
    for (size_t i = 0; i < mark->points_n; i++) {
        buf_puts(out, "<circle");
        put_attribute(out, "cx", mark->points[i].x);
        put_attribute(out, "cy", mark->points[i].y);
        put_attribute(out, "r", mark->size);
        buf_puts(out, "/>");
    }
    buf_puts(out, "</g>\n");
}

static void put_caption(struct buf *out, const struct mark *mark)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};

    buf_puts(out, "<text class=\"");
    put_class(out, mark->ink);
    buf_putc(out, '"');
    put_attribute(out, "x", mark->caption.at.x);
    put_attribute(out, "y", mark->caption.at.y);
    put_attribute(out, "font-size", mark->size);
    buf_printf(out, "%s>", anchors[mark->caption.anchor]);
    put_text(out, mark->caption.text);
    buf_puts(out, "</text>\n");
}

/* ---- Cells ---------------------------------------------------------------------------------- */

/* The cells of one level, in units of cells: rectangles, those beside each other as one. */
static void put_level(struct buf *out, const struct mark *mark, int level)
{
    size_t columns = mark->cells.columns;

    for (size_t row = 0; row < mark->cells.rows; row++) {
        const uint8_t *first = mark->cells.levels + row * columns, *end = first + columns, *at;
        for (const uint8_t *from = first; from < end; from = at) {
            at = from = memchr(from, level, (size_t)(end - from));
            if (!at)
                break;
            while (at < end && *at == level)
                at++;
            buf_printf(out, "M%zu %zuh%zuv1h-%zuz", (size_t)(from - first), row,
                       (size_t)(at - from), (size_t)(at - from));
        }
    }
}

/* A factor with as many digits as keep the last cell in its place. */
static void put_factor(struct buf *out, int32_t length, size_t n)
{
    int64_t millionths = (int64_t)length * (1000000 / UNIT) / (int64_t)n;
    buf_printf(out, "%" PRId64 ".%06" PRId64, millionths / 1000000, millionths % 1000000);
}

static void put_cells(struct buf *out, const struct mark *mark, enum palette palette)
{
    const struct box *box = &mark->cells.box;
    size_t n = mark->cells.rows * mark->cells.columns;
    bool used[LEVELS_N] = {false};

    for (size_t i = 0; i < n; i++)
        used[mark->cells.levels[i]] = true;
    buf_puts(out, "<g shape-rendering=\"crispEdges\" transform=\"translate(");
    put_length(out, box->left);
    buf_putc(out, ' ');
    put_length(out, box->top);
    buf_puts(out, ") scale(");
    put_factor(out, box->right - box->left, mark->cells.columns);
    buf_putc(out, ' ');
    put_factor(out, box->bottom - box->top, mark->cells.rows);
    buf_puts(out, ")\">\n");
    for (int level = 0; level < LEVELS_N; level++) {
        if (!used[level])
            continue;
        buf_printf(out, "<path fill=\"#%06" PRIx32 "\" d=\"",
                   palette_level(palette, mark->cells.ramp, (uint8_t)level));
        put_level(out, mark, level);
        buf_puts(out, "\"/>\n");
    }
    buf_puts(out, "</g>\n");
}

void picture_write_svg(struct buf *out, const struct figure *figure)
{
    int32_t width = figure->width, height = figure->height;

    buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"");
    put_root(out, &figure->look);
    buf_printf(out,
               "\" width=\"%" PRId32 "\" height=\"%" PRId32 "\" viewBox=\"0 0 %" PRId32 " %" PRId32
               "\" role=\"img\">\n",
               width, height, width, height);
    put_element(out, "title", figure->title);
    put_element(out, "desc", figure->describes);
    put_style(out, &figure->look);
    buf_printf(out, "<path class=\"f paper\" d=\"M0 0H%" PRId32 "V%" PRId32 "H0Z\"/>\n", width,
               height);
    for (const struct mark *mark = figure->first; mark; mark = mark->next)
        if (mark->type == MARK_TEXT)
            put_caption(out, mark);
        else if (mark->type == MARK_CELLS)
            put_cells(out, mark, figure->look.palette);
        else if (mark->type == MARK_DOTS)
            put_dots(out, mark);
        else
            put_path(out, mark);
    buf_puts(out, "</svg>\n");
    out->failed |= figure->failed;
}
