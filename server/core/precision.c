// SPDX-License-Identifier: Apache-2.0
/*
 * precision.c: how far a pipeline that rounds is from the exact numbers: the errors of one position
 * after the other, their largest and their mean square. Errors of values and angles are differences
 * of two real numbers (operation.h); those of vectors and scores are in precision_vectors.c.
 */
#include "precision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "angles.h"
#include "exact.h"
#include "operation.h"

#define RMS_BITS    128 /* of a quotient and its root, which are rounded once more */
#define LOST_IN_EPS 16  /* a difference of so many error bounds is none */

/* ---- Differences -------------------------------------------------------------------------- */

enum what { COSINE, SINE, ROW, ANGLE };

/* One number of a plan at a token, as MPFR is asked for it. */
struct number {
    const struct pe_plan *plan;
    const struct pe_positions *positions;
    size_t token;
    enum what what;
    bool negative;
    const struct pe__angle *angle; /* of ANGLE */
};

static void number_exact(const void *context, size_t i, mpfr_t y)
{
    const struct number *number = context;
    switch (number->what) {
    case COSINE:
        pe__plan_pair_exact(number->plan, number->positions, number->token, i, y, NULL);
        break;
    case SINE:
        pe__plan_pair_exact(number->plan, number->positions, number->token, i, NULL, y);
        break;
    case ROW:
        pe__plan_row_exact(number->plan,
                           pe__plan_position(number->plan, number->positions->at[0][number->token]),
                           i, y);
        break;
    case ANGLE:
        pe__angle_exact(number->angle, i, y);
        break;
    }
    if (number->negative)
        mpfr_neg(y, y, MPFR_RNDN);
}

/* Number i of both plans, as far as balls tell. */
struct both {
    struct number exact, staged;
    size_t i;
};

static double error_between(const struct both *both, struct pe__ball exact, struct pe__ball staged)
{
    if (!isfinite(staged.hi))
        return __builtin_nan("");
    struct pe__operand a = {staged, number_exact, &both->staged, both->i};
    struct pe__operand b = {{-exact.hi, -exact.lo, exact.eps}, number_exact, &both->exact, both->i};
    struct pe__ball difference = pe__ball_add(a.ball, b.ball);
    if (fabs(difference.hi) <= LOST_IN_EPS * difference.eps)
        return 0;
    return fabs(pe__sum_of(PE_F64, &a, &b));
}

static struct both both_of(const struct pe__precision *work, size_t token, enum what what)
{
    const struct pe_precision *job = work->job;
    struct both both = {.exact = {job->exact, job->positions, token, what, true, NULL},
                        .staged = {job->staged, job->positions, token, what, false, NULL}};
    return both;
}

/* ---- Values ------------------------------------------------------------------------------- */

static struct pe__ball lane(const double *hi, const double *lo, double eps, size_t j)
{
    return (struct pe__ball){hi[j], lo[j], eps};
}

/* A block of pairs of one plan. */
struct block {
    struct pe__plan_walk walk;
    struct pe__planes planes;
    double eps;
};

static void block_make(struct block *block, const struct pe_plan *plan,
                       const struct pe_positions *positions, size_t token, size_t first, size_t n)
{
    pe__plan_walk_init(&block->walk);
    block->eps = pe__plan_pairs(plan, &block->walk, positions, token, first, n, &block->planes);
}

/* Cosines, sines or both, one behind the other for each pair. */
static void pair_errors(struct pe__precision *work, size_t token, bool cosines, bool sines)
{
    const struct pe_precision *job = work->job;
    struct block exact, staged;
    struct both c = both_of(work, token, COSINE), s = both_of(work, token, SINE);
    double *error = work->errors;
    for (size_t first = 0, n = 0; first < job->exact->pairs; first += n) {
        n = pe__plan_block(job->exact, first);
        block_make(&exact, job->exact, job->positions, token, first, n);
        block_make(&staged, job->staged, job->positions, token, first, n);
        for (size_t j = 0; j < n; j++) {
            c.i = s.i = first + j;
            if (cosines)
                *error++ =
                    error_between(&c, lane(exact.planes.cos_hi, exact.planes.cos_lo, exact.eps, j),
                                  lane(staged.planes.cos_hi, staged.planes.cos_lo, staged.eps, j));
            if (sines)
                *error++ =
                    error_between(&s, lane(exact.planes.sin_hi, exact.planes.sin_lo, exact.eps, j),
                                  lane(staged.planes.sin_hi, staged.planes.sin_lo, staged.eps, j));
        }
    }
}

static void cosine_errors(struct pe__precision *work, size_t token)
{
    pair_errors(work, token, true, false);
}

