// SPDX-License-Identifier: Apache-2.0
/* chart.c: see chart.h. What surrounds the panels: titles, legends, notes; and how they share the
 * rest. */
#include "chart.h"

#include <assert.h>
#include <string.h>

#include "font.h"

#define MARGIN        (12 * UNIT)
#define GAP           (8 * UNIT)
#define SWATCH        (30 * UNIT)
#define TITLE_PERCENT 125 /* of the size of captions */
#define BAR_WIDTH     (12 * UNIT)
#define SHADE_TICKS   6
#define LINE_WIDTH    200
#define ROOM_MIN      (40 * UNIT) /* of a panel with its axes, either way */

#define ELLIPSIS "\xe2\x80\xa6"

static int32_t line_height(int32_t size)
{
    return size * 14 / 10;
}

const char *chart_shorten(struct figure *figure, const char *text, int32_t size, int32_t width)
{
    if (font_width(text, size) <= width)
        return text;
    size_t len = font_fit(text, size, width - font_width(ELLIPSIS, size));
    while (len > 0 && text[len - 1] == ' ')
        len--;
    char *shorter = arena_printf(figure->arena, "%.*s" ELLIPSIS, (int)len, text);
    figure->failed |= !shorter;
    return shorter ? shorter : "";
}

/* Bytes of the next line of a text: up to a space, if there is one. */
static size_t line_bytes(const char *text, int32_t size, int32_t width)
{
    size_t fit = font_fit(text, size, width), len = fit;

    if (text[fit] == '\0')
        return fit;
    while (len > 0 && text[len] != ' ')
        len--;
    return len ? len : fit;
}

int32_t chart_paragraph(struct figure *figure, const struct box *box, enum ink ink, int32_t size,
                        const char *text)
{
    int32_t y = box->top;

    while (*text) {
        size_t len = line_bytes(text, size, box->right - box->left);
        if (len == 0) {
            figure->cramped = true;
            break;
        }
        y += line_height(size);
        figure_text(figure,
                    (struct point){box->left, y - (line_height(size) - size) / 2 - size / 5},
                    ANCHOR_START, ink, size, arena_strndup(figure->arena, text, len));
        text += len;
        text += strspn(text, " ");
    }
    figure->cramped |= y > box->bottom;
    return y;
}

void chart_title(struct figure *figure, const char *title, const char *below)
{
    struct box *body = &figure->body;
    int32_t size = figure->text_size * TITLE_PERCENT / 100;

    *body = (struct box){body->left + MARGIN, body->top + MARGIN * 2 / 3, body->right - MARGIN,
                         body->bottom - MARGIN * 2 / 3};
    int32_t width = body->right - body->left;
    if (title[0]) {
        body->top += line_height(size);
        figure_text(figure, (struct point){body->left, body->top - size * 4 / 10}, ANCHOR_START,
                    INK_TEXT, size, chart_shorten(figure, title, size, width));
    }
    size = figure->text_size;
    if (below) {
        body->top += line_height(size);
        figure_text(figure, (struct point){body->left, body->top - size * 4 / 10}, ANCHOR_START,
                    INK_MUTED, size, chart_shorten(figure, below, size, width));
    }
    body->top += GAP / 2;
}

static void draw_sample(struct figure *figure, struct point from, const struct legend *entry)
{
    struct point *dot = entry->dots ? figure_points(figure, 1) : NULL;

    if (dot) {
        *dot = (struct point){from.x + SWATCH / 2, from.y};
        figure_dots(figure, dot, 1, entry->ink, entry->width);
    }
    if (!entry->dots)
        figure_rule(figure, from, (struct point){from.x + SWATCH, from.y}, entry->ink,
                    entry->width ? entry->width : LINE_WIDTH)
            ->dash = entry->dash;
}

void chart_legend(struct figure *figure, const struct legend *entries, size_t n)
{
    struct box *body = &figure->body;
    int32_t size = figure->text_size, x = body->left, middle = size * 35 / 100;
    int32_t y = body->top + size;

    for (size_t i = 0; i < n; i++) {
        int32_t room = body->right - body->left - SWATCH - GAP;
        const char *text = chart_shorten(figure, entries[i].text, size, room);
        int32_t wide = SWATCH + GAP / 2 + font_width(text, size);
        if (x > body->left && x + wide > body->right) {
            x = body->left;
            y += line_height(size);
        }
        draw_sample(figure, (struct point){x, y - middle}, &entries[i]);
        figure_text(figure, (struct point){x + SWATCH + GAP / 2, y}, ANCHOR_START, INK_TEXT, size,
                    text);
        x += wide + 2 * GAP;
    }
    body->top = y + size * 4 / 10 + GAP / 2;
}

