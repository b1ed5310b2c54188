// SPDX-License-Identifier: Apache-2.0
/*
 * arena.h: memory that lives as long as one request and is freed in one call. Grows by chunks up
 * to a byte cap; past the cap (or without memory) allocations give NULL, which callers turn into an
 * error. Not thread-safe: one request is only ever in one thread's hands.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    size_t bytes_max; /* cap on `bytes` */
    size_t bytes;     /* taken from the system so far, without the heads of chunks */
};

void arena_init(struct arena *arena, size_t bytes_max);
void arena_release(struct arena *arena);
/* `size` bytes aligned to 64 for sizes >= 4096, else to 16; not zeroed. NULL past the cap. */
void *arena_alloc(struct arena *arena, size_t size);
/* n elements of `size` bytes, zeroed; NULL on overflow or past the cap. */
void *arena_calloc(struct arena *arena, size_t n, size_t size);
/* Copies of text, NUL-terminated; NULL past the cap. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
