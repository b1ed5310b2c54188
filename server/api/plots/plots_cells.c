// SPDX-License-Identifier: Apache-2.0
/* plots_cells.c: pictures that consist of cells: matrices whose values are colours. */
#include <assert.h>
#include <string.h>

#include "plots.h"

#define FRAME_WIDTH (2 * UNIT)
#define ALIKE_RATIO 4 /* from which a matrix is too long for cells that are squares */

/* Matrices side by side, one below the other in memory. */
struct matrices {
    size_t n, rows, columns;
    const double *values;
    const struct output *output; /* its last two axes are theirs */
    const char *unit;
    bool alike;                       /* rows and columns are of the same kind: cells are squares */
    bool powers;                      /* logarithms, for which zero is a number as any other */
    const char *captions[PANELS_MAX]; /* NULL: none */
};

static const char *compact(const struct plotting *plotting)
{
    return plotting->job->specs_n > 0 ? plotting->job->specs[0].compact : NULL;
}

/* One side of a matrix. */
static struct axis side(struct plotting *plotting, const struct output *output, size_t axis)
{
    const struct answer_axis *from = &output->axes[axis];
    size_t n = output->shape[axis];
    struct axis side = {.name = from->name,
                        .whole = true,
                        .cells_n = n,
                        .values = plot_labels(plotting, output, axis),
                        .labels = from->names};

    if (from->more[0]) {
        const char **places = arena_calloc(plotting->arena, n + 1, sizeof *places);
        for (size_t i = 0; places && i < n; i++)
            places[i] = plot_place(plotting, output, axis, i);
        plotting->figure->failed |= !places;
        side.labels = places;
    }
    return side;
}

/* The panels of all matrices; the first `panels` are for who draws more on them. */
static bool draw(struct plotting *plotting, const struct matrices *all, struct panel *panels)
{
    struct figure *figure = plotting->figure;
    const struct output *output = all->output;
    struct axis x = side(plotting, output, output->rank - 1);
    struct axis y = side(plotting, output, output->rank - 2);
    struct shades shades =
        chart_shades_of(all->unit, all->values, all->n * all->rows * all->columns, !all->powers);
    bool square = all->alike && all->rows < ALIKE_RATIO * all->columns &&
                  all->columns < ALIKE_RATIO * all->rows;
    struct box boxes[PANELS_MAX];

    if (!x.values || !y.values)
        return false;
    y.first_on_top = true;
    chart_title(figure, plotting->title, compact(plotting));
    chart_shades_room(figure, &shades);
    if (figure->cramped)
        return false;
    chart_split(figure, all->n, square ? 100 : 150, boxes);
    for (size_t i = 0; i < all->n && !figure->cramped; i++) {
        chart_axes(figure, &boxes[i], all->captions[i], &x, &y, square, &panels[i]);
        if (!figure->cramped)
            chart_cells(figure, &panels[i], all->rows, all->columns,
                        all->values + i * all->rows * all->columns, &shades);
    }
    if (figure->cramped || figure->failed)
        return false;
    struct box beside = panels[0].area;
    for (size_t i = 0; i < all->n; i++) {
        beside.right = panels[i].area.right > beside.right ? panels[i].area.right : beside.right;
        beside.bottom = panels[i].area.bottom;
    }
    chart_shades(figure, &shades, &beside);
    return true;
}

/* "head 3", of the axes before the last two. */
static void name_panels(struct plotting *plotting, struct matrices *all)
{
    const struct output *output = all->output;
    const double *labels = output->rank > 2 ? plot_labels(plotting, output, 0) : NULL;

    for (size_t i = 0; labels && i < all->n; i++)
        all->captions[i] = output->axes[0].names ? output->axes[0].names[i]
                           : output->rank == 3
                               ? plot_named(plotting, output->axes[0].name, labels[i])
                               : plot_named(plotting, "matrix", (double)i);
}

/* The matrices of an output. False with an error where it has none, or too many. */
static bool read_matrices(struct plotting *plotting, const struct output *output,
                          struct matrices *all)
{
    struct err *err = &plotting->job->request->err;

    *all = (struct matrices){.n = 1, .output = output, .alike = true, .unit = output->name};

    if (output->rank < 2 || output->count == 0)
        return err_add(err, ERR_invalid_value, NULL, NULL,
                       "the tensor \"%s\" has no rows and columns to show", output->name);
    all->rows = output->shape[output->rank - 2];
    all->columns = output->shape[output->rank - 1];
    assert(all->rows > 0 && all->columns > 0);
    all->n = output->count / all->rows / all->columns;
    if (all->n > PANELS_MAX)
        return err_add(err, ERR_limit_exceeded, NULL, "ask for fewer",
                       "%zu matrices would stand side by side, the limit is %d", all->n,
                       PANELS_MAX);
    all->values = plot_values_of(plotting, output);
    name_panels(plotting, all);
    return all->values;
}

