// SPDX-License-Identifier: Apache-2.0
/*
 * openapi_paths.c: the paths of the OpenAPI document from the route table: operations and their
 * bodies.
 */
#include <assert.h>
#include <string.h>

#include "common.h"
#include "openapi.h"
#include "schema.h"

#define SCHEMA_REF "#/components/schemas/"

#define BODY_SENTENCE                                                                              \
    "JSON, perhaps in gzip; with curl -d no media type is needed. safetensors: the tensors are "   \
    "those of the file, and all else is the same JSON in __metadata__.request or the query."

static void add_schema_ref(struct tree *parent, const char *key, const char *ref)
{
    tree_string(tree_object(parent, key), "$ref", ref);
}

/* ---- Bodies -------------------------------------------------------------------------------- */

/* A document of somebody else's, with members of all kinds. */
static void add_document(struct tree *object, const struct operation *operation)
{
    struct tree *body = tree_object(object, "requestBody");
    tree_string(body, "description", "A JSON object as it is, perhaps in gzip.");
    tree_bool(body, "required", true);
    struct tree *json = tree_object(tree_object(body, "content"), "application/json");
    tree_string(tree_object(json, "schema"), "type", "object");
    openapi_examples(json, operation, 0, "application/json");
}

/* Members of a body that are request keys; `picture` has those of its own. */
static void add_key_members(struct tree *members, const struct endpoint *endpoint,
                            const struct endpoint *picture)
{
    for (size_t i = 0; i < endpoint->keys_n; i++) {
        const struct pe_param *key = &endpoint->keys[i];
        bool other = false;
        for (size_t k = 0; picture && k < picture->keys_n; k++)
            other |= strcmp(picture->keys[k].name, key->name) == 0;
        if (!other)
            schema_param(members, key->name, key, SCHEMA_BODY);
    }
}

static void add_body(struct tree *object, const struct operation *operation)
{
    const struct endpoint *picture = operation->route->endpoint;
    const struct endpoint *endpoint = picture->behind ? picture->behind : picture;
    struct tree *body = tree_object(object, "requestBody");
    tree_string(body, "description",
                endpoint->npy ? BODY_SENTENCE " .npy: x alone, the rest in the query."
                              : BODY_SENTENCE);
    tree_bool(body, "required", true);
    struct tree *content = tree_object(body, "content");
    struct tree *json = tree_object(content, "application/json");
    struct tree *schema = tree_object(json, "schema");
    tree_string(schema, "type", "object");
    struct tree *members = tree_object(schema, "properties");

    if (endpoint->specs_max > 0)
        add_schema_ref(members, "spec", SCHEMA_REF "SpecInput");
    if (endpoint->specs_max > 1)
        add_schema_ref(members, "specs", SCHEMA_REF "Specs");
    for (const char *const *name = endpoint->tensors; name && *name; name++)
        add_schema_ref(members, *name,
                       endpoint->made && strcmp(*name, endpoint->made) == 0 ? SCHEMA_REF "MadeInput"
                                                                            : SCHEMA_REF
                           "TensorInput");
    if (picture != endpoint)
        add_key_members(members, endpoint, picture);
    add_key_members(members, picture, NULL);
    for (size_t i = 0; i < COMMON_N; i++)
        schema_param(members, common_keys[i].name, &common_keys[i], SCHEMA_BODY);
    openapi_format(members, "format");
    tree_bool(schema, "additionalProperties", false);
    openapi_examples(json, operation, 0, "application/json");
    tree_object(content, format_media_type(FORMAT_SAFETENSORS)); /* bytes have no schema */
    if (endpoint->npy)
        tree_object(content, format_media_type(FORMAT_NPY));
}

/* ---- Paths --------------------------------------------------------------------------------- */

/* "get_v1_encodings_kind" */
static const char *operation_id(struct arena *arena, const char *method, const char *path)
{
    char *id = arena_printf(arena, "%s%s", method, path[1] ? path : "_root");
    size_t len = 0;

    for (const char *c = id; c && *c; c++)
        if (strchr("/.-", *c))
            id[len++] = '_';
        else if (*c != '{' && *c != '}')
            id[len++] = *c;
    if (id)
        id[len] = '\0';
    return id;
}

static void add_operation(struct tree *item, const struct operation *operation)
{
    const struct endpoint *endpoint = operation->route->endpoint;
    const char *method = operation->method == METHOD_POST ? "post" : "get";
    struct tree *object = tree_object(item, method);
    const char *id = item ? operation_id(item->arena, method, operation->route->path) : NULL;

    tree_string(object, "operationId", id);
    tree_string(object, "summary", endpoint->summary);
    tree_string(tree_array(object, "tags"), NULL,
                endpoint->behind    ? "plots"
                : endpoint->prepare ? "encodings"
                                    : "service");
    if (operation->method == METHOD_POST) {
        openapi_body_parameters(tree_array(object, "parameters"));
        (endpoint->document_max ? add_document : add_body)(object, operation);
    }
    openapi_answers(object, operation);
}

/* The parameters in the path, such as "{kind}". */
static const struct path_name {
    const char *name, *description, *example;
} path_names[] = {
    {"kind", "A kind of encoding, or another name of it.", "rope"},
    {"name", "A fixture, as /v1/fixtures lists them.", "rope-linear"},
    {"slug", "The last part of a problem's type.", "unknown-parameter"},
    {"view", "Of the page: lesson, explore, check or precision.", "lesson"},
    {"folder", "Of a file of the page.", "views"},
    {"file", "posenc.py, posenc.js, or client.js, which is the same.", "posenc.py"},
    {"digest", "Of the file: Content-Location of /assets/{file} has it; or of the page.",
     "0123456789abcdef"},
};

static void add_path_parameter(struct tree *parameters, const char *name, size_t len)
{
    const struct path_name *row = path_names, *end = row + sizeof path_names / sizeof *row;

    while (strncmp(row->name, name, len) != 0 || row->name[len] != '\0') {
        row++;
        assert(row < end);
    }
    struct tree *parameter = tree_object(parameters, NULL);
    tree_string(parameter, "name", row->name);
    tree_string(parameter, "in", "path");
    tree_string(parameter, "description", row->description);
    tree_bool(parameter, "required", true);
    tree_string(tree_object(parameter, "schema"), "type", "string");
    tree_string(parameter, "example", row->example);
}

static void add_path_parameters(struct tree *parameters, const char *path)
{
    for (const char *at = path; (at = strchr(at, '{')); at++)
        add_path_parameter(parameters, at + 1, strcspn(at + 1, "}"));
}

static void add_route(struct tree *item, const struct route *route, const json_t *examples)
{
    if (route->methods & METHOD_GET)
        add_operation(item, &(struct operation){route, METHOD_GET, examples});
    if (route->methods & METHOD_POST)
        add_operation(item, &(struct operation){route, METHOD_POST, examples});
}

void openapi_paths(struct tree *object)
{
    json_t *examples = openapi_examples_load();

    if (!examples && object)
        *object->failed = true;
    for (size_t i = 0; i < api_routes_n; i++) {
        const struct route *route = &api_routes[i];
        struct tree *item = tree_member(object, route->path);
        if (!item) {
            item = tree_object(object, route->path);
            struct tree *parameters = tree_array(item, "parameters");
            add_path_parameters(parameters, route->path);
            openapi_parameters(parameters, route->endpoint);
        }
        add_route(item, route, examples);
    }
    json_decref(examples);
}
