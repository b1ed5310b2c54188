// SPDX-License-Identifier: Apache-2.0
/*
 * sweep.h: a look at all connections four times a second: a client that is too slow (pace.h), or
 * has gone in the middle of its request, loses its connection. libmicrohttpd alone would wait for
 * ever: each byte renews its only time-out, and version 0.9 misses the end of a stream that arrives
 * together with data.
 */
#ifndef HTTP_SWEEP_H
#define HTTP_SWEEP_H

struct connection;

void sweep_add(struct connection *client);
void sweep_remove(struct connection *client);

#endif
