// SPDX-License-Identifier: Apache-2.0
/*
 * stand_in.h: requests to the api layer without a network (http/local.h), and an application to
 * ask. Include once per program; tests with Criterion include call.h.
 */
#ifndef TESTS_API_STAND_IN_H
#define TESTS_API_STAND_IN_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "local.h"

#define CALL_ARENA_MAX ((size_t)512 << 20)
#define CALL_NS_MAX    UINT64_C(600000000000)

/* What the next request says; reset it by hand. */
static struct {
    const char *accept, *accept_encoding, *accept_language, *content_type, *if_match,
        *if_none_match;
    bool draining;
    bool no_cache; /* of the application: for the first request */
} call_with;

static struct app *call_app;

/* ---- Calls --------------------------------------------------------------------------------- */

static inline bool call_is_draining(void *context)
{
    (void)context;
    return call_with.draining;
}

static inline void call_setup(void)
{
    const struct app_options options = {
        .elements_max = (size_t)32 << 20,
        .text_elements_max = (size_t)4 << 20,
        .body_max = (size_t)64 << 20,
        .workers = 2,
        .queue = 4,
        .deadline_ms = 10000,
        .memory_max = (size_t)1 << 30,
        .cache_max = call_with.no_cache ? 0 : (size_t)64 << 20,
        .connections_max = 1024,
    };
    if (call_app)
        return;
    call_app = app_new(&options);
    assert(call_app);
    call_app->draining = call_is_draining;
}

/* A request as handlers get it; body NULL for GET. Errors of the target are in request.err. */
static inline void call_begin_bytes(struct request *request, const char *method, const char *target,
                                    const void *body, size_t body_len)
{
    call_setup();
    const struct http_hooks hooks = app_hooks(call_app);
    const struct local_limits limits = {CALL_ARENA_MAX, call_app->options.body_max, NULL,
                                        clock_ns() + CALL_NS_MAX, NULL};
    const struct header known[] = {{"Accept", call_with.accept},
                                   {"Accept-Encoding", call_with.accept_encoding},
                                   {"Accept-Language", call_with.accept_language},
                                   {"Content-Type", call_with.content_type},
                                   {"If-Match", call_with.if_match},
                                   {"If-None-Match", call_with.if_none_match}};
    struct header fields[sizeof known / sizeof known[0]];
    struct local_call call = {.method = method, .target = target, .fields = fields};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].value)
            fields[call.fields_n++] = known[i];
    bool begun = local_begin(request, &hooks, &limits, &call);
    assert(begun);
    if (body) { /* from 4096 bytes on, the arena aligns as a body is */
        request->body_len = body_len;
        char *copy = arena_calloc(&request->arena, 1, body_len + 4096);
        assert(copy);
        request->body = memcpy(copy, body, body_len);
    }
    snprintf(request->id, sizeof request->id, "%s", "test-id");
}

static inline void call_begin(struct request *request, const char *method, const char *target,
                              const char *body)
{
    call_begin_bytes(request, method, target, body, body ? strlen(body) : 0);
}

static inline void call_finish(struct request *request)
{
    const struct http_hooks hooks = app_hooks(call_app);
    local_run(request, &hooks);
}

static inline void call(struct request *request, const char *method, const char *target,
                        const char *body)
{
    call_begin(request, method, target, body);
    call_finish(request);
}

static inline void call_bytes(struct request *request, const char *target, const void *body,
                              size_t body_len)
{
    call_begin_bytes(request, "POST", target, body, body_len);
    call_finish(request);
}

static inline void call_end(struct request *request)
{
    local_end(request);
}

static inline const char *call_field(const struct request *request, const char *name)
{
    return response_find(request, name);
}

static inline size_t call_body_len(const struct request *request)
{
    return response_len(&request->response);
}

/* The answer's bytes, NUL-terminated, until call_end. */
static inline const char *call_body(struct request *request)
{
    const struct response *response = &request->response;
    size_t len = response->blob ? response->blob->len : response->body.len;
    char *copy = arena_alloc(&request->arena, call_body_len(request) + 1), *at = copy;
    assert(copy);
    if (len > 0)
        at = (char *)memcpy(at, response->blob ? response->blob->data : response->body.data, len) +
             len;
    for (size_t i = 0; i < response->spans_n; i++)
        at = (char *)memcpy(at, response->spans[i].data, response->spans[i].len) +
             response->spans[i].len;
    *at = '\0';
    return copy;
}

#endif
