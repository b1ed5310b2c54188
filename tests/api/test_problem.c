// SPDX-License-Identifier: Apache-2.0
/* test_problem.c: problem documents, from real requests where one can cause the problem. */
#include "call.h"

#define TABLE_URL "/v1/table?kind=rope&dims=64&layuot=half"

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "(none)";
}

static const json_t *error_at(const json_t *problem, size_t i)
{
    return json_array_get(json_object_get(problem, "errors"), i);
}

Test(problem, names_all_mistakes_and_what_was_meant)
{
    struct request request;
    call(&request, "GET", TABLE_URL, NULL);
    cr_expect_eq(request.response.status, 400);
    cr_expect_str_eq(request.response.content_type, "application/problem+json");
    json_t *problem = call_json(&request);
    cr_expect_str_eq(text_at(problem, "type"), "/problems/unknown-parameter");
    cr_expect_str_eq(text_at(problem, "title"), "Unknown parameter");
    cr_expect_eq(json_integer_value(json_object_get(problem, "status")), 400);
    cr_expect_str_eq(text_at(problem, "detail"),
                     "\"dims\" and \"layuot\" are not parameters of GET /v1/table with kind=rope.");
    cr_expect_str_eq(text_at(problem, "instance"), TABLE_URL);
    cr_expect_eq(json_array_size(json_object_get(problem, "errors")), 2);
    cr_expect_str_eq(text_at(error_at(problem, 0), "parameter"), "dims");
    cr_expect_str_eq(text_at(error_at(problem, 0), "hint"), "did you mean \"dim\"?");
    cr_expect_str_eq(text_at(error_at(problem, 1), "parameter"), "layuot");
    cr_expect_str_eq(text_at(error_at(problem, 1), "hint"), "did you mean \"layout\"?");
    /* The names that would do stand once, at the end. */
    cr_expect_null(json_object_get(error_at(problem, 0), "allowed"));
    const json_t *allowed = json_object_get(error_at(problem, 1), "allowed");
    cr_expect_str_eq(json_string_value(json_array_get(allowed, 0)), "kind");
    cr_expect_str_eq(json_string_value(json_array_get(allowed, 1)), "dim");
    json_decref(problem);
    call_end(&request);
}

static void expect_detail(const char *target, const char *body, const char *detail)
{
    struct request request;
    call(&request, body ? "POST" : "GET", target, body);
    json_t *problem = call_json(&request);
    cr_expect_str_eq(text_at(problem, "detail"), detail, "%s: %s", target,
                     text_at(problem, "detail"));
    json_decref(problem);
    call_end(&request);
}

Test(problem, sums_up_in_one_sentence)
{
    expect_detail("/v1/version?x=1", NULL, "\"x\" is not a parameter of GET /v1/version.");
    expect_detail("/v1/version?x=1&y=2&z=3", NULL,
                  "\"x\", \"y\" and \"z\" are not parameters of GET /v1/version.");
    /* Mistakes of different kinds: where they are. */
    expect_detail("/v1/table?kind=rope&dim=x&dims=64&base=0", NULL,
                  "There are 3 mistakes, in \"dim\", \"dims\" and \"base\".");
    /* A question keeps its mark. */
    expect_detail("/v1/table", NULL, "kind is missing: which encoding?");
}

Test(problem, points_into_the_body)
{
    struct request request;
    call(&request, "POST", "/v1/apply",
         "{\"spec\":{\"kind\":\"rope\",\"dims\":4},\"x\":[[1,2,3,4]]}");
    json_t *problem = call_json(&request);
    cr_expect_str_eq(text_at(error_at(problem, 0), "pointer"), "/spec/dims");
    cr_expect_null(json_object_get(error_at(problem, 0), "parameter"));
    json_decref(problem);
    call_end(&request);

    call(&request, "POST", "/v1/apply", "{\"spec\":\n  oops}");
    problem = call_json(&request);
    cr_expect_str_eq(text_at(problem, "type"), "/problems/malformed-json");
    cr_expect_eq(json_integer_value(json_object_get(error_at(problem, 0), "line")), 2);
    cr_expect_eq(json_integer_value(json_object_get(error_at(problem, 0), "column")), 3);
    json_decref(problem);
    call_end(&request);
}

