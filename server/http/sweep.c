// SPDX-License-Identifier: Apache-2.0
/*
 * sweep.c: see sweep.h. How many bytes have moved, the kernel counts. Connections are shut down,
 * which libmicrohttpd notices and cleans up after.
 */
#include "sweep.h"

#include <sys/socket.h>

#include "exchange.h"
#include "farewell.h"
#include "metrics.h"
#include "stream.h"
#include "traffic.h"

#define SWEEP_MS 250

/* Looks at which a body may lie unread: libmicrohttpd 0.9 reads no more when one endless chunk line
 * has filled its buffer, and says nothing. */
#define STUCK_LOOKS_MAX 4

static enum pace pace_of(const struct http_exchange *exchange)
{
    if (!exchange)
        return PACE_IDLE;
    switch (exchange->phase) {
    case PHASE_HEAD:
        return PACE_HEAD;
    case PHASE_BODY:
    case PHASE_DROP:
        return PACE_BODY;
    case PHASE_ANSWERED:
        return stream_is_awaited(exchange) ? PACE_WORK : PACE_ANSWER;
    default:
        return PACE_WORK;
    }
}

enum upload { UPLOAD_OPEN, UPLOAD_ENDED, UPLOAD_STUCK };

/* What the socket says of a request that is not complete. */
static enum upload upload_look(struct connection *client)
{
    const struct http_exchange *exchange = client->exchange;
    char byte;

    if (!exchange || exchange->phase > PHASE_DROP)
        return UPLOAD_OPEN;
    ssize_t unread = recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    size_t taken = exchange->request.body_len + exchange->dropped;
    client->stuck_looks = unread > 0 && taken == client->body_taken ? client->stuck_looks + 1 : 0;
    client->body_taken = taken;
    return unread == 0                              ? UPLOAD_ENDED
           : client->stuck_looks >= STUCK_LOOKS_MAX ? UPLOAD_STUCK
                                                    : UPLOAD_OPEN;
}

static bool client_is_slow(struct connection *client, uint64_t now_ns)
{
    uint64_t received, acknowledged;
    enum pace pace = pace_of(client->exchange);

    return traffic_read(client->fd, &received, &acknowledged) &&
           pace_is_overdue(&client->watch, pace, client->requests,
                           pace == PACE_ANSWER ? acknowledged : received, now_ns);
}

/* Says what was waited for in vain, if that can still be said, and ends the connection. */
static void client_dismiss(struct connection *client)
{
    static const enum metric counters[] = {
        [PACE_IDLE] = METRIC_timed_out_idle,
        [PACE_HEAD] = METRIC_timed_out_head,
        [PACE_BODY] = METRIC_timed_out_body,
        [PACE_ANSWER] = METRIC_timed_out_answer,
    };
    static const struct linger drop = {.l_onoff = 1, .l_linger = 0};
    enum pace pace = client->watch.pace;

    metric_add(counters[pace], 1);
    if (pace == PACE_HEAD || pace == PACE_BODY)
        farewell_send(client->fd, FAREWELL_TOO_SLOW);
    if (pace == PACE_ANSWER) /* the kernel need not keep what is not read either */
        setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &drop, sizeof drop);
    shutdown(client->fd, SHUT_RDWR);
}

static void client_look(struct connection *client, uint64_t now_ns)
{
    enum upload upload = upload_look(client);

    if (upload == UPLOAD_STUCK)
        farewell_send(client->fd, FAREWELL_BAD_CHUNK);
    if (upload != UPLOAD_OPEN)
        shutdown(client->fd, SHUT_RDWR);
    else if (client_is_slow(client, now_ns))
        client_dismiss(client);
}

static void on_sweep(uv_timer_t *timer)
{
    struct http_service *service = timer->data;
    uint64_t now_ns = clock_ns();

    for (struct connection *client = service->clients; client; client = client->next)
        client_look(client, now_ns);
}

void sweep_add(struct connection *client)
{
    struct http_service *service = client->service;

    if (!service->clients)
        uv_timer_start(&service->sweep_timer, on_sweep, SWEEP_MS, SWEEP_MS);
    client->next = service->clients;
    client->link = &service->clients;
    if (client->next)
        client->next->link = &client->next;
    service->clients = client;
}

void sweep_remove(struct connection *client)
{
    struct http_service *service = client->service;

    *client->link = client->next;
    if (client->next)
        client->next->link = client->link;
    if (!service->clients)
        uv_timer_stop(&service->sweep_timer);
}
