// SPDX-License-Identifier: Apache-2.0
/* test_arena.c: alignment, the cap, and that allocations do not overlap. */
#include "arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(arena, aligns_by_size)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t size = 0; size < 20000; size += 1 + size / 3) {
        size_t align = size >= 4096 ? 64 : 16;
        void *at = arena_alloc(&arena, size);
        cr_assert_not_null(at, "size %zu", size);
        cr_assert_eq((uintptr_t)at % align, 0, "size %zu is not aligned to %zu", size, align);
    }
    arena_release(&arena);
}

Test(arena, hands_out_memory_of_its_own)
{
    struct arena arena;
    arena_init(&arena, 1 << 22);
    enum { N = 500 };
    unsigned char *at[N];
    for (size_t i = 0; i < N; i++) {
        at[i] = arena_alloc(&arena, i * 13 % 6000 + 1);
        cr_assert_not_null(at[i]);
        memset(at[i], (int)i & 255, i * 13 % 6000 + 1);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i * 13 % 6000 + 1; k++)
            cr_assert_eq(at[i][k], i & 255, "allocation %zu was overwritten at byte %zu", i, k);
    arena_release(&arena);
}

Test(arena, keeps_its_cap)
{
    struct arena arena;
    arena_init(&arena, 100000);
    size_t got = 0;
    while (arena_alloc(&arena, 1000))
        got += 1000;
    cr_assert_leq(got, 100000);
    cr_assert_geq(got, 85000, "only %zu of 100000 bytes could be used", got);
    cr_assert_leq(arena.bytes, 100000);
    cr_assert_null(arena_alloc(&arena, 50000));
    arena_release(&arena);

    cr_assert_not_null(arena_alloc(&arena, 100000), "a released arena is as new");
    cr_assert_null(arena_alloc(&arena, 1), "the cap is used up");
    arena_release(&arena);
}

Test(arena, survives_sizes_that_overflow)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    cr_assert_null(arena_alloc(&arena, SIZE_MAX));
    cr_assert_null(arena_alloc(&arena, SIZE_MAX - 100));
    cr_assert_null(arena_calloc(&arena, SIZE_MAX / 2, 3));
    cr_assert_null(arena_strndup(&arena, "", SIZE_MAX));
    cr_assert_not_null(arena_alloc(&arena, 10), "small ones still succeed");
    arena_release(&arena);
}

Test(arena, a_large_allocation_does_not_waste_the_chunk)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    char *before = arena_alloc(&arena, 16);
    cr_assert_not_null(arena_alloc(&arena, 1 << 16));
    char *after = arena_alloc(&arena, 16);
    cr_assert_eq(after, before + 16);
    arena_release(&arena);
}

Test(arena, zeroes_and_copies)
{
    struct arena arena;
    arena_init(&arena, 1 << 16);
    memset(arena_alloc(&arena, 4000), 0xff, 4000);
    arena_release(&arena);
    const char *zeros = arena_calloc(&arena, 100, 7);
    for (int i = 0; i < 700; i++)
        cr_assert_eq(zeros[i], 0);
    cr_assert_str_eq(arena_strndup(&arena, "rotary", 3), "rot");
    cr_assert_str_eq(arena_strndup(&arena, "", 0), "");
    cr_assert_str_eq(arena_printf(&arena, "/%s/%d", "x", 17), "/x/17");
    arena.bytes_max = arena.bytes;
    cr_assert_null(arena_printf(&arena, "%20000d", 1), "past the cap");
    arena_release(&arena);
}

Test(arena, begins_with_memory_that_is_lent)
{
    static _Alignas(64) char memory[4096];
    struct arena arena;
    arena_init(&arena, 100000);
    arena_lend(&arena, memory, sizeof memory);
    cr_expect_leq(arena.bytes, sizeof memory);
    char *first = arena_alloc(&arena, 1000);
    cr_expect(first > memory && first + 1000 <= memory + sizeof memory);
    char *large = arena_alloc(&arena, 5000);
    cr_expect(large < memory || large >= memory + sizeof memory);
    char *second = arena_alloc(&arena, 1000);
    cr_expect(second >= first + 1000 && second + 1000 <= memory + sizeof memory);
    cr_expect_gt(arena.bytes, 5000);
    arena_release(&arena); /* and does not free it */
    cr_expect_eq(arena.bytes, 0);

    arena_init(&arena, 1000);
    arena_lend(&arena, memory, sizeof memory);
    cr_expect_eq(arena.bytes, 0, "more than it may have");
    arena_release(&arena);
}
