// SPDX-License-Identifier: Apache-2.0
/*
 * job_read.c: what the caller said, into one form: the specs (query keys, compact text or JSON),
 * the request keys and the body. Tensors and positions are read later, by the endpoint that wants
 * them. Every mistake is noted; reading goes on, so that one answer names them all.
 */
#include <stdio.h>
#include <string.h>

#include "job.h"
#include "plots.h"
#include "reader.h"

/* ---- Places -------------------------------------------------------------------------------- */

const char *field_pointer(struct arena *arena, const char *prefix, const char *key)
{
    size_t len = strlen(prefix);
    char *pointer = arena_alloc(arena, len + 2 * strlen(key) + 1);
    if (!pointer)
        return NULL;
    memcpy(pointer, prefix, len);
    for (; *key; key++) {
        bool escape = *key == '~' || *key == '/';
        if (escape)
            pointer[len++] = '~';
        pointer[len++] = escape ? (*key == '~' ? '0' : '1') : *key;
    }
    pointer[len] = '\0';
    return pointer;
}

/* ---- One key ------------------------------------------------------------------------------- */

/* A list of numbers for a parameter that takes one. */
static void set_list(struct job *job, struct pe_params *params, const struct field *field,
                     const struct json_array *array, struct pe_faults *faults)
{
    if (array->fault || array->rank != 1) {
        err_add(&job->request->err, ERR_invalid_value, array->fault ? array->fault : field->where,
                NULL, "\"%s\" must be a flat list of numbers", field->name);
        return;
    }
    double *list = job_alloc(job, array->count, sizeof *list);
    if (list && json_array_read(array, PE_F64, list, &job->request->err))
        pe_params_set_list(params, field->name, list, array->count, faults);
}

/* A list or number for a parameter with a grammar of its own: read where it is wanted. */
static void set_unread(struct job *job, struct pe_value *value, const struct field *field)
{
    if (value->given)
        err_add(&job->request->err, ERR_conflicting_parameters, field->where, NULL,
                "\"%s\" is given in the query and in the body", field->name);
    value->given = value->set = true;
}

/* A number where a word may stand: 1 is as good as "1". */
static const char *number_text(struct job *job, const json_t *json)
{
    char digits[PE_TEXT_MAX];
    double number = json_number_value(json);
    size_t len = pe_text_print(PE_F64, &number, 0, digits);
    const char *text = arena_strndup(&job->request->arena, digits, len);
    return text ? text : "";
}

/* A list of words, as a query has them. */
static void set_words(struct job *job, struct pe_params *params, const struct field *field,
                      struct pe_faults *faults)
{
    const char *text = "";
    for (size_t i = 0; text && i < json_array_size(field->json); i++) {
        const char *word = json_string_value(json_array_get(field->json, i));
        if (!word) {
            err_add(&job->request->err, ERR_invalid_value, field->where, NULL,
                    "\"%s\" must be a list of words", field->name);
            return;
        }
        text = arena_printf(&job->request->arena, "%s%s%s", text, i > 0 ? "," : "", word);
    }
    if (text)
        pe_params_set_text(params, field->name, text, faults);
}

/* Sets one parameter from what the field holds; faults become errors at the field's place. */
static void params_set(struct job *job, struct pe_params *params, const struct field *field)
{
    struct pe_faults faults = {0};
    const json_t *json = field->json;
    const struct json_array *array = json ? json_doc_array(&job->doc, field->where) : NULL;
    int row = pe_params_find(params, field->name, strlen(field->name));
    bool word = params == &job->common && params->rows[row].type == PE_TEXT;
    if (!json)
        pe_params_set_text(params, field->name, field->text, &faults);
    else if (word && json_is_number(json))
        pe_params_set_text(params, field->name, number_text(job, json), &faults);
    else if (params->rows[row].type == PE_TEXT && !word && !json_is_string(json))
        set_unread(job, &params->value[row], field);
    else if (array)
        set_list(job, params, field, array, &faults);
    else if (json_is_array(json) && params->rows[row].type == PE_ENUMS)
        set_words(job, params, field, &faults);
    else if (json_is_string(json))
        pe_params_set_text(params, field->name, json_string_value(json), &faults);
    else if (json_is_number(json))
        pe_params_set_number(params, field->name, json_number_value(json), &faults);
    else if (json_is_boolean(json))
        pe_params_set_text(params, field->name, json_is_true(json) ? "true" : "false", &faults);
    else
        err_add(&job->request->err, ERR_invalid_value, field->where, NULL, "\"%s\" must not be %s",
                field->name,
                json_is_null(json)     ? "null"
                : json_is_object(json) ? "an object"
                                       : "a list");
    api_faults(&job->request->err, &faults, field->prefix);
}

