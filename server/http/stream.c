// SPDX-License-Identifier: Apache-2.0
/*
 * stream.c: see stream.h. The blocks of a stream take their turns in a ring of slots: slot i holds
 * block i, then block i + n, and so on. A slot is a worker's while it is being made and the loop
 * thread's otherwise.
 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "exchange.h"
#include "metrics.h"

/* What libmicrohttpd asks for at a time when the length is known. */
#define READ_BYTES ((size_t)64 << 10)

enum slot_state { SLOT_FREE, SLOT_MAKING, SLOT_READY };

struct stream_slot {
    struct worker_job job;
    struct http_exchange *exchange;
    struct stream_block block;
    enum slot_state state;
    enum err_code failure; /* ERR_CODES_N: none */
};

struct stream_run {
    const struct stream *stream;
    size_t begun, sent; /* blocks */
    size_t offset;      /* in the block that is being sent */
    unsigned making;    /* slots that are a worker's */
    bool waiting;       /* the connection is suspended for a block */
    bool gathers;       /* blocks are appended to response.body */
    bool failed, ended; /* a block cannot be made; nobody reads any more */
    size_t held;        /* bytes of the budget */
    unsigned slots_n;
    struct stream_slot slots[];
};

/* ---- Making blocks ------------------------------------------------------------------------- */

static struct stream_slot *slot_of(struct stream_run *run, size_t block)
{
    return &run->slots[block % run->slots_n];
}

static struct stream_slot *slot_of_job(struct worker_job *job)
{
    return (struct stream_slot *)((char *)job - offsetof(struct stream_slot, job));
}

/* On a pool thread. */
static void slot_make(struct worker_job *job)
{
    struct stream_slot *slot = slot_of_job(job);

    slot->failure = block_make(&slot->block, &slot->exchange->request);
}

/* Gives the workers what there is room for. */
static void blocks_begin(struct http_exchange *exchange)
{
    struct stream_run *run = exchange->stream;
    struct http_service *service = exchange->service;

    while (run->begun < run->stream->blocks_n && run->begun < run->sent + run->slots_n) {
        if (run->stream->last_alone && run->begun + 1 == run->stream->blocks_n && run->making > 0)
            return;
        struct stream_slot *slot = slot_of(run, run->begun);
        slot->state = SLOT_MAKING;
        slot->block.index = run->begun++;
        run->making++;
        if (!run->gathers)
            exchange->request.deadline_ns =
                clock_ns() + service->options.deadline_ms * UINT64_C(1000000);
        worker_submit_part(&service->pool, &slot->job);
    }
}

static void stream_fail(struct http_exchange *exchange, enum err_code why)
{
    if (!exchange->stream->failed)
        err_add(&exchange->request.err, why, NULL, why == ERR_internal ? NULL : "try again later",
                "a part of the answer was not made");
    exchange->stream->failed = true;
}

/* The slot of the next block to go, if it is ready. */
static struct stream_slot *slot_ready(struct stream_run *run)
{
    if (run->sent == run->stream->blocks_n)
        return NULL;
    struct stream_slot *slot = slot_of(run, run->sent);
    return slot->state == SLOT_READY ? slot : NULL;
}

/* Its bytes are where they go to. */
static void slot_release(struct stream_run *run, struct stream_slot *slot)
{
    slot->state = SLOT_FREE;
    run->sent++;
}

/* Appends what is ready; behind the last block, or the last one that is still being made after one
 * has failed, the request goes on. */
static void blocks_gather(struct http_exchange *exchange)
{
    struct stream_run *run = exchange->stream;
    struct stream_slot *slot;
    size_t len;

    while (!run->failed && (slot = slot_ready(run))) {
        const char *data = block_data(&slot->block, &len);
        buf_append(&exchange->request.response.body, data, len);
        slot_release(run, slot);
        if (exchange->request.response.body.failed)
            stream_fail(exchange, ERR_overloaded);
    }
    if (!run->failed)
        blocks_begin(exchange);
    if (run->making > 0)
        return;
    exchange->step = run->failed ? STEP_FAILED : STEP_SPREAD;
    exchange->request.response.stream = NULL;
    stream_free(exchange);
    exchange->job.done(&exchange->job);
}

static void slot_made(struct worker_job *job)
{
    struct stream_slot *slot = slot_of_job(job);
    struct http_exchange *exchange = slot->exchange;
    struct stream_run *run = exchange->stream;

    slot->state = SLOT_READY;
    run->making--;
    if (run->ended) {
        if (run->making == 0)
            exchange_free(exchange);
        return;
    }
    if (slot->failure != ERR_CODES_N)
        stream_fail(exchange, slot->failure);
    if (run->gathers) {
        blocks_gather(exchange);
        return;
    }
    blocks_begin(exchange); /* the last one may have waited for this */
    if (run->waiting && (run->failed || slot_of(run, run->sent) == slot)) {
        run->waiting = false;
        MHD_resume_connection(exchange->connection);
        service_drive(exchange->service);
    }
}

/* ---- Sending them -------------------------------------------------------------------------- */

