// SPDX-License-Identifier: Apache-2.0
/*
 * test_chart.c: what surrounds panels takes its room from the body and stays within it; values
 * stand where their axis says, in panel.c too.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "font.h"

static struct arena arena;
static struct figure figure;

static void begin(void)
{
    arena_init(&arena, 1 << 20);
    figure_init(&figure, &arena, 400, 300);
}

static void end(void)
{
    arena_release(&arena);
}

TestSuite(chart, .init = begin, .fini = end);

static bool is_within(const struct box *inner, const struct box *outer)
{
    return inner->left >= outer->left && inner->top >= outer->top && inner->right <= outer->right &&
           inner->bottom <= outer->bottom && inner->left <= inner->right &&
           inner->top <= inner->bottom;
}

/* What a caption covers: digits and capitals are three quarters of its size high. */
static struct box covered(const struct mark *mark)
{
    int32_t width = font_width(mark->caption.text, mark->size), x = mark->caption.at.x;
    int32_t left = mark->caption.anchor == ANCHOR_END      ? x - width
                   : mark->caption.anchor == ANCHOR_MIDDLE ? x - width / 2
                                                           : x;
    return (struct box){left, mark->caption.at.y - mark->size * 3 / 4, left + width,
                        mark->caption.at.y + mark->size / 5};
}

/* All captions lie within the box, but for the half pixel that areas are rounded by, and apart from
 * each other; how many there are. */
static size_t captions_are_apart(const struct box *within)
{
    struct box around = {within->left, within->top, within->right + UNIT / 2,
                         within->bottom + UNIT / 2};
    size_t n = 0;

    for (const struct mark *a = figure.first; a; a = a->next) {
        if (a->type != MARK_TEXT)
            continue;
        struct box box = covered(a);
        cr_expect(is_within(&box, &around), "%s", a->caption.text);
        n++;
        for (const struct mark *b = figure.first; b != a; b = b->next) {
            if (b->type != MARK_TEXT)
                continue;
            struct box other = covered(b);
            cr_expect(box.left >= other.right || box.right <= other.left ||
                          box.top >= other.bottom || box.bottom <= other.top,
                      "%s meets %s", a->caption.text, b->caption.text);
        }
    }
    return n;
}

static const struct mark *caption(const char *text)
{
    const struct mark *mark = figure.first;
    while (mark && !(mark->type == MARK_TEXT && strcmp(mark->caption.text, text) == 0))
        mark = mark->next;
    cr_assert(mark, "there is no \"%s\"", text);
    return mark;
}

/* ---- Around panels -------------------------------------------------------------------------- */

Test(chart, shortens_texts_to_a_width)
{
    const char *text = "a text that is too long";
    cr_expect_eq(chart_shorten(&figure, text, 1200, font_width(text, 1200)), text);
    for (int32_t width = 2000; width < font_width(text, 1200); width += 700) {
        const char *shorter = chart_shorten(&figure, text, 1200, width);
        size_t len = strlen(shorter);
        cr_expect_leq(font_width(shorter, 1200), width);
        cr_expect(len > 3 && strcmp(shorter + len - 3, "\xe2\x80\xa6") == 0, "%s", shorter);
        cr_expect_eq(strncmp(shorter, text, len - 3), 0, "%s", shorter);
        cr_expect(len == 3 || shorter[len - 4] != ' ', "%s", shorter);
    }
}

Test(chart, breaks_paragraphs_at_spaces)
{
    struct box box = {1000, 2000, 11000, 20000};
    int32_t end_at = chart_paragraph(&figure, &box, INK_TEXT, 1200, "one two three four five six");
    char words[100] = "";
    int lines = 0;
    for (const struct mark *mark = figure.first; mark; mark = mark->next, lines++) {
        cr_expect_leq(font_width(mark->caption.text, 1200), box.right - box.left);
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s ", mark->caption.text);
    }
    cr_expect_str_eq(words, "one two three four five six ");
    cr_expect_geq(lines, 2);
    cr_expect_eq(end_at, box.top + lines * 1680);
    cr_expect(!figure.cramped);
    captions_are_apart(&box);
    box.bottom = box.top + 1000;
    chart_paragraph(&figure, &box, INK_TEXT, 1200, "one");
    cr_expect(figure.cramped);
}

