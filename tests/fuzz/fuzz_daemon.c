// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_daemon.c: any bytes from a client that then sends no more, to the whole service: the loop,
 * libmicrohttpd, the handlers and their workers. The bytes go over a socket pair, because addresses
 * of TCP run out at such a rate. Each connection must come to its end, and no answer is a 500.
 */
#include <assert.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api.h"
#include "exchange.h"
#include "log.h"

#define BYTES_MAX         ((size_t)64 << 10) /* fits the buffer of a socket */
#define CONNECTION_NS_MAX UINT64_C(5000000000)
#define ANSWER_MAX        ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct http_service *service_get(void)
{
    static const struct app_options app_options = {.elements_max = 4096,
                                                   .text_elements_max = 4096,
                                                   .body_max = BYTES_MAX,
                                                   .memory_max = (size_t)64 << 20,
                                                   .workers = 1,
                                                   .queue = 64,
                                                   .deadline_ms = 10000,
                                                   .connections_max = 64};
    static const struct http_options options = {.listen = "127.0.0.1:0",
                                                .workers = 1,
                                                .queue = 64,
                                                .body_max = BYTES_MAX,
                                                .arena_max = (size_t)16 << 20,
                                                .memory_max = (size_t)64 << 20,
                                                .deadline_ms = 10000,
                                                .connections_max = 64,
                                                .ready_fd = -1};
    static struct http_service *service;
    if (!service) {
        log_set_format(LOG_OFF);
        struct http_hooks hooks = app_hooks(app_new(&app_options));
        service = http_start(&options, &hooks);
    }
    return service;
}

/* Runs the service until it has closed the connection; returns the bytes that came. The client ends
 * its side when all is quiet, since libmicrohttpd can overlook an end that comes with the data. */
static size_t answers_read(struct http_service *service, int fd, char *answers)
{
    struct pollfd fds[] = {{fd, POLLIN, 0}, {uv_backend_fd(&service->loop), POLLIN, 0}};
    uint64_t start_ns = clock_ns();
    size_t len = 0;
    ssize_t n = -1;
    for (bool ended = false; n != 0 && clock_ns() - start_ns < CONNECTION_NS_MAX;) {
        service_drive(service);
        uv_run(&service->loop, UV_RUN_NOWAIT);
        n = recv(fd, answers + len, ANSWER_MAX - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
        int wait_ms = uv_backend_timeout(&service->loop);
        if (poll(fds, 2, ended ? wait_ms : 0) == 0 && wait_ms != 0 && !ended)
            ended = shutdown(fd, SHUT_WR) == 0;
    }
    assert(n == 0);
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sockaddr_un nobody = {.sun_family = AF_UNIX};
    static const char internal[] = "HTTP/1.1 500 Internal Server Error\r\n";
    static char answers[ANSWER_MAX];
    struct http_service *service = service_get();
    int ends[2];
    size_t len = size < BYTES_MAX ? size : BYTES_MAX;
    assert(service && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    assert(send(ends[1], data, len, 0) == (ssize_t)len);
    assert(MHD_add_connection(service->daemon, ends[0], (const void *)&nobody, sizeof nobody));
    len = answers_read(service, ends[1], answers);
    assert(len == 0 || (len > 9 && memcmp(answers, "HTTP/1.", 7) == 0));
    assert(!memmem(answers, len, internal, sizeof internal - 1));
    close(ends[1]);
    return 0;
}
