// SPDX-License-Identifier: Apache-2.0
/* attention.h: attention over a sequence, with an encoding. See posenc.h. */
#ifndef POSENC_ATTENTION_H
#define POSENC_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Five roundings lead to an output, each of the exact result of what the one before it gave, to
 * f64: the score; the exponential of score - largest score of the row (a difference that is not
 * rounded itself); the sum of these; their quotients by it, the weights; the sum of weights times
 * values. No order of summation shows in them, so that without an encoding tokens that change
 * places change nothing but places.
 */

/* Scores of every query with every key, [tokens, tokens]. */
struct pe_attention {
    const struct pe_plan *plan;           /* any kind but polar ones and those with scales */
    const struct pe_positions *positions; /* of queries and keys alike; every token has one */
    const double *q, *k;                  /* [tokens, dim], finite */
    size_t dim;
    size_t head;                    /* bias kinds */
    const struct pe_stages *stages; /* apply and dot, not of bias kinds; NULL: exact */
    bool scale_sqrt_dim;            /* divide q.k by sqrt(dim) */
    double scale;                   /* multiply it; 1 for none. Biases are added behind it, but for
                                       those made of q and k (PE_CONTENT), which it takes in */
    bool causal;                    /* keys behind the query are not seen: -infinity */
    bool (*stop)(void *context);    /* asked before each query; true: PE_STOPPED */
    void *stop_context;
    double *scores;
};
/* PE_OK, PE_NO_MEMORY or PE_STOPPED. Positions must have passed pe_positions_check. */
enum pe_status pe_attention_scores(const struct pe_attention *job);

/* The weights of one row of n scores, -infinity where nothing is seen; out may be in. All are NaN
 * where nothing is seen at all, or a score is NaN or infinite. */
void pe_softmax(const double *scores, size_t n, double *weights);
/* Its entropy in nats, -sum of w ln w for the exact w of these scores, rounded once. */
double pe_softmax_entropy(const double *scores, size_t n);

/* Weights times values: out[query][channel] for weights [queries, keys]; values by channel, [dim,
 * keys]. */
void pe_attention_output(const double *weights, size_t queries, size_t keys, const double *values,
                         size_t dim, double *out);

#ifdef __cplusplus
}
#endif

#endif
