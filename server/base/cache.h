// SPDX-License-Identifier: Apache-2.0
/*
 * cache.h: least-recently-used map from text to reference-counted values, with a byte budget. Not
 * thread-safe: one thread, or a lock of the owner's. A value leaves when the budget needs its
 * place; it is freed when the last user has put it back.
 */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H

#include <stddef.h>

struct cache;

struct cache_entry {
    void *value;
    /* private */
    struct cache *cache;
    char *key;
    size_t bytes, refs;
    struct cache_entry *newer, *older;
};

struct cache *cache_new(size_t bytes_max, void (*free_value)(void *)); /* NULL without memory */
void cache_free(struct cache *cache);                                  /* no entry may be in use */
/* The entry with this key, now in use and the newest, or NULL. */
struct cache_entry *cache_get(struct cache *cache, const char *key);
/* Stores a value (replacing one with the same key) and returns it in use. The cache owns the value
 * from now on, also when it is too big to stay once put back. NULL without memory: then it is
 * still the caller's. */
struct cache_entry *cache_put(struct cache *cache, const char *key, void *value, size_t bytes);
void cache_release(struct cache_entry *entry); /* out of use; NULL is allowed */
size_t cache_bytes(const struct cache *cache); /* of all values that can still be found */

#endif
