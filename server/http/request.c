// SPDX-License-Identifier: Apache-2.0
/*
 * request.c: life of one request, from libmicrohttpd's first word of it to the last. What a head
 * may look like is the guard's, where a path leads is the router's, what a body may hold is
 * body.c's.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "body.h"
#include "exchange.h"
#include "log.h"
#include "metrics.h"
#include "response.h"
#include "router.h"
#include "target.h"

#define RESPONSE_BYTES_MAX ((size_t)1 << 30)

uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

const char *request_header(const struct request *request, const char *name)
{
    const struct http_exchange *exchange = request->exchange;
    for (size_t i = 0; i < exchange->fields_n; i++)
        if (strcasecmp(exchange->fields[i].name, name) == 0)
            return exchange->fields[i].value;
    return NULL;
}

bool request_expired(const struct request *request)
{
    return clock_ns() > request->exchange->deadline_ns ||
           atomic_load_explicit(&request->exchange->service->hurry, memory_order_relaxed);
}

/* ---- Answering ----------------------------------------------------------------------------- */

/* Hands the answer to libmicrohttpd; MHD_NO (which closes the connection) without memory. */
static enum MHD_Result exchange_answer(struct http_exchange *exchange)
{
    struct http_service *service = exchange->service;
    struct request *request = &exchange->request;
    struct response *response = &request->response;
    struct err *err = &request->err;

    if (exchange->step == STEP_FAILED && err->n == 0)
        err_add(err, ERR_internal, NULL, NULL, "the handler failed without saying why");
    if (request->arena.over_budget) { /* something may be missing, whatever came of it */
        request->arena.unasked = 0;   /* for the problem document */
        err->n = 0;
        err->retry_after_s = 1;
        err_add(err, ERR_overloaded, NULL, "try again later",
                "no memory for the request beside others");
    }
    if (err->n > 0) { /* whatever a handler has made is not the answer */
        response->status = err_status(err->item[0].code);
        response->headers_n = request->route ? 0 : response->headers_n;
        buf_release(&response->body);
        blob_unref(response->blob);
        response->blob = NULL;
    } else if (response->status == 0) {
        response->status = 200;
    }
    const char *seconds = err->n && err->retry_after_s
                              ? arena_printf(&request->arena, "%u", err->retry_after_s)
                              : NULL;
    if (seconds)
        response_header(request, "Retry-After", seconds);
    service->hooks.finish(request);
    if (response->body.failed)
        return MHD_NO;
    if (request->method != METHOD_HEAD)
        exchange->answer_bytes = response->blob ? response->blob->len : response->body.len;
    exchange->answer_held = response->body.capacity;
    budget_take_anyway(&service->memory, exchange->answer_held);
    exchange->closing |=
        service->draining || exchange->client->requests + 1 >= CONNECTION_REQUESTS_MAX;
    struct MHD_Response *answer = response_build(request, exchange->closing);
    if (!answer)
        return MHD_NO;
    exchange->phase = PHASE_ANSWERED;
    enum MHD_Result queued =
        MHD_queue_response(exchange->connection, (unsigned)response->status, answer);
    MHD_destroy_response(answer);
    return queued;
}

/* Answers before the request is read; the connection is closed after that. */
static enum MHD_Result exchange_refuse(struct http_exchange *exchange)
{
    exchange->closing = true;
    return exchange_answer(exchange);
}

/* ---- Jobs ---------------------------------------------------------------------------------- */

static struct http_exchange *exchange_of(struct worker_job *job)
{
    return (struct http_exchange *)((char *)job - offsetof(struct http_exchange, job));
}

/* On a pool thread. */
static void exchange_run(struct worker_job *job)
{
    struct http_exchange *exchange = exchange_of(job);
    struct request *request = &exchange->request;

    if (!request_expired(request)) {
        exchange->step = request->route->work(request);
        return;
    }
    err_add(&request->err, ERR_deadline, NULL, "try again later",
            "the request waited for a worker until its deadline of %u ms",
            exchange->service->options.deadline_ms);
    request->err.retry_after_s = 1;
    exchange->step = STEP_FAILED;
}

