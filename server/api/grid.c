// SPDX-License-Identifier: Apache-2.0
/*
 * grid.c: GET /v1/grid: how much alike the encoding makes one cell of a grid, such as a patch of an
 * image, and every other.
 */
#include <math.h>
#include <string.h>

#include "keys.h"
#include "pairwise.h"
#include "places.h"

static const struct pe_param keys[] = {
    {"grid", NULL, PE_TEXT, 0, 0, 0, PE_SCALAR, "14x14", NULL, NULL,
     "HxW or TxHxW: the cells, one size per axis, the outermost first."},
    {"query", NULL, PE_REALS, 0, (double)(PE_GRID_SIDE_MAX - 1), 0, PE_OPTIONAL | PE_DERIVED, NULL,
     NULL, NULL,
     "The cell that all others are compared with: its number on each axis, from 0. Without it the "
     "one in the middle, of 14x14 that is 7,7."},
    KEYS_COORDS,
    {"normalize", NULL, PE_ENUM, 0, 0, 0, 0, "none", "none cosine", NULL,
     "Divide the dot product by the lengths of the codes (cosine); rotating kinds do so anyway."},
    KEY_STAGES,
};

struct own {
    struct pe_grid grid;
    size_t cell[PE_AXES_MAX]; /* the query's */
    struct position_lists cells, query;
};

/* ---- Reading ------------------------------------------------------------------------------- */

/* The number of the cell, row by row. */
static size_t cell_number(const struct own *own)
{
    size_t number = 0;
    for (size_t axis = 0; axis < own->grid.axes; axis++)
        number = number * own->grid.size[axis] + own->cell[axis];
    return number;
}

/* The middle, where no cell is named: the echo shows it. */
static bool settle_query(struct job *job, const struct pe_grid *grid)
{
    double middle[PE_AXES_MAX];
    struct pe_faults faults = {0};
    struct pe_value *value = job_key_edit(job, "query");
    for (size_t axis = 0; axis < grid->axes; axis++)
        middle[axis] = floor((double)grid->size[axis] / 2);
    if (!value->given && !pe_params_set_list(&job->keys, "query", middle, grid->axes, &faults)) {
        api_faults(&job->request->err, &faults, "");
        return false;
    }
    if (value->list_n != grid->axes)
        return err_add(&job->request->err, ERR_invalid_value, "query", "for example query=7,7",
                       "query names a cell by its number on each of %zu axes; got %zu numbers",
                       grid->axes, value->list_n);
    /* spelt out, it is no other request */
    value->given = memcmp(value->list, middle, grid->axes * sizeof *middle) != 0;
    return true;
}

static bool read_query(struct job *job, struct own *own)
{
    const struct pe_grid *grid = &own->grid;
    if (!settle_query(job, grid))
        return false;
    for (size_t axis = 0; axis < grid->axes; axis++) {
        double at = job_key(job, "query")->list[axis];
        if (at != floor(at) || at >= (double)grid->size[axis])
            return err_add(&job->request->err, ERR_invalid_value, "query", NULL,
                           "the grid has cells 0 to %zu on axis %zu; got %g", grid->size[axis] - 1,
                           axis, at);
        own->cell[axis] = (size_t)at;
    }
    return true;
}

static bool set_lists(struct job *job, struct own *own, const double *at)
{
    size_t n = pe_grid_cells(&own->grid), axes = pe_spec_axes(&job->specs[0].spec);
    struct pe_positions *lists = job_alloc(job, 2, sizeof *lists);
    if (!lists || !at)
        return false;
    lists[0] = (struct pe_positions){.axes = axes, .n = n};
    lists[1] = (struct pe_positions){.axes = axes, .n = 1};
    for (size_t axis = 0; axis < axes; axis++) {
        lists[0].at[axis] = at + axis * n;
        lists[1].at[axis] = at + axis * n + cell_number(own);
    }
    own->cells = (struct position_lists){.list = &lists[0], .lists_n = 1, .where = "grid"};
    own->query = (struct position_lists){.list = &lists[1], .lists_n = 1, .where = "query"};
    return true;
}

/* Kinds that count pixels do so from 1. */
static double *count_pixels(struct job *job, const struct own *own)
{
    size_t n = pe_grid_cells(&own->grid), axes = pe_spec_axes(&job->specs[0].spec);
    double *at = job_alloc(job, axes * n, sizeof *at), *lists[PE_AXES_MAX];
    if (!at)
        return NULL;
    for (size_t axis = 0; axis < axes; axis++)
        lists[axis] = at + axis * n;
    pe_pixels_count(NULL, own->grid.size[0], own->grid.size[1], axes, lists);
    return at;
}

