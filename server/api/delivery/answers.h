// SPDX-License-Identifier: Apache-2.0
/*
 * answers.h: finished answers, as they are sent, kept for the next who asks: by their tag, within a
 * byte budget, the longest unused leaving first. The loop thread's alone.
 */
#ifndef API_ANSWERS_H
#define API_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

struct answers;
struct delivery;
struct request;

/* NULL without memory. With 0 bytes nothing is kept. */
struct answers *answers_new(size_t bytes_max);
void answers_free(struct answers *answers);

/* Answers with what is kept under the tag: the bytes, the fields that were added when they were
 * made, and their digest. False when there is nothing. */
bool answers_find(struct answers *answers, struct request *request, struct delivery *delivery);
/* Keeps the answer of this request, unless it takes more than an eighth of the budget. */
void answers_keep(struct answers *answers, struct request *request,
                  const struct delivery *delivery);

#endif