static void exchange_worked(struct worker_job *job)
{
    struct http_exchange *exchange = exchange_of(job);

    exchange->phase = PHASE_WORKED;
    MHD_resume_connection(exchange->connection);
    service_drive(exchange->service);
}

static enum MHD_Result exchange_settle(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;

    if (exchange->step == STEP_DONE && request->route->settle)
        exchange->step = request->route->settle(request);
    return exchange_answer(exchange);
}

/* The request is complete. */
static enum MHD_Result exchange_dispatch(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;

    request->body = exchange->body;
    if (request->err.n > 0 || !request->route)
        return exchange_answer(exchange);
    exchange->step = request->route->quick(request);
    if (exchange->step != STEP_WORK)
        return exchange_answer(exchange);
    if (worker_submit(&exchange->service->pool, &exchange->job)) {
        exchange->phase = PHASE_WORK;
        MHD_suspend_connection(exchange->connection);
        return MHD_YES;
    }
    err_add(&request->err, ERR_overloaded, NULL, "try again in a second",
            "%u jobs are running or waiting, which is the limit", exchange->service->pool.jobs_max);
    request->err.retry_after_s = 1;
    return exchange_answer(exchange);
}

/* ---- The head ------------------------------------------------------------------------------ */

static bool is_id_text(const char *text)
{
    size_t len = strlen(text);

    for (const char *c = text; *c; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
              strchr("-._~:+/=@", *c)))
            return false;
    return len >= 1 && len <= 64;
}

/* Request-Id, or the trace-id of a traceparent (W3C Trace Context: 00-<32 hex>-<16 hex>-<2 hex>),
 * or 128 random bits. */
static void request_identify(struct request *request)
{
    const char *given = request_header(request, "Request-Id");
    const char *trace = request_header(request, "traceparent");
    unsigned char random[16] = {0};

    request->id_given = true;
    if (given && is_id_text(given)) {
        memcpy(request->id, given, strlen(given) + 1);
        return;
    }
    if (trace && strlen(trace) >= 55 && trace[2] == '-' && trace[35] == '-' &&
        strspn(trace + 3, "0123456789abcdef") == 32) {
        memcpy(request->id, trace + 3, 32);
        return;
    }
    request->id_given = false;
    if (getrandom(random, sizeof random, GRND_NONBLOCK) < 0)
        memcpy(random, &request->start_ns, sizeof request->start_ns);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(request->id + 2 * i, 3, "%02x", random[i]);
}

/* Keeps the fields for request_header(), without the blanks libmicrohttpd 0.9 leaves at their end.
 */
static bool fields_keep(struct http_exchange *exchange, const struct head *head)
{
    struct arena *arena = &exchange->request.arena;
    size_t n = head->fields_n < HEAD_FIELDS_MAX ? head->fields_n : HEAD_FIELDS_MAX;

    exchange->fields = arena_calloc(arena, n ? n : 1, sizeof *exchange->fields);
    for (size_t i = 0; exchange->fields && i < n; i++) {
        const struct head_field *field = &head->fields[i];
        size_t len = field->value_len;
        while (len > 0 && (field->value[len - 1] == ' ' || field->value[len - 1] == '\t'))
            len--;
        const char *value =
            len == field->value_len ? field->value : arena_strndup(arena, field->value, len);
        if (!value)
            return false;
        exchange->fields[exchange->fields_n++] = (struct header){field->name, value};
    }
    return exchange->fields != NULL;
}

/* The target without the slashes that end its path: where such a request is sent to. NULL when
 * nothing is there either. */
static const char *redirect_target(struct http_exchange *exchange, const struct target *target)
{
    const struct http_hooks *hooks = &exchange->service->hooks;
    struct request *request = &exchange->request;
    size_t raw_len = strcspn(target->origin, "?"), raw_kept = raw_len;
    size_t len = strlen(target->path);

    while (raw_kept > 1 && target->origin[raw_kept - 1] == '/')
        raw_kept--;
    while (len > 1 && target->path[len - 1] == '/')
        len--;
    const char *path = arena_strndup(&request->arena, target->path, len);
    if (raw_kept == raw_len || !path ||
        !router_match(hooks->routes, hooks->routes_n, path, request->method).allowed)
        return NULL;
    return arena_printf(&request->arena, "%.*s%s", (int)raw_kept, target->origin,
                        target->origin + raw_len);
}

