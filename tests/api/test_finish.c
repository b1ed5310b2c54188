// SPDX-License-Identifier: Apache-2.0
/* test_finish.c: the fields that depend on the endpoint and on how the request ended. */
#include "call.h"

#define COMPUTED "public, max-age=86400, stale-while-revalidate=604800"
#define APPLY    "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]]}"

Test(finish, cache_control)
{
    static const struct {
        const char *method, *target, *body, *value;
        int status;
    } rows[] = {
        {"GET", "/v1/table?kind=none&dim=4", NULL, COMPUTED, 200},
        {"HEAD", "/v1/table?kind=none&dim=4", NULL, COMPUTED, 200},
        {"GET", "/v1/spec?kind=rope", NULL, COMPUTED, 200},
        {"POST", "/v1/apply", APPLY, "no-store", 200},
        {"POST", "/v1/apply", "{}", "no-store", 400},
        {"GET", "/v1/table?kind=none&x=4", NULL, "max-age=60", 400},
        {"GET", "/v1/table.svg?kind=none", NULL, "no-store", 406},
        {"GET", "/v1/table?kind=none&positions=0:1000000", NULL, "no-store", 422},
        {"GET", "/", NULL, "public, max-age=300", 200},
        {"GET", "/help", NULL, "public, max-age=300", 200},
        {"GET", "/openapi.json", NULL, "public, max-age=300", 200},
        {"GET", "/assets/posenc.py", NULL, "public, max-age=300", 200},
        {"GET", "/assets/0123456789abcdef/posenc.py", NULL, "no-store", 404},
        {"GET", "/v1/encodings", NULL, "public, max-age=300", 200},
        {"GET", "/v1/encodings/rope", NULL, "public, max-age=300", 200},
        {"GET", "/v1/encodings/nothing", NULL, "no-store", 404},
        {"GET", "/livez", NULL, "no-store", 200},
        {"GET", "/readyz", NULL, "no-store", 200},
        {"GET", "/metrics", NULL, "no-store", 200},
        {"GET", "/v1/limits", NULL, "no-store", 200},
        {"GET", "/nothing", NULL, "no-store", 404},
        {"OPTIONS", "/nothing", NULL, "no-store", 404},
        {"POST", "/v1/table", "{}", "no-store", 405},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call(&request, rows[i].method, rows[i].target, rows[i].body);
        cr_expect_eq(request.response.status, rows[i].status, "%s %s: %d %s", rows[i].method,
                     rows[i].target, request.response.status, call_body(&request));
        cr_expect_str_eq(call_field(&request, "Cache-Control"), rows[i].value, "%s %s: %s",
                         rows[i].method, rows[i].target, call_field(&request, "Cache-Control"));
        call_end(&request);
    }
}

Test(finish, varies_by_accept_where_no_suffix_decided)
{
    static const struct {
        const char *target, *vary;
    } rows[] = {
        {"/v1/table?kind=none&dim=4", "Accept, Accept-Encoding"},
        {"/v1/table.csv?kind=none&dim=4", "Accept-Encoding"},
        {"/v1/table.json?kind=none&x=1", "Accept-Encoding"},
        {"/v1/table?kind=none&x=1", "Accept, Accept-Encoding"},
        {"/", "Accept, Accept-Encoding, Accept-Language"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_str_eq(call_field(&request, "Vary"), rows[i].vary, "%s", rows[i].target);
        call_end(&request);
    }
}

Test(finish, semantics_and_timing_on_computed_answers)
{
    static const struct {
        const char *method, *target, *body;
        bool computed;
    } rows[] = {
        {"GET", "/v1/table?kind=none&dim=4", NULL, true},
        {"POST", "/v1/apply", APPLY, true},
        {"GET", "/v1/spec?kind=rope", NULL, true},
        {"GET", "/v1/table?kind=nix", NULL, false},
        {"GET", "/v1/version", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call(&request, rows[i].method, rows[i].target, rows[i].body);
        const char *semantics = call_field(&request, "Posenc-Semantics");
        const char *timing = call_field(&request, "Server-Timing");
        cr_expect_eq(semantics != NULL, rows[i].computed, "%s", rows[i].target);
        cr_expect(!semantics || strcmp(semantics, "1.0.0") == 0, "%s", semantics);
        cr_expect_eq(timing != NULL, rows[i].computed, "%s", rows[i].target);
        cr_expect(!timing || strstr(timing, "compute;dur="), "%s", timing);
        call_end(&request);
    }
}

Test(finish, link_on_get_and_retry_on_503)
{
    struct request request;
    call(&request, "GET", "/livez", NULL);
    cr_expect_str_eq(call_field(&request, "Link"), "</openapi.json>; rel=\"service-desc\"");
    cr_expect_null(call_field(&request, "Retry-After"));
    call_end(&request);
    call(&request, "POST", "/v1/apply", APPLY);
    cr_expect_null(call_field(&request, "Link"));
    call_end(&request);
    call_with.draining = true;
    call(&request, "GET", "/readyz", NULL);
    cr_expect_eq(request.response.status, 503);
    cr_expect_str_eq(call_field(&request, "Retry-After"), "1");
    call_end(&request);
}

Test(finish, an_answer_without_memory_is_no_answer)
{
    struct request request;
    call_begin(&request, "GET", "/livez", NULL);
    buf_init(&request.response.body, 4);
    buf_puts(&request.response.body, "too long");
    cr_expect_eq(api_done(&request, "text/plain"), STEP_FAILED);
    cr_expect_eq(request.err.item[0].code, ERR_overloaded);
    call_end(&request);
}
