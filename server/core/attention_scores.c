// SPDX-License-Identifier: Apache-2.0
/*
 * attention_scores.c: scores of all queries with all keys, from the cells of scores_parts.c and the
 * biases of the kind, each the exact value rounded once.
 */
#include <math.h>

#include "exact.h"
#include "scores_parts.h"

/* One matrix in work. */
struct work {
    const struct pe_attention *job;
    struct pe_scores vectors; /* the query and the key in hand, for the cell */
    struct pe__parts parts;
    struct pe__bias_at at; /* bias kinds: where the two meet */
    bool biases, scales_bias;
};

/* ---- One score ---------------------------------------------------------------------------- */

static struct pe__ball scaled_ball(const struct pe_attention *job, struct pe__ball sum)
{
    if (job->scale != 1)
        sum = pe__ball_mul(sum, pe__ball_exact(job->scale));
    return job->scale_sqrt_dim ? pe__by_root(sum, job->dim) : sum;
}

static struct pe__ball score_ball(const struct work *work)
{
    struct pe__ball score = pe__parts_sum(&work->parts);
    if (!work->biases)
        return scaled_ball(work->job, score);
    struct pe__ball bias = pe__plan_bias(work->job->plan, &work->at);
    return work->scales_bias ? scaled_ball(work->job, pe__ball_add(score, bias))
                             : pe__ball_add(scaled_ball(work->job, score), bias);
}

/* Summand i, q.k or the bias, scaled where it is to be. */
static void summand_exact(const void *context, size_t i, mpfr_t y)
{
    const struct work *work = context;
    const struct pe_attention *job = work->job;
    if (i == 0)
        pe__cell_exact(&work->parts.cell, PE__SCORE, y);
    else
        pe__plan_bias_exact(job->plan, &work->at, y);
    if (i != 0 && !work->scales_bias)
        return;
    if (job->scale != 1)
        mpfr_mul_d(y, y, job->scale, MPFR_RNDN);
    if (job->scale_sqrt_dim)
        pe__by_root_exact(job->dim, y);
}

static void score_exact(const void *context, size_t i, mpfr_t y)
{
    const struct work *work = context;
    (void)i;
    pe__exact_sum(summand_exact, work, work->biases ? 2 : 1, y);
}

/* Whether a cosine or sine of the two is NaN: an angle is beyond the range of its stage. */
static bool has_no_number(const struct work *work)
{
    const struct pe__parts *parts = &work->parts;
    return isnan(parts->anchor_code.size) || isnan(parts->place_code.size);
}

static double score(const struct work *work)
{
    double rounded = __builtin_nan("");
    if (!has_no_number(work) && !pe__ball_round(score_ball(work), PE_F64, &rounded, 0))
        pe__round_exact(PE_F64, score_exact, work, 0, &rounded, 0);
    return rounded;
}

/* ---- All of them -------------------------------------------------------------------------- */

static void choose_query(struct work *work, size_t query)
{
    const struct pe_attention *job = work->job;
    work->vectors.q = job->q + query * job->dim;
    if (!work->biases)
        pe__choose_query(&work->parts, job->positions, query);
}

static void choose_key(struct work *work, size_t query, size_t key)
{
    const struct pe_attention *job = work->job;
    const struct pe_positions *positions = job->positions;
    work->vectors.k = job->k + key * job->dim;
    pe__forget_vectors(&work->parts);
    pe__choose_vectors(&work->parts, 0, 1);
    if (!work->biases) {
        pe__choose_key(&work->parts, positions, query, positions, key);
        return;
    }
    work->at = (struct pe__bias_at){
        .head = job->head,
        .query = positions->at[0][query],
        .key = positions->at[0][key],
        .last = positions->at[0][positions->n - 1],
        .q = work->vectors.q,
        .k = work->vectors.k,
        .keys = positions->at[0] + key,
        .keys_n = positions->n - key,
    };
}

/* False when the caller stopped it. */
static bool compute(struct work *work)
{
    const struct pe_attention *job = work->job;
    size_t n = job->positions->n;
    for (size_t query = 0; query < n; query++) {
        if (job->stop && job->stop(job->stop_context))
            return false;
        choose_query(work, query);
        for (size_t key = 0; key < n; key++) {
            bool seen = !job->causal || key <= query;
            if (seen)
                choose_key(work, query, key);
            job->scores[query * n + key] = seen ? score(work) : -INFINITY;
        }
    }
    return true;
}

enum pe_status pe_attention_scores(const struct pe_attention *job)
{
    const struct pe_kind *kind = job->plan->spec.kind;
    struct work work = {.job = job, .biases = kind->acts == PE_BIASES};
    work.scales_bias = kind->properties & PE_CONTENT;
    work.vectors = (struct pe_scores){.plan = job->plan,
                                      .q = job->q,
                                      .k = job->k,
                                      .vectors_n = 1,
                                      .dim = job->dim,
                                      .stages = job->stages,
                                      .scale = 1};
    bool made = pe__parts_init(&work.parts, &work.vectors);
    if (work.biases) /* they are added here */
        pe__keep_content(&work.parts);
    bool done = made && compute(&work);
    pe__parts_release(&work.parts);
    if (!done)
        return made ? PE_STOPPED : PE_NO_MEMORY;
    return PE_OK;
}
