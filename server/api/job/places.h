// SPDX-License-Identifier: Apache-2.0
/*
 * places.h: what the files that read positions share: numbers as a caller gave them, and the
 * coordinates that they become. job_positions.c decides which keys say where tokens stand;
 * job_positions_lists.c reads lists, job_positions_grid.c grids and maps of pixels,
 * job_positions_mask.c masks and token ids; job_positions_chunks.c moves tokens into chunks.
 */
#ifndef API_PLACES_H
#define API_PLACES_H

#include "job.h"

/* A list, or rows of lists of the same length. */
struct numbers {
    size_t rank, count;
    const size_t *shape;
    double *at;
};

/* Coordinates [axes][batches][n], without gaps, in the arena. */
struct places {
    double *at;
    size_t axes, batches, n;
    bool batched;     /* a list for each batch row, even if that is one */
    const bool *real; /* [batches][n]: tokens rather than padding; NULL: all are */
};

/* What is asked for. */
struct places_ask {
    const char *name;           /* the key */
    const struct pe_spec *spec; /* whose positions they are; NULL: of none */
    size_t axes;
    size_t batches_max;
};

/* Where the value of a list key stands: a parameter, or a pointer. */
const char *places_where(const struct job *job, const char *name);
/* The value of a list key: text with rows between ;, JSON lists, a tensor. *labelled (may be NULL):
 * not JSON lists, so that rows may be axes. */
bool numbers_read(struct job *job, const char *name, struct numbers *numbers, bool *labelled);
/* Numbers that are whole, in [least, most]; faults point to the number. */
bool numbers_whole(struct job *job, const char *name, const struct numbers *numbers, double least,
                   double most);
/* The canonical text of a key that numbers_read has read. */
bool numbers_echo(struct job *job, const char *name, const struct numbers *numbers);

bool places_from_lists(struct job *job, const struct places_ask *ask, struct places *places);
bool places_from_grid(struct job *job, const struct places_ask *ask, struct places *places);
bool places_from_mask(struct job *job, const struct places_ask *ask, struct places *places);

/* Whether the style is dual_chunk. */
bool chunks_asked(const struct job *job);
/* Refuses the keys that only this style reads; as job_unread. */
bool chunks_unread(struct job *job);
/* The chunks of this style. */
bool chunks_read(struct job *job, struct pe_chunks *chunks);
/* Numbers of tokens on one axis, which become positions of the key `variant`. */
bool places_in_chunks(struct job *job, const char *where, struct places *places);

/* The grid that the key `grid` and those beside it say. */
bool grid_read(struct job *job, struct pe_grid *grid);
/* The coordinates of a grid's cells, [axes][cells]; NULL as job_alloc. */
double *grid_places(struct job *job, const struct pe_grid *grid);
/* Which places are tokens, by attention_mask or ids; the numbers' count. NULL with an error. */
const bool *mask_read(struct job *job, const struct pe_spec *spec, struct numbers *numbers);
/* The padding_idx of the request, of the spec or the usual one, which is then echoed. */
double mask_padding_idx(struct job *job, const struct pe_spec *spec);
/* The style; NULL with an error if there is none. */
const struct pe_style *style_read(struct job *job);

#endif
