// SPDX-License-Identifier: Apache-2.0
/*
 * attention_run.c: the sequence through attention, as it is and with its content in another order
 * while the positions stay.
 */
#include "attention.h"

#include <math.h>
#include <string.h>

#include "pairwise.h"

/* The vectors of one pass, in f64. */
struct vectors {
    double *q, *k;
    double *v; /* [tokens, width] */
};

/* Memory that passes share. */
struct scratch {
    struct vectors given, moved;
    double *by_channel; /* values, [width, tokens] */
    double *weights, *output;
    void *apply;
};

/* ---- Vectors ------------------------------------------------------------------------------- */

/* Equal labels are rows of one stream, each its start. */
static void draw_rows(const struct attention *own, const char *const *streams, double *out)
{
    for (size_t t = 0; t < own->tokens; t++)
        content_fill(&own->content, streams[t], PE_F64, 0, own->dim, out + t * own->dim);
}

static double *seeded(struct job *job, const struct attention *own)
{
    double *out = job_alloc(job, own->tokens * own->dim, sizeof *out);
    const char **streams = own->labels ? job_alloc(job, own->tokens, sizeof *streams) : NULL;
    if (!out || (own->labels && !streams))
        return NULL;
    if (!streams) {
        content_fill(&own->content, "x", PE_F64, 0, own->tokens * own->dim, out);
        return out;
    }
    for (size_t t = 0; t < own->tokens; t++)
        if (!(streams[t] = arena_printf(&job->request->arena, "x:%s", own->labels[t])))
            return NULL;
    draw_rows(own, streams, out);
    return out;
}

/* A posted tensor as f64, exactly. */
static double *posted(struct job *job, const struct tensor *tensor)
{
    double *out = job_alloc(job, tensor->count, sizeof *out);
    for (size_t i = 0; out && i < tensor->count; i++) {
        out[i] = pe_load(tensor->dtype, tensor->data, i);
        if (!isfinite(out[i])) {
            err_add(&job->request->err, ERR_invalid_value, tensor->pointer, NULL,
                    "attention needs finite vectors; element %zu is not", i);
            return NULL;
        }
    }
    return out;
}

static bool vectors_given(struct job *job, const struct attention *own, struct vectors *out)
{
    out->q = own->seeded ? seeded(job, own) : posted(job, own->same ? &own->x : &own->q);
    out->k = own->same || !out->q ? out->q : posted(job, &own->k);
    out->v = own->same || !out->k ? out->k : posted(job, &own->v);
    return out->v != NULL;
}

static void move_rows(const struct attention *own, const double *from, size_t width, double *to)
{
    for (size_t t = 0; t < own->tokens; t++)
        memcpy(to + t * width, from + own->permutation[t] * width, width * sizeof *to);
}

static bool vectors_moved(struct job *job, const struct attention *own, const struct vectors *from,
                          struct vectors *to)
{
    to->q = job_alloc(job, own->tokens * own->dim, sizeof *to->q);
    to->k = own->same ? to->q : job_alloc(job, own->tokens * own->dim, sizeof *to->k);
    to->v = own->same ? to->q : job_alloc(job, own->tokens * own->width, sizeof *to->v);
    if (!to->q || !to->k || !to->v)
        return false;
    move_rows(own, from->q, own->dim, to->q);
    if (own->same)
        return true;
    move_rows(own, from->k, own->dim, to->k);
    move_rows(own, from->v, own->width, to->v);
    return true;
}

/* ---- One pass ------------------------------------------------------------------------------ */

/* Values by channel. Where they are x, what adding kinds add is in them, rounded to f64. */
static void values_by_channel(struct job *job, const struct attention *own, size_t spec,
                              const struct vectors *vectors, struct scratch *scratch)
{
    const struct pe_plan *plan = job_plan(job, spec);
    size_t n = own->tokens;
    double *rows = vectors->v;
    if (own->same && pe_plan_spec(plan)->kind->acts == PE_ADDS) {
        struct pe_view in, out;
        size_t shape[] = {n, own->dim};
        rows = scratch->output; /* which is made of them later */
        pe_view_init(&in, PE_F64, vectors->v, "td", shape, 2, 1);
        pe_view_init(&out, PE_F64, rows, "td", shape, 2, 1);
        pe_apply(&(struct pe_apply){.plan = plan,
                                    .positions = own->positions.list,
                                    .positions_n = 1,
                                    .in = &in,
                                    .out = &out,
                                    .work = scratch->apply,
                                    .stages = &job->stages});
    }
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < own->width; c++)
            scratch->by_channel[c * n + t] = rows[t * own->width + c];
}

static bool vector_scores(struct job *job, const struct attention *own, size_t spec,
                          const struct vectors *vectors, double *out)
{
    const struct pe_params *params = &job->specs[spec].spec.params;
    int head = pe_params_find(params, "head", 4);
    struct pe_attention core = {
        .plan = job_plan(job, spec),
        .positions = own->positions.list,
        .q = vectors->q,
        .k = vectors->k,
        .dim = own->dim,
        .head = head >= 0 ? (size_t)params->value[head].number : 0,
        .stages = &job->stages,
        .scale_sqrt_dim = own->scale.sqrt_dim,
        .scale = own->scale.factor,
        .causal = own->causal,
        .stop = pairwise_stop,
        .stop_context = job,
    };
    core.scores = out;
    return pairwise_done(job, pe_attention_scores(&core), "spec");
}

