// SPDX-License-Identifier: Apache-2.0
/*
 * body.h: the body of a request: refused by its announced size before a byte of it is read, or when
 * it grows past the limit. Kept in one buffer for POST; other methods' bodies are read and ignored.
 */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>

struct http_exchange;

#define BODY_ALIGN 64 /* of a body in memory: a cache line, the widest vector */
/* Bytes of a body that means nothing (GET, HEAD, ...) and is read to keep the connection. */
#define BODY_IGNORED_MAX (64 << 10)
/* Bytes read on after a chunked body passed its limit, so that the answer can be sent:
 * libmicrohttpd 0.9 takes none before the end of the body. Beyond this the connection is cut. */
#define BODY_DROPPED_MAX ((size_t)64 << 20)

/* Judges the announced length and makes room; false with an error in the request. */
bool body_begin(struct http_exchange *exchange);
/* Takes the next bytes; false when the connection must be cut. Too much is an error in the request,
 * and the rest of the body is dropped. */
bool body_add(struct http_exchange *exchange, const char *data, size_t len);
/* A complete body in gzip becomes what it holds. Any thread; false with an error in the request. */
bool body_decode(struct http_exchange *exchange);
/* To the handler, which may give its memory back before the request ends. */
void body_hand_over(struct http_exchange *exchange);
void body_release(struct http_exchange *exchange);

#endif
