// SPDX-License-Identifier: Apache-2.0
/*
 * pairwise.h: what endpoints that compare every place with every other share (similarity.c, grid.c,
 * attention.c).
 */
#ifndef API_PAIRWISE_H
#define API_PAIRWISE_H

#include "job.h"

/* Plans are to be fast for these places and, if they are not too many, for the distances between
 * them. False without memory. */
bool pairwise_plan_for(struct job *job, const struct pe_positions *queries,
                       const struct pe_positions *keys);
/* As pe_scores and the like ask. */
bool pairwise_stop(void *job);
/* What became of them; `where` is the key that a division by 0 comes from. */
bool pairwise_done(struct job *job, enum pe_status status, const char *where);

/* Whether scores of q and k as they are show all of what the encoding does; else the error, at
 * `where`. */
bool pairwise_shows(struct job *job, const struct pe_spec *spec, const char *where);
bool pairwise_attends(const struct pe_spec *spec); /* the same, without the error */
/* Whether its places have similarities. */
bool pairwise_takes(const struct pe_spec *spec);
/* A similarity: whether the spec has one, and what it costs. */
bool pairwise_similar(struct job *job, size_t queries, size_t keys, const char *where);
bool pairwise_similarities(struct job *job, const struct pe_positions *queries,
                           const struct pe_positions *keys, bool cosine, double *out);

#endif
