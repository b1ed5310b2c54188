// SPDX-License-Identifier: Apache-2.0
/*
 * blocks.h: a computed answer as a row of pieces, texts and the rows of tensors, cut into blocks
 * that can be made apart from each other. Small answers are made by whoever has the request, larger
 * ones by all workers together, and those that should not be held at once while they are sent.
 */
#ifndef API_BLOCKS_H
#define API_BLOCKS_H

#include "request.h"

struct job;
struct blocks;

/* The answer in its format, into the response: STEP_DONE with the bytes in response.body and
 * response.spans, or in response.stream when it is too long; STEP_SPREAD, only where the request
 * `may_wait` for other workers: the bytes will be in response.body. */
enum step blocks_write(struct job *job, bool may_wait);
/* The parts of the work that comes before, if there are any, in the same way: STEP_DONE when they
 * are done, STEP_SPREAD when all workers shall do them. */
enum step parts_run(struct job *job, bool may_wait);
/* What is left of it; NULL is allowed. */
void blocks_release(struct blocks *blocks);
/* Time that was spent in making tensors, not texts. */
uint64_t blocks_compute_ns(const struct blocks *blocks);

#endif
