// SPDX-License-Identifier: Apache-2.0
/*
 * blocks.c: see blocks.h. Rows of a tensor come from its memory, or are made when their block is:
 * then no tensor of the answer is ever held as a whole.
 */
#include "blocks.h"

#include <string.h>

#include "job.h"
#include "pieces.h"

#define BLOCK_BYTES  ((size_t)128 << 10)
#define SPREAD_BYTES ((size_t)1 << 20) /* from which on several workers take part */
/* A text that is expected to be longer has no digest; one of less gets it if it is short enough. */
#define TEXT_BYTES_MAX  (DIGEST_BYTES_MAX + DIGEST_BYTES_MAX / 4)
#define SAMPLE_ELEMENTS 512 /* at the beginning, in the middle and at the end of a tensor */
#define SCRATCH_LINE    64
#define GUESS_MARGIN    32 /* of the length of a text: a part */

struct blocks {
    struct pieces pieces;
    struct stream stream;
    size_t first[PIECES_MAX];   /* block of each piece */
    size_t at_once[PIECES_MAX]; /* rows in a block of it */
    _Atomic uint64_t fill_ns;
};

static size_t round_up(size_t bytes)
{
    return (bytes + SCRATCH_LINE - 1) / SCRATCH_LINE * SCRATCH_LINE;
}

/* ---- Making a block ------------------------------------------------------------------------ */

/* Rows [first, first + n) of an output into `out`. */
static void rows_fill(const struct job *job, const struct output *output, size_t first, size_t n,
                      void *out, void *scratch)
{
    uint64_t start = clock_ns();
    output->fill(job, output, first, n, out, scratch);
    atomic_fetch_add_explicit(&job->blocks->fill_ns, clock_ns() - start, memory_order_relaxed);
}

/* Elements as they stand in memory. */
static void rows_as_bytes(const struct job *job, const struct piece *piece, size_t first, size_t n,
                          struct stream_block *block)
{
    const struct output *output = piece->output;
    const char *data = output->node->as.tensor.data;
    if (data) {
        block->data = data + first * piece->row_bytes;
        block->len = n * piece->row_bytes;
    } else if (buf_reserve(&block->out, n * piece->row_bytes)) {
        rows_fill(job, output, first, n, block->out.data + block->out.len, block->scratch);
        block->out.len += n * piece->row_bytes;
    }
}

/* Elements as text; without memory of their own they are made behind the scratch of `fill`. */
static void rows_as_text(const struct job *job, const struct piece *piece, size_t first, size_t n,
                         struct stream_block *block)
{
    const struct output *output = piece->output;
    const char *data = output->node->as.tensor.data;
    if (data) {
        data += first * piece->row_bytes;
    } else {
        char *made = (char *)block->scratch + round_up(output->scratch + n * output->row_scratch);
        rows_fill(job, output, first, n, made, block->scratch);
        data = made;
    }
    pieces_print(job, piece, first, n, data, &block->out);
}

static bool block_make(const struct request *request, struct stream_block *block)
{
    struct job *job = request->state;
    struct blocks *blocks = job->blocks;
    size_t i = blocks->pieces.n - 1;
    while (blocks->first[i] > block->index)
        i--;
    const struct piece *piece = &blocks->pieces.piece[i];
    if (!piece->output)
        return pieces_text(job, &blocks->pieces, piece, &block->data, &block->len);
    size_t first = (block->index - blocks->first[i]) * blocks->at_once[i];
    size_t left = piece->rows - first;
    (format_is_binary(job->format) ? rows_as_bytes : rows_as_text)(
        job, piece, first, left < blocks->at_once[i] ? left : blocks->at_once[i], block);
    return true;
}

/* ---- Cutting ------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void piece_cut(struct blocks *blocks, size_t i, bool binary)
{
    const struct piece *piece = &blocks->pieces.piece[i];
    struct stream *stream = &blocks->stream;
    blocks->first[i] = stream->blocks_n++;
    if (!piece->output)
        return;
    size_t at_once = piece->row_max < BLOCK_BYTES ? BLOCK_BYTES / piece->row_max : 1;
    at_once = at_once < piece->rows ? at_once : piece->rows;
    blocks->at_once[i] = at_once;
    stream->blocks_n = blocks->first[i] + (piece->rows + at_once - 1) / at_once;
    stream->block_bytes = larger(stream->block_bytes, at_once * piece->row_max + PIECES_SLACK);
    size_t scratch = piece->output->scratch + at_once * piece->output->row_scratch;
    if (!binary)
        scratch = round_up(scratch) + at_once * piece->row_bytes;
    stream->scratch_bytes =
        larger(stream->scratch_bytes, piece->output->node->as.tensor.data ? 0 : scratch);
}

static bool blocks_cut(struct job *job)
{
    struct blocks *blocks = job->blocks = arena_calloc(&job->request->arena, 1, sizeof *blocks);
    bool binary = format_is_binary(job->format);
    if (!blocks || !tree_ok(job->answer.root) || !pieces_list(&blocks->pieces, job))
        return false;
    blocks->stream = (struct stream){.last_alone = true, .make = block_make};
    for (size_t i = 0; i < blocks->pieces.n; i++)
        piece_cut(blocks, i, binary);
    blocks->stream.len = binary ? blocks->pieces.bytes : STREAM_LEN_UNKNOWN;
    return true;
}

/* ---- The answer ---------------------------------------------------------------------------- */

