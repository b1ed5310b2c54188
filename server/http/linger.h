// SPDX-License-Identifier: Apache-2.0
/*
 * linger.h: closing a connection whose client is still sending. Closing at once would make the
 * kernel reset the connection, and the client could lose the answer it has not yet read (RFC 9112
 * 9.6). So a duplicate of the socket is read and thrown away, within bounds, after libmicrohttpd
 * has sent the answer and closed its own. Loop thread only.
 */
#ifndef HTTP_LINGER_H
#define HTTP_LINGER_H

#include <uv.h>

#define LINGER_SOCKETS_MAX 64
#define LINGER_MS          2000
#define LINGER_BYTES       (64 << 20)

struct linger_socket;

struct linger_list {
    uv_loop_t *loop;
    struct linger_socket *first;
    unsigned n;
};

/* Lingers on a duplicate of `fd`; does nothing at the limit, or when it cannot. */
void linger_start(struct linger_list *list, int fd);
/* Gives all of them up; the loop must run once more for their handles to close. */
void linger_stop_all(struct linger_list *list);

#endif
