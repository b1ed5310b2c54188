// SPDX-License-Identifier: Apache-2.0
/*
 * similarity.c: similarities as scores of one vector with itself (scores_parts.c): 0 where a code
 * is added to it, so that the codes alone remain; where pairs are rotated 1 in their first members,
 * so that their cosines do.
 */
#include <math.h>
#include <string.h>

#include "round.h"
#include "scores_parts.h"

struct work {
    const struct pe_similarity *job;
    struct pe_scores vectors; /* for the cell */
    struct pe__parts parts;
    struct pe__ball query_length;
};

static void set_vector(const struct pe_plan *plan, size_t dim, double *vector)
{
    memset(vector, 0, dim * sizeof *vector);
    for (size_t pair = 0; plan->spec.kind->acts == PE_ROTATES && pair < plan->pairs; pair++) {
        size_t first, second;
        pe_spec_pair_members(&plan->spec, pair, false, &first, &second);
        vector[first] = 1;
    }
}

static struct pe__ball length(struct work *work, const struct pe__row *code)
{
    return pe__length_ball(&work->parts, work->vectors.q, 0, true,
                           pe__lengths_vary(&work->parts.cell) ? code : NULL);
}

static void store(struct work *work, double *out)
{
    struct pe__parts *parts = &work->parts;
    if (isnan(parts->anchor_code.size) || isnan(parts->place_code.size)) {
        *out = __builtin_nan(""); /* an angle is beyond the range of its stage */
        return;
    }
    struct pe__ball value = pe__parts_sum(parts);
    if (work->vectors.normalize == PE_NORMALIZE_COSINE)
        value =
            pe__ball_div(pe__ball_div(value, work->query_length), length(work, &parts->place_code));
    if (!pe__ball_round(value, PE_F64, out, 0))
        pe__round_exact(PE_F64, pe__cell_exact, &parts->cell, PE__SCORE, out, 0);
}

/* False when the caller stopped it. */
static bool compute(struct work *work)
{
    const struct pe_similarity *job = work->job;
    struct pe__parts *parts = &work->parts;
    pe__choose_vectors(parts, 0, 1);
    for (size_t query = 0; query < job->queries->n; query++) {
        if (job->stop && job->stop(job->stop_context))
            return false;
        pe__choose_query(parts, job->queries, query);
        work->query_length = length(work, &parts->anchor_code);
        for (size_t key = 0; key < job->keys->n; key++) {
            pe__choose_key(parts, job->queries, query, job->keys, key);
            store(work, &job->out[query * job->keys->n + key]);
        }
    }
    return true;
}

enum pe_status pe_similarity(const struct pe_similarity *job)
{
    const struct pe_plan *plan = job->plan;
    bool rotates = plan->spec.kind->acts == PE_ROTATES;
    struct work work = {.job = job};
    work.vectors = (struct pe_scores){
        .plan = plan,
        .q = job->work,
        .k = job->work,
        .vectors_n = 1,
        .dim = pe_spec_dim(&plan->spec),
        .scale = 1,
        .normalize = job->cosine || rotates ? PE_NORMALIZE_COSINE : PE_NORMALIZE_NONE,
    };
    set_vector(plan, work.vectors.dim, job->work);
    bool made = pe__parts_init(&work.parts, &work.vectors);
    bool done = made && compute(&work);
    pe__parts_release(&work.parts);
    if (!done)
        return made ? PE_STOPPED : PE_NO_MEMORY;
    return work.parts.divides_by_zero ? PE_INVALID_VALUE : PE_OK;
}

/* ---- The bound ---------------------------------------------------------------------------- */

/* The first of the sums has length 1, so that all digits but these few are of the whole. */
#define GUARD_BITS 64

/* One distance. */
struct far {
    const struct pe_plan *plan;
    struct pe__pos at[PE_AXES_MAX];
};

static struct pe__ball factor_ball(const struct pe_plan *plan)
{
    struct pe__ball pairs = pe__ball_exact((double)plan->pairs);
    return plan->amplified ? pe__ball_mul(pairs, plan->attention) : pairs;
}

static struct pe__ball bound_ball(const struct far *far)
{
    const struct pe_plan *plan = far->plan;
    struct pe__ball x = {0, 0, 0}, y = {0, 0, 0}, sum = {0, 0, 0};
    struct pe__plan_walk walk;
    struct pe__planes planes;
    for (size_t first = 0, n; first < plan->pairs; first += n) {
        n = plan->pairs - first < PE__BLOCK ? plan->pairs - first : PE__BLOCK;
        pe__plan_walk_init(&walk);
        double eps = pe__plan_pairs_at(plan, &walk, far->at, first, n, &planes);
        for (size_t j = 0; j < n; j++) {
            x = pe__ball_add(x, (struct pe__ball){planes.cos_hi[j], planes.cos_lo[j], eps});
            y = pe__ball_add(y, (struct pe__ball){planes.sin_hi[j], planes.sin_lo[j], eps});
            struct pe__ball square = pe__ball_add(pe__ball_mul(x, x), pe__ball_mul(y, y));
            sum = pe__ball_add(sum, pe__ball_sqrt(square));
        }
    }
    return pe__ball_div(sum, factor_ball(plan));
}

static void bound_exact(const void *context, size_t unused, mpfr_t result)
{
    const struct far *far = context;
    const struct pe_plan *plan = far->plan;
    mpfr_t x, y, c, s;
    (void)unused;
    mpfr_inits2(mpfr_get_prec(result) + GUARD_BITS, x, y, c, s, (mpfr_ptr)NULL);
    mpfr_set_zero(x, 1);
    mpfr_set_zero(y, 1);
    mpfr_set_zero(result, 1);
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        pe__plan_pair_exact_at(plan, far->at, pair, c, s);
        mpfr_add(x, x, c, MPFR_RNDN);
        mpfr_add(y, y, s, MPFR_RNDN);
        mpfr_hypot(c, x, y, MPFR_RNDN);
        mpfr_add(result, result, c, MPFR_RNDN);
    }
    mpfr_set_ui(c, plan->pairs, MPFR_RNDN);
    if (plan->amplified)
        pe__plan_amplify_exact(plan, c);
    mpfr_div(result, result, c, MPFR_RNDN);
    mpfr_clears(x, y, c, s, (mpfr_ptr)NULL);
}

void pe_decay_bound(const struct pe_plan *plan, const double *distances, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        struct far far = {.plan = plan};
        far.at[0] = pe__place_distance(&plan->placing, (struct pe__dd){distances[i], 0});
        if (!pe__ball_round(bound_ball(&far), PE_F64, out, i))
            pe__round_exact(PE_F64, bound_exact, &far, 0, out, i);
    }
}