/* All names that would have been known where `field` stands, space-separated. */
static const char *known_names(struct job *job, const struct pe_params *spec, bool with_keys,
                               const char **names, size_t *names_n)
{
    const char *text = "";
    *names_n = 0;
    if (spec)
        names[(*names_n)++] = "kind";
    for (size_t i = 0; spec && i < spec->rows_n; i++)
        names[(*names_n)++] = spec->rows[i].name;
    for (size_t i = 0; with_keys && i < job->keys.rows_n; i++)
        names[(*names_n)++] = job->keys.rows[i].name;
    for (size_t i = 0; with_keys && job->look && i < job->look->rows_n; i++)
        names[(*names_n)++] = job->look->rows[i].name;
    for (size_t i = 0; with_keys && i < COMMON_N; i++)
        names[(*names_n)++] = common_keys[i].name;
    if (with_keys)
        names[(*names_n)++] = "format";
    for (size_t i = 0; i < *names_n; i++) {
        text = arena_printf(&job->request->arena, "%s%s%s", text, i ? " " : "", names[i]);
        if (!text)
            return NULL;
    }
    return text;
}

/* "dims" is not a parameter of GET /v1/table with kind=rope (did you mean "dim"?). */
static void unknown_field(struct job *job, const struct field *field, const struct pe_params *spec,
                          const char *kind, bool with_keys)
{
    const char *names[3 * PE_PARAMS_MAX + COMMON_N + 2];
    size_t names_n;
    const char *allowed = known_names(job, spec, with_keys, names, &names_n);
    const char *nearest = pe_nearest_name(field->name, names, names_n);
    char hint[80] = "";
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", nearest);
    struct err *err = &job->request->err;
    err_add(err, ERR_unknown_parameter, field->where, hint,
            "\"%.60s\" is not a parameter of %s %s%s%s", field->name,
            job->request->method == METHOD_POST ? "POST" : "GET", job->request->path,
            kind ? " with kind=" : "", kind ? kind : "");
    if (err->n <= ERR_ITEMS_MAX)
        err->item[err->n - 1].allowed = allowed;
}

/* A field outside a spec object: a key of the picture, a parameter of the flat spec if its kind has
 * it, else a request key. */
static void read_field(struct job *job, const struct field *field)
{
    size_t len = strlen(field->name);
    struct pe_spec *flat = job->flat_spec;
    if (job->look && pe_params_find(job->look, field->name, len) >= 0)
        params_set(job, job->look, field);
    else if (flat && pe_params_find(&flat->params, field->name, len) >= 0)
        params_set(job, &flat->params, field);
    else if (pe_params_find(&job->keys, field->name, len) >= 0)
        params_set(job, &job->keys, field);
    else if (pe_params_find(&job->common, field->name, len) >= 0)
        params_set(job, &job->common, field);
    else
        unknown_field(job, field, flat ? &flat->params : NULL, flat ? flat->kind->name : NULL,
                      true);
}

/* ---- Specs --------------------------------------------------------------------------------- */

static struct job_spec *spec_add(struct job *job, const char *where, const char *prefix)
{
    size_t max = job->endpoint->specs_max;
    if (job->specs_n >= max) {
        err_add(&job->request->err, max ? ERR_limit_exceeded : ERR_unknown_parameter, where, NULL,
                max ? "at most %zu encodings can be asked for at once"
                    : "this resource takes no encoding (at most %zu)",
                max);
        return NULL;
    }
    struct job_spec *slot = &job->specs[job->specs_n];
    slot->prefix = prefix;
    return slot;
}

/* The kind by name, or the core's fault at `where`. */
static const struct pe_kind *kind_named(struct job *job, const char *name, const char *where)
{
    struct pe_faults faults = {0};
    const struct pe_kind *kind = pe_kind_require(name, strlen(name), &faults);
    api_faults_at(&job->request->err, &faults, where);
    return kind;
}

