// SPDX-License-Identifier: Apache-2.0
/*
 * positions.h: what positions.c (/v1/positions), positions_segments.c (text with images) and
 * positions_text.c (sentences) share.
 */
#ifndef API_POSITIONS_H
#define API_POSITIONS_H

#include "job.h"

/* Positions before they are an answer. */
struct ids {
    double *at; /* [rows][n] */
    size_t rows, n;
    const char *row;          /* what a row is: "batch", "axis", "variant" */
    const char *const *names; /* of the rows; NULL: they are numbered */
    bool whole;               /* all are whole numbers, by the rule that made them */
    const bool *real;         /* [rows][n]: tokens rather than padding; NULL: nothing is said */
    bool decodes;             /* delta is what decoding adds to the number of a token */
    double delta;
};

/* The key `segments`: text, or a list of objects; at most PE_SEGMENTS_MAX of them, in the arena. */
bool positions_segments_read(struct job *job, struct pe_segment **segments, size_t *n);
/* Positions of these segments (the key `name`) in a style that is not of tokens. */
bool positions_from_segments(struct job *job, const struct pe_style *style, const char *name,
                             const struct pe_segment *segments, size_t n, struct ids *out);
/* What there is to say of them. */
const char *positions_text(struct arena *arena, const struct ids *ids);

#endif
