// SPDX-License-Identifier: Apache-2.0
/*
 * toy.h: a service with a few toy routes in a child process, so that the http layer can be tested
 * without the api layer. The child ends when it is told to (toy_stop) or with the test.
 */
#ifndef TESTS_HTTP_TOY_H
#define TESTS_HTTP_TOY_H

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "http.h"
#include "log.h"
#include "metrics.h"

static inline enum step toy_say(struct request *request)
{
    request->response.content_type = "text/plain";
    buf_printf(&request->response.body, "%s %s %s", request->path,
               request->path_arg ? request->path_arg : "-",
               request->suffix ? request->suffix : "-");
    for (size_t i = 0; i < request->args_n; i++)
        buf_printf(&request->response.body, " %s=%s", request->args[i].name,
                   request->args[i].value);
    return STEP_DONE;
}

static inline enum step toy_later(struct request *request)
{
    (void)request;
    return STEP_WORK;
}

static inline enum step toy_echo(struct request *request)
{
    request->response.content_type = "application/octet-stream";
    buf_append(&request->response.body, request->body, request->body_len);
    if ((uintptr_t)request->body % 64 != 0)
        return STEP_FAILED;
    return STEP_DONE;
}

static inline size_t toy_number(const struct request *request)
{
    return request->args_n ? strtoul(request->args[0].value, NULL, 10) : 0;
}

/* ?ms=N in slices of a millisecond, looking at the deadline as long loops do. */
static inline enum step toy_sleep(struct request *request)
{
    for (size_t ms = toy_number(request); ms > 0; ms--) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (request_expired(request)) {
            err_add(&request->err, ERR_deadline, NULL, NULL, "slept too long");
            return STEP_FAILED;
        }
    }
    buf_puts(&request->response.body, "slept");
    return STEP_DONE;
}

/* ?ms=N without looking at the deadline. */
static inline enum step toy_stubborn(struct request *request)
{
    size_t ms = toy_number(request);
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000},
        NULL);
    buf_puts(&request->response.body, "slept");
    return STEP_DONE;
}

/* ?bytes=N of a shared blob. */
static inline enum step toy_big(struct request *request)
{
    struct buf bytes;
    size_t len = toy_number(request);

    buf_init(&bytes, len);
    if (!buf_reserve(&bytes, len))
        return STEP_FAILED;
    memset(bytes.data, 'x', len);
    bytes.len = len;
    request->response.blob = blob_from_buf(&bytes);
    return STEP_DONE;
}

static inline size_t toy_arg(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->args_n; i++)
        if (strcmp(request->args[i].name, name) == 0)
            return strtoul(request->args[i].value, NULL, 10);
    return 0;
}

static atomic_size_t toy_blocks_made;

/* Block i is `bytes` times the letter 'a' + i % 26 and takes `ms`; from block `cut` - 1 on there is
 * none; with `lie` one block fewer than announced; with `alone` the last
 * one comes when all others are made. */
static inline bool toy_block(const struct request *request, struct stream_block *block)
{
    size_t bytes = toy_arg(request, "bytes"), cut = toy_arg(request, "cut");

    for (size_t ms = toy_arg(request, "ms"); ms > 0; ms--)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (cut && block->index >= cut - 1)
        return false;
    if (block->index + 1 == request->response.stream->blocks_n && toy_arg(request, "alone") &&
        atomic_load(&toy_blocks_made) != block->index)
        return false;
    atomic_fetch_add(&toy_blocks_made, 1);
    if (bytes > 0)
        memset(block->scratch, 'a' + (int)(block->index % 26), bytes);
    if (block->index % 3 == 0) {
        block->data = block->scratch;
        block->len = bytes;
    } else {
        buf_append(&block->out, block->scratch, bytes);
    }
    return true;
}

/* ?blocks=N&bytes=N, with a known length unless chunked=1. */
static inline enum step toy_stream(struct request *request)
{
    struct stream *stream = arena_calloc(&request->arena, 1, sizeof *stream);
    size_t blocks = toy_arg(request, "blocks"), bytes = toy_arg(request, "bytes");

    if (!stream)
        return STEP_FAILED;
    *stream =
        (struct stream){.len = toy_arg(request, "chunked") ? STREAM_LEN_UNKNOWN : blocks * bytes,
                        .blocks_n = blocks - toy_arg(request, "lie"),
                        .block_bytes = bytes,
                        .scratch_bytes = bytes,
                        .last_alone = toy_arg(request, "alone"),
                        .make = toy_block};
    atomic_store(&toy_blocks_made, 0);
    request->response.stream = stream;
    return STEP_DONE;
}

/* The same as one answer. */
static inline enum step toy_spread(struct request *request)
{
    if (request->response.body.len > 0 || request->state) {
        response_header(request, "Spread", "yes");
        return STEP_DONE;
    }
    request->state = request;
    return toy_stream(request) == STEP_DONE ? STEP_SPREAD : STEP_FAILED;
}

