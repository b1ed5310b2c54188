// SPDX-License-Identifier: Apache-2.0
/* test_router.c: which row a path and method lead to. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "router.h"

static const struct route routes[] = {
    {METHOD_GET, "/", false, NULL, NULL, NULL, NULL},
    {METHOD_GET, "/v1/table", true, NULL, NULL, NULL, NULL},
    {METHOD_GET | METHOD_POST, "/v1/apply", true, NULL, NULL, NULL, NULL},
    {METHOD_GET, "/openapi.json", false, NULL, NULL, NULL, NULL},
    {METHOD_GET, "/v1/kinds", false, NULL, NULL, NULL, NULL},
    {METHOD_GET, "/v1/kinds/all", false, NULL, NULL, NULL, NULL},
    {METHOD_GET, "/v1/kinds/{kind}", true, NULL, NULL, NULL, NULL},
    {METHOD_POST, "/v1/kinds", false, NULL, NULL, NULL, NULL},
    {METHOD_GET, "/files/{version}/{file}", false, NULL, NULL, NULL, NULL},
};

static const struct {
    enum method method;
    const char *path, *allow;
    int row; /* -1: none */
    const char *suffix, *arg;
} cases[] = {
    {METHOD_GET, "/", "GET, HEAD, OPTIONS", 0, NULL, NULL},
    {METHOD_HEAD, "/v1/table", "GET, HEAD, OPTIONS", 1, NULL, NULL},
    {METHOD_GET, "/v1/table.csv", "GET, HEAD, OPTIONS", 1, "csv", NULL},
    {METHOD_GET, "/v1/table.safetensors", "GET, HEAD, OPTIONS", 1, "safetensors", NULL},
    {METHOD_GET, "/v1/table.xml", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/table.csv.csv", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/table.", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/table/", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/tabl", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/tables", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/V1/table", "OPTIONS", -1, NULL, NULL},
    {METHOD_POST, "/v1/table", "GET, HEAD, OPTIONS", -1, NULL, NULL},
    {METHOD_POST, "/v1/apply.json", "GET, HEAD, POST, OPTIONS", 2, "json", NULL},
    {METHOD_OPTIONS, "/v1/apply", "GET, HEAD, POST, OPTIONS", -1, NULL, NULL},
    {METHOD_OTHER, "/v1/apply", "GET, HEAD, POST, OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/openapi.json", "GET, HEAD, OPTIONS", 3, NULL, NULL},
    {METHOD_GET, "/openapi", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/kinds/all", "GET, HEAD, OPTIONS", 5, NULL, NULL}, /* the first row wins */
    {METHOD_GET, "/v1/kinds/rope", "GET, HEAD, OPTIONS", 6, NULL, "rope"},
    {METHOD_GET, "/v1/kinds/rope.json", "GET, HEAD, OPTIONS", 6, "json", "rope"},
    {METHOD_GET, "/v1/kinds/a.b", "GET, HEAD, OPTIONS", 6, NULL, "a.b"},
    {METHOD_GET, "/v1/kinds/.json", "GET, HEAD, OPTIONS", 6, NULL, ".json"},
    {METHOD_GET, "/v1/kinds/", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/kinds/a/b", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/v1/kinds", "GET, HEAD, POST, OPTIONS", 4, NULL, NULL},
    {METHOD_POST, "/v1/kinds", "GET, HEAD, POST, OPTIONS", 7, NULL, NULL},
    {METHOD_GET, "/files/1/a.js", "GET, HEAD, OPTIONS", 8, NULL, "a.js"},
    {METHOD_GET, "/files/1/a.json", "GET, HEAD, OPTIONS", 8, NULL, "a.json"},
    {METHOD_GET, "/files/1/", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/files//a.js", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/files/1", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "/files/1/2/a.js", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "", "OPTIONS", -1, NULL, NULL},
    {METHOD_GET, "//", "OPTIONS", -1, NULL, NULL},
};

Test(router, matches_rows)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = cases[i].path;
        struct route_match match =
            router_match(routes, sizeof routes / sizeof routes[0], path, cases[i].method);
        char arg[64] = "";
        if (match.arg)
            snprintf(arg, sizeof arg, "%.*s", (int)(match.path_len - match.arg), path + match.arg);
        cr_expect_eq(match.route ? match.route - routes : -1, cases[i].row, "%s", path);
        cr_expect_str_eq(allow_text(match.allowed), cases[i].allow, "%s", path);
        cr_expect_str_eq(match.suffix ? match.suffix : "", cases[i].suffix ? cases[i].suffix : "",
                         "%s", path);
        cr_expect_str_eq(arg, cases[i].arg ? cases[i].arg : "", "%s", path);
    }
}

Test(router, methods_are_case_sensitive_words)
{
    cr_expect_eq(method_parse("GET"), METHOD_GET);
    cr_expect_eq(method_parse("HEAD"), METHOD_HEAD);
    cr_expect_eq(method_parse("POST"), METHOD_POST);
    cr_expect_eq(method_parse("OPTIONS"), METHOD_OPTIONS);
    const char *others[] = {"get", "GE", "GETX", "DELETE", ""};
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(method_parse(others[i]), METHOD_OTHER, "%s", others[i]);
    cr_expect_str_eq(method_name(METHOD_HEAD), "HEAD");
    cr_expect_str_eq(method_name(METHOD_OTHER), "other");
}
