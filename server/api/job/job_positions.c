// SPDX-License-Identifier: Apache-2.0
/*
 * job_positions.c: positions as callers write them: text in the grammar of the core, a number, JSON
 * lists, one list per batch row, one list per axis, or a grid. All become lists of doubles in the
 * arena and, for the echo and the links, one canonical text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "reader.h"

/* One list in text form, for one axis. */
static bool list_from_text(struct job *job, const char *text, const char *where, double **at,
                           size_t *n)
{
    struct pe_faults faults = {0};
    bool counted = pe_positions_parse(text, where, NULL, 0, n, &faults);
    *at = counted ? job_alloc(job, *n, sizeof **at) : NULL;
    if (*at)
        pe_positions_parse(text, where, *at, *n, n, &faults);
    api_faults_at(&job->request->err, &faults, where);
    return *at != NULL;
}

/* Values of a JSON array, refused where a double cannot hold them. */
static double *list_from_array(struct job *job, const struct json_array *array, const char *where)
{
    struct err *err = &job->request->err;
    if (array->fault) {
        err_add(err, ERR_invalid_value, array->fault, NULL, "%s", array->fault_says);
        return NULL;
    }
    if (array->inexact) {
        err_add(err, ERR_invalid_value, array->inexact, NULL,
                "an integer position beyond 2^53 (9007199254740992) is refused, not rounded");
        return NULL;
    }
    if (array->count == 0 || array->count > PE_POSITIONS_N_MAX) {
        err_add(err, array->count ? ERR_limit_exceeded : ERR_invalid_value, where, NULL,
                "%zu positions were given; 1 to %zu are allowed", array->count, PE_POSITIONS_N_MAX);
        return NULL;
    }
    double *at = job_alloc(job, array->count, sizeof *at);
    if (!at || !json_array_read(array, PE_F64, at, err))
        return NULL;
    for (size_t i = 0; i < array->count; i++)
        if (!(at[i] >= -PE_POSITION_MAX && at[i] <= PE_POSITION_MAX)) {
            err_add(err, ERR_invalid_value, where, NULL,
                    "position %zu is %g; positions are finite and at most 2^53 in size", i, at[i]);
            return NULL;
        }
    return at;
}

static struct pe_positions *lists_alloc(struct job *job, size_t n, struct position_lists *out)
{
    struct pe_positions *list = job_alloc(job, n, sizeof *list);
    if (list)
        memset(list, 0, n * sizeof *list);
    out->list = list;
    out->lists_n = n;
    return list;
}

/* "rows;cols" or, for one axis, just a list. */
static bool lists_from_text(struct job *job, const char *text, size_t axes,
                            struct position_lists *out)
{
    struct pe_positions *list = lists_alloc(job, 1, out);
    if (!list)
        return false;
    list->axes = axes;
    for (size_t axis = 0; axis < axes; axis++) {
        size_t len = strcspn(text, ";");
        bool last = axis + 1 == axes;
        if ((text[len] == '\0') != last)
            return err_add(&job->request->err, ERR_invalid_value, out->where,
                           axes > 1 ? "for example positions=0,0,1,1;0,1,0,1 or grid=2x2" : NULL,
                           "one list of positions is wanted per axis, %zu in all, separated by ;",
                           axes);
        char *part = arena_strndup(&job->request->arena, text, len);
        double *at;
        size_t n;
        if (!part || !list_from_text(job, part, out->where, &at, &n))
            return false;
        if (axis > 0 && n != list->n)
            return err_add(&job->request->err, ERR_invalid_value, out->where, NULL,
                           "every axis needs as many positions; got %zu and %zu", list->n, n);
        list->at[axis] = at;
        list->n = n;
        text += len + !last;
    }
    return true;
}