static void sine_errors(struct pe__precision *work, size_t token)
{
    pair_errors(work, token, false, true);
}

static void row_errors(struct pe__precision *work, size_t token)
{
    const struct pe_precision *job = work->job;
    double hi[2][PE__BLOCK], lo[2][PE__BLOCK];
    struct both both = both_of(work, token, ROW);
    double at = job->positions->at[0][token];
    for (size_t first = 0, n = 0; first < work->count; first += n) {
        n = work->count - first < PE__BLOCK ? work->count - first : PE__BLOCK;
        double eps_exact =
            pe__plan_row(job->exact, pe__plan_position(job->exact, at), first, n, hi[0], lo[0]);
        double eps_staged =
            pe__plan_row(job->staged, pe__plan_position(job->staged, at), first, n, hi[1], lo[1]);
        for (size_t j = 0; j < n; j++) {
            both.i = first + j;
            work->errors[first + j] = error_between(&both, lane(hi[0], lo[0], eps_exact, j),
                                                    lane(hi[1], lo[1], eps_staged, j));
        }
    }
}

static void table_errors(struct pe__precision *work, size_t token)
{
    if (work->job->exact->pairs)
        pair_errors(work, token, true, true);
    else
        row_errors(work, token);
}

/* ---- Angles ------------------------------------------------------------------------------- */

/* Where a token stands for a plan. */
static void place(const struct pe_plan *plan, const struct pe_positions *positions, size_t token,
                  struct pe__pos at[PE_AXES_MAX])
{
    for (size_t axis = 0; axis < plan->axes; axis++)
        at[axis] = pe__plan_position(plan, positions->at[axis][token]);
}

static void angle_errors(struct pe__precision *work, size_t token)
{
    const struct pe_precision *job = work->job;
    struct pe__pos at[2][PE_AXES_MAX];
    struct both both = both_of(work, token, ANGLE);
    place(job->exact, job->positions, token, at[0]);
    place(job->staged, job->positions, token, at[1]);
    for (size_t pair = 0; pair < job->exact->pairs; pair++) {
        struct pe__source source = pe__pair_source(job->exact, pair);
        struct pe__angle exact = {job->exact, {job->exact, at[0], source.axis}, PE_ANGLE};
        struct pe__angle staged = {job->staged, {job->staged, at[1], source.axis}, PE_ANGLE};
        both.exact.angle = &exact;
        both.staged.angle = &staged;
        both.i = source.k;
        work->errors[pair] =
            error_between(&both, pe__angle_ball(&exact, source.k, work->exact_w[pair]),
                          pe__angle_ball(&staged, source.k, work->staged_w[pair]));
    }
}

static void frequencies_make(const struct pe_plan *plan, struct pe__ball *w)
{
    for (size_t pair = 0; pair < plan->pairs; pair++)
        w[pair] = pe__plan_frequency_ball(plan, pe__pair_source(plan, pair).k, true);
}

/* ---- Quantities --------------------------------------------------------------------------- */

static size_t pairs_of(const struct pe_spec *spec)
{
    return pe_spec_pairs(spec);
}

static size_t values_of(const struct pe_spec *spec)
{
    return pe_spec_pairs(spec) ? 2 * pe_spec_pairs(spec) : pe_spec_dim(spec);
}

static size_t one(const struct pe_spec *spec)
{
    (void)spec;
    return 1;
}

#define STAGES_OF_VECTORS (PE_STAGES_OF_PLANS | 1u << PE_STAGE_APPLY | 1u << PE_STAGE_QUANTIZE)

static const struct {
    const char *of; /* what an encoding without it lacks */
    bool needs_pairs, needs_angles, needs_values;
    unsigned stages;
    size_t (*count)(const struct pe_spec *spec);
    void (*errors)(struct pe__precision *work, size_t token);
} quantities[PE_QUANTITIES_N] = {
    [PE_QUANTITY_COS] = {"cosines", true, false, true, PE_STAGES_OF_PLANS, pairs_of, cosine_errors},
    [PE_QUANTITY_SIN] = {"sines", true, false, true, PE_STAGES_OF_PLANS, pairs_of, sine_errors},
    [PE_QUANTITY_TABLE] = {"values of a position", false, false, true, PE_STAGES_OF_PLANS,
                           values_of, table_errors},
    [PE_QUANTITY_ANGLE] = {"angles", true, true, true, PE_STAGES_OF_PLANS & ~(1u << PE_STAGE_TABLE),
                           pairs_of, angle_errors},
    [PE_QUANTITY_APPLY] = {"encoded vectors", false, false, true, STAGES_OF_VECTORS, pe_spec_width,
                           pe__vector_errors},
    [PE_QUANTITY_SCORE] = {"scores", false, false, false, STAGES_OF_VECTORS | 1u << PE_STAGE_DOT,
                           one, pe__score_errors},
};