static void spec_from_text(struct job *job, const char *text, const char *where)
{
    struct job_spec *slot = spec_add(job, where, "");
    if (!slot)
        return;
    struct pe_faults faults = {0};
    if (pe_spec_parse(text, &slot->spec, &faults))
        job->specs_n++;
    api_faults_at(&job->request->err, &faults, where);
}

/* {"kind":"rope","dim":64,...} at `where` ("/spec"). */
static void spec_from_object(struct job *job, const json_t *object, const char *where)
{
    struct arena *arena = &job->request->arena;
    const char *prefix = arena_printf(arena, "%s/", where);
    struct job_spec *slot = prefix ? spec_add(job, where, prefix) : NULL;
    if (!slot)
        return;
    const char *at = arena_printf(arena, "%s/kind", where);
    const json_t *name = json_object_get(object, "kind");
    if (!json_is_string(name)) {
        err_add(&job->request->err, ERR_missing_parameter, at, "for example \"kind\": \"rope\"",
                "kind is missing: the name of the encoding, as a string");
        return;
    }
    const struct pe_kind *kind = kind_named(job, json_string_value(name), at);
    if (!kind)
        return;
    pe_spec_init(&slot->spec, kind);
    job->specs_n++;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        if (strcmp(key, "kind") == 0)
            continue;
        struct field field = {.name = key, .json = value, .prefix = prefix};
        field.where = field_pointer(arena, prefix, key);
        if (pe_params_find(&slot->spec.params, key, strlen(key)) < 0)
            unknown_field(job, &field, &slot->spec.params, kind->name, false);
        else
            params_set(job, &slot->spec.params, &field);
    }
}

static void spec_from_json(struct job *job, const json_t *json, const char *where)
{
    if (json_is_string(json))
        spec_from_text(job, json_string_value(json), where);
    else if (json_is_object(json))
        spec_from_object(job, json, where);
    else
        err_add(&job->request->err, ERR_invalid_value, where,
                "for example \"rope:dim=64\" or {\"kind\":\"rope\",\"dim\":64}",
                "a spec must be an object or its compact text");
}

/* A list of specs: "spec": [..] or "specs": [..]. */
static void specs_from_list(struct job *job, const json_t *list, const char *where)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *at = arena_printf(&job->request->arena, "%s/%zu", where, i);
        if (at)
            spec_from_json(job, json_array_get(list, i), at);
    }
}

/* "specs": {"q": .., "k": ..}: one per tensor, in the order of the endpoint's tensors. */
static void specs_by_tensor(struct job *job, const json_t *object, const char *where)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const char *at = field_pointer(&job->request->arena, "/specs/", key);
        const char *const *name = job->endpoint->tensors;
        while (*name && strcmp(*name, key) != 0)
            name++;
        if (!*name) {
            err_add(&job->request->err, ERR_unknown_parameter, at, NULL,
                    "\"%.60s\" is not a tensor of this request", key);
            continue;
        }
        size_t before = job->specs_n;
        spec_from_json(job, value, at ? at : where);
        if (job->specs_n > before)
            job->specs[before].tensor = *name;
    }
}

static void read_json_specs(struct job *job)
{
    const json_t *spec = json_object_get(job->doc.root, "spec");
    const json_t *specs = json_object_get(job->doc.root, "specs");
    if ((spec || specs) && job->specs_n > 0)
        err_add(&job->request->err, ERR_conflicting_parameters, spec ? "/spec" : "/specs", NULL,
                "an encoding is given in the query and in the body");
    else if (spec && specs)
        err_add(&job->request->err, ERR_conflicting_parameters, "/specs", NULL,
                "\"spec\" and \"specs\" cannot be given together");
    else if (json_is_array(spec))
        specs_from_list(job, spec, "/spec");
    else if (spec)
        spec_from_json(job, spec, "/spec");
    else if (json_is_array(specs))
        specs_from_list(job, specs, "/specs");
    else if (json_is_object(specs) && job->endpoint->tensors)
        specs_by_tensor(job, specs, "/specs");
    else if (specs)
        err_add(&job->request->err, ERR_invalid_value, "/specs", NULL,
                "specs must be a list of encodings");
}

