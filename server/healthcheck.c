// SPDX-License-Identifier: Apache-2.0
/*
 * healthcheck.c: one request over one socket. It knows as much HTTP as our own daemon's answer
 * needs. All of it together has three seconds, which an alarm ends, so that every call may block.
 */
#include "healthcheck.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECONDS_MAX 3
#define HTTP_PORT   "80"

struct place {
    char authority[64], text[64];
    const char *host, *port; /* in text */
};

static void on_alarm(int number)
{
    static const char text[] = "posencd: healthcheck: no answer in time\n";
    (void)number;

    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
        /* Nobody reads it; the status says enough. */
    }
    _exit(EXIT_FAILURE);
}

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "posencd: healthcheck: %s: %s\n", what, why);
    return false;
}

static bool url_split(const char *url, struct place *place)
{
    const char *start = strncmp(url, "http://", 7) == 0 ? url + 7 : url;
    size_t len = strlen(start);

    len -= len > 0 && start[len - 1] == '/';
    if (len >= sizeof place->authority)
        return fail(url, "not http://ADDRESS:PORT");
    snprintf(place->authority, sizeof place->authority, "%.*s", (int)len, start);
    memcpy(place->text, place->authority, sizeof place->text);
    place->host = place->text;
    place->port = HTTP_PORT;
    char *colon = strrchr(place->text, ':');
    if (colon && !strchr(colon, ']')) {
        *colon = '\0';
        place->port = colon + 1;
    }
    len = strlen(place->host);
    if (len > 1 && place->text[0] == '[' && place->text[len - 1] == ']') {
        place->text[len - 1] = '\0';
        place->host++;
    }
    return true;
}

/* A connected socket, or -1. */
static int place_connect(const struct place *place)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    int status = getaddrinfo(place->host, place->port, &hints, &address);

    if (status != 0) {
        fail(place->authority, "not a numeric address and a port");
        return -1;
    }
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        fail(place->authority, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(address);
    return fd;
}

/* Sends the question and reads to the end of the connection, or to `size`. */
static bool ask(int fd, const struct place *place, char *answer, size_t size)
{
    char head[160];
    size_t len = 0;
    ssize_t n = 1;

    snprintf(head, sizeof head, "GET /readyz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
             place->authority);
    if (send(fd, head, strlen(head), MSG_NOSIGNAL) != (ssize_t)strlen(head))
        return fail(place->authority, strerror(errno));
    while (len + 1 < size && (n = recv(fd, answer + len, size - 1 - len, 0)) > 0)
        len += (size_t)n;
    answer[len] = '\0';
    return n >= 0 || fail(place->authority, strerror(errno));
}

static bool is_ready(const struct place *place, char *answer)
{
    if (strncmp(answer, "HTTP/1.1 200 ", 13) == 0)
        return true;
    answer[strcspn(answer, "\r\n")] = '\0';
    return fail(place->authority, *answer ? answer : "no answer");
}

int healthcheck(const char *url)
{
    struct place place;
    char answer[1024];

    signal(SIGALRM, on_alarm);
    alarm(SECONDS_MAX);
    if (!url_split(url, &place))
        return EXIT_FAILURE;
    int fd = place_connect(&place);
    if (fd < 0)
        return EXIT_FAILURE;
    bool ready = ask(fd, &place, answer, sizeof answer) && is_ready(&place, answer);
    close(fd);
    return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