/* Copies what there is room for; the slot is free again behind its last byte. */
static size_t block_send(struct stream_run *run, struct stream_slot *slot, char *to, size_t room)
{
    size_t len;
    const char *data = block_data(&slot->block, &len);
    size_t n = len - run->offset < room ? len - run->offset : room;

    if (n > 0) /* empty blocks may have no data */
        memcpy(to, data + run->offset, n);
    run->offset += n;
    if (run->offset == len) {
        run->offset = 0;
        slot_release(run, slot);
    }
    return n;
}

/* libmicrohttpd asks for the next bytes. */
static ssize_t stream_read(void *cls, uint64_t position, char *to, size_t room)
{
    struct http_exchange *exchange = cls;
    struct stream_run *run = exchange->stream;
    struct stream_slot *slot;
    size_t n = 0;
    (void)position;

    exchange->service->turns = 0;
    if (atomic_load_explicit(&exchange->service->hurry, memory_order_relaxed))
        stream_fail(exchange, ERR_draining); /* nothing may be suspended from now on */
    if (run->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    while (n < room && (slot = slot_ready(run)))
        n += block_send(run, slot, to + n, room - n);
    blocks_begin(exchange);
    exchange->answer_bytes += n;
    if (n > 0)
        return (ssize_t)n;
    if (run->sent == run->stream->blocks_n) {
        if (run->stream->len == STREAM_LEN_UNKNOWN)
            return MHD_CONTENT_READER_END_OF_STREAM;
        stream_fail(exchange, ERR_internal); /* shorter than announced */
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    run->waiting = true;
    MHD_suspend_connection(exchange->connection);
    return 0;
}

struct MHD_Response *stream_response(struct http_exchange *exchange)
{
    uint64_t len = exchange->request.response.stream->len;

    return MHD_create_response_from_callback(len == STREAM_LEN_UNKNOWN ? MHD_SIZE_UNKNOWN : len,
                                             READ_BYTES, stream_read, exchange, NULL);
}

bool stream_is_awaited(const struct http_exchange *exchange)
{
    return exchange->stream && exchange->stream->waiting;
}

/* ---- Begin and end ------------------------------------------------------------------------- */

void stream_free(struct http_exchange *exchange)
{
    struct stream_run *run = exchange->stream;

    if (!run)
        return;
    for (unsigned i = 0; i < run->slots_n; i++)
        block_close(&run->slots[i].block);
    budget_give(&exchange->service->memory, run->held);
    free(run);
    exchange->stream = NULL;
}

/* Room for the slots, if the budget allows what they will hold. */
static bool run_new(struct http_exchange *exchange, unsigned slots_n)
{
    const struct stream *stream = exchange->request.response.stream;
    struct budget *memory = &exchange->service->memory;
    size_t held = READ_BYTES + slots_n * block_room(stream);

    if (!budget_take(memory, held))
        return false;
    struct stream_run *run = calloc(1, sizeof *run + slots_n * sizeof run->slots[0]);
    if (!run) {
        budget_give(memory, held);
        return false;
    }
    *run = (struct stream_run){.stream = stream, .held = held, .slots_n = slots_n};
    exchange->stream = run;
    bool ok = true;
    for (unsigned i = 0; i < slots_n; i++) {
        struct stream_slot *slot = &run->slots[i];
        *slot = (struct stream_slot){.job = {.run = slot_make, .done = slot_made},
                                     .exchange = exchange,
                                     .failure = ERR_CODES_N};
        ok = block_open(&slot->block, stream) && ok;
    }
    if (!ok)
        stream_free(exchange);
    return ok;
}

/* Room for as many slots as the stream can use; false when others leave no memory for them. */
static bool run_open(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;
    const struct stream *stream = request->response.stream;
    unsigned workers = exchange->service->pool.workers;
    size_t slots_n = 1 + (size_t)(workers < STREAM_AHEAD_MAX ? workers : STREAM_AHEAD_MAX);

    if (slots_n > stream->blocks_n)
        slots_n = stream->blocks_n;
    if (run_new(exchange, (unsigned)slots_n))
        return true;
    request->err.retry_after_s = 1;
    return err_add(&request->err, ERR_overloaded, NULL, "try again later",
                   "no memory for blocks of %zu bytes beside other requests", stream->block_bytes);
}

void stream_begin(struct http_exchange *exchange)
{
    const struct request *request = &exchange->request;

    if (!request->response.stream || request->method == METHOD_HEAD || request->arena.over_budget ||
        !run_open(exchange))
        return;
    metric_add(METRIC_streams, 1);
    blocks_begin(exchange);
}

void stream_gather(struct http_exchange *exchange)
{
    if (!run_open(exchange)) {
        exchange->step = STEP_FAILED;
        exchange->job.done(&exchange->job);
        return;
    }
    exchange->stream->gathers = true;
    blocks_gather(exchange);
}

bool stream_end(struct http_exchange *exchange)
{
    struct stream_run *run = exchange->stream;

    if (!run)
        return true;
    run->ended = true;
    return run->making == 0;
}
