// SPDX-License-Identifier: Apache-2.0
/*
 * job_positions.c: positions as callers write them: text in the grammar of the core, a number, JSON
 * lists, one list per batch row, one list per axis, or a grid. All become lists of doubles in the
 * arena and, for the echo and the links, one canonical text.
 */
#include <math.h>
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

/* Numbers as a list or a table of positions. */
struct numbers {
    size_t rank, count;
    const size_t *shape;
    double *at;
};

static bool check_numbers(struct job *job, const struct numbers *numbers, const char *where)
{
    struct err *err = &job->request->err;
    if (numbers->count == 0 || numbers->count > PE_POSITIONS_N_MAX)
        return err_add(err, numbers->count ? ERR_limit_exceeded : ERR_invalid_value, where, NULL,
                       "%zu positions were given; 1 to %zu are allowed", numbers->count,
                       PE_POSITIONS_N_MAX);
    return true;
}

static bool check_sizes(struct job *job, const struct numbers *numbers, const char *where)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (!(numbers->at[i] >= -PE_POSITION_MAX && numbers->at[i] <= PE_POSITION_MAX))
            return err_add(&job->request->err, ERR_invalid_value, where, NULL,
                           "position %zu is %g; positions are finite and at most 2^53 in size", i,
                           numbers->at[i]);
    return true;
}

/* Values of a JSON array, refused where a double cannot hold them. */
static bool numbers_from_array(struct job *job, const struct json_array *array, const char *where,
                               struct numbers *numbers)
{
    struct err *err = &job->request->err;
    if (array->fault)
        return err_add(err, ERR_invalid_value, array->fault, NULL, "%s", array->fault_says);
    if (array->inexact)
        return err_add(
            err, ERR_invalid_value, array->inexact, NULL,
            "an integer position beyond 2^53 (9007199254740992) is refused, not rounded");
    *numbers = (struct numbers){array->rank, array->count, array->shape, NULL};
    if (!check_numbers(job, numbers, where))
        return false;
    numbers->at = job_alloc(job, array->count, sizeof *numbers->at);
    return numbers->at && json_array_read(array, PE_F64, numbers->at, err) &&
           check_sizes(job, numbers, where);
}

/* The element as a double; one that none can hold is out of range as a double too. */
static double element(const struct tensor *tensor, size_t i)
{
    int64_t limit = (int64_t)PE_POSITION_MAX;
    int64_t index = tensor->dtype == PE_I64 ? ((const int64_t *)tensor->data)[i] : 0;
    return index > limit || index < -limit ? (index > 0 ? INFINITY : -INFINITY)
                                           : pe_load(tensor->dtype, tensor->data, i);
}

/* Elements of a tensor. */
static bool numbers_from_tensor(struct job *job, const char *name, const char *where,
                                struct numbers *numbers)
{
    struct tensor *tensor = job_alloc(job, 1, sizeof *tensor);
    if (!tensor || !job_indices(job, name, tensor))
        return false;
    *numbers = (struct numbers){tensor->rank, tensor->count, tensor->shape, NULL};
    if (!check_numbers(job, numbers, where))
        return false;
    numbers->at = job_alloc(job, tensor->count, sizeof *numbers->at);
    for (size_t i = 0; numbers->at && i < tensor->count; i++)
        numbers->at[i] = element(tensor, i);
    return numbers->at && check_sizes(job, numbers, where);
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

/* [axes][n] */
static bool lists_from_table(struct job *job, const double *at, size_t axes, size_t n,
                             struct position_lists *out)
{
    struct pe_positions *list = lists_alloc(job, 1, out);
    if (!list)
        return false;
    *list = (struct pe_positions){.axes = axes, .n = n};
    for (size_t axis = 0; axis < axes; axis++)
        list->at[axis] = at + axis * n;
    return true;
}

/* [T], or [B][T] where batches are allowed. */
static bool lists_from_numbers(struct job *job, const struct numbers *numbers, size_t axes,
                               size_t batches_max, struct position_lists *out)
{
    struct err *err = &job->request->err;
    size_t batches = numbers->rank == 2 ? numbers->shape[0] : 1;
    if (axes != 1)
        return err_add(err, ERR_invalid_value, out->where, "for example {\"axes\": [[0,1],[0,1]]}",
                       "this kind has %zu axes: one list is wanted for each", axes);
    if (numbers->rank > 2 || (numbers->rank == 2 && batches > batches_max))
        return err_add(err, ERR_shape_mismatch, out->where, NULL,
                       batches_max > 1 ? "positions must be one list, or one per batch row (%zu)"
                                       : "positions must be one flat list here (%zu)",
                       batches_max);
    struct pe_positions *list = lists_alloc(job, batches, out);
    for (size_t b = 0; list && b < batches; b++) {
        size_t n = numbers->count / batches;
        list[b] = (struct pe_positions){.axes = 1, .n = n, .at = {numbers->at + b * n}};
    }
    return list != NULL;
}

/* A tensor: lists as in JSON, or [axes][T] for a kind with several axes. */
static bool lists_from_tensor(struct job *job, const char *name, size_t axes, size_t batches_max,
                              struct position_lists *out)
{
    struct numbers numbers = {.rank = 0};
    if (!numbers_from_tensor(job, name, out->where, &numbers))
        return false;
    return axes > 1 && numbers.rank == 2 && numbers.shape[0] == axes
               ? lists_from_table(job, numbers.at, axes, numbers.shape[1], out)
               : lists_from_numbers(job, &numbers, axes, batches_max, out);
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
        struct numbers numbers = {.rank = 0};
        return numbers_from_array(job, array, where, &numbers) &&
               lists_from_table(job, numbers.at, axes, array->shape[1], out);
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

/* Which of the JSON forms, or text. */
static bool lists_read(struct job *job, struct pe_value *value, const char *name, size_t axes,
                       size_t batches_max, struct position_lists *out)
{
    if (value->text)
        return lists_from_text(job, value->text, axes, out);
    const json_t *json = json_object_get(job->doc.root, name);
    const struct json_array *array = json_doc_array(&job->doc, out->where);
    struct numbers numbers = {.rank = 0};
    if (array)
        return numbers_from_array(job, array, out->where, &numbers) &&
               lists_from_numbers(job, &numbers, axes, batches_max, out);
    if (safetensors_tensor(&job->file, name) || json_object_get(json, "dtype"))
        return lists_from_tensor(job, name, axes, batches_max, out);
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
    bool member = job->has_doc &&
                  (json_object_get(job->doc.root, name) || safetensors_tensor(&job->file, name));
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

bool job_positions_empty(const struct job *job, const char *name)
{
    struct arena *arena = &job->request->arena;
    const struct safetensors_tensor *tensor = safetensors_tensor(&job->file, name);
    for (int i = 0; i < 2; i++) {
        const char *pointer = arena_printf(arena, i == 0 ? "/%s" : "/%s/axes", name);
        const struct json_array *array = pointer ? json_doc_array(&job->doc, pointer) : NULL;
        if (array && array->count == 0)
            return true;
    }
    return tensor && tensor->view.count == 0;
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
