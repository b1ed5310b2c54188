// SPDX-License-Identifier: Apache-2.0
/*
 * precision_vectors.c: errors of encoded vectors, channel by channel, and of scores. A vector that
 * is quantised is first computed as the stages before say, in f64; the score of two such vectors
 * is then their dot product.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dd.h"
#include "operation.h"
#include "precision.h"

#define WORK_ALIGN ((size_t)64)

struct pe__vectors {
    size_t dim, width;              /* before and after encoding */
    double *q, *k;                  /* [dim] */
    double *exact, *staged, *key;   /* [width]: q by both plans, k by the pipeline */
    void *exact_work, *staged_work; /* of pe_apply */
};

static bool names(const struct pe_precision *job, enum pe_stage stage)
{
    return pe__stage_named(job->stages, stage);
}

/* ---- Vectors ------------------------------------------------------------------------------ */

static void apply(const struct pe_apply *how, double *x, double *y, const struct pe__vectors *sizes)
{
    struct pe_view in = {.dtype = PE_F64, .batches = 1, .heads = 1, .tokens = 1};
    struct pe_view out = in;
    struct pe_apply job = *how;
    in.data = x;
    in.dim = sizes->dim;
    out.data = y;
    out.dim = sizes->width;
    job.in = &in;
    job.out = &out;
    pe_apply(&job);
}

/* What a pipeline makes of q or k at a place, to the last stage before the dot product. */
static void encode_staged(const struct pe_precision *job, const struct pe__vectors *vectors,
                          const struct pe_positions *at, bool is_key, double *out)
{
    struct pe_apply how = {.plan = job->staged,
                           .positions = at,
                           .positions_n = 1,
                           .work = vectors->staged_work,
                           .stages = job->stages,
                           .is_key = is_key};
    apply(&how, is_key ? vectors->k : vectors->q, out, vectors);
    if (names(job, PE_STAGE_QUANTIZE))
        pe_quantize(job->stages->quant, vectors->width, out, out);
}

static struct pe_positions position_of(const struct pe_positions *positions, size_t token)
{
    struct pe_positions one = {.axes = positions->axes, .n = 1};
    for (size_t axis = 0; axis < positions->axes; axis++)
        one.at[axis] = positions->at[axis] + token;
    return one;
}

void pe__vector_errors(struct pe__precision *work, size_t token)
{
    const struct pe_precision *job = work->job;
    const struct pe__vectors *vectors = work->vectors;
    struct pe_positions at = position_of(job->positions, token);
    struct pe_apply how = {
        .plan = job->exact, .positions = &at, .positions_n = 1, .work = vectors->exact_work};
    apply(&how, vectors->q, vectors->exact, vectors);
    encode_staged(job, vectors, &at, false, vectors->staged);
    for (size_t i = 0; i < work->count; i++)
        work->errors[i] = fabs(vectors->staged[i] - vectors->exact[i]);
}

/* ---- Scores ------------------------------------------------------------------------------- */

/* A score, and what rounding took from it. */
struct score {
    double value, rest;
};

static size_t head_of(const struct pe_spec *spec)
{
    int row = pe_params_find(&spec->params, "head", strlen("head"));
    return row >= 0 ? (size_t)spec->params.value[row].number : 0;
}

/* Of q at `query` and k at `key`; stages NULL: exact. */
static struct score score_at(struct pe__precision *work, const struct pe_stages *stages,
                             double query, double key)
{
    const struct pe_precision *job = work->job;
    const struct pe_plan *plan = stages ? job->staged : job->exact;
    const double offset = query - key;
    struct score score = {0};
    double norms[2];
    struct pe_scores scores = {.plan = plan,
                               .q = job->q,
                               .k = job->k,
                               .vectors_n = 1,
                               .dim = work->vectors->dim,
                               .anchors = &key,
                               .offsets = &offset,
                               .anchors_n = 1,
                               .offsets_n = 1,
                               .anchor_is_key = true,
                               .head = head_of(&plan->spec),
                               .stages = stages,
                               .scale = 1,
                               .scores = &score.value,
                               .rest = &score.rest,
                               .norm_q_after = &norms[0],
                               .norm_k_after = &norms[1]};
    work->failed |= pe_scores(&scores) != PE_OK;
    return score;
}

