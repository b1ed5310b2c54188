// SPDX-License-Identifier: Apache-2.0
/*
 * sweep.c: see sweep.h. How many bytes have moved, the kernel counts. Connections are shut down,
 * which libmicrohttpd notices and cleans up after; it cannot be told to answer a request that it
 * has not read, so that answer goes straight to the socket, on which nothing else is under way.
 */
#include "sweep.h"

#include <sys/socket.h>

#include "exchange.h"
#include "metrics.h"
#include "traffic.h"

#define SWEEP_MS 250

static const char too_slow[] = "HTTP/1.1 408 Request Timeout\r\n"
                               "Connection: close\r\n"
                               "Content-Type: text/plain; charset=utf-8\r\n"
                               "Content-Length: 33\r\n"
                               "\r\n"
                               "the request took too long to come";

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
        return PACE_ANSWER;
    default:
        return PACE_WORK;
    }
}

/* Whether the client will send no more of a request that is not complete. */
static bool client_has_gone(const struct connection *client)
{
    char byte;
    return client->exchange && client->exchange->phase <= PHASE_DROP &&
           recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
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
        send(client->fd, too_slow, sizeof too_slow - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (pace == PACE_ANSWER) /* the kernel need not keep what is not read either */
        setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &drop, sizeof drop);
    shutdown(client->fd, SHUT_RDWR);
}

static void on_sweep(uv_timer_t *timer)
{
    struct http_service *service = timer->data;
    uint64_t now_ns = clock_ns();

    for (struct connection *client = service->clients; client; client = client->next) {
        if (client_has_gone(client))
            shutdown(client->fd, SHUT_RDWR);
        else if (client_is_slow(client, now_ns))
            client_dismiss(client);
    }
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
