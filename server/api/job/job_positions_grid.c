// SPDX-License-Identifier: Apache-2.0
/*
 * job_positions_grid.c: positions of the cells of a grid, and of the valid pixels of a map.
 */
#include <stdio.h>
#include <string.h>

#include "places.h"

/* ---- Grids --------------------------------------------------------------------------------- */

/* The sizes as text, or as a JSON list. */
static const char *sizes_text(struct job *job, const char *where)
{
    const struct json_array *array = json_doc_array(&job->doc, where);
    const char *text = job_key(job, "grid")->text;
    struct numbers numbers;
    if (text || !array || array->rank != 1)
        return text ? text : "";
    if (!numbers_read(job, "grid", &numbers, NULL) ||
        !numbers_whole(job, "grid", &numbers, 1, (double)PE_GRID_SIDE_MAX))
        return NULL;
    text = "";
    for (size_t i = 0; text && i < numbers.count; i++)
        text = arena_printf(&job->request->arena, "%s%s%.0f", text, i ? "x" : "", numbers.at[i]);
    return text;
}

/* A number for each axis. */
static bool read_reals(struct job *job, const char *name, size_t axes, double out[PE_AXES_MAX])
{
    const struct pe_value *value = job_key(job, name);
    if (!value->set)
        return true;
    if (value->list_n != axes)
        return err_add(&job->request->err, ERR_invalid_value, job_where(job, name), NULL,
                       "%s has a number for each axis of the grid, %zu in all; got %zu", name, axes,
                       value->list_n);
    memcpy(out, value->list, axes * sizeof *out);
    return true;
}

static double number_or(const struct job *job, const char *name, double fallback)
{
    const struct pe_value *value = job_has_key(job, name) ? job_key(job, name) : NULL;
    return value && value->set ? value->number : fallback;
}

/* Faults of a grid name the key that is wrong. */
static bool add_faults(struct job *job, const struct pe_faults *faults)
{
    for (size_t i = 0; i < faults->n && i < PE_FAULTS_MAX; i++) {
        struct pe_faults one = {1, {faults->item[i]}};
        api_faults_at(&job->request->err, &one, job_where(job, faults->item[i].param));
    }
    return faults->n == 0;
}

bool grid_read(struct job *job, struct pe_grid *grid)
{
    const char *where = places_where(job, "grid"), *text = sizes_text(job, where);
    struct pe_faults faults = {0};
    *grid = (struct pe_grid){0};
    if (!text || !pe_grid_parse(text, "grid", grid, &faults))
        return add_faults(job, &faults) && text;
    /* The choices of the rows stand in the order of the enums. */
    grid->order = (enum pe_grid_order)number_or(job, "grid_order", PE_GRID_ROW);
    grid->merge = (size_t)number_or(job, "merge", 1);
    grid->coords = (enum pe_coords)number_or(job, "coords", PE_COORDS_INDEX);
    grid->offset = number_or(job, "coord_offset", 0);
    grid->longest = job_key_is(job, "coord_norm", "max");
    bool ok = read_reals(job, "ref", grid->axes, grid->ref);
    ok = read_reals(job, "start", grid->axes, grid->start) && ok;
    ok = read_reals(job, "stop", grid->axes, grid->stop) && ok;
    ok = ok && pe_grid_check(grid, &faults);
    char *canonical = job_alloc(job, PE_GRID_TEXT_MAX, 1);
    if (!add_faults(job, &faults) || !ok || !canonical)
        return false;
    pe_grid_print(grid, canonical, PE_GRID_TEXT_MAX);
    struct pe_value *value = job_key_edit(job, "grid");
    value->text = canonical;
    value->set = true;
    return true;
}

double *grid_places(struct job *job, const struct pe_grid *grid)
{
    size_t cells = pe_grid_cells(grid);
    double *at = job_alloc(job, grid->axes * cells, sizeof *at);
    double *along = job_alloc(job, PE_GRID_SIDE_MAX, sizeof *along);
    for (size_t axis = 0; at && along && axis < grid->axes; axis++) {
        for (size_t i = 0; i < grid->size[axis]; i++)
            along[i] = pe_grid_coordinate(grid, axis, i);
        for (size_t cell = 0; cell < cells; cell++)
            at[axis * cells + cell] = along[pe_grid_index(grid, axis, cell)];
    }
    return along ? at : NULL;
}

