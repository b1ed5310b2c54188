// SPDX-License-Identifier: Apache-2.0
/*
 * table.c: encoding tables, cos and sin. Pairs are done in blocks, all tokens of a block before the
 * next, so that the block's digit tables and its walk stay in the first-level cache; every value is
 * rounded straight into its channel, and the doubtful ones are recomputed by MPFR (round.c). What
 * the values are is the plan's and the kind's business.
 */
#include <string.h>

#include "kernels.h"
#include "kind.h"
#include "round.h"

/* A table as large as this goes past the caches, which it would fill with what is not read again
 * before it is lost: half of the time. */
#define STREAM_BYTES ((size_t)32 << 20)
#define LINE_BYTES   64

/* Consecutive values of a block whose channels lie a constant step apart. */
struct run {
    size_t first, n; /* within the block */
    size_t channel, step;
};

/* Where the cosines (or sines) of a block go: rows of `out`, row_stride elements apart. */
struct target {
    void *out;
    size_t row_stride;
    size_t runs_n;
    struct run runs[PE__BLOCK];
};

/* A table being filled, and the block of pairs (or channels) in work. */
struct fill {
    const struct pe_plan *plan;
    const struct pe_positions *positions;
    enum pe_dtype dtype;
    bool is_large; /* of STREAM_BYTES */
    size_t first, n;
    struct target cosine, sine;
};

/* What is being rounded: a row's cosines or sines, or channels; and how to recompute one. */
struct part {
    const struct fill *fill;
    size_t token;
    bool is_sine;
    pe__exact_fn *exact;
};

static size_t block_size(size_t total, size_t first)
{
    return total - first < PE__BLOCK ? total - first : PE__BLOCK;
}

/* ---- Rounding into channels --------------------------------------------------------------- */

static void target_add(struct target *target, size_t j, size_t channel)
{
    if (channel == PE__NO_CHANNEL)
        return;
    struct run *last = target->runs_n ? &target->runs[target->runs_n - 1] : NULL;
    if (last && last->first + last->n == j) {
        size_t end = last->channel + (last->n - 1) * last->step;
        if (last->n == 1 && channel > end)
            last->step = channel - end;
        if (channel == end + last->step) {
            last->n++;
            return;
        }
    }
    target->runs[target->runs_n++] = (struct run){j, 1, channel, 1};
}

static void round_part(const struct part *part, const struct target *target, const double *hi,
                       const double *lo, double eps)
{
    enum pe_dtype dtype = part->fill->dtype;
    size_t row = part->token * target->row_stride;
    uint16_t bad[PE__BLOCK];
    for (size_t r = 0; r < target->runs_n; r++) {
        const struct run *run = &target->runs[r];
        size_t start = row + run->channel;
        char *out = (char *)target->out + start * pe_dtype_size(dtype);
        size_t bad_n = pe__round_row(dtype, run->n, hi + run->first, lo + run->first, eps, out,
                                     run->step, bad);
        for (size_t i = 0; i < bad_n; i++)
            pe__round_exact(dtype, part->exact, part, part->fill->first + run->first + bad[i],
                            target->out, start + bad[i] * run->step);
    }
}

/* ---- Kinds made of frequencies ------------------------------------------------------------ */

static void pair_exact(const void *context, size_t pair, mpfr_t y)
{
    const struct part *part = context;
    pe__plan_pair_exact(part->fill->plan, part->fill->positions, part->token, pair,
                        part->is_sine ? NULL : y, part->is_sine ? y : NULL);
}

/* Tokens [token, token + n), one by one. */
static void fill_tokens(const struct fill *fill, struct pe__plan_walk *walk, size_t token, size_t n)
{
    struct pe__planes planes;
    for (size_t end = token + n; token < end; token++) {
        double eps =
            pe__plan_pairs(fill->plan, walk, fill->positions, token, fill->first, fill->n, &planes);
        struct part part = {fill, token, false, pair_exact};
        round_part(&part, &fill->cosine, planes.cos_hi, planes.cos_lo, eps);
        part.is_sine = true;
        round_part(&part, &fill->sine, planes.sin_hi, planes.sin_lo, eps);
    }
}

/* Whether the block can be filled by runs of tokens, and where these go then: dense cosines and
 * sines apart, or one by one. */
static bool run_out(const struct fill *fill, struct pe__run_out *out)
{
    const struct run *c = &fill->cosine.runs[0], *s = &fill->sine.runs[0];
    if (fill->dtype > PE_F32 || !pe__plan_is_plain(fill->plan, fill->first, fill->n) ||
        fill->cosine.runs_n != 1 || fill->sine.runs_n != 1 || c->n != fill->n || s->n != fill->n)
        return false;
    bool apart = c->step == 1 && s->step == 1;
    bool interleaved = c->step == 2 && s->step == 2 && fill->cosine.out == fill->sine.out &&
                       (c->channel + 1 == s->channel || s->channel + 1 == c->channel);
    size_t size = pe_dtype_size(fill->dtype);
    char *cosines = (char *)fill->cosine.out + c->channel * size;
    char *sines = (char *)fill->sine.out + s->channel * size;
    *out = (struct pe__run_out){
        .dtype = fill->dtype,
        .backwards = fill->plan->direction < 0,
        .sine_first = interleaved && s->channel < c->channel,
        .step = c->step,
        .row_stride = fill->cosine.row_stride,
    };
    out->first = out->sine_first ? sines : cosines;
    out->second = out->sine_first ? cosines : sines;
    uintptr_t places = (uintptr_t)out->first | out->row_stride * size;
    if (apart)
        places |= (uintptr_t)out->second;
    out->stream = fill->is_large && places % LINE_BYTES == 0;
    return apart || interleaved;
}

