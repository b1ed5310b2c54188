// SPDX-License-Identifier: Apache-2.0
/*
 * request.c: life of one request, from libmicrohttpd's first word of it to the last. What a head
 * may look like is the guard's, what a body may hold is body.c's, and what happens to a request
 * wherever it comes from is steps.c's.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "exchange.h"
#include "log.h"
#include "metrics.h"
#include "response.h"
#include "router.h"
#include "steps.h"
#include "stream.h"

/* ---- Answers that have been given before --------------------------------------------------- */

/* The head, as libmicrohttpd left it in its buffer. */
static void exchange_head(const struct http_exchange *exchange, struct head *head)
{
    const struct exchange_texts *texts = &exchange->texts;

    head->method = texts->method;
    head->version = texts->version;
    head->url = texts->url;
    head->target = exchange->request.target;
    head_read(head, exchange->connection);
}

static bool is_last_of_connection(const struct http_exchange *exchange)
{
    return exchange->service->draining || exchange->client->requests + 1 >= CONNECTION_REQUESTS_MAX;
}

/* Whether the answer depends on nothing but the head. */
static bool exchange_lasts(const struct http_exchange *exchange)
{
    const struct request *request = &exchange->request;

    return request->response.lasting && exchange->phase == PHASE_BODY && !exchange->closing &&
           request->method == METHOD_GET && request->response.status == 200 &&
           request->err.n == 0 && !request->id_given &&
           request->body_len + exchange->framing.length == 0 && !exchange->framing.chunked;
}

/* Keeps the answer for the next with this head, with the caller's reference; false if it does not.
 */
static bool exchange_keep(struct http_exchange *exchange, struct MHD_Response *answer)
{
    struct repeat_key key;
    struct head head;

    exchange_head(exchange, &head);
    repeat_key_make(&key, &head);
    return repeat_keep(&exchange->service->repeats, &key, answer, exchange->answer_bytes,
                       exchange->request.response.complete);
}

/* Whether the head has had an answer that it can have again. That leaves out all that depends on
 * the head: reading its fields, the guard, the route, the handler, building the answer, 7 us. */
static bool exchange_repeats(struct http_exchange *exchange, const struct head *head)
{
    struct repeat_key key;

    if (exchange->client->refusal != ERR_CODES_N || is_last_of_connection(exchange))
        return false;
    repeat_key_make(&key, head);
    exchange->repeat = repeat_find(&exchange->service->repeats, &key);
    return exchange->repeat != NULL;
}

static enum MHD_Result exchange_again(struct http_exchange *exchange)
{
    const struct repeat *repeat = exchange->repeat;

    exchange->phase = PHASE_ANSWERED;
    exchange->request.method = METHOD_GET;
    exchange->request.response.status = 200;
    exchange->answer_bytes = repeat->answer_bytes;
    if (repeat->was_kept)
        metric_add(METRIC_answer_hits, 1);
    return MHD_queue_response(exchange->connection, 200, repeat->answer);
}

/* ---- Answering ----------------------------------------------------------------------------- */

/* Hands the answer to libmicrohttpd; MHD_NO (which closes the connection) without memory. */
static enum MHD_Result exchange_answer(struct http_exchange *exchange)
{
    struct http_service *service = exchange->service;
    struct request *request = &exchange->request;
    struct response *response = &request->response;

