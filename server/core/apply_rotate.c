// SPDX-License-Identifier: Apache-2.0
/*
 * apply_rotate.c: rotates rows of pairs. Cos and sin are made once per block of tokens and pairs,
 * then used for all batches and heads, so that they are read from cache whichever axis is
 * outermost. The arithmetic is in kernels_rotate.inc.c, cos and sin come from the plan; here
 * doubtful values are recomputed by MPFR.
 */
#include <string.h>

#include "apply.h"
#include "exact.h"
#include "given.h"
#include "kernels.h"
#include "kind.h"
#include "round.h"

#define TOKENS_MAX 256 /* tokens in a block, at most */

struct work {
    struct pe__plan_walk walk;
    struct pe__planes planes;
    _Alignas(64) double values[PE__APPLY_BYTES / sizeof(double)];
    double eps[TOKENS_MAX]; /* f64: of each token's values */
    bool still[TOKENS_MAX]; /* tokens whose pairs stay as they are: at position 0, or still */
};

/* Cos and sin of one token's pairs, within `values`: correctly rounded doubles; for f64 high parts,
 * and as far behind s the low parts of both. */
struct row {
    double *c, *s;
};

/* What is being rotated now: pairs [first, first + n) of tokens from `token` on. */
struct rotation {
    const struct pe__slab *slab;
    const struct pe_plan *plan;
    const struct pe__kernels *kernels;
    struct work *work;
    enum pe_dtype from, to;
    size_t size; /* bytes of an element of `to` */
    size_t token;
    size_t first, n;
    size_t plane; /* doubles from one part of a row to the next */
    size_t parts; /* 2 or, for f64, 4 */
    size_t a, b;  /* channels of the first pair */
    size_t step;  /* channels from one pair to the next, 1 or 2 */
};

/* ---- Channels ----------------------------------------------------------------------------- */

static void pair_channels(const struct rotation *rotation, size_t j, size_t *a, size_t *b)
{
    pe_spec_pair_members(&rotation->plan->spec, rotation->first + j, false, a, b);
}

/* Most pairs lie at equal steps, members side by side or apart; a block ends where they do not. */
static void map_channels(struct rotation *rotation)
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

/* ---- Cos and sin -------------------------------------------------------------------------- */

/* Whether the inverse has to take an attention factor back, beside turning back. */
static bool undoes(const struct rotation *rotation)
{
    return rotation->plan->amplified && rotation->slab->job->inverse;
}

static struct pe__pos place_of(const struct rotation *rotation, size_t token)
{
    return pe__plan_position(rotation->plan, rotation->slab->positions->at[0][token]);
}

/* One of a token's cosines or sines, for MPFR. */
struct value {
    const struct rotation *rotation;
    size_t token;
    bool is_sine;
};

static void value_exact(const void *context, size_t j, mpfr_t y)
{
    const struct value *value = context;
    const struct rotation *rotation = value->rotation;
    pe__plan_pair_exact(rotation->plan, rotation->slab->positions, value->token,
                        rotation->first + j, value->is_sine ? NULL : y, value->is_sine ? y : NULL);
    if (undoes(rotation))
        pe__plan_undo_exact(rotation->plan, y);
    if (rotation->plan->scale_log)
        pe__plan_scale_exact(rotation->plan, place_of(rotation, value->token),
                             pe__scale_sign(rotation->slab->job), rotation->first + j, y);
}

static void round_values(const struct value *value, const double *hi, const double *lo, double eps,
                         double *out)
{
    uint16_t bad[PE__BLOCK];
    size_t bad_n = pe__round_row(PE_F64, value->rotation->n, hi, lo, eps, out, 1, bad);
    for (size_t i = 0; i < bad_n; i++)
        pe__round_exact(PE_F64, value_exact, value, bad[i], out, bad[i]);
}

/* 0 - x rather than -x: an exact zero stays +0. */
static void negate(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 0 - x[i];
}

static struct row row_at(const struct rotation *rotation, size_t token)
{
    double *c = rotation->work->values + token * rotation->parts * rotation->plane;
    return (struct row){c, c + rotation->plane};
}

static void make_narrow(const struct rotation *rotation, size_t token, double eps,
                        const struct row *row)
{
    const struct pe__planes *planes = &rotation->work->planes;
    struct value value = {rotation, token, false};
    round_values(&value, planes->cos_hi, planes->cos_lo, eps, row->c);
    value.is_sine = true;
    round_values(&value, planes->sin_hi, planes->sin_lo, eps, row->s);
    if (rotation->slab->job->inverse)
        negate(row->s, rotation->n);
}

