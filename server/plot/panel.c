// SPDX-License-Identifier: Apache-2.0
/* panel.c: axes, and the lines and cells between them. See chart.h. */
#include <math.h>
#include <string.h>

#include "chart.h"
#include "font.h"

#define TICK_GAP   (4 * UNIT)
#define LABEL_GAP  (10 * UNIT) /* between the labels of an axis */
#define LINE_TICKS 10          /* of an axis of lines, at most */
#define AREA_MIN   (24 * UNIT)
#define AREA_LOW   (44 * UNIT) /* of a height, from which it needs no more room */
#define THIN       UNIT
#define LINE_WIDTH 180
#define DOTS_UNTIL 40 /* values of a line that are also dots */
#define DOT_RADIUS 220

/* ---- Ticks ---------------------------------------------------------------------------------- */

/* Whether the values of cells follow each other in equal steps, and what those are. */
static bool is_regular(const struct axis *axis, double *step)
{
    if (axis->labels || axis->cells_n < 2)
        return false;
    *step = axis->values[1] - axis->values[0];
    for (size_t i = 1; i < axis->cells_n; i++)
        if (axis->values[i] - axis->values[i - 1] != *step)
            return false;
    return *step > 0;
}

static struct scale axis_scale(const struct axis *axis)
{
    double step;

    if (axis->cells_n == 0)
        return scale_make(axis->type, axis->low, axis->high, axis->exact);
    if (is_regular(axis, &step))
        return scale_make(SCALE_LINEAR, axis->values[0] - step / 2,
                          axis->values[axis->cells_n - 1] + step / 2, true);
    return scale_make(SCALE_LINEAR, -0.5, (double)axis->cells_n - 0.5, true);
}

/* Cells that stand for words, or for numbers without order: one label for every so many. */
static void label_ticks(const struct axis *axis, size_t max, struct ticks *ticks)
{
    size_t step = 1;

    while ((axis->cells_n + step - 1) / step > (max < TICKS_MAX ? max : TICKS_MAX))
        step++;
    ticks->n = 0;
    for (size_t i = 0; i < axis->cells_n; i += step) {
        char *printed = ticks->printed[ticks->n];
        if (!axis->labels)
            scale_print(axis->values[i], 6, printed);
        ticks->text[ticks->n] = axis->labels ? axis->labels[i] : printed;
        ticks->at[ticks->n++] = (double)i;
    }
}

static void axis_ticks(const struct axis *axis, const struct scale *scale, size_t max,
                       struct ticks *ticks)
{
    double step;

    memset(ticks, 0, sizeof *ticks);
    if (axis->cells_n > 0 && !is_regular(axis, &step))
        label_ticks(axis, max, ticks);
    else
        scale_ticks(scale, max, axis->whole, ticks);
}

static int32_t widest(const struct ticks *ticks, int32_t size)
{
    int32_t wide = 0;

    for (size_t i = 0; i < ticks->n; i++) {
        int32_t width = font_width(ticks->text[i], size);
        wide = width > wide ? width : wide;
    }
    return wide;
}

/* Whether labels below an axis stay apart. */
static bool are_apart(const struct ticks *ticks, const struct scale *scale, int32_t size)
{
    int32_t end = INT32_MIN;

    for (size_t i = 0; i < ticks->n; i++) {
        int32_t at = scale_at(scale, ticks->at[i]), half = font_width(ticks->text[i], size) / 2;
        if (end != INT32_MIN && at - half < end + LABEL_GAP)
            return false;
        end = at + half;
    }
    return true;
}

/* Words that have room below their cells, shortened, all stand there. */
static bool words_below(struct figure *figure, const struct axis *axis, const struct scale *scale,
                        struct ticks *ticks)
{
    int32_t size = figure->text_size;

