// SPDX-License-Identifier: Apache-2.0
/*
 * answer_cache.h: finished answers, as they are sent, kept for the next who asks: by their tag,
 * within a byte budget, the longest unused leaving first. Any thread.
 */
#ifndef API_ANSWER_CACHE_H
#define API_ANSWER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct answer_cache;
struct delivery;
struct request;

/* NULL without memory. With 0 bytes nothing is kept. */
struct answer_cache *answer_cache_new(size_t bytes_max);
void answer_cache_free(struct answer_cache *cache);

/* Answers with what is kept under the tag: the bytes, the fields that were added when they were
 * made, and their digest. False when there is nothing. */
bool answer_cache_find(struct answer_cache *cache, struct request *request,
                       struct delivery *delivery);
/* Keeps the answer of this request, unless it takes more than an eighth of the budget. */
void answer_cache_keep(struct answer_cache *cache, struct request *request,
                       const struct delivery *delivery);

/* The short way for who asks with the very words that were used before: answers a GET with what is
 * kept and the fields of that time, before anything is read. False when there is nothing, or the
 * request has preconditions. */
bool answer_cache_recall(struct answer_cache *cache, struct request *request);
/* Remembers these words and the fields, which are complete, for an answer that is kept. */
void answer_cache_remember(struct answer_cache *cache, struct request *request,
                           const struct delivery *delivery);

#endif
