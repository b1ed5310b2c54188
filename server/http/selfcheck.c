// SPDX-License-Identifier: Apache-2.0
/* selfcheck.c: see selfcheck.h. Over a socketpair, without threads, before anything listens. */
#include "selfcheck.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "guard.h"

#define RUNS_MAX 64 /* of the library, per head */

#define LINE        "GET /a?b=c%20d HTTP/1.1\r\n"
#define HOST        "Host: h\r\n"
#define CHUNKED     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
#define BYTES(text) (text), sizeof(text) - 1

static const struct row {
    const char *name, *bytes;
    size_t len;
    bool good;
} rows[] = {
    {"a plain head", BYTES(LINE HOST "\r\n"), true},
    {"a head of many forms",
     BYTES(LINE HOST "A:b\r\nC: \t d\r\nEmpty:\r\nAccept: */*;q=0.1, a/b\r\n\r\n"), true},
    {"a head before a body", BYTES("POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx"), true},
    {"a chunked body", BYTES(CHUNKED "1\r\nx\r\n01\r\ny\r\n0\r\n\r\n"), true},
    {"a bare line feed after a chunk size", BYTES(CHUNKED "1\nx\r\n0\r\n\r\n"), false},
    {"a zero byte in a chunk line", BYTES(CHUNKED "1;a\0b\r\nx\r\n0\r\n\r\n"), false},
    {"a zero byte in a later chunk line", BYTES(CHUNKED "1\r\nx\r\n1;\0\r\ny\r\n0\r\n\r\n"), false},
    {"a folded line", BYTES(LINE HOST "A: b\r\n c\r\n\r\n"), false},
    {"a folded name", BYTES(LINE HOST "A\r\n B: c\r\n\r\n"), false},
    {"a zero byte in a value", BYTES(LINE HOST "A: b\0c\r\n\r\n"), false},
    {"a zero byte in a name", BYTES(LINE HOST "A\0B: c\r\n\r\n"), false},
    {"a zero byte for a line", BYTES(LINE HOST "\0GET / HTTP/1.1\r\nA: b\r\n\r\n"), false},
    {"a zero byte in the target", BYTES("GET /a\0b HTTP/1.1\r\n" HOST "\r\n"), false},
    {"a bare line feed", BYTES(LINE HOST "A: b\nC: d\r\n\r\n"), false},
    {"a bare line feed after the request line", BYTES("GET / HTTP/1.1\n" HOST "\r\n"), false},
    {"a bare line feed at the end", BYTES(LINE HOST "A: b\r\n\n"), false},
    {"a bare carriage return", BYTES(LINE HOST "A: b\rC: d\r\n\r\n"), false},
    {"a blank before the colon", BYTES(LINE HOST "A : b\r\n\r\n"), false},
    {"a blank too many", BYTES("GET  / HTTP/1.1\r\n" HOST "\r\n"), false},
    {"a blank at the end of the request line", BYTES("GET / HTTP/1.1 \r\n" HOST "\r\n"), false},
};

struct seen {
    char target[64];
    struct framing framing;
    const char *body_start;
    bool over, accepted;
};

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct seen *seen = cls;
    (void)connection;

    snprintf(seen->target, sizeof seen->target, "%s", uri ? uri : "");
    return NULL;
}

static bool head_check(struct seen *seen, struct MHD_Connection *connection, const char *url,
                       const char *method, const char *version)
{
    struct head head = {.method = method, .version = version, .url = url, .target = seen->target};
    struct err err = {0};

    head_read(&head, connection);
    seen->body_start = method + head.bytes;
    return guard_check(&head, &seen->framing, &err);
}

/* Called for the head, for each piece of the body, and at the end. MHD_NO ends the connection. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_len, void **context)
{
    struct seen *seen = cls;
    struct err err = {0};

    if (!*context) {
        *context = seen;
        seen->accepted = head_check(seen, connection, url, method, version);
        seen->over = !seen->accepted;
    } else if (*data_len > 0) {
        seen->accepted &=
            !seen->framing.chunked || guard_check_chunk(seen->body_start, data, SIZE_MAX, &err);
        *data_len = 0;
    } else {
        seen->over = true;
    }
    return seen->over ? MHD_NO : MHD_YES;
}

/* The library warns of what a socketpair does not have. */
__attribute__((format(printf, 2, 0))) static void say_nothing(void *cls, const char *format,
                                                              va_list args)
{
    (void)cls, (void)format, (void)args;
}

/* What becomes of the bytes: accepted, or refused by guard or library; neither if nothing does. */
static void row_send(struct MHD_Daemon *daemon, struct seen *seen, const struct row *row)
{
    static const struct sockaddr_un nobody = {.sun_family = AF_UNIX};
    int ends[2];
    char answer[16];

    *seen = (struct seen){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    bool sent = send(ends[1], row->bytes, row->len, MSG_NOSIGNAL) == (ssize_t)row->len &&
                MHD_add_connection(daemon, ends[0], (const struct sockaddr *)&nobody,
                                   sizeof nobody) == MHD_YES; /* which owns it, even if not */
    for (size_t runs = 0; sent && !seen->over && runs < RUNS_MAX; runs++) {
        MHD_run(daemon);
        if (!seen->over && recv(ends[1], answer, sizeof answer, 0) >= 0)
            *seen = (struct seen){.over = true}; /* the library has refused it */
    }
    close(ends[1]);
    MHD_run(daemon);
}

bool selfcheck_guard(const struct MHD_OptionItem *options)
{
    struct seen seen;
    const struct row *wrong = NULL;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
        &seen, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_uri,
        &seen, MHD_OPTION_ARRAY, options, MHD_OPTION_END);

    if (!daemon) {
        fprintf(stderr, "posencd: libmicrohttpd %s does not start\n", MHD_get_version());
        return false;
    }
    for (const struct row *row = rows; !wrong && row < rows + sizeof rows / sizeof rows[0]; row++) {
        row_send(daemon, &seen, row);
        if (!seen.over || seen.accepted != row->good)
            wrong = row;
    }
    MHD_stop_daemon(daemon);
    if (wrong)
        fprintf(stderr,
                "posencd: libmicrohttpd %s is not one that requests can be checked with: it hides "
                "%s\n",
                MHD_get_version(), wrong->name);
    return !wrong;
}
