// SPDX-License-Identifier: Apache-2.0
/*
 * catalogue.c: /v1/encodings and /v1/encodings/{kind}: what the core's table of kinds says about
 * them, as JSON; catalogue_txt.c says the same in a terminal.
 */
#include "catalogue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schema.h"
#include "service.h"

#define KINDS_MAX  64
#define ROUTES_MAX 128

/* What there is of a kind, with its usual parameters: answers, by route, and positions. Found at
 * the start, since specs take memory of libraries that end the process where there is none. */
static struct offered {
    bool answers[ROUTES_MAX];
    double positions_end;
} offered[KINDS_MAX];

const struct catalogue_absent catalogue_absent[] = {
#define NOT_OFFERED(name, title, reason) {name, title, reason},
#include "not_offered.def"
#undef NOT_OFFERED
};
const size_t catalogue_absent_n = sizeof catalogue_absent / sizeof *catalogue_absent;

const char *catalogue_by(enum pe_acts acts)
{
    switch (acts) {
    case PE_ADDS:
        return "addition";
    case PE_ROTATES:
        return "rotation";
    case PE_BIASES:
        return "bias";
    default:
        return "nothing";
    }
}

static const char *acts_on(enum pe_acts acts)
{
    return acts == PE_ADDS ? "x" : acts == PE_ROTATES ? "q k" : acts == PE_BIASES ? "scores" : "";
}

static void add_properties(struct tree *parent, unsigned properties)
{
    struct tree *object = tree_object(parent, "properties");

    tree_bool(object, "relative", properties & PE_RELATIVE);
    tree_bool(object, "preserves_norm", properties & PE_KEEPS_NORM);
    tree_bool(object, "learned", properties & PE_LEARNED);
    tree_bool(object, "unbounded", properties & PE_UNBOUNDED);
}

static void add_libraries(struct tree *parent, const struct pe_library *libraries)
{
    struct tree *array = tree_array(parent, "libraries");

    for (; libraries->name; libraries++) {
        struct tree *row = tree_object(array, NULL);
        tree_string(row, "name", libraries->name);
        tree_string(row, "use", libraries->use);
    }
}

static void add_references(struct tree *parent, const struct pe_reference *references)
{
    struct tree *array = tree_array(parent, "references");

    for (; references->title; references++) {
        struct tree *row = tree_object(array, NULL);
        tree_string(row, "title", references->title);
        tree_integer(row, "year", references->year);
        tree_string(row, "id", references->id);
    }
}

/* What libraries do otherwise, as dialect= sets it. */
static void add_dialects(struct tree *parent, const struct pe_kind *kind)
{
    struct tree *array = tree_array(parent, "dialects");

    for (size_t i = 0; i < pe_dialects_n(); i++) {
        const struct pe_dialect *dialect = pe_dialect_at(i);
        if (!pe_dialect_has(dialect, kind))
            continue;
        struct tree *row = tree_object(array, NULL);
        tree_string(row, "name", dialect->name);
        tree_string(row, "sets", dialect->keys);
        if (dialect->method)
            tree_string(row, "method", dialect->method);
        if (dialect->request)
            tree_string(row, "request", dialect->request);
        if (dialect->help)
            tree_string(row, "note", dialect->help);
    }
}

static bool answers(const struct route *route, const struct pe_spec *spec)
{
    const struct endpoint *endpoint = route->endpoint;

    return route->methods & METHOD_GET && endpoint->specs_max > 0 && !endpoint->behind &&
           endpoint->acts >> spec->kind->acts & 1 && (!endpoint->takes || endpoint->takes(spec));
}

bool catalogue_prepare(void)
{
    if (pe_kinds_n() > KINDS_MAX || api_routes_n > ROUTES_MAX)
        return false;
    for (size_t kind = 0; kind < pe_kinds_n(); kind++) {
        struct offered *own = &offered[kind];
        struct pe_faults faults = {0};
        struct pe_spec spec;
        pe_spec_init(&spec, pe_kind_at(kind));
        bool known = pe_spec_finish(&spec, &faults);
        for (size_t i = 0; known && i < api_routes_n; i++)
            own->answers[i] = answers(&api_routes[i], &spec);
        own->positions_end = known ? pe_positions_end(&spec) : INFINITY;
        pe_spec_release(&spec);
    }
    return true;
}

static size_t index_of(const struct pe_kind *kind)
{
    size_t i = 0;
    while (pe_kind_at(i) != kind)
        i++;
    return i;
}

static void add_offered(struct tree *parent, const struct pe_kind *kind)
{
    const struct offered *own = &offered[index_of(kind)];
    struct tree *array = tree_array(parent, "endpoints");

    for (size_t i = 0; i < api_routes_n; i++)
        if (own->answers[i])
            tree_string(array, NULL, api_routes[i].path);
    if (isfinite(own->positions_end))
        tree_integer(parent, "positions_end", (int64_t)own->positions_end);
    else
        tree_null(parent, "positions_end");
}

