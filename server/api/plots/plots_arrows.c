// SPDX-License-Identifier: Apache-2.0
/* plots_arrows.c: pairs of channels as arrows in circles, one for each position. */
#include "plots.h"

#define PAIRS_MAX    8
#define POSITIONS_N  SERIES_N
#define CIRCLE_N     64
#define ARROW_WIDTH  180
#define HEAD_LENGTH  (8 * UNIT)
#define HEAD_BREADTH (3 * UNIT)
#define RADIUS_MIN   (12 * UNIT)

/* What is drawn of cos and sin [positions, pairs]. */
struct arrows {
    const struct output *output;
    const double *cos, *sin, *pairs;
    size_t columns;
    size_t rows_at[POSITIONS_N], rows_n;
    size_t pairs_at[PAIRS_MAX], pairs_n;
};

struct circle {
    struct point center;
    int32_t radius;
};

/* Where (x, y) of the unit circle is, y upwards. */
static struct point place(const struct circle *circle, double x, double y, int32_t along,
                          int32_t across)
{
    return (struct point){circle->center.x + (int32_t)(x * along - y * across),
                          circle->center.y - (int32_t)(y * along + x * across)};
}

static void draw_arrow(struct figure *figure, const struct circle *circle, double x, double y,
                       const struct legend *style)
{
    int32_t tip = circle->radius, neck = tip - HEAD_LENGTH;
    struct point *head = figure_points(figure, 3);

    if (!head)
        return;
    figure_rule(figure, circle->center, place(circle, x, y, neck, 0), style->ink, ARROW_WIDTH)
        ->name = style->text;
    head[0] = place(circle, x, y, tip, 0);
    head[1] = place(circle, x, y, neck, HEAD_BREADTH);
    head[2] = place(circle, x, y, neck, -HEAD_BREADTH);
    figure_area(figure, head, 3, style->ink);
}

/* Corners of a polygon, each turned by the same angle from the one before. */
static void draw_circle(struct figure *figure, const struct circle *circle)
{
    const double cos_step = 0.99518472667219693, sin_step = 0.098017140329560604; /* 2 pi / 64 */
    struct point *points = figure_points(figure, CIRCLE_N + 1);
    double x = 1, y = 0;

    for (size_t i = 0; points && i <= CIRCLE_N; i++) {
        points[i] = place(circle, x, y, circle->radius, 0);
        double next = x * cos_step - y * sin_step;
        y = x * sin_step + y * cos_step;
        x = next;
    }
    figure_line(figure, points, CIRCLE_N + 1, INK_AXIS, UNIT);
}

static void draw_pair(struct plotting *plotting, const struct arrows *arrows, size_t pair,
                      const struct box *box, const struct legend *styles)
{
    struct figure *figure = plotting->figure;
    int32_t size = figure->text_size, top = box->top + size * 14 / 10;
    int32_t width = box->right - box->left, height = box->bottom - top;
    struct circle circle = {{(box->left + box->right) / 2, (top + box->bottom) / 2},
                            (width < height ? width : height) / 2 - UNIT};

    if (circle.radius < RADIUS_MIN) {
        figure->cramped = true;
        return;
    }
    figure_text(figure, (struct point){circle.center.x, box->top + size}, ANCHOR_MIDDLE, INK_TEXT,
                size, plot_named(plotting, "pair", arrows->pairs[pair]));
    draw_circle(figure, &circle);
    for (size_t i = 0; i < arrows->rows_n; i++) {
        size_t at = arrows->rows_at[i] * arrows->columns + pair;
        draw_arrow(figure, &circle, arrows->cos[at], arrows->sin[at], &styles[i]);
    }
}

static bool read_arrows(struct plotting *plotting, struct arrows *arrows)
{
    struct job *job = plotting->job;
    const struct output *output = job_output_named(job, "cos");

    if (!output || output->rank != 2 || output->count == 0)
        return err_add(&job->request->err, ERR_invalid_value,
                       job_where(job, output ? "positions" : "pack"), NULL,
                       "arrows need cos and sin apart, of one list of positions");
    arrows->cos = plot_values_of(plotting, output);
    arrows->sin = plot_values(plotting, "sin");
    arrows->output = output;
    arrows->pairs = plot_labels(plotting, output, 1);
    arrows->columns = output->shape[1];
    arrows->rows_n = plot_spread(output->shape[0], POSITIONS_N, arrows->rows_at);
    arrows->pairs_n = plot_spread(output->shape[1], PAIRS_MAX, arrows->pairs_at);
    return arrows->cos && arrows->sin && arrows->pairs;
}

/* The first says what the numbers are. */
static const char *arrow_name(struct plotting *plotting, const struct arrows *arrows, size_t i)
{
    const char *place = plot_place(plotting, arrows->output, 0, arrows->rows_at[i]);
    const char *name = i > 0 ? place : arena_printf(plotting->arena, "position %s", place);
    plotting->figure->failed |= !name;
    return name ? name : "";
}

void plot_draw_rotation(struct plotting *plotting)
{
    struct figure *figure = plotting->figure;
    struct arrows arrows = {0};
    struct legend styles[POSITIONS_N];
    struct box boxes[PAIRS_MAX];

    if (!read_arrows(plotting, &arrows))
        return;
    const char *below = plotting->job->specs[0].compact;
    if (arrows.pairs_n < arrows.columns)
        below = arena_printf(plotting->arena, "%s, %zu of %zu pairs", below, arrows.pairs_n,
                             arrows.columns);
    for (size_t i = 0; i < arrows.rows_n; i++)
        styles[i] = plot_series(plotting, arrow_name(plotting, &arrows, i), i, arrows.rows_n);
    chart_title(figure, plotting->title, below);
    chart_legend(figure, styles, arrows.rows_n);
    chart_split(figure, arrows.pairs_n, 85, boxes);
    for (size_t i = 0; i < arrows.pairs_n && !figure->cramped; i++)
        draw_pair(plotting, &arrows, arrows.pairs_at[i], &boxes[i], styles);
}
