// SPDX-License-Identifier: Apache-2.0
/*
 * job_positions_lists.c: lists of numbers as callers write them: text in the grammar of positions,
 * with rows between semicolons, a number, JSON lists, a tensor, one list per axis.
 */
#include <math.h>
#include <string.h>

#include "places.h"
#include "reader.h"

#define LISTS_HINT "for example \"0:128\", [0,8,24] or {\"axes\": [[0,1],[0,1]]}"

const char *places_where(const struct job *job, const char *name)
{
    bool member = job->has_doc &&
                  (json_object_get(job->doc.root, name) || safetensors_tensor(&job->file, name));
    const char *pointer = member ? field_pointer(&job->request->arena, "/", name) : NULL;
    return pointer ? pointer : name;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* Positions of one token count once, whatever the axes. */
#define NUMBERS_MAX (PE_AXES_MAX * PE_POSITIONS_N_MAX)

static bool check_count(struct job *job, size_t count, const char *where)
{
    struct err *err = &job->request->err;
    if (count == 0 || count > NUMBERS_MAX)
        return err_add(err, count ? ERR_limit_exceeded : ERR_invalid_value, where, NULL,
                       "%zu positions were given; 1 to %zu are allowed", count, PE_POSITIONS_N_MAX);
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

/* How many lists stand between semicolons, all of the same length *n. */
static bool count_rows(struct job *job, const char *text, const char *where, size_t *rows,
                       size_t *n)
{
    struct arena *arena = &job->request->arena;
    struct err *err = &job->request->err;
    *n = 0;
    for (*rows = 0;; ++*rows) {
        size_t len = strcspn(text, ";"), row_n;
        struct pe_faults faults = {0};
        const char *row = arena_strndup(arena, text, len);
        bool read = row && pe_positions_parse(row, where, NULL, 0, &row_n, &faults);
        api_faults_at(err, &faults, where);
        if (!read)
            return false;
        if (*rows > 0 && row_n != *n)
            return err_add(err, ERR_invalid_value, where, NULL,
                           "lists between ; must be of one length; got %zu and %zu", *n, row_n);
        *n = row_n;
        if (!check_count(job, job_product((size_t[]){*rows + 1, row_n}, 2), where))
            return false;
        text += len;
        if (*text++ == '\0') {
            ++*rows;
            return true;
        }
    }
}

static bool numbers_from_text(struct job *job, const char *text, const char *where,
                              struct numbers *numbers)
{
    size_t *shape = job_alloc(job, 2, sizeof *shape);
    if (!shape || !count_rows(job, text, where, &shape[0], &shape[1]))
        return false;
    bool rows = shape[0] > 1;
    *numbers = (struct numbers){rows ? 2 : 1, shape[0] * shape[1], rows ? shape : shape + 1, NULL};
    numbers->at = job_alloc(job, numbers->count, sizeof *numbers->at);
    for (size_t row = 0; numbers->at && row < shape[0]; row++) {
        size_t len = strcspn(text, ";"), n;
        struct pe_faults faults = {0};
        const char *list = arena_strndup(&job->request->arena, text, len);
        if (!list)
            return false;
        pe_positions_parse(list, where, numbers->at + row * shape[1], shape[1], &n, &faults);
        text += len + 1;
    }
    return numbers->at != NULL;
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
    if (!check_count(job, array->count, where))
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

static bool numbers_from_tensor(struct job *job, const char *name, const char *where,
                                struct numbers *numbers)
{
    struct tensor *tensor = job_alloc(job, 1, sizeof *tensor);
    if (!tensor || !job_indices(job, name, tensor))
        return false;
    *numbers = (struct numbers){tensor->rank, tensor->count, tensor->shape, NULL};
    if (!check_count(job, tensor->count, where))
        return false;
    numbers->at = job_alloc(job, tensor->count, sizeof *numbers->at);
    for (size_t i = 0; numbers->at && i < tensor->count; i++)
        numbers->at[i] = element(tensor, i);
    return numbers->at && check_sizes(job, numbers, where);
}

static bool numbers_from_number(struct job *job, const json_t *json, const char *where,
                                struct numbers *numbers)
{
    static const size_t one = 1;
    *numbers = (struct numbers){1, 1, &one, job_alloc(job, 1, sizeof *numbers->at)};
    if (!numbers->at)
        return false;
    *numbers->at = json_number_value(json);
    return check_sizes(job, numbers, where);
}

bool numbers_read(struct job *job, const char *name, struct numbers *numbers, bool *labelled)
{
    const char *text = job_key(job, name)->text, *where = places_where(job, name);
    const json_t *json = json_object_get(job->doc.root, name);
    const struct json_array *array = json_doc_array(&job->doc, where);
    bool tensor = safetensors_tensor(&job->file, name) || json_object_get(json, "dtype");
    if (labelled)
        *labelled = !array;
    if (text)
        return numbers_from_text(job, text, where, numbers);
    if (array)
        return numbers_from_array(job, array, where, numbers);
    if (tensor)
        return numbers_from_tensor(job, name, where, numbers);
    if (json_is_number(json))
        return numbers_from_number(job, json, where, numbers);
    return err_add(&job->request->err, ERR_invalid_value, where, LISTS_HINT,
                   "\"%s\" must be text, a number or a list of numbers", name);
}

/* "/ids/1/3" of a JSON list, else where all of it stands. */
static const char *number_where(const struct job *job, const char *name,
                                const struct numbers *numbers, size_t i)
{
    const char *where = places_where(job, name);
    struct arena *arena = &job->request->arena;
    size_t n = numbers->shape[numbers->rank - 1];
    const char *at = NULL;
    if (json_doc_array(&job->doc, where))
        at = numbers->rank == 2 ? arena_printf(arena, "%s/%zu/%zu", where, i / n, i % n)
                                : arena_printf(arena, "%s/%zu", where, i);
    return at ? at : where;
}

bool numbers_whole(struct job *job, const char *name, const struct numbers *numbers, double least,
                   double most)
{
    for (size_t i = 0; i < numbers->count; i++) {
        double number = numbers->at[i];
        if (!(number >= least && number <= most && number == trunc(number)))
            return err_add(
                &job->request->err, ERR_invalid_value, number_where(job, name, numbers, i), NULL,
                "%s must be whole numbers from %.0f to %.0f, got %g", name, least, most, number);
    }
    return true;
}

#define RANGE_BYTES 128 /* of a list that is a range; the search for one is made once */

static const char *row_text(struct job *job, const double *at, size_t n)
{
    char range[RANGE_BYTES];
    size_t len = pe_positions_print(at, n, range, sizeof range);
    char *text = job_alloc(job, len + 1, 1);
    if (text && len < sizeof range)
        memcpy(text, range, len + 1);
    else if (text)
        pe_positions_print(at, n, text, len + 1);
    return text;
}

/* Rows between ;. */
static const char *numbers_text(struct job *job, const double *at, size_t rows, size_t n)
{
    const char **row = job_alloc(job, rows, sizeof *row);
    size_t bytes = 0;
    for (size_t i = 0; row && i < rows; i++) {
        row[i] = row_text(job, at + i * n, n);
        if (!row[i])
            return NULL;
        bytes += strlen(row[i]) + 1;
    }
    char *text = row ? job_alloc(job, bytes, 1) : NULL, *end = text;
    for (size_t i = 0; text && i < rows; i++) {
        size_t len = strlen(row[i]);
        memcpy(end, row[i], len);
        end[len] = i + 1 < rows ? ';' : '\0';
        end += len + 1;
    }
    return text;
}

bool numbers_echo(struct job *job, const char *name, const struct numbers *numbers)
{
    size_t n = numbers->shape[numbers->rank - 1];
    struct pe_value *value = job_key_edit(job, name);
    value->text = numbers_text(job, numbers->at, numbers->count / n, n);
    value->set = true;
    return value->text != NULL;
}

/* ---- Places -------------------------------------------------------------------------------- */

static bool refuse_axes(struct job *job, const struct places_ask *ask, const char *where)
{
    return err_add(&job->request->err, ERR_invalid_value, where,
                   ask->axes == 2   ? "for example positions=0,0,1,1;0,1,0,1 or grid=2x2"
                   : ask->axes == 1 ? NULL
                                    : "for example {\"axes\": [[0,1],[0,1],[0,1]]}",
                   "one list of positions is wanted per axis, %zu in all, separated by ;",
                   ask->axes);
}

/* Rows as axes where there are several, else as batches. */
static bool places_from_numbers(struct job *job, const struct places_ask *ask, bool by_axis,
                                const struct numbers *numbers, struct places *places)
{
    struct err *err = &job->request->err;
    const char *where = places_where(job, ask->name);
    size_t rank = numbers->rank;
    if (by_axis && (rank < 2 || numbers->shape[0] != ask->axes))
        return refuse_axes(job, ask, where);
    if (rank == 0 || rank > (by_axis ? 3 : 2))
        return err_add(
            err, ERR_shape_mismatch, where, NULL,
            "positions have %zu axes here, [T] or [B][T] for each position axis, got %zu",
            (size_t)2 + by_axis, rank);
    *places = (struct places){.at = numbers->at, .axes = ask->axes, .batches = 1};
    places->n = numbers->shape[rank - 1];
    places->batched = rank == (by_axis ? 3 : 2);
    if (places->batched)
        places->batches = numbers->shape[rank - 2];
    if (places->batches * places->n > PE_POSITIONS_N_MAX)
        return err_add(err, ERR_limit_exceeded, where, NULL,
                       "%zu positions were given; 1 to %zu are allowed",
                       places->batches * places->n, PE_POSITIONS_N_MAX);
    if (places->batches > ask->batches_max)
        return err_add(err, ERR_shape_mismatch, where, NULL,
                       ask->batches_max > 1
                           ? "positions must be one list, or one per batch row (%zu)"
                           : "positions must be one flat list here (%zu)",
                       ask->batches_max);
    return true;
}

/* {"axes": [[..],[..]]} with numbers, or with one text per axis. */
static bool places_from_axes(struct job *job, const json_t *object, const struct places_ask *ask,
                             struct places *places)
{
    struct arena *arena = &job->request->arena;
    const char *where = arena_printf(arena, "%s/axes", places_where(job, ask->name));
    const json_t *member = json_object_get(object, "axes");
    const struct json_array *array = where ? json_doc_array(&job->doc, where) : NULL;
    struct numbers numbers = {.rank = 0};
    if (array && array->rank >= 2 && array->shape[0] == ask->axes)
        return numbers_from_array(job, array, where, &numbers) &&
               places_from_numbers(job, ask, true, &numbers, places);
    if (json_is_array(member) && json_array_size(member) == ask->axes) {
        const char *text = "";
        for (size_t i = 0; i < ask->axes && text; i++) {
            const char *part = json_string_value(json_array_get(member, i));
            text = part && !strchr(part, ';')
                       ? arena_printf(arena, "%s%s%s", text, i ? ";" : "", part)
                       : NULL;
        }
        if (text)
            return numbers_from_text(job, text, where, &numbers) &&
                   places_from_numbers(job, ask, ask->axes > 1, &numbers, places);
    }
    return err_add(&job->request->err, ERR_invalid_value, where, NULL,
                   "axes must hold %zu lists of positions of the same length", ask->axes);
}

/* What says the same in a query; no query has batches on several axes. */
static bool places_echo(struct job *job, const char *name, const struct places *places)
{
    struct pe_value *value = job_key_edit(job, name);
    bool one = places->axes == 1 || !places->batched;
    value->text =
        one ? numbers_text(job, places->at, places->axes * places->batches, places->n) : NULL;
    value->set = true;
    return !one || value->text;
}

bool places_from_lists(struct job *job, const struct places_ask *ask, struct places *places)
{
    const json_t *json = json_object_get(job->doc.root, ask->name);
    struct numbers numbers = {.rank = 0};
    bool labelled, several = ask->axes > 1;
    if (!job_key(job, ask->name)->text && json_is_object(json) && !json_object_get(json, "dtype"))
        return places_from_axes(job, json, ask, places) && places_echo(job, ask->name, places);
    if (!numbers_read(job, ask->name, &numbers, &labelled))
        return false;
    if (several && !labelled)
        return err_add(&job->request->err, ERR_invalid_value, places_where(job, ask->name),
                       "for example {\"axes\": [[0,1],[0,1]]}",
                       "this kind has %zu axes: one list is wanted for each", ask->axes);
    return places_from_numbers(job, ask, several, &numbers, places) &&
           places_echo(job, ask->name, places);
}
