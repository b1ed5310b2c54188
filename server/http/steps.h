// SPDX-License-Identifier: Apache-2.0
/*
 * steps.h: the way of a request from its head to its answer, wherever it came from: request.c takes
 * it from a connection, local.c from a caller in this process. Private to http/.
 */
#ifndef HTTP_STEPS_H
#define HTTP_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "http.h"

struct head;
struct budget;

/* What a request may hold. */
struct request_room {
    size_t arena_max;
    struct budget *memory; /* NULL: nobody counts */
    void *first;           /* for the arena to begin with; stays the caller's; may be NULL */
    size_t first_bytes;
};

/* An empty request for the service behind the hooks. False without memory, with nothing to release.
 */
bool request_begin(struct request *request, const struct http_hooks *hooks, const char *target,
                   const struct request_room *room);
/* Gives the request an id of its own. */
void request_draw_id(struct request *request);
/* Keeps the fields of the head for request_header() and gives the request its id. False without
 * memory. */
bool request_take_head(struct request *request, const struct head *head);
/* Decodes the target and finds the route, or makes what stands in for its answer. */
void request_find_route(struct request *request, const struct http_hooks *hooks);

/* The handler's steps, in this order; what they return says whether there is a next one. */
enum step request_quick(struct request *request); /* STEP_DONE where nothing is to be run */
enum step request_settle(struct request *request, enum step step);
/* Makes the answer of what the last step left behind. */
void request_conclude(struct request *request, const struct http_hooks *hooks, enum step step);

/* Frees all of it but the body, which is whose it was. */
void request_release(struct request *request);

#endif
