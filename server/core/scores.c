// SPDX-License-Identifier: Apache-2.0
/*
 * scores.c: how q.k depends on where the two stand. Every number is the exact mean over the vectors
 * rounded once: computed as a ball (scores_parts.c), and by MPFR (scores_exact.c) where the ball
 * does not decide the rounding. Kinds whose scores depend on the distance alone are computed once
 * per offset and copied to the other anchors.
 */
#include <string.h>

#include "round.h"
#include "scores_parts.h"

struct work {
    struct pe_scores *job;
    struct pe__parts parts;
    struct pe__ball start; /* sum of parts at offset 0 of this anchor */
};

/* ---- Means and normalization -------------------------------------------------------------- */

static struct pe__ball mean_ball(struct pe__ball sum, size_t n)
{
    return n == 1 ? sum : pe__ball_div(sum, pe__ball_exact((double)n));
}

static struct pe__ball mean_length(struct pe__parts *parts, const double *vectors, bool after,
                                   const struct pe__row *code)
{
    size_t n = parts->job->vectors_n;
    struct pe__ball sum = {0, 0, 0};
    for (size_t v = 0; v < n; v++)
        sum = pe__ball_add(sum, pe__length_ball(parts, vectors, v, after, code));
    return mean_ball(sum, n);
}

/* Sum over the vectors of score / (length of q * length of k). */
static struct pe__ball cosines_sum(struct pe__parts *parts)
{
    const struct pe_scores *job = parts->job;
    bool vary = pe__lengths_vary(&parts->cell);
    const struct pe__row *query_code = vary ? pe__query_code(parts) : NULL;
    const struct pe__row *key_code = vary ? pe__key_code(parts) : NULL;
    struct pe__ball sum = {0, 0, 0};
    for (size_t v = 0; v < job->vectors_n; v++) {
        pe__choose_vectors(parts, v, 1);
        struct pe__ball q = pe__length_ball(parts, job->q, v, true, query_code);
        struct pe__ball k = pe__length_ball(parts, job->k, v, true, key_code);
        struct pe__ball cosine = pe__ball_div(pe__ball_div(pe__parts_sum(parts), q), k);
        sum = pe__ball_add(sum, cosine);
    }
    pe__choose_vectors(parts, 0, job->vectors_n);
    return sum;
}

static struct pe__ball score_ball(struct work *work)
{
    const struct pe_scores *job = work->job;
    struct pe__parts *parts = &work->parts;
    if (job->normalize == PE_NORMALIZE_FIRST) /* scale and number of vectors cancel */
        return pe__ball_div(pe__parts_sum(parts), work->start);
    bool cosine = job->normalize == PE_NORMALIZE_COSINE;
    struct pe__ball score =
        mean_ball(cosine ? cosines_sum(parts) : pe__parts_sum(parts), job->vectors_n);
    if (job->scale != 1)
        score = pe__ball_mul(score, pe__ball_exact(job->scale));
    if (job->normalize == PE_NORMALIZE_MEAN)
        score = pe__ball_div(score, pe__ball_exact((double)job->dim / 2));
    return job->scale_sqrt_dim ? pe__by_root(score, job->dim) : score;
}

/* ---- Outputs ------------------------------------------------------------------------------ */

/* Whether an output is NaN because a cosine in it is: an angle is beyond the range of its stage. */
static bool has_no_number(const struct pe__parts *parts, enum pe__output output)
{
    switch ((unsigned)output) {
    case PE__CROSS_Q:
        return isnan(pe__key_code(parts)->size);
    case PE__CROSS_K:
        return isnan(pe__query_code(parts)->size);
    case PE__LENGTH_Q_AFTER:
        return isnan(parts->anchor_code.size);
    case PE__LENGTH_K_AFTER:
        return isnan(parts->place_code.size);
    case PE__SCORE:
    case PE__POSITION:
        return isnan(parts->anchor_code.size) || isnan(parts->place_code.size);
    default:
        return false;
    }
}

/* Rounds one output of the current cell. */
static void store(struct work *work, enum pe__output output, struct pe__ball value, double *out)
{
    if (has_no_number(&work->parts, output))
        *out = __builtin_nan("");
    else if (!pe__ball_round(value, PE_F64, out, 0))
        pe__round_exact(PE_F64, pe__cell_exact, &work->parts.cell, output, out, 0);
}

/* What rounding took from the score, to the 24 bits of a float whose unit is the score's size. */
static double rest_of(struct work *work, struct pe__ball score, double rounded)
{
    if (!isfinite(rounded))
        return 0;
    struct pe__cell *cell = &work->parts.cell;
    cell->rounded = rounded;
    int unit = rounded == 0 ? 0 : ilogb(rounded);
    struct pe__ball rest = pe__ball_add(score, pe__ball_exact(-rounded));
    struct pe__ball in_units = {ldexp(rest.hi, -unit), ldexp(rest.lo, -unit),
                                ldexp(rest.eps, -unit)};
    float scaled;
    if (!pe__ball_round(in_units, PE_F32, &scaled, 0))
        pe__round_exact(PE_F32, pe__cell_exact, cell, PE__REST, &scaled, 0);
    return ldexp(scaled, unit);
}