/* kind= starts a flat spec whose other keys follow in the query; spec= is compact text. */
static void read_query_specs(struct job *job)
{
    struct err *err = &job->request->err;
    const char *kind = NULL;
    for (size_t i = 0; i < job->request->args_n; i++) {
        const struct query_arg *arg = &job->request->args[i];
        if (strcmp(arg->name, "spec") == 0) {
            spec_from_text(job, arg->value, "spec");
        } else if (strcmp(arg->name, "kind") == 0) {
            if (kind && strcmp(kind, arg->value) != 0)
                err_add(err, ERR_conflicting_parameters, "kind", NULL,
                        "kind is given twice, as \"%.40s\" and as \"%.40s\"", kind, arg->value);
            kind = kind ? kind : arg->value;
        }
    }
    if (!kind)
        return;
    if (job->specs_n > 0) {
        err_add(err, ERR_conflicting_parameters, "kind", NULL,
                "kind= and spec= cannot be given together");
        return;
    }
    const struct pe_kind *known = kind_named(job, kind, "kind");
    struct job_spec *slot = known ? spec_add(job, "kind", "") : NULL;
    if (!slot)
        return;
    pe_spec_init(&slot->spec, known);
    job->specs_n++;
    job->flat_spec = &slot->spec;
}

static void check_spec_there(struct job *job, size_t errors_before)
{
    if (job->endpoint->specs_max == 0 || job->specs_n > 0 || job->request->err.n > errors_before)
        return;
    if (job->has_json)
        err_add(&job->request->err, ERR_missing_parameter, "/spec",
                "for example \"spec\": {\"kind\": \"rope\", \"dim\": 64}",
                "spec is missing: which encoding?");
    else
        err_add(&job->request->err, ERR_missing_parameter, "kind",
                "for example kind=rope&dim=64, or spec=rope:dim=64",
                "kind is missing: which encoding?");
}

/* ---- All of it ----------------------------------------------------------------------------- */

static void read_query_fields(struct job *job)
{
    for (size_t i = 0; i < job->request->args_n; i++) {
        const struct query_arg *arg = &job->request->args[i];
        if (strcmp(arg->name, "spec") == 0 || strcmp(arg->name, "kind") == 0 ||
            strcmp(arg->name, "format") == 0)
            continue;
        struct field field = {
            .name = arg->name, .where = arg->name, .prefix = "", .text = arg->value};
        read_field(job, &field);
    }
}

static void read_json_fields(struct job *job)
{
    const char *key;
    json_t *value;
    json_object_foreach(job->doc.root, key, value)
    {
        if (strcmp(key, "spec") == 0 || strcmp(key, "specs") == 0 || strcmp(key, "format") == 0 ||
            job_is_tensor(job, key))
            continue;
        struct field field = {.name = key, .json = value, .prefix = "/"};
        field.where = field_pointer(&job->request->arena, "/", key);
        if (field.where)
            read_field(job, &field);
    }
}

/* The answer's format: what the request asks for, else that of its body. */
static void read_format(struct job *job)
{
    const json_t *member = job->has_doc ? json_object_get(job->doc.root, "format") : NULL;
    if (member && !json_is_string(member))
        err_add(&job->request->err, ERR_invalid_value, "/format", NULL,
                "\"format\" must be the name of a format");
    format_choose(job->request, job_formats(job),
                  &(struct format_ask){job->body, json_string_value(member)}, &job->format);
}

bool job_read(struct job *job)
{
    struct err *err = &job->request->err;
    pe_params_init(&job->keys, job->endpoint->keys, job->endpoint->keys_n);
    pe_params_init(&job->common, common_keys, COMMON_N);
    if (job->picture && !plot_begin(job))
        return false;
    bool body = job_body(job);
    read_format(job);
    if (!body)
        return false;
    size_t errors_before = err->n;
    read_query_specs(job);
    if (job->has_doc)
        read_json_specs(job);
    check_spec_there(job, errors_before);
    /* Without its kind a spec's keys cannot be told from mistakes: only the kind is reported. */
    if (err->n > errors_before && job->specs_n == 0)
        return false;
    read_query_fields(job);
    if (job->has_doc)
        read_json_fields(job);
    job_read_file(job);
    job_dialect_read(job);
    struct pe_faults faults = {0};
    if (job->picture)
        plot_defaults(job, &faults);
    pe_params_finish(&job->keys, &faults);
    pe_params_finish(&job->common, &faults);
    api_faults(err, &faults, job->has_json ? "/" : "");
    common_check(job);
    return true;
}
