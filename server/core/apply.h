// SPDX-License-Identifier: Apache-2.0
/*
 * apply.h: what applying an encoding to a tensor consists of, shared by apply.c (views, the walk
 * over rows) and apply_X.c.
 */
#ifndef PE_CORE_APPLY_H
#define PE_CORE_APPLY_H

#include "ball.h"
#include "posenc.h"

/* Scratch for the values of a block of tokens: fits the second-level cache with room for data. */
#define PE__APPLY_BYTES ((size_t)256 << 10)

/* A part of the tensor whose batches share their positions. */
struct pe__slab {
    const struct pe_apply *job;
    const struct pe_positions *positions;
    size_t batch, batches_n;
    void *moved_row; /* rows are read in the plan's output order, through this one; NULL: plainly */
};

/* Handles the channels of one token in one batch and head; `token` counts from the first of
 * pe__slab_rows. x and y are rows of in and out, the same memory when in place. */
typedef void pe__row_fn(void *context, size_t token, const void *x, void *y);

/* Calls fn for every row of tokens [first, first + n), in the order in which they lie in memory. */
void pe__slab_rows(const struct pe__slab *slab, size_t first, size_t n, pe__row_fn *fn,
                   void *context);

/* Rows as they lie in memory: of one token in all heads, or of a few tokens in one head. */
struct pe__stretch {
    size_t rows;
    size_t token;    /* of the first row, counted as above */
    bool same_token; /* of all rows, else each has the next */
    const char *x;   /* the first row of in and of out, and bytes to the next ones */
    char *y;
    size_t row_in, row_out;
    size_t ahead; /* bytes from a row of in to one that will be read soon, modulo 2^64 */
};

typedef void pe__stretch_fn(void *context, const struct pe__stretch *stretch);

/* Calls fn with all rows of tokens [first, first + n); where heads are outermost with at most
 * `tokens` at a time, so that what all heads need of these stays in the nearest cache. */
void pe__slab_stretches(const struct pe__slab *slab, size_t first, size_t n, size_t tokens,
                        pe__stretch_fn *fn, void *context);

/* Copies channels [first, first + n) of a row, bit by bit if both dtypes are the same (nothing in
 * place), else rounded once. */
void pe__row_copy(const struct pe_apply *job, size_t first, size_t n, const void *x, void *y);

/* The channels before and behind the pairs. */
void pe__row_copy_rest(const struct pe_apply *job, const void *x, void *y);

void pe__apply_rotate(const struct pe__slab *slab);
size_t pe__rotate_work_bytes(void);
void pe__apply_add(const struct pe__slab *slab);
size_t pe__add_work_bytes(const struct pe_plan *plan);
void pe__apply_crossed(const struct pe__slab *slab); /* with an apply stage or without */
void pe__apply_polar(const struct pe__slab *slab);
void pe__apply_staged(const struct pe__slab *slab); /* with an apply stage; rotates or adds */
size_t pe__staged_work_bytes(void);

/* Cos and sin of all pairs of a token, [pairs] each, for what is applied value by value: their
 * balls lie in the job's work. */
struct pe__codes {
    const struct pe__slab *slab;
    double *hi[2], *lo[2]; /* of cos and sin */
    double *eps;           /* of both */
    size_t token;
};
size_t pe__codes_work_bytes(const struct pe_plan *plan);
void pe__codes_init(struct pe__codes *codes, const struct pe__slab *slab);
void pe__codes_make(struct pe__codes *codes, size_t token);
void pe__codes_exact(const struct pe__codes *codes, size_t pair, bool is_sine, mpfr_t y);
static inline struct pe__ball pe__code_ball(const struct pe__codes *codes, size_t pair,
                                            bool is_sine)
{
    return (struct pe__ball){codes->hi[is_sine][pair], codes->lo[is_sine][pair], codes->eps[pair]};
}

/* Of the scales' exponent: k is divided, and so is q when all is undone. */
static inline int pe__scale_sign(const struct pe_apply *job)
{
    return job->is_key == job->inverse ? 1 : -1;
}

#endif
