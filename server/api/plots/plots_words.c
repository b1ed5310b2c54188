// SPDX-License-Identifier: Apache-2.0
/*
 * plots_words.c: pictures that consist of words: the properties of an encoding, and what was wrong
 * with a request, so that a picture in a page explains itself.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "font.h"
#include "picture.h"
#include "plots.h"

#define PROBLEM_BYTES_MAX ((size_t)1 << 20)
#define PLOTS_PATH        "/v1/plots/"

/* ---- Properties ----------------------------------------------------------------------------- */

struct ruling {
    const char *mark;
    enum ink ink;
};

static struct ruling ruling_of(const struct tree *holds)
{
    if (!holds || holds->type != TREE_BOOL)
        return (struct ruling){"\xe2\x80\x93", INK_MUTED};
    return holds->as.boolean ? (struct ruling){"\xe2\x9c\x93", INK_SERIES + 2}
                             : (struct ruling){"\xe2\x9c\x97", INK_SERIES + 1};
}

static const char *text_of(const struct tree *node, const char *key)
{
    const struct tree *member = tree_member(node, key);
    return member && member->type == TREE_STRING ? member->as.string : NULL;
}

/* The key as words. */
static const char *spaced(struct plotting *plotting, const char *key)
{
    char *words = arena_strndup(plotting->arena, key, strlen(key));

    for (char *c = words; c && *c; c++)
        *c = *c == '_' ? ' ' : *c;
    plotting->figure->failed |= !words;
    return words ? words : "";
}

/* Columns: verdict, name, words; rows as far apart as there is room. */
void plot_draw_properties(struct plotting *plotting)
{
    struct figure *figure = plotting->figure;
    const struct tree *first = plotting->job->answer.readouts->first;
    int32_t size = figure->text_size, widest = 0, rows = 0;

    for (const struct tree *node = first; node; node = node->next)
        if (node->type == TREE_OBJECT) {
            int32_t width = font_width(spaced(plotting, node->key), size);
            widest = width > widest ? width : widest;
            rows++;
        }
    chart_title(figure, plotting->title, plotting->job->specs[0].compact);
    const struct box *body = &figure->body;
    int32_t step = (body->bottom - body->top) / (rows > 0 ? rows : 1);
    int32_t name_at = body->left + 2 * size, words_at = name_at + widest + 2 * size;
    step = step > 2 * size ? 2 * size : step;
    figure->cramped |= step < size * 12 / 10 || words_at + 10 * size > body->right;
    int32_t y = body->top;
    for (const struct tree *node = first; node && !figure->cramped; node = node->next) {
        if (node->type != TREE_OBJECT)
            continue;
        struct ruling ruling = ruling_of(tree_member(node, "holds"));
        const char *says = text_of(node, "says") ? text_of(node, "says") : text_of(node, "reason");
        y += step;
        int32_t base = y - (step - size) / 2;
        figure_text(figure, (struct point){body->left, base}, ANCHOR_START, ruling.ink, size,
                    ruling.mark);
        figure_text(figure, (struct point){name_at, base}, ANCHOR_START, INK_TEXT, size,
                    spaced(plotting, node->key));
        figure_text(figure, (struct point){words_at, base}, ANCHOR_START, INK_MUTED, size,
                    chart_shorten(figure, says ? says : "", size, body->right - words_at));
    }
}

/* ---- Problems ------------------------------------------------------------------------------- */

static bool is_plot(const struct request *request)
{
    return request->path && strncmp(request->path, PLOTS_PATH, strlen(PLOTS_PATH)) == 0;
}

bool plot_wants_problem(const struct request *request)
{
    if (!is_plot(request))
        return false;
    const char *accept = request_header(request, "Accept");
    int picture = accept_quality(accept, format_media_type(FORMAT_SVG));
    return picture > accept_quality(accept, "application/problem+json") &&
           picture > accept_quality(accept, "application/json") &&
           picture > accept_quality(accept, "text/html") &&
           picture > accept_quality(accept, "text/plain");
}

static const char *query_value(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->args_n; i++)
        if (strcmp(request->args[i].name, name) == 0)
            return request->args[i].value;
    return NULL;
}

/* A key of the picture as far as it can be read, else its default: what is wrong may be that very
 * key.
 */
static double key_value(const struct request *request, const char *name)
{
    struct pe_params params;
    struct pe_faults faults = {0};
    const char *text = query_value(request, name);

    memset(&params, 0, sizeof params);
    pe_params_init(&params, plot_keys, plot_keys_n);
    if (!text || !pe_params_set_text(&params, name, text, &faults)) {
        faults = (struct pe_faults){0};
        memset(&params, 0, sizeof params);
        pe_params_init(&params, plot_keys, plot_keys_n);
        pe_params_finish(&params, &faults);
    }
    double number = pe_params_get(&params, name)->number;
    pe_params_release(&params);
    return number;
}

/* One mistake below the other, as far as there is room. */
static void draw_problem(struct figure *figure, const struct err *err, const char *sentence)
{
    const struct err_item *first = &err->item[0];
    const char *title =
        arena_printf(figure->arena, "%d %s", err_status(first->code), err_title(first->code));
    struct box box;
    int32_t size = figure->text_size, line = size * 14 / 10;

    chart_title(figure, title ? title : "", NULL);
    box = figure->body;
    box.top = chart_paragraph(figure, &box, INK_TEXT, size, sentence) + line / 2;
    for (size_t i = 0; i < err->n && i < ERR_ITEMS_MAX; i++) {
        if (err->n > 1 && box.top + line <= box.bottom)
            box.top = chart_paragraph(figure, &box, INK_TEXT, size, err->item[i].detail);
        if (err->item[i].hint[0] && box.top + line <= box.bottom)
            box.top = chart_paragraph(figure, &box, INK_MUTED, size, err->item[i].hint);
        box.top += line / 4;
    }
}

/* In SVG, whatever the URL says: readers of pictures go by the media type, and it takes a tenth of
 * a millisecond of the loop, where a PNG would take many. */
bool plot_write_problem(struct request *request, const char *sentence)
{
    struct response *response = &request->response;
    struct figure figure;
    struct arena arena;

    arena_init(&arena, PROBLEM_BYTES_MAX);
    figure_init(&figure, &arena, (int32_t)key_value(request, "width"),
                (int32_t)key_value(request, "height"));
    figure.look.theme = (enum theme)key_value(request, "theme");
    figure.look.palette = (enum palette)key_value(request, "palette");
    figure.title = err_title(request->err.item[0].code);
    figure.describes = sentence;
    draw_problem(&figure, &request->err, sentence);
    if (!figure.failed)
        picture_write_svg(&response->body, &figure);
    arena_release(&arena);
    if (figure.failed || response->body.failed) {
        response->body.len = 0;
        return false;
    }
    response->content_type = format_media_type(FORMAT_SVG);
    response_header(request, "Content-Security-Policy", PLOT_POLICY);
    return true;
}
