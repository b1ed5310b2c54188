// SPDX-License-Identifier: Apache-2.0
/*
 * answer.h: the envelope of a computed answer and its representations. The answer is one tree
 * (json/tree.h); the main tensor carries its axes, so that csv and txt can label rows and columns.
 */
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include "api.h"
#include "tree.h"

/* One axis of the main tensor. */
struct answer_axis {
    const char *name;         /* csv header of the index column: "position", "head", "anchor" */
    const char *short_name;   /* txt: "pos" */
    const double *labels;     /* values along the axis; NULL: 0, 1, 2, ... */
    const char *const *names; /* text labels instead (columns); NULL */
    const double *more[PE_AXES_MAX]; /* with labels: further coordinates, "row;column"; ends
                                        with NULL */
};

struct answer {
    struct tree *root; /* object: semantics, spec, spec_id, params, tensors, readouts, links */
    struct tree *params, *tensors, *readouts; /* members of root, in this order */
    const struct tree *outputs; /* object whose members are all tensors: `tensors`, or one apart */
    const struct tree *main;    /* the main one of them; NULL: none */
    struct answer_axis axes[TREE_RANK_MAX]; /* of the main tensor */
    size_t position_axis;                   /* its index column comes first; 0 by default */
    struct tree *notes;                     /* sentences about the answer; NULL: none */
    const char *text_readouts;              /* sentences for txt instead of the generic list */
};

/* Prints the answer in a format that is text. False (out->failed) when it does not fit the buffer.
 */
bool answer_write(struct buf *out, const struct answer *answer, enum format format);

/* render_csv.c, render_txt.c: the main tensor as csv (RFC 4180, one header row, \n line ends) and
 * as an aligned table with the readouts below. */
void answer_write_csv(struct buf *out, const struct answer *answer);
/* The same in pieces: the header row, then rows [first, first + n), whose elements `data` holds. */
void answer_write_csv_header(struct buf *out, const struct answer *answer);
void answer_write_csv_rows(struct buf *out, const struct answer *answer, const void *data,
                           size_t first, size_t n);
size_t answer_csv_row_max(const struct answer *answer); /* bytes of one row */
void answer_write_txt(struct buf *out, const struct answer *answer);

/* render_binary.c: an answer in a binary format is a head, which does not depend on any element,
 * and behind it the elements of the main tensor, or with .safetensors of all, without a gap. */
void answer_write_head(struct buf *out, const struct answer *answer, enum format format);
/* Longest head that every reader of .safetensors takes. */
#define ANSWER_HEAD_MAX ((size_t)1 << 20)

#endif
