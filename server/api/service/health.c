// SPDX-License-Identifier: Apache-2.0
/*
 * health.c: what operators ask: is it alive, does it want requests, how is it doing. Liveness says
 * only that the loop turns; readiness also that the service is not on its way out.
 */
#include "metrics.h"
#include "selftest.h"
#include "service.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"

enum step livez_quick(struct request *request)
{
    if (!service_query(request))
        return STEP_FAILED;
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    buf_puts(&request->response.body, "ok\n");
    request->response.lasting = true;
    return api_done(request, TEXT_PLAIN);
}

static bool is_draining(const struct app *app)
{
    return app->draining && app->draining(app->draining_context);
}

/* One line per check, as other services print them. Computing the golden numbers again costs about
 * a millisecond; that is spent only on those who ask for the details. */
static bool write_checks(struct buf *out)
{
    const char *wrong;
    size_t right = selftest_run(&wrong);
    bool ok = right == SELFTEST_N;

    buf_puts(out, "[+] accepting requests\n");
    buf_printf(out, "[%c] self-test: %zu of %d golden numbers, kernels %s", ok ? '+' : '-', right,
               SELFTEST_N, pe_isa_name());
    if (!ok)
        buf_printf(out, ", first wrong: %s", wrong);
    buf_puts(out, ok ? "\nok\n" : "\n");
    return ok;
}

enum step readyz_quick(struct request *request)
{
    struct buf *out = &request->response.body;
    bool known = service_query(request);
    bool verbose = service_flag(request, "verbose");

    if (!known || request->err.n > 0)
        return STEP_FAILED;
    if (is_draining(request->app)) {
        err_add(&request->err, ERR_draining, NULL, "ask another instance",
                "the service is shutting down");
        return STEP_FAILED;
    }
    buf_init(out, SERVICE_BYTES_MAX);
    if (!verbose)
        buf_puts(out, "ok\n");
    else if (!write_checks(out))
        request->response.status = err_status(ERR_overloaded);
    return api_done(request, TEXT_PLAIN);
}

enum step metrics_quick(struct request *request)
{
    struct buf *out = &request->response.body;

    if (!service_query(request))
        return STEP_FAILED;
    buf_init(out, SERVICE_BYTES_MAX);
    metrics_print(out);
    metrics_print_build(out, API_SERVICE_VERSION, pe_isa_name());
    return api_done(request, "text/plain; version=0.0.4; charset=utf-8");
}

const struct endpoint livez_endpoint = {
    .summary = "ok while the event loop turns.",
    .describes = "",
    .cache = CACHE_NO_STORE,
};

static const struct pe_param readyz_keys[] = {
    {"verbose", NULL, PE_BOOL, 0, 1, 0, 0, "false", NULL, NULL,
     "Lists the checks and their results, a self-test of ten golden numbers among them."},
};

const struct endpoint readyz_endpoint = {
    .summary = "ok while new requests are welcome; 503 while shutting down.",
    .describes = "",
    .keys = readyz_keys,
    .keys_n = sizeof readyz_keys / sizeof readyz_keys[0],
    .cache = CACHE_NO_STORE,
};

const struct endpoint metrics_endpoint = {
    .summary = "Counters and gauges for Prometheus.",
    .describes = "",
    .cache = CACHE_NO_STORE,
};
