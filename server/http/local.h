// SPDX-License-Identifier: Apache-2.0
/*
 * local.h: one request without a network: a head and a body from the caller go through the same
 * target parser, routes, limits, steps and finish hook as those of a connection, and the answer is
 * what a client would get. Everything runs in the calling thread, worker steps too.
 */
#ifndef HTTP_LOCAL_H
#define HTTP_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"
#include "http.h"

struct local_call {
    const char *method, *target;
    const struct header *fields; /* of the head; live as long as the request */
    size_t fields_n;
    char *body; /* aligned to 64 bytes, the caller's, and may be written to; NULL: none */
    size_t body_len;
};

struct local_limits {
    size_t arena_max, body_max;
    struct budget *memory;    /* that others may share, or NULL */
    uint64_t deadline_ns;     /* of clock_ns() */
    const atomic_bool *hurry; /* or NULL */
};

/* Of a request, for those that are made to answer it; they have no body. */
struct local_limits local_limits_of(const struct request *request);

/* Reads the head: what is wrong with it, or with the size of the body, is in request->err, and
 * local_run() makes the problem document of it. False without memory, with nothing to end. */
bool local_begin(struct request *request, const struct http_hooks *hooks,
                 const struct local_limits *limits, const struct local_call *call);
/* Makes the answer. */
void local_run(struct request *request, const struct http_hooks *hooks);
/* Hands over the bytes of the answer, in pieces; false when `take` refused one, or when there was
 * no memory for the answer or no time for a block of it. */
bool local_drain(struct request *request, bool (*take)(void *context, const char *data, size_t len),
                 void *context);
void local_end(struct request *request);

#endif
