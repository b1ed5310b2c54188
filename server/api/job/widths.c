// SPDX-License-Identifier: Apache-2.0
/* widths.c: see widths.h. */
#include "widths.h"

#include <string.h>

enum width width_of(const struct job *job)
{
    return (enum width)job_key(job, "width")->number;
}

enum pack pack_of(const struct job *job)
{
    return (enum pack)job_key(job, "pack")->number;
}

/* ---- Columns ------------------------------------------------------------------------------- */

static size_t chosen_pair(const struct columns *pairs, size_t i)
{
    return pairs->some ? pairs->index[i] : i;
}

/* The end of the pairs from `first` on that turn with one axis. */
static size_t axis_end(const struct pe_spec *spec, size_t first, size_t pairs)
{
    size_t end = first + 1;
    while (end < pairs && pe_spec_pair_axis(spec, end) == pe_spec_pair_axis(spec, first))
        end++;
    return end;
}

static void fill_per_axis(const struct pe_spec *spec, size_t pairs, size_t *index)
{
    for (size_t first = 0, end; first < pairs; first = end) {
        end = axis_end(spec, first, pairs);
        for (size_t i = first; i < end; i++)
            index[first + i] = index[end + i] = i;
    }
}

static void fill_full(const struct pe_spec *spec, size_t pairs, size_t *index)
{
    for (size_t i = 0; i < pairs; i++) {
        size_t a, b;
        pe_spec_pair_channels(spec, i, &a, &b);
        index[a] = index[b] = i;
    }
}

static bool refuse_some(struct job *job)
{
    return err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "width"),
                   "width=half, tiled or repeated",
                   "some pairs alone cannot be laid out as the layout or the axes need all");
}

bool widths_read(struct job *job, const struct pe_spec *spec, const struct columns *pairs,
                 struct columns *columns)
{
    enum width width = width_of(job);
    size_t n = pairs->n;
    if (width == WIDTH_HALF) {
        *columns = *pairs;
        return true;
    }
    if (pairs->some && (width == WIDTH_PER_AXIS || width == WIDTH_FULL))
        return refuse_some(job);
    *columns = (struct columns){.all = pairs->all, .n = 2 * n, .some = true};
    columns->index = job_alloc(job, 2 * n, sizeof *columns->index);
    if (!columns->index)
        return false;
    if (width == WIDTH_PER_AXIS)
        fill_per_axis(spec, n, columns->index);
    if (width == WIDTH_FULL)
        fill_full(spec, n, columns->index);
    for (size_t i = 0; width == WIDTH_TILED && i < 2 * n; i++)
        columns->index[i] = chosen_pair(pairs, i % n);
    for (size_t i = 0; width == WIDTH_REPEATED && i < 2 * n; i++)
        columns->index[i] = chosen_pair(pairs, i / 2);
    return true;
}

bool widths_choose(struct job *job, const struct columns *chosen, struct columns *columns)
{
    size_t *index = job_alloc(job, chosen->n, sizeof *index);
    for (size_t i = 0; index && i < chosen->n; i++)
        index[i] = chosen_pair(columns, chosen_pair(chosen, i));
    columns->index = index;
    columns->labels = chosen->labels;
    columns->n = chosen->n;
    columns->some = true;
    return index != NULL;
}

/* ---- cos and sin in one -------------------------------------------------------------------- */

size_t packed_width(enum pack pack, const struct columns *columns)
{
    return (pack == PACK_SEPARATE ? 1 : 2) * columns->n;
}

/* One row of one of the two: every `step`th element of out. */
static void take_row(const struct columns *columns, const char *row, char *out, size_t step,
                     size_t size)
{
    for (size_t i = 0; i < columns->n; i++)
        memcpy(out + i * step * size, row + chosen_pair(columns, i) * size, size);
}

void packed_take(enum pack pack, const struct columns *columns, const void *cos, const void *sin,
                 void *out, size_t rows_n, size_t size)
{
    bool stacked = pack == PACK_STACKED;
    size_t half = (stacked ? 1 : columns->n) * size, step = stacked ? 2 : 1;
    const char *first = pack == PACK_SIN_COS ? sin : cos;
    const char *second = pack == PACK_SIN_COS ? cos : sin;
    for (size_t r = 0; r < rows_n; r++) {
        char *row = (char *)out + r * 2 * columns->n * size;
        take_row(columns, first + r * columns->all * size, row, step, size);
        take_row(columns, second + r * columns->all * size, row + half, step, size);
    }
}
