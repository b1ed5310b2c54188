// SPDX-License-Identifier: Apache-2.0
/*
 * openapi_answers.c: what an operation may answer: its representations, the fields of their heads,
 * and the problems it may have. What any request may be told (the problems of HTTP itself, of a
 * server at its limit) stands once, as the default of every operation.
 */
#include <string.h>

#include "openapi.h"

#define PROBLEM_JSON "application/problem+json"

/* What an operation is, for the tables below. */
enum trait {
    ANY = 1,
    NAMED = 2,       /* has a name in its path */
    FORMATTED = 4,   /* offers formats to choose from */
    KEYED = 8,       /* has keys with values to be wrong */
    POSTED = 16,     /* reads a body */
    COMPUTED = 32,   /* gives numbers */
    SIZED = 64,      /* has tensors, of a size to be too large */
    GOT = 128,       /* is a GET */
    TAGGED = 256,    /* may be kept, under its tag; and may be in gzip */
    SPECIFIED = 512, /* says what to compute */
    COMPARED = 1024, /* judges tensors by what a request may make */
};

/* Which operations have which problem; the others are the default. */
static const struct {
    enum err_code code;
    unsigned traits;
} causes[] = {
    {ERR_unknown_parameter, ANY},
    {ERR_missing_parameter, SPECIFIED},
    {ERR_invalid_value, KEYED | FORMATTED},
    {ERR_conflicting_parameters, FORMATTED},
    {ERR_malformed_json, POSTED},
    {ERR_malformed_tensor, POSTED},
    {ERR_bad_request, POSTED}, /* a body that is no gzip */
    {ERR_not_found, NAMED},
    {ERR_not_acceptable, FORMATTED | TAGGED},
    {ERR_pin_mismatch, COMPUTED},
    {ERR_semantics_mismatch, COMPUTED},
    {ERR_precondition_failed, TAGGED},
    {ERR_body_too_large, POSTED},
    {ERR_unsupported_media_type, POSTED},
    {ERR_shape_mismatch, SIZED | COMPARED},
    {ERR_limit_exceeded, SIZED | COMPARED},
    {ERR_comparison_failed, COMPARED},
};

/* Fields of a good answer. */
static const struct {
    const char *name;
    unsigned traits;
} fields[] = {
    {"Cache-Control", ANY},
    {"Vary", ANY},
    {"ETag", TAGGED},
    {"Repr-Digest", TAGGED},
    {"Content-Encoding", TAGGED},
    {"Link", GOT},
    {"Posenc-Semantics", COMPUTED},
    {"Posenc-Spec-Id", COMPUTED},
    {"Server-Timing", COMPUTED},
    {"Tensor", SIZED},
};

static unsigned traits_of(const struct operation *operation)
{
    const struct route *route = operation->route;
    const struct endpoint *endpoint = route->endpoint;
    unsigned traits = ANY;

    traits |= strchr(route->path, '{') ? NAMED : 0;
    traits |= endpoint->formats ? FORMATTED : 0;
    traits |= endpoint->keys_n > 0 || endpoint_computes(endpoint) ? KEYED : 0;
    traits |= endpoint_computes(endpoint) ? SPECIFIED | COMPUTED : 0;
    traits |= endpoint == &fixture_endpoint ? COMPUTED : 0;
    traits |= endpoint->describes[0] || endpoint->behind ? SIZED : 0;
    traits |= endpoint->made ? COMPARED : 0;
    traits |= endpoint->cache != CACHE_NO_STORE ? TAGGED : 0;
    return traits | (operation->method == METHOD_POST ? POSTED : GOT);
}

static void add_ref(struct tree *parent, const char *key, const char *section, const char *name)
{
    const char *ref =
        parent ? arena_printf(parent->arena, "#/components/%s/%s", section, name) : NULL;

    tree_string(tree_object(parent, key), "$ref", ref);
}

/* ---- Good answers -------------------------------------------------------------------------- */

static void add_text(struct tree *content, const struct operation *operation,
                     const char *media_type)
{
    struct tree *media = tree_object(content, media_type);

    tree_string(tree_object(media, "schema"), "type", "string");
    openapi_examples(media, operation, 200, media_type);
}

static void add_content(struct tree *answer, const struct operation *operation)
{
    const struct endpoint *endpoint = operation->route->endpoint;
    struct tree *content = tree_object(answer, "content");

    if (endpoint->formats & 1U << FORMAT_JSON) {
        struct tree *media = tree_object(content, "application/json");
        add_ref(media, "schema", "schemas", endpoint->schema);
        openapi_examples(media, operation, 200, "application/json");
    }
    if (endpoint->formats & 1U << FORMAT_CSV)
        add_text(content, operation, "text/csv");
    if ((endpoint->formats & 1U << FORMAT_TXT) || (!endpoint->formats && !endpoint->media_types))
        add_text(content, operation, "text/plain");
    if (endpoint->formats & 1U << FORMAT_SVG)
        add_text(content, operation, format_media_type(FORMAT_SVG));
    for (enum format format = 0; format < FORMATS_N; format++)
        if ((endpoint->formats & 1U << format) && format_is_binary(format))
            tree_object(content, format_media_type(format)); /* bytes have no schema */
    if (endpoint->page)
        add_text(content, operation, "text/html");
    for (const char *const *type = endpoint->media_types; type && *type; type++)
        add_text(content, operation, *type);
}

