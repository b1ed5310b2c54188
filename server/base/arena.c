// SPDX-License-Identifier: Apache-2.0
/*
 * arena.c: bump allocation out of a list of chunks. Small requests share chunks of CHUNK_BYTES; a
 * large one gets a chunk of its own, placed behind the current one so that its room is not lost.
 */
#include "arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "pages.h"

#define CHUNK_BYTES ((size_t)16 << 10)
#define LARGE_BYTES ARENA_ALIGNED_FROM /* from here on: a chunk of its own */
#define LINE        64

struct arena_chunk {
    struct arena_chunk *older;
    size_t size, used; /* of data */
    alignas(LINE) char data[];
};

void arena_init(struct arena *arena, size_t bytes_max)
{
    *arena = (struct arena){.bytes_max = bytes_max};
}

void arena_release(struct arena *arena)
{
    for (struct arena_chunk *chunk = arena->chunks, *older; chunk; chunk = older) {
        older = chunk->older;
        if (chunk != arena->lent)
            pages_free(chunk);
    }
    if (arena->budget)
        budget_give(arena->budget, arena->bytes);
    *arena = (struct arena){.bytes_max = arena->bytes_max, .budget = arena->budget};
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void *chunk_take(struct arena_chunk *chunk, size_t size)
{
    size_t start = round_up(chunk->used, size >= LARGE_BYTES ? LINE : 16);
    if (start > chunk->size || size > chunk->size - start)
        return NULL;
    chunk->used = start + size;
    return chunk->data + start;
}

static bool budget_allows(struct arena *arena, size_t room)
{
    if (!arena->budget)
        return true;
    if (arena->unasked + room <= ARENA_SMALL_BYTES) {
        arena->unasked += room;
        budget_take_anyway(arena->budget, room);
        return true;
    }
    bool allowed = budget_take(arena->budget, room);
    arena->over_budget |= !allowed;
    return allowed;
}

void arena_lend(struct arena *arena, void *memory, size_t bytes)
{
    struct arena_chunk *chunk = memory;
    size_t room = bytes - sizeof *chunk;

    if (room > arena->bytes_max || !budget_allows(arena, room))
        return;
    *chunk = (struct arena_chunk){.size = room};
    arena->chunks = chunk;
    arena->lent = chunk;
    arena->bytes = room;
}

/* Adds a chunk with room for `size` bytes; NULL past the cap or without memory. */
static struct arena_chunk *add_chunk(struct arena *arena, size_t size)
{
    size_t left = arena->bytes_max - arena->bytes;
    if (size > left || size > SIZE_MAX - sizeof(struct arena_chunk) - LINE)
        return NULL;
    size_t room = size >= LARGE_BYTES ? size : left < CHUNK_BYTES ? left : CHUNK_BYTES;
    if (!budget_allows(arena, room))
        return NULL;
    struct arena_chunk *chunk = pages_alloc(sizeof *chunk + room);
    if (!chunk) {
        arena->over_budget = true;
        if (arena->budget)
            budget_give(arena->budget, room);
        return NULL;
    }
    struct arena_chunk **place = &arena->chunks;
    if (size >= LARGE_BYTES && *place)
        place = &(*place)->older;
    *chunk = (struct arena_chunk){.older = *place, .size = room};
    *place = chunk;
    arena->bytes += room;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *at = arena->chunks ? chunk_take(arena->chunks, size) : NULL;
    if (at)
        return at;
    struct arena_chunk *chunk = add_chunk(arena, size);
    return chunk ? chunk_take(chunk, size) : NULL;
}

void *arena_calloc(struct arena *arena, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    void *at = arena_alloc(arena, bytes);
    return at ? memset(at, 0, bytes) : NULL;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? arena_alloc(arena, len + 1) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}
