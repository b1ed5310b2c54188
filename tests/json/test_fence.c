// SPDX-License-Identifier: Apache-2.0
/* test_fence.c: the budget counts, refuses, is given back, and belongs to one thread. */
#include "fence.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <malloc.h>
#include <pthread.h>

static json_malloc_t allocate;
static json_free_t release;

static void setup(void)
{
    fence_setup();
    json_get_alloc_funcs(&allocate, &release);
}

TestSuite(fence, .init = setup);

Test(fence, refuses_what_is_over_the_budget)
{
    fence_begin(10000);
    void *a = allocate(6000);
    cr_assert_not_null(a);
    cr_assert_null(allocate(6000));
    cr_assert_null(allocate(20000));
    cr_assert_null(allocate((size_t)-1));
    void *b = allocate(2000);
    cr_assert_not_null(b, "smaller ones still fit");
    cr_assert_eq(fence_end(), FENCE_OVER_BUDGET);
    release(a);
    release(b);
}

Test(fence, gives_back_what_is_freed)
{
    fence_begin(10000);
    for (int i = 0; i < 100; i++) {
        void *at = allocate(9000);
        cr_assert_not_null(at, "round %d", i);
        release(at);
        release(NULL);
    }
    cr_assert_eq(fence_end(), FENCE_HELD);
}

Test(fence, counts_small_blocks_at_their_real_size)
{
    fence_begin(16000);
    static void *at[20000];
    size_t n = 0;
    while (n < 20000 && (at[n] = allocate(1)))
        n++;
    cr_assert_leq(n * malloc_usable_size(at[0]), 16000, "%zu blocks", n);
    cr_assert_geq((n + 1) * malloc_usable_size(at[0]), 16000, "%zu blocks", n);
    cr_assert_eq(fence_end(), FENCE_OVER_BUDGET);
    while (n > 0)
        release(at[--n]);
}

Test(fence, is_open_outside)
{
    void *before = allocate(100000);
    fence_begin(1000);
    cr_assert_eq(fence_end(), FENCE_HELD);
    void *after = allocate(100000);
    cr_assert(before && after);
    release(before);
    release(after);
}

/* AddressSanitizer ends the program when there is no memory, unless told not to. */
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

Test(fence, tells_want_of_memory_apart)
{
    fence_begin((size_t)-1);
    cr_assert_null(allocate((size_t)1 << 62));
    cr_assert_eq(fence_end(), FENCE_NO_MEMORY);
}

static void *allocate_elsewhere(void *unused)
{
    (void)unused;
    return allocate(50000);
}

Test(fence, concerns_its_own_thread_only)
{
    fence_begin(1000);
    pthread_t thread;
    void *at;
    pthread_create(&thread, NULL, allocate_elsewhere, NULL);
    pthread_join(thread, &at);
    cr_assert_not_null(at);
    void *own = allocate(900);
    cr_assert_not_null(own, "the other thread's bytes are not counted here");
    release(own);
    cr_assert_eq(fence_end(), FENCE_HELD);
    release(at);
}
