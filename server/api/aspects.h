// SPDX-License-Identifier: Apache-2.0
/*
 * aspects.h: tensors that say what an encoding does at the positions asked for: cos and sin,
 * frequencies, biases and so on. Several endpoints give some of them as their own answer, and the
 * others to who asks for them beside it (the key `with`).
 */
#ifndef API_ASPECTS_H
#define API_ASPECTS_H

#include "columns.h"
#include "job.h"

#define ASPECT_NAMES                                                                               \
    "cos sin table inv_freq base_inv_freq angle scale positions axis passthrough bias slopes"

/* In the order of ASPECT_NAMES. */
enum aspect {
    ASPECT_COS,
    ASPECT_SIN,
    ASPECT_TABLE, /* cos and sin, if packed; else the encoding's row */
    ASPECT_INV_FREQ,
    ASPECT_BASE_INV_FREQ,
    ASPECT_ANGLE,
    ASPECT_SCALE,       /* factors of q, of kinds that have them */
    ASPECT_POSITIONS,   /* as angles are made from them */
    ASPECT_AXIS,        /* of positions, that a pair turns with */
    ASPECT_PASSTHROUGH, /* channels that stay as they are */
    ASPECT_BIAS,
    ASPECT_SLOPES,
    ASPECTS_N
};

#define KEY_WITH                                                                                   \
    {                                                                                              \
        "with", NULL, PE_ENUMS, 0, 0, 0, PE_OPTIONAL, NULL, ASPECT_NAMES, NULL,                    \
            "Further tensors in the same answer, in dtype if that is given, else f64."             \
    }

/* What aspects are of; job->aspects, set by an endpoint's prepare. */
struct aspects {
    size_t spec;                            /* which of the job's */
    enum pe_dtype dtype;                    /* of all but positions and whole numbers */
    enum pe_angle form;                     /* of angles */
    const struct position_lists *positions; /* of tokens, or queries; NULL: there are none */
    const struct position_lists *keys;      /* of biases; NULL: the same */
    struct columns pairs;                   /* columns of cos, sin and angles */
    struct columns channels;                /* columns of the encoding's row */
};

bool aspects_asked(const struct job *job, enum aspect aspect); /* by `with` */
/* The stages that what `with` asks for has. */
unsigned aspects_stages(const struct job *job);
/* All columns, the pairs as `width` lays them out; `pairs` are the chosen ones, NULL: all. */
bool aspects_columns(struct job *job, struct aspects *aspects, const struct columns *pairs);
/* States one as an output of the answer, unless it is there. */
void aspect_state(struct job *job, enum aspect aspect);
/* After all others: states what `with` asks for and refuses what the kind has not, and width and
 * pack where they have no effect. */
bool aspects_with(struct job *job);

#endif
