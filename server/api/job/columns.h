// SPDX-License-Identifier: Apache-2.0
/*
 * columns.h: the columns (channels, pairs) that a caller picks from rows of a table, in the grammar
 * of positions; and slabs of its rows.
 */
#ifndef API_COLUMNS_H
#define API_COLUMNS_H

#include "job.h"

struct columns {
    size_t all;     /* in a full row */
    size_t n;       /* chosen */
    size_t *index;  /* of each chosen one; may be NULL without a choice */
    double *labels; /* the same as numbers, for csv and txt; may be NULL */
    bool some;      /* the caller chose; else all, in order */
};

/* All of n, without lists of them; and with. */
struct columns columns_all(size_t n);
bool columns_count(struct job *job, size_t n, struct columns *columns);
/* Reads the PE_TEXT key `name`; all columns without it. */
bool columns_read(struct job *job, const char *name, size_t all, struct columns *columns);
/* Chosen columns of dense rows [rows_n, all] into [rows_n, n]; elements of `size` bytes. */
void columns_take(const struct columns *columns, const void *rows, void *out, size_t rows_n,
                  size_t size);
/* Tokens [first, first + n) of a list. */
struct pe_positions tokens_slab(const struct pe_positions *all, size_t first, size_t n);

#endif
