// SPDX-License-Identifier: Apache-2.0
/*
 * test_common.c: the keys that all computed endpoints share: where they are taken, which forms they
 * have, and what of them stands in the answer.
 */
#include "call.h"
#include "common.h"

#define TABLE "/v1/table?kind=none&dim=2&positions=0"
#define APPLY "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]]"

static json_t *answer(const char *target, const char *body, int status)
{
    struct request request;
    call(&request, body ? "POST" : "GET", target, body);
    json_t *json = call_json(&request);
    cr_expect_eq(request.response.status, status, "%s %s: %s", target, body ? body : "",
                 call_body(&request));
    call_end(&request);
    return json;
}

static const char *text_at(const json_t *json, const char *object, const char *member)
{
    return json_string_value(json_object_get(json_object_get(json, object), member));
}

Test(common, forms_are_checked)
{
    static const struct {
        const char *target, *body;
        int status;
        const char *where;
    } rows[] = {
        {TABLE "&pin=0123456789abcde", NULL, 400, "pin"},
        {TABLE "&pin=0123456789abcdef0", NULL, 400, "pin"},
        {TABLE "&pin=0123456789ABCDEF", NULL, 400, "pin"},
        {TABLE "&pin=", NULL, 400, "pin"},
        {TABLE "&semantics=1.", NULL, 400, "semantics"},
        {TABLE "&semantics=1.0.0.0", NULL, 400, "semantics"},
        {TABLE "&semantics=v1", NULL, 400, "semantics"},
        {TABLE "&semantics=1&semantics=1.0", NULL, 400, "semantics"},
        {TABLE "&semantics=1", NULL, 200, NULL},
        {TABLE "&semantics=1.0", NULL, 200, NULL},
        {TABLE "&semantics=1.0.0", NULL, 200, NULL},
        {TABLE "&numbers=octal", NULL, 400, "numbers"},
        {TABLE "&overflow=inf", NULL, 400, "overflow"},
        {"/v1/spec?kind=none&select=table", NULL, 400, "select"},
        {"/v1/spec?kind=none&numbers=hex", NULL, 400, "numbers"},
        {"/v1/spec?kind=none&semantics=1", NULL, 200, NULL},
        {"/v1/apply", APPLY ",\"semantics\":1}", 200, NULL},
        {"/v1/apply", APPLY ",\"semantics\":\"1.0\"}", 200, NULL},
        {"/v1/apply", APPLY ",\"semantics\":[1]}", 400, "/semantics"},
        {"/v1/apply", APPLY ",\"pin\":\"xyz\"}", 400, "/pin"},
        {"/v1/apply", APPLY ",\"overflow\":\"inf\"}", 200, NULL},
        {"/v1/apply", APPLY ",\"overflow\":\"clamp\"}", 400, "/overflow"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *json = answer(rows[r].target, rows[r].body, rows[r].status);
        const json_t *first = json_array_get(json_object_get(json, "errors"), 0);
        const char *where = json_string_value(json_object_get(first, "parameter"));
        if (!where)
            where = json_string_value(json_object_get(first, "pointer"));
        if (rows[r].where)
            cr_expect_str_eq(where ? where : "(none)", rows[r].where, "%s", rows[r].target);
        json_decref(json);
    }
}

Test(common, every_computed_endpoint_knows_them)
{
    for (size_t r = 0; r < api_routes_n; r++) {
        const struct endpoint *endpoint = api_routes[r].endpoint;
        if (!endpoint->prepare || !(api_routes[r].methods & METHOD_GET))
            continue;
        char target[120];
        snprintf(target, sizeof target, "%s?%snonesuch=1", api_routes[r].path,
                 endpoint->specs_max > 0 ? "kind=rope&dim=4&" : "");
        json_t *json = answer(target, NULL, 400);
        const json_t *error = json_array_get(json_object_get(json, "errors"), 0);
        const json_t *allowed = json_object_get(error, "allowed");
        for (size_t i = 0; i < COMMON_N; i++) {
            bool found = false;
            for (size_t n = 0; n < json_array_size(allowed); n++)
                found = found || strcmp(json_string_value(json_array_get(allowed, n)),
                                        common_keys[i].name) == 0;
            cr_expect(found, "%s: %s is not allowed", target, common_keys[i].name);
        }
        json_decref(json);
    }
}

Test(common, expectations_stay_out_of_the_answer)
{
    json_t *plain = answer(TABLE, NULL, 200);
    json_t *expecting = answer(TABLE "&semantics=1.0", NULL, 200);
    cr_expect(json_equal(plain, expecting));
    json_decref(plain);
    json_decref(expecting);
}

Test(common, what_is_asked_is_echoed_when_it_is_not_the_default)
{
    json_t *json = answer(TABLE "&numbers=shortest", NULL, 200);
    cr_expect_null(json_object_get(json_object_get(json, "params"), "numbers"));
    cr_expect_str_eq(text_at(json, "links", "self"), "/v1/table?kind=none&dim=2&positions=0");
    json_decref(json);
    json = answer("/v1/rotation?kind=rope&dim=4&positions=0&select=sin&numbers=exact", NULL, 200);
    cr_expect_str_eq(text_at(json, "params", "numbers"), "exact");
    cr_expect_str_eq(text_at(json, "params", "select"), "sin");
    cr_expect_str_eq(text_at(json, "links", "self"),
                     "/v1/rotation?kind=rope&dim=4&positions=0&numbers=exact&select=sin");
    json_decref(json);
    json = answer(TABLE "&select=table", NULL, 200); /* the main one anyway */
    cr_expect_null(json_object_get(json_object_get(json, "params"), "select"));
    cr_expect_str_eq(text_at(json, "links", "self"), "/v1/table?kind=none&dim=2&positions=0");
    json_decref(json);
}