static void make_wide(const struct rotation *rotation, const struct row *row)
{
    const struct pe__planes *planes = &rotation->work->planes;
    size_t bytes = rotation->n * sizeof(double);
    memcpy(row->c, planes->cos_hi, bytes);
    memcpy(row->s, planes->sin_hi, bytes);
    memcpy(row->s + rotation->plane, planes->cos_lo, bytes);
    memcpy(row->s + 2 * rotation->plane, planes->sin_lo, bytes);
    if (rotation->slab->job->inverse) {
        negate(row->s, rotation->n);
        negate(row->s + 2 * rotation->plane, rotation->n);
    }
}

static bool is_at_zero(const struct rotation *rotation, size_t token)
{
    const struct pe_positions *positions = rotation->slab->positions;
    for (size_t axis = 0; axis < rotation->plan->axes; axis++)
        if (pe__plan_position(rotation->plan, positions->at[axis][token]).hi != 0)
            return false;
    return true;
}

/* Whether the token is multiplied, beside being turned. */
static bool scales(const struct rotation *rotation, size_t token)
{
    struct pe__pos at = place_of(rotation, token);
    return rotation->plan->scale_log && !isnan(at.hi) &&
           !(at.hi == rotation->plan->center && at.lo == 0);
}

/* Whether cos and sin are those of an angle, which is 0 at position 0. */
static bool is_of_angles(const struct rotation *rotation)
{
    const struct pe_spec *spec = &rotation->plan->spec;
    return !pe_spec_is_given(spec) && !spec->kind->ops->mixed;
}

/* Token i of the block: its row of scratch. */
static void make_values(const struct rotation *rotation, size_t i)
{
    struct work *work = rotation->work;
    size_t token = rotation->token + i;
    bool turns = !pe__is_still(rotation->plan, rotation->first) && !is_at_zero(rotation, token);
    bool changes = rotation->plan->amplified || !is_of_angles(rotation) || scales(rotation, token);
    work->still[i] = !changes && !turns;
    if (work->still[i])
        return;
    double eps = pe__plan_pairs(rotation->plan, &work->walk, rotation->slab->positions, token,
                                rotation->first, rotation->n, &work->planes);
    if (undoes(rotation))
        eps = pe__plan_undo(rotation->plan, rotation->n, eps, &work->planes);
    if (rotation->plan->amplified) /* the products' own errors are relative to cos and sin */
        eps += (rotation->plan->attention.hi + rotation->plan->undo.hi) * 0x1p-100;
    if (rotation->plan->scale_log)
        eps = pe__plan_scale(rotation->plan, place_of(rotation, token),
                             pe__scale_sign(rotation->slab->job), rotation->first, rotation->n, eps,
                             &work->planes);
    if ((!is_of_angles(rotation) || rotation->plan->scale_log) && rotation->to == PE_F64)
        eps += pe__given_eps(&work->planes, rotation->n);
    struct row row = row_at(rotation, i);
    work->eps[i] = eps;
    if (rotation->to == PE_F64)
        make_wide(rotation, &row);
    else
        make_narrow(rotation, token, eps, &row);
}

/* Tokens [i, n) of the block from i on, as many as one run has, if cos and sin are all they need;
 * else token i. Returns how many. */
static size_t make_run(const struct rotation *rotation, size_t i, size_t n)
{
    struct work *work = rotation->work;
    struct pe__run run;
    bool plain = rotation->to != PE_F64 && !rotation->plan->scale_log &&
                 pe__plan_is_plain(rotation->plan, rotation->first, rotation->n);
    if (!plain || pe__plan_run(rotation->plan, rotation->slab->positions, rotation->token + i,
                               rotation->token + n, &run) == 0) {
        make_values(rotation, i);
        return 1;
    }
    struct row row = row_at(rotation, i);
    const struct pe__run_out out = {
        .dtype = PE_F64,
        .backwards = (rotation->plan->direction < 0) != rotation->slab->job->inverse,
        .step = 1,
        .row_stride = rotation->parts * rotation->plane,
        .first = row.c,
        .second = row.s,
    };
    bool bad[PE__RUN];
    pe__cis_run(rotation->plan->cis, &work->walk.axis[0], &run, rotation->first, rotation->n, &out,
                bad);
    for (size_t token = 0; token < run.n; token++) {
        work->still[i + token] = false;
        if (bad[token])
            make_values(rotation, i + token);
    }
    return run.n;
}

/* ---- f64: doubtful pairs ------------------------------------------------------------------ */

/* x c + y s or x s + y c of one pair: two products that MPFR gives to any precision. */
struct member {
    const struct rotation *rotation;
    size_t token, pair;
    double x, y;
    bool cosine_first;
};