    if (!axis->labels || axis->cells_n == 0 || axis->cells_n > TICKS_MAX)
        return false;
    int32_t room = (scale->to - scale->from) / (int32_t)axis->cells_n - TICK_GAP;
    label_ticks(axis, TICKS_MAX, ticks);
    for (size_t i = 0; i < ticks->n; i++)
        ticks->text[i] = chart_shorten(figure, ticks->text[i], size, room);
    return room >= 3 * size;
}

static void ticks_below(struct figure *figure, const struct axis *axis, const struct scale *scale,
                        struct ticks *ticks)
{
    int32_t size = figure->text_size;

    if (words_below(figure, axis, scale, ticks))
        return;
    for (size_t max = axis->cells_n > 0 ? TICKS_MAX : LINE_TICKS; max > 0; max--) {
        axis_ticks(axis, scale, max, ticks);
        if (are_apart(ticks, scale, size))
            return;
    }
}

/* ---- Axes ----------------------------------------------------------------------------------- */

/* Whole pixels, unless they would be much less. */
static int32_t evened(int32_t length)
{
    return length % UNIT * 6 <= length ? length - length % UNIT : length;
}

static void fit_cells(struct box *area, const struct axis *x, const struct axis *y, bool square)
{
    int32_t width = (area->right - area->left) / (int32_t)x->cells_n;
    int32_t height = (area->bottom - area->top) / (int32_t)y->cells_n;

    if (square)
        width = height = width < height ? width : height;
    width = evened(width);
    height = evened(height);
    int32_t spare = area->right - area->left - width * (int32_t)x->cells_n;
    area->left += spare / 2 - spare / 2 % UNIT;
    area->right = area->left + width * (int32_t)x->cells_n;
    area->bottom = area->top + height * (int32_t)y->cells_n;
}

static const char *kept(struct figure *figure, const char *text)
{
    return arena_strndup(figure->arena, text, strlen(text));
}

static void draw_x(struct figure *figure, const struct panel *panel, const char *name,
                   const struct ticks *ticks, bool rules)
{
    const struct box *area = &panel->area;
    int32_t size = figure->text_size, base = area->bottom + size * 14 / 10;

    for (size_t i = 0; i < ticks->n; i++) {
        int32_t x = scale_at(&panel->x, ticks->at[i]);
        if (rules)
            figure_rule(figure, (struct point){x, area->top}, (struct point){x, area->bottom},
                        INK_RULE, THIN);
        figure_text(figure, (struct point){x, base}, ANCHOR_MIDDLE, INK_MUTED, size,
                    kept(figure, ticks->text[i]));
    }
    if (name)
        figure_text(figure, (struct point){(area->left + area->right) / 2, base + size * 14 / 10},
                    ANCHOR_MIDDLE, INK_MUTED, size,
                    chart_shorten(figure, name, size, area->right - area->left));
}

static void draw_y(struct figure *figure, const struct panel *panel, const struct ticks *ticks,
                   bool rules)
{
    const struct box *area = &panel->area;
    int32_t size = figure->text_size;

    for (size_t i = 0; i < ticks->n; i++) {
        int32_t y = scale_at(&panel->y, ticks->at[i]);
        if (rules)
            figure_rule(figure, (struct point){area->left, y}, (struct point){area->right, y},
                        INK_RULE, THIN);
        figure_text(figure, (struct point){area->left - TICK_GAP, y + size * 35 / 100}, ANCHOR_END,
                    INK_MUTED, size, kept(figure, ticks->text[i]));
    }
}

/* Whole pixels, so that lines of one pixel are sharp. */
static int32_t whole(int32_t place)
{
    return place - place % UNIT + UNIT / 2;
}

/* What surrounds an area. */
struct surroundings {
    const char *caption, *x_name, *y_name; /* NULL: none */
    struct ticks beside;
};

/* The area's height. In a low box the names of axes give way. */
static void place_rows(struct figure *figure, const struct box *box, struct box *area,
                       struct surroundings *around)
{
    int32_t size = figure->text_size, line = size * 14 / 10;

