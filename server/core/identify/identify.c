// SPDX-License-Identifier: Apache-2.0
/*
 * identify.c: which encoding makes y of x: sets the search up in the caller's memory and runs its
 * steps, the likeliest first, until one explains y.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify_search.h"

/* How far off libraries are whose result has this dtype: for each radian of the fastest pair, and
 * besides, in parts of a pair's length. */
static const struct {
    double unit, drift, library, fixed;
} limits_of[PE_I64] = {
    [PE_F64] = {0x1p-51, 0x1p-50, 0x1p-48, 0x1p-47},
    [PE_F32] = {0x1p-24, 1e-7, 3e-7, 1e-6},
    [PE_F16] = {0x1p-11, 1e-7, 3e-7, 2e-3},
    [PE_BF16] = {0x1p-8, 1e-7, 3e-7, 1.6e-2},
};

#define ROUNDED_TRIED_MAX (PE_IDENTIFY_TRIED_MAX / 8)

static void lay_out(struct pe__search *search, struct pe__memory *memory, const struct pe_view *x,
                    size_t lists_n)
{
    size_t rows = lists_n > 1 ? x->batches * x->tokens : x->tokens, pairs = x->dim / 2 + 1;
    size_t n = x->batches * x->heads * x->tokens * x->dim;
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++) {
        search->order[axis] = pe__take(memory, rows, sizeof *search->order[axis]);
        search->place[axis] = pe__take(memory, rows, sizeof *search->place[axis]);
    }
    search->vector = pe__take(memory, 2 * x->dim + 2, sizeof *search->vector);
    search->added = pe__take(memory, rows * x->dim, sizeof *search->added);
    search->vectors = pe__take(memory, rows, sizeof *search->vectors);
    search->memory = pe__take(memory, PE__PHASES_DOUBLES * rows * pairs, sizeof *search->memory);
    search->pairing.at = pe__take(memory, pairs, sizeof *search->pairing.at);
    search->line = pe__take(memory, pairs, sizeof *search->line);
    search->free = pe__take(memory, pairs, sizeof *search->free);
    search->along = pe__take(memory, PE_AXES_MAX * pairs, sizeof *search->along);
    search->axis = pe__take(memory, pairs, 1);
    search->axes = pe__take(memory, pairs, 1);
    search->x = pe__take(memory, pairs, sizeof(double));
    search->v = pe__take(memory, pairs, sizeof(double));
    search->s = pe__take(memory, pairs, sizeof(double));
    search->z = pe__take(memory, pairs, sizeof(double));
    search->column = pe__take(memory, pairs, sizeof *search->column);
    search->made = pe__take(memory, n, sizeof(double));
    search->apply = pe__take(memory, PE__APPLY_BYTES, 1);
}

size_t pe_identify_work_bytes(const struct pe_view *x, size_t positions_n)
{
    struct pe__search search;
    struct pe__memory memory = {0};
    lay_out(&search, &memory, x, positions_n);
    return memory.used;
}

static int by_place(const void *a, const void *b, void *places)
{
    const double *at = places;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return at[i] < at[k] ? -1 : at[i] > at[k] ? 1 : i < k ? -1 : i > k;
}

void pe__search_places(struct pe__search *search, pe__place_fn *place, const void *context)
{
    const struct pe_identify *job = search->job;
    struct pe__given *given = &search->given;
    size_t tokens = job->x->tokens;
    for (size_t axis = 0; axis < given->axes; axis++) {
        given->at[axis] = search->place[axis];
        search->order_n = 0;
        for (size_t row = 0; row < given->rows; row++) {
            const struct pe_positions *list = &job->positions[row / tokens];
            double at = list->at[axis][row % tokens];
            if (place && !isnan(at))
                at = place(context, list, row % tokens, axis);
            search->place[axis][row] = at;
            if (!isnan(at))
                search->order[axis][search->order_n++] = (uint32_t)row;
        }
        qsort_r(search->order[axis], search->order_n, sizeof *search->order[axis], by_place,
                search->place[axis]);
    }
}

/* The rows, and their order along each axis. */
static void read_places(struct pe__search *search)
{
    const struct pe_identify *job = search->job;
    size_t tokens = job->x->tokens;
    search->given.rows = job->positions_n > 1 ? job->positions_n * tokens : tokens;
    search->given.axes = job->positions->axes;
    pe__search_places(search, NULL, NULL);
    for (size_t axis = 0; axis < search->given.axes; axis++)
        for (size_t i = 0; i < search->order_n; i++)
            search->reach = fmax(search->reach, fabs(search->place[axis][search->order[axis][i]]));
}

static size_t count_distinct(const struct pe__search *search)
{
    size_t most = 0;
    for (size_t axis = 0; axis < search->given.axes; axis++) {
        const double *at = search->given.at[axis];
        const uint32_t *order = search->order[axis];
        size_t n = search->order_n > 0;
        for (size_t i = 1; i < search->order_n; i++)
            n += at[order[i]] != at[order[i - 1]];
        most = n > most ? n : most;
    }
    return most;
}

void pe__search_limit(struct pe__search *search, enum pe_dtype dtype)
{
    search->unit = limits_of[dtype].unit;
    search->library = limits_of[dtype].library;
    search->fixed = limits_of[dtype].fixed;
    search->rounds_much = dtype == PE_BF16 || dtype == PE_F16;
    search->tried_max =
        search->job->tried + (search->rounds_much ? ROUNDED_TRIED_MAX : PE_IDENTIFY_TRIED_MAX);
    search->noise = (struct pe__noise){2 * search->unit, limits_of[dtype].drift};
}

/* The likeliest steps first; later ones only where nothing explains y so far. */
static enum pe_status (*const steps[])(struct pe__search *search) = {
    pe__search_equal,         pe__search_turned, pe__search_rounded,
    pe__search_turned_anyhow, pe__search_faded,  pe__search_added,
};

enum pe_status pe_identify(struct pe_identify *job)
{
    struct pe__search search = {.job = job,
                                .given = {job->x, job->y, .lists_n = job->positions_n},
                                .padding = NAN,
                                .rules = PE__RULES_ANY,
                                .cut = INFINITY};
    struct pe__memory memory = {.at = job->work};
    enum pe_status status = PE_OK;
    job->found_n = job->rivals_n = job->tried = 0;
    job->base_low = job->base_high = 0;
    job->adds = false;
    lay_out(&search, &memory, job->x, job->positions_n);
    pe__search_limit(&search, job->dtype);
    read_places(&search);
    job->distinct = count_distinct(&search);
    for (size_t i = 0; status == PE_OK && i < sizeof steps / sizeof *steps; i++) {
        status = steps[i](&search);
        pe__search_conclude(&search);
        if (job->rivals_n > 0)
            break;
    }
    if (status == PE_OK)
        status = pe__search_name_stages(&search);
    bool still = search.reach == 0 && job->found_n > 0; /* where nothing turns */
    if ((job->distinct < 2 || still) && job->confidence == PE_IDENTIFIED_UNIQUE)
        job->confidence = PE_IDENTIFIED_AMBIGUOUS;
    return status;
}

void pe_identify_release(struct pe_identify *job)
{
    for (size_t i = 0; i < job->found_n; i++)
        pe_spec_release(&job->found[i].spec);
    job->found_n = job->rivals_n = 0;
}
