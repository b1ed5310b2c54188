// SPDX-License-Identifier: Apache-2.0
/*
 * table.h: what table.c (encodings) and table_bias.c (what bias kinds have) share.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "columns.h"
#include "job.h"

struct table {
    struct position_lists positions; /* of matrices those of the queries */
    struct position_lists keys;      /* matrices */
    enum pe_facet value;
    enum pe_dtype dtype;
    size_t width; /* of one row before channels are chosen */
    struct columns channels;
};

/* Matrices: where queries and keys stand. The keys `queries` and `keys` become positions. */
bool table_sides(struct job *job, struct table *own);
/* The outputs of biases, buckets and indices, and of slopes. */
void table_matrix_state(struct job *job, const struct table *own);
void table_slopes_state(struct job *job, const struct table *own);

#endif
