// SPDX-License-Identifier: Apache-2.0
/* listen.h: the listening socket, from text. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <stddef.h>

/* Binds and listens at a numeric address with port ("127.0.0.1:8080", "[::1]:0"; port 0: any free
 * one). Writes the URL that reaches it (80 bytes do). Returns the descriptor, or -1 after saying on
 * stderr what failed. */
int listen_open(const char *text, char *url, size_t url_size);

/* From now on lets a connection begin only where none waits to be accepted; those that do stay. */
void listen_narrow(int fd);
/* How many wait; 0 where the kernel does not say. */
unsigned listen_waiting(int fd);

#endif
