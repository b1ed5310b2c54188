// SPDX-License-Identifier: Apache-2.0
/* test_pages.c: memory of any size; what is large is used again, and goes back when it is not. */
#include "pages.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS_N  3000
#define THREADS_N 4
#define HELD_N    6

static const size_t sizes[] = {
    0, 1, 100, PAGES_LARGE - 1, PAGES_LARGE, PAGES_LARGE + 1, PAGES_KEPT, PAGES_KEPT + 1};

Test(pages, memory_of_any_size_can_be_written_to)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *memory = pages_alloc(sizes[i]);
        cr_assert_not_null(memory, "%zu", sizes[i]);
        cr_expect_eq((uintptr_t)memory % PAGES_ALIGN, 0, "%zu", sizes[i]);
        if (sizes[i] > 0)
            memory[0] = memory[sizes[i] - 1] = 1;
        pages_free(memory);
    }
    cr_expect_null(pages_alloc(SIZE_MAX));
    pages_free(NULL);
    pages_free(malloc(10));
}

Test(pages, large_memory_is_used_again)
{
    char *first = pages_alloc(3 * PAGES_LARGE), *second = pages_alloc(PAGES_LARGE);
    cr_assert(first && second);
    pages_free(first);
    char *again = pages_alloc(2 * PAGES_LARGE + 1);
    cr_expect_eq(again, first, "what fits where others were lies there");
    char *longer = pages_alloc(4 * PAGES_LARGE);
    cr_expect_gt((uintptr_t)longer, (uintptr_t)second, "what does not lies elsewhere");
    pages_free(again);
    pages_free(second);
    pages_free(longer);
    cr_expect_eq(pages_alloc(PAGES_KEPT), first, "all of it is free again");
}

Test(pages, what_does_not_fit_in_any_more_is_mallocs)
{
    char *all = pages_alloc(PAGES_KEPT), *more = pages_alloc(PAGES_LARGE);
    cr_assert(all && more);
    cr_expect(more < all || more >= all + PAGES_KEPT);
    memset(more, 1, PAGES_LARGE);
    char *longer = pages_resize(more, PAGES_LARGE, 3 * PAGES_LARGE);
    cr_assert_not_null(longer);
    cr_expect_eq(longer[PAGES_LARGE - 1], 1);
    pages_free(longer);
    pages_free(all);
}

/* From one size to another, over all pairs. */
Test(pages, resizing_keeps_what_is_used)
{
    static const size_t used[] = {10, 5000, PAGES_FROM - 1, PAGES_LARGE, 3 * PAGES_LARGE + 5};
    static const size_t n = sizeof used / sizeof *used;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            size_t kept = used[i] < used[k] ? used[i] : used[k];
            char *memory = pages_alloc(used[i]);
            for (size_t at = 0; at < used[i]; at++)
                memory[at] = (char)(at * 7 + at / 1000);
            memory = pages_resize(memory, kept, used[k]);
            cr_assert_not_null(memory);
            size_t same = 0;
            while (same < kept && memory[same] == (char)(same * 7 + same / 1000))
                same++;
            cr_expect_eq(same, kept, "%zu -> %zu", used[i], used[k]);
            memory[used[k] - 1] = 1;
            pages_free(memory);
        }
    char *all = pages_alloc(PAGES_KEPT);
    pages_free(all);
    char *long_one = pages_alloc(6 * PAGES_LARGE);
    cr_expect_eq(pages_resize(long_one, 100, 2 * PAGES_LARGE), long_one, "shorter in its place");
    cr_expect_eq(pages_alloc(PAGES_LARGE), long_one + 2 * PAGES_LARGE, "and the rest is free");
    cr_expect_eq(all, long_one, "nothing was left of the above");
    char *fresh = pages_resize(NULL, 0, PAGES_LARGE);
    cr_expect_not_null(fresh);
}

Test(pages, what_stays_for_long_takes_nobodys_place)
{
    char *memory = pages_alloc(PAGES_LARGE + 10);
    memset(memory, 5, PAGES_LARGE + 10);
    char *settled = pages_settle(memory, PAGES_LARGE + 10);
    cr_assert_neq(settled, memory);
    cr_expect_eq(settled[PAGES_LARGE + 9], 5);
    cr_expect_eq(pages_alloc(PAGES_LARGE), memory);
    cr_expect_eq(pages_settle(settled, PAGES_LARGE + 10), settled, "it has settled");
    pages_free(settled);
}