    if (exchange->step == STEP_DONE)
        stream_begin(exchange);
    request_conclude(request, &service->hooks, exchange->step);
    if (response->body.failed)
        return MHD_NO;
    if (request->method != METHOD_HEAD && !response->stream)
        exchange->answer_bytes = response_len(response);
    exchange->answer_held = response->body.capacity;
    budget_take_anyway(&service->memory, exchange->answer_held);
    exchange->closing |= is_last_of_connection(exchange);
    struct MHD_Response *answer = response_build(exchange);
    if (!answer)
        return MHD_NO;
    bool lasts = exchange_lasts(exchange);
    exchange->phase = PHASE_ANSWERED;
    enum MHD_Result queued =
        MHD_queue_response(exchange->connection, (unsigned)response->status, answer);
    if (!lasts || !exchange_keep(exchange, answer))
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

/* Whether there is time left; else the error for that. */
static bool exchange_in_time(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;

    if (!request_expired(request))
        return true;
    err_add(&request->err, ERR_deadline, NULL, "try again later",
            "the request waited for a worker until its deadline of %u ms",
            exchange->service->options.deadline_ms);
    request->err.retry_after_s = 1;
    return false;
}

/* On a pool thread. */
static void exchange_run(struct worker_job *job)
{
    struct http_exchange *exchange = exchange_of(job);
    struct request *request = &exchange->request;

    exchange->step = exchange_in_time(exchange) ? request->route->work(request) : STEP_FAILED;
}

/* On a pool thread. */
static void exchange_decode(struct worker_job *job)
{
    struct http_exchange *exchange = exchange_of(job);

    if (exchange_in_time(exchange))
        body_decode(exchange);
}

static void exchange_resume(struct http_exchange *exchange, enum phase phase)
{
    exchange->phase = phase;
    MHD_resume_connection(exchange->connection);
    service_drive(exchange->service);
}

/* The body is what it would have been without a coding. */
static void exchange_decoded(struct worker_job *job)
{
    struct http_exchange *exchange = exchange_of(job);

    exchange->framing.gzip = false;
    exchange_resume(exchange, PHASE_BODY);
}

/* Spreads what is to be spread; then the answer can be made. */
static void exchange_worked(struct worker_job *job)
{
    struct http_exchange *exchange = exchange_of(job);

    if (exchange->step == STEP_SPREAD) {
        if (exchange->request.response.stream)
            stream_gather(exchange);
        else /* it is gathered */
            worker_submit_part(&exchange->service->pool, job);
        return;
    }
    exchange_resume(exchange, PHASE_WORKED);
}

static enum MHD_Result exchange_settle(struct http_exchange *exchange)
{
    exchange->step = request_settle(&exchange->request, exchange->step);
    return exchange_answer(exchange);
}

/* Gives the request to a worker, or refuses it. */
static enum MHD_Result exchange_submit(struct http_exchange *exchange,
                                       void (*run)(struct worker_job *job),
                                       void (*done)(struct worker_job *job))
{
    struct request *request = &exchange->request;

    exchange->job.run = run;
    exchange->job.done = done;
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

/* The request is complete; once more, when its body has been decoded. */
static enum MHD_Result exchange_dispatch(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;

    if (exchange->repeat)
        return exchange_again(exchange);
    if (exchange->framing.gzip && exchange->body && request->err.n == 0)
        return exchange_submit(exchange, exchange_decode, exchange_decoded);
    body_hand_over(exchange);
    exchange->step = request_quick(request);
    if (exchange->step != STEP_WORK)
        return exchange_answer(exchange);
    return exchange_submit(exchange, exchange_run, exchange_worked);
}

/* ---- libmicrohttpd's callbacks ------------------------------------------------------------- */

/* First call for a request: its head is complete. */
static enum MHD_Result exchange_open(struct http_exchange *exchange, const char *url,
                                     const char *method, const char *version)
{
    struct request *request = &exchange->request;
    struct head head;

    exchange->texts = (struct exchange_texts){method, version, url};
    exchange_head(exchange, &head);
    exchange->body_start = method + head.bytes;
    if (exchange_repeats(exchange, &head)) {
        exchange->phase = PHASE_BODY;
        return MHD_YES;
    }
    request->deadline_ns = clock_ns() + exchange->service->options.deadline_ms * UINT64_C(1000000);
    if (!request_take_head(request, &head))
        return MHD_NO;
    bool passed = guard_check(&head, &exchange->framing, &request->err);
    if (!passed && request->err.item[0].code == ERR_unsupported_media_type)
        response_header(request, "Accept-Encoding", "gzip");
    if (!passed || !connection_is_welcome(exchange->client, &request->err))
        return exchange_refuse(exchange);

    request_find_route(request, &exchange->service->hooks);
    bool has_body = exchange->framing.chunked || exchange->framing.length > 0;
    if (has_body && (!body_begin(exchange) || request->err.n > 0))
        return exchange_refuse(exchange);
    exchange->phase = PHASE_BODY;
    return MHD_YES;
}

/* Cleared but for the request, which request_begin() clears, and the memory. */
static struct http_exchange *exchange_new(struct http_service *service)
{
    struct http_exchange *exchange = service->spare;

    if (exchange) {
        service->spare = exchange->next_spare;
        service->spare_n--;
    } else {
        exchange = aligned_alloc(_Alignof(struct http_exchange), sizeof *exchange);
    }
    if (exchange)
        memset(exchange, 0, offsetof(struct http_exchange, request));
    return exchange;
}

static void exchange_spare(struct http_service *service, struct http_exchange *exchange)
{
    if (service->spare_n == EXCHANGES_SPARE_MAX) {
        free(exchange);
        return;
    }
    exchange->next_spare = service->spare;
    service->spare = exchange;
    service->spare_n++;
}

void exchanges_free(struct http_service *service)
{
    for (struct http_exchange *next; service->spare; service->spare = next) {
        next = service->spare->next_spare;
        free(service->spare);
    }
    service->spare_n = 0;
}

void *exchange_begin(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct http_service *service = cls;
    struct connection *client =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct http_exchange *exchange = client ? exchange_new(service) : NULL;

    if (!exchange)
        return NULL;
    const struct request_room room = {service->options.arena_max, &service->memory, exchange->arena,
                                      sizeof exchange->arena};
    if (!request_begin(&exchange->request, &service->hooks, uri ? uri : "", &room)) {
        exchange_spare(service, exchange);
        return NULL;
    }
    exchange->request.hurry = &service->hurry;
    exchange->service = service;
    exchange->connection = connection;
    exchange->client = client;
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

static void exchange_log(struct http_exchange *exchange, bool aborted, uint64_t duration_ns)
{
    struct request *request = &exchange->request;
    struct log_line line;

    if (!log_is_on())
        return;
    if (!request->id[0])
        request_draw_id(request);
    log_begin(&line, "request");
    log_str(&line, "id", request->id);
    log_str(&line, "method", method_name(request->method));
    log_str(&line, "target", request->target);
    log_int(&line, "status", exchange->phase == PHASE_ANSWERED ? request->response.status : 0);
    if (request->err.n > 0)
        log_str(&line, "problem", err_slug(request->err.item[0].code));
    if (aborted)
        log_str(&line, "end", "aborted");
    log_int(&line, "bytes_in", (int64_t)exchange->body_received);
    log_int(&line, "bytes_out", (int64_t)exchange->answer_bytes);
    log_int(&line, "us", (int64_t)(duration_ns / 1000));
    log_end(&line);
}

void exchange_free(struct http_exchange *exchange)
{
    exchange->service->exchanges--;
    stream_free(exchange);
    repeat_release(exchange->repeat);
    request_release(&exchange->request);
    body_release(exchange);
    budget_give(&exchange->service->memory, exchange->answer_held);
    exchange_spare(exchange->service, exchange);
}

/* Counts, logs and frees a request, or leaves that to the last block of its stream. */
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
    metric_add(METRIC_request_bytes, (int64_t)exchange->body_received);
    metric_add(METRIC_response_bytes, (int64_t)exchange->answer_bytes);
    metric_add(METRIC_requests_active, -1);
    service->turns = 0;
    exchange->client->exchange = NULL;
    exchange->client->requests++;
    if (stream_end(exchange))
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
