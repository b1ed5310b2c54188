// SPDX-License-Identifier: Apache-2.0
/*
 * sweep.h: a look at all open requests once a second. libmicrohttpd 0.9 misses the end of a stream
 * that arrives together with data, and would hold such an upload until its idle time-out: here a
 * client that has gone is noticed.
 */
#ifndef HTTP_SWEEP_H
#define HTTP_SWEEP_H

struct http_exchange;
struct http_service;

void sweep_add(struct http_exchange *exchange);
void sweep_remove(struct http_exchange *exchange);

#endif
