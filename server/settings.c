// SPDX-License-Identifier: Apache-2.0
/* settings.c: see settings.h. */
#include "settings.h"

#define ELEMENT_BYTES ((size_t)8)
/* The part of --cache-size that the http layer has for answers ready to be sent. */
#define REPEATS_PART 8

struct app_options settings_app(const struct config *config)
{
    return (struct app_options){
        .elements_max = (size_t)config->elements_max,
        .text_elements_max = (size_t)config->text_elements_max,
        .body_max = (size_t)config->body_max,
        .workers = (unsigned)config->workers,
        .queue = (unsigned)config->queue,
        .deadline_ms = (unsigned)config->deadline_ms,
        .memory_max = (size_t)config->memory_max,
        .cache_max = (size_t)(config->cache_max - config->cache_max / REPEATS_PART),
        .connections_max = (unsigned)config->connections_max,
        .peer_connections_max = (unsigned)config->peer_connections_max,
    };
}

struct http_options settings_http(const struct config *config)
{
    return (struct http_options){
        .listen = config->listen,
        .workers = (unsigned)config->workers,
        .queue = (unsigned)config->queue,
        .body_max = (size_t)config->body_max,
        /* tensors of a request and of its answer, a working copy, and whatever else it says */
        .arena_max = 3 * ELEMENT_BYTES * (size_t)config->elements_max + ((size_t)64 << 20),
        .deadline_ms = (unsigned)config->deadline_ms,
        .memory_max = (size_t)config->memory_max,
        .repeats_max = (size_t)(config->cache_max / REPEATS_PART),
        .connections_max = (unsigned)config->connections_max,
        .peer_connections_max = (unsigned)config->peer_connections_max,
        .cors_origin = config->cors_origin,
        .ready_fd = (int)config->ready_fd,
    };
}

struct local_limits settings_local(const struct config *config, struct budget *memory)
{
    const struct http_options options = settings_http(config);

    *memory = (struct budget){.max = options.memory_max};
    return (struct local_limits){
        .arena_max = options.arena_max,
        .body_max = options.body_max,
        .memory = memory,
        .deadline_ns = clock_ns() + options.deadline_ms * UINT64_C(1000000),
    };
}
