// SPDX-License-Identifier: Apache-2.0
/*
 * identify.h: what identify.c (the request and the answer), identify_known.c (what is known),
 * identify_dialects.c (libraries) and identify_says.c (sentences) share.
 */
#ifndef API_IDENTIFY_H
#define API_IDENTIFY_H

#include "job.h"

#define IDENTIFY_KNOWN_MAX 24 /* parameters that are known, or searched */

struct identify {
    struct tensor x, y;
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

/* In words: an encoding, how well it explains y. NULL without memory. */
const char *identify_says(struct job *job, const struct identify *own,
                          const struct pe_candidate *candidate);
const char *identify_explains(const struct identify *own, const struct pe_candidate *candidate);
/* A parameter in which rivals differ: what would tell them apart. */
const char *identify_send(struct job *job, const struct identify *own, const char *key);
/* The answer as a colleague would write it. */
const char *identify_sentences(struct job *job, const struct identify *own);
/* Pieces of advice, one after the other; NULL: no more. */
const char *identify_advice(struct job *job, const struct identify *own, size_t i);

/* Libraries that do what the candidate says, one after the other, from *row = 0 on; NULL: no
 * more. */
const char *identify_dialect(const struct identify *own, const struct pe_candidate *candidate,
                             size_t *row);
/* The word for what else was done to the vectors; NULL: nothing. */
const char *identify_twist(const struct pe_candidate *candidate);

#endif
