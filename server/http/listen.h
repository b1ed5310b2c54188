// SPDX-License-Identifier: Apache-2.0
/* listen.h: the listening socket, from text. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

union listen_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Binds and listens at a numeric address with port ("127.0.0.1:8080", "[::1]:0"; port 0: any free
 * one). Writes the URL that reaches it (80 bytes do). Returns the descriptor, or -1 after saying on
 * stderr what failed. */
int listen_open(const char *text, char *url, size_t url_size);

/* From now on lets no connection begin; those that wait to be accepted stay. */
void listen_refuse(int fd);
/* The next of those, or -1. */
int listen_accept(int listening, union listen_address *address, socklen_t *size);

#endif