static void add_kind(struct tree *parent, const struct pe_kind *kind)
{
    tree_string(parent, "kind", kind->name);
    if (kind->aliases)
        schema_words(parent, "aliases", kind->aliases);
    tree_string(parent, "title", kind->title);
    tree_string(parent, "description", kind->help);
    schema_words(parent, "acts_on", acts_on(kind->acts));
    tree_string(parent, "by", catalogue_by(kind->acts));
    tree_string(parent, "formula", kind->formula);
    tree_integer(parent, "axes", (int64_t)kind->axes);
    add_properties(parent, kind->properties);
    tree_string(parent, "outside_training", kind->outside);
    add_offered(parent, kind);
    schema_kind(parent, "schema", kind, true);
    add_libraries(parent, kind->libraries);
    add_dialects(parent, kind);
    add_references(parent, kind->references);
    struct tree *examples = tree_array(parent, "examples");
    for (const char *const *example = kind->examples; *example; example++)
        tree_string(examples, NULL, *example);
}

static void add_absent(struct tree *parent)
{
    struct tree *array = tree_array(parent, "not_offered");

    for (size_t i = 0; i < catalogue_absent_n; i++) {
        struct tree *row = tree_object(array, NULL);
        tree_string(row, "name", catalogue_absent[i].name);
        tree_string(row, "title", catalogue_absent[i].title);
        tree_string(row, "reason", catalogue_absent[i].reason);
    }
}

static enum step answer_text(struct request *request, const struct pe_kind *kind)
{
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    if (kind)
        catalogue_write_kind(&request->response.body, kind);
    else
        catalogue_write_list(&request->response.body);
    return api_done(request, format_media_type(FORMAT_TXT));
}

static enum step answer_list(struct request *request, enum format format)
{
    if (format == FORMAT_TXT)
        return answer_text(request, NULL);

    struct tree *root = tree_new(&request->arena, TREE_OBJECT);
    tree_string(root, "semantics", API_SEMANTICS);
    struct tree *encodings = tree_array(root, "encodings");
    for (size_t i = 0; i < pe_kinds_n(); i++)
        add_kind(tree_object(encodings, NULL), pe_kind_at(i));
    add_absent(root);
    return service_answer(request, root, format);
}

static enum step answer_kind(struct request *request, const struct pe_kind *kind,
                             enum format format)
{
    if (format == FORMAT_TXT)
        return answer_text(request, kind);

    struct tree *root = tree_new(&request->arena, TREE_OBJECT);
    tree_string(root, "semantics", API_SEMANTICS);
    add_kind(root, kind);
    return service_answer(request, root, format);
}

/* Whether it is known that there is no such kind; says why. */
static bool refuse_absent(struct request *request)
{
    for (size_t i = 0; i < catalogue_absent_n; i++)
        if (strcmp(request->path_arg, catalogue_absent[i].name) == 0)
            return !err_add(&request->err, ERR_not_found, NULL,
                            "GET /v1/encodings lists what is offered, and what is not",
                            "%s is not offered: %s", catalogue_absent[i].title,
                            catalogue_absent[i].reason);
    return false;
}

static enum step refuse_kind(struct request *request)
{
    const char *names[KINDS_MAX], *near;
    size_t n = pe_kinds_n() < KINDS_MAX ? pe_kinds_n() : KINDS_MAX;
    char hint[120] = "GET /v1/encodings lists all kinds";

    if (refuse_absent(request))
        return STEP_FAILED;
    for (size_t i = 0; i < n; i++)
        names[i] = pe_kind_at(i)->name;
    near = pe_nearest_name(request->path_arg, names, n);
    if (near)
        snprintf(hint, sizeof hint, "did you mean \"/v1/encodings/%s\"?", near);
    err_add(&request->err, ERR_not_found, NULL, hint, "there is no encoding \"%.60s\"",
            request->path_arg);
    return STEP_FAILED;
}

enum step encodings_quick(struct request *request)
{
    const struct pe_kind *kind = NULL;
    enum format format;

    if (request->path_arg) {
        kind = pe_kind_find(request->path_arg, strlen(request->path_arg));
        if (!kind)
            return refuse_kind(request);
    }
    if (!service_begin(request, &format))
        return STEP_FAILED;
    return kind ? answer_kind(request, kind, format) : answer_list(request, format);
}

const struct endpoint encodings_endpoint = {
    .summary = "The catalogue: all kinds of encodings.",
    .describes = "",
    .schema = "Catalogue",
    .cache = CACHE_PAGE,
    .formats = 1U << FORMAT_JSON | 1U << FORMAT_TXT,
};

const struct endpoint kind_endpoint = {
    .summary = "One kind: formula, parameters, references.",
    .describes = "",
    .schema = "CatalogueKind",
    .cache = CACHE_PAGE,
    .formats = 1U << FORMAT_JSON | 1U << FORMAT_TXT,
};
