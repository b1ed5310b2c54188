// SPDX-License-Identifier: Apache-2.0
/*
 * apply.c: views of tensors and the walk over their rows. What happens to a row is in apply_X.c;
 * biases of scores are in bias.c.
 */
#include "apply.h"

#include <string.h>

#include "dtype.h"
#include "kind.h"

/* ---- Views -------------------------------------------------------------------------------- */

/* The extent and stride of one axis letter; 1 and 0 when the tensor has no such axis. */
struct axis {
    size_t n, stride;
};

static struct axis find_axis(char letter, const char *axes, const size_t *shape)
{
    const char *found = strchr(axes, letter);
    if (!found)
        return (struct axis){1, 0};
    struct axis axis = {shape[found - axes], 1};
    for (size_t i = (size_t)(found - axes) + 1; axes[i]; i++)
        axis.stride *= shape[i];
    return axis;
}

/* Some of b, h and t, each once, then d. */
static bool axes_are_valid(const char *axes, size_t rank)
{
    if (rank == 0 || strlen(axes) != rank || axes[rank - 1] != 'd')
        return false;
    for (size_t i = 0; i < rank; i++)
        if (!strchr("bhtd", axes[i]) || strchr(axes + i + 1, axes[i]))
            return false;
    return true;
}

bool pe_view_init(struct pe_view *view, enum pe_dtype dtype, void *data, const char *axes,
                  const size_t *shape, size_t rank, size_t heads)
{
    if (!axes_are_valid(axes, rank))
        return false;
    struct axis batch = find_axis('b', axes, shape);
    struct axis head = find_axis('h', axes, shape);
    struct axis token = find_axis('t', axes, shape);
    struct axis channel = find_axis('d', axes, shape);
    if (heads > 1 && strchr(axes, 'h'))
        return heads == head.n && pe_view_init(view, dtype, data, axes, shape, rank, 1);
    if (heads > 1) {
        if (channel.n % heads != 0)
            return false;
        channel.n /= heads;
        head = (struct axis){heads, channel.n};
    }
    *view = (struct pe_view){dtype,     data,         batch.n,     head.n,      token.n,
                             channel.n, batch.stride, head.stride, token.stride};
    return true;
}

/* ---- Rows --------------------------------------------------------------------------------- */

static char *row_of(const struct pe_view *view, size_t batch, size_t head, size_t token)
{
    size_t i = batch * view->batch_stride + head * view->head_stride + token * view->token_stride;
    return (char *)view->data + i * pe_dtype_size(view->dtype);
}

#define CHUNK 128 /* elements converted at a time */

void pe__row_copy(const struct pe_apply *job, size_t first, size_t n, const void *x, void *y)
{
    enum pe_dtype from = job->in->dtype;
    enum pe_dtype to = job->out->dtype;
    size_t size = pe_dtype_size(from);
    if (from == to) {
        if (x != y)
            memcpy((char *)y + first * size, (const char *)x + first * size, n * size);
        return;
    }
    double values[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t part = n - i < CHUNK ? n - i : CHUNK;
        pe__load_row(from, x, first + i, part, values);
        pe__store_row(to, y, first + i, part, values);
    }
}

static void copy_row(void *context, size_t token, const void *x, void *y)
{
    const struct pe_apply *job = context;
    (void)token;
    pe__row_copy(job, 0, job->in->dim, x, y);
}

void pe__row_copy_rest(const struct pe_apply *job, const void *x, void *y)
{
    size_t first = job->plan->offset, end = first + 2 * job->plan->pairs;
    pe__row_copy(job, 0, first, x, y);
    if (end < job->in->dim) /* not so where the last pair lacks a channel */
        pe__row_copy(job, end, job->in->dim - end, x, y);
}

/* How far in front of what is being done rows that follow one another are fetched, and how many
 * rows of one head that are done at a time. */
#define AHEAD_BYTES  ((size_t)8 << 10)
#define ROWS_AT_ONCE 16

/* Bytes from a row of one head to the one in the next, or from the last head's to the first one's
 * of the tokens that come next: these rows are far apart, so that no processor foresees them. */
static size_t ahead_of_head(const struct pe_view *in, size_t head, size_t tokens)
{
    size_t size = pe_dtype_size(in->dtype);
    if (head + 1 < in->heads)
        return in->head_stride * size;
    return (tokens * in->token_stride - head * in->head_stride) * size;
}

