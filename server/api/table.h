// SPDX-License-Identifier: Apache-2.0
/*
 * table.h: what table.c (encodings) and table_bias.c (what bias kinds have) share.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "aspects.h"

struct table {
    struct position_lists positions; /* of matrices those of the queries */
    struct position_lists keys;      /* matrices */
    enum pe_facet value;
    struct aspects aspects;
};

/* Matrices: where queries and keys stand. The keys `queries` and `keys` become positions. */
bool table_sides(struct job *job, struct table *own, size_t batches_max);
/* What making a matrix costs. */
bool table_matrix_work(struct job *job, const struct table *own);
/* The output of buckets, indices or inputs. */
void table_matrix_state(struct job *job, const struct table *own);

#endif