/* Finds the route, or makes what stands in for its answer. */
static void request_route(struct http_exchange *exchange, const struct target *target)
{
    struct request *request = &exchange->request;
    const struct http_hooks *hooks = &exchange->service->hooks;
    struct route_match match =
        router_match(hooks->routes, hooks->routes_n, target->path, request->method);
    const char *elsewhere;

    if (strcmp(target->path, "*") == 0) /* OPTIONS: the server as a whole */
        match.allowed = METHOD_GET | METHOD_POST;
    if (match.route) {
        request->route = match.route;
        request->path = arena_strndup(&request->arena, target->path, match.path_len);
        request->suffix = match.suffix;
        request->path_arg = match.arg && request->path ? request->path + match.arg : NULL;
        if (!request->path)
            err_add(&request->err, ERR_internal, NULL, NULL, "no memory for the request");
    } else if (!match.allowed && (elsewhere = redirect_target(exchange, target))) {
        request->response.status = 308;
        response_header(request, "Location", elsewhere);
    } else if (!match.allowed) {
        err_add(&request->err, ERR_not_found, NULL, NULL, "there is nothing at %.200s",
                target->origin);
    } else {
        response_header(request, "Allow", allow_text(match.allowed));
        if (request->method == METHOD_OPTIONS)
            request->response.status = 204;
        else
            err_add(&request->err, ERR_method_not_allowed, NULL, NULL,
                    "the method is not one of %s", allow_text(match.allowed));
    }
}

/* First call for a request: its head is complete. */
static enum MHD_Result exchange_open(struct http_exchange *exchange, const char *url,
                                     const char *method, const char *version)
{
    struct request *request = &exchange->request;
    struct head head = {
        .method = method, .version = version, .url = url, .target = request->target};
    struct target target;

    head_read(&head, exchange->connection);
    exchange->body_start = method + head.bytes;
    request->method = method_parse(method);
    exchange->deadline_ns = clock_ns() + exchange->service->options.deadline_ms * UINT64_C(1000000);
    if (!fields_keep(exchange, &head))
        return MHD_NO;
    request_identify(request);
    if (!guard_check(&head, &exchange->framing, &request->err) ||
        !connection_is_welcome(exchange->client, &request->err))
        return exchange_refuse(exchange);

    bool parsed = target_parse(&target, request->target, &request->arena, &request->err);
    request->path = target.path;
    request->query = target.query;
    request->args = target.args;
    request->args_n = target.args_n;
    if (parsed)
        request_route(exchange, &target);
    bool has_body = exchange->framing.chunked || exchange->framing.length > 0;
    if (has_body && (!body_begin(exchange) || request->err.n > 0))
        return exchange_refuse(exchange);
    exchange->phase = PHASE_BODY;
    return MHD_YES;
}

/* ---- libmicrohttpd's callbacks ------------------------------------------------------------- */

void *exchange_begin(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct http_service *service = cls;
    struct connection *client =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct http_exchange *exchange = client ? calloc(1, sizeof *exchange) : NULL;

    if (!exchange)
        return NULL;
    struct request *request = &exchange->request;
    arena_init(&request->arena, service->options.arena_max);
    request->arena.budget = &service->memory;
    buf_init(&request->response.body, RESPONSE_BYTES_MAX);
    request->app = service->hooks.app;
    request->exchange = exchange;
    request->path = request->query = "";
    request->target = arena_strndup(&request->arena, uri ? uri : "", uri ? strlen(uri) : 0);
    request->start_ns = clock_ns();
    exchange->service = service;
    exchange->connection = connection;
    exchange->client = client;
    exchange->job.run = exchange_run;
    exchange->job.done = exchange_worked;
    if (!request->target) {
        arena_release(&request->arena);
        free(exchange);
        return NULL;
    }
    service->turns = 0;
    client->exchange = exchange;
    service->exchanges++;
    metric_add(METRIC_requests_active, 1);
    return exchange;
}

