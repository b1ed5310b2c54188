// SPDX-License-Identifier: Apache-2.0
/*
 * apply_rotate.c: rotates rows of pairs. Cos and sin are made once per block of tokens and pairs
 * (apply_rotate_values.c), then used for all batches and heads, so that they are read from cache
 * whichever axis is outermost. The arithmetic is in kernels_rotate.inc.c and, for f64,
 * kernels_rotate_f64.inc.c; here doubtful results are recomputed by MPFR.
 */
#include <string.h>

#include "apply_rotate.h"
#include "dtype.h"
#include "exact.h"
#include "round.h"

/* Of cos and sin that are used for one head after the other: half of the first-level cache. */
#define NEAR_BYTES ((size_t)18 << 10)

/* An output as large as this goes past the caches, where it could not stay until it is read: its
 * lines are not fetched first. */
#define STREAM_BYTES ((size_t)16 << 20)
#define LINE_BYTES   64

/* ---- Channels ----------------------------------------------------------------------------- */

static void pair_channels(const struct pe__rotating *rotation, size_t j, size_t *a, size_t *b)
{
    pe_spec_pair_members(&rotation->plan->spec, rotation->first + j, false, a, b);
}

/* Most pairs lie at equal steps, members side by side or apart; a block ends where they do not. */
static void map_channels(struct pe__rotating *rotation)
{
    pair_channels(rotation, 0, &rotation->a, &rotation->b);
    rotation->step = rotation->b == rotation->a + 1 ? 2 : 1;
    for (size_t j = 1; j < rotation->n; j++) {
        size_t a;
        size_t b;
        pair_channels(rotation, j, &a, &b);
        if (a != rotation->a + j * rotation->step || b != rotation->b + j * rotation->step)
            rotation->n = j;
    }
}

/* ---- f64: doubtful pairs ------------------------------------------------------------------ */

/* x c + y s or x s + y c of one pair: two products that MPFR gives to any precision. */
struct member {
    const struct pe__rotating *rotation;
    size_t token, pair;
    double x, y;
    bool cosine_first;
};

static void product_exact(const void *context, size_t i, mpfr_t y)
{
    const struct member *member = context;
    const struct pe__rotating *rotation = member->rotation;
    bool is_cosine = (i == 0) == member->cosine_first;
    pe__plan_pair_exact(rotation->plan, rotation->slab->positions, member->token, member->pair,
                        is_cosine ? y : NULL, is_cosine ? NULL : y);
    if (!is_cosine && rotation->slab->job->inverse && !mpfr_zero_p(y))
        mpfr_neg(y, y, MPFR_RNDN);
    if (pe__rotating_undoes(rotation))
        pe__plan_undo_exact(rotation->plan, y);
    if (rotation->plan->scale_log)
        pe__plan_scale_exact(rotation->plan, pe__rotating_place(rotation, member->token),
                             pe__scale_sign(rotation->slab->job), member->pair, y);
    mpfr_mul_d(y, y, i == 0 ? member->x : member->y, MPFR_RNDN);
}

static void member_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(product_exact, context, 2, y);
}

static void rotate_exactly(const struct pe__rotating *rotation, size_t token,
                           const struct pe__rotation *job, size_t i)
{
    size_t pair = rotation->first + i;
    size_t at = i * job->step;
    double a = ((const double *)job->a)[at];
    double b = ((const double *)job->b)[at];
    struct member first = {rotation, token, pair, a, -b, true};
    struct member second = {rotation, token, pair, a, b, false};
    pe__round_exact(PE_F64, member_exact, &first, 0, job->ya, at);
    pe__round_exact(PE_F64, member_exact, &second, 0, job->yb, at);
}

