// SPDX-License-Identifier: Apache-2.0
/*
 * positions_segments.c: /v1/positions of sequences of text, images and videos: the segments as text
 * or as JSON objects, which are put into the same text piece by piece.
 */
#include <string.h>

#include "places.h"
#include "positions.h"

/* ---- JSON ---------------------------------------------------------------------------------- */

/* "2x4x4" of text or of a list of sizes; NULL with an error. */
static const char *grid_text(struct job *job, const json_t *json, const char *where)
{
    struct arena *arena = &job->request->arena;
    const struct json_array *array = json_doc_array(&job->doc, where);
    double sizes[PE_AXES_MAX];
    const char *text = "";
    if (json_is_string(json))
        return json_string_value(json);
    if (!array || array->fault || array->rank != 1 || array->count > PE_AXES_MAX ||
        !array->integers || !json_array_read(array, PE_F64, sizes, &job->request->err)) {
        err_add(&job->request->err, ERR_invalid_value, where, "for example [1,4,4] or \"4x4\"",
                "grid must be the sizes of an image or a video in whole numbers");
        return NULL;
    }
    for (size_t i = 0; text && i < array->count; i++)
        text = arena_printf(arena, "%s%s%.0f", text, i ? "x" : "", sizes[i]);
    return text;
}

/* {"text": 3} or {"grid": [2,4,4], "seconds": 0.5} as a piece of text; NULL with an error. */
static const char *segment_text(struct job *job, const json_t *object, const char *where)
{
    struct arena *arena = &job->request->arena;
    struct err *err = &job->request->err;
    const char *sizes = NULL, *seconds = "", *key;
    bool ok = json_is_object(object), has_text = json_object_get(object, "text");
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const char *at = arena_printf(arena, "%s/%s", where, key);
        char digits[PE_TEXT_MAX + 1] = "";
        double number = json_number_value(value);
        digits[pe_text_print(PE_F64, &number, 0, digits)] = '\0';
        if (!at)
            return NULL;
        if (strcmp(key, "text") == 0 && json_is_integer(value))
            sizes = arena_strndup(arena, digits, strlen(digits));
        else if (strcmp(key, "grid") == 0 && !has_text)
            sizes = grid_text(job, value, at);
        else if (strcmp(key, "seconds") == 0 && json_is_number(value))
            seconds = arena_printf(arena, "@%s", digits);
        else
            ok = err_add(err, ERR_invalid_value, at, NULL,
                         "a segment has \"text\", a number of tokens, or \"grid\" with or without "
                         "\"seconds\", a number");
    }
    if (!ok || !sizes || !seconds) {
        if (!json_is_object(object) || json_object_size(object) == 0)
            err_add(err, ERR_invalid_value, where, "for example {\"text\":3} or {\"grid\":[1,4,4]}",
                    "a segment must be an object");
        return NULL;
    }
    return arena_printf(arena, "%s%s", sizes, seconds);
}

static bool read_objects(struct job *job, const json_t *list, struct pe_segment *segments,
                         size_t *n)
{
    bool ok = true;
    for (*n = 0; *n < json_array_size(list); ++*n) {
        const char *where = arena_printf(&job->request->arena, "/segments/%zu", *n);
        const char *text = where ? segment_text(job, json_array_get(list, *n), where) : NULL;
        struct pe_faults faults = {0};
        size_t one;
        ok = text && pe_segments_parse(text, "segments", &segments[*n], 1, &one, &faults) && ok;
        api_faults_at(&job->request->err, &faults, where);
    }
    return ok;
}

/* ---- Both ---------------------------------------------------------------------------------- */

static bool echo(struct job *job, const struct pe_segment *segments, size_t n)
{
    struct pe_value *value = job_key_edit(job, "segments");
    size_t len = pe_segments_print(segments, n, NULL, 0);
    char *text = job_alloc(job, len + 1, 1);
    if (!text)
        return false;
    pe_segments_print(segments, n, text, len + 1);
    value->text = text;
    return true;
}

bool positions_segments_read(struct job *job, struct pe_segment **segments, size_t *n)
{
    struct err *err = &job->request->err;
    const char *text = job_key(job, "segments")->text, *where = places_where(job, "segments");
    const json_t *list = json_object_get(job->doc.root, "segments");
    struct pe_segment *out = *segments = job_alloc(job, PE_SEGMENTS_MAX, sizeof *out);
    struct pe_faults faults = {0};
    if (!out)
        return false;
    if (text) {
        bool read = pe_segments_parse(text, "segments", out, PE_SEGMENTS_MAX, n, &faults);
        api_faults_at(err, &faults, where);
        return read && echo(job, out, *n);
    }
    if (json_array_size(list) == 0)
        return err_add(err, ERR_invalid_value, where,
                       "for example \"3,4x4,2\" or [{\"text\":3},{\"grid\":[1,4,4]},{\"text\":2}]",
                       "segments must be text or a list of objects");
    if (json_array_size(list) > PE_SEGMENTS_MAX)
        return err_add(err, ERR_limit_exceeded, where, NULL,
                       "segments may hold at most %d segments, got %zu", PE_SEGMENTS_MAX,
                       json_array_size(list));
    return read_objects(job, list, out, n) && echo(job, out, *n);
}

/* Keys that this style does not read. */
static bool refuse_unread(struct job *job, const struct pe_style *style)
{
    static const char *const sequence[] = {"tokens_per_second", "next_start", NULL};
    static const char *const width[] = {"max_width", NULL}, *const merge[] = {"merge", NULL};
    bool ok = style->of == PE_STYLE_OF_SEGMENTS ||
              job_unread(job, sequence, "patches by themselves stand in no sequence");
    ok = (style->flat || job_unread(job, width, "only style=pixtral counts in rows of it")) && ok;
    return (!style->flat || job_unread(job, merge, "style=pixtral merges no patches")) && ok;
}

static size_t whole_or(const struct job *job, const char *name, size_t fallback)
{
    const struct pe_value *value = job_key(job, name);
    return value->set ? (size_t)value->number : fallback;
}

bool positions_from_segments(struct job *job, const struct pe_style *style, const char *name,
                             const struct pe_segment *segments, size_t n, struct ids *out)
{
    struct pe_faults faults = {0};
    size_t tokens;
    if (!refuse_unread(job, style))
        return false;
    if (style->flat && !job_key(job, "max_width")->set)
        return err_add(&job->request->err, ERR_missing_parameter, job_where(job, "max_width"),
                       "image_size / patch_size of the model's config",
                       "max_width is missing: how many patches are side by side in the largest "
                       "image?");
    struct pe_segments all = {.style = style,
                              .at = segments,
                              .n = n,
                              .patch = whole_or(job, "patch", 1),
                              .merge = whole_or(job, "merge", 1),
                              .tokens_per_second = whole_or(job, "tokens_per_second", 0),
                              .after_side = job_key_is(job, "next_start", "side"),
                              .max_width = whole_or(job, "max_width", 1)};
    bool ok = pe_segments_check(&all, name, &tokens, &faults);
    api_faults_at(&job->request->err, &faults, places_where(job, name));
    double *at = ok ? job_alloc(job, style->axes * tokens, sizeof *at) : NULL;
    if (!at)
        return false;
    *out = (struct ids){.at = at, .rows = style->axes, .n = tokens, .row = "axis", .whole = true};
    out->delta = pe_segments_fill(
        &all, (double *const[]){at, at + tokens, at + (style->axes > 2 ? 2 : 0) * tokens});
    out->decodes = style->of == PE_STYLE_OF_SEGMENTS;
    return true;
}
