// SPDX-License-Identifier: Apache-2.0
/*
 * wire.h: HTTP as bytes on a socket, for tests of what no client library would send. Every wait has
 * a time limit. Header-only, because test programs are one source file each.
 */
#ifndef TESTS_WIRE_H
#define TESTS_WIRE_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define WIRE_WAIT_MS 10000

struct wire {
    int fd;
    char *data; /* received, not yet taken; NUL-terminated */
    size_t len, capacity;
};

struct wire_answer {
    int status; /* 0: the connection ended or stayed silent */
    char *head; /* status line and fields, NUL-terminated */
    char *body; /* NUL-terminated */
    size_t body_len;
};

static inline struct wire wire_open(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct wire wire = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(wire.fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(wire.fd);
        wire.fd = -1;
    }
    return wire;
}

static inline void wire_close(struct wire *wire)
{
    if (wire->fd >= 0)
        close(wire->fd);
    free(wire->data);
    *wire = (struct wire){.fd = -1};
}

/* False when the peer takes no more. */
static inline bool wire_send(struct wire *wire, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(wire->fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static inline bool wire_puts(struct wire *wire, const char *text)
{
    return wire_send(wire, text, strlen(text));
}

/* Waits for more bytes; false at the end of the stream or after `wait_ms`. */
static inline bool wire_more(struct wire *wire, int wait_ms)
{
    struct pollfd ready = {.fd = wire->fd, .events = POLLIN};

    if (!wire->data || wire->len + 65536 > wire->capacity) {
        wire->capacity = 2 * wire->capacity + 65537;
        wire->data = realloc(wire->data, wire->capacity);
        if (!wire->data)
            abort();
    }
    if (poll(&ready, 1, wait_ms) != 1)
        return false;
    ssize_t n = recv(wire->fd, wire->data + wire->len, 65536, 0);
    if (n <= 0)
        return false;
    wire->len += (size_t)n;
    wire->data[wire->len] = '\0';
    return true;
}

/* Whether the peer ends the connection within `wait_ms`; what it still sends is kept. */
static inline bool wire_ends(struct wire *wire, int wait_ms)
{
    struct pollfd ready = {.fd = wire->fd, .events = POLLIN};
    while (wire_more(wire, wait_ms))
        continue;
    char byte;
    return poll(&ready, 1, 0) == 1 && recv(wire->fd, &byte, 1, MSG_PEEK) <= 0;
}

static inline char *wire_take(struct wire *wire, size_t len)
{
    char *text = malloc(len + 1);
    if (!text)
        abort();
    memcpy(text, wire->data, len);
    text[len] = '\0';
    wire->len -= len;
    memmove(wire->data, wire->data + len, wire->len + 1);
    return text;
}

/* Value of a field in an answer's head, as it stands up to the line end; NULL without. */
static inline const char *wire_field(const struct wire_answer *answer, const char *name,
                                     size_t *len)
{
    for (const char *line = strstr(answer->head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        size_t n = strlen(name);
        if (strncasecmp(line, name, n) == 0 && line[n] == ':') {
            line += n + 1 + (line[n + 1] == ' ');
            *len = strcspn(line, "\r");
            return line;
        }
    }
    return NULL;
}

static inline bool wire_field_is(const struct wire_answer *answer, const char *name,
                                 const char *value)
{
    size_t len = 0;
    const char *found = wire_field(answer, name, &len);
    return found && len == strlen(value) && memcmp(found, value, len) == 0;
}

/* Bytes received and not taken become at least `len`; false when they do not come. */
static inline bool wire_fill(struct wire *wire, size_t len, int wait_ms)
{
    while (wire->len < len)
        if (!wire_more(wire, wait_ms))
            return false;
    return true;
}

/* Joins the chunks of a body; false when it breaks off. */
static inline bool wire_chunks(struct wire *wire, struct wire_answer *answer, int wait_ms)
{
    for (size_t len = 1; len > 0;) {
        char *end;
        while (!(end = wire->data ? strstr(wire->data, "\r\n") : NULL))
            if (!wire_more(wire, wait_ms))
                return false;
        size_t line = (size_t)(end + 2 - wire->data);
        len = strtoul(wire->data, NULL, 16);
        if (!wire_fill(wire, line + len + 2, wait_ms))
            return false;
        char *chunk = wire_take(wire, line + len + 2);
        answer->body = realloc(answer->body, answer->body_len + len + 1);
        if (!answer->body)
            abort();
        memcpy(answer->body + answer->body_len, chunk + line, len);
        answer->body_len += len;
        answer->body[answer->body_len] = '\0';
        free(chunk);
    }
    return true;
}

/* Reads one answer, with at most `wait_ms` between its bytes; interim ones (1xx) are answers too.
 * `bodiless` for answers to HEAD. */
static inline struct wire_answer wire_read_within(struct wire *wire, bool bodiless, int wait_ms)
{
    struct wire_answer answer = {0};
    const char *end = NULL;
    size_t len = 0;

    while (!(end = wire->data ? strstr(wire->data, "\r\n\r\n") : NULL))
        if (!wire_more(wire, wait_ms))
            return answer;
    answer.head = wire_take(wire, (size_t)(end + 4 - wire->data));
    const char *length = wire_field(&answer, "Content-Length", &len);
    if (length && !bodiless)
        answer.body_len = strtoul(length, NULL, 10);
    bool chunked = !bodiless && wire_field_is(&answer, "Transfer-Encoding", "chunked");
    if (chunked ? !wire_chunks(wire, &answer, wait_ms)
                : !wire_fill(wire, answer.body_len, wait_ms)) {
        free(answer.head);
        free(answer.body);
        return (struct wire_answer){0};
    }
    if (!chunked)
        answer.body = wire_take(wire, answer.body_len);
    if (strncmp(answer.head, "HTTP/1.1 ", 9) == 0)
        answer.status = (int)strtol(answer.head + 9, NULL, 10);
    return answer;
}

static inline struct wire_answer wire_read(struct wire *wire, bool bodiless)
{
    return wire_read_within(wire, bodiless, WIRE_WAIT_MS);
}

static inline void wire_answer_free(struct wire_answer *answer)
{
    free(answer->head);
    free(answer->body);
    *answer = (struct wire_answer){0};
}

/* One connection, one request, the status of its answer (0: none). */
static inline int wire_status(int port, const char *request, size_t len)
{
    struct wire wire = wire_open(port);
    wire_send(&wire, request, len);
    struct wire_answer answer = wire_read(&wire, false);
    int status = answer.status;

    wire_answer_free(&answer);
    wire_close(&wire);
    return status;
}

#endif