/* [T], or [B][T] where batches are allowed. */
static bool lists_from_array(struct job *job, const struct json_array *array, size_t axes,
                             size_t batches_max, struct position_lists *out)
{
    struct err *err = &job->request->err;
    if (axes != 1)
        return err_add(err, ERR_invalid_value, out->where, "for example {\"axes\": [[0,1],[0,1]]}",
                       "this kind has %zu axes: one list is wanted for each", axes);
    if (array->rank > 2 || (array->rank == 2 && array->shape[0] > batches_max))
        return err_add(err, ERR_shape_mismatch, out->where, NULL,
                       batches_max > 1 ? "positions must be one list, or one per batch row (%zu)"
                                       : "positions must be one flat list here (%zu)",
                       batches_max);
    double *at = list_from_array(job, array, out->where);
    size_t batches = array->rank == 2 ? array->shape[0] : 1;
    struct pe_positions *list = at ? lists_alloc(job, batches, out) : NULL;
    if (!list)
        return false;
    for (size_t b = 0; b < batches; b++) {
        size_t n = array->count / batches;
        list[b] = (struct pe_positions){.axes = 1, .n = n, .at = {at + b * n}};
    }
    return true;
}

/* {"axes": [[..],[..]]} with numbers, or with one text per axis. */
static bool lists_from_axes(struct job *job, const json_t *object, size_t axes,
                            struct position_lists *out)
{
    struct arena *arena = &job->request->arena;
    const char *where = arena_printf(arena, "%s/axes", out->where);
    const json_t *member = json_object_get(object, "axes");
    const struct json_array *array = where ? json_doc_array(&job->doc, where) : NULL;
    if (array && array->rank == 2 && array->shape[0] == axes) {
        double *at = list_from_array(job, array, where);
        struct pe_positions *list = at ? lists_alloc(job, 1, out) : NULL;
        if (!list)
            return false;
        *list = (struct pe_positions){.axes = axes, .n = array->shape[1]};
        for (size_t axis = 0; axis < axes; axis++)
            list->at[axis] = at + axis * list->n;
        return true;
    }
    if (json_is_array(member) && json_array_size(member) == axes) {
        const char *text = "";
        for (size_t i = 0; i < axes && text; i++) {
            const char *part = json_string_value(json_array_get(member, i));
            text = part ? arena_printf(arena, "%s%s%s", text, i ? ";" : "", part) : NULL;
        }
        if (text)
            return lists_from_text(job, text, axes, out);
    }
    return err_add(&job->request->err, ERR_invalid_value, where, NULL,
                   "axes must hold %zu lists of positions of the same length", axes);
}

/* RxC, row by row. */
static bool lists_from_grid(struct job *job, const char *text, struct position_lists *out)
{
    char *end;
    unsigned long rows = strtoul(text, &end, 10);
    unsigned long cols = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
    bool digits = text[0] >= '0' && text[0] <= '9';
    if (!digits || *end || rows == 0 || cols == 0 || rows > 4096 || cols > 4096 ||
        rows * cols > PE_POSITIONS_N_MAX)
        return err_add(&job->request->err, ERR_invalid_value, out->where, "for example grid=14x14",
                       "grid must be RxC with 1 to 4096 rows and columns and at most %zu cells; "
                       "got \"%.40s\"",
                       PE_POSITIONS_N_MAX, text);
    size_t n = rows * cols;
    struct pe_positions *list = lists_alloc(job, 1, out);
    double *at = list ? job_alloc(job, 2 * n, sizeof *at) : NULL;
    if (!at)
        return false;
    for (size_t i = 0; i < n; i++) {
        at[i] = (double)(i / cols);
        at[n + i] = (double)(i % cols);
    }
    *list = (struct pe_positions){.axes = 2, .n = n, .at = {at, at + n}};
    return true;
}

/* The canonical text: axes separated by ;. */
static const char *lists_text(struct job *job, const struct pe_positions *list)
{
    const char *text = "";
    for (size_t axis = 0; axis < list->axes && text; axis++) {
        size_t len = pe_positions_print(list->at[axis], list->n, NULL, 0);
        char *part = job_alloc(job, len + 1, 1);
        if (!part)
            return NULL;
        pe_positions_print(list->at[axis], list->n, part, len + 1);
        text = axis ? arena_printf(&job->request->arena, "%s;%s", text, part) : part;
    }
    return text;
}