Test(problem, states_cost_and_limit)
{
    struct request request;
    call(&request, "GET", "/v1/table?kind=none&dim=65536&positions=0:1000", NULL);
    cr_expect_eq(request.response.status, 422);
    json_t *problem = call_json(&request);
    cr_expect_str_eq(text_at(problem, "type"), "/problems/limit-exceeded");
    cr_expect_eq(json_number_value(json_object_get(problem, "cost")), 65536000);
    cr_expect_eq(json_number_value(json_object_get(problem, "limit")), 4194304);
    json_decref(problem);
    call_end(&request);
}

Test(problem, not_found_gives_the_nearest_path)
{
    static const struct {
        const char *target, *hint;
    } rows[] = {
        {"/v1/tabel", "did you mean \"/v1/table\"?"},
        {"/v1/plots/scroes.svg", "did you mean \"/v1/plots/scores.svg\"?"},
        {"/openpi.json", "did you mean \"/openapi.json\"?"},
        {"/table", "did you mean \"/v1/table\"?"},
        {"/v1/score", "did you mean \"/v1/scores\"?"},
        {"/helpp", "did you mean \"/help\"?"},
        {"/v1/encodings/rpoe", "did you mean \"/v1/encodings/rope\"?"},
        {"/something/else/entirely", "GET /help lists what there is"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call(&request, "GET", rows[i].target, NULL);
        json_t *problem = call_json(&request);
        cr_expect_eq(request.response.status, 404, "%s", rows[i].target);
        cr_expect_str_eq(text_at(error_at(problem, 0), "hint"), rows[i].hint, "%s: %s",
                         rows[i].target, text_at(error_at(problem, 0), "hint"));
        json_decref(problem);
        call_end(&request);
    }
}

Test(problem, is_text_for_those_who_read_text)
{
    static const struct {
        const char *target, *accept;
        bool text;
    } rows[] = {
        {TABLE_URL, NULL, false},
        {TABLE_URL, "*/*", false},
        {TABLE_URL, "text/plain", true},
        {TABLE_URL, "text/*, application/json;q=0.5", true},
        {TABLE_URL, "text/plain;q=0.5, application/json", false},
        {TABLE_URL, "text/plain, application/problem+json", false},
        {"/v1/table.txt?kind=rope&dims=64", NULL, true},
        {"/v1/table?kind=rope&dims=64&format=txt", NULL, true},
        /* What the suffix says, Accept cannot change. */
        {"/v1/table.csv?kind=rope&dims=64", "text/plain", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.accept = rows[i].accept;
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_eq(request.response.status, 400, "%s", rows[i].target);
        cr_expect_str_eq(request.response.content_type,
                         rows[i].text ? "text/plain; charset=utf-8" : "application/problem+json",
                         "%s, Accept: %s", rows[i].target, rows[i].accept);
        call_end(&request);
    }
}

Test(problem, text_reads_well)
{
    struct request request;
    call(&request, "GET", "/v1/version?format=txt&verison=1", NULL);
    cr_expect_str_eq(call_body(&request), "400 Unknown parameter\n"
                                          "\n"
                                          "\"verison\" is not a parameter of GET /v1/version.\n"
                                          "  allowed: format\n");
    call_end(&request);
    call(&request, "GET", "/readyz?verbos=1&x=2&format=txt", NULL);
    cr_expect_str_eq(call_body(&request),
                     "400 Unknown parameter\n"
                     "\n"
                     "\"verbos\", \"x\" and \"format\" are not parameters of GET /readyz.\n"
                     "\n"
                     "* verbos\n"
                     "  did you mean \"verbose\"?\n"
                     "* x\n"
                     "* format\n"
                     "  allowed: verbose\n");
    call_end(&request);
    /* Mistakes of several types; where they are, if their text does not say it. */
    call(&request, "POST", "/v1/apply.txt", "{\"spec\":{\"kind\":\"none\",\"dims\":4,\"dim\":0}}");
    cr_expect_str_eq(call_body(&request),
                     "400 Unknown parameter\n"
                     "\n"
                     "There are 3 mistakes, in \"/spec/dims\", \"/spec/dim\" and \"/x\".\n"
                     "\n"
                     "* \"dims\" is not a parameter of POST /v1/apply with kind=none (/spec/dims)\n"
                     "  did you mean \"dim\"?\n"
                     "  allowed: kind dim shift\n"
                     "* dim must be at least 1, got 0 (/spec/dim)\n"
                     "* a tensor is missing: x, or q and k (scores for bias kinds) (/x)\n"
                     "  for example \"x\": [[1,2,3,4]]\n");
    call_end(&request);
}

/* ---- What no request can be made to cause here: errors put in by hand ----------------------- */

Test(problem, every_code_has_its_document)
{
    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        struct request request;
        char type[64];
        call_begin(&request, "GET", "/v1/table?kind=rope", NULL);
        buf_puts(&request.response.body, "half an answer");
        err_add(&request.err, code, NULL, NULL, "something is wrong");
        problem_answer(&request);
        json_t *problem = call_json(&request);
        snprintf(type, sizeof type, "/problems/%s", err_slug(code));
        cr_expect_str_eq(text_at(problem, "type"), type);
        cr_expect_str_eq(text_at(problem, "title"), err_title(code));
        cr_expect_str_eq(text_at(problem, "detail"), "something is wrong.");
        cr_expect_eq(request.response.status, err_status(code), "%s", type);
        cr_expect_str_eq(text_at(problem, "request_id"),
                         code == ERR_internal ? "test-id" : "(none)", "%s", type);
        json_decref(problem);
        call_end(&request);
    }
}

Test(problem, other_types_are_told_and_texts_escaped)
{
    struct request request;
    call_begin(&request, "GET", "/v1/table?\xff\"", NULL);
    request.err.n = 0;
    err_add(&request.err, ERR_invalid_value, "a\"b", "one\ntwo", "quote \" and \xc3\xa4 and \xff");
    err_add(&request.err, ERR_missing_parameter, "c", NULL, "c is missing");
    problem_answer(&request);
    json_t *problem = call_json(&request);
    cr_expect_str_eq(text_at(problem, "instance"), "/v1/table?\xef\xbf\xbd\"");
    cr_expect_str_eq(text_at(error_at(problem, 0), "parameter"), "a\"b");
    cr_expect_str_eq(text_at(error_at(problem, 0), "hint"), "one\ntwo");
    cr_expect_str_eq(text_at(error_at(problem, 0), "detail"),
                     "quote \" and \xc3\xa4 and \xef\xbf\xbd");
    cr_expect_null(json_object_get(error_at(problem, 0), "type"));
    cr_expect_str_eq(text_at(error_at(problem, 1), "type"), "/problems/missing-parameter");
    json_decref(problem);
    call_end(&request);
}

Test(problem, counts_mistakes_beyond_those_kept)
{
    struct request request;
    call_begin(&request, "GET", "/v1/table", NULL);
    for (int i = 0; i < ERR_ITEMS_MAX + 4; i++)
        err_add(&request.err, ERR_unknown_parameter, NULL, NULL,
                "\"x%d\" is not a parameter of GET /v1/table", i);
    problem_answer(&request);
    json_t *problem = call_json(&request);
    cr_expect_str_eq(text_at(problem, "detail"), "There are 20 mistakes.");
    cr_expect_eq(json_array_size(json_object_get(problem, "errors")), ERR_ITEMS_MAX);
    json_decref(problem);
    call_end(&request);
}
