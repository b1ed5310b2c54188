// SPDX-License-Identifier: Apache-2.0
/*
 * bench_post.h: POST requests of an application within the process, by one worker, whose answers
 * are made in full. Included by one source file per program.
 */
#ifndef TESTS_BENCH_POST_H
#define TESTS_BENCH_POST_H

#include "bench.h"

#include "api.h"
#include "local.h"

#define POST_NS_MAX UINT64_C(60000000000)

/* A request that is made again and again. */
struct post {
    struct app *app;
    const char *target, *type;
    char *body; /* may be answered where it is */
    size_t len;
    struct buf *answer; /* NULL: its bytes are made, and not kept */
};

static struct app *post_app(void)
{
    const struct app_options options = {.elements_max = 32 << 20,
                                        .text_elements_max = 4 << 20,
                                        .body_max = 1 << 30,
                                        .workers = 1,
                                        .deadline_ms = 60000};
    struct app *app = app_new(&options);
    if (!app)
        abort();
    return app;
}

static bool post_take(void *context, const char *data, size_t len)
{
    if (context)
        buf_append(context, data, len);
    return true;
}

/* A case to measure: `context` is a struct post. */
static void post_run(void *context)
{
    const struct post *post = context;
    const struct header type = {"Content-Type", post->type};
    const struct local_call call = {"POST", post->target, &type, 1, post->body, post->len};
    const struct local_limits limits = {
        .arena_max = 1 << 30, .body_max = 1 << 30, .deadline_ns = clock_ns() + POST_NS_MAX};
    const struct http_hooks hooks = app_hooks(post->app);
    struct request request;
    if (!local_begin(&request, &hooks, &limits, &call))
        abort();
    local_run(&request, &hooks);
    if (request.err.n > 0 || !local_drain(&request, post_take, post->answer)) {
        fprintf(stderr, "%s: %d\n%.*s\n", post->target, request.response.status,
                (int)request.response.body.len, request.response.body.data);
        exit(1);
    }
    local_end(&request);
}

#endif
