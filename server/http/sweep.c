// SPDX-License-Identifier: Apache-2.0
/* sweep.c: see sweep.h. The timer runs only while requests are open. */
#include "sweep.h"

#include <sys/socket.h>

#include "exchange.h"

#define SWEEP_MS 1000

/* Whether the client will send no more of a request that is not complete. */
static bool client_has_gone(const struct http_exchange *exchange, int fd)
{
    char byte;
    return exchange->phase <= PHASE_DROP && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void on_sweep(uv_timer_t *timer)
{
    struct http_service *service = timer->data;

    for (struct http_exchange *exchange = service->open; exchange; exchange = exchange->next) {
        int fd = MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                     ->connect_fd;
        if (client_has_gone(exchange, fd))
            shutdown(fd, SHUT_RDWR); /* which libmicrohttpd notices */
    }
}

void sweep_add(struct http_exchange *exchange)
{
    struct http_service *service = exchange->service;

    if (!service->open)
        uv_timer_start(&service->sweep_timer, on_sweep, SWEEP_MS, SWEEP_MS);
    exchange->next = service->open;
    exchange->link = &service->open;
    if (exchange->next)
        exchange->next->link = &exchange->next;
    service->open = exchange;
    service->exchanges++;
}

void sweep_remove(struct http_exchange *exchange)
{
    struct http_service *service = exchange->service;

    *exchange->link = exchange->next;
    if (exchange->next)
        exchange->next->link = exchange->link;
    service->exchanges--;
    if (!service->open)
        uv_timer_stop(&service->sweep_timer);
}
