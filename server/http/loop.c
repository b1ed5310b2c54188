// SPDX-License-Identifier: Apache-2.0
/*
 * loop.c: the service as a whole: libmicrohttpd without threads of its own inside one libuv loop,
 * signals and the drain. What happens to one request is
 * request.c's.
 *
 * libmicrohttpd keeps connections that still have work on a list of its own, so after every MHD_run
 * its time-out must be asked for again, or uploads stall.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "exchange.h"
#include "listen.h"
#include "log.h"
#include "metrics.h"
#include "origins.h"
#include "pages.h"
#include "selfcheck.h"

/* A head of 8 KiB target and 16 KiB fields, and what libmicrohttpd notes about its fields and
 * parameters; larger buffers do not make uploads faster. */
#define CONNECTION_BYTES ((size_t)36 << 10)
/* Silent connections are closed after so long: a net below the sweep. */
#define SILENCE_S 30u
/* Turns of the loop without a word to us, after which libmicrohttpd does not get the next at once.
 */
#define IDLE_TURNS_MAX 1000u
/* Descriptors besides those of connections and lingering sockets: standard streams, the loop's. */
#define OTHER_DESCRIPTORS 16u
/* Memory that no request has used for so long, or up to twice as long, goes back to the system:
 * longer than it takes until as many large requests meet again under load. */
#define MEMORY_IDLE_MS 15000u
/* Drain: how long connections are still accepted, so that clients and balancers can turn away; when
 * silent connections are given up; how long requests may take; how long jobs then get to notice
 * that their time is over. */
#define DRAIN_ACCEPT_MS 400u
#define DRAIN_SILENT_MS 1000u
#define DRAIN_GRACE_MS  8000u
#define DRAIN_HURRY_MS  1000u
#define DRAIN_TICK_MS   20u

/* ---- Driving libmicrohttpd ----------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer)
{
    service_drive(timer->data);
}

static void on_idle(uv_idle_t *idle)
{
    service_drive(idle->data);
}

static void on_epoll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    service_drive(poll->data);
}

/* A time-out of 0 is an idle handle, not a timer: libuv before 1.48 never leaves its timers while
 * one starts itself again for now. And libmicrohttpd 0.9 says 0 for ever about a connection whose
 * buffer one endless chunk extension has filled: when nothing has happened for many turns, wait.
 * It has accepted no one since accept() failed for want of a descriptor, or at its limit, and
 * listens again in the first run after a connection has closed, which nothing but us will cause. */
void service_drive(struct http_service *service)
{
    unsigned long long timeout_ms = UINT64_MAX;

    service->turns++;
    service->closed = false;
    MHD_run(service->daemon);
    MHD_get_timeout(service->daemon, &timeout_ms);
    if (timeout_ms == 0 && service->turns > IDLE_TURNS_MAX)
        timeout_ms = 1;
    if (timeout_ms == 0 || service->closed)
        uv_idle_start(&service->idle, on_idle);
    else
        uv_idle_stop(&service->idle);
    if (timeout_ms > 0 && timeout_ms < UINT64_MAX)
        uv_timer_start(&service->timer, on_timer, timeout_ms, 0);
    else
        uv_timer_stop(&service->timer);
}

/* libmicrohttpd decodes targets in place and more than once; we do it ourselves. */
static size_t keep_escapes(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void log_library(void *cls, const char *format,
                                                              va_list args)
{
    char text[512];
    struct log_line line;
    (void)cls;

    int len = vsnprintf(text, sizeof text, format, args);
    if (len > 0 && (size_t)len < sizeof text && text[len - 1] == '\n')
        text[len - 1] = '\0';
    log_begin(&line, "libmicrohttpd");
    log_str(&line, "text", text);
    log_end(&line);
}

/* Before version 1.0 only -1 refuses blanks before the colon; since then 1 is the strict level. */
#define STRICTNESS (MHD_VERSION < 0x01000000 ? -1 : 1)

/* How requests are read; the self-check tries them first. */
static const struct MHD_OptionItem reading_options[] = {
    {MHD_OPTION_STRICT_FOR_CLIENT, STRICTNESS, NULL},
    {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_escapes, NULL},
    {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL},
    {MHD_OPTION_END, 0, NULL},
};

static struct MHD_Daemon *daemon_start(struct http_service *service)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        exchange_step, service, MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
        MHD_OPTION_LISTEN_SOCKET, service->listen_fd, MHD_OPTION_URI_LOG_CALLBACK, exchange_begin,
        service, MHD_OPTION_NOTIFY_COMPLETED, exchange_end, service, MHD_OPTION_NOTIFY_CONNECTION,
        connection_notify, service, MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
        MHD_OPTION_CONNECTION_LIMIT, service->options.connections_max + service->surplus_max,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY, reading_options, MHD_OPTION_END);
}

