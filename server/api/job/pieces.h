// SPDX-License-Identifier: Apache-2.0
/*
 * pieces.h: what an answer consists of in its format, from the first byte to the last: texts, and
 * between them the rows of its tensors.
 */
#ifndef API_PIECES_H
#define API_PIECES_H

#include "buf.h"
#include "job.h"

#define PIECES_MAX   (2 * JOB_OUTPUTS_MAX + 2)
#define PIECES_SLACK ((size_t)8 << 10) /* room that printing some rows wants beside row_max */

struct piece {
    size_t at, len;              /* of a text, in pieces.text */
    bool late;                   /* a text that is made when all rows have been */
    const struct output *output; /* of rows; NULL: a text */
    size_t rows;
    size_t row_bytes; /* of the elements of one row */
    size_t lines;     /* how many rows of text it makes */
    size_t row_max;   /* most bytes of it in this format */
};

struct pieces {
    size_t n;
    struct piece piece[PIECES_MAX];
    size_t bytes; /* of the answer; of a text, a guess */
    struct buf text, late;
};

/* False with an error, or without memory. */
bool pieces_list(struct pieces *pieces, const struct job *job);
void pieces_release(struct pieces *pieces);
/* The bytes of a text. A late one is made by the only thread that has the request. */
bool pieces_text(struct job *job, struct pieces *pieces, const struct piece *piece,
                 const char **data, size_t *len);
/* Rows [first, first + n) of a tensor as text; `data` has their elements. Any thread. */
void pieces_print(const struct job *job, const struct piece *piece, size_t first, size_t n,
                  const void *data, struct buf *out);

#endif
