// SPDX-License-Identifier: Apache-2.0
/* similarity.h: how much alike an encoding makes two places. See posenc.h. */
#ifndef POSENC_SIMILARITY_H
#define POSENC_SIMILARITY_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Adding kinds: the dot product of the two codes. Rotating kinds: the mean over the pairs of the
 * cosine of the angle between the two places, which is the score of a vector that lies in the first
 * member of every pair with itself, divided by its lengths. Correctly rounded to f64.
 */
struct pe_similarity {
    const struct pe_plan *plan; /* adding; or rotating, with one angle a pair and no scales */
    const struct pe_positions *queries, *keys; /* all have one, on every axis of the plan */
    bool cosine;                 /* adding kinds: divided by the lengths of the codes too */
    bool (*stop)(void *context); /* asked before each query; true: PE_STOPPED */
    void *stop_context;
    double *work; /* [dim] */
    double *out;  /* [queries, keys] */
};
/* Positions must have passed pe_positions_check. PE_NO_MEMORY, PE_STOPPED, or PE_INVALID_VALUE when
 * a code has the length 0 that is to be divided by. */
enum pe_status pe_similarity(const struct pe_similarity *job);

/* Rotating kinds on one axis, without stages: RoFormer's bound of how scores decay with the
 * distance: the mean over i = 1 .. pairs of |sum of the first i cis(distance w)|. With products of
 * q and k, pair by pair as complex numbers, that differ by at most 1 from one pair to the next and
 * end with 0, no score is larger than pairs times it. Rounded once. */
void pe_decay_bound(const struct pe_plan *plan, const double *distances, size_t n, double *out);

#ifdef __cplusplus
}
#endif

#endif
