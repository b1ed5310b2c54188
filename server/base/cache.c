// SPDX-License-Identifier: Apache-2.0
/*
 * cache.c: the map is the C library's balanced tree (search.h), so that no choice of keys makes it
 * slow; a doubly linked list holds the order of use. An entry is either in both or, once pushed
 * out or replaced while in use, in neither and waits for its last user.
 */
#include "cache.h"

#include <assert.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct cache {
    void *tree; /* of struct cache_entry, by key */
    struct cache_entry *newest, *oldest;
    size_t bytes, bytes_max;
    void (*free_value)(void *);
};

static int compare_keys(const void *a, const void *b)
{
    const struct cache_entry *left = a, *right = b;
    return strcmp(left->key, right->key);
}

struct cache *cache_new(size_t bytes_max, void (*free_value)(void *))
{
    struct cache *cache = malloc(sizeof *cache);
    if (cache)
        *cache = (struct cache){.bytes_max = bytes_max, .free_value = free_value};
    return cache;
}

static void entry_free(struct cache_entry *entry)
{
    entry->cache->free_value(entry->value);
    free(entry->key);
    free(entry);
}

static void list_remove(struct cache *cache, struct cache_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void list_add_newest(struct cache *cache, struct cache_entry *entry)
{
    entry->newer = NULL;
    entry->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

/* Takes an entry out, so that it is found no more; frees it unless it is in use. */
static void drop(struct cache *cache, struct cache_entry *entry)
{
    tdelete(entry, &cache->tree, compare_keys);
    list_remove(cache, entry);
    cache->bytes -= entry->bytes;
    entry->bytes = 0; /* the mark of an entry that is out */
    if (entry->refs == 0)
        entry_free(entry);
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    while (cache->oldest) {
        assert(cache->oldest->refs == 0);
        drop(cache, cache->oldest);
    }
    free(cache);
}

static struct cache_entry *find(struct cache *cache, const char *key)
{
    struct cache_entry wanted = {.key = (char *)key};
    struct cache_entry **node = tfind(&wanted, &cache->tree, compare_keys);
    return node ? *node : NULL;
}

struct cache_entry *cache_get(struct cache *cache, const char *key)
{
    struct cache_entry *entry = find(cache, key);
    if (!entry)
        return NULL;
    entry->refs++;
    list_remove(cache, entry);
    list_add_newest(cache, entry);
    return entry;
}

/* Files the entry, which fits, under its key, at the expense of older ones; false without memory.
 */
static bool insert(struct cache *cache, struct cache_entry *entry)
{
    if (!tsearch(entry, &cache->tree, compare_keys))
        return false;
    list_add_newest(cache, entry);
    cache->bytes += entry->bytes;
    while (cache->bytes > cache->bytes_max && cache->oldest != entry)
        drop(cache, cache->oldest);
    return true;
}

struct cache_entry *cache_put(struct cache *cache, const char *key, void *value, size_t bytes)
{
    struct cache_entry *entry = malloc(sizeof *entry);
    char *copy = strdup(key);
    size_t all = bytes + sizeof *entry + strlen(key) + 1;
    if (!entry || !copy)
        goto fail;
    *entry = (struct cache_entry){.value = value, .cache = cache, .key = copy, .refs = 1};

    struct cache_entry *same = find(cache, key);
    if (same)
        drop(cache, same);
    if (all > bytes && all <= cache->bytes_max) {
        entry->bytes = all;
        if (!insert(cache, entry))
            goto fail;
    }
    return entry;

fail:
    free(entry);
    free(copy);
    return NULL;
}

void cache_release(struct cache_entry *entry)
{
    if (!entry)
        return;
    assert(entry->refs > 0);
    entry->refs--;
    if (entry->refs == 0 && entry->bytes == 0)
        entry_free(entry);
}

size_t cache_bytes(const struct cache *cache)
{
    return cache->bytes;
}
