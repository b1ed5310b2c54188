// SPDX-License-Identifier: Apache-2.0
/* test_reserve.c: blocks of the reserve lie apart, keep what they hold, and can be had again. */
#include "reserve.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RESERVE  ((size_t)64 << 10)
#define BLOCKS_N 1024

static unsigned char *blocks[BLOCKS_N];

/* Takes blocks of one size, each filled with its number, until there is none left. */
static size_t take_all(size_t size)
{
    size_t n = 0;
    while (n < BLOCKS_N && (blocks[n] = reserve_take(size)))
        memset(blocks[n], (int)(n % 251), size), n++;
    return n;
}

static void expect_filled(const unsigned char *block, size_t size, size_t n)
{
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(block[i], n % 251, "byte %zu of block %zu", i, n);
}

Test(reserve, blocks_lie_apart_and_all_come_back)
{
    static const size_t sizes[] = {0, 1, 16, 255, 256, 257, 1000, 4096, RESERVE};

    cr_assert(reserve_open(RESERVE));
    cr_assert(reserve_open(2 * RESERVE)); /* changes nothing */
    cr_expect_null(reserve_take(RESERVE + 1));
    cr_expect_null(reserve_take(SIZE_MAX));
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = take_all(sizes[s]);
        cr_assert_geq(n, RESERVE / (sizes[s] + 256), "%zu blocks of %zu bytes", n, sizes[s]);
        cr_assert_leq(n * (sizes[s] ? sizes[s] : 1), RESERVE);
        for (size_t i = 0; i < n; i++) {
            cr_assert_eq((uintptr_t)blocks[i] % 16, 0);
            expect_filled(blocks[i], sizes[s], i);
            reserve_free(blocks[i], sizes[s]);
        }
    }
}

Test(reserve, pieces_in_between_are_found)
{
    cr_assert(reserve_open(RESERVE));
    size_t n = take_all(256);
    for (size_t i = 10; i < 13; i++)
        reserve_free(blocks[i], 256);
    cr_expect_null(reserve_take(4 * 256));
    cr_expect_eq(reserve_take(3 * 256), blocks[10]);
    cr_expect_null(reserve_take(1));
    expect_filled(blocks[9], 256, 9);
    expect_filled(blocks[13], 256, 13);
    reserve_free(blocks[n - 1], 256);
    cr_expect_eq(reserve_take(1), blocks[n - 1]);
}

Test(reserve, blocks_change_their_size)
{
    cr_assert(reserve_open(RESERVE));
    unsigned char *reserved = reserve_take(300), *other = reserve_malloc(300);
    memset(reserved, 7, 300);
    memset(other, 8, 300);
    reserved = reserve_realloc(reserved, 300, 5000); /* there is memory, so it leaves the reserve */
    other = reserve_realloc(other, 300, 100);
    expect_filled(reserved, 300, 7);
    expect_filled(other, 100, 8);
    cr_expect_eq(take_all(RESERVE), 1, "what was left is not free");
    reserve_free(reserved, 5000);
    reserve_free(other, 100);
}