    for (;;) {
        int32_t above = (around->caption ? line : 0) + (around->y_name ? line : 0);
        int32_t below = (around->x_name ? 2 : 1) * line + size / 4;
        area->top = whole(box->top + above + TICK_GAP);
        area->bottom = whole(box->bottom - TICK_GAP - below);
        if (area->bottom - area->top >= AREA_LOW || !(around->x_name || around->y_name))
            return;
        if (around->x_name)
            around->x_name = NULL;
        else
            around->y_name = NULL;
    }
}

/* And its width, with the ticks at its side. */
static void place_columns(struct figure *figure, const struct box *box, const struct axis *x,
                          const struct axis *y, struct panel *panel, struct ticks *beside)
{
    int32_t size = figure->text_size, height = panel->area.bottom - panel->area.top;
    int32_t rows = height / (size * 15 / 10), most = (box->right - box->left) / 3;
    int32_t rows_max = y->cells_n > 0 ? TICKS_MAX : LINE_TICKS;
    struct ticks below;

    axis_ticks(y, &panel->y, rows < 2 ? 2 : (size_t)(rows > rows_max ? rows_max : rows), beside);
    if (beside->n < 2 && height >= 3 * size) /* one alone is no scale */
        axis_ticks(y, &panel->y, 3, beside);
    for (size_t i = 0; i < beside->n; i++)
        beside->text[i] = chart_shorten(figure, beside->text[i], size, most);
    panel->area.left = whole(box->left + widest(beside, size) + TICK_GAP);
    axis_ticks(x, &panel->x, 2, &below);
    int32_t over = x->labels ? 0 : widest(&below, size) / 2;
    panel->area.right = whole(box->right - over);
}

/* Captions begin where the labels beside the area do. */
static void draw_names(struct figure *figure, const struct box *box, int32_t left,
                       const struct surroundings *around)
{
    int32_t size = figure->text_size, base = box->top + size;

    if (around->caption) {
        figure_text(figure, (struct point){left, base}, ANCHOR_START, INK_TEXT, size,
                    chart_shorten(figure, around->caption, size, box->right - left));
        base += size * 14 / 10;
    }
    if (around->y_name)
        figure_text(figure, (struct point){left, base}, ANCHOR_START, INK_MUTED, size,
                    chart_shorten(figure, around->y_name, size, box->right - left));
}

