// SPDX-License-Identifier: Apache-2.0
/*
 * stream.h: an answer that is made while it is sent (struct stream). Several blocks are made at a
 * time, each on a worker thread, and go out in their order. When the next one is not ready yet the
 * connection is suspended; when the client is slow nothing more is made. So the answer holds the
 * memory of a few blocks, however long it is. Private to http/; loop thread.
 */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include <microhttpd.h>
#include <stdbool.h>

struct http_exchange;

/* Blocks that are made or ready beside the one that is being sent: one for each worker, but no more
 * than keep one loop thread busy. */
#define STREAM_AHEAD_MAX 8

/* If the answer of a request is a stream (but not to HEAD): makes room for it and begins with its
 * first blocks. When others leave no memory for them an error is added. */
void stream_begin(struct http_exchange *exchange);
/* The response that reads from it. NULL without memory. */
struct MHD_Response *stream_response(struct http_exchange *exchange);
/* STEP_SPREAD: the same way for the blocks of a response that is not sent yet; job.done() follows,
 * with the step STEP_SPREAD when all are in response.body, or else STEP_FAILED. */
void stream_gather(struct http_exchange *exchange);
/* Whether the client waits for a block, and not we for the client. */
bool stream_is_awaited(const struct http_exchange *exchange);
/* The answer is over, sent or not. False while blocks are still being made: the exchange is then
 * freed behind the last one. */
bool stream_end(struct http_exchange *exchange);
void stream_free(struct http_exchange *exchange); /* nothing without a stream */

#endif
