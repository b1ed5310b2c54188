// SPDX-License-Identifier: Apache-2.0
/*
 * apply.h: what apply.c (vectors), apply_rows.c (making them), apply_given.c (cos and sin of the
 * caller's), apply_onnx.c (names of an operator) and apply_scores.c (score matrices of bias kinds)
 * share.
 */
#ifndef API_APPLY_H
#define API_APPLY_H

#include <pthread.h>

#include "aspects.h"
#include "content.h"

#define TARGETS_MAX 3 /* x, q, k */

struct norm_range {
    bool any; /* that is a number */
    double least, most;
};

/* Lengths of the vectors of a tensor before and after, gathered in any order. */
struct norms {
    pthread_mutex_t lock;
    struct norm_range before, after;
    double worst; /* relative change */
};

/* One tensor to encode. */
struct target {
    size_t role; /* 0 x, 1 q, 2 k */
    size_t spec; /* which of the job's */
    bool seeded; /* GET: test vectors, filled when computing */
    struct tensor in;
    struct pe_view view;
    const char *axes;
    enum pe_dtype dtype; /* of what comes out */
    size_t width;        /* of its vectors */
    struct position_lists positions;
    struct norms norms; /* if the format has readouts */
    size_t parts;       /* of its work in place */
};

struct apply {
    bool biases; /* scores instead of targets */
    struct target target[TARGETS_MAX];
    size_t targets_n;
    struct content content;
    bool given;             /* cos and sin are the caller's */
    struct tensor cos, sin; /* [rows, pairs], or, without positions, [batches, tokens, pairs] */
    struct tensor scores;   /* [.., heads, queries, keys] */
    struct tensor q, k;     /* biases made of them: [.., heads, queries or keys, dim] */
    struct position_lists queries, keys;
    struct position_lists placed; /* of the first target, without its prefix */
    struct aspects aspects;       /* of the first target, or of scores */
};

/* The stages that applying has; `dtype` is that of the first tensor. */
bool apply_stages(struct job *job, enum pe_dtype dtype);

void norms_init(struct norms *norms);
/* The readout `name`. */
void norms_tree(struct job *job, const struct norms *norms, const char *name);

/* In prepare: how an output of target i is made: the encoded tensor, or the seeded one. */
void apply_rows_state(struct output *output, struct apply *own, size_t i, bool seeded);
/* In compute: the rest, which depends on the plans. Tensors that nobody needs as they were become
 * their answer where they are. */
void apply_rows_prepare(struct job *job);

/* Reads cos and sin, once targets have their views, and puts them into the specs, before
 * job_specs_finish. */
bool apply_given_read(struct job *job, struct apply *own);
/* Without positions: the numbers of a target's rows. */
bool apply_given_positions(struct job *job, struct target *target);

/* names=onnx: checks the request and sets what aspects are of, before they are stated; renames all
 * outputs, once they are. */
bool apply_is_onnx(const struct job *job);
bool apply_onnx_places(struct job *job, struct apply *own);
void apply_onnx_rename(struct job *job, const struct apply *own);

bool apply_scores_prepare(struct job *job, struct apply *own);
bool apply_scores_compute(struct job *job, struct apply *own);

#endif
