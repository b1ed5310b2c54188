// SPDX-License-Identifier: Apache-2.0
/* connection.c: see connection.h. */
#include "connection.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "metrics.h"
#include "sweep.h"

/* What counts as one peer: an IPv4 address, the network part of an IPv6 address. */
static void peer_read(unsigned char peer[PEER_BYTES], const struct sockaddr *address)
{
    if (address && address->sa_family == AF_INET6) {
        memcpy(peer, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 8);
        peer[PEER_BYTES - 1] = 6;
    } else if (address && address->sa_family == AF_INET) {
        memcpy(peer, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        peer[PEER_BYTES - 1] = 4;
    }
}

/* Connections of the same peer, this one among them. */
static unsigned peer_connections(const struct connection *client)
{
    unsigned n = 0;

    for (const struct connection *other = client->service->clients; other; other = other->next)
        n += memcmp(other->peer, client->peer, PEER_BYTES) == 0;
    return n;
}

static enum err_code refusal_of(const struct connection *client)
{
    const struct http_options *options = &client->service->options;

    if (client->service->connections > options->connections_max)
        return ERR_overloaded;
    if (options->peer_connections_max && peer_connections(client) > options->peer_connections_max)
        return ERR_rate_limited;
    return ERR_CODES_N;
}

static struct connection *connection_new(struct http_service *service,
                                         struct MHD_Connection *connection)
{
    struct connection *client = calloc(1, sizeof *client);

    if (!client)
        return NULL; /* without it requests are cut off */
    client->service = service;
    /* One after the other: libmicrohttpd 1.0 puts both answers in the same place. */
    client->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const union MHD_ConnectionInfo *address =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    peer_read(client->peer, address ? address->client_addr : NULL);
    pace_begin(&client->watch, PACE_IDLE, 0, 0, clock_ns());
    sweep_add(client);
    client->refusal = refusal_of(client);
    if (client->refusal != ERR_CODES_N) {
        MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, SURPLUS_S);
        metric_add(METRIC_connections_refused, 1);
    }
    return client;
}

void connection_notify(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode what)
{
    struct http_service *service = cls;
    struct connection *client = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        service->connections++;
        metric_add(METRIC_connections, 1);
        metric_add(METRIC_connections_opened, 1);
        *context = connection_new(service, connection);
        return;
    }
    service->closed = true;
    service->connections--;
    metric_add(METRIC_connections, -1);
    if (!client)
        return;
    if (client->exchange)
        exchange_orphaned(client->exchange);
    sweep_remove(client);
    free(client);
}

bool connection_is_welcome(const struct connection *client, struct err *err)
{
    const struct http_options *options = &client->service->options;

    if (client->refusal == ERR_CODES_N)
        return true;
    err->retry_after_s = 1;
    if (client->refusal == ERR_rate_limited)
        return err_add(err, ERR_rate_limited, NULL, "use one connection for many requests",
                       "your address has more than %u connections open, which is the limit",
                       options->peer_connections_max);
    return err_add(err, ERR_overloaded, NULL, "try again in a second",
                   "%u connections are open, which is the limit", options->connections_max);
}