static void product_exact(const void *context, size_t i, mpfr_t y)
{
    const struct member *member = context;
    const struct rotation *rotation = member->rotation;
    bool is_cosine = (i == 0) == member->cosine_first;
    pe__plan_pair_exact(rotation->plan, rotation->slab->positions, member->token, member->pair,
                        is_cosine ? y : NULL, is_cosine ? NULL : y);
    if (!is_cosine && rotation->slab->job->inverse && !mpfr_zero_p(y))
        mpfr_neg(y, y, MPFR_RNDN);
    if (undoes(rotation))
        pe__plan_undo_exact(rotation->plan, y);
    if (rotation->plan->scale_log)
        pe__plan_scale_exact(rotation->plan, place_of(rotation, member->token),
                             pe__scale_sign(rotation->slab->job), member->pair, y);
    mpfr_mul_d(y, y, i == 0 ? member->x : member->y, MPFR_RNDN);
}

static void member_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(product_exact, context, 2, y);
}

static void rotate_exactly(const struct rotation *rotation, size_t token,
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

static void rotate_wide(const struct rotation *rotation, size_t token,
                        const struct pe__rotation *job)
{
    struct row row = row_at(rotation, token);
    const double *low = row.s + rotation->plane;
    struct pe__cdd_in cs = {row.c, low, row.s, low + rotation->plane};
    uint16_t bad[PE__BLOCK];
    size_t bad_n = rotation->kernels->rotate_f64(job, cs, rotation->work->eps[token], bad);
    for (size_t i = 0; i < bad_n; i++)
        rotate_exactly(rotation, rotation->token + token, job, bad[i]);
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* The channels of pairs that stay as they are. */
static void copy_pairs(const struct rotation *rotation, const void *x, void *y)
{
    const struct pe_apply *job = rotation->slab->job;
    bool adjacent = rotation->step == 2;
    pe__row_copy(job, rotation->a, adjacent ? 2 * rotation->n : rotation->n, x, y);
    if (!adjacent)
        pe__row_copy(job, rotation->b, rotation->n, x, y);
}

static void rotate_pairs(const struct rotation *rotation, size_t token, const void *x, void *y)
{
    struct pe__rotation job = {
        .n = rotation->n,
        .step = rotation->step,
        .a = (const char *)x + rotation->a * rotation->size,
        .b = (const char *)x + rotation->b * rotation->size,
        .ya = (char *)y + rotation->a * rotation->size,
        .yb = (char *)y + rotation->b * rotation->size,
    };
    struct row row = row_at(rotation, token);
    if (rotation->to == PE_F64)
        rotate_wide(rotation, token, &job);
    else
        rotation->kernels->rotate[rotation->to](&job, row.c, row.s);
}

/* The kernels' operations from one dtype to a narrower one. */
static void rotate_converting(const struct rotation *rotation, size_t token, const void *x, void *y)
{
    struct row row = row_at(rotation, token);
    for (size_t i = 0; i < rotation->n; i++) {
        size_t at_a = rotation->a + i * rotation->step;
        size_t at_b = rotation->b + i * rotation->step;
        double a = pe_load(rotation->from, x, at_a);
        double b = pe_load(rotation->from, x, at_b);
        pe_store(rotation->to, y, at_a, a * row.c[i] - b * row.s[i]);
        pe_store(rotation->to, y, at_b, a * row.s[i] + b * row.c[i]);
    }
}

static void rotate_row(void *context, size_t token, const void *x, void *y)
{
    const struct rotation *rotation = context;
    if (rotation->first == 0)
        pe__row_copy_rest(rotation->slab->job, x, y);
    if (rotation->work->still[token])
        copy_pairs(rotation, x, y);
    else if (rotation->from == rotation->to)
        rotate_pairs(rotation, token, x, y);
    else
        rotate_converting(rotation, token, x, y);
}

size_t pe__rotate_work_bytes(void)
{
    return sizeof(struct work);
}

/* All tokens, for one block of pairs. */
static void rotate_block(struct rotation *rotation)
{
    size_t tokens = rotation->slab->job->in->tokens;
    size_t step = PE__APPLY_BYTES / (rotation->parts * rotation->plane * sizeof(double));
    if (step > TOKENS_MAX)
        step = TOKENS_MAX;
    pe__plan_walk_init(&rotation->work->walk);
    for (rotation->token = 0; rotation->token < tokens; rotation->token += step) {
        size_t n = tokens - rotation->token < step ? tokens - rotation->token : step;
        for (size_t i = 0; i < n;)
            i += make_run(rotation, i, n);
        pe__slab_rows(rotation->slab, rotation->token, n, rotate_row, rotation);
    }
}

void pe__apply_rotate(const struct pe__slab *slab)
{
    struct rotation rotation = {
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
    for (rotation.first = 0; rotation.first < pairs; rotation.first += rotation.n) {
        rotation.n = pe__plan_block(rotation.plan, rotation.first);
        map_channels(&rotation);
        /* Whole cache lines and one more: parts a power of two apart would keep meeting the rows of
         * the tensor in the same sets of the cache. */
        rotation.plane = (rotation.n + 15) / 8 * 8;
        rotate_block(&rotation);
    }
}
