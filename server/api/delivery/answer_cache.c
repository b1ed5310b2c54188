// SPDX-License-Identifier: Apache-2.0
/* answer_cache.c: see answer_cache.h. The bytes are shared with the responses that send them. */
#include "answer_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "delivery.h"
#include "metrics.h"

#define SHARE_MAX 8    /* an answer may take one part of so many */
#define WORDS_MAX 2048 /* of a request that is remembered */

struct answer_cache {
    pthread_mutex_t lock; /* of the map */
    struct cache *map;
    size_t bytes_max;
};

/* Under a tag, an answer; under the words of a request, the tag and the fields of its answer. */
struct kept {
    struct blob *blob; /* NULL in the second case */
    char etag[ETAG_BYTES];
    unsigned char digest[32];
    const char *content_type;
    size_t fields_n;
    struct header fields[]; /* with their texts behind them */
};

static void kept_free(void *value)
{
    struct kept *kept = value;

    blob_unref(kept->blob);
    free(kept);
}

struct answer_cache *answer_cache_new(size_t bytes_max)
{
    struct answer_cache *cache = malloc(sizeof *cache);

    if (!cache)
        return NULL;
    *cache = (struct answer_cache){.map = cache_new(bytes_max, kept_free), .bytes_max = bytes_max};
    pthread_mutex_init(&cache->lock, NULL);
    if (cache->map)
        return cache;
    answer_cache_free(cache);
    return NULL;
}

void answer_cache_free(struct answer_cache *cache)
{
    if (!cache)
        return;
    cache_free(cache->map);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* Adds the fields that the answer does not have already. */
static bool copy_fields(struct request *request, const struct kept *kept)
{
    for (size_t i = 0; i < kept->fields_n; i++) {
        const char *text = kept->fields[i].value;
        if (response_find(request, kept->fields[i].name))
            continue;
        const char *copy = arena_strndup(&request->arena, text, strlen(text));
        if (!copy)
            return false;
        response_header(request, kept->fields[i].name, copy);
    }
    return true;
}

bool answer_cache_find(struct answer_cache *cache, struct request *request,
                       struct delivery *delivery)
{
    if (cache->bytes_max == 0)
        return false;
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = cache_get(cache->map, delivery->etag);
    const struct kept *kept = entry ? entry->value : NULL;
    bool found = kept && copy_fields(request, kept);
    if (found) {
        buf_release(&request->response.body);
        blob_unref(request->response.blob);
        request->response.blob = blob_ref(kept->blob);
        memcpy(delivery->digest, kept->digest, sizeof kept->digest);
        delivery->digested = true;
    }
    cache_release(entry);
    pthread_mutex_unlock(&cache->lock);
    metric_add(found ? METRIC_answer_hits : METRIC_answer_misses, 1);
    return found;
}

/* What goes with one request only. */
static bool is_passing(const struct header *field)
{
    return strcmp(field->name, "Server-Timing") == 0;
}

/* A copy of the fields that there are. Names are literals. */
static struct kept *kept_new(const struct response *response, const struct delivery *delivery,
                             size_t *size)
{
    size_t texts = 0;
    for (size_t i = 0; i < response->headers_n; i++)
        texts += strlen(response->headers[i].value) + 1;
    *size = sizeof(struct kept) + response->headers_n * sizeof(struct header) + texts;
    struct kept *kept = malloc(*size);
    if (!kept)
        return NULL;
    *kept = (struct kept){.content_type = response->content_type};
    memcpy(kept->etag, delivery->etag, sizeof kept->etag);
    memcpy(kept->digest, delivery->digest, sizeof kept->digest);
    char *text = (char *)(kept->fields + response->headers_n);
    for (size_t i = 0; i < response->headers_n; i++) {
        const struct header *field = &response->headers[i];
        size_t len = strlen(field->value) + 1;
        if (is_passing(field))
            continue;
        kept->fields[kept->fields_n++] = (struct header){field->name, text};
        memcpy(text, field->value, len);
        text += len;
    }
    return kept;
}

/* Files it, or frees it. */
static void kept_put(struct answer_cache *cache, const char *key, struct kept *kept, size_t size)
{
    pthread_mutex_lock(&cache->lock);
    size_t before = cache_bytes(cache->map);
    struct cache_entry *entry = cache_put(cache->map, key, kept, size);
    cache_release(entry);
    size_t after = cache_bytes(cache->map);
    pthread_mutex_unlock(&cache->lock);
    if (!entry)
        kept_free(kept);
    metric_add(METRIC_answer_bytes, (int64_t)after - (int64_t)before);
}

void answer_cache_keep(struct answer_cache *cache, struct request *request,
                       const struct delivery *delivery)
{
    struct response *response = &request->response;
    size_t len = response->blob ? response->blob->len : response->body.len, size;

    if (!delivery->digested || len == 0 || len > cache->bytes_max / SHARE_MAX)
        return;
    if (!response->blob) {
        response->blob = blob_from_buf(&response->body);
        if (!response->blob)
            return;
        blob_settle(response->blob);
    }
    struct kept *kept = kept_new(response, delivery, &size);
    if (!kept)
        return;
    kept->blob = blob_ref(response->blob);
    kept_put(cache, delivery->etag, kept, size + len);
}

/* ---- The short way ------------------------------------------------------------------------- */

/* All that the answer to a GET without preconditions depends on; NULL if that is long. */
static const char *words_of(struct request *request)
{
    const char *accept = request_header(request, "Accept");
    const char *coding = request_header(request, "Accept-Encoding");
    const char *words = arena_printf(&request->arena, "%s\n%s\n%s%s", request->target,
                                     accept ? accept : "", coding ? "=" : "", coding ? coding : "");

    return words && strlen(words) <= WORDS_MAX ? words : NULL;
}

static bool is_plain_get(const struct request *request)
{
    return request->method == METHOD_GET && !request_header(request, "If-Match") &&
           !request_header(request, "If-None-Match");
}

/* The answer under the tag that stands under the words, with the fields that stand there. */
static bool recall_locked(struct answer_cache *cache, const char *words, struct request *request)
{
    struct cache_entry *entry = cache_get(cache->map, words);
    const struct kept *fields = entry ? entry->value : NULL;
    struct cache_entry *answer = fields ? cache_get(cache->map, fields->etag) : NULL;
    bool found = answer && copy_fields(request, fields);

    if (found) {
        request->response.blob = blob_ref(((const struct kept *)answer->value)->blob);
        request->response.content_type = fields->content_type;
        request->response.complete = true;
        request->response.lasting = true;
    }
    cache_release(answer);
    cache_release(entry);
    return found;
}

bool answer_cache_recall(struct answer_cache *cache, struct request *request)
{
    const char *words = cache->bytes_max > 0 && is_plain_get(request) ? words_of(request) : NULL;

    if (!words)
        return false;
    pthread_mutex_lock(&cache->lock);
    bool found = recall_locked(cache, words, request);
    pthread_mutex_unlock(&cache->lock);
    if (found)
        metric_add(METRIC_answer_hits, 1);
    return found;
}

void answer_cache_remember(struct answer_cache *cache, struct request *request,
                           const struct delivery *delivery)
{
    const struct response *response = &request->response;
    size_t size;

    if (request->method != METHOD_GET || response->status != 200 || !response->blob)
        return;
    const char *words = words_of(request);
    struct kept *kept = words ? kept_new(response, delivery, &size) : NULL;
    if (kept)
        kept_put(cache, words, kept, size);
}
