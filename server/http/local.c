// SPDX-License-Identifier: Apache-2.0
/* local.c: see local.h. */
#include "local.h"

#include <string.h>

#include "block.h"
#include "guard.h"
#include "inflate.h"
#include "steps.h"

/* The head as a connection would have brought it. */
static void head_make(struct head *head, const struct local_call *call)
{
    head->method = call->method;
    head->version = "HTTP/1.1";
    head->url = head->target = call->target;
    head->bytes = strlen(call->method) + strlen(call->target) + strlen("  HTTP/1.1\r\n\r\n");
    head->fields_n = call->fields_n;
    for (size_t i = 0; i < call->fields_n; i++) {
        const struct header *field = &call->fields[i];
        struct head_field made = {field->name, field->value, strlen(field->name),
                                  strlen(field->value)};
        head->bytes += made.name_len + made.value_len + strlen(": \r\n");
        if (i < HEAD_FIELDS_MAX)
            head->fields[i] = made;
    }
}

/* The body, which is in gzip, becomes what it holds, in the request's memory, aligned as bodies
 * are.
 */
static void decode(struct request *request, size_t body_max)
{
    struct buf out;

    if (!body_inflate(request->body, request->body_len, body_max, NULL, &out, &request->err))
        return;
    size_t size = out.len < ARENA_ALIGNED_FROM ? ARENA_ALIGNED_FROM : out.len;
    char *body = arena_alloc(&request->arena, size);
    if (body) {
        request->body = memcpy(body, out.data, out.len);
        request->body_len = out.len;
    } else {
        err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the body");
    }
    buf_release(&out);
}

struct local_limits local_limits_of(const struct request *request)
{
    return (struct local_limits){
        .arena_max = request->arena.bytes_max,
        .memory = request->arena.budget,
        .deadline_ns = request->deadline_ns,
        .hurry = request->hurry,
    };
}

bool local_begin(struct request *request, const struct http_hooks *hooks,
                 const struct local_limits *limits, const struct local_call *call)
{
    struct framing framing;
    struct head head;

    const struct request_room room = {.arena_max = limits->arena_max, .memory = limits->memory};
    if (!request_begin(request, hooks, call->target, &room))
        return false;
    request->deadline_ns = limits->deadline_ns;
    request->hurry = limits->hurry;
    head_make(&head, call);
    if (!request_take_head(request, &head)) {
        request_release(request);
        return false;
    }
    if (!guard_check_unframed(&head, &framing, &request->err))
        return true;
    request_find_route(request, hooks);
    if (request->method != METHOD_POST || !call->body)
        return true;
    request->body = call->body;
    request->body_len = call->body_len;
    if (call->body_len > limits->body_max)
        err_add(&request->err, ERR_body_too_large, NULL, NULL,
                "the body has %zu bytes, the limit is %zu", call->body_len, limits->body_max);
    else if (framing.gzip)
        decode(request, limits->body_max);
    return true;
}

/* Block by block. As over a connection, each of them has all the time that the request has. */
static bool make_blocks(struct request *request,
                        bool (*take)(void *context, const char *data, size_t len), void *context)
{
    const struct stream *stream = request->response.stream;
    uint64_t time_ns = request->deadline_ns - request->start_ns;
    struct stream_block block;
    bool ok = block_open(&block, stream);

    for (size_t i = 0; ok && i < stream->blocks_n; i++) {
        size_t len;
        block.index = i;
        request->deadline_ns = clock_ns() + time_ns;
        ok = block_make(&block, request) == ERR_CODES_N;
        const char *data = ok ? block_data(&block, &len) : NULL;
        ok = ok && take(context, data, len);
    }
    block_close(&block);
    return ok;
}

static bool append(void *context, const char *data, size_t len)
{
    buf_append(context, data, len);
    return true;
}

/* What several workers would do together. */
static enum step spread(struct request *request)
{
    if (!make_blocks(request, append, &request->response.body)) {
        err_add(&request->err, ERR_deadline, NULL, NULL, "a part of the answer was not made");
        return STEP_FAILED;
    }
    request->response.stream = NULL;
    return request->route->work(request);
}

void local_run(struct request *request, const struct http_hooks *hooks)
{
    enum step step = request_quick(request);

    if (step == STEP_WORK) {
        step = request->route->work(request);
        while (step == STEP_SPREAD)
            step = spread(request);
        step = request_settle(request, step);
    }
    request_conclude(request, hooks, step);
}

bool local_drain(struct request *request, bool (*take)(void *context, const char *data, size_t len),
                 void *context)
{
    const struct response *response = &request->response;
    const struct blob *blob = response->blob;

    if (response->body.failed || request->method == METHOD_HEAD)
        return !response->body.failed;
    if (response->stream)
        return make_blocks(request, take, context);
    bool ok = take(context, blob ? blob->data : response->body.data,
                   blob ? blob->len : response->body.len);
    for (size_t i = 0; ok && i < response->spans_n; i++)
        ok = take(context, response->spans[i].data, response->spans[i].len);
    return ok;
}

void local_end(struct request *request)
{
    request_release(request);
}