Test(chart, titles_and_notes_take_room_from_the_body)
{
    struct box whole = figure.body;
    chart_title(&figure, "A title", "and what is below");
    struct box titled = figure.body;
    cr_expect(is_within(&titled, &whole) &&
              titled.top >= caption("and what is below")->caption.at.y);
    cr_expect_lt(caption("A title")->caption.at.y, caption("and what is below")->caption.at.y);
    cr_expect_gt(caption("A title")->size, caption("and what is below")->size);
    chart_note(&figure,
               "A note that says something at the bottom of the picture, in as many lines as it "
               "takes to be read");
    cr_expect(is_within(&figure.body, &titled) && figure.body.bottom < titled.bottom);
    cr_expect_geq(captions_are_apart(&whole), 4);
}

Test(chart, legends_go_on_in_further_lines)
{
    static const struct legend entries[] = {
        {.text = "a line", .ink = INK_SERIES},
        {.text = "a broken line", .ink = INK_SERIES + 1, .dash = {600, 300}, .width = 300},
        {.text = "dots", .ink = INK_SERIES + 2, .dots = true, .width = 250},
        {.text = "what has no room beside all of these any more", .ink = INK_SERIES + 3},
    };
    struct box whole = figure.body;
    chart_title(&figure, "T", NULL);
    struct box before = figure.body;
    chart_legend(&figure, entries, 4);
    cr_expect(is_within(&figure.body, &before));
    captions_are_apart(&whole);
    cr_expect_eq(caption("a line")->caption.at.y, caption("dots")->caption.at.y);
    cr_expect_gt(caption(entries[3].text)->caption.at.y, caption("dots")->caption.at.y);
    cr_expect_geq(figure.body.top, caption(entries[3].text)->caption.at.y);
    size_t samples[4] = {0};
    for (const struct mark *mark = figure.first; mark; mark = mark->next)
        for (size_t i = 0; i < 4; i++)
            if (mark->type != MARK_TEXT && mark->ink == entries[i].ink) {
                samples[i]++;
                cr_expect_eq(mark->type, entries[i].dots ? MARK_DOTS : MARK_LINE);
                cr_expect_eq(mark->dash.on, entries[i].dash.on);
            }
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(samples[i], 1);
}