/* All heads of each token. */
static void stretch_heads(const struct pe__slab *slab, size_t batch, size_t first, size_t n,
                          pe__stretch_fn *fn, void *context)
{
    const struct pe_view *in = slab->job->in;
    const struct pe_view *out = slab->job->out;
    for (size_t token = 0; token < n; token++) {
        struct pe__stretch stretch = {
            .rows = in->heads,
            .token = token,
            .same_token = true,
            .x = row_of(in, batch, 0, first + token),
            .y = row_of(out, batch, 0, first + token),
            .row_in = in->head_stride * pe_dtype_size(in->dtype),
            .row_out = out->head_stride * pe_dtype_size(out->dtype),
            .ahead = AHEAD_BYTES,
        };
        fn(context, &stretch);
    }
}

/* Tokens [token, token + n) of `first` on in each head. */
static void stretch_tokens(const struct pe__slab *slab, size_t batch, size_t first, size_t token,
                           size_t n, pe__stretch_fn *fn, void *context)
{
    const struct pe_view *in = slab->job->in;
    const struct pe_view *out = slab->job->out;
    for (size_t head = 0; head < in->heads; head++) {
        struct pe__stretch stretch = {
            .rows = n,
            .token = token,
            .x = row_of(in, batch, head, first + token),
            .y = row_of(out, batch, head, first + token),
            .row_in = in->token_stride * pe_dtype_size(in->dtype),
            .row_out = out->token_stride * pe_dtype_size(out->dtype),
            .ahead = in->heads > 1 ? ahead_of_head(in, head, n) : AHEAD_BYTES,
        };
        fn(context, &stretch);
    }
}

void pe__slab_stretches(const struct pe__slab *slab, size_t first, size_t n, size_t tokens,
                        pe__stretch_fn *fn, void *context)
{
    const struct pe_view *in = slab->job->in;
    bool heads_inside = in->heads > 1 && in->head_stride < in->token_stride;
    for (size_t batch = slab->batch; batch < slab->batch + slab->batches_n; batch++)
        if (heads_inside)
            stretch_heads(slab, batch, first, n, fn, context);
        else
            for (size_t token = 0; token < n; token += tokens)
                stretch_tokens(slab, batch, first, token, n - token < tokens ? n - token : tokens,
                               fn, context);
}

struct each {
    pe__row_fn *fn;
    void *context;
};

static void each_of_stretch(void *context, const struct pe__stretch *stretch)
{
    const struct each *each = context;
    for (size_t i = 0; i < stretch->rows; i++)
        each->fn(each->context, stretch->token + (stretch->same_token ? 0 : i),
                 stretch->x + i * stretch->row_in, stretch->y + i * stretch->row_out);
}

static void each_row(const struct pe__slab *slab, size_t first, size_t n, pe__row_fn *fn,
                     void *context)
{
    struct each each = {fn, context};
    pe__slab_stretches(slab, first, n, ROWS_AT_ONCE, each_of_stretch, &each);
}

/* ---- Output order ------------------------------------------------------------------------- */

/* y = x with every rotated value moved to where it belongs, or back; not in place. */
static void move_channels(const struct pe_apply *job, enum pe_dtype dtype, bool back, const void *x,
                          void *y)
{
    const struct pe_plan *plan = job->plan;
    size_t size = pe_dtype_size(dtype);
    const char *from = x;
    char *to = y;
    memcpy(to, from, job->in->dim * size);
    for (size_t i = 0; i < 2 * plan->pairs; i++) {
        size_t moved = plan->moved[i] * size, place = (plan->offset + i) * size;
        memcpy(to + (back ? moved : place), from + (back ? place : moved), size);
    }
}

/* A row in place. */
static void move_row(void *context, size_t token, const void *x, void *y)
{
    const struct pe__slab *slab = context;
    const struct pe_view *out = slab->job->out;
    (void)token, (void)x;
    move_channels(slab->job, out->dtype, slab->job->inverse, y, slab->moved_row);
    memcpy(y, slab->moved_row, out->dim * pe_dtype_size(out->dtype));
}

/* ---- Tokens ------------------------------------------------------------------------------- */

struct rows {
    const struct pe__slab *slab;
    struct pe_apply job;
    size_t first;
    pe__row_fn *fn;
    void *context;
};

/* Whether every channel becomes two, by an operation of its own. */
static bool is_polar(const struct pe_plan *plan)
{
    return pe_spec_is_polar(&plan->spec);
}