/* Whoever calls makes all blocks, one after the other. */
static bool blocks_make(struct job *job)
{
    struct request *request = job->request;
    struct blocks *blocks = job->blocks;
    struct stream_block block = {.out = request->response.body};
    block.scratch = job_scratch(job, blocks->stream.scratch_bytes);
    bool ok = block.scratch;
    for (; ok && block.index < blocks->stream.blocks_n; block.index++) {
        block.data = NULL;
        ok = !job_expired(job) && block_make(request, &block);
        if (ok && block.data)
            buf_append(&block.out, block.data, block.len);
        ok = ok && !block.out.failed;
    }
    request->response.body = block.out;
    return ok;
}

/* Bytes of some rows of a piece, as if all rows were like them. */
static size_t rows_measure(const struct job *job, const struct piece *piece,
                           struct stream_block *block)
{
    size_t row = job_output_row(piece->output), printed = 0;
    size_t n = row < SAMPLE_ELEMENTS ? SAMPLE_ELEMENTS / row : 1;
    n = n < piece->rows ? n : piece->rows;
    for (size_t third = 0; third < 3; third++) {
        block->out.len = 0;
        rows_as_text(job, piece, (piece->rows - n) * third / 2, n, block);
        printed += block->out.len;
    }
    return (size_t)((double)printed / (double)(3 * n) * (double)piece->rows);
}

/* Replaces the guess of how long a text will be, where much depends on it. */
static bool blocks_measure(struct job *job)
{
    struct pieces *pieces = &job->blocks->pieces;
    if (format_is_binary(job->format) || pieces->bytes < DIGEST_BYTES_MAX / 2)
        return true;
    struct stream_block block = {.scratch = job_scratch(job, job->blocks->stream.scratch_bytes)};
    buf_init(&block.out, job->blocks->stream.block_bytes);
    pieces->bytes = 0;
    for (size_t i = 0; block.scratch && i < pieces->n; i++)
        if (pieces->piece[i].output)
            pieces->bytes += rows_measure(job, &pieces->piece[i], &block);
    bool ok = block.scratch && !block.out.failed;
    buf_release(&block.out);
    return ok;
}

/* To be held as a whole. A pin and a content coding need it so. */
static bool is_too_long(const struct job *job, size_t bytes)
{
    const struct delivery *delivery = &job->delivery;
    size_t most = format_is_binary(job->format) ? DIGEST_BYTES_MAX : TEXT_BYTES_MAX;
    return bytes > most && !delivery->pin && delivery->coding == CODING_IDENTITY;
}

/* Tensors that a client has sent, as they are now, are sent from where they are. */
static bool blocks_span(struct job *job)
{
    struct response *response = &job->request->response;
    const struct pieces *pieces = &job->blocks->pieces;
    bool ok = job->request->method == METHOD_POST && format_is_binary(job->format) &&
              job->delivery.coding == CODING_IDENTITY;
    size_t n = 0;
    for (size_t i = 0; ok && i < pieces->n; i++) {
        const struct piece *piece = &pieces->piece[i];
        if (!piece->output)
            continue;
        const void *data = piece->output->node->as.tensor.data;
        ok = data && n < REQUEST_SPANS_MAX;
        if (ok)
            response->spans[n++] = (struct span){data, piece->rows * piece->row_bytes};
    }
    if (ok) {
        buf_append(&response->body, pieces->text.data, pieces->text.len);
        response->spans_n = n;
    }
    return ok && !response->body.failed;
}

enum step blocks_write(struct job *job, bool may_wait)
{
    struct request *request = job->request;
    if (blocks_cut(job) && blocks_measure(job)) {
        if (blocks_span(job))
            return STEP_DONE;
        size_t bytes = job->blocks->pieces.bytes;
        if (format_is_binary(job->format) && !delivery_pin_fits(request, &job->delivery, bytes))
            return STEP_FAILED; /* how long a text is shows when it is made */
        bool stream = is_too_long(job, bytes);
        if (stream || (may_wait && bytes >= SPREAD_BYTES && job->app->options.workers > 1))
            request->response.stream = &job->blocks->stream;
        if (stream)
            return STEP_DONE;
        /* So that it need not move as it grows. */
        buf_reserve(&request->response.body, bytes + bytes / GUESS_MARGIN);
        if (request->response.stream)
            return STEP_SPREAD;
        if (blocks_make(job))
            return STEP_DONE;
    }
    if (request->err.n == 0)
        err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
    return STEP_FAILED;
}

/* ---- Work in parts ------------------------------------------------------------------------- */

static bool part_make(const struct request *request, struct stream_block *block)
{
    const struct job *job = request->state;
    job->part(job, block->index, block->scratch);
    return true;
}

enum step parts_run(struct job *job, bool may_wait)
{
    if (job->parts_done || job->parts_n == 0)
        return STEP_DONE;
    job->parts_done = true;
    if (may_wait && job->parts_n > 1 && job->app->options.workers > 1) {
        job->parts = (struct stream){
            .blocks_n = job->parts_n, .scratch_bytes = job->part_scratch, .make = part_make};
        job->request->response.stream = &job->parts;
        return STEP_SPREAD;
    }
    char *scratch = job_scratch(job, job->part_scratch);
    for (size_t i = 0; scratch && i < job->parts_n; i++) {
        if (job_expired(job))
            return STEP_FAILED;
        job->part(job, i, scratch);
    }
    return scratch ? STEP_DONE : STEP_FAILED;
}

void blocks_release(struct blocks *blocks)
{
    if (blocks)
        pieces_release(&blocks->pieces);
}

uint64_t blocks_compute_ns(const struct blocks *blocks)
{
    return blocks->fill_ns;
}