/* Boxes are alike, within the body, apart, row by row. */
Test(chart, splits_the_body)
{
    static const struct {
        int32_t width, height, aspect;
        size_t n, columns;
    } rows[] = {{400, 100, 100, 4, 4}, {400, 400, 100, 4, 2}, {100, 400, 100, 4, 1},
                {400, 400, 400, 4, 1}, {600, 400, 100, 5, 3}, {400, 300, 150, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct box boxes[5];
        figure.body = (struct box){0, 0, rows[i].width * UNIT, rows[i].height * UNIT};
        chart_split(&figure, rows[i].n, rows[i].aspect, boxes);
        size_t columns = 1;
        while (columns < rows[i].n && boxes[columns].top == boxes[0].top)
            columns++;
        cr_expect_eq(columns, rows[i].columns, "%zu: %zu columns", i, columns);
        for (size_t b = 0; b < rows[i].n; b++) {
            cr_expect(is_within(&boxes[b], &figure.body), "%zu, %zu", i, b);
            cr_expect_eq(boxes[b].right - boxes[b].left, boxes[0].right - boxes[0].left);
            cr_expect(b == 0 || boxes[b].left > boxes[b - 1].right ||
                          boxes[b].top > boxes[b - 1].bottom,
                      "%zu, %zu", i, b);
        }
    }
    cr_expect(!figure.cramped);
    struct box many[PANELS_MAX];
    figure.body = (struct box){0, 0, 100 * UNIT, 100 * UNIT};
    chart_split(&figure, PANELS_MAX, 100, many);
    cr_expect(figure.cramped);
}

/* ---- Panels --------------------------------------------------------------------------------- */

static struct panel lines_panel(enum scale_type type, double low, double high)
{
    struct axis x = {.name = "x", .high = 10, .exact = true};
    struct axis y = {.name = "y", .type = type, .low = low, .high = high, .exact = true};
    struct panel panel;
    chart_axes(&figure, &figure.body, "A caption", &x, &y, false, &panel);
    return panel;
}

Test(chart, axes_stand_in_their_box)
{
    struct panel panel = lines_panel(SCALE_LINEAR, -1, 3);
    cr_expect(!figure.cramped && is_within(&panel.area, &figure.body));
    cr_expect_geq(captions_are_apart(&figure.body), 10);
    cr_expect_eq(scale_at(&panel.x, 0), panel.area.left);
    cr_expect_eq(scale_at(&panel.x, 10), panel.area.right);
    cr_expect_eq(scale_at(&panel.y, -1), panel.area.bottom);
    cr_expect_eq(scale_at(&panel.y, 3), panel.area.top);
    cr_expect_eq(caption("4")->caption.at.x, scale_at(&panel.x, 4));
    cr_expect_eq(caption("\xe2\x88\x92"
                         "1")
                     ->caption.at.y,
                 panel.area.bottom + 1200 * 35 / 100);
}

Test(chart, without_room_is_cramped)
{
    figure.body = (struct box){0, 0, 60 * UNIT, 60 * UNIT};
    lines_panel(SCALE_LINEAR, 0, 1);
    cr_expect(figure.cramped);
    cr_expect_null(figure.first);
}

/* Names of axes give way to values. */
Test(chart, in_a_low_box_keeps_its_ticks)
{
    figure.body.bottom = 80 * UNIT;
    struct panel panel = lines_panel(SCALE_LINEAR, -14, 44);
    size_t beside = 0;
    for (const struct mark *mark = figure.first; mark; mark = mark->next) {
        beside += mark->type == MARK_TEXT && mark->caption.anchor == ANCHOR_END;
        cr_expect(mark->type != MARK_TEXT || strcmp(mark->caption.text, "x") != 0);
    }
    cr_expect(!figure.cramped && panel.area.bottom > panel.area.top);
    cr_expect_geq(beside, 2);
    captions_are_apart(&figure.body);
}

/* The mark after the axes, and how many there are of its type. */
static const struct mark *drawn_after(const struct mark *last, enum mark_type type, size_t *n)
{
    const struct mark *found = NULL;

    *n = 0;
    for (const struct mark *mark = last->next; mark; mark = mark->next)
        if (mark->type == type) {
            found = found ? found : mark;
            ++*n;
        }
    return found;
}

Test(chart, lines_go_through_their_values)
{
    static const double x[] = {0, 2.5, 10}, y[] = {-1, 3, 0};
    static const struct legend style = {.text = "line", .ink = INK_SERIES + 2, .dash = {600, 600}};
    struct panel panel = lines_panel(SCALE_LINEAR, -1, 3);
    const struct mark *axes = figure.last;
    size_t n;
    chart_line(&figure, &panel, x, y, 3, &style);
    const struct mark *line = drawn_after(axes, MARK_LINE, &n);
    cr_assert(n == 1 && line->points_n == 3);
    cr_expect(line->ink == INK_SERIES + 2 && line->dash.off == 600);
    cr_expect_str_eq(line->name, "line");
    const struct box *area = &panel.area;
    cr_expect(line->points[0].x == area->left && line->points[0].y == area->bottom);
    cr_expect_leq(abs(line->points[1].x - (3 * area->left + area->right) / 4), 1);
    cr_expect_eq(line->points[1].y, area->top);
    cr_expect_leq(abs(line->points[2].y - (3 * area->bottom + area->top) / 4), 1);
}

/* Two values, one alone, three: of those between there is no place. */
Test(chart, lines_are_interrupted_where_there_is_no_value)
{
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {1, 2, NAN, 4, INFINITY, 6, 7, 8};
    static const double powers[] = {1, 2, 0, 4, -1, 6, 7, 8};
    static const struct legend style = {.text = "line", .ink = INK_SERIES, .width = 200};
    for (int log = 0; log < 2; log++) {
        struct panel panel = lines_panel(log ? SCALE_LOG10 : SCALE_LINEAR, 1, 10);
        const struct mark *axes = figure.last;
        size_t n;
        chart_line(&figure, &panel, x, log ? powers : y, 8, &style);
        const struct mark *line = drawn_after(axes, MARK_LINE, &n);
        cr_assert_eq(n, 2);
        cr_expect_eq(line->points_n, 2);
        const struct mark *dot = drawn_after(axes, MARK_DOTS, &n);
        cr_assert(n == 1 && dot->points_n == 1);
        cr_expect_eq(dot->points[0].x, scale_at(&panel.x, 3));
        cr_expect_eq(figure.last->points_n, 3);
    }
}

/* ---- Cells ---------------------------------------------------------------------------------- */

Test(chart, shades_span_the_values)
{
    static const double rising[] = {2, NAN, 6, INFINITY}, both[] = {-1, 4}, same[] = {5, 5};
    struct shades shades = chart_shades_of("value", rising, 4, true);
    cr_expect(shades.low == 2 && shades.high == 6 && shades.ramp == RAMP_RISING);
    cr_expect_eq(chart_level(&shades, 2), 0);
    cr_expect_eq(chart_level(&shades, 4), 128);
    cr_expect_eq(chart_level(&shades, 6), 255);
    cr_expect_eq(chart_level(&shades, 1e300), 255);
    cr_expect_eq(chart_level(&shades, -INFINITY), 0);
    cr_expect_eq(chart_level(&shades, NAN), 0);
    shades = chart_shades_of("value", both, 2, true);
    cr_expect(shades.low == -4 && shades.high == 4 && shades.ramp == RAMP_SIGNED);
    shades = chart_shades_of("value", both, 2, false);
    cr_expect(shades.low == -1 && shades.high == 4 && shades.ramp == RAMP_RISING);
    shades = chart_shades_of("value", same, 2, true);
    cr_expect(shades.low < 5 && shades.high > 5);
    shades = chart_shades_of("value", rising + 1, 1, true);
    cr_expect(shades.low < shades.high);
}

static struct panel cells_panel(size_t rows, size_t columns, const double *labels)
{
    struct axis x = {.name = "key", .whole = true, .cells_n = columns, .values = labels};
    struct axis y = {
        .name = "query", .whole = true, .cells_n = rows, .values = labels, .first_on_top = true};
    struct panel panel;
    chart_axes(&figure, &figure.body, NULL, &x, &y, true, &panel);
    return panel;
}

Test(chart, cells_are_squares_with_their_values)
{
    static const double labels[] = {0, 1, 2}, values[] = {-1, 0, 1, 0.5, 0.25, -0.5};
    struct shades shades = chart_shades_of("value", values, 6, true);
    struct panel panel = cells_panel(2, 3, labels);
    int32_t width = panel.area.right - panel.area.left, side = width / 3;
    cr_expect(!figure.cramped && is_within(&panel.area, &figure.body));
    cr_expect_eq(side, (panel.area.bottom - panel.area.top) / 2);
    cr_expect_eq(side % UNIT, 0);
    cr_expect_eq(caption("query")->caption.anchor, ANCHOR_START);
    const struct mark *axes = figure.last;
    size_t n;
    chart_cells(&figure, &panel, 2, 3, values, &shades);
    const struct mark *cells = drawn_after(axes, MARK_CELLS, &n);
    cr_assert(n == 1 && cells->cells.rows == 2 && cells->cells.columns == 3);
    static const uint8_t levels[] = {0, 128, 255, 191, 159, 64};
    cr_expect_eq(memcmp(cells->cells.levels, levels, sizeof levels), 0);
    const struct mark *last = caption("\xe2\x88\x92"
                                      "0.5"); /* in the middle of the last cell */
    cr_expect_eq(last->caption.at.x, panel.area.right - side / 2);
    cr_expect(last->caption.at.y > panel.area.bottom - side &&
              last->caption.at.y < panel.area.bottom);
    captions_are_apart(&figure.body);
}

Test(chart, small_cells_are_without_numbers)
{
    static double labels[64], values[64 * 64];
    for (size_t i = 0; i < 64; i++)
        labels[i] = (double)i;
    struct shades shades = chart_shades_of("value", values, 64 * 64, true);
    struct panel panel = cells_panel(64, 64, labels);
    const struct mark *axes = figure.last;
    size_t n;
    chart_cells(&figure, &panel, 64, 64, values, &shades);
    drawn_after(axes, MARK_TEXT, &n);
    cr_expect_eq(n, 0);
    captions_are_apart(&figure.body);
}

/* Least at the bottom, greatest on top, with ticks at their side. */
Test(chart, shades_have_a_scale_beside_the_cells)
{
    static const double labels[] = {0, 1}, values[] = {0, 1, 2, 4};
    struct shades shades = chart_shades_of("value", values, 4, true);
    struct box whole = figure.body;
    chart_shades_room(&figure, &shades);
    cr_expect_lt(figure.body.right, whole.right);
    struct panel panel = cells_panel(2, 2, labels);
    const struct mark *axes = figure.last;
    size_t n;
    chart_shades(&figure, &shades, &panel.area);
    const struct mark *bar = drawn_after(axes, MARK_CELLS, &n);
    cr_assert(n == 1 && bar->cells.rows == LEVELS_N && bar->cells.columns == 1);
    cr_expect(bar->cells.levels[0] == LEVELS_N - 1 && bar->cells.levels[LEVELS_N - 1] == 0);
    cr_expect(bar->cells.box.left > panel.area.right && bar->cells.box.top == panel.area.top &&
              bar->cells.box.bottom == panel.area.bottom);
    cr_expect_eq(caption("4")->caption.at.y, panel.area.top + 1200 * 35 / 100);
    cr_expect_gt(caption("4")->caption.at.x, bar->cells.box.right);
    captions_are_apart(&whole);
}