/* A token without a position passes through, where what comes out is as wide. */
static void do_row(void *context, size_t token, const void *x, void *y)
{
    struct rows *rows = context;
    const struct pe__slab *slab = rows->slab;
    if (slab->moved_row) {
        move_channels(&rows->job, rows->job.in->dtype, true, x, slab->moved_row);
        x = slab->moved_row;
    }
    if (is_polar(rows->job.plan) || pe__has_position(slab->positions, rows->first + token))
        rows->fn(rows->context, token, x, y);
    else
        copy_row(&rows->job, token, x, y);
}

void pe__slab_rows(const struct pe__slab *slab, size_t first, size_t n, pe__row_fn *fn,
                   void *context)
{
    struct rows rows = {slab, *slab->job, first, fn, context};
    each_row(slab, first, n, do_row, &rows);
}

static void copy_slab(const struct pe__slab *slab)
{
    struct pe_apply job = *slab->job;
    pe__slab_rows(slab, 0, job.in->tokens, copy_row, &job);
}

/* ---- Apply -------------------------------------------------------------------------------- */

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t work_bytes(const struct pe_plan *plan)
{
    switch (plan->spec.kind->acts) {
    case PE_ROTATES:
        if (plan->crossed || is_polar(plan))
            return pe__codes_work_bytes(plan);
        return max_size(pe__rotate_work_bytes(), pe__staged_work_bytes());
    case PE_ADDS:
        return max_size(pe__add_work_bytes(plan), pe__staged_work_bytes());
    default:
        return 64; /* none is needed, but some allocators fail for 0 */
    }
}

/* Behind the scratch of what is done there is room for a row, if its channels move. */
#define ROW_ALIGNED 64

static size_t row_start(const struct pe_plan *plan)
{
    return (work_bytes(plan) + ROW_ALIGNED - 1) / ROW_ALIGNED * ROW_ALIGNED;
}

size_t pe_apply_work_bytes(const struct pe_plan *plan)
{
    if (!plan->moved)
        return work_bytes(plan);
    return row_start(plan) + pe_spec_dim(&plan->spec) * sizeof(double);
}

/* Not so without an encoding, nor for a width of 1 whose only channel is in no pair. */
static bool adds_something(const struct pe_plan *plan)
{
    return plan->spec.kind->acts == PE_ADDS && (plan->pairs > 0 || plan->spec.kind->ops->row);
}

static void apply_slab(const struct pe__slab *slab)
{
    const struct pe_plan *plan = slab->job->plan;
    if (plan->spec.kind->acts == PE_ROTATES)
        pe__apply_rotate(slab);
    else if (adds_something(plan))
        pe__apply_add(slab);
    else
        copy_slab(slab);
}

/* Every value of the other dtypes is a double, so that what remains is in place. */
static void widen_slab(struct pe__slab slab)
{
    struct pe_apply job = *slab.job;
    copy_slab(&slab);
    job.in = job.out;
    slab.job = &job;
    slab.moved_row = NULL;
    apply_slab(&slab);
}

static bool rounds_operations(const struct pe_apply *job)
{
    bool acts = job->plan->spec.kind->acts == PE_ROTATES || adds_something(job->plan);
    return acts && job->stages && pe__stage_named(job->stages, PE_STAGE_APPLY);
}

static void apply_one(const struct pe__slab *slab)
{
    const struct pe_apply *job = slab->job;
    if (job->plan->crossed)
        pe__apply_crossed(slab);
    else if (is_polar(job->plan))
        pe__apply_polar(slab);
    else if (rounds_operations(job))
        pe__apply_staged(slab);
    else if (job->out->dtype == PE_F64 && job->in->dtype != PE_F64)
        widen_slab(*slab);
    else
        apply_slab(slab);
}

/* The inverse reads what a rotation has moved: each row by itself, or all of them in place. */
static void apply_moved(struct pe__slab slab)
{
    struct pe_apply job = *slab.job;
    struct pe__slab moved = slab;
    bool in_place = job.in->data == job.out->data;
    moved.moved_row = (char *)job.work + row_start(job.plan);
    if (job.inverse && !in_place) {
        apply_one(&moved);
        return;
    }
    if (!job.inverse)
        apply_one(&slab);
    job.in = job.out;
    moved.job = &job;
    each_row(&moved, 0, job.in->tokens, move_row, &moved);
    if (job.inverse)
        apply_one(&slab);
}

void pe_apply(const struct pe_apply *job)
{
    size_t batches_n = job->positions_n == 1 ? job->in->batches : 1;
    for (size_t i = 0; i < job->positions_n; i++) {
        struct pe__slab slab = {job, &job->positions[i], i, batches_n, NULL};
        if (job->plan->moved)
            apply_moved(slab);
        else
            apply_one(&slab);
    }
}