static inline enum step toy_memory(struct request *request)
{
    buf_printf(&request->response.body, "%" PRId64, metric_get(METRIC_request_memory));
    return STEP_DONE;
}

/* Says that its answer lasts, and how often it has been asked. */
static inline enum step toy_lasting(struct request *request)
{
    static unsigned asked;

    request->response.lasting = true;
    buf_printf(&request->response.body, "%u", ++asked);
    return STEP_DONE;
}

static inline enum step toy_settle(struct request *request)
{
    response_header(request, "Settled", "yes");
    return STEP_DONE;
}

static inline void toy_state_free(struct request *request)
{
    free(request->state);
}

static inline enum step toy_state(struct request *request)
{
    request->state = malloc(1000); /* a leak, if the state is not freed */
    request->state_free = toy_state_free;
    buf_puts(&request->response.body, "state");
    return STEP_DONE;
}

static inline enum step toy_silent(struct request *request)
{
    response_header(request, "Stale", "yes");
    buf_puts(&request->response.body, "half an answer");
    return STEP_FAILED;
}

static inline void toy_finish(struct request *request)
{
    response_header(request, "Finished", "yes");
    for (size_t i = 0; i < request->err.n && i < ERR_ITEMS_MAX; i++)
        buf_printf(&request->response.body, "%s %s: %s\n", err_slug(request->err.item[i].code),
                   request->err.item[i].where, request->err.item[i].detail);
}

static const struct route toy_routes[] = {
    {METHOD_GET, "/", false, toy_say, NULL, NULL, NULL},
    {METHOD_GET, "/small", false, toy_say, NULL, NULL, NULL},
    {METHOD_GET, "/table", true, toy_say, NULL, NULL, NULL},
    {METHOD_GET, "/things/{name}", true, toy_say, NULL, NULL, NULL},
    {METHOD_POST, "/echo", false, toy_later, toy_echo, NULL, NULL},
    {METHOD_GET, "/echo", false, toy_say, NULL, NULL, NULL},
    {METHOD_GET, "/sleep", false, toy_later, toy_sleep, toy_settle, NULL},
    {METHOD_GET, "/stubborn", false, toy_later, toy_stubborn, NULL, NULL},
    {METHOD_GET, "/big", false, toy_later, toy_big, NULL, NULL},
    {METHOD_GET, "/stream", false, toy_stream, NULL, NULL, NULL},
    {METHOD_GET, "/spread", false, toy_later, toy_spread, toy_settle, NULL},
    {METHOD_GET, "/memory", false, toy_memory, NULL, NULL, NULL},
    {METHOD_GET, "/lasting", false, toy_lasting, NULL, NULL, NULL},
    {METHOD_GET, "/lasting/{name}", false, toy_lasting, NULL, NULL, NULL},
    {METHOD_GET, "/state", false, toy_state, NULL, NULL, NULL},
    {METHOD_GET, "/silent", false, toy_silent, NULL, NULL, NULL},
};

static inline struct http_options toy_options(void)
{
    return (struct http_options){.listen = "127.0.0.1:0",
                                 .workers = 2,
                                 .queue = 2,
                                 .body_max = 1 << 20,
                                 .arena_max = 1 << 20,
                                 .deadline_ms = 5000,
                                 .memory_max = (size_t)1 << 30,
                                 .repeats_max = 1 << 20,
                                 .connections_max = 1024,
                                 .ready_fd = -1};
}

/* Serves until a signal; the exit status. */
static inline int toy_serve(const struct http_options *options)
{
    const struct http_hooks hooks = {toy_routes, sizeof toy_routes / sizeof toy_routes[0], NULL,
                                     toy_finish, NULL};
    struct http_service *service = http_start(options, &hooks);
    if (!service)
        return EXIT_FAILURE;
    int status = http_run(service);
    http_free(service);
    return status;
}

struct toy {
    pid_t pid;
    int port;
};

/* The service in a child; port 0 when it did not start. */
static inline struct toy toy_start(struct http_options options)
{
    struct toy toy = {0, 0};
    int ends[2];
    char line[128] = "";

    if (pipe(ends) != 0)
        return toy;
    fflush(NULL);
    toy.pid = fork();
    if (toy.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        log_set_format(LOG_OFF);
        options.ready_fd = ends[1];
        exit(toy_serve(&options));
    }
    close(ends[1]);
    for (size_t len = 0; len < sizeof line - 1 && read(ends[0], line + len, 1) == 1; len++)
        continue;
    close(ends[0]);
    const char *port = strrchr(line, ':');
    toy.port = port ? (int)strtol(port + 1, NULL, 10) : 0;
    return toy;
}

/* SIGTERM, then the exit status; -1 when it did not exit by itself. */
static inline int toy_stop(const struct toy *toy)
{
    int status = 0;
    kill(toy->pid, SIGTERM);
    waitpid(toy->pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