/* The caller's, as they are or with the bias added. */
static void given_scores(struct job *job, const struct attention *own, size_t spec, double *out)
{
    const struct tensor *scores = &own->scores;
    const struct pe_params *params = &job->specs[spec].spec.params;
    int head = pe_params_find(params, "head", 4);
    size_t n = own->tokens;
    for (size_t i = 0; i < n * n; i++)
        out[i] = pe_load(scores->dtype, scores->data, i);
    if (job->specs[spec].spec.kind->acts == PE_BIASES)
        pe_add_bias(job_plan(job, spec), NULL, NULL, own->positions.list, own->positions.list,
                    head >= 0 ? (size_t)params->value[head].number : 0, 1, 1, PE_F64, out, out);
    for (size_t i = 0; own->causal && i < n * n; i++)
        if (i % n > i / n)
            out[i] = -INFINITY;
}

/* Scores become weights in their place; entropy may be NULL. */
static bool normalize(struct job *job, const struct attention *own, double *scores, double *entropy)
{
    for (size_t t = 0; t < own->tokens; t++) {
        double *row = scores + t * own->tokens;
        if (job_expired(job))
            return false;
        if (entropy)
            entropy[t] = pe_softmax_entropy(row, own->tokens);
        pe_softmax(row, own->tokens, row);
    }
    return true;
}

static bool pass(struct job *job, const struct attention *own, size_t spec,
                 const struct vectors *vectors, struct scratch *scratch, double *weights,
                 double *output, double *entropy)
{
    if (!vector_scores(job, own, spec, vectors, weights) || !normalize(job, own, weights, entropy))
        return false;
    values_by_channel(job, own, spec, vectors, scratch);
    for (size_t t = 0; t < own->tokens; t++) {
        if (job_expired(job))
            return false;
        pe_attention_output(weights + t * own->tokens, 1, own->tokens, scratch->by_channel,
                            own->width, output + t * own->width);
    }
    return true;
}

/* ---- Both orders --------------------------------------------------------------------------- */

/* Largest |out(Px) - P out(x)|; each difference is one of two doubles, rounded once. */
static double residual_of(const struct attention *own, const double *moved, const double *output)
{
    double largest = 0;
    for (size_t t = 0; t < own->tokens; t++)
        for (size_t c = 0; c < own->width; c++) {
            double there = output[own->permutation[t] * own->width + c];
            double away = fabs(moved[t * own->width + c] - there);
            largest = away > largest || isnan(away) ? away : largest;
        }
    return largest;
}

static bool run_both(struct job *job, const struct attention *own, size_t spec,
                     struct scratch *scratch, struct attention_result *result)
{
    result->output = result->output
                         ? result->output
                         : job_alloc(job, own->tokens * own->width, sizeof *result->output);
    if (!result->output)
        return false;
    if (!pass(job, own, spec, &scratch->given, scratch, result->weights, result->output,
              result->entropy) ||
        !pass(job, own, spec, &scratch->moved, scratch, scratch->weights, scratch->output, NULL))
        return false;
    result->residual = residual_of(own, scratch->output, result->output);
    for (size_t i = 0; i < own->tokens * own->width; i++)
        result->largest = fmax(result->largest, fabs(result->output[i]));
    return true;
}

static bool scratch_init(struct job *job, const struct attention *own, struct scratch *scratch)
{
    size_t bytes = pe_apply_work_bytes(job_plan(job, 0));
    size_t other = pe_apply_work_bytes(job_plan(job, WITHOUT_SPEC));
    size_t outputs = own->tokens * (own->width > own->dim ? own->width : own->dim);
    scratch->by_channel = job_alloc(job, own->tokens * own->width, sizeof(double));
    scratch->weights = job_alloc(job, own->tokens * own->tokens, sizeof(double));
    scratch->output = job_alloc(job, outputs, sizeof(double));
    scratch->apply = job_scratch(job, bytes > other ? bytes : other);
    return scratch->by_channel && scratch->weights && scratch->output && scratch->apply &&
           vectors_given(job, own, &scratch->given) &&
           vectors_moved(job, own, &scratch->given, &scratch->moved);
}

static bool run_scores(struct job *job, const struct attention *own, size_t spec,
                       struct attention_result *result)
{
    given_scores(job, own, spec, result->weights);
    return normalize(job, own, result->weights, result->entropy);
}

bool attention_run(struct job *job, struct attention *own)
{
    struct attention_result *results[] = {&own->with, &own->without};
    static const char *const names[] = {"weights", "weights_without"};
    struct scratch scratch = {0};
    own->with.output = own->has_scores ? NULL : job_output_data(job, "output");
    if (!own->has_scores && (!own->with.output || !scratch_init(job, own, &scratch)))
        return false;
    for (size_t s = 0; s <= WITHOUT_SPEC; s++) {
        struct attention_result *result = results[s];
        result->weights = job_output_data(job, names[s]);
        result->entropy = job_alloc(job, own->tokens, sizeof *result->entropy);
        if (!result->weights || !result->entropy)
            return false;
        if (own->has_scores ? !run_scores(job, own, s, result)
                            : !run_both(job, own, s, &scratch, result))
            return false;
    }
    return true;
}
