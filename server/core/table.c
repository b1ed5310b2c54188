// SPDX-License-Identifier: Apache-2.0
/*
 * table.c: encoding tables, cos and sin. Pairs are done in blocks, all tokens of a block before the
 * next, so that the block's digit tables and its walk stay in the first-level cache; every value is
 * rounded straight into its channel, and the doubtful ones are recomputed by MPFR (round.c). What
 * the values are is the plan's and the kind's business.
 */
#include <string.h>

#include "kind.h"
#include "round.h"

/* Consecutive pairs of a block whose channels lie a constant step apart. */
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

/* One element to recompute. */
struct element {
    const struct pe_plan *plan;
    const struct pe_positions *positions;
    size_t token;
    bool sine;
};

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

static void pair_exact(const void *context, size_t pair, mpfr_t y)
{
    const struct element *e = context;
    pe__plan_pair_exact(e->plan, e->positions, e->token, pair, e->sine ? NULL : y,
                        e->sine ? y : NULL);
}

/* Rounds the values of a block at one token into their channels. */
static void round_block(const struct target *target, const struct element *element, size_t first,
                        enum pe_dtype dtype, const double *hi, const double *lo, double eps)
{
    size_t row = element->token * target->row_stride;
    uint16_t bad[PE__BLOCK];
    for (size_t r = 0; r < target->runs_n; r++) {
        const struct run *run = &target->runs[r];
        size_t start = row + run->channel;
        char *out = (char *)target->out + start * pe_dtype_size(dtype);
        size_t bad_n = pe__round_row(dtype, run->n, hi + run->first, lo + run->first, eps, out,
                                     run->step, bad);
        for (size_t i = 0; i < bad_n; i++)
            pe__round_exact(dtype, pair_exact, element, first + run->first + bad[i], target->out,
                            start + bad[i] * run->step);
    }
}

static void fill_block(const struct pe_plan *plan, const struct pe_positions *positions,
                       size_t first, size_t n, enum pe_dtype dtype, const struct target *cosine,
                       const struct target *sine)
{
    struct pe__planes planes;
    struct pe__plan_walk walk;
    pe__plan_walk_init(&walk);
    for (size_t token = 0; token < positions->n; token++) {
        double eps = pe__plan_pairs(plan, &walk, positions, token, first, n, &planes);
        struct element element = {plan, positions, token, false};
        round_block(cosine, &element, first, dtype, planes.cos_hi, planes.cos_lo, eps);
        element.sine = true;
        round_block(sine, &element, first, dtype, planes.sin_hi, planes.sin_lo, eps);
    }
}

static size_t block_size(size_t total, size_t first)
{
    return total - first < PE__BLOCK ? total - first : PE__BLOCK;
}

static void clear_rows(size_t width, size_t n, enum pe_dtype dtype, void *out, size_t row_stride)
{
    size_t size = pe_dtype_size(dtype);
    for (size_t i = 0; i < n; i++)
        memset((char *)out + i * row_stride * size, 0, width * size);
}

static void table_of_pairs(const struct pe_plan *plan, const struct pe_positions *positions,
                           enum pe_dtype dtype, void *out, size_t row_stride)
{
    const struct pe_spec *spec = &plan->spec;
    if (spec->kind->acts == PE_ADDS && pe_spec_dim(spec) % 2 != 0) /* may have a zero column */
        clear_rows(pe_spec_dim(spec), positions->n, dtype, out, row_stride);
    struct target cosine = {out, row_stride, 0, {{0}}};
    struct target sine = {out, row_stride, 0, {{0}}};
    for (size_t first = 0; first < plan->pairs; first += PE__BLOCK) {
        size_t n = block_size(plan->pairs, first);
        cosine.runs_n = 0;
        sine.runs_n = 0;
        for (size_t j = 0; j < n; j++) {
            size_t c;
            size_t s;
            spec->kind->ops->pair_channels(spec, first + j, &c, &s);
            target_add(&cosine, j, c);
            target_add(&sine, j, s);
        }
        fill_block(plan, positions, first, n, dtype, &cosine, &sine);
    }
}

static void row_exact(const void *context, size_t channel, mpfr_t y)
{
    const struct element *e = context;
    struct pe__pos at = pe__plan_position(e->plan, e->positions->at[0][e->token]);
    e->plan->spec.kind->ops->row_exact(e->plan, at, channel, y);
}

/* Kinds that give their rows themselves. */
static void table_of_rows(const struct pe_plan *plan, const struct pe_positions *positions,
                          enum pe_dtype dtype, void *out, size_t row_stride)
{
    size_t dim = pe_spec_dim(&plan->spec);
    double hi[PE__BLOCK];
    double lo[PE__BLOCK];
    struct target target = {out, row_stride, 1, {{0, 0, 0, 1}}};
    for (size_t token = 0; token < positions->n; token++) {
        struct pe__pos at = pe__plan_position(plan, positions->at[0][token]);
        struct element element = {plan, positions, token, false};
        for (size_t first = 0; first < dim; first += PE__BLOCK) {
            size_t n = block_size(dim, first);
            double eps = plan->spec.kind->ops->row(plan, at, first, n, hi, lo);
            target.runs[0] = (struct run){0, n, first, 1};
            round_block(&target, &element, first, dtype, hi, lo, eps);
        }
    }
}

void pe_table(const struct pe_plan *plan, const struct pe_positions *positions, enum pe_dtype dtype,
              void *out, size_t row_stride)
{
    if (plan->cis)
        table_of_pairs(plan, positions, dtype, out, row_stride);
    else if (plan->spec.kind->ops->row)
        table_of_rows(plan, positions, dtype, out, row_stride);
    else
        clear_rows(pe_spec_dim(&plan->spec), positions->n, dtype, out, row_stride);
}

void pe_cos_sin(const struct pe_plan *plan, const struct pe_positions *positions,
                enum pe_dtype dtype, void *cos_out, void *sin_out)
{
    struct target cosine = {cos_out, plan->pairs, 1, {{0}}};
    struct target sine = {sin_out, plan->pairs, 1, {{0}}};
    for (size_t first = 0; first < plan->pairs; first += PE__BLOCK) {
        size_t n = block_size(plan->pairs, first);
        cosine.runs[0] = sine.runs[0] = (struct run){0, n, first, 1};
        fill_block(plan, positions, first, n, dtype, &cosine, &sine);
    }
}
