// SPDX-License-Identifier: Apache-2.0
/*
 * openapi_answers.c: what an operation may answer: its representations, the fields of their heads,
 * and the problems it may have. What any request may be told (the problems of HTTP itself, of a
 * server at its limit) stands once, as the default of every operation.
 */
#include <stdio.h>
#include <string.h>

#include "openapi.h"

/* What an operation is, for the tables below. */
enum trait {
    ANY = 1,
    NAMED = 2,     /* has a name in its path */
    FORMATTED = 4, /* offers formats to choose from */
    KEYED = 8,     /* has keys with values to be wrong */
    POSTED = 16,   /* reads a body */
    COMPUTED = 32,
    SIZED = 64, /* has tensors of a size to be too large */
    GOT = 128,  /* is a GET */
};

/* Which operations have which problem; the others are the default. */
static const struct {
    enum err_code code;
    unsigned traits;
} causes[] = {
    {ERR_unknown_parameter, ANY},
    {ERR_missing_parameter, COMPUTED},
    {ERR_invalid_value, KEYED | FORMATTED},
    {ERR_conflicting_parameters, FORMATTED},
    {ERR_malformed_json, POSTED},
    {ERR_malformed_tensor, POSTED},
    {ERR_not_found, NAMED},
    {ERR_not_acceptable, FORMATTED},
    {ERR_body_too_large, POSTED},
    {ERR_unsupported_media_type, POSTED},
    {ERR_shape_mismatch, POSTED},
    {ERR_limit_exceeded, SIZED},
};

/* Fields of a good answer. */
static const struct {
    const char *name;
    unsigned traits;
} fields[] = {
    {"Cache-Control", ANY},         {"Link", GOT},
    {"Posenc-Semantics", COMPUTED}, {"Posenc-Spec-Id", COMPUTED},
    {"Server-Timing", COMPUTED},
};

static unsigned traits_of(const struct route *route, enum method method)
{
    const struct endpoint *endpoint = route->endpoint;
    unsigned traits = ANY;

    traits |= strchr(route->path, '{') ? NAMED : 0;
    traits |= endpoint->formats ? FORMATTED : 0;
    traits |= endpoint->keys_n > 0 || endpoint->prepare ? KEYED : 0;
    traits |= endpoint->prepare ? COMPUTED : 0;
    traits |= endpoint->describes[0] ? SIZED : 0;
    return traits | (method == METHOD_POST ? POSTED : GOT);
}

static void add_ref(struct tree *parent, const char *key, const char *section, const char *name)
{
    const char *ref =
        parent ? arena_printf(parent->arena, "#/components/%s/%s", section, name) : NULL;

    tree_string(tree_object(parent, key), "$ref", ref);
}

/* ---- Good answers -------------------------------------------------------------------------- */

static void add_text(struct tree *content, const char *media_type)
{
    tree_string(tree_object(tree_object(content, media_type), "schema"), "type", "string");
}

static void add_content(struct tree *answer, const struct endpoint *endpoint)
{
    struct tree *content = tree_object(answer, "content");

    if (endpoint->formats & 1U << FORMAT_JSON)
        add_ref(tree_object(content, "application/json"), "schema", "schemas", endpoint->schema);
    if (endpoint->formats & 1U << FORMAT_CSV)
        add_text(content, "text/csv");
    if ((endpoint->formats & 1U << FORMAT_TXT) || (!endpoint->formats && !endpoint->media_types))
        add_text(content, "text/plain");
    if (endpoint->page)
        add_text(content, "text/html");
    for (const char *const *type = endpoint->media_types; type && *type; type++)
        add_text(content, *type);
}

static void add_good(struct tree *answers, const struct endpoint *endpoint, unsigned traits)
{
    struct tree *good = tree_object(answers, "200");
    const char *description = "The answer.";

    if (endpoint->describes[0] && good)
        description = arena_printf(good->arena, "The main tensor is %s.", endpoint->describes);
    tree_string(good, "description", description);
    struct tree *heads = tree_object(good, "headers");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].traits & traits)
            add_ref(heads, fields[i].name, "headers", fields[i].name);
    add_content(good, endpoint);
}

/* ---- Problems ------------------------------------------------------------------------------ */

static bool is_cause(enum err_code code, unsigned traits)
{
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].code == code && (causes[i].traits & traits))
            return true;
    return false;
}

/* The problems of one status that operations of these traits have, with their titles. */
static void add_types(struct tree *answer, int status, unsigned traits)
{
    const char *description = "";
    struct tree *content = tree_object(answer, "content");
    struct tree *schema = tree_object(tree_object(content, "application/problem+json"), "schema");
    struct tree *all = tree_array(schema, "allOf");

    add_ref(all, NULL, "schemas", "Problem");
    struct tree *narrowed = tree_object(tree_object(all, NULL), "properties");
    struct tree *types = tree_array(tree_object(narrowed, "type"), "enum");
    for (enum err_code code = 0; description && types && code < ERR_CODES_N; code++) {
        if (err_status(code) != status || !is_cause(code, traits))
            continue;
        tree_string(types, NULL, arena_printf(types->arena, "/problems/%s", err_slug(code)));
        description = arena_printf(types->arena, "%s%s%s (%s)", description,
                                   *description ? "; " : "", err_title(code), err_slug(code));
    }
    tree_integer(tree_object(narrowed, "status"), "const", status);
    tree_string(answer, "description", description);
    add_text(content, "text/plain");
}

static void add_problem(struct tree *answers, int status, unsigned traits)
{
    char key[12];

    snprintf(key, sizeof key, "%d", status);
    struct tree *answer =
        tree_object(answers, answers ? arena_strndup(answers->arena, key, strlen(key)) : NULL);
    struct tree *heads = tree_object(answer, "headers");
    add_ref(heads, "Cache-Control", "headers", "Cache-Control");
    add_ref(heads, "Request-Id", "headers", "Request-Id");
    add_types(answer, status, traits);
}

/* Problem types are listed by status, so that those of one status follow each other. */
static void add_problems(struct tree *answers, unsigned traits)
{
    int last = 0;

    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        int status = err_status(code);
        if (status == last || !is_cause(code, traits))
            continue;
        add_problem(answers, status, traits);
        last = status;
    }
    add_ref(answers, "default", "responses", "Problem");
}

void openapi_answers(struct tree *operation, const struct route *route, enum method method)
{
    unsigned traits = traits_of(route, method);
    struct tree *answers = tree_object(operation, "responses");

    add_good(answers, route->endpoint, traits);
    add_problems(answers, traits);
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
