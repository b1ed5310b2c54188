// SPDX-License-Identifier: Apache-2.0
/*
 * identify.h: what identify.c (the request), identify_answer.c (the answer), identify_known.c (what
 * is known), identify_dialects.c (libraries), identify_says.c (sentences) and identify_added_says.c
 * (those of what adds) and identify_scores.c (score matrices in place of vectors) share.
 */
#ifndef API_IDENTIFY_H
#define API_IDENTIFY_H

#include "job.h"

#define IDENTIFY_KNOWN_MAX 24 /* parameters that are known, or searched */

struct identify {
    struct tensor x, y;
    bool of_scores; /* x and y are matrices: biased and keys in place of from and to */
    struct pe_biased biased;
    struct position_lists keys;
    struct pe_view from, to;
    const char *axes;
    const char *posted_as; /* the axes said, where others explain y; NULL */
    struct position_lists positions;
    enum pe_dtype dtype;
    struct pe_setting known[IDENTIFY_KNOWN_MAX];
    const char *search[IDENTIFY_KNOWN_MAX + 1];
    struct pe_identify result;
};

/* In prepare: the members `known` and `search`. */
bool identify_known(struct job *job, struct identify *own);
/* Whether vectors of so many channels can be those of what is known. */
bool identify_known_fits(struct job *job, const struct identify *own, size_t dim);

void identify_answer(struct job *job, const struct identify *own);
/* In words: an encoding, how well it explains y. NULL without memory. */
const char *identify_says(struct job *job, const struct identify *own,
                          const struct pe_candidate *candidate);
const char *identify_explains(const struct identify *own, const struct pe_candidate *candidate);
/* A parameter in which rivals differ: what would tell them apart. */
const char *identify_send(struct job *job, const struct identify *own, const char *key);
/* The answer as a colleague would write it. */
const char *identify_sentences(struct job *job, const struct identify *own);
/* The same of what adds; NULL: the key is as anywhere else. */
const char *identify_added_says(struct job *job, const struct pe_spec *spec);
const char *identify_added_send(const char *key);
/* Where something was added that nothing explains. */
const char *identify_added_advice(void);
/* Pieces of advice, one after the other; NULL: no more. */
const char *identify_advice(struct job *job, const struct identify *own, size_t i);

/* Libraries that do what the candidate says, one after the other, from *row = 0 on; NULL: no
 * more. */
const char *identify_dialect(const struct identify *own, const struct pe_candidate *candidate,
                             size_t *row);
/* The word for what else was done to the vectors; NULL: nothing. */
const char *identify_twist(const struct pe_candidate *candidate);

/* Around a search: what it needs of the request, with so much memory; whether it came to its end.
 */
bool identify_begin(struct job *job, struct identify *own, size_t work_bytes);
bool identify_ended(struct job *job, enum pe_status status);

/* [2, 3]. NULL without memory. */
const char *identify_shape(struct job *job, const struct tensor *tensor);
/* The narrowest format that holds every number of y. */
enum pe_dtype identify_narrowest(const struct tensor *y);

/* ---- Scores (identify_scores.c, identify_scores_says.c) ------------------------------------ */

/* Whether axes= names those of scores; what prepare and compute then do. */
bool identify_scores_asked(struct job *job, struct identify *own);
bool identify_scores_prepare(struct job *job, struct identify *own);
bool identify_scores_run(struct job *job, struct identify *own);
/* Members of the answer: what the matrices show; in `best` the table that was recovered. */
void identify_scores_write(struct job *job, const struct identify *own, struct tree *root);
void identify_scores_table(const struct identify *own, struct tree *best);
/* As identify_says, identify_send and identify_advice. */
const char *identify_scores_says(struct job *job, const struct identify *own,
                                 const struct pe_candidate *candidate);
const char *identify_scores_send(struct job *job, const struct identify *own, const char *key);
const char *identify_scores_advice(struct job *job, const struct identify *own, size_t i);
/* Of a bias: what is masked, or contradicts. NULL: nothing. */
const char *identify_scores_note(struct job *job, const struct identify *own, size_t i);

#endif
