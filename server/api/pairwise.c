// SPDX-License-Identifier: Apache-2.0
/* pairwise.c: see pairwise.h. */
#include "pairwise.h"

#include <string.h>

/* Sums of double-doubles rather than of doubles. */
#define WORK_PER_TERM 8

bool pairwise_plan_for(struct job *job, const struct pe_positions *queries,
                       const struct pe_positions *keys)
{
    size_t cells = job_product((size_t[]){queries->n, keys->n}, 2);
    size_t apart = cells <= PE_POSITIONS_N_MAX ? cells : 0;
    struct pe_positions *plan = &job->plan_positions;
    *plan = (struct pe_positions){.axes = queries->axes, .n = queries->n + keys->n + apart};
    for (size_t axis = 0; axis < plan->axes; axis++) {
        double *at = job_alloc(job, plan->n, sizeof *at);
        if (!at)
            return false;
        plan->at[axis] = at;
        memcpy(at, queries->at[axis], queries->n * sizeof *at);
        memcpy(at + queries->n, keys->at[axis], keys->n * sizeof *at);
        at += queries->n + keys->n;
        for (size_t i = 0; i < apart; i++)
            at[i] = queries->at[axis][i / keys->n] - keys->at[axis][i % keys->n];
    }
    return true;
}

bool pairwise_stop(void *job)
{
    return job_expired(job);
}

bool pairwise_done(struct job *job, enum pe_status status, const char *where)
{
    switch (status) {
    case PE_OK:
        return true;
    case PE_STOPPED:
        return false; /* and job_expired has said why */
    case PE_INVALID_VALUE:
        return err_add(&job->request->err, ERR_invalid_value, where,
                       "leave out the place, for example positions=1:64",
                       "a code to divide by has the length 0");
    default:
        return err_add(&job->request->err, ERR_overloaded, NULL, NULL, "no memory for the scores");
    }
}

bool pairwise_shows(struct job *job, const struct pe_spec *spec, const char *where)
{
    struct pe_faults faults = {0};
    bool shows = pe_scores_show(spec, &faults);
    api_faults_at(&job->request->err, &faults, where);
    return shows;
}

bool pairwise_attends(const struct pe_spec *spec)
{
    struct pe_faults faults = {0};
    return pe_scores_show(spec, &faults);
}

/* Codes that are added have; of what is turned, only what has an angle between two places. */
static bool has_angles(const struct pe_spec *spec)
{
    return spec->kind->acts != PE_ROTATES || pe_spec_turns(spec);
}

bool pairwise_takes(const struct pe_spec *spec)
{
    return pairwise_attends(spec) && has_angles(spec);
}

bool pairwise_similar(struct job *job, size_t queries, size_t keys, const char *where)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    bool ok = pairwise_shows(job, spec, "kind");
    if (!has_angles(spec))
        ok = err_add(&job->request->err, ERR_invalid_value, "kind", "/v1/attention takes it",
                     "%s does not turn its pairs by one angle each: there is no angle between two "
                     "places",
                     job->specs[0].compact);
    size_t factors[] = {queries, keys, pe_spec_dim(spec), WORK_PER_TERM};
    return job_work(job, job_product(factors, 4), where) && ok;
}

bool pairwise_similarities(struct job *job, const struct pe_positions *queries,
                           const struct pe_positions *keys, bool cosine, double *out)
{
    const struct pe_plan *plan = job_plan(job, 0);
    double *work = job_alloc(job, pe_spec_dim(pe_plan_spec(plan)), sizeof *work);
    struct pe_similarity core = {.plan = plan,
                                 .queries = queries,
                                 .keys = keys,
                                 .cosine = cosine,
                                 .stop = pairwise_stop,
                                 .stop_context = job,
                                 .work = work};
    core.out = out;
    return work && out && pairwise_done(job, pe_similarity(&core), "normalize");
}
