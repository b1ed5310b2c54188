// SPDX-License-Identifier: Apache-2.0
/*
 * pace.h: how slow a client may be. What a connection waits for is its pace. Each has a time limit;
 * that of bodies and answers moves on with their bytes, so that it is a rate in the long run. Pure
 * functions: the clock is the caller's.
 */
#ifndef HTTP_PACE_H
#define HTTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* The answer to this one says Connection: close, so that connections do not live for ever. */
#define CONNECTION_REQUESTS_MAX 1000u

#define IDLE_MS_MAX   15000u /* without a byte of the next request */
#define HEAD_MS_MAX   10000u /* from its first byte to the end of its head */
#define RATE_START_MS 5000u  /* of a body or an answer at first ... */
#define RATE_MIN      1024u  /* ... and one second more for so many bytes ... */
#define RATE_STORE_MS                                                                              \
    30000u /* ... but never more than this ahead: a kernel with a large receive buffer             \
              lets the next bytes come only when much of it is free again */

enum pace {
    PACE_IDLE,   /* no byte of a request yet */
    PACE_HEAD,   /* some */
    PACE_BODY,   /* the client sends its body */
    PACE_WORK,   /* we have the request: never the client's fault */
    PACE_ANSWER, /* the client reads its answer */
};

struct pace_watch {
    enum pace pace;
    unsigned requests; /* the client's requests before this one */
    uint64_t until_ns; /* when it is overdue */
    uint64_t bytes;    /* moved at the last look */
};

void pace_begin(struct pace_watch *watch, enum pace pace, unsigned requests, uint64_t bytes,
                uint64_t now_ns);

/* Looks at a connection that is at `pace` now, with `requests` done and `bytes` moved in the
 * direction that matters; true when the client is too slow. A new pace or request starts anew; an
 * idle connection on which bytes have moved is at PACE_HEAD. */
bool pace_is_overdue(struct pace_watch *watch, enum pace pace, unsigned requests, uint64_t bytes,
                     uint64_t now_ns);

#endif
