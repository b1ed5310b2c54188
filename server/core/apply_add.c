// SPDX-License-Identifier: Apache-2.0
/*
 * apply_add.c: adds the row of a token's position to its channels, or subtracts it. In f32, f16
 * and bf16 the row is the correctly rounded double table and the sum is rounded once; in f64 the
 * sum is the exact one rounded once, so the row is taken as double-double and doubtful sums are
 * recomputed by MPFR.
 */
#include <math.h>

#include "apply.h"
#include "dd.h"
#include "dtype.h"
#include "exact.h"
#include "kind.h"
#include "round.h"

/* ---- f32, f16, bf16 ----------------------------------------------------------------------- */

#define CHUNK 128 /* channels widened at a time */

struct rows {
    enum pe_dtype from, to;
    size_t dim;
    double sign;         /* -1 to subtract */
    const double *table; /* [tokens, dim] */
};

static void add_row(void *context, size_t token, const void *x, void *y)
{
    const struct rows *rows = context;
    const double *row = rows->table + token * rows->dim;
    double values[CHUNK];
    for (size_t first = 0; first < rows->dim; first += CHUNK) {
        size_t n = rows->dim - first < CHUNK ? rows->dim - first : CHUNK;
        pe__load_row(rows->from, x, first, n, values);
        for (size_t i = 0; i < n; i++)
            values[i] += rows->sign * row[first + i];
        pe__store_row(rows->to, y, first, n, values);
    }
}

static size_t rows_at_once(size_t dim)
{
    size_t n = PE__APPLY_BYTES / (dim * sizeof(double));
    return n ? n : 1;
}

/* Tokens [first, first + n) of a list. */
static struct pe_positions slice(const struct pe_positions *positions, size_t first, size_t n)
{
    struct pe_positions part = {.axes = positions->axes, .n = n};
    for (size_t axis = 0; axis < positions->axes; axis++)
        part.at[axis] = positions->at[axis] + first;
    return part;
}

static void add_table(const struct pe__slab *slab)
{
    const struct pe_apply *job = slab->job;
    struct rows rows = {job->in->dtype, job->out->dtype, job->in->dim, job->inverse ? -1 : 1,
                        job->work};
    size_t tokens = job->in->tokens;
    size_t step = rows_at_once(rows.dim);
    for (size_t first = 0; first < tokens; first += step) {
        size_t n = tokens - first < step ? tokens - first : step;
        struct pe_positions part = slice(slab->positions, first, n);
        pe_table(job->plan, &part, PE_F64, job->work, rows.dim);
        pe__slab_rows(slab, first, n, add_row, &rows);
    }
}

/* ---- f64 ---------------------------------------------------------------------------------- */

struct work {
    struct pe__plan_walk walk;
    struct pe__planes planes;
};

/* What is being added now: for kinds made of frequencies the cosines and sines of pairs [first,
 * first + n), for others channels [first, first + n), kept in the place of the cosines. */
struct addition {
    const struct pe__slab *slab;
    const struct pe_plan *plan;
    const struct pe__planes *planes;
    double eps;
    size_t token;
    size_t first, n;
    size_t channel_c[PE__BLOCK], channel_s[PE__BLOCK];
};

/* One channel: x plus or minus the value that MPFR gives to any precision. */
struct sum {
    const struct addition *addition;
    size_t j;
    bool is_sine;
    double x;
};

static void term_exact(const void *context, size_t i, mpfr_t y)
{
    const struct sum *sum = context;
    const struct addition *addition = sum->addition;
    const struct pe_plan *plan = addition->plan;
    const struct pe_positions *positions = addition->slab->positions;
    size_t at = addition->first + sum->j;
    if (i == 0) { /* a double fits any precision asked for */
        mpfr_set_d(y, sum->x, MPFR_RNDN);
        return;
    }
    if (plan->pairs)
        pe__plan_pair_exact(plan, positions, addition->token, at, sum->is_sine ? NULL : y,
                            sum->is_sine ? y : NULL);
    else
        pe__plan_row_exact(plan, pe__plan_position(plan, positions->at[0][addition->token]), at, y);
    if (addition->slab->job->inverse)
        mpfr_neg(y, y, MPFR_RNDN);
}

static void sum_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(term_exact, context, 2, y);
}