/* ---- Pixels -------------------------------------------------------------------------------- */

/* Which pixels are valid; NULL: all. The mask may stand for the grid, else it has its sizes. */
static bool read_pixels(struct job *job, struct pe_grid *grid, const bool **valid)
{
    struct err *err = &job->request->err;
    const char *where = places_where(job, "pixel_mask");
    struct numbers numbers;
    bool *out;
    *valid = NULL;
    if (!job_key(job, "pixel_mask")->given)
        return true;
    if (!numbers_read(job, "pixel_mask", &numbers, NULL))
        return false;
    if (numbers.rank == 0 || numbers.rank > 2)
        return err_add(err, ERR_shape_mismatch, where, NULL,
                       "pixel_mask has rows and columns, [H][W]; got %zu axes", numbers.rank);
    size_t columns = numbers.shape[numbers.rank - 1], rows = numbers.count / columns;
    if (grid->axes > 0 && (grid->size[0] != rows || grid->size[1] != columns))
        return err_add(err, ERR_shape_mismatch, where, NULL,
                       "pixel_mask is %zux%zu, the grid %zux%zu", rows, columns, grid->size[0],
                       grid->size[1]);
    *grid = (struct pe_grid){.axes = 2, .size = {rows, columns}};
    if (rows > PE_GRID_SIDE_MAX || columns > PE_GRID_SIDE_MAX || numbers.count > PE_POSITIONS_N_MAX)
        return err_add(err, ERR_limit_exceeded, where, NULL,
                       "pixel_mask may have %zu rows and columns and %zu pixels, got %zux%zu",
                       PE_GRID_SIDE_MAX, PE_POSITIONS_N_MAX, rows, columns);
    if (!numbers_whole(job, "pixel_mask", &numbers, 0, 1) ||
        !numbers_echo(job, "pixel_mask", &numbers))
        return false;
    out = job_alloc(job, numbers.count, sizeof *out);
    for (size_t i = 0; out && i < numbers.count; i++)
        out[i] = numbers.at[i] != 0;
    *valid = out;
    return out != NULL;
}

/* Kinds that count pixels do so row by row, from 1. */
static bool places_from_pixels(struct job *job, const struct places_ask *ask, struct pe_grid *grid,
                               struct places *places)
{
    const bool *valid;
    if (!read_pixels(job, grid, &valid))
        return false;
    size_t cells = pe_grid_cells(grid);
    double *at = job_alloc(job, ask->axes * cells, sizeof *at), *lists[PE_AXES_MAX];
    if (!at)
        return false;
    for (size_t axis = 0; axis < ask->axes; axis++)
        lists[axis] = at + axis * cells;
    pe_pixels_count(valid, grid->size[0], grid->size[1], ask->axes, lists);
    *places = (struct places){.at = at, .axes = ask->axes, .batches = 1, .n = cells};
    return true;
}

/* ---- Both ---------------------------------------------------------------------------------- */

bool places_from_grid(struct job *job, const struct places_ask *ask, struct places *places)
{
    static const char *const mask[] = {"pixel_mask", NULL};
    static const char *const rules[] = {"grid_order",   "merge",      "coords",
                                        "coord_offset", "ref",        "start",
                                        "stop",         "coord_norm", NULL};
    bool counts = ask->spec && ask->spec->kind->counts_pixels;
    struct pe_grid grid = {0};
    bool ok = counts ? job_unread(job, rules, "pixels are counted, row by row")
                     : job_unread(job, mask, "this kind counts no pixels");
    ok = ok && (!job_key(job, "grid")->given || grid_read(job, &grid));
    size_t axes = counts ? 2 : ask->axes;
    if (ok && grid.axes > 0 && grid.axes != axes)
        return err_add(&job->request->err, ERR_invalid_value, places_where(job, "grid"), NULL,
                       "a grid of %zu axes is no place for this kind, which has %zu", grid.axes,
                       axes);
    if (!ok || counts)
        return ok && places_from_pixels(job, ask, &grid, places);
    *places = (struct places){
        .at = grid_places(job, &grid), .axes = grid.axes, .batches = 1, .n = pe_grid_cells(&grid)};
    return places->at != NULL;
}