static bool read_cells(struct job *job, struct own *own)
{
    static const char *const coords[] = {"coords", "coord_offset", "ref", "start",
                                         "stop",   "coord_norm",   NULL};
    const struct pe_spec *spec = &job->specs[0].spec;
    bool counts = spec->kind->counts_pixels;
    size_t axes = counts ? 2 : pe_spec_axes(spec);
    if ((counts && !job_unread(job, coords, "pixels are counted, row by row")) ||
        !grid_read(job, &own->grid))
        return false;
    if (own->grid.axes != axes)
        return err_add(&job->request->err, ERR_invalid_value, axes < 2 ? "kind" : "grid",
                       axes < 2 ? "for example kind=rope2d" : NULL,
                       "a grid of %zu axes is no place for kind=%s, which has %zu", own->grid.axes,
                       spec->kind->name, axes);
    return read_query(job, own) &&
           set_lists(job, own, counts ? count_pixels(job, own) : grid_places(job, &own->grid));
}

static void output_state(struct job *job, const struct own *own)
{
    static const char *const names[] = {"frame", "row", "column"};
    const struct pe_grid *grid = &own->grid;
    struct output *output = job_output(job, "similarity", PE_F64, grid->axes, grid->size);
    for (size_t axis = 0; axis < grid->axes; axis++) {
        const char *name = grid->axes <= 3 ? names[3 - grid->axes + axis] : "axis";
        output->axes[axis] = (struct answer_axis){.name = name, .short_name = name};
    }
}

static bool takes(const struct pe_spec *spec)
{
    return pe_spec_axes(spec) > 1 && pairwise_takes(spec);
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own || !job_specs_finish(job) || !read_cells(job, own) ||
        !job_stages(job, PE_STAGES_OF_PLANS, PE_F64))
        return false;
    output_state(job, own);
    return pairwise_similar(job, 1, own->cells.list->n, "grid") &&
           job_positions_check(job, &own->cells) &&
           pairwise_plan_for(job, own->query.list, own->cells.list);
}

/* ---- Telling ------------------------------------------------------------------------------- */

/* "3,11" */
static const char *cell_text(struct arena *arena, const struct pe_grid *grid, size_t cell)
{
    const char *text = "";
    for (size_t axis = 0; text && axis < grid->axes; axis++)
        text =
            arena_printf(arena, "%s%s%zu", text, axis ? "," : "", pe_grid_index(grid, axis, cell));
    return text;
}

static void cell_tree(struct tree *parent, const char *key, const struct pe_grid *grid, size_t cell,
                      double value)
{
    struct tree *node = tree_object(parent, key);
    struct tree *at = tree_array(node, "cell");
    for (size_t axis = 0; axis < grid->axes; axis++)
        tree_integer(at, NULL, (int64_t)pe_grid_index(grid, axis, cell));
    tree_number(node, "value", value);
}

/* The cell itself, the most alike of the others and the least. */
static void tell(struct job *job, const struct own *own, const double *out)
{
    struct arena *arena = &job->request->arena;
    const struct pe_grid *grid = &own->grid;
    size_t n = own->cells.list->n, query = cell_number(own), nearest = query, least = query;
    for (size_t i = 0; i < n; i++) {
        if (i != query && (nearest == query || out[i] > out[nearest]))
            nearest = i;
        if (out[i] < out[least])
            least = i;
    }
    struct tree *readouts = job->answer.readouts;
    cell_tree(readouts, "query", grid, query, out[query]);
    cell_tree(readouts, "nearest", grid, nearest, out[nearest]);
    cell_tree(readouts, "least", grid, least, out[least]);
    const char *self = cell_text(arena, grid, query), *near = cell_text(arena, grid, nearest);
    const char *far = cell_text(arena, grid, least);
    if (job_in_words(job) && self && near && far)
        job->answer.text_readouts =
            arena_printf(arena,
                         "Cell %s with itself: %.6g.\n"
                         "Most like it of the others is cell %s: %.6g.\n"
                         "Least like it is cell %s: %.6g.\n"
                         "Next: query=%s looks from there.\n",
                         self, out[query], near, out[nearest], far, out[least], far);
}

static bool compute(struct job *job)
{
    const struct own *own = job->own;
    double *out = job_output_data(job, "similarity");
    if (!pairwise_similarities(job, own->query.list, own->cells.list,
                               job_key_is(job, "normalize", "cosine"), out))
        return false;
    tell(job, own, out);
    return true;
}

const struct endpoint grid_endpoint = {
    .summary = "How much alike the encoding makes one cell of a grid and every other.",
    .describes = "similarity",
    .schema = "GridAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = 1u << PE_ADDS | 1u << PE_ROTATES,
    .takes = takes,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
