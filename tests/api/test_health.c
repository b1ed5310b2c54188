// SPDX-License-Identifier: Apache-2.0
/* test_health.c: /livez, /readyz, /metrics. */
#include "call.h"
#include "metrics.h"

static void expect_answer(const char *target, int status, const char *body)
{
    struct request request;
    call(&request, "GET", target, NULL);
    cr_expect_eq(request.response.status, status, "%s: %d", target, request.response.status);
    cr_expect_str_eq(call_body(&request), body, "%s: %s", target, call_body(&request));
    call_end(&request);
}

Test(health, alive_and_ready)
{
    expect_answer("/livez", 200, "ok\n");
    expect_answer("/healthz", 200, "ok\n");
    expect_answer("/readyz", 200, "ok\n");
}

Test(health, draining_is_alive_but_not_ready)
{
    struct request request;
    call_with.draining = true;
    expect_answer("/livez", 200, "ok\n");
    call(&request, "GET", "/readyz", NULL);
    cr_expect_eq(request.response.status, 503);
    cr_expect_eq(request.err.item[0].code, ERR_draining);
    call_end(&request);
    call(&request, "GET", "/readyz?verbose", NULL);
    cr_expect_eq(request.response.status, 503);
    call_end(&request);
}

Test(health, verbose_lists_the_checks)
{
    char expected[128];
    struct request request;
    call(&request, "GET", "/readyz?verbose", NULL);
    snprintf(expected, sizeof expected,
             "[+] accepting requests\n[+] self-test: 10 of 10 golden numbers, kernels %s\nok\n",
             pe_isa_name());
    cr_expect_str_eq(call_body(&request), expected, "%s", call_body(&request));
    call_end(&request);
}

Test(health, metrics_are_prometheus_text)
{
    struct request request;
    metric_add(METRIC_jobs_refused, 3);
    call(&request, "GET", "/metrics", NULL);
    cr_expect_str_eq(request.response.content_type, "text/plain; version=0.0.4; charset=utf-8");
    const char *text = call_body(&request);
    cr_expect(strstr(text, "\nposenc_jobs_refused_total 3\n"), "%s", text);
    cr_expect(strstr(text, "# TYPE posenc_build_info gauge\n"), "%s", text);
    cr_expect(strstr(text, "version=\"" API_SERVICE_VERSION "\""), "%s", text);
    call_end(&request);
}