/* Which of the three JSON forms, or text. */
static bool lists_read(struct job *job, struct pe_value *value, const char *name, size_t axes,
                       size_t batches_max, struct position_lists *out)
{
    if (value->text)
        return lists_from_text(job, value->text, axes, out);
    const json_t *json = json_object_get(job->doc.root, name);
    const struct json_array *array = json_doc_array(&job->doc, out->where);
    if (array)
        return lists_from_array(job, array, axes, batches_max, out);
    if (json_is_object(json))
        return lists_from_axes(job, json, axes, out);
    if (json_is_integer(json) || json_is_real(json)) {
        double *at = job_alloc(job, 1, sizeof *at);
        struct pe_positions *list = at ? lists_alloc(job, 1, out) : NULL;
        if (!list)
            return false;
        *at = json_number_value(json);
        *list = (struct pe_positions){.axes = 1, .n = 1, .at = {at}};
        if (axes == 1 && *at >= -PE_POSITION_MAX && *at <= PE_POSITION_MAX)
            return true;
    }
    return err_add(&job->request->err, ERR_invalid_value, out->where,
                   "for example \"0:128\", [0,8,24] or {\"axes\": [[0,1],[0,1]]}",
                   "\"%s\" must be text, a number or a list of numbers", name);
}

bool job_positions(struct job *job, const char *name, size_t axes, size_t batches_max,
                   struct position_lists *out)
{
    struct pe_value *value = job_key_edit(job, name);
    *out = (struct position_lists){0};
    bool member = job->has_doc && json_object_get(job->doc.root, name);
    out->where = member ? arena_printf(&job->request->arena, "/%s", name) : name;
    struct pe_value *grid = NULL;
    int grid_row = pe_params_find(&job->keys, "grid", 4);
    if (grid_row >= 0 && strcmp(name, "positions") == 0 && job->keys.value[grid_row].set)
        grid = &job->keys.value[grid_row];
    if (grid && value->given)
        return err_add(&job->request->err, ERR_conflicting_parameters, "grid", NULL,
                       "grid and positions cannot be given together");
    if (grid && axes != 2)
        return err_add(&job->request->err, ERR_invalid_value, "grid", NULL,
                       "a grid has two axes, this kind has %zu", axes);
    if (axes != 1 && !grid && !value->given)
        return err_add(&job->request->err, ERR_missing_parameter, name,
                       "for example grid=4x4, or positions=0,0,1,1;0,1,0,1",
                       "this kind has %zu axes and no default positions", axes);
    bool read = grid ? lists_from_grid(job, grid->text ? grid->text : "", out)
                     : lists_read(job, value, name, axes, batches_max, out);
    if (!read)
        return false;
    out->text = out->lists_n == 1 ? lists_text(job, out->list) : NULL;
    if (!grid) {
        value->text = out->text;
        value->set = true;
    }
    return true;
}

bool job_positions_check(struct job *job, const struct position_lists *positions)
{
    struct pe_faults faults = {0};
    for (size_t s = 0; s < job->specs_n; s++)
        for (size_t b = 0; b < positions->lists_n; b++)
            pe_stages_check(&job->stages, &job->specs[s].spec, &positions->list[b],
                            positions->where, &faults);
    api_faults_at(&job->request->err, &faults, positions->where);
    return faults.n == 0;
}

struct answer_axis job_position_axis(const struct position_lists *positions)
{
    const struct pe_positions *list = positions->list;
    struct answer_axis axis = {.name = "position", .short_name = "pos"};
    if (positions->lists_n > 1) /* each batch row has its own: numbered */
        return axis;
    axis.labels = list->at[0];
    axis.second = list->axes > 1 ? list->at[1] : NULL;
    return axis;
}
