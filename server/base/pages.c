// SPDX-License-Identifier: Apache-2.0
/*
 * pages.c: see pages.h. What is kept is one range of addresses, cut into units of a large page, and
 * a bit for each of them: memory is a run of units, the first one that is long enough.
 */
#include "pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* Under AddressSanitizer nobody may touch what is nobody's. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
void __asan_poison_memory_region(const volatile void *memory, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *memory, size_t bytes);
#define FORBID(memory, bytes) __asan_poison_memory_region(memory, bytes)
#define ALLOW(memory, bytes)  __asan_unpoison_memory_region(memory, bytes)
#else
#define FORBID(memory, bytes) ((void)(memory), (void)(bytes))
#define ALLOW(memory, bytes)  ((void)(memory), (void)(bytes))
#endif

#define UNITS ((unsigned)(PAGES_KEPT / PAGES_LARGE))
_Static_assert(UNITS == 64, "a bit of a word for each");

static struct {
    _Atomic(char *) start; /* NULL: there is none, or none yet */
    _Atomic uint64_t taken;
    _Atomic uint64_t recent;    /* given back since the last pages_age() */
    _Atomic uint64_t touched;   /* may have memory of the system's */
    unsigned char units[UNITS]; /* of the run that begins there; its user's */
} kept;

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Large pages for what of the memory they fit in. */
static void wish_large(void *memory, size_t bytes)
{
    size_t before = -(uintptr_t)memory % PAGES_LARGE;
    size_t room = bytes > before ? (bytes - before) / PAGES_LARGE * PAGES_LARGE : 0;

    if (room > 0)
        madvise((char *)memory + before, room, MADV_HUGEPAGE);
}

static void kept_reserve(void)
{
    size_t room = PAGES_KEPT + PAGES_LARGE;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return;
    memory += -(uintptr_t)memory % PAGES_LARGE;
    wish_large(memory, PAGES_KEPT);
    FORBID(memory, PAGES_KEPT);
    kept.start = memory;
}

static uint64_t run_mask(unsigned first, unsigned n)
{
    return (n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX) << first;
}

/* The first of n units in a row that are not taken; UNITS when there are none. */
static unsigned run_find(uint64_t taken, unsigned n)
{
    uint64_t starts = ~taken;

    for (unsigned i = 1; i < n; i++)
        starts &= ~taken >> i;
    return starts ? (unsigned)__builtin_ctzll(starts) : UNITS;
}

static char *unit_at(unsigned unit)
{
    return kept.start + (size_t)unit * PAGES_LARGE;
}

/* Memory for a unit that has none, from one that nobody uses: only addresses change, in 3 us, and
 * no more is resident than has been in use at once. (Linux 5.7; before, the system gives fresh
 * memory.)
 */
static void unit_furnish(unsigned unit)
{
    uint64_t spare = atomic_load_explicit(&kept.touched, memory_order_relaxed) &
                     ~atomic_load_explicit(&kept.taken, memory_order_relaxed);

    for (; spare; spare &= spare - 1) {
        uint64_t other = spare & -spare;
        if (atomic_fetch_or_explicit(&kept.taken, other, memory_order_acquire) & other)
            continue;
        bool moved =
            mremap(unit_at((unsigned)__builtin_ctzll(other)), PAGES_LARGE, PAGES_LARGE,
                   MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, unit_at(unit)) != MAP_FAILED;
        if (moved)
            atomic_fetch_and_explicit(&kept.touched, ~other, memory_order_relaxed);
        atomic_fetch_and_explicit(&kept.taken, ~other, memory_order_release);
        return;
    }
}

/* Takes n units in a row. */
static char *run_take(unsigned n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t taken = atomic_load_explicit(&kept.taken, memory_order_relaxed), mask;
    unsigned first;

    pthread_once(&once, kept_reserve);
    if (!kept.start)
        return NULL;
    do {
        first = run_find(taken, n);
        if (first == UNITS)
            return NULL;
        mask = run_mask(first, n);
    } while (!atomic_compare_exchange_weak_explicit(&kept.taken, &taken, taken | mask,
                                                    memory_order_acquire, memory_order_relaxed));
    uint64_t had = atomic_fetch_or_explicit(&kept.touched, mask, memory_order_relaxed);
    for (uint64_t bare = mask & ~had; bare; bare &= bare - 1)
        unit_furnish((unsigned)__builtin_ctzll(bare));
    kept.units[first] = (unsigned char)n;
    return unit_at(first);
}

