// SPDX-License-Identifier: Apache-2.0
/* precision.h: what precision.c (values, angles) and precision_vectors.c (vectors, scores) share.
 */
#ifndef PE_CORE_PRECISION_H
#define PE_CORE_PRECISION_H

#include "kind.h"

struct pe__vectors;

/* A measurement at work. */
struct pe__precision {
    const struct pe_precision *job;
    size_t count;                        /* of errors at a position */
    double *errors;                      /* [count]: those of the position in work */
    int64_t *pair_of;                    /* [count]: of vectors; NULL: one or two errors per pair */
    struct pe__ball *exact_w, *staged_w; /* [pairs]: frequencies, of angles */
    struct pe__vectors *vectors;         /* of vectors and scores */
    bool failed;                         /* without memory */
};

/* What vectors and scores need. False without memory; released all the same. */
bool pe__vectors_init(struct pe__precision *work);
void pe__vectors_release(struct pe__precision *work);
/* The errors of one position: of the channels of q, of q.k. */
void pe__vector_errors(struct pe__precision *work, size_t token);
void pe__score_errors(struct pe__precision *work, size_t token);

#endif
