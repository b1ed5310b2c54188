// SPDX-License-Identifier: Apache-2.0
/* columns.c: see columns.h. */
#include "columns.h"

#include <string.h>

bool columns_read(struct job *job, const char *name, size_t all, struct columns *columns)
{
    struct position_lists lists = {0};
    *columns = (struct columns){.all = all, .n = all, .some = job_key(job, name)->set};
    if (columns->some && !job_positions(job, name, 1, 1, &lists))
        return false;
    if (columns->some)
        columns->n = lists.list->n;
    columns->index = job_alloc(job, columns->n, sizeof *columns->index);
    columns->labels = job_alloc(job, columns->n, sizeof *columns->labels);
    if (!columns->index || !columns->labels)
        return false;
    for (size_t i = 0; i < columns->n; i++) {
        double c = columns->some ? lists.list->at[0][i] : (double)i;
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
