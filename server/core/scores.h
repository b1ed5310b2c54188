// SPDX-License-Identifier: Apache-2.0
/*
 * scores.h: one cell of a score matrix, seen the same way by the fast path (scores.c) and by MPFR
 * (scores_exact.c). A score is the mean over the vectors of a sum of parts; which parts depends on
 * how the kind acts. A part is a sum over terms: first the cosines of all pairs, then their sines,
 * then the channels that belong to no pair (kinds without pairs: all channels in order).
 */
#ifndef PE_CORE_SCORES_H
#define PE_CORE_SCORES_H

#include "kind.h"

enum pe__part {
    PE__CONTENT,  /* q.k */
    PE__CROSS_Q,  /* q.E at the key's place */
    PE__CROSS_K,  /* E at the query's place.k */
    PE__POSITION, /* E.E */
    PE__BIAS,
    PE__ROTATED, /* coefficients (pe__mixed_factors).(cos, sin, 1 at the distance) */
    PE__PARTS_N
};

/* What can be asked of a cell. The first four agree with enum pe__part. */
enum pe__output {
    PE__TERMS_N = PE__POSITION + 1,
    PE__SCORE = PE__TERMS_N,
    PE__LENGTH_Q,       /* of the query as given */
    PE__LENGTH_K,       /* of the key as given */
    PE__LENGTH_Q_AFTER, /* of the query encoded at the anchor */
    PE__LENGTH_K_AFTER, /* of the key encoded at the place */
    PE__REST,           /* (score - rounded) / 2^ilogb(rounded) */
};

struct pe__row;

/* Where a token stands, on every axis. */
struct pe__spot {
    struct pe__pos axis[PE_AXES_MAX];
};

struct pe__cell {
    const struct pe_scores *job;
    unsigned parts;        /* bit p: part p is in the score */
    bool staged;           /* the score is that of scores_staged.c instead */
    const size_t *order;   /* channel of each term, or PE__NO_CHANNEL */
    const size_t *term_of; /* the other way round, of encoded vectors */
    size_t terms_n;
    struct pe__spot anchor, place; /* shift included; of no meaning where only distances count */
    const struct pe__row *anchor_code, *place_code; /* staged: the encoding's values there */
    double distance;                                /* query position - key position */
    struct pe__spot apart;                          /* the same of their places */
    bool bias_places;                               /* biases depend on more than that: */
    double last;                                    /* the farthest key of all cells */
    size_t first, n;                                /* vectors that sums run over */
    double rounded;                                 /* the score, for PE__REST */
    bool *divides_by_zero;                          /* set by pe__cell_exact */
};

static inline const struct pe__spot *pe__query_place(const struct pe__cell *cell)
{
    return cell->job->anchor_is_key ? &cell->place : &cell->anchor;
}

static inline const struct pe__spot *pe__key_place(const struct pe__cell *cell)
{
    return cell->job->anchor_is_key ? &cell->anchor : &cell->place;
}

static inline const struct pe__row *pe__query_row(const struct pe__cell *cell)
{
    return cell->job->anchor_is_key ? cell->place_code : cell->anchor_code;
}

static inline const struct pe__row *pe__key_row(const struct pe__cell *cell)
{
    return cell->job->anchor_is_key ? cell->anchor_code : cell->place_code;
}

/* Element of a vector that belongs to a term; 0 where the term has no channel. */
static inline double pe__term_element(const struct pe__cell *cell, const double *vectors, size_t v,
                                      size_t t)
{
    size_t channel = cell->order[t];
    return channel == PE__NO_CHANNEL ? 0 : vectors[v * cell->job->dim + channel];
}

/* The coefficient of term t of a rotated score for vector v is a[0] b[0] + ... (returns how many):
 * q1 k1 + q2 k2 for a cosine, q1 k2 - q2 k1 for a sine, q k for a channel that passes through. */
size_t pe__mixed_factors(const struct pe__cell *cell, size_t t, size_t v, double a[2], double b[2]);

/* Whether lengths, and whether scores depend on where the vectors stand, not on their distance
 * alone. */
static inline bool pe__lengths_vary(const struct pe__cell *cell)
{
    return cell->staged || cell->parts >> PE__POSITION & 1;
}

static inline bool pe__places_count(const struct pe__cell *cell)
{
    return pe__lengths_vary(cell) || cell->bias_places;
}

/* The bias of the cell for vector v; from the distance where only that counts and is not rounded
 * before. */
static inline struct pe__bias_at pe__cell_bias(const struct pe__cell *cell, size_t v)
{
    const struct pe_scores *job = cell->job;
    struct pe__bias_at at = {.head = job->head, .query = cell->distance, .last = cell->last};
    at.q = job->q + v * job->dim;
    at.k = job->k + v * job->dim;
    if (cell->bias_places || pe__stage_named(&job->plan->stages, PE_STAGE_POS)) {
        at.query = pe__query_place(cell)->axis[0].hi;
        at.key = pe__key_place(cell)->axis[0].hi;
    }
    return at;
}

/* The encoding's own value in term t at a place; of rotations cos, sin or, for channels that pass,
 * 1. */
void pe__code_exact(const struct pe__cell *cell, const struct pe_plan *plan,
                    const struct pe__spot *at, size_t t, mpfr_t y);

/* An output to the precision of y (a pe__exact_fn: context is the cell, i the output). */
void pe__cell_exact(const void *context, size_t i, mpfr_t y);
/* y by the square root of dim, to the precision of y: scale_sqrt_dim. */
void pe__by_root_exact(size_t dim, mpfr_t y);

#endif
