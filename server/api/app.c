// SPDX-License-Identifier: Apache-2.0
/* app.c: the state that all endpoints share: limits, plans, finished documents. */
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer_cache.h"
#include "api.h"
#include "assets.h"
#include "catalogue.h"
#include "doc.h"
#include "plans.h"
#include "reserve.h"
#include "selftest.h"
#include "sha256.h"

/* GMP and MPFR end the process when they get no memory. What one thread holds of theirs at a time
 * was measured: 58 KiB for the thresholds of t5 with 1,024 buckets, less than 16 KiB for all else.
 */
#define RESERVE_BYTES_PER_THREAD ((size_t)256 << 10)

static bool numbers_get_reserve(const struct app_options *options)
{
    if (!reserve_open((options->workers + 1) * RESERVE_BYTES_PER_THREAD))
        return false;
    mp_set_memory_functions(reserve_malloc, reserve_realloc, reserve_free);
    return true;
}

/* A reference that computes wrong numbers must not answer at all. */
static bool numbers_right(void)
{
    const char *wrong = NULL;
    if (selftest_run(&wrong) == SELFTEST_N)
        return true;
    fprintf(stderr, "posencd: self-test failed (kernels %s): %s\n", pe_isa_name(), wrong);
    return false;
}

struct app *app_new(const struct app_options *options)
{
    json_doc_setup();
    bool reserved = numbers_get_reserve(options);
    if (reserved && !numbers_right())
        return NULL;
    struct app *app = reserved && catalogue_prepare() ? calloc(1, sizeof *app) : NULL;
    if (app) {
        app->options = *options;
        app->plans = plan_store_new();
        app->answers = answer_cache_new(options->cache_max);
        app->openapi = openapi_new(app);
        app->fixtures = fixtures_new(app);
        assets_digest(app);
    }
    if (app && app->plans && app->answers && app->openapi && app->fixtures) {
        sha256_digest(app->openapi->data, app->openapi->len, app->openapi_digest);
        sha256_digest(app->fixtures->data, app->fixtures->len, app->fixtures_digest);
        return app;
    }
    fputs("posencd: no memory to start\n", stderr);
    app_free(app);
    return NULL;
}

void app_free(struct app *app)
{
    if (!app)
        return;
    plan_store_free(app->plans);
    answer_cache_free(app->answers);
    blob_unref(app->openapi);
    blob_unref(app->fixtures);
    free(app);
}

bool app_beside(struct app *beside, const struct app *app)
{
    *beside = *app;
    beside->answers = answer_cache_new(0);
    return beside->answers != NULL;
}

void app_beside_end(struct app *beside)
{
    answer_cache_free(beside->answers);
}

struct http_hooks app_hooks(struct app *app)
{
    return (struct http_hooks){
        .routes = api_routes,
        .routes_n = api_routes_n,
        .app = app,
        .finish = api_finish,
        .thread_end = pe_thread_end,
    };
}