void plot_draw_table(struct plotting *plotting)
{
    const struct job *job = plotting->job;
    struct panel panels[PANELS_MAX] = {0};
    struct matrices all;

    if (!read_matrices(plotting, &job->outputs[job->main], &all))
        return;
    all.alike = strcmp(all.output->name, "bias") == 0;
    all.unit = strcmp(all.output->name, "table") == 0 ? "value" : all.unit;
    draw(plotting, &all, panels);
}

void plot_draw_matrix(struct plotting *plotting)
{
    const struct job *job = plotting->job;
    struct panel panels[PANELS_MAX] = {0};
    struct matrices all;

    if (read_matrices(plotting, &job->outputs[job->main], &all))
        draw(plotting, &all, panels);
}

void plot_draw_angles(struct plotting *plotting)
{
    const struct job *job = plotting->job;
    struct panel panels[PANELS_MAX] = {0};
    struct matrices all;

    if (!read_matrices(plotting, &job->outputs[job->main], &all))
        return;
    if (strcmp(all.output->name, "angle") == 0)
        all.unit = job_key_is(job, "value", "turns") ? "turns" : "radians";
    all.alike = false;
    draw(plotting, &all, panels);
}

/* Of each pair; where there is none it has the least colour. */
void plot_draw_errors(struct plotting *plotting)
{
    const struct job *job = plotting->job;
    struct panel panels[PANELS_MAX] = {0};
    struct matrices all;

    if (!read_matrices(plotting, &job->outputs[job->main], &all) || !all.values)
        return;
    double *powers = arena_calloc(plotting->arena, all.output->count, sizeof *powers);
    for (size_t i = 0; powers && i < all.output->count; i++)
        powers[i] = scale_log10(all.values[i]);
    plotting->figure->failed |= !powers;
    all.values = powers;
    all.unit = "log10 of error";
    all.powers = true;
    all.alike = false;
    if (powers)
        draw(plotting, &all, panels);
}

/* ---- Attention ------------------------------------------------------------------------------ */

void plot_draw_attention(struct plotting *plotting)
{
    struct panel panels[PANELS_MAX] = {0};
    struct matrices all;

    if (!read_matrices(plotting, job_output_named(plotting->job, "weights"), &all))
        return;
    all.unit = "weight";
    draw(plotting, &all, panels);
}

void plot_draw_attention_pair(struct plotting *plotting)
{
    struct job *job = plotting->job;
    const struct output *with = job_output_named(job, "weights");
    struct panel panels[PANELS_MAX] = {0};
    struct matrices all;

    if (!read_matrices(plotting, with, &all))
        return;
    const double *without = plot_values(plotting, "weights_without");
    double *both = arena_calloc(plotting->arena, 2 * with->count + 1, sizeof *both);
    if (!all.values || !without || !both) {
        plotting->figure->failed = true;
        return;
    }
    memcpy(both, all.values, with->count * sizeof *both);
    memcpy(both + with->count, without, with->count * sizeof *both);
    all.n = 2;
    all.values = both;
    all.unit = "weight";
    all.captions[0] = job->specs[0].compact;
    all.captions[1] = job->beside_n > 0 ? job->specs[job->specs_n].compact : "without";
    draw(plotting, &all, panels);
}

/* ---- Grid ----------------------------------------------------------------------------------- */

static void frame_cell(struct figure *figure, const struct panel *panel, size_t row, size_t column,
                       const struct matrices *all)
{
    const struct box *area = &panel->area;
    int32_t width = (area->right - area->left) / (int32_t)all->columns;
    int32_t height = (area->bottom - area->top) / (int32_t)all->rows;
    int32_t left = area->left + (int32_t)column * width, top = area->top + (int32_t)row * height;
    struct point *points = figure_points(figure, 5);

    if (!points)
        return;
    points[0] = points[4] = (struct point){left, top};
    points[1] = (struct point){left + width, top};
    points[2] = (struct point){left + width, top + height};
    points[3] = (struct point){left, top + height};
    figure_line(figure, points, 5, INK_ON_LIGHT, FRAME_WIDTH)->name = "query";
}

void plot_draw_grid(struct plotting *plotting)
{
    const struct job *job = plotting->job;
    const struct tree *query = tree_member(job->answer.readouts, "query");
    const struct tree *cell = query ? tree_member(query, "cell") : NULL;
    struct panel panels[PANELS_MAX] = {0};
    struct matrices all;
    size_t at[PE_AXES_MAX] = {0}, n = 0;

    if (!read_matrices(plotting, &job->outputs[job->main], &all) || !draw(plotting, &all, panels))
        return;
    for (const struct tree *node = cell ? cell->first : NULL; node && n < PE_AXES_MAX;
         node = node->next)
        at[n++] = (size_t)node->as.integer;
    if (n >= 2 && n == all.output->rank && all.rows > 0 && all.columns > 0)
        frame_cell(plotting->figure, &panels[n > 2 ? at[0] : 0], at[n - 2], at[n - 1], &all);
}
