// SPDX-License-Identifier: Apache-2.0
/* router.c: see router.h. Pure functions of the table and the path. */
#include "router.h"

#include <string.h>

static const struct {
    const char *text;
    enum method method;
} methods[] = {
    {"GET", METHOD_GET},
    {"HEAD", METHOD_HEAD},
    {"POST", METHOD_POST},
    {"OPTIONS", METHOD_OPTIONS},
};

static const char *const suffixes[] = {
    "json", "csv", "txt", "npy", "safetensors", "bin", "svg", "png",
};

enum method method_parse(const char *text)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(text, methods[i].text) == 0)
            return methods[i].method;
    return METHOD_OTHER;
}

const char *method_name(enum method method)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (method == methods[i].method)
            return methods[i].text;
    return "other";
}

const char *allow_text(unsigned allowed)
{
    bool get = allowed & METHOD_GET, post = allowed & METHOD_POST;

    return get && post ? "GET, HEAD, POST, OPTIONS"
           : get       ? "GET, HEAD, OPTIONS"
           : post      ? "POST, OPTIONS"
                       : "OPTIONS";
}

/* The known suffix at the end of the last segment ("csv"), or NULL. */
static const char *path_suffix(const char *path)
{
    const char *dot = strrchr(path, '.');

    if (!dot || dot == path || dot[-1] == '/' || strchr(dot, '/'))
        return NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(dot + 1, suffixes[i]) == 0)
            return dot + 1;
    return NULL;
}

/* Whether the first `len` bytes of a path are this row's; *arg is where its last {name} starts, or
 * 0. */
static bool route_matches(const struct route *route, const char *path, size_t len, size_t *arg)
{
    const char *row = route->path;
    size_t at = 0;

    *arg = 0;
    while (*row) {
        if (*row == '{') {
            for (*arg = at; at < len && path[at] != '/';)
                at++;
            if (at == *arg)
                return false;
            row = strchr(row, '}') + 1;
        } else if (at == len || path[at++] != *row++) {
            return false;
        }
    }
    return at == len;
}

struct route_match router_match(const struct route *routes, size_t routes_n, const char *path,
                                enum method method)
{
    unsigned wanted = method == METHOD_HEAD ? METHOD_GET : (unsigned)method;
    const char *suffix = path_suffix(path);
    size_t whole = strlen(path);
    struct route_match match = {.path_len = whole};

    for (size_t i = 0; i < routes_n; i++) {
        bool cut = routes[i].formats && suffix;
        size_t len = cut ? (size_t)(suffix - 1 - path) : whole, arg;
        if (!route_matches(&routes[i], path, len, &arg))
            continue;
        match.allowed |= routes[i].methods;
        if (!match.route && (routes[i].methods & wanted)) {
            match.route = &routes[i];
            match.path_len = len;
            match.suffix = cut ? suffix : NULL;
            match.arg = arg;
        }
    }
    return match;
}
