// SPDX-License-Identifier: Apache-2.0
/* precision.h: what a pipeline that rounds makes of an encoding. See posenc.h. */
#ifndef POSENC_PRECISION_H
#define POSENC_PRECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "score.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What has an error. */
enum pe_quantity {
    PE_QUANTITY_COS,   /* the cosine of each pair */
    PE_QUANTITY_SIN,   /* the sine of each pair */
    PE_QUANTITY_TABLE, /* both; of kinds without pairs the value in each channel */
    PE_QUANTITY_ANGLE, /* the angle of each pair, in radians */
    PE_QUANTITY_APPLY, /* each channel of q, encoded */
    PE_QUANTITY_SCORE, /* q.k, both encoded */
    PE_QUANTITIES_N
};

/* Whether an encoding has it; else the fault names "quantity" or "kind". */
bool pe_precision_check(const struct pe_spec *spec, enum pe_quantity quantity,
                        struct pe_faults *faults);
/* How many numbers of it there are at a position. */
size_t pe_precision_count(const struct pe_spec *spec, enum pe_quantity quantity);
/* The stages that make a difference to it, as bits. */
unsigned pe_precision_stages(enum pe_quantity quantity);

/* Errors against the exact numbers, at each position. Values and angles are compared as the real
 * numbers that they are, and the difference is rounded once; one that is lost in the last of 100
 * bits is 0. Vectors are compared in f64. NaN where a pipeline has no number, because an angle is
 * beyond the range of its stage. */
struct pe_precision {
    const struct pe_plan *exact, *staged; /* of one spec, without stages and with those of plans */
    const struct pe_stages *stages;       /* all of the pipeline */
    enum pe_quantity quantity;
    const struct pe_positions *positions; /* all with a position */
    const double *q, *k;                  /* [dim]: q of vectors, both of scores */
    size_t dim;                           /* of biases, which have none of their own */
    double distance;             /* of scores: the key stands so far before the query; NaN: at 0 */
    bool (*stop)(void *context); /* asked before each position; true: PE_STOPPED */
    void *stop_context;
    /* outputs, [positions] */
    double *max_abs_error;
    double *rms_error; /* root of the mean of the squares, rounded once */
    int64_t *worst;    /* the pair, without pairs the channel, that has the largest; -1 for a
                          channel outside of all pairs; 0 for scores */
    double *error;     /* [positions][pe_precision_count]: every error; NULL: not asked for */
};
/* PE_NO_MEMORY, or PE_STOPPED. */
enum pe_status pe_precision(const struct pe_precision *job);

#ifdef __cplusplus
}
#endif

#endif
