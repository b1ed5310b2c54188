// SPDX-License-Identifier: Apache-2.0
/*
 * stand_in.h: one request to the api layer without a network: the route table, the steps of the
 * handler and the finish hook are real, as are the parsing of the target and the routing; what
 * http/request.c and http/response.c do with sockets is stood in for here. Include once per
 * program; tests with Criterion include call.h.
 */
#ifndef TESTS_API_STAND_IN_H
#define TESTS_API_STAND_IN_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api.h"
#include "router.h"
#include "target.h"

#define CALL_ARENA_MAX ((size_t)512 << 20)

/* What the next request says; reset it by hand. */
static struct {
    const char *accept, *content_type;
    bool draining;
} call_with;

static struct app *call_app;

/* ---- In place of the http layer ------------------------------------------------------------ */

const char *request_header(const struct request *request, const char *name)
{
    (void)request;
    return strcasecmp(name, "Accept") == 0         ? call_with.accept
           : strcasecmp(name, "Content-Type") == 0 ? call_with.content_type
                                                   : NULL;
}

bool request_expired(const struct request *request)
{
    (void)request;
    return false;
}

void response_header(struct request *request, const char *name, const char *value)
{
    struct response *response = &request->response;
    assert(response->headers_n < REQUEST_HEADERS_MAX);
    response->headers[response->headers_n++] = (struct header){name, value};
}

uint64_t clock_ns(void)
{
    return 0;
}

/* ---- Calls --------------------------------------------------------------------------------- */

static inline bool call_is_draining(void *context)
{
    (void)context;
    return call_with.draining;
}

static inline void call_setup(void)
{
    static const struct app_options options = {
        .elements_max = (size_t)32 << 20,
        .text_elements_max = (size_t)4 << 20,
        .body_max = (size_t)64 << 20,
        .workers = 2,
        .queue = 4,
        .deadline_ms = 10000,
        .memory_max = (size_t)1 << 30,
        .connections_max = 1024,
    };
    if (call_app)
        return;
    call_app = app_new(&options);
    assert(call_app);
    call_app->draining = call_is_draining;
}

/* A request as handlers get it; body NULL for GET. Errors of the target are in request.err. */
static inline void call_begin(struct request *request, const char *method, const char *target,
                              const char *body)
{
    call_setup();
    memset(request, 0, sizeof *request);
    arena_init(&request->arena, CALL_ARENA_MAX);
    request->app = call_app;
    request->method = method_parse(method);
    request->target = target;
    snprintf(request->id, sizeof request->id, "%s", "test-id");

    struct target parsed = {0};
    if (!target_parse(&parsed, target, &request->arena, &request->err))
        return;
    struct route_match match = router_match(api_routes, api_routes_n, parsed.path, request->method);
    request->route = match.route;
    request->path = arena_strndup(&request->arena, parsed.path, match.path_len);
    request->suffix = match.suffix;
    request->path_arg = match.arg ? request->path + match.arg : NULL;
    request->query = parsed.query;
    request->args = parsed.args;
    request->args_n = parsed.args_n;
    request->body = body;
    request->body_len = body ? strlen(body) : 0;
    if (!match.allowed)
        err_add(&request->err, ERR_not_found, NULL, NULL, "there is nothing at %.100s",
                request->path);
    else if (!match.route)
        err_add(&request->err, ERR_method_not_allowed, NULL, NULL, "not with this method");
}

static inline void call_finish(struct request *request)
{
    request->response.status = 200;
    if (request->err.n == 0) {
        enum step step = request->route->quick(request);
        if (step == STEP_WORK)
            step = request->route->work(request);
        if (step == STEP_DONE && request->route->settle)
            step = request->route->settle(request);
        assert((step == STEP_FAILED) == (request->err.n > 0));
    }
    api_finish(request);
}

static inline void call(struct request *request, const char *method, const char *target,
                        const char *body)
{
    call_begin(request, method, target, body);
    call_finish(request);
}

static inline void call_end(struct request *request)
{
    if (request->state_free)
        request->state_free(request);
    buf_release(&request->response.body);
    blob_unref(request->response.blob);
    arena_release(&request->arena);
}

static inline const char *call_field(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->response.headers_n; i++)
        if (strcasecmp(request->response.headers[i].name, name) == 0)
            return request->response.headers[i].value;
    return NULL;
}

/* The answer's bytes, NUL-terminated, until call_end. */
static inline const char *call_body(struct request *request)
{
    const struct response *response = &request->response;
    const char *data = response->blob ? response->blob->data : response->body.data;
    size_t len = response->blob ? response->blob->len : response->body.len;
    const char *copy = arena_strndup(&request->arena, data ? data : "", len);
    assert(copy);
    return copy;
}

#endif
