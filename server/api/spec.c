// SPDX-License-Identifier: Apache-2.0
/* spec.c: GET /v1/spec: a spec with its defaults filled in, its compact form and its id. */
#include "job.h"

static bool prepare(struct job *job)
{
    return job_specs_finish(job);
}

static bool compute(struct job *job)
{
    struct answer *answer = &job->answer;
    answer->root = tree_new(&job->request->arena, TREE_OBJECT);
    tree_string(answer->root, "semantics", API_SEMANTICS);
    job_spec_tree(answer->root, "spec", &job->specs[0].spec);
    tree_string(answer->root, "compact", job->specs[0].compact);
    tree_string(answer->root, "spec_id", job->specs[0].id);
    answer->params = answer->tensors = answer->readouts = NULL;
    return true;
}

const struct endpoint spec_endpoint = {
    .summary = "The spec with defaults filled in, its compact form and id.",
    .describes = "",
    .schema = "SpecAnswer",
    .specs_max = 1,
    .acts = ~0u,
    .cache = CACHE_COMPUTED,
    .formats = 1 << FORMAT_JSON | 1 << FORMAT_TXT,
    .prepare = prepare,
    .compute = compute,
};
