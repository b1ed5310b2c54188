// SPDX-License-Identifier: Apache-2.0
/*
 * farewell.h: the answer to a request that will not be read to its end. libmicrohttpd takes none
 * then, so it goes straight to the socket, on which nothing else is under way; closing is left to
 * the caller.
 */
#ifndef HTTP_FAREWELL_H
#define HTTP_FAREWELL_H

enum farewell { FAREWELL_BAD_CHUNK, FAREWELL_TOO_LARGE, FAREWELL_TOO_SLOW };

/* A complete short answer, if the socket takes it at once. */
void farewell_send(int fd, enum farewell farewell);

#endif
