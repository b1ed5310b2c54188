// SPDX-License-Identifier: Apache-2.0
/*
 * bare_mhd.c: libmicrohttpd and nothing else, driven by one libuv loop as the daemon drives it, to
 * compare the daemon with. GET /0, /1, ... answer the files named as arguments, each a head (lines
 * "Name: value", an empty one) and a body; POST answers the body it got. Prints its port, ends with
 * SIGTERM.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define FILES_MAX        16
#define BODY_MAX         ((size_t)64 << 20)
#define CONNECTION_BYTES ((size_t)36 << 10) /* as the daemon's */
#define SILENCE_S        30u

struct bare {
    struct MHD_Daemon *daemon;
    uv_loop_t loop;
    uv_poll_t poll;
    uv_timer_t timer;
    struct MHD_Response *files[FILES_MAX];
    unsigned files_n;
};

struct body {
    char *data;
    size_t len, capacity;
};

static struct bare bare;

/* ---- Answers ------------------------------------------------------------------------------- */

/* All bytes of a file, with a zero behind them. */
static char *file_read(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *len = (size_t)ftell(file);
        data = calloc(1, *len + 1);
        rewind(file);
    }
    if (data && fread(data, 1, *len, file) != *len) {
        free(data);
        data = NULL;
    }
    if (file)
        fclose(file);
    return data;
}

static struct MHD_Response *file_response(const char *path)
{
    size_t len;
    char *data = file_read(path, &len);
    char *body = data ? strstr(data, "\n\n") : NULL;
    if (!body)
        return NULL;
    body[1] = '\0';
    body += 2;
    len -= (size_t)(body - data);
    struct MHD_Response *made = MHD_create_response_from_buffer(len, body, MHD_RESPMEM_PERSISTENT);
    for (char *line = strtok(data, "\n"); line; line = strtok(NULL, "\n")) {
        char *colon = strchr(line, ':');
        *colon = '\0';
        MHD_add_response_header(made, line, colon + 2);
    }
    return made;
}

static enum MHD_Result answer_file(struct MHD_Connection *connection, const char *url)
{
    unsigned long i = strtoul(url + (*url == '/'), NULL, 10);
    return i < bare.files_n ? MHD_queue_response(connection, MHD_HTTP_OK, bare.files[i]) : MHD_NO;
}

/* Keeps the body as simply as can be: in one buffer of the announced length. */
static enum MHD_Result body_add(struct body *body, const char *data, size_t len)
{
    if (len > body->capacity - body->len)
        return MHD_NO;
    memcpy(body->data + body->len, data, len);
    body->len += len;
    return MHD_YES;
}

static struct body *body_new(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    size_t capacity = length ? strtoul(length, NULL, 10) : 0;
    struct body *body = capacity <= BODY_MAX ? calloc(1, sizeof *body) : NULL;

    if (!body)
        return NULL;
    body->data = malloc(capacity + 1);
    body->capacity = body->data ? capacity : 0;
    return body;
}

static enum MHD_Result answer_body(struct MHD_Connection *connection, struct body *body)
{
    struct MHD_Response *made =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(made, "Content-Type", "application/octet-stream");
    enum MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, made);
    MHD_destroy_response(made);
    return queued;
}

/* ---- libmicrohttpd's callbacks ------------------------------------------------------------- */

static enum MHD_Result on_step(void *cls, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *data_len, void **context)
{
    static struct body none; /* that of a GET */
    (void)cls;
    (void)version;

    if (!*context) {
        *context = strcmp(method, "POST") == 0 ? body_new(connection) : &none;
        return *context ? MHD_YES : MHD_NO;
    }
    if (*context == &none)
        return answer_file(connection, url);
    if (*data_len == 0)
        return answer_body(connection, *context);
    size_t len = *data_len;
    *data_len = 0;
    return body_add(*context, data, len);
}

static void on_end(void *cls, struct MHD_Connection *connection, void **context,
                   enum MHD_RequestTerminationCode why)
{
    struct body *body = *context;
    (void)cls;
    (void)connection;
    (void)why;

    if (!body || !body->data)
        return;
    free(body->data);
    free(body);
    *context = NULL;
}

/* ---- The loop ------------------------------------------------------------------------------ */

static void on_timer(uv_timer_t *timer);

static void drive(void)
{
    unsigned long long timeout_ms = 0;

    MHD_run(bare.daemon);
    if (MHD_get_timeout(bare.daemon, &timeout_ms) == MHD_YES)
        uv_timer_start(&bare.timer, on_timer, timeout_ms, 0);
    else
        uv_timer_stop(&bare.timer);
}

static void on_timer(uv_timer_t *timer)
{
    (void)timer;
    drive();
}

static void on_epoll(uv_poll_t *poll, int status, int events)
{
    (void)poll;
    (void)status;
    (void)events;
    drive();
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    for (int i = 1; i < argc && bare.files_n < FILES_MAX; i++)
        if (!(bare.files[bare.files_n++] = file_response(argv[i])))
            return EXIT_FAILURE;
    bare.daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL,
                         on_step, NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED,
                         on_end, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
                         MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S, MHD_OPTION_END);
    if (!bare.daemon || uv_loop_init(&bare.loop) != 0)
        return EXIT_FAILURE;
    printf("%u\n", MHD_get_daemon_info(bare.daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    uv_timer_init(&bare.loop, &bare.timer);
    uv_poll_init(&bare.loop, &bare.poll,
                 MHD_get_daemon_info(bare.daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    uv_poll_start(&bare.poll, UV_READABLE, on_epoll);
    drive();
    return uv_run(&bare.loop, UV_RUN_DEFAULT);
}