static void units_give(unsigned first, unsigned n)
{
    uint64_t mask = run_mask(first, n);

    FORBID(unit_at(first), n * PAGES_LARGE);
    atomic_fetch_or_explicit(&kept.recent, mask, memory_order_relaxed);
    atomic_fetch_and_explicit(&kept.taken, ~mask, memory_order_release);
}

static bool is_kept(const void *memory)
{
    uintptr_t at = (uintptr_t)memory, start = (uintptr_t)kept.start;

    return start && at >= start && at - start < PAGES_KEPT;
}

static unsigned first_unit(const void *memory)
{
    return (unsigned)((size_t)((const char *)memory - kept.start) / PAGES_LARGE);
}

static size_t room_of(const void *memory)
{
    return kept.units[first_unit(memory)] * PAGES_LARGE;
}

void *pages_alloc(size_t bytes)
{
    size_t align = bytes < PAGES_LARGE ? PAGES_ALIGN : PAGES_LARGE;
    void *memory = NULL;

    if (bytes > SIZE_MAX - PAGES_LARGE)
        return NULL;
    if (bytes >= PAGES_FROM && bytes <= PAGES_KEPT)
        memory = run_take((unsigned)(round_up(bytes, PAGES_LARGE) / PAGES_LARGE));
    if (memory) {
        ALLOW(memory, bytes);
        return memory;
    }
    size_t size = round_up(bytes + !bytes, align);
    memory = aligned_alloc(align, size);
    if (memory)
        wish_large(memory, size);
    return memory;
}

/* Makes a run as long as it needs to be for `bytes`, in its place; false where it cannot be. */
static bool run_fit(void *memory, size_t bytes)
{
    size_t room = room_of(memory), wanted = round_up(bytes, PAGES_LARGE);
    unsigned first = first_unit(memory);

    if (bytes < PAGES_FROM || wanted > room)
        return false;
    FORBID(memory, room);
    ALLOW(memory, bytes);
    kept.units[first] = (unsigned char)(wanted / PAGES_LARGE);
    if (wanted < room)
        units_give(first + (unsigned)(wanted / PAGES_LARGE),
                   (unsigned)((room - wanted) / PAGES_LARGE));
    return true;
}

/* To `to`, which has room for them. */
static void *move(void *memory, size_t used, void *to)
{
    if (to && memory)
        memcpy(to, memory, used);
    if (to)
        pages_free(memory);
    return to;
}

void *pages_resize(void *memory, size_t used, size_t bytes)
{
    if (is_kept(memory) && run_fit(memory, bytes))
        return memory;
    if (is_kept(memory) || (bytes >= PAGES_FROM && used < PAGES_FROM))
        return move(memory, used, pages_alloc(bytes));
    void *moved = realloc(memory, bytes); /* if large, without copying */
    if (moved)
        wish_large(moved, bytes);
    return moved;
}

void *pages_settle(void *memory, size_t bytes)
{
    return is_kept(memory) ? move(memory, bytes, malloc(bytes)) : memory;
}

void pages_free(void *memory)
{
    if (is_kept(memory))
        units_give(first_unit(memory), kept.units[first_unit(memory)]);
    else
        free(memory);
}

void pages_age(void)
{
    uint64_t recent = atomic_exchange_explicit(&kept.recent, 0, memory_order_relaxed);
    uint64_t touched = atomic_load_explicit(&kept.touched, memory_order_relaxed);
    uint64_t taken = atomic_load_explicit(&kept.taken, memory_order_relaxed);

    for (uint64_t left = touched & ~recent & ~taken; left; left &= left - 1) {
        uint64_t unit = left & -left;
        /* Nobody's but ours meanwhile. */
        if (atomic_fetch_or_explicit(&kept.taken, unit, memory_order_acquire) & unit)
            continue;
        madvise(unit_at((unsigned)__builtin_ctzll(unit)), PAGES_LARGE, MADV_DONTNEED);
        atomic_fetch_and_explicit(&kept.touched, ~unit, memory_order_relaxed);
        atomic_fetch_and_explicit(&kept.taken, ~unit, memory_order_release);
    }
}
