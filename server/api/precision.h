// SPDX-License-Identifier: Apache-2.0
/* precision.h: what precision.c (reading, computing) and precision_readouts.c (telling) share. */
#ifndef API_PRECISION_H
#define API_PRECISION_H

#include "job.h"

/* One pipeline's errors: rows of the answer's tensors. */
struct pipeline {
    const struct pe_stages *stages;
    const char *name;
    const double *max_abs_error;
    const int64_t *worst;
};

/* All of them. */
struct precision {
    const char *quantity; /* "cos" */
    const char *compact;  /* of the encoding */
    const char *member;   /* what errors are counted by: "pair", "channel"; NULL: there is one */
    const double *at;     /* positions */
    size_t positions_n;
    struct pipeline pipeline[JOB_PIPELINES_MAX];
    size_t pipelines_n;
};

/* Adds `pipelines`: the largest error of each, where the thresholds are passed, collisions. */
void precision_readouts(struct tree *readouts, const struct precision *all);
/* The same for a terminal: a table with a column for each pipeline, and what it says; NULL without
 * memory. */
const char *precision_text(struct arena *arena, const struct precision *all);

#endif
