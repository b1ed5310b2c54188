// SPDX-License-Identifier: Apache-2.0
/*
 * http.h: the HTTP service as main.c starts it: libmicrohttpd without threads of its own, driven by
 * one libuv loop, plus libuv's worker pool. One service per process.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "request.h"

struct http_options {
    const char *listen;   /* "127.0.0.1:8080", "[::1]:0", numeric addresses only */
    unsigned workers;     /* pool threads, >= 1 */
    unsigned queue;       /* jobs waiting beyond those running; more: 503 overloaded */
    size_t body_max;      /* bytes of a request body */
    size_t arena_max;     /* bytes of one request's arena */
    size_t memory_max;    /* bytes of bodies, arenas and answers together; more: 503 */
    size_t repeats_max;   /* bytes of answers kept ready to be sent again; 0: none */
    unsigned deadline_ms; /* from the complete head to the end of work() */
    unsigned connections_max;
    unsigned peer_connections_max; /* of one address; 0: any number */
    const char *cors_origin;       /* origins whose pages may read answers (origins.h); NULL: all */
    int ready_fd; /* gets one JSON line {"url":...} when listening, then is closed; -1 */
};

struct http_hooks {
    const struct route *routes;
    size_t routes_n;
    void *app; /* becomes request.app */
    /* Loop thread, once per request before sending: when request->err.n > 0 makes the problem
     * document (and adds the nearest path to a not-found without a hint); adds the fields every
     * answer has. */
    void (*finish)(struct request *request);
    /* Worker thread, before it ends: gives back what was kept for it; NULL: nothing was. */
    void (*thread_end)(void);
};

struct http_service;

/* Opens the listening socket and prepares the loop; says on stderr what failed and returns NULL. */
struct http_service *http_start(const struct http_options *options, const struct http_hooks *hooks);
/* Runs until SIGTERM or SIGINT, then drains; returns the exit status. */
int http_run(struct http_service *service);
void http_free(struct http_service *service);
bool http_draining(const struct http_service *service);

#endif
