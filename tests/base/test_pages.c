// SPDX-License-Identifier: Apache-2.0
/* test_pages.c: which part of memory is to have large pages. */
#include "pages.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM (8 * PAGES_LARGE)

/* Bytes in [memory, memory + ROOM) that the kernel has been asked for large pages of. */
static size_t wished(const char *memory, uintptr_t *start)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long from = 0, to = 0;
    size_t sum = 0;

    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long a, b;
        if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
            from = a;
            to = b;
        }
        bool inside = from >= (uintptr_t)memory && to <= (uintptr_t)memory + ROOM;
        if (inside && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg")) {
            *start = sum == 0 ? from : *start;
            sum += to - from;
        }
    }
    if (maps)
        fclose(maps);
    return sum;
}

/* Whether this system knows large pages at all. */
static bool has_large_pages(char *memory)
{
    bool has = madvise(memory, ROOM, MADV_HUGEPAGE) == 0;
    madvise(memory, ROOM, MADV_NOHUGEPAGE);
    return has;
}

Test(pages, large_ones_are_wished_for_where_they_fit)
{
    static const struct {
        size_t offset, bytes;
        bool wished;
    } cases[] = {
        {0, 4 * PAGES_LARGE, true},
        {4096, 4 * PAGES_LARGE, true},
        {PAGES_LARGE - 16, 2 * PAGES_LARGE + 100, true},
        {4096, PAGES_LARGE, false},
        {0, PAGES_LARGE - 1, false},
        {100, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uintptr_t start = 0;
        cr_assert(memory != MAP_FAILED);
        if (!has_large_pages(memory))
            cr_skip_test("no large pages here");
        char *aligned = memory + -(uintptr_t)memory % PAGES_LARGE;
        char *at = aligned + cases[i].offset;
        pages_wish_large(at, cases[i].bytes);
        size_t bytes = wished(memory, &start);
        cr_expect_eq(bytes > 0, cases[i].wished, "%zu: %zu", i, bytes);
        if (bytes > 0) {
            cr_expect_eq(start % PAGES_LARGE, 0, "%zu", i);
            cr_expect_geq(start, (uintptr_t)at, "%zu", i);
            cr_expect_leq(start + bytes, (uintptr_t)at + cases[i].bytes, "%zu", i);
        }
        at[0] = at[cases[i].bytes] = 1; /* it is memory as before */
        munmap(memory, ROOM);
    }
}