static void store_score(struct work *work, size_t i)
{
    struct pe_scores *job = work->job;
    struct pe__ball score = score_ball(work);
    store(work, PE__SCORE, score, &job->scores[i]);
    if (job->rest)
        job->rest[i] = rest_of(work, score, job->scores[i]);
}

/* Where lengths vary: they, and the terms of adding kinds. */
static void store_terms(struct work *work, size_t i)
{
    struct pe_scores *job = work->job;
    struct pe__parts *parts = &work->parts;
    for (unsigned part = 0; part < PE__TERMS_N; part++)
        if (job->terms[part] && pe__has_part(parts, part))
            store(work, part, mean_ball(pe__part_ball(parts, part), job->vectors_n),
                  &job->terms[part][i]);
    store(work, PE__LENGTH_K_AFTER, mean_length(parts, job->k, true, &parts->place_code),
          &job->norm_k_after[i]);
}

/* False when the caller stopped it. */
static bool compute_anchor(struct work *work, size_t a)
{
    struct pe_scores *job = work->job;
    struct pe__parts *parts = &work->parts;
    bool lengths_vary = pe__lengths_vary(&parts->cell);
    pe__choose_anchor(parts, job->anchors[a]);
    pe__choose_place(parts, job->anchors[a], 0);
    work->start = pe__parts_sum(parts);
    if (lengths_vary)
        store(work, PE__LENGTH_Q_AFTER, mean_length(parts, job->q, true, &parts->anchor_code),
              &job->norm_q_after[a]);
    for (size_t o = 0; o < job->offsets_n; o++) {
        if (job->stop && job->stop(job->stop_context))
            return false;
        pe__choose_place(parts, job->anchors[a], job->offsets[o]);
        store_score(work, a * job->offsets_n + o);
        if (lengths_vary)
            store_terms(work, a * job->offsets_n + o);
    }
    return true;
}

/* Lengths after the encoding, where they are the same at all places. */
static void store_lengths(struct work *work)
{
    struct pe_scores *job = work->job;
    if (job->anchors_n == 0 || job->offsets_n == 0)
        return;
    job->norm_q_after[0] = job->norm_q_before;
    job->norm_k_after[0] = job->norm_k_before;
    if (!job->plan->amplified)
        return;
    store(work, PE__LENGTH_Q_AFTER, mean_length(&work->parts, job->q, true, NULL),
          &job->norm_q_after[0]);
    store(work, PE__LENGTH_K_AFTER, mean_length(&work->parts, job->k, true, NULL),
          &job->norm_k_after[0]);
}

/* Where only the distance counts every anchor has the scores of the first. */
static void copy_anchors(struct pe_scores *job)
{
    size_t n = job->offsets_n;
    for (size_t a = 1; a < job->anchors_n; a++) {
        memcpy(job->scores + a * n, job->scores, n * sizeof *job->scores);
        if (job->rest)
            memcpy(job->rest + a * n, job->rest, n * sizeof *job->rest);
    }
}

static void copy_lengths(struct pe_scores *job)
{
    for (size_t a = 0; a < job->anchors_n; a++)
        job->norm_q_after[a] = job->norm_q_after[0];
    for (size_t i = 0; i < job->anchors_n * job->offsets_n; i++)
        job->norm_k_after[i] = job->norm_k_after[0];
}

static bool compute(struct work *work)
{
    struct pe_scores *job = work->job;
    struct pe__parts *parts = &work->parts;
    pe__choose_vectors(parts, 0, job->vectors_n);
    store(work, PE__LENGTH_Q, mean_length(parts, job->q, false, NULL), &job->norm_q_before);
    store(work, PE__LENGTH_K, mean_length(parts, job->k, false, NULL), &job->norm_k_before);
    bool only_distance = !pe__places_count(&parts->cell);
    size_t anchors_n = only_distance && job->anchors_n > 1 ? 1 : job->anchors_n;
    for (size_t a = 0; a < anchors_n; a++)
        if (!compute_anchor(work, a))
            return false;
    if (only_distance)
        copy_anchors(job);
    if (!pe__lengths_vary(&parts->cell)) {
        store_lengths(work);
        copy_lengths(job);
    }
    return true;
}

enum pe_status pe_scores(struct pe_scores *job)
{
    if (job->normalize == PE_NORMALIZE_FIRST && job->scale == 0)
        return PE_INVALID_VALUE; /* 0 / 0 */
    struct work work = {.job = job};
    bool made = pe__parts_init(&work.parts, job);
    bool done = made && compute(&work);
    pe__parts_release(&work.parts);
    if (!done)
        return made ? PE_STOPPED : PE_NO_MEMORY;
    return work.parts.divides_by_zero ? PE_INVALID_VALUE : PE_OK;
}
