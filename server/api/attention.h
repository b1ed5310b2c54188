// SPDX-License-Identifier: Apache-2.0
/*
 * attention.h: what attention.c (reading), attention_run.c (computing), attention_readouts.c and
 * attention_text.c (telling) share.
 */
#ifndef API_ATTENTION_H
#define API_ATTENTION_H

#include "content.h"
#include "job.h"
#include "scores.h"

#define ATTENTION_TOKENS_MAX 4096

/* What one encoding makes of the sequence, and how much its outputs change with the order. */
struct attention_result {
    double *weights; /* [tokens, tokens] */
    double *output;  /* [tokens, width]; NULL with scores of the caller's */
    double *entropy; /* [tokens] */
    double largest;  /* of the outputs, in size */
    double residual; /* largest |out(Px) - P out(x)| */
};

struct attention {
    size_t tokens, dim, width; /* width: of values */
    const char **labels;       /* NULL: none */
    struct position_lists positions;
    struct content content;
    struct tensor x, q, k, v, scores; /* posted */
    bool seeded, has_scores, same;    /* same: q = k = v = x */
    struct score_scale scale;
    bool causal;
    size_t *permutation; /* token that comes to each place */
    struct attention_result with, without;
};

#define WITHOUT_SPEC 1 /* of the job's, the one behind that which is asked for */

/* Both results, in memory of their own but for the outputs of the answer. */
bool attention_run(struct job *job, struct attention *own);

/* Readouts, notes, and text where somebody reads it. */
void attention_tell(struct job *job, const struct attention *own);
/* Sentences, and for a terminal the weights as tables above them. */
void attention_text(struct job *job, const struct attention *own);

/* The change of the outputs with the order, as a share of the largest. */
double attention_relative(const struct attention_result *result);
/* Whether token t is the first of several with one label. */
bool attention_repeats(const struct attention *own, size_t t);
/* Largest difference between the outputs of tokens with the label of token `first`. */
double attention_apart(const struct attention *own, size_t first, const double *output);

#endif