enum MHD_Result exchange_step(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_len, void **context)
{
    struct http_service *service = cls;
    struct http_exchange *exchange = *context;
    (void)connection;

    service->turns = 0;
    if (!exchange)
        return MHD_NO;
    if (exchange->phase == PHASE_HEAD)
        return exchange_open(exchange, url, method, version);
    if (*data_len > 0) {
        size_t len = *data_len;
        *data_len = 0;
        return body_add(exchange, data, len) ? MHD_YES : MHD_NO;
    }
    switch (exchange->phase) {
    case PHASE_BODY:
    case PHASE_DROP:
        return exchange_dispatch(exchange);
    case PHASE_WORKED:
        return exchange_settle(exchange);
    default:
        return MHD_YES;
    }
}

static void exchange_log(const struct http_exchange *exchange, bool aborted, uint64_t duration_ns)
{
    const struct request *request = &exchange->request;
    struct log_line line;

    log_begin(&line, "request");
    log_str(&line, "id", request->id);
    log_str(&line, "method", method_name(request->method));
    log_str(&line, "target", request->target);
    log_int(&line, "status", exchange->phase == PHASE_ANSWERED ? request->response.status : 0);
    if (request->err.n > 0)
        log_str(&line, "problem", err_slug(request->err.item[0].code));
    if (aborted)
        log_str(&line, "end", "aborted");
    log_int(&line, "bytes_in", (int64_t)request->body_len);
    log_int(&line, "bytes_out", (int64_t)exchange->answer_bytes);
    log_int(&line, "us", (int64_t)(duration_ns / 1000));
    log_end(&line);
}

static void exchange_free(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;

    if (request->state_free)
        request->state_free(request);
    body_release(exchange);
    budget_give(&exchange->service->memory, exchange->answer_held);
    buf_release(&request->response.body);
    blob_unref(request->response.blob);
    arena_release(&request->arena);
    free(exchange);
}

/* Counts, logs and frees a request. */
static void exchange_close(struct http_exchange *exchange, bool aborted)
{
    const struct request *request = &exchange->request;
    struct http_service *service = exchange->service;
    uint64_t duration_ns = clock_ns() - request->start_ns;

    exchange_log(exchange, aborted, duration_ns);
    if (exchange->phase == PHASE_ANSWERED)
        metric_request(request->response.status, duration_ns);
    if (aborted)
        metric_add(METRIC_requests_aborted, 1);
    metric_add(METRIC_request_bytes, (int64_t)request->body_len);
    metric_add(METRIC_response_bytes, (int64_t)exchange->answer_bytes);
    metric_add(METRIC_requests_active, -1);
    service->turns = 0;
    exchange->client->exchange = NULL;
    exchange->client->requests++;
    service->exchanges--;
    exchange_free(exchange);
}

/* Lets a client that may still be sending read what it was told. */
static void connection_linger(struct http_service *service, struct MHD_Connection *connection)
{
    linger_start(
        &service->lingering,
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
}

void exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode why)
{
    struct http_exchange *exchange = *context;
    (void)cls;

    if (!exchange)
        return;
    bool answered = exchange->phase == PHASE_ANSWERED;
    bool client_is_there =
        why == MHD_REQUEST_TERMINATED_COMPLETED_OK || why == MHD_REQUEST_TERMINATED_WITH_ERROR;

    if (client_is_there && (exchange->closing || !answered))
        connection_linger(exchange->service, connection);
    exchange_close(exchange, !answered || why != MHD_REQUEST_TERMINATED_COMPLETED_OK);
    *context = NULL;
}

void exchange_orphaned(struct http_exchange *exchange)
{
    connection_linger(exchange->service, exchange->connection);
    exchange_close(exchange, true);
}
