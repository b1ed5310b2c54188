// SPDX-License-Identifier: Apache-2.0
/*
 * linger.h: closing a connection whose client is still sending. Closing at once would make the
 * kernel reset the connection, and the client could lose the answer it has not yet read (RFC 9112
 * 9.6). So a duplicate of the socket is read and thrown away, within bounds, after libmicrohttpd
 * has sent the answer and closed its own. Loop thread only.
 *
 * All of them share one timer: a poll handle each would need memory and epoll's consent, and libuv
 * ends the process when it does not get these.
 */
#ifndef HTTP_LINGER_H
#define HTTP_LINGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define LINGER_SOCKETS_MAX 64
#define LINGER_MS          2000
#define LINGER_BYTES       (64 << 20)

struct linger_socket {
    int fd;
    size_t left;     /* bytes that are still read */
    uint64_t end_ms; /* of uv_now() */
};

struct linger_list {
    uv_loop_t *loop;
    uv_timer_t timer;
    bool has_timer;
    unsigned n;
    struct linger_socket sockets[LINGER_SOCKETS_MAX];
};

/* Lingers on a duplicate of `fd`; does nothing at the limit, or when it cannot. */
void linger_start(struct linger_list *list, int fd);
/* Gives all of them up; the timer is left for the loop's end. */
void linger_stop_all(struct linger_list *list);

#endif