/*
 * x + (hi + lo) with the rounding test. After the exact sum of x and hi the low parts are at most
 * 2^-53 |x + hi| + 2^-52 |hi|, so adding them errs by less than 2^-104 (|x| + |hi|); the bound has
 * room for that and for the rounding of the test itself. A row without error and low part needs no
 * test: the sum of two doubles is rounded by the processor.
 */
static bool add_quickly(double x, double hi, double lo, double eps, double *y)
{
    struct pe__dd high = pe__two_sum(x, hi);
    *y = high.hi == high.hi ? high.hi : __builtin_nan("");
    if (!isfinite(x) || (eps == 0 && lo == 0))
        return true;
    struct pe__dd sum = pe__two_sum(high.hi, high.lo + lo);
    double bound = eps * 1.001 + (fabs(x) + fabs(hi)) * 0x1p-102;
    *y = sum.hi;
    return sum.hi + (sum.lo + bound) == sum.hi && sum.hi + (sum.lo - bound) == sum.hi;
}

static void add_values(const struct addition *addition, bool is_sine, const void *x, void *y)
{
    const struct pe__planes *planes = addition->planes;
    const size_t *channel = is_sine ? addition->channel_s : addition->channel_c;
    const double *hi = is_sine ? planes->sin_hi : planes->cos_hi;
    const double *lo = is_sine ? planes->sin_lo : planes->cos_lo;
    double sign = addition->slab->job->inverse ? -1 : 1;
    for (size_t j = 0; j < addition->n; j++) {
        if (channel[j] == PE__NO_CHANNEL)
            continue;
        struct sum sum = {addition, j, is_sine, ((const double *)x)[channel[j]]};
        double result;
        if (add_quickly(sum.x, sign * hi[j], sign * lo[j], addition->eps, &result))
            ((double *)y)[channel[j]] = result;
        else
            pe__round_exact(PE_F64, sum_exact, &sum, 0, y, channel[j]);
    }
}

/* Channels outside of all pairs (the last one of an odd dim) stay as they are. */
static void add_block(void *context, size_t token, const void *x, void *y)
{
    const struct addition *addition = context;
    (void)token;
    if (addition->first == 0)
        pe__row_copy(addition->slab->job, 0, addition->slab->job->in->dim, x, y);
    add_values(addition, false, x, y);
    if (addition->plan->pairs)
        add_values(addition, true, x, y);
}

static void map_channels(struct addition *addition)
{
    for (size_t j = 0; j < addition->n; j++) {
        addition->channel_c[j] = addition->first + j;
        if (addition->plan->pairs)
            addition->plan->spec.kind->ops->pair_channels(
                &addition->plan->spec, addition->first + j, &addition->channel_c[j],
                &addition->channel_s[j]);
    }
}

static double make_values(const struct addition *addition, struct work *work)
{
    const struct pe_plan *plan = addition->plan;
    const struct pe_positions *positions = addition->slab->positions;
    if (plan->pairs)
        return pe__plan_pairs(plan, &work->walk, positions, addition->token, addition->first,
                              addition->n, &work->planes);
    return pe__plan_row(plan, pe__plan_position(plan, positions->at[0][addition->token]),
                        addition->first, addition->n, work->planes.cos_hi, work->planes.cos_lo);
}

static void add_exact_values(const struct pe__slab *slab)
{
    struct work *work = slab->job->work;
    struct addition addition = {.slab = slab, .plan = slab->job->plan, .planes = &work->planes};
    size_t total = addition.plan->pairs ? addition.plan->pairs : slab->job->in->dim;
    for (addition.first = 0; addition.first < total; addition.first += PE__BLOCK) {
        addition.n = total - addition.first < PE__BLOCK ? total - addition.first : PE__BLOCK;
        map_channels(&addition);
        pe__plan_walk_init(&work->walk);
        for (addition.token = 0; addition.token < slab->job->in->tokens; addition.token++) {
            addition.eps = make_values(&addition, work);
            pe__slab_rows(slab, addition.token, 1, add_block, &addition);
        }
    }
}

/* ---- Both --------------------------------------------------------------------------------- */

size_t pe__add_work_bytes(const struct pe_plan *plan)
{
    size_t dim = pe_spec_dim(&plan->spec);
    size_t table = rows_at_once(dim) * dim * sizeof(double);
    return table > sizeof(struct work) ? table : sizeof(struct work);
}

void pe__apply_add(const struct pe__slab *slab)
{
    if (slab->job->out->dtype == PE_F64)
        add_exact_values(slab);
    else
        add_table(slab);
}
