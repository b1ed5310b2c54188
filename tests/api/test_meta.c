// SPDX-License-Identifier: Apache-2.0
/* test_meta.c: /v1, /v1/version and /v1/limits. */
#include "call.h"

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "(none)";
}

Test(meta, version)
{
    struct request request;
    call(&request, "GET", "/v1/version", NULL);
    json_t *answer = call_json(&request);
    cr_expect_str_eq(text_at(answer, "service"), API_SERVICE_VERSION);
    cr_expect_str_eq(text_at(answer, "api"), "1");
    cr_expect_str_eq(text_at(answer, "semantics"), API_SEMANTICS_VERSION);
    cr_expect_str_neq(text_at(answer, "revision"), "(none)");
    json_decref(answer);
    call_end(&request);
}

Test(meta, what_there_is)
{
    struct request request;
    call(&request, "GET", "/v1", NULL);
    json_t *answer = call_json(&request);
    cr_expect_eq(json_array_size(json_object_get(answer, "kinds")), pe_kinds_n());
    cr_expect_eq(json_array_size(json_object_get(answer, "endpoints")), api_routes_n);
    cr_expect_eq(json_array_size(json_object_get(answer, "formats")), FORMATS_N);
    const char *key;
    json_t *link;
    json_object_foreach(json_object_get(answer, "links"), key, link)
    {
        struct request other;
        call(&other, "GET", json_string_value(link), NULL);
        cr_expect_eq(other.response.status, 200, "%s", json_string_value(link));
        call_end(&other);
    }
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(answer, "endpoints"), i, row)
    {
        cr_expect_str_eq(text_at(row, "path"), api_routes[i].path);
        cr_expect_eq(json_array_size(json_object_get(row, "methods")),
                     (api_routes[i].methods & METHOD_GET) / METHOD_GET +
                         (api_routes[i].methods & METHOD_POST) / METHOD_POST);
    }
    json_decref(answer);
    call_end(&request);
}

Test(meta, limits)
{
    static const struct {
        const char *name, *unit, *option;
        double value;
    } rows[] = {
        {"url", "bytes", "(none)", 8192},
        {"headers", "bytes", "(none)", 16384},
        {"body", "bytes", "--max-body", 64 << 20},
        {"elements", "elements", "--max-elements", 32 << 20},
        {"text_elements", "elements", "--max-text-elements", 4 << 20},
        {"deadline", "ms", "--deadline", 10000},
        {"queue", "jobs", "--queue", 4},
        {"workers", "threads", "--workers", 2},
        {"connections", "connections", "--max-connections", 1024},
        {"json_depth", "levels", "(none)", 32},
        {"position", "tokens", "(none)", 9007199254740992.0},
        {"positions", "positions", "(none)", 1 << 20},
        {"identified_elements", "elements", "(none)", 1 << 20},
        {"identified_dim", "channels", "(none)", 2048},
        {"identified_by", "encodings tried", "(none)", 20000},
    };
    struct request request;
    call(&request, "GET", "/v1/limits", NULL);
    json_t *answer = call_json(&request);
    const json_t *limits = json_object_get(answer, "limits");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const json_t *row = json_object_get(limits, rows[i].name);
        cr_expect_eq(json_number_value(json_object_get(row, "value")), rows[i].value, "%s",
                     rows[i].name);
        cr_expect_str_eq(text_at(row, "unit"), rows[i].unit, "%s", rows[i].name);
        cr_expect_str_eq(text_at(row, "option"), rows[i].option, "%s", rows[i].name);
    }
    const json_t *cache = json_object_get(answer, "cache_seconds");
    cr_expect_eq(json_integer_value(json_object_get(cache, "computed")), 86400);
    cr_expect_eq(json_integer_value(json_object_get(cache, "page")), 300);
    cr_expect_eq(json_integer_value(json_object_get(cache, "error")), 60);
    json_decref(answer);
    call_end(&request);
}
