// SPDX-License-Identifier: Apache-2.0
/*
 * apply_rotate.h: what the rotation of a tensor's rows (apply_rotate.c) and its cosines and sines
 * (apply_rotate_values.c) share.
 */
#ifndef PE_CORE_APPLY_ROTATE_H
#define PE_CORE_APPLY_ROTATE_H

#include "apply.h"
#include "kernels.h"
#include "kind.h"

/* Tokens in a block, at most: of one run. Twice as many, heads outermost: 1.07 x the time. */
#define PE__ROTATING_TOKENS 128

struct pe__rotating_work {
    struct pe__plan_walk walk;
    struct pe__planes planes;
    _Alignas(64) double values[PE__APPLY_BYTES / sizeof(double)];
    double eps[PE__ROTATING_TOKENS]; /* f64: of each token's values */
    bool still[PE__ROTATING_TOKENS]; /* tokens whose pairs stay: at position 0, or never turned */
};

/* Cos and sin of one token's pairs, within `values`: correctly rounded doubles, spread if members
 * are adjacent; for f64 high parts, and as far behind s the low parts of both. */
struct pe__values {
    double *c, *s;
};

/* What is being rotated now: pairs [first, first + n) of tokens from `token` on. */
struct pe__rotating {
    const struct pe__slab *slab;
    const struct pe_plan *plan;
    const struct pe__kernels *kernels;
    struct pe__rotating_work *work;
    enum pe_dtype from, to;
    size_t size; /* bytes of an element of `to` */
    size_t token;
    size_t first, n;
    size_t plane;  /* doubles from one part of a row to the next */
    size_t parts;  /* 2 or, for f64, 4 */
    size_t a, b;   /* channels of the first pair */
    size_t step;   /* channels from one pair to the next, 1 or 2 */
    bool has_rest; /* there are channels before or behind all pairs */
    bool streams;
};

/* Makes cos and sin of tokens [i, n) of the block from i on, as many as one run has, if these are
 * all they need; else of token i. Returns of how many. */
size_t pe__rotating_make(const struct pe__rotating *rotation, size_t i, size_t n);

static inline struct pe__values pe__values_at(const struct pe__rotating *rotation, size_t token)
{
    double *c = rotation->work->values + token * rotation->parts * rotation->plane;
    return (struct pe__values){c, c + rotation->plane};
}

/* Whether the inverse has to take an attention factor back, beside turning back. */
static inline bool pe__rotating_undoes(const struct pe__rotating *rotation)
{
    return rotation->plan->amplified && rotation->slab->job->inverse;
}

static inline struct pe__pos pe__rotating_place(const struct pe__rotating *rotation, size_t token)
{
    return pe__plan_position(rotation->plan, rotation->slab->positions->at[0][token]);
}

#endif
