// SPDX-License-Identifier: Apache-2.0
/* test_service.c: resources that compute nothing know their few parameters. */
#include "call.h"

Test(service, unknown_parameters_are_refused)
{
    static const char *const paths[] = {
        "/",
        "/help",
        "/openapi.json",
        "/v1",
        "/v1/encodings",
        "/v1/encodings/rope",
        "/v1/version",
        "/v1/limits",
        "/livez",
        "/healthz",
        "/readyz",
        "/metrics",
        "/assets/posenc.py",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct request request;
        char target[64];
        call(&request, "GET", paths[i], NULL);
        cr_expect_eq(request.response.status, 200, "%s", paths[i]);
        call_end(&request);
        snprintf(target, sizeof target, "%s?surprise=1", paths[i]);
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 400, "%s", target);
        cr_expect_eq(request.err.item[0].code, ERR_unknown_parameter, "%s", target);
        cr_expect_str_eq(request.err.item[0].where, "surprise");
        call_end(&request);
    }
}

Test(service, flags)
{
    static const struct {
        const char *target;
        int status;
        bool verbose;
    } rows[] = {
        {"/readyz", 200, false},
        {"/readyz?verbose", 200, true},
        {"/readyz?verbose=1", 200, true},
        {"/readyz?verbose=true", 200, true},
        {"/readyz?verbose=0", 200, false},
        {"/readyz?verbose=false", 200, false},
        {"/readyz?verbose=maybe", 400, false},
        {"/readyz?verbos", 400, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_eq(request.response.status, rows[i].status, "%s", rows[i].target);
        cr_expect_eq(strstr(call_body(&request), "self-test") != NULL, rows[i].verbose, "%s",
                     rows[i].target);
        call_end(&request);
    }
}

Test(service, formats)
{
    struct request request;
    call(&request, "GET", "/v1/version?format=txt", NULL);
    cr_expect_str_eq(request.response.content_type, "text/plain; charset=utf-8");
    call_end(&request);
    call(&request, "GET", "/v1/version?format=csv&x=1", NULL);
    cr_expect_eq(request.err.n, 2, "both mistakes are named");
    call_end(&request);
}