/* Fills a run of tokens from `token` on; returns how many, at least one. */
static size_t fill_run(const struct fill *fill, struct pe__plan_walk *walk, size_t token,
                       struct pe__run_out out)
{
    struct pe__run run;
    if (pe__plan_run(fill->plan, fill->positions, token, fill->positions->n, &run) == 0) {
        fill_tokens(fill, walk, token, 1);
        return 1;
    }
    bool bad[PE__RUN + 1];
    size_t before = token * out.row_stride * pe_dtype_size(out.dtype);
    out.first = (char *)out.first + before;
    out.second = (char *)out.second + before;
    if (!pe__cis_run(fill->plan->cis, &walk->axis[0], &run, fill->first, fill->n, &out, bad))
        for (size_t i = 0; i < run.n; i++)
            if (bad[i])
                fill_tokens(fill, walk, token + i, 1);
    return run.n;
}

static void fill_block(const struct fill *fill)
{
    struct pe__plan_walk walk;
    struct pe__run_out out;
    pe__plan_walk_init(&walk);
    if (!run_out(fill, &out)) {
        fill_tokens(fill, &walk, 0, fill->positions->n);
        return;
    }
    for (size_t token = 0; token < fill->positions->n;)
        token += fill_run(fill, &walk, token, out);
    if (out.stream)
        pe__kernels()->drain();
}

static void map_channels(struct fill *fill)
{
    fill->cosine.runs_n = 0;
    fill->sine.runs_n = 0;
    for (size_t j = 0; j < fill->n; j++) {
        size_t c;
        size_t s;
        fill->plan->spec.kind->ops->pair_channels(&fill->plan->spec, fill->first + j, &c, &s);
        target_add(&fill->cosine, j, c);
        target_add(&fill->sine, j, s);
    }
}

static void fill_pairs(struct fill *fill)
{
    for (fill->first = 0; fill->first < fill->plan->pairs; fill->first += fill->n) {
        fill->n = pe__plan_block(fill->plan, fill->first);
        map_channels(fill);
        fill_block(fill);
    }
}

/* ---- Kinds that give their rows themselves ------------------------------------------------ */

static void channel_exact(const void *context, size_t channel, mpfr_t y)
{
    const struct part *part = context;
    const struct pe_plan *plan = part->fill->plan;
    struct pe__pos at = pe__plan_position(plan, part->fill->positions->at[0][part->token]);
    pe__plan_row_exact(plan, at, channel, y);
}

static void fill_row(struct fill *fill, size_t token)
{
    const struct pe_plan *plan = fill->plan;
    struct pe__pos at = pe__plan_position(plan, fill->positions->at[0][token]);
    struct part part = {fill, token, false, channel_exact};
    size_t dim = pe_spec_dim(&plan->spec);
    double hi[PE__BLOCK];
    double lo[PE__BLOCK];
    for (fill->first = 0; fill->first < dim; fill->first += PE__BLOCK) {
        fill->n = block_size(dim, fill->first);
        double eps = pe__plan_row(plan, at, fill->first, fill->n, hi, lo);
        fill->cosine.runs[0] = (struct run){0, fill->n, fill->first, 1};
        round_part(&part, &fill->cosine, hi, lo, eps);
    }
}

/* ---- Public ------------------------------------------------------------------------------- */

static void clear_rows(const struct fill *fill)
{
    size_t size = pe_dtype_size(fill->dtype);
    size_t width = pe_spec_dim(&fill->plan->spec);
    for (size_t i = 0; i < fill->positions->n; i++)
        memset((char *)fill->cosine.out + i * fill->cosine.row_stride * size, 0, width * size);
}

void pe_table(const struct pe_plan *plan, const struct pe_positions *positions, enum pe_dtype dtype,
              void *out, size_t row_stride)
{
    struct fill fill = {.plan = plan, .positions = positions, .dtype = dtype};
    fill.cosine = (struct target){out, row_stride, 1, {{0}}};
    fill.sine = fill.cosine;
    fill.is_large = positions->n * row_stride * pe_dtype_size(dtype) >= STREAM_BYTES;
    bool has_rows = plan->spec.kind->ops->row;
    bool has_more = plan->spec.kind->acts == PE_ADDS && pe_spec_dim(&plan->spec) > 2 * plan->pairs;
    if (!has_rows && (!plan->pairs || has_more)) /* none; or the last columns are in no pair */
        clear_rows(&fill);
    if (plan->pairs)
        fill_pairs(&fill);
    for (size_t token = 0; has_rows && token < positions->n; token++)
        fill_row(&fill, token);
}

void pe_cos_sin(const struct pe_plan *plan, const struct pe_positions *positions,
                enum pe_dtype dtype, void *cos_out, void *sin_out)
{
    struct fill fill = {.plan = plan, .positions = positions, .dtype = dtype};
    fill.cosine = (struct target){cos_out, plan->pairs, 1, {{0}}};
    fill.sine = (struct target){sin_out, plan->pairs, 1, {{0}}};
    fill.is_large = positions->n * 2 * plan->pairs * pe_dtype_size(dtype) >= STREAM_BYTES;
    for (fill.first = 0; fill.first < plan->pairs; fill.first += PE__BLOCK) {
        fill.n = block_size(plan->pairs, fill.first);
        fill.cosine.runs[0] = fill.sine.runs[0] = (struct run){0, fill.n, fill.first, 1};
        fill_block(&fill);
    }
}
