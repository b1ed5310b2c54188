// SPDX-License-Identifier: Apache-2.0
/*
 * scores_parts.h: the fast path of scores: parts of the score of one cell and lengths of vectors,
 * as balls. First choose vectors, an anchor and a place; then ask. What parts and terms are is said
 * in scores.h.
 */
#ifndef PE_CORE_SCORES_PARTS_H
#define PE_CORE_SCORES_PARTS_H

#include "ball.h"
#include "scores.h"

/* Numbers in the order of the terms, each off by at most eps. */
struct pe__row {
    double *hi, *lo;
    double eps;
    double size;                /* sum of |hi| */
    const struct pe_plan *plan; /* of an encoding's values: that they are from */
};

struct pe__parts {
    struct pe_scores *job;
    struct pe__cell cell; /* the one in work, with all vectors */
    size_t *order;
    double *numbers;             /* memory of the rows */
    struct pe__plan_walk *walks; /* one per block of pairs, of k_plan behind those of plan */
    bool divides_by_zero;        /* where pe__cell_exact says so */

    size_t first, n; /* the chosen vectors */
    struct pe__row query_sum, key_sum, mixed;
    struct pe__ball content;

    struct pe__row anchor_code, place_code; /* the encoding's values; rotating: cos, sin, 1 */
    struct pe__row encoded;                 /* scratch: one vector plus its code */
};

/* False without memory; release it in either case. It must not be moved. */
bool pe__parts_init(struct pe__parts *parts, struct pe_scores *job);
void pe__parts_release(struct pe__parts *parts);

static inline bool pe__has_part(const struct pe__parts *parts, enum pe__part part)
{
    return parts->cell.parts >> part & 1;
}

/* Makes [first, first + n) the vectors that parts are summed over. */
void pe__choose_vectors(struct pe__parts *parts, size_t first, size_t n);
/* The job's q and k are others than when they were chosen. */
static inline void pe__forget_vectors(struct pe__parts *parts)
{
    parts->n = 0;
}
/* Leaves biases to the caller: the score is q.k. */
static inline void pe__keep_content(struct pe__parts *parts)
{
    parts->cell.parts = 1u << PE__CONTENT;
    parts->cell.staged = false;
}
void pe__choose_anchor(struct pe__parts *parts, double anchor);
void pe__choose_place(struct pe__parts *parts, double anchor, double offset);
/* In their place tokens of lists, on any number of axes: the query at the anchor, and then
 * its key. Biases are not to be asked for. */
void pe__choose_query(struct pe__parts *parts, const struct pe_positions *queries, size_t query);
void pe__choose_key(struct pe__parts *parts, const struct pe_positions *queries, size_t query,
                    const struct pe_positions *keys, size_t key);

/* What adding kinds add to the query and to the key. */
static inline const struct pe__row *pe__query_code(const struct pe__parts *parts)
{
    return parts->job->anchor_is_key ? &parts->place_code : &parts->anchor_code;
}

static inline const struct pe__row *pe__key_code(const struct pe__parts *parts)
{
    return parts->job->anchor_is_key ? &parts->anchor_code : &parts->place_code;
}

/* A score by the square root of dim: scale_sqrt_dim. */
static inline struct pe__ball pe__by_root(struct pe__ball score, size_t dim)
{
    return pe__ball_div(score, pe__ball_sqrt(pe__ball_exact((double)dim)));
}

/* One part, and the sum of all the score has, summed over the chosen vectors. */
struct pe__ball pe__part_ball(const struct pe__parts *parts, enum pe__part part);
struct pe__ball pe__parts_sum(const struct pe__parts *parts);
/* Length of vector v of q or k; `after`: encoded, with `code` unless that is NULL, as it is for
 * rotations, which keep the length but for an attention factor. */
struct pe__ball pe__length_ball(struct pe__parts *parts, const double *vectors, size_t v,
                                bool after, const struct pe__row *code);

#endif
