// SPDX-License-Identifier: Apache-2.0
/* test_budget.c: what is refused, what is not, from many threads, and by an arena that shares it.
 */
#include "budget.h"

#include <criterion/criterion.h>
#include <pthread.h>

#include "arena.h"
#include "metrics.h"

Test(budget, refuses_past_its_maximum)
{
    struct budget budget = {.max = 1000};

    cr_expect(budget_take(&budget, 600));
    cr_expect_not(budget_take(&budget, 401));
    cr_expect(budget_take(&budget, 400));
    cr_expect_not(budget_take(&budget, 1));
    cr_expect(budget_take(&budget, 0));
    budget_take_anyway(&budget, 500);
    cr_expect_not(budget_take(&budget, 0));
    cr_expect_not(budget_take(&budget, SIZE_MAX));
    cr_expect_eq(metric_get(METRIC_request_memory), 1500);
    budget_give(&budget, 1500);
    cr_expect_eq(atomic_load(&budget.used), 0);
    cr_expect_eq(metric_get(METRIC_request_memory), 0);
}

#define ROUNDS 20000

static struct budget shared = {.max = 300};
static atomic_uint over;

static void *take_and_give(void *nothing)
{
    for (size_t i = 0; i < ROUNDS; i++)
        if (budget_take(&shared, 100)) {
            if (atomic_load(&shared.used) > shared.max)
                atomic_fetch_add(&over, 1);
            budget_give(&shared, 100);
        }
    return nothing;
}

Test(budget, holds_between_threads)
{
    pthread_t threads[8];

    for (size_t i = 0; i < 8; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(atomic_load(&over), 0);
    cr_expect_eq(atomic_load(&shared.used), 0);
}

Test(budget, arena_takes_little_without_asking)
{
    struct budget budget = {.max = 100000};
    struct arena arena;

    budget_take_anyway(&budget, 90000);
    arena_init(&arena, 1 << 20);
    arena.budget = &budget;
    cr_expect_not_null(arena_alloc(&arena, 100));
    cr_expect_not_null(arena_alloc(&arena, 40000));
    cr_expect_not(arena.over_budget);
    cr_expect_null(arena_alloc(&arena, 40000));
    cr_expect(arena.over_budget);
    budget_give(&budget, 90000);
    cr_expect_not_null(arena_alloc(&arena, 40000));
    cr_expect_eq(atomic_load(&budget.used), arena.bytes);
    arena_release(&arena);
    cr_expect_eq(atomic_load(&budget.used), 0);
    cr_expect_eq(arena.budget, &budget);
    cr_expect_not(arena.over_budget);
}
