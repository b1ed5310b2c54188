// SPDX-License-Identifier: Apache-2.0
/* score.h: sums, and scores of encoded vectors. See posenc.h. */
#ifndef POSENC_SCORE_H
#define POSENC_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sums --------------------------------------------------------------------------------- */

/* Correctly rounded to f64 whatever the order: a.b and the Euclidean length. Elements must be
 * finite for an exact answer; else IEEE's NaN or infinity. */
double pe_dot(enum pe_dtype dtype, const void *a, const void *b, size_t n);
double pe_norm(enum pe_dtype dtype, const void *a, size_t n);
/* The sum of n doubles, in the same way. */
double pe_sum(const double *a, size_t n);
/* The mean of n >= 1 finite doubles of normal size. Allocates and is slow: for readouts. */
double pe_mean(const double *a, size_t n);

/* ---- Scores ------------------------------------------------------------------------------- */

enum pe_normalize { PE_NORMALIZE_NONE, PE_NORMALIZE_COSINE, PE_NORMALIZE_MEAN, PE_NORMALIZE_FIRST };

/* Whether a score against one offset says what the encoding does: not with several axes, scales,
 * ... Faults name "kind". */
bool pe_scores_check(const struct pe_spec *spec, struct pe_faults *faults);
/* Of these rules those of scores of any two tokens: no scales, not polar. */
bool pe_scores_show(const struct pe_spec *spec, struct pe_faults *faults);

/* q.k of encoded vectors against offset: the query at the anchor, the key at anchor + offset
 * (swapped with anchor_is_key). All outputs are f64, correctly rounded means over the n vectors. */
struct pe_scores {
    const struct pe_plan *plan;   /* one position axis; not polar */
    const struct pe_plan *k_plan; /* of k, where it has an encoding of its own: rotating, with the
                                     channels of the same pairs; not with anchor_is_key or
                                     PE_NORMALIZE_FIRST. NULL: plan */
    const double *q, *k;          /* [vectors_n, dim] */
    size_t vectors_n, dim;
    const double *anchors, *offsets;
    size_t anchors_n, offsets_n;
    bool anchor_is_key;
    size_t head;                    /* bias kinds */
    const struct pe_stages *stages; /* apply (of biases the addition) and dot; NULL: exact */
    bool scale_sqrt_dim;            /* divide by sqrt(dim) */
    double scale;                   /* multiply by it; 1 for none */
    enum pe_normalize normalize;
    bool (*stop)(void *context); /* asked before each score; true: PE_STOPPED, outputs half done */
    void *stop_context;
    /* outputs */
    double *scores;   /* [anchors_n, offsets_n] */
    double *rest;     /* same shape, may be NULL: exact score - score, to the 24 bits of a float
                         in units of the score's size; with it differences of scores can be
                         rounded once as well: 4 * pe_mean({a, a_rest, -b, -b_rest}, 4) */
    double *terms[4]; /* content, cross_q, cross_k, position: same shape, each may be
                         NULL; adding kinds only; unscaled, not normalized */
    double norm_q_before, norm_k_before;
    /* lengths encoded: of q at each anchor, of k at anchor + offset, also with anchor_is_key */
    double *norm_q_after; /* [anchors_n] */
    double *norm_k_after; /* [anchors_n, offsets_n] */
};
/* Positions anchor + offset must have passed pe_positions_check. PE_NO_MEMORY, or PE_INVALID_VALUE
 * when a normalization divides by zero. */
enum pe_status pe_scores(struct pe_scores *job);

#ifdef __cplusplus
}
#endif

#endif
