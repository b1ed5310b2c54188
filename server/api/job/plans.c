// SPDX-License-Identifier: Apache-2.0
/*
 * plans.c: the shared plans. One mutex guards the cache and its reference counts; plans themselves
 * are immutable and are made outside of it, so a slow one holds nobody up (two threads may then
 * make the same plan; the later one replaces the earlier).
 *
 * A plan is only fast for the digit groups it was made for. So that a slider over positions finds
 * its plan, one made for integers covers all of them below 2^24 at once; others (fractions, far
 * positions) are kept beside it under a key of their own.
 */
#include "plans.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "metrics.h"

#define NEAR_MAX     16777215.0 /* all four digit groups of positions below 2^24 */
#define NEAR_DIM_MAX 1024       /* wider specs get just the groups they need */

struct plan_store {
    pthread_mutex_t lock;
    struct cache *cache;
    size_t metered; /* bytes that METRIC_plan_bytes counts */
};

struct plan_ref {
    struct cache_entry *entry; /* NULL: this reference owns the plan */
    struct pe_plan *plan;
};

static void free_plan(void *plan)
{
    pe_plan_free(plan);
}

struct plan_store *plan_store_new(void)
{
    struct plan_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->cache = cache_new(PLANS_BYTES_MAX, free_plan);
    if (!store->cache) {
        free(store);
        return NULL;
    }
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

void plan_store_free(struct plan_store *store)
{
    if (!store)
        return;
    cache_free(store->cache);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* Whether a plan for integers below 2^24 would serve these positions. Rounded ones are others. */
static bool positions_near(const struct plan_source *source)
{
    const struct pe_positions *positions = source->positions;
    double shift = pe_spec_number(source->spec, "shift");
    if (pe_spec_dim(source->spec) > NEAR_DIM_MAX || !pe_spec_shifts_only(source->spec) ||
        shift != (double)(int64_t)shift || source->stages->named & 1u << PE_STAGE_POS)
        return false;
    for (size_t axis = 0; axis < positions->axes; axis++)
        for (size_t i = 0; i < positions->n; i++) {
            double p = positions->at[axis][i] + shift;
            if (isnan(p))
                continue;
            if (!(p >= -NEAR_MAX && p <= NEAR_MAX) || p != (double)(int64_t)p)
                return false;
        }
    return true;
}

/* The key in the cache, malloc'd: the compact form, marked when the positions are not near, and the
 * stages that a plan of this kind has. */
static char *plan_key(const struct plan_source *source, bool near)
{
    struct pe_stages stages = *source->stages;
    stages.named &= pe_kind_stages(source->spec->kind) & PE_STAGES_OF_PLANS;
    char text[PE_STAGES_TEXT_MAX];
    char *key = NULL;
    pe_stages_print(&stages, text, sizeof text);
    return asprintf(&key, "%s%s %s", source->compact, near ? "" : " far", text) < 0 ? NULL : key;
}

static void meter_locked(struct plan_store *store)
{
    size_t bytes = cache_bytes(store->cache);
    metric_add(METRIC_plan_bytes, (int64_t)bytes - (int64_t)store->metered);
    store->metered = bytes;
}

static struct plan_ref *find_locked(struct plan_store *store, const char *key,
                                    const struct pe_positions *positions)
{
    struct cache_entry *entry = cache_get(store->cache, key);
    if (!entry)
        return NULL;
    struct plan_ref *ref = pe_plan_covers(entry->value, positions) ? malloc(sizeof *ref) : NULL;
    if (!ref) {
        cache_release(entry);
        return NULL;
    }
    *ref = (struct plan_ref){.entry = entry, .plan = entry->value};
    return ref;
}

struct plan_ref *plan_find(struct plan_store *store, const struct plan_source *source)
{
    char *key = source->spec->table ? NULL : plan_key(source, positions_near(source));
    if (!key)
        return NULL;
    pthread_mutex_lock(&store->lock);
    struct plan_ref *ref = find_locked(store, key, source->positions);
    pthread_mutex_unlock(&store->lock);
    free(key);
    if (ref)
        metric_add(METRIC_plan_hits, 1);
    return ref;
}

/* A new plan: for all near integers where that serves, else for just these positions. */
static struct pe_plan *make_plan(const struct plan_source *source, bool near)
{
    /* The shift is added to positions: together they have every digit of NEAR_MAX. */
    const double at[1] = {NEAR_MAX - pe_spec_number(source->spec, "shift")};
    struct pe_positions all = {.axes = source->positions->axes, .n = 1};
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++)
        all.at[axis] = at;
    struct pe_plan *plan;
    return pe_plan_staged(source->spec, source->stages, near ? &all : source->positions, &plan) ==
                   PE_OK
               ? plan
               : NULL;
}

struct plan_ref *plan_get(struct plan_store *store, const struct plan_source *source)
{
    struct plan_ref *found = plan_find(store, source);
    if (found)
        return found;
    metric_add(METRIC_plan_misses, 1);
    bool near = positions_near(source);
    struct plan_ref *ref = malloc(sizeof *ref);
    char *key = plan_key(source, near);
    struct pe_plan *plan = ref && key ? make_plan(source, near) : NULL;
    if (!plan) {
        free(ref);
        free(key);
        return NULL;
    }
    *ref = (struct plan_ref){.plan = plan};
    if (!source->spec->table) {
        pthread_mutex_lock(&store->lock);
        ref->entry = cache_put(store->cache, key, plan, pe_plan_bytes(plan));
        meter_locked(store);
        pthread_mutex_unlock(&store->lock);
    }
    free(key);
    return ref;
}

const struct pe_plan *plan_ref_plan(const struct plan_ref *ref)
{
    return ref->plan;
}

void plan_release(struct plan_store *store, struct plan_ref *ref)
{
    if (!ref)
        return;
    if (ref->entry) {
        pthread_mutex_lock(&store->lock);
        cache_release(ref->entry);
        meter_locked(store);
        pthread_mutex_unlock(&store->lock);
    } else {
        pe_plan_free(ref->plan);
    }
    free(ref);
}
