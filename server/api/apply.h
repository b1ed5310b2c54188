// SPDX-License-Identifier: Apache-2.0
/* apply.h: what apply.c (vectors) and apply_scores.c (score matrices of bias kinds) share. */
#ifndef API_APPLY_H
#define API_APPLY_H

#include "content.h"
#include "job.h"

#define TARGETS_MAX 3 /* x, q, k */

/* One tensor to encode. */
struct target {
    size_t role; /* 0 x, 1 q, 2 k */
    size_t spec; /* which of the job's */
    bool seeded; /* GET: test vectors, filled when computing */
    struct tensor in;
    struct pe_view view;
    const char *axes;
    enum pe_dtype dtype; /* of what comes out */
    struct position_lists positions;
};

struct apply {
    bool biases; /* scores instead of targets */
    struct target target[TARGETS_MAX];
    size_t targets_n;
    struct content content;
    struct tensor scores; /* [.., heads, queries, keys] */
    struct position_lists queries, keys;
};

/* The stages that applying has; `dtype` is that of the first tensor. */
bool apply_stages(struct job *job, enum pe_dtype dtype);
bool apply_scores_prepare(struct job *job, struct apply *own);
bool apply_scores_compute(struct job *job, struct apply *own);

#endif
