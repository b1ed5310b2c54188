// SPDX-License-Identifier: Apache-2.0
/*
 * openapi_examples.c: which examples of proto/examples.json belong to which part of an operation.
 * Each says what it is an example of: x-request ("GET /v1/table?kind=none"), and, where it is an
 * answer, x-status. One without x-status is the body of such a request.
 */
#include <string.h>

#include "assets.h"
#include "openapi.h"

json_t *openapi_examples_load(void)
{
    return json_loads(asset_examples_json, 0, NULL);
}

/* Whether the request is one of this method and path; {names} of the path fit any one segment. */
static bool is_request(const char *request, const char *method, const char *path)
{
    size_t method_len = strlen(method), path_len = strcspn(path, "{");

    if (strncmp(request, method, method_len) != 0 || request[method_len] != ' ')
        return false;
    const char *target = request + method_len + 1;
    if (strncmp(target, path, path_len) != 0)
        return false;
    return path[path_len] ? !strchr("?.", target[path_len])
                          : strchr("?.", target[path_len]) != NULL;
}

/* Whether an answer of this text is in this format: suffixes say so, JSON is no text. */
static bool is_format(const json_t *value, const char *request, const char *media_type)
{
    const char *query = strchr(request, '?');
    size_t len = query ? (size_t)(query - request) : strlen(request);

    if (!json_is_string(value))
        return strstr(media_type, "json") != NULL;
    return len > 4 &&
           strncmp(request + len - 4, strstr(media_type, "csv") ? ".csv" : ".txt", 4) == 0 &&
           strncmp(media_type, "text/", 5) == 0;
}

void openapi_examples(struct tree *media, const struct operation *operation, int status,
                      const char *media_type)
{
    const char *method = operation->method == METHOD_POST ? "POST" : "GET";
    struct tree *list = NULL;
    const char *name;
    json_t *example;

    json_object_foreach((json_t *)operation->examples, name, example)
    {
        const char *request = json_string_value(json_object_get(example, "x-request"));
        const json_t *value = json_object_get(example, "value");
        if (json_integer_value(json_object_get(example, "x-status")) != status ||
            !is_request(request, method, operation->route->path) ||
            !is_format(value, request, media_type))
            continue;
        if (!list)
            list = tree_object(media, "examples");
        if (list)
            tree_string(tree_object(list, arena_strndup(list->arena, name, strlen(name))), "$ref",
                        arena_printf(list->arena, "#/components/examples/%s", name));
    }
}
