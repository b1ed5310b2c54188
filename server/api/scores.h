// SPDX-License-Identifier: Apache-2.0
/*
 * scores.h: what scores.c (reading, computing), scores_apart.c (q and k with encodings of their
 * own) and scores_readouts.c (telling) share.
 */
#ifndef API_SCORES_H
#define API_SCORES_H

#include "content.h"
#include "job.h"

/* One encoding's results; arrays are views into the job's outputs. */
struct score_block {
    const struct pe_scores *job;
    double tolerance;
};

/* What q.k is divided by or multiplied with. */
struct score_scale {
    bool sqrt_dim;
    double factor;
};
/* The key `scale`. */
bool scores_scale(struct job *job, struct score_scale *scale);

#define K_SPEC 1 /* of the job's, where q and k have encodings of their own; q's is 0 */

/* Whether they have; then q's comes first. */
bool scores_apart_read(struct job *job, bool *apart);
/* After job_specs_finish: whether the two can meet. */
bool scores_apart_check(struct job *job);
/* The two specs, and that they differ, into the answer. */
void scores_apart_tell(struct job *job);

/* Adds range, spread, norm_q, norm_k, relative (and the terms' spreads) to `readouts`. */
void scores_readouts(struct tree *readouts, const struct score_block *block);
/* The same as three sentences for a terminal, in the arena; `name` is the compact spec. */
const char *scores_sentences(struct arena *arena, const struct score_block *block,
                             const char *name);

#endif