static void add_fields(struct tree *answer, unsigned traits)
{
    struct tree *heads = tree_object(answer, "headers");

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].traits & traits)
            add_ref(heads, fields[i].name, "headers", fields[i].name);
}

static void add_good(struct tree *answers, const struct operation *operation, unsigned traits)
{
    const struct endpoint *endpoint = operation->route->endpoint;
    struct tree *good = tree_object(answers, "200");
    const char *description = "The answer.";

    if (endpoint->describes[0] && good)
        description = arena_printf(good->arena, "The main tensor is %s.", endpoint->describes);
    tree_string(good, "description", description);
    add_fields(good, traits);
    add_content(good, operation);
    if (!(traits & TAGGED) || !(traits & GOT))
        return;
    struct tree *same = tree_object(answers, "304");
    tree_string(same, "description", "The client has this answer: If-None-Match names its ETag.");
    add_fields(same, traits);
}

/* ---- Problems ------------------------------------------------------------------------------ */

static bool is_cause(enum err_code code, unsigned traits)
{
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].code == code && (causes[i].traits & traits))
            return true;
    return false;
}

/* The titles of the problems of one status, in one text. */
static const char *problem_titles(struct arena *arena, int status, unsigned traits)
{
    const char *text = "";

    for (enum err_code code = 0; text && code < ERR_CODES_N; code++)
        if (err_status(code) == status && is_cause(code, traits))
            text = arena_printf(arena, "%s%s%s (%s)", text, *text ? "; " : "", err_title(code),
                                err_slug(code));
    return text;
}

/* The problem document, of one of these types. */
static void add_problem_schema(struct tree *media, int status, unsigned traits)
{
    struct tree *all = tree_array(tree_object(media, "schema"), "allOf");

    add_ref(all, NULL, "schemas", "Problem");
    struct tree *narrowed = tree_object(tree_object(all, NULL), "properties");
    struct tree *types = tree_array(tree_object(narrowed, "type"), "enum");
    for (enum err_code code = 0; types && code < ERR_CODES_N; code++)
        if (err_status(code) == status && is_cause(code, traits))
            tree_string(types, NULL, arena_printf(types->arena, "/problems/%s", err_slug(code)));
    tree_integer(tree_object(narrowed, "status"), "const", status);
}

static void add_problem(struct tree *answers, const struct operation *operation, int status)
{
    unsigned traits = traits_of(operation);
    const char *key = answers ? arena_printf(answers->arena, "%d", status) : NULL;
    if (!key) {
        tree_string(answers, "", NULL); /* no memory */
        return;
    }
    struct tree *answer = tree_object(answers, key);
    tree_string(answer, "description", problem_titles(answers->arena, status, traits));
    struct tree *heads = tree_object(answer, "headers");
    add_ref(heads, "Cache-Control", "headers", "Cache-Control");
    add_ref(heads, "Request-Id", "headers", "Request-Id");
    struct tree *content = tree_object(answer, "content");
    struct tree *media = tree_object(content, PROBLEM_JSON);
    add_problem_schema(media, status, traits);
    openapi_examples(media, operation, status, PROBLEM_JSON);
    tree_string(tree_object(tree_object(content, "text/plain"), "schema"), "type", "string");
}

/* Problem types are listed by status, so that those of one status follow each other. */
static void add_problems(struct tree *answers, const struct operation *operation)
{
    unsigned traits = traits_of(operation);
    int last = 0;

    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        int status = err_status(code);
        if (status == last || !is_cause(code, traits))
            continue;
        add_problem(answers, operation, status);
        last = status;
    }
    add_ref(answers, "default", "responses", "Problem");
}

void openapi_answers(struct tree *object, const struct operation *operation)
{
    struct tree *answers = tree_object(object, "responses");

    add_good(answers, operation, traits_of(operation));
    add_problems(answers, operation);
}

void openapi_shared_problems(struct tree *holder)
{
    const char *text = "What any request may be told";

    for (enum err_code code = 0; holder && text && code < ERR_CODES_N; code++)
        if (!is_cause(code, ~0U))
            text = arena_printf(holder->arena, "%s%s %s (%d)", text, strchr(text, '(') ? "," : ":",
                                err_slug(code), err_status(code));
    tree_string(holder, NULL, text);
}