void chart_note(struct figure *figure, const char *text)
{
    struct box *body = &figure->body, box = *body;
    int32_t size = figure->text_size;
    size_t lines = 0;

    for (const char *at = text; *at; lines++) {
        size_t len = line_bytes(at, size, body->right - body->left);
        if (len == 0)
            break;
        at += len;
        at += strspn(at, " ");
    }
    box.top = body->bottom - (int32_t)lines * line_height(size);
    chart_paragraph(figure, &box, INK_MUTED, size, text);
    body->bottom = box.top - GAP / 2;
}

static struct scale shades_scale(const struct shades *shades, struct ticks *ticks)
{
    struct scale scale = scale_make(SCALE_LINEAR, shades->low, shades->high, true);
    scale_ticks(&scale, SHADE_TICKS, false, ticks);
    return scale;
}

void chart_shades_room(struct figure *figure, const struct shades *shades)
{
    int32_t size = figure->text_size, wide = 0;
    struct ticks ticks;

    shades_scale(shades, &ticks);
    for (size_t i = 0; i < ticks.n; i++)
        if (font_width(ticks.text[i], size) > wide)
            wide = font_width(ticks.text[i], size);
    wide += BAR_WIDTH + GAP / 2;
    if (font_width(shades->name, size) > wide)
        wide = font_width(shades->name, size);
    figure->body.right -= wide + 2 * GAP;
    figure->cramped |= figure->body.right - figure->body.left < ROOM_MIN;
}

void chart_shades(struct figure *figure, const struct shades *shades, const struct box *area)
{
    int32_t size = figure->text_size;
    struct ticks ticks;
    struct scale scale = shades_scale(shades, &ticks);
    struct box bar = {area->right + 2 * GAP, area->top, area->right + 2 * GAP + BAR_WIDTH,
                      area->bottom};
    uint8_t *levels = arena_alloc(figure->arena, LEVELS_N);

    if (!levels) {
        figure->failed = true;
        return;
    }
    for (int i = 0; i < LEVELS_N; i++)
        levels[LEVELS_N - 1 - i] = (uint8_t)i;
    figure_text(figure, (struct point){bar.left, bar.top - GAP / 2 - size * 4 / 10}, ANCHOR_START,
                INK_MUTED, size, shades->name);
    figure_cells(figure, &bar, LEVELS_N, 1, levels, shades->ramp);
    scale.from = bar.bottom;
    scale.to = bar.top;
    for (size_t i = 0; i < ticks.n; i++) {
        int32_t base = scale_at(&scale, ticks.at[i]) + size * 35 / 100;
        figure_text(figure, (struct point){bar.right + GAP / 2, base}, ANCHOR_START, INK_MUTED,
                    size, arena_strndup(figure->arena, ticks.text[i], strlen(ticks.text[i])));
    }
}

/* The number of columns whose boxes come nearest to the aspect. */
static size_t columns_for(const struct box *body, size_t n, int32_t aspect)
{
    size_t best = 1;
    int64_t best_area = -1;

    for (size_t columns = 1; columns <= n; columns++) {
        size_t rows = 1 + (n - 1) / columns;
        int64_t width = (body->right - body->left) / (int32_t)columns;
        int64_t height = (body->bottom - body->top) / (int32_t)rows;
        int64_t used = width * 100 < height * aspect ? width * (width * 100 / aspect)
                                                     : height * (height * aspect / 100);
        if (used > best_area) {
            best_area = used;
            best = columns;
        }
    }
    return best;
}

void chart_split(struct figure *figure, size_t n, int32_t aspect, struct box *boxes)
{
    const struct box *body = &figure->body;
    assert(n > 0);
    size_t columns = columns_for(body, n, aspect), rows = (n + columns - 1) / columns;
    int32_t gap = 2 * GAP;
    int32_t width = (body->right - body->left - gap * (int32_t)(columns - 1)) / (int32_t)columns;
    int32_t height = (body->bottom - body->top - gap / 2 * (int32_t)(rows - 1)) / (int32_t)rows;

    figure->cramped |= width < ROOM_MIN || height < ROOM_MIN;
    for (size_t i = 0; i < n; i++) {
        boxes[i].left = body->left + (int32_t)(i % columns) * (width + gap);
        boxes[i].top = body->top + (int32_t)(i / columns) * (height + gap / 2);
        boxes[i].right = boxes[i].left + width;
        boxes[i].bottom = boxes[i].top + height;
    }
}
