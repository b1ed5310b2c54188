// SPDX-License-Identifier: Apache-2.0
/* block.h: room for one block of a stream, and making it there. Private to http/; any thread. */
#ifndef HTTP_BLOCK_H
#define HTTP_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "request.h"

/* Most bytes that a block of this stream holds. */
size_t block_room(const struct stream *stream);
/* False without memory, with nothing to close. */
bool block_open(struct stream_block *block, const struct stream *stream);
void block_close(struct stream_block *block);
/* Makes block->index of the request's stream. ERR_CODES_N, or why there is none. */
enum err_code block_make(struct stream_block *block, const struct request *request);
/* Its bytes. */
const char *block_data(const struct stream_block *block, size_t *len);

#endif
