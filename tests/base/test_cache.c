// SPDX-License-Identifier: Apache-2.0
/* test_cache.c: order of use, the budget, replacing, and values that leave while in use. */
#include "cache.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY 1000 /* bytes of one value, well above what the cache adds for itself */

static int freed[100]; /* how often value i was freed */
static int numbers[100];

static void free_number(void *value)
{
    freed[(int *)value - numbers]++;
}

static struct cache *new_cache(size_t entries)
{
    return cache_new(entries * (ENTRY + 100), free_number);
}

static struct cache_entry *put(struct cache *cache, const char *key, int i)
{
    return cache_put(cache, key, &numbers[i], ENTRY);
}

static bool has(struct cache *cache, const char *key)
{
    struct cache_entry *entry = cache_get(cache, key);
    cache_release(entry);
    return entry != NULL;
}

Test(cache, finds_what_was_put)
{
    struct cache *cache = new_cache(3);
    cr_assert_null(cache_get(cache, "rope:dim=64"));
    struct cache_entry *entry = put(cache, "rope:dim=64", 1);
    cr_assert_eq(entry->value, &numbers[1]);
    cache_release(entry);
    entry = cache_get(cache, "rope:dim=64");
    cr_assert_eq(entry->value, &numbers[1]);
    cache_release(entry);
    cr_assert_null(cache_get(cache, "rope:dim=6"));
    cr_assert_eq(freed[1], 0);
    cache_free(cache);
    cr_assert_eq(freed[1], 1);
}

Test(cache, the_least_recently_used_leaves)
{
    struct cache *cache = new_cache(3);
    cache_release(put(cache, "a", 0));
    cache_release(put(cache, "b", 1));
    cache_release(put(cache, "c", 2));
    cr_assert(has(cache, "a"), "now a is newer than b");
    cache_release(put(cache, "d", 3));
    cr_assert_eq(freed[1], 1);
    cr_assert_not(has(cache, "b"));
    cr_assert(has(cache, "c") && has(cache, "a") && has(cache, "d"));
    cr_assert_leq(cache_bytes(cache), 3 * (ENTRY + 100));
    cr_assert_geq(cache_bytes(cache), 3 * ENTRY);
    cache_free(cache);
}

Test(cache, a_value_in_use_is_freed_when_put_back)
{
    struct cache *cache = new_cache(1);
    struct cache_entry *used = put(cache, "a", 0), *again = cache_get(cache, "a");
    cr_assert_eq(again, used);
    cache_release(put(cache, "b", 1));
    cr_assert_not(has(cache, "a"));
    cr_assert_eq(freed[0], 0);
    cr_assert_eq(used->value, &numbers[0]);
    cache_release(used);
    cr_assert_eq(freed[0], 0, "one user is left");
    cache_release(again);
    cr_assert_eq(freed[0], 1);
    cr_assert(has(cache, "b"));
    cache_release(NULL);
    cache_free(cache);
}

Test(cache, the_same_key_replaces)
{
    struct cache *cache = new_cache(4);
    struct cache_entry *first = put(cache, "a", 0);
    cache_release(put(cache, "a", 1));
    struct cache_entry *found = cache_get(cache, "a");
    cr_assert_eq(found->value, &numbers[1]);
    cr_assert_lt(cache_bytes(cache), 2 * ENTRY);
    cache_release(found);
    cr_assert_eq(freed[0], 0);
    cache_release(first);
    cr_assert_eq(freed[0], 1);
    cache_free(cache);
}

Test(cache, what_is_too_big_does_not_push_others_out)
{
    struct cache *cache = new_cache(2);
    cache_release(put(cache, "a", 0));
    struct cache_entry *big = cache_put(cache, "big", &numbers[1], 100 * ENTRY);
    cr_assert_eq(big->value, &numbers[1]);
    struct cache_entry *huge = cache_put(cache, "huge", &numbers[2], (size_t)-1);
    cr_assert_eq(freed[1], 0);
    cache_release(big);
    cache_release(huge);
    cr_assert_eq(freed[1], 1);
    cr_assert_eq(freed[2], 1);
    cr_assert_not(has(cache, "big"));
    cr_assert(has(cache, "a"));
    cache_free(cache);
}

/* Against the slow definition: a list in order of use. */
Test(cache, agrees_with_a_list_over_random_use)
{
    enum { KEYS = 40, PLACES = 8 };
    struct cache *cache = new_cache(PLACES);
    int order[KEYS], order_n = 0; /* newest first */
    unsigned random = 1;
    for (int step = 0; step < 20000; step++) {
        random = random * 1103515245 + 12345;
        int key = (int)(random >> 16) % KEYS;
        char name[16];
        snprintf(name, sizeof name, "key%d", key);
        int at = 0;
        while (at < order_n && order[at] != key)
            at++;
        struct cache_entry *entry = cache_get(cache, name);
        cr_assert_eq(entry != NULL, at < order_n, "step %d: %s", step, name);
        if (!entry) {
            entry = put(cache, name, key);
            order_n += order_n < PLACES;
            at = order_n - 1;
        }
        cr_assert_eq(entry->value, &numbers[key]);
        cache_release(entry);
        memmove(order + 1, order, (size_t)at * sizeof order[0]);
        order[0] = key;
    }
    cache_free(cache);
}
