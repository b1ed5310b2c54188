// SPDX-License-Identifier: Apache-2.0
/* answers.c: see answers.h. The bytes are shared with the responses that send them. */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "delivery.h"
#include "metrics.h"

#define SHARE_MAX 8 /* an answer may take one part of so many */

struct answers {
    struct cache *cache;
    size_t bytes_max;
};

struct kept {
    struct blob *blob;
    unsigned char digest[32];
    size_t fields_n;
    struct header fields[]; /* with their texts behind them */
};

static void kept_free(void *value)
{
    struct kept *kept = value;

    blob_unref(kept->blob);
    free(kept);
}

struct answers *answers_new(size_t bytes_max)
{
    struct answers *answers = malloc(sizeof *answers);

    if (!answers)
        return NULL;
    *answers = (struct answers){cache_new(bytes_max, kept_free), bytes_max};
    if (answers->cache)
        return answers;
    free(answers);
    return NULL;
}

void answers_free(struct answers *answers)
{
    if (!answers)
        return;
    cache_free(answers->cache);
    free(answers);
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

bool answers_find(struct answers *answers, struct request *request, struct delivery *delivery)
{
    if (answers->bytes_max == 0)
        return false;
    struct cache_entry *entry = cache_get(answers->cache, delivery->etag);
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
    metric_add(found ? METRIC_answer_hits : METRIC_answer_misses, 1);
    return found;
}

/* A copy of what the steps have said of the answer, and a share in its bytes. Names are literals.
 */
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
    kept->blob = blob_ref(response->blob);
    kept->fields_n = response->headers_n;
    memcpy(kept->digest, delivery->digest, sizeof kept->digest);
    char *text = (char *)(kept->fields + kept->fields_n);
    for (size_t i = 0; i < kept->fields_n; i++) {
        size_t len = strlen(response->headers[i].value) + 1;
        kept->fields[i] = (struct header){response->headers[i].name, text};
        memcpy(text, response->headers[i].value, len);
        text += len;
    }
    return kept;
}

void answers_keep(struct answers *answers, struct request *request, const struct delivery *delivery)
{
    struct response *response = &request->response;
    size_t len = response->blob ? response->blob->len : response->body.len, size;

    if (!delivery->digested || len == 0 || len > answers->bytes_max / SHARE_MAX)
        return;
    if (!response->blob && !(response->blob = blob_from_buf(&response->body)))
        return;
    size_t before = cache_bytes(answers->cache);
    struct kept *kept = kept_new(response, delivery, &size);
    struct cache_entry *entry =
        kept ? cache_put(answers->cache, delivery->etag, kept, size + len) : NULL;
    if (kept && !entry)
        kept_free(kept);
    cache_release(entry);
    metric_add(METRIC_answer_bytes, (int64_t)cache_bytes(answers->cache) - (int64_t)before);
}
