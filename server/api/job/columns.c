// SPDX-License-Identifier: Apache-2.0
/* columns.c: see columns.h. */
#include "columns.h"

#include <string.h>

struct columns columns_all(size_t n)
{
    return (struct columns){.all = n, .n = n};
}

static bool columns_alloc(struct job *job, struct columns *columns)
{
    columns->index = job_alloc(job, columns->n, sizeof *columns->index);
    columns->labels = job_alloc(job, columns->n, sizeof *columns->labels);
    return columns->index && columns->labels;
}

bool columns_count(struct job *job, size_t n, struct columns *columns)
{
    *columns = columns_all(n);
    if (!columns_alloc(job, columns))
        return false;
    for (size_t i = 0; i < n; i++) {
        columns->index[i] = i;
        columns->labels[i] = (double)i;
    }
    return true;
}

bool columns_read(struct job *job, const char *name, size_t all, struct columns *columns)
{
    struct position_lists lists = {0};
    if (!job_key(job, name)->set)
        return columns_count(job, all, columns);
    if (!job_positions(job, name, NULL, 1, &lists))
        return false;
    *columns = (struct columns){.all = all, .n = lists.list->n, .some = true};
    if (!columns_alloc(job, columns))
        return false;
    for (size_t i = 0; i < columns->n; i++) {
        double c = lists.list->at[0][i];
        if (!(c >= 0 && c < (double)all) || c != (double)(size_t)c)
            return err_add(&job->request->err, ERR_invalid_value, name, NULL,
                           "%s are whole numbers from 0 to %zu; got %g", name, all - 1, c);
        columns->index[i] = (size_t)c;
        columns->labels[i] = c;
    }
    return true;
}

void columns_take(const struct columns *columns, const void *rows, void *out, size_t rows_n,
                  size_t size)
{
    for (size_t r = 0; r < rows_n; r++)
        for (size_t i = 0; i < columns->n; i++)
            memcpy((char *)out + (r * columns->n + i) * size,
                   (const char *)rows + (r * columns->all + columns->index[i]) * size, size);
}

struct pe_positions tokens_slab(const struct pe_positions *all, size_t first, size_t n)
{
    struct pe_positions some = {.axes = all->axes, .n = n};
    for (size_t axis = 0; axis < all->axes; axis++)
        some.at[axis] = all->at[axis] + first;
    return some;
}