static void rotate_wide(const struct pe__rotating *rotation, size_t token,
                        const struct pe__rotation *job)
{
    struct pe__values row = pe__values_at(rotation, token);
    const double *low = row.s + rotation->plane;
    struct pe__cdd_in cs = {row.c, low, row.s, low + rotation->plane};
    uint16_t bad[PE__BLOCK];
    size_t bad_n = rotation->kernels->rotate_f64(job, cs, rotation->work->eps[token], bad);
    for (size_t i = 0; i < bad_n; i++)
        rotate_exactly(rotation, rotation->token + token, job, bad[i]);
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* The channels of pairs that stay as they are. */
static void copy_pairs(const struct pe__rotating *rotation, const void *x, void *y)
{
    const struct pe_apply *job = rotation->slab->job;
    bool adjacent = rotation->step == 2;
    pe__row_copy(job, rotation->a, adjacent ? 2 * rotation->n : rotation->n, x, y);
    if (!adjacent)
        pe__row_copy(job, rotation->b, rotation->n, x, y);
}

/* The kernels' operations from one dtype to a narrower one. */
static void rotate_converting(const struct pe__rotating *rotation, size_t token, const void *x,
                              void *y)
{
    struct pe__values row = pe__values_at(rotation, token);
    for (size_t i = 0; i < rotation->n; i++) {
        size_t at_a = rotation->a + i * rotation->step;
        size_t at_b = rotation->b + i * rotation->step;
        double a = pe_load(rotation->from, x, at_a);
        double b = pe_load(rotation->from, x, at_b);
        double c = row.c[i * rotation->step];
        double s = row.s[i * rotation->step + rotation->step - 1];
        pe_store(rotation->to, y, at_a, a * c - b * s);
        pe_store(rotation->to, y, at_b, a * s + b * c);
    }
}

static struct pe__stretch part_of(const struct pe__stretch *stretch, size_t i, size_t n)
{
    struct pe__stretch part = *stretch;
    part.rows = n;
    part.token += stretch->same_token ? 0 : i;
    part.x += i * stretch->row_in;
    part.y += i * stretch->row_out;
    return part;
}

static void rotate_pairs(const struct pe__rotating *rotation, const struct pe__stretch *part)
{
    struct pe__values row = pe__values_at(rotation, part->token);
    size_t a = rotation->a * rotation->size, b = rotation->b * rotation->size;
    struct pe__rotation job = {
        .n = rotation->n,
        .step = rotation->step,
        .a = part->x + a,
        .b = part->x + b,
        .ya = part->y + a,
        .yb = part->y + b,
        .rows = part->rows,
        .row_in = part->row_in,
        .row_out = part->row_out,
        .row_values = part->same_token ? 0 : rotation->parts * rotation->plane,
        .ahead = part->ahead,
        .stream = rotation->streams,
    };
    if (rotation->to == PE_F64)
        rotate_wide(rotation, part->token, &job);
    else
        rotation->kernels->rotate[rotation->to](&job, row.c, row.s);
}

/* Rows whose pairs turn. */
static void rotate_rows(const struct pe__rotating *rotation, const struct pe__stretch *rows)
{
    bool converts = rotation->from != rotation->to;
    bool together = !converts && rotation->to != PE_F64;
    if (together)
        rotate_pairs(rotation, rows);
    for (size_t i = 0; i < rows->rows && !together; i++) {
        struct pe__stretch row = part_of(rows, i, 1);
        if (converts)
            rotate_converting(rotation, row.token, row.x, row.y);
        else
            rotate_pairs(rotation, &row);
    }
}

static bool has_position(const struct pe__rotating *rotation, size_t token)
{
    return pe__has_position(rotation->slab->positions, rotation->token + token);
}

/* How many rows from i on have pairs that turn. */
static size_t turning_rows(const struct pe__rotating *rotation, const struct pe__stretch *stretch,
                           size_t i)
{
    size_t n = 0;
    for (; i + n < stretch->rows; n++) {
        size_t token = part_of(stretch, i + n, 1).token;
        if (rotation->work->still[token] || !has_position(rotation, token))
            break;
        if (stretch->same_token)
            return stretch->rows - i;
    }
    return n;
}

/* A row that is copied: all of it, or its pairs. */
static void copy_row(const struct pe__rotating *rotation, const struct pe__stretch *row)
{
    const struct pe_apply *job = rotation->slab->job;
    if (has_position(rotation, row->token))
        copy_pairs(rotation, row->x, row->y);
    else
        pe__row_copy(job, 0, job->in->dim, row->x, row->y);
}

static void rotate_stretch(void *context, const struct pe__stretch *stretch)
{
    const struct pe__rotating *rotation = context;
    for (size_t i = 0, n; i < stretch->rows; i += n) {
        size_t turning = turning_rows(rotation, stretch, i);
        n = turning ? turning : 1;
        struct pe__stretch part = part_of(stretch, i, n);
        for (size_t j = 0; j < n && rotation->first == 0 && rotation->has_rest; j++) {
            struct pe__stretch row = part_of(&part, j, 1);
            pe__row_copy_rest(rotation->slab->job, row.x, row.y);
        }
        if (turning)
            rotate_rows(rotation, &part);
        else
            copy_row(rotation, &part);
    }
}

static void rotate_row(void *context, size_t token, const void *x, void *y)
{
    struct pe__stretch row = {.rows = 1, .token = token, .same_token = true, .x = x, .y = y};
    rotate_stretch(context, &row);
}

size_t pe__rotate_work_bytes(void)
{
    return sizeof(struct pe__rotating_work);
}

/* All tokens, for one block of pairs. */
static void rotate_block(struct pe__rotating *rotation)
{
    size_t tokens = rotation->slab->job->in->tokens;
    size_t bytes = rotation->parts * rotation->plane * sizeof(double);
    size_t near = NEAR_BYTES / bytes;
    size_t step = PE__APPLY_BYTES / bytes;
    if (step > PE__ROTATING_TOKENS)
        step = PE__ROTATING_TOKENS;
    pe__plan_walk_init(&rotation->work->walk);
    for (rotation->token = 0; rotation->token < tokens; rotation->token += step) {
        size_t n = tokens - rotation->token < step ? tokens - rotation->token : step;
        for (size_t i = 0; i < n;)
            i += pe__rotating_make(rotation, i, n);
        if (rotation->slab->moved_row)
            pe__slab_rows(rotation->slab, rotation->token, n, rotate_row, rotation);
        else
            pe__slab_stretches(rotation->slab, rotation->token, n, near > 0 ? near : 1,
                               rotate_stretch, rotation);
    }
    if (rotation->streams)
        rotation->kernels->drain();
}

/* Whether the output is large enough, and all its lines are written whole. */
static bool streams(const struct pe__rotating *rotation)
{
    const struct pe_view *in = rotation->slab->job->in;
    const struct pe_view *out = rotation->slab->job->out;
    size_t rows = rotation->slab->batches_n * out->heads * out->tokens;
    size_t places = out->batch_stride | out->head_stride | out->token_stride | rotation->a |
                    (rotation->step == 1 ? rotation->b : 0);
    return in->data != out->data && rotation->from == rotation->to &&
           rows * out->dim * rotation->size >= STREAM_BYTES &&
           (places * rotation->size | (uintptr_t)out->data) % LINE_BYTES == 0;
}

void pe__apply_rotate(const struct pe__slab *slab)
{
    struct pe__rotating rotation = {
        .slab = slab,
        .plan = slab->job->plan,
        .kernels = pe__kernels(),
        .work = slab->job->work,
        .from = slab->job->in->dtype,
        .to = slab->job->out->dtype,
        .size = pe_dtype_size(slab->job->out->dtype),
        .parts = slab->job->out->dtype == PE_F64 ? 4 : 2,
    };
    size_t pairs = rotation.plan->pairs;
    rotation.has_rest = 2 * pairs < slab->job->in->dim;
    for (rotation.first = 0; rotation.first < pairs; rotation.first += rotation.n) {
        rotation.n = pe__plan_block(rotation.plan, rotation.first);
        map_channels(&rotation);
        /* Whole cache lines and one more: parts a power of two apart would keep meeting the rows of
         * the tensor in the same sets of the cache. */
        bool is_spread = rotation.step == 2 && rotation.to != PE_F64;
        rotation.plane = ((is_spread ? 2 : 1) * rotation.n + 15) / 8 * 8;
        rotation.streams = streams(&rotation);
        rotate_block(&rotation);
    }
}