void chart_axes(struct figure *figure, const struct box *box, const char *caption,
                const struct axis *x, const struct axis *y, bool square, struct panel *panel)
{
    struct surroundings around = {.caption = caption, .x_name = x->name, .y_name = y->name};
    struct box *area = &panel->area;
    bool cells = x->cells_n > 0;
    struct ticks below;

    panel->x = axis_scale(x);
    panel->y = axis_scale(y);
    place_rows(figure, box, area, &around);
    place_columns(figure, box, x, y, panel, &around.beside);
    if (area->right - area->left < AREA_MIN || area->bottom - area->top < AREA_MIN) {
        figure->cramped = true;
        return;
    }
    int32_t gutter = area->left - box->left;
    if (cells)
        fit_cells(area, x, y, square);
    draw_names(figure, box, area->left - gutter, &around);
    panel->x.from = area->left;
    panel->x.to = area->right;
    panel->y.from = y->first_on_top ? area->top : area->bottom;
    panel->y.to = y->first_on_top ? area->bottom : area->top;
    ticks_below(figure, x, &panel->x, &below);
    draw_x(figure, panel, around.x_name, &below, !cells);
    draw_y(figure, panel, &around.beside, !cells);
    if (!cells)
        figure_rule(figure, (struct point){area->left, area->bottom},
                    (struct point){area->right, area->bottom}, INK_AXIS, THIN);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

/* Within a pixel, by which ends may be rounded. */
static bool is_inside(const struct box *area, struct point at)
{
    return at.x >= area->left - UNIT && at.x <= area->right + UNIT && at.y >= area->top - UNIT &&
           at.y <= area->bottom + UNIT;
}

void chart_line(struct figure *figure, const struct panel *panel, const double *x, const double *y,
                size_t n, const struct legend *style)
{
    struct point *points = figure_points(figure, n);
    size_t from = 0;

    for (size_t i = 0; points && i <= n; i++) {
        struct point at = {0};
        if (i < n)
            at = (struct point){scale_at(&panel->x, x[i]), scale_at(&panel->y, y[i])};
        if (i < n && is_inside(&panel->area, at)) {
            points[i] = at;
            continue;
        }
        if (i > from + 1) {
            struct mark *line = figure_line(figure, points + from, i - from, style->ink,
                                            style->width ? style->width : LINE_WIDTH);
            line->name = style->text;
            line->dash = style->dash;
        }
        if (i > from && (i == from + 1 || (n <= DOTS_UNTIL && !style->width)))
            figure_dots(figure, points + from, i - from, style->ink, DOT_RADIUS);
        from = i + 1;
    }
}

/* ---- Cells ---------------------------------------------------------------------------------- */

struct shades chart_shades_of(const char *name, const double *values, size_t n, bool about_zero)
{
    struct shades shades = {.name = name, .low = INFINITY, .high = -INFINITY};

    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) {
            shades.low = fmin(shades.low, values[i]);
            shades.high = fmax(shades.high, values[i]);
        }
    if (!(shades.low <= shades.high)) /* no numbers at all */
        shades.low = shades.high = 0;
    if (about_zero && shades.low < 0 && shades.high > 0) {
        double most = fmax(-shades.low, shades.high);
        shades.ramp = RAMP_SIGNED;
        shades.low = -most;
        shades.high = most;
    } else if (shades.low == shades.high) {
        struct scale around = scale_make(SCALE_LINEAR, shades.low, shades.high, true);
        shades.low = around.low;
        shades.high = around.high;
    }
    return shades;
}

uint8_t chart_level(const struct shades *shades, double value)
{
    double part = (value - shades->low) / (shades->high - shades->low) * (LEVELS_N - 1);

    if (!(part > 0)) /* and not-a-number */
        return 0;
    return part >= LEVELS_N - 1 ? LEVELS_N - 1 : (uint8_t)floor(part + 0.5);
}

/* Values on cells that have room for four digits. */
static void print_values(struct figure *figure, const struct panel *panel, size_t rows,
                         size_t columns, const double *values, const struct shades *shades)
{
    const struct box *area = &panel->area;
    int32_t width = (area->right - area->left) / (int32_t)columns, size = figure->text_size;
    int32_t height = (area->bottom - area->top) / (int32_t)rows;

    if (width < font_width("\xe2\x88\x92"
                           "0.000",
                           size) ||
        height < size * 13 / 10)
        return;
    for (size_t i = 0; i < rows * columns; i++) {
        struct point at = {area->left + (int32_t)(i % columns) * width + width / 2,
                           area->top + (int32_t)(i / columns) * height + height / 2 +
                               size * 35 / 100};
        char text[TICK_TEXT_MAX];
        scale_print(values[i], 2, text);
        if (font_width(text, size) < width)
            figure_text(
                figure, at, ANCHOR_MIDDLE,
                palette_on(figure->look.palette, shades->ramp, chart_level(shades, values[i])),
                size, kept(figure, text));
    }
}

void chart_cells(struct figure *figure, const struct panel *panel, size_t rows, size_t columns,
                 const double *values, const struct shades *shades)
{
    uint8_t *levels = arena_alloc(figure->arena, rows * columns);

    if (!levels) {
        figure->failed = true;
        return;
    }
    for (size_t i = 0; i < rows * columns; i++)
        levels[i] = chart_level(shades, values[i]);
    figure_cells(figure, &panel->area, rows, columns, levels, shades->ramp);
    print_values(figure, panel, rows, columns, values, shades);
}
