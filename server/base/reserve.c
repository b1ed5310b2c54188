// SPDX-License-Identifier: Apache-2.0
/*
 * reserve.c: see reserve.h. The reserve is a row of chunks of which some are used; a block is the
 * first run of free chunks that is long enough. Blocks are few and live shortly, so searching is
 * fast enough for times of need.
 */
#include "reserve.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

#define CHUNK ((size_t)256)

static struct {
    pthread_mutex_t lock;
    char *bytes;
    bool *used; /* per chunk */
    size_t chunks_n;
} reserve = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t chunks_of(size_t size)
{
    return size / CHUNK + (size % CHUNK != 0 || size == 0);
}

static bool is_reserved(const void *block)
{
    uintptr_t at = (uintptr_t)block, start = (uintptr_t)reserve.bytes;
    return at >= start && at < start + reserve.chunks_n * CHUNK;
}

bool reserve_open(size_t bytes)
{
    size_t n = chunks_of(bytes);

    if (reserve.bytes)
        return true;
    reserve.used = calloc(n, sizeof *reserve.used);
    reserve.bytes = reserve.used ? aligned_alloc(CHUNK, n * CHUNK) : NULL;
    if (!reserve.bytes) {
        free(reserve.used);
        return false;
    }
    reserve.chunks_n = n;
    return true;
}

/* Number of the first of n free chunks in a row, or chunks_n. */
static size_t find_run(size_t n)
{
    size_t free_n = 0;

    for (size_t i = 0; i < reserve.chunks_n; i++) {
        free_n = reserve.used[i] ? 0 : free_n + 1;
        if (free_n == n)
            return i + 1 - n;
    }
    return reserve.chunks_n;
}

void *reserve_take(size_t size)
{
    size_t n = chunks_of(size);
    void *block = NULL;

    pthread_mutex_lock(&reserve.lock);
    size_t first = find_run(n);
    if (first < reserve.chunks_n) {
        memset(reserve.used + first, true, n * sizeof *reserve.used);
        block = reserve.bytes + first * CHUNK;
    }
    pthread_mutex_unlock(&reserve.lock);
    return block;
}

static void *take_or_die(size_t size)
{
    struct log_line line;
    void *block = reserve_take(size);

    if (block)
        return block;
    log_begin(&line, "killed");
    log_str(&line, "reason", "neither memory nor reserve for arithmetic");
    log_int(&line, "bytes", (int64_t)size);
    log_end(&line);
    abort();
}

void *reserve_malloc(size_t size)
{
    void *block = malloc(size ? size : 1);

    if (!block)
        block = take_or_die(size);
    return block;
}

void *reserve_realloc(void *block, size_t old_size, size_t size)
{
    void *moved = is_reserved(block) ? NULL : realloc(block, size ? size : 1);

    if (moved)
        return moved;
    moved = is_reserved(block) ? reserve_malloc(size) : take_or_die(size);
    memcpy(moved, block, old_size < size ? old_size : size);
    reserve_free(block, old_size);
    return moved;
}

void reserve_free(void *block, size_t size)
{
    if (!is_reserved(block)) {
        free(block);
        return;
    }
    size_t first = (size_t)((char *)block - reserve.bytes) / CHUNK;
    pthread_mutex_lock(&reserve.lock);
    memset(reserve.used + first, false, chunks_of(size) * sizeof *reserve.used);
    pthread_mutex_unlock(&reserve.lock);
}