static void on_memory(uv_timer_t *timer)
{
    (void)timer;
    pages_age();
}

/* ---- Drain --------------------------------------------------------------------------------- */

static uint64_t drain_ms(const struct http_service *service)
{
    return (clock_ns() - service->drain_ns) / 1000000;
}

/* Closing the socket would reset connections that wait to be accepted, so all are taken first, as
 * fast as can be; who comes meanwhile is not let in, and its kernel tries again later. */
static void stop_accepting(struct http_service *service)
{
    MHD_socket socket = MHD_quiesce_daemon(service->daemon);
    union listen_address address;
    socklen_t size;
    int fd;

    assert(socket == service->listen_fd);
    listen_refuse(socket);
    while ((fd = listen_accept(socket, &address, &size)) >= 0)
        MHD_add_connection(service->daemon, fd, &address.any, size); /* which owns it */
    close(socket);
    service->listen_fd = -1;
    service_drive(service);
}

/* Jobs that the workers have or will get. */
static unsigned jobs_of(const struct http_service *service)
{
    return service->pool.jobs + service->pool.parts;
}

/* A job that will not end: libmicrohttpd must not be stopped under it, and exit() would wait. */
static void give_up(struct http_service *service)
{
    struct log_line line;

    log_begin(&line, "killed");
    log_int(&line, "jobs", jobs_of(service));
    log_end(&line);
    _exit(EXIT_FAILURE);
}

/* A connection without a request may be about to bring one: it is new, or its last answer went out
 * before draining began and did not say that it was the last. */
static bool is_drained(const struct http_service *service, uint64_t ms)
{
    return service->exchanges == 0 && (service->connections == 0 || ms >= DRAIN_SILENT_MS);
}