/* Bytes of [memory, memory + bytes) that have memory of the system's. */
static size_t resident(void *memory, size_t bytes)
{
    static unsigned char pages[PAGES_KEPT / 4096];
    size_t n = 0;
    cr_assert_eq(mincore(memory, bytes, pages), 0);
    for (size_t i = 0; i < bytes / 4096; i++)
        n += pages[i] & 1;
    return n * 4096;
}

Test(pages, what_nobody_uses_goes_back)
{
    size_t bytes = 4 * PAGES_LARGE;
    char *memory = pages_alloc(bytes);
    memset(memory, 1, bytes);
    cr_expect_eq(resident(memory, bytes), bytes);
    pages_age();
    pages_age();
    cr_expect_eq(memory[bytes - 1], 1, "not while it has a user");
    pages_free(memory);
    pages_age();
    cr_expect_eq(resident(memory, bytes), bytes, "it has had a user since the last time");
    char *part = pages_alloc(PAGES_LARGE);
    cr_expect_eq(part, memory);
    pages_age();
    cr_expect_eq(resident(memory, bytes), PAGES_LARGE, "but for what is used again");
    cr_expect_eq(part[0], 1);
    pages_free(part);
    char *again = pages_alloc(bytes);
    cr_expect_eq(again, memory);
    memset(again, 2, bytes);
    pages_free(again);
}

Test(pages, no_more_is_resident_than_was_in_use_at_once)
{
    char *five = pages_alloc(5 * PAGES_LARGE), *one = pages_alloc(PAGES_LARGE);
    memset(five, 1, 5 * PAGES_LARGE);
    memset(one, 2, PAGES_LARGE);
    pages_free(five);
    char *six = pages_alloc(6 * PAGES_LARGE); /* which does not fit below `one` */
    cr_assert_eq(six, one + PAGES_LARGE);
    memset(six, 3, 6 * PAGES_LARGE);
    cr_expect_eq(one[0] + one[PAGES_LARGE - 1], 4);
    size_t spare = resident(five, 5 * PAGES_LARGE);
    if (spare == 5 * PAGES_LARGE)
        cr_skip_test("this kernel does not move memory out of what stays mapped");
    cr_expect_eq(spare, 0, "%zu", spare);
    pages_free(one);
    char *low = pages_alloc(6 * PAGES_LARGE);
    cr_assert_eq(low, five);
    memset(low, 4, 6 * PAGES_LARGE);
    size_t wrong = 0;
    for (size_t i = 0; i < 6 * PAGES_LARGE; i++)
        wrong += six[i] != 3;
    cr_expect_eq(wrong, 0);
    pages_free(low);
    pages_free(six);
}

/* Holds some memory at any time, filled with what only it knows. */
static void *use(void *context)
{
    unsigned char own = *(unsigned char *)context;
    struct {
        unsigned char *at;
        size_t bytes;
    } held[HELD_N] = {{NULL, 0}};
    size_t wrong = 0;
    for (size_t round = 0; round < ROUNDS_N; round++) {
        size_t i = round * 7 % HELD_N;
        for (size_t at = 0; at < held[i].bytes; at += 4096)
            wrong += held[i].at[at] != own;
        pages_free(held[i].at);
        held[i].bytes = (round * 5 + own) % 4 * PAGES_LARGE + 1;
        held[i].at = pages_alloc(held[i].bytes);
        for (size_t at = 0; at < held[i].bytes; at += 4096)
            held[i].at[at] = own;
        if (round % 64 == own)
            pages_age();
    }
    for (size_t i = 0; i < HELD_N; i++)
        pages_free(held[i].at);
    return wrong ? context : NULL;
}

Test(pages, each_thread_has_its_own)
{
    pthread_t threads[THREADS_N];
    unsigned char names[THREADS_N];
    void *wrong;
    for (unsigned i = 0; i < THREADS_N; i++) {
        names[i] = (unsigned char)(i + 1);
        pthread_create(&threads[i], NULL, use, &names[i]);
    }
    for (unsigned i = 0; i < THREADS_N; i++) {
        pthread_join(threads[i], &wrong);
        cr_expect_null(wrong, "thread %u", i);
    }
    char *all = pages_alloc(PAGES_KEPT), *one = pages_alloc(PAGES_LARGE);
    cr_expect(one < all || one >= all + PAGES_KEPT, "everything came back");
    pages_free(one);
    pages_free(all);
}