/* The running sum of the products, in the dtype of its stage; without one exact. */
static double dot(const struct pe_precision *job, const double *a, const double *b, size_t n)
{
    if (!names(job, PE_STAGE_DOT))
        return pe_dot(PE_F64, a, b, n);
    enum pe_dtype dtype = job->stages->dtype[PE_STAGE_DOT];
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = pe__sum(dtype, sum, pe__product(dtype, a[i], b[i]));
    return sum;
}

static double quantized_score(const struct pe__precision *work, double query, double key)
{
    const struct pe_precision *job = work->job;
    const struct pe__vectors *vectors = work->vectors;
    struct pe_positions q_at = {.axes = 1, .n = 1, .at = {&query}};
    struct pe_positions k_at = {.axes = 1, .n = 1, .at = {&key}};
    encode_staged(job, vectors, &q_at, false, vectors->staged);
    encode_staged(job, vectors, &k_at, true, vectors->key);
    return dot(job, vectors->staged, vectors->key, vectors->width);
}

/* The difference of two scores, rounded once: what rounding took from each is put back before. */
static double difference(struct score a, struct score b)
{
    struct pe__dd d = pe__two_sum(a.value, -b.value);
    return d.hi + (d.lo + (a.rest - b.rest));
}

void pe__score_errors(struct pe__precision *work, size_t token)
{
    const struct pe_precision *job = work->job;
    double query = job->positions->at[0][token];
    double key = isnan(job->distance) ? 0 : query - job->distance;
    struct score exact = score_at(work, NULL, query, key), staged = {0, 0};
    if (names(job, PE_STAGE_QUANTIZE))
        staged.value = quantized_score(work, query, key);
    else
        staged = score_at(work, job->stages, query, key);
    work->errors[0] = fabs(difference(staged, exact));
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* The pair of each channel of encoded vectors, -1 outside of all; without pairs the channel. */
static void map_channels(const struct pe_plan *plan, size_t width, int64_t *pair_of)
{
    const struct pe_spec *spec = &plan->spec;
    for (size_t i = 0; i < width; i++)
        pair_of[i] = plan->pairs ? -1 : (int64_t)i;
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        size_t channel[2];
        if (spec->kind->acts == PE_ROTATES && !pe_spec_is_polar(spec))
            pe_spec_pair_members(spec, pair, true, &channel[0], &channel[1]);
        else
            spec->kind->ops->pair_channels(spec, pair, &channel[0], &channel[1]);
        for (size_t member = 0; member < 2; member++)
            if (channel[member] != PE__NO_CHANNEL)
                pair_of[channel[member]] = (int64_t)pair;
    }
}

static void *aligned(size_t bytes)
{
    return aligned_alloc(WORK_ALIGN, (bytes + WORK_ALIGN) / WORK_ALIGN * WORK_ALIGN);
}

bool pe__vectors_init(struct pe__precision *work)
{
    const struct pe_precision *job = work->job;
    const struct pe_spec *spec = &job->exact->spec;
    struct pe__vectors *vectors = work->vectors = calloc(1, sizeof *vectors);
    if (!vectors)
        return false;
    vectors->dim = pe_spec_dim(spec) ? pe_spec_dim(spec) : job->dim;
    vectors->width = pe_spec_dim(spec) ? pe_spec_width(spec) : job->dim;
    vectors->q = calloc(2 * vectors->dim + 3 * vectors->width, sizeof *vectors->q);
    vectors->exact_work = aligned(pe_apply_work_bytes(job->exact));
    vectors->staged_work = aligned(pe_apply_work_bytes(job->staged));
    if (!vectors->q || !vectors->exact_work || !vectors->staged_work)
        return false;
    vectors->k = vectors->q + vectors->dim;
    vectors->exact = vectors->k + vectors->dim;
    vectors->staged = vectors->exact + vectors->width;
    vectors->key = vectors->staged + vectors->width;
    memcpy(vectors->q, job->q, vectors->dim * sizeof *vectors->q);
    if (job->quantity == PE_QUANTITY_SCORE) {
        memcpy(vectors->k, job->k, vectors->dim * sizeof *vectors->k);
        return true;
    }
    work->pair_of = calloc(work->count, sizeof *work->pair_of);
    if (work->pair_of)
        map_channels(job->exact, vectors->width, work->pair_of);
    return work->pair_of != NULL;
}

void pe__vectors_release(struct pe__precision *work)
{
    struct pe__vectors *vectors = work->vectors;
    free(work->pair_of);
    if (!vectors)
        return;
    free(vectors->staged_work);
    free(vectors->exact_work);
    free(vectors->q);
    free(vectors);
}
