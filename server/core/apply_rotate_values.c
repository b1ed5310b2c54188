// SPDX-License-Identifier: Apache-2.0
/*
 * apply_rotate_values.c: cosines and sines by which rows are rotated, made once per block of tokens
 * and pairs, from the plan; doubtful ones are recomputed by MPFR.
 */
#include <math.h>
#include <string.h>

#include "apply_rotate.h"
#include "exact.h"
#include "given.h"
#include "round.h"

/* One of a token's cosines or sines, for MPFR. */
struct value {
    const struct pe__rotating *rotation;
    size_t token;
    bool is_sine;
};

static void value_exact(const void *context, size_t j, mpfr_t y)
{
    const struct value *value = context;
    const struct pe__rotating *rotation = value->rotation;
    pe__plan_pair_exact(rotation->plan, rotation->slab->positions, value->token,
                        rotation->first + j, value->is_sine ? NULL : y, value->is_sine ? y : NULL);
    if (pe__rotating_undoes(rotation))
        pe__plan_undo_exact(rotation->plan, y);
    if (rotation->plan->scale_log)
        pe__plan_scale_exact(rotation->plan, pe__rotating_place(rotation, value->token),
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

/* Values of adjacent members, which are rotated without taking them apart. */
static void spread(const struct pe__rotating *rotation, const struct pe__values *row)
{
    if (rotation->step == 2)
        rotation->kernels->spread(rotation->n, row->c, row->s);
}

static void make_narrow(const struct pe__rotating *rotation, size_t token, double eps,
                        const struct pe__values *row)
{
    const struct pe__planes *planes = &rotation->work->planes;
    struct value value = {rotation, token, false};
    round_values(&value, planes->cos_hi, planes->cos_lo, eps, row->c);
    value.is_sine = true;
    round_values(&value, planes->sin_hi, planes->sin_lo, eps, row->s);
    if (rotation->slab->job->inverse)
        negate(row->s, rotation->n);
    spread(rotation, row);
}

static void make_wide(const struct pe__rotating *rotation, const struct pe__values *row)
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

static bool is_at_zero(const struct pe__rotating *rotation, size_t token)
{
    const struct pe_positions *positions = rotation->slab->positions;
    for (size_t axis = 0; axis < rotation->plan->axes; axis++)
        if (pe__plan_position(rotation->plan, positions->at[axis][token]).hi != 0)
            return false;
    return true;
}

/* Whether the token is multiplied, beside being turned. */
static bool scales(const struct pe__rotating *rotation, size_t token)
{
    struct pe__pos at = pe__rotating_place(rotation, token);
    return rotation->plan->scale_log && !isnan(at.hi) &&
           !(at.hi == rotation->plan->center && at.lo == 0);
}

/* Whether cos and sin are those of an angle, which is 0 at position 0. */
static bool is_of_angles(const struct pe__rotating *rotation)
{
    const struct pe_spec *spec = &rotation->plan->spec;
    return !pe_spec_is_given(spec) && !spec->kind->ops->mixed;
}

/* Token i of the block: its row of scratch. */
static void make_values(const struct pe__rotating *rotation, size_t i)
{
    struct pe__rotating_work *work = rotation->work;
    size_t token = rotation->token + i;
    bool turns = !pe__is_still(rotation->plan, rotation->first) && !is_at_zero(rotation, token);
    bool changes = rotation->plan->amplified || !is_of_angles(rotation) || scales(rotation, token);
    work->still[i] = !changes && !turns;
    if (work->still[i])
        return;
    double eps = pe__plan_pairs(rotation->plan, &work->walk, rotation->slab->positions, token,
                                rotation->first, rotation->n, &work->planes);
    if (pe__rotating_undoes(rotation))
        eps = pe__plan_undo(rotation->plan, rotation->n, eps, &work->planes);
    if (rotation->plan->amplified) /* the products' own errors are relative to cos and sin */
        eps += (rotation->plan->attention.hi + rotation->plan->undo.hi) * 0x1p-100;
    if (rotation->plan->scale_log)
        eps = pe__plan_scale(rotation->plan, pe__rotating_place(rotation, token),
                             pe__scale_sign(rotation->slab->job), rotation->first, rotation->n, eps,
                             &work->planes);
    if ((!is_of_angles(rotation) || rotation->plan->scale_log) && rotation->to == PE_F64)
        eps += pe__given_eps(&work->planes, rotation->n);
    struct pe__values row = pe__values_at(rotation, i);
    work->eps[i] = eps;
    if (rotation->to == PE_F64)
        make_wide(rotation, &row);
    else
        make_narrow(rotation, token, eps, &row);
}

size_t pe__rotating_make(const struct pe__rotating *rotation, size_t i, size_t n)
{
    struct pe__rotating_work *work = rotation->work;
    struct pe__run run;
    bool plain = rotation->to != PE_F64 && !rotation->plan->scale_log &&
                 pe__plan_is_plain(rotation->plan, rotation->first, rotation->n);
    if (!plain || pe__plan_run(rotation->plan, rotation->slab->positions, rotation->token + i,
                               rotation->token + n, &run) == 0) {
        make_values(rotation, i);
        return 1;
    }
    struct pe__values row = pe__values_at(rotation, i);
    const struct pe__run_out out = {
        .dtype = PE_F64,
        .backwards = (rotation->plan->direction < 0) != rotation->slab->job->inverse,
        .step = 1,
        .row_stride = rotation->parts * rotation->plane,
        .first = row.c,
        .second = row.s,
    };
    bool bad[PE__RUN + 1];
    bool sure = pe__cis_run(rotation->plan->cis, &work->walk.axis[0], &run, rotation->first,
                            rotation->n, &out, bad);
    for (size_t token = 0; token < run.n; token++) {
        work->still[i + token] = false;
        row = pe__values_at(rotation, i + token);
        if (!sure && bad[token])
            make_values(rotation, i + token);
        else
            spread(rotation, &row);
    }
    return run.n;
}
