// SPDX-License-Identifier: Apache-2.0
/* block.c: see block.h. */
#include "block.h"

#include <stdlib.h>

#define SCRATCH_ALIGN 64

static size_t scratch_room(const struct stream *stream)
{
    return (stream->scratch_bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

size_t block_room(const struct stream *stream)
{
    return stream->block_bytes + scratch_room(stream);
}

bool block_open(struct stream_block *block, const struct stream *stream)
{
    size_t scratch = scratch_room(stream);

    *block = (struct stream_block){.index = 0};
    buf_init(&block->out, stream->block_bytes);
    block->scratch = scratch > 0 ? aligned_alloc(SCRATCH_ALIGN, scratch) : NULL;
    return scratch == 0 || block->scratch;
}

void block_close(struct stream_block *block)
{
    buf_release(&block->out);
    free(block->scratch);
    block->scratch = NULL;
}

enum err_code block_make(struct stream_block *block, const struct request *request)
{
    const struct stream *stream = request->response.stream;

    block->out.len = 0;
    block->data = NULL;
    if (!request_expired(request) && buf_reserve(&block->out, stream->block_bytes) &&
        stream->make(request, block) && !block->out.failed)
        return ERR_CODES_N;
    return block->out.failed          ? ERR_overloaded
           : request_expired(request) ? ERR_deadline
                                      : ERR_internal;
}

const char *block_data(const struct stream_block *block, size_t *len)
{
    *len = block->data ? block->len : block->out.len;
    return block->data ? block->data : block->out.data;
}