bool pe_precision_check(const struct pe_spec *spec, enum pe_quantity quantity,
                        struct pe_faults *faults)
{
    enum pe_acts acts = spec->kind->acts;
    bool has_values = acts == PE_ADDS || acts == PE_ROTATES;
    if ((quantities[quantity].needs_values && !has_values) ||
        (quantities[quantity].needs_pairs && pe_spec_pairs(spec) == 0))
        return pe_fault_add(faults, PE_INVALID_VALUE, "quantity",
                            has_values ? "quantity=table" : "quantity=score", "kind=%s has no %s",
                            spec->kind->name, quantities[quantity].of);
    if (quantities[quantity].needs_angles && (!pe_spec_turns(spec) || pe_spec_is_given(spec)))
        return pe_fault_add(faults, PE_INVALID_VALUE, "quantity", "quantity=table",
                            "the cosines and sines of this encoding are not those of one angle");
    return quantity != PE_QUANTITY_SCORE || pe_scores_check(spec, faults);
}

size_t pe_precision_count(const struct pe_spec *spec, enum pe_quantity quantity)
{
    return quantities[quantity].count(spec);
}

unsigned pe_precision_stages(enum pe_quantity quantity)
{
    return quantities[quantity].stages;
}

/* ---- The errors of a position ------------------------------------------------------------- */

static double root_mean_square(const double *errors, size_t n)
{
    mpfr_t sum, root;
    mpfr_init2(sum, PE__EXACT_BITS);
    mpfr_init2(root, RMS_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < n; i++)
        pe__exact_add_product(sum, errors[i], errors[i]);
    mpfr_div_ui(root, sum, n, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    double rms = mpfr_get_d(root, MPFR_RNDN);
    mpfr_clears(sum, root, (mpfr_ptr)NULL);
    return rms;
}

/* The pair of error i; of vectors the list says it. */
static int64_t index_of(const struct pe__precision *work, size_t i)
{
    if (work->pair_of)
        return work->pair_of[i];
    return (int64_t)(work->count > work->job->exact->pairs && work->job->exact->pairs ? i / 2 : i);
}

static void store(struct pe__precision *work, size_t token)
{
    const struct pe_precision *job = work->job;
    size_t worst = 0;
    bool known = true;
    for (size_t i = 0; i < work->count; i++) {
        bool more = isnan(work->errors[i]) || work->errors[i] > work->errors[worst];
        worst = known && more ? i : worst;
        known = known && !isnan(work->errors[i]);
    }
    job->max_abs_error[token] = work->errors[worst];
    job->rms_error[token] = known ? root_mean_square(work->errors, work->count) : __builtin_nan("");
    job->worst[token] = index_of(work, worst);
    if (job->error)
        memcpy(job->error + token * work->count, work->errors, work->count * sizeof *job->error);
}

static bool work_init(struct pe__precision *work, const struct pe_precision *job)
{
    const struct pe_spec *spec = &job->exact->spec;
    *work = (struct pe__precision){.job = job, .count = pe_precision_count(spec, job->quantity)};
    work->errors = calloc(work->count, sizeof *work->errors);
    bool made = work->errors != NULL;
    if (job->quantity == PE_QUANTITY_ANGLE) {
        work->exact_w = calloc(2 * job->exact->pairs, sizeof *work->exact_w);
        work->staged_w = work->exact_w + job->exact->pairs;
        made = made && work->exact_w;
    }
    if (job->quantity >= PE_QUANTITY_APPLY)
        made = made && pe__vectors_init(work);
    if (made && job->quantity == PE_QUANTITY_ANGLE) {
        frequencies_make(job->exact, work->exact_w);
        frequencies_make(job->staged, work->staged_w);
    }
    return made;
}

static void work_release(struct pe__precision *work)
{
    pe__vectors_release(work);
    free(work->exact_w);
    free(work->errors);
}

enum pe_status pe_precision(const struct pe_precision *job)
{
    struct pe__precision work;
    enum pe_status status = work_init(&work, job) ? PE_OK : PE_NO_MEMORY;
    for (size_t token = 0; status == PE_OK && token < job->positions->n; token++) {
        if (job->stop && job->stop(job->stop_context)) {
            status = PE_STOPPED;
            break;
        }
        quantities[job->quantity].errors(&work, token);
        status = work.failed ? PE_NO_MEMORY : PE_OK;
        if (status == PE_OK)
            store(&work, token);
    }
    work_release(&work);
    return status;
}
