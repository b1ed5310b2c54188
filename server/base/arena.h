// SPDX-License-Identifier: Apache-2.0
/*
 * arena.h: memory that lives as long as one request and is freed in one call. Grows by chunks up
 * to a byte cap; past the cap (or without memory) allocations give NULL, which callers turn into an
 * error. Not thread-safe: one request is only ever in one thread's hands.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* What an arena takes of a shared budget without asking, so that small requests always work. */
#define ARENA_SMALL_BYTES ((size_t)64 << 10)

struct arena_chunk;
struct budget;

struct arena {
    struct arena_chunk *chunks;
    size_t bytes_max;      /* cap on `bytes` */
    size_t bytes;          /* taken from the system so far, without the heads of chunks */
    struct budget *budget; /* shared with others, or NULL */
    size_t unasked;        /* taken of it without asking; 0 again gives room for a last word */
    bool over_budget;      /* an allocation failed because others hold the memory, or all */
    const void *lent;      /* a chunk that is not ours to free */
};

/* No budget; set it before the first allocation. */
void arena_init(struct arena *arena, size_t bytes_max);
void arena_release(struct arena *arena);
/* Memory for an empty arena to begin with, aligned to 64; it stays the lender's and counts like
 * that of the system. */
void arena_lend(struct arena *arena, void *memory, size_t bytes);
/* `size` bytes aligned to 64 from ARENA_ALIGNED_FROM on, else to 16; not zeroed. NULL past the cap.
 */
#define ARENA_ALIGNED_FROM ((size_t)4096)
void *arena_alloc(struct arena *arena, size_t size);
/* n elements of `size` bytes, zeroed; NULL on overflow or past the cap. */
void *arena_calloc(struct arena *arena, size_t n, size_t size);
/* Copies of text, NUL-terminated; NULL past the cap. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
