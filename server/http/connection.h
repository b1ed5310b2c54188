// SPDX-License-Identifier: Apache-2.0
/*
 * connection.h: client connections: how many there may be, in all and of one address, and what is
 * known of each. Those that are too many are let in to be told so, and for no longer than that.
 */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "pace.h"

/* Connections beyond the limit that are let in to be told so; each for a short time. */
#define SURPLUS_CONNECTIONS 64u
#define SURPLUS_S           2u
#define PEER_BYTES          16

struct http_service;
struct http_exchange;

/* libmicrohttpd's socket context. */
struct connection {
    struct http_service *service;
    struct http_exchange *exchange;  /* the request that is open on it, or NULL */
    struct connection *next, **link; /* of the service's list; link: what points here */
    int fd;
    enum err_code refusal; /* why it is one too many; ERR_CODES_N: it is not */
    unsigned requests;     /* done */
    struct pace_watch watch;
    size_t body_taken;              /* at the last look ... */
    unsigned stuck_looks;           /* ... and at how many before, with more of it to be had */
    unsigned char peer[PEER_BYTES]; /* its address, of IPv6 the /64; zeros: unknown */
};

/* libmicrohttpd's MHD_NotifyConnectionCallback; cls is the service. */
void connection_notify(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode what);
/* Whether its requests are served; otherwise the reason is added to `err`. */
bool connection_is_welcome(const struct connection *client, struct err *err);

#endif
