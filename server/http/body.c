// SPDX-License-Identifier: Apache-2.0
/* body.c: see body.h. */
#include "body.h"

#include <string.h>

#include "exchange.h"
#include "farewell.h"
#include "inflate.h"
#include "pages.h"

#define BODY_CHUNK_START ((size_t)64 << 10)

static size_t body_max(const struct http_exchange *exchange)
{
    return exchange->request.method == METHOD_POST ? exchange->service->options.body_max
                                                   : BODY_IGNORED_MAX;
}

void body_release(struct http_exchange *exchange)
{
    budget_give(&exchange->service->memory, exchange->body_capacity);
    pages_free(exchange->body);
    exchange->body = NULL;
    exchange->body_capacity = 0;
}

static void body_free(struct request *request)
{
    body_release(
        (struct http_exchange *)((char *)request - offsetof(struct http_exchange, request)));
}

void body_hand_over(struct http_exchange *exchange)
{
    exchange->request.body = exchange->body;
    exchange->request.body_free = body_free;
}

/* Moves the body to a buffer of at least `capacity` bytes. */
static bool body_reserve(struct http_exchange *exchange, size_t capacity)
{
    size_t rounded = (capacity + BODY_ALIGN - 1) / BODY_ALIGN * BODY_ALIGN;
    struct budget *memory = &exchange->service->memory;
    bool allowed = budget_take(memory, rounded);
    char *body = allowed ? pages_alloc(rounded) : NULL;

    if (!body) {
        budget_give(memory, allowed ? rounded : 0);
        exchange->request.err.retry_after_s = 1;
        return err_add(&exchange->request.err, ERR_overloaded, NULL, "try again later",
                       "no memory for a body of %zu bytes beside other requests", capacity);
    }
    if (exchange->request.body_len > 0)
        memcpy(body, exchange->body, exchange->request.body_len);
    body_release(exchange);
    exchange->body = body;
    exchange->body_capacity = rounded;
    return true;
}

bool body_begin(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;
    size_t length = exchange->framing.length, limit = body_max(exchange);

    if (length > limit)
        return err_add(&request->err, ERR_body_too_large, NULL, NULL,
                       "the body has %zu bytes, the limit is %zu", length, limit);
    if (request->err.n > 0 || request->method != METHOD_POST)
        return true;
    return body_reserve(exchange, exchange->framing.chunked ? BODY_CHUNK_START : length);
}

bool body_decode(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;
    struct http_service *service = exchange->service;
    struct buf out;

    if (!body_inflate(exchange->body, request->body_len, service->options.body_max,
                      &service->memory, &out, &request->err))
        return false;
    body_release(exchange);
    exchange->body = out.data;
    exchange->body_capacity = out.capacity;
    request->body_len = out.len;
    return true;
}

/* Gives the body up; what follows of it is dropped. */
static void body_give_up(struct http_exchange *exchange)
{
    body_release(exchange);
    exchange->request.body_len = 0;
    exchange->phase = PHASE_DROP;
    exchange->closing = true;
}

/* The line of the chunk that `data` begins, if it can be seen. A bad one, or one that announces
 * more than would ever be read, is the end of the connection: 0.9 takes no answer in the middle of
 * a body.
 */
static bool chunk_check(struct http_exchange *exchange, const char *data)
{
    struct err *err = &exchange->request.err;
    size_t room = exchange->service->options.body_max + BODY_DROPPED_MAX;

    if (!exchange->framing.chunked || guard_check_chunk(exchange->body_start, data, room, err))
        return true;
    farewell_send(exchange->client->fd, err->item[0].code == ERR_body_too_large
                                            ? FAREWELL_TOO_LARGE
                                            : FAREWELL_BAD_CHUNK);
    return false;
}

bool body_add(struct http_exchange *exchange, const char *data, size_t len)
{
    if (!chunk_check(exchange, data))
        return false;
    struct request *request = &exchange->request;
    bool kept = request->method == METHOD_POST && exchange->phase == PHASE_BODY;
    size_t limit = body_max(exchange), have = kept ? request->body_len : exchange->dropped;

    if (exchange->phase == PHASE_BODY && len > limit - have) {
        err_add(&request->err, ERR_body_too_large, NULL, NULL,
                "the body has more than %zu bytes, which is the limit", limit);
        body_give_up(exchange);
        kept = false;
    }
    if (!kept) {
        exchange->dropped += len;
        return exchange->dropped <= BODY_DROPPED_MAX;
    }
    if (len > exchange->body_capacity - have) {
        size_t wanted = 2 * exchange->body_capacity;
        while (wanted - have < len)
            wanted *= 2;
        if (!body_reserve(exchange, wanted < limit ? wanted : limit)) {
            body_give_up(exchange);
            return true;
        }
    }
    memcpy(exchange->body + have, data, len);
    request->body_len += len;
    exchange->body_received += len;
    return true;
}