static void on_drain(uv_timer_t *timer)
{
    struct http_service *service = timer->data;
    uint64_t ms = drain_ms(service);

    if (service->listen_fd >= 0) {
        if (ms >= DRAIN_ACCEPT_MS)
            stop_accepting(service);
    } else if (is_drained(service, ms) ||
               (atomic_load_explicit(&service->hurry, memory_order_relaxed) &&
                jobs_of(service) == 0)) {
        uv_stop(&service->loop);
    } else if (ms >= DRAIN_GRACE_MS + DRAIN_HURRY_MS) {
        give_up(service);
    } else if (ms >= DRAIN_GRACE_MS) {
        atomic_store_explicit(&service->hurry, true, memory_order_relaxed);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct http_service *service = handle->data;
    struct log_line line;

    if (service->draining) { /* the second one means it */
        signal(number, SIG_DFL);
        raise(number);
    }
    service->draining = true;
    service->drain_ns = clock_ns();
    metric_add(METRIC_ready, -1);
    log_begin(&line, "draining");
    log_int(&line, "requests", service->exchanges);
    log_int(&line, "connections", service->connections);
    log_end(&line);
    uv_timer_start(&service->drain_timer, on_drain, DRAIN_TICK_MS, DRAIN_TICK_MS);
}

bool http_draining(const struct http_service *service)
{
    return service->draining;
}

/* ---- Start, run, end ----------------------------------------------------------------------- */

static bool loop_prepare(struct http_service *service)
{
    static const int numbers[] = {SIGTERM, SIGINT};

    uv_timer_init(&service->loop, &service->timer);
    uv_timer_init(&service->loop, &service->drain_timer);
    uv_timer_init(&service->loop, &service->sweep_timer);
    service->sweep_timer.data = service;
    uv_timer_init(&service->loop, &service->memory_timer);
    uv_timer_start(&service->memory_timer, on_memory, MEMORY_IDLE_MS, MEMORY_IDLE_MS);
    uv_idle_init(&service->loop, &service->idle);
    service->timer.data = service->drain_timer.data = service->idle.data = service;
    for (size_t i = 0; i < 2; i++) {
        uv_signal_init(&service->loop, &service->signals[i]);
        service->signals[i].data = service;
        uv_signal_start(&service->signals[i], on_signal, numbers[i]);
    }
    service->lingering = (struct linger_list){.loop = &service->loop};
    return worker_pool_init(&service->pool, &service->loop, service->options.workers,
                            service->options.queue, service->hooks.thread_end);
}

/* Shares out the descriptors that there are: some for connections that are told of the limit, some
 * for sockets that linger, the rest for connections. */
static void descriptors_share(struct http_service *service, unsigned descriptors)
{
    unsigned spare = descriptors > OTHER_DESCRIPTORS ? descriptors - OTHER_DESCRIPTORS : 1;
    unsigned linger = spare / 4 < LINGER_SOCKETS_MAX ? spare / 4 : LINGER_SOCKETS_MAX;
    unsigned *connections_max = &service->options.connections_max;

    service->surplus_max = spare / 4 < SURPLUS_CONNECTIONS ? spare / 4 : SURPLUS_CONNECTIONS;
    unsigned left = spare - linger - service->surplus_max;
    if (left >= *connections_max)
        return;
    fprintf(stderr, "posencd: the system allows %u descriptors: %u connections, not %u\n",
            descriptors, left, *connections_max);
    *connections_max = left;
}

/* The soft limit on descriptors must hold all connections; the hard one may not be enough. */
static void descriptors_raise(struct http_service *service)
{
    rlim_t wanted = service->options.connections_max + SURPLUS_CONNECTIONS + LINGER_SOCKETS_MAX +
                    OTHER_DESCRIPTORS;
    struct rlimit limit, raised;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_cur = limit.rlim_max = wanted;
    raised = limit;
    raised.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (limit.rlim_cur < wanted && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    descriptors_share(service, (unsigned)(limit.rlim_cur < wanted ? limit.rlim_cur : wanted));
}

static void announce(struct http_service *service)
{
    char text[128];
    struct log_line line;
    int len = snprintf(text, sizeof text, "{\"url\":\"%s\"}\n", service->url);

    log_begin(&line, "listening");
    log_str(&line, "url", service->url);
    log_end(&line);
    if (service->options.ready_fd < 0)
        return;
    if (write(service->options.ready_fd, text, (size_t)len) != len)
        fprintf(stderr, "posencd: cannot write to the ready descriptor %d: %s\n",
                service->options.ready_fd, strerror(errno));
    close(service->options.ready_fd);
}

struct http_service *http_start(const struct http_options *options, const struct http_hooks *hooks)
{
    if (options->cors_origin && !origins_are_valid(options->cors_origin)) {
        fprintf(stderr, "posencd: --cors-origin takes * or origins such as https://example.org, "
                        "separated by commas\n");
        return NULL;
    }
    struct http_service *service = calloc(1, sizeof *service);
    if (!service) {
        fprintf(stderr, "posencd: no memory\n");
        return NULL;
    }
    service->options = *options;
    service->hooks = *hooks;
    service->memory.max = options->memory_max;
    service->repeats.bytes_max = options->repeats_max;
    signal(SIGPIPE, SIG_IGN);
    descriptors_raise(service);
    if (!selfcheck_guard(reading_options) ||
        (service->listen_fd = listen_open(options->listen, service->url, sizeof service->url)) <
            0) {
        free(service);
        return NULL;
    }
    if (uv_loop_init(&service->loop) != 0 || !(service->daemon = daemon_start(service))) {
        fprintf(stderr, "posencd: libmicrohttpd or libuv does not start\n");
        close(service->listen_fd);
        free(service);
        return NULL;
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(service->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    uv_poll_init(&service->loop, &service->poll, info->epoll_fd);
    service->poll.data = service;
    uv_poll_start(&service->poll, UV_READABLE, on_epoll);
    if (!loop_prepare(service)) {
        fprintf(stderr, "posencd: cannot start %u threads\n", options->workers);
        http_free(service);
        return NULL;
    }
    metric_add(METRIC_ready, 1);
    metric_add(METRIC_start_time, (int64_t)time(NULL));
    return service;
}

int http_run(struct http_service *service)
{
    for (int i = 0; i < 2; i++)
        pages_age(); /* what it took to get here */
    announce(service);
    service_drive(service);
    uv_run(&service->loop, UV_RUN_DEFAULT);
    return EXIT_SUCCESS;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void http_free(struct http_service *service)
{
    uv_poll_stop(&service->poll);
    if (service->listen_fd >= 0)
        stop_accepting(service);
    repeat_table_clear(&service->repeats);
    MHD_stop_daemon(service->daemon);
    exchanges_free(service);
    linger_stop_all(&service->lingering);
    worker_pool_end(&service->pool);
    uv_walk(&service->loop, close_handle, NULL);
    uv_run(&service->loop, UV_RUN_DEFAULT);
    int status = uv_loop_close(&service->loop);
    assert(status == 0);
    free(service);
}
