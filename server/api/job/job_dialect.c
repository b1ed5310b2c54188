// SPDX-License-Identifier: Apache-2.0
/*
 * job_dialect.c: the key `dialect`: what a library sets, spelt out before defaults are filled in,
 * so that the dialect and its spelling are one request. What the caller gives goes before it.
 */
#include <string.h>

#include "job.h"

/* Keys of the request that the endpoint has and nobody gave. */
static void set_request_keys(struct job *job, const char *list)
{
    char *rest = list ? arena_strndup(&job->request->arena, list, strlen(list)) : NULL;
    for (char *pair; (pair = strsep(&rest, ","));) {
        const char *name = strsep(&pair, "=");
        int row = pe_params_find(&job->keys, name, strlen(name));
        struct pe_value *value = row >= 0 ? &job->keys.value[row] : NULL;
        struct pe_faults none = {0};
        if (!value || value->given)
            continue;
        *value = (struct pe_value){.implied = true};
        pe_params_set_text(&job->keys, name, pair, &none);
    }
}

/* Whether the stages are those of the dialect. */
static bool takes_stages(struct job *job)
{
    int row = pe_params_find(&job->keys, "stages", 6);
    return row >= 0 && (!job->keys.value[row].given || job->keys.value[row].implied);
}

const char *job_dialect(const struct job *job)
{
    const struct pe_value *value = &job->common.value[COMMON_DIALECT];
    size_t len;
    if (!value->set)
        return NULL;
    const char *name = pe_choice_name(&common_keys[COMMON_DIALECT], value->number, &len);
    return arena_strndup(&job->request->arena, name, len);
}

bool job_dialect_set(struct job *job, struct pe_spec *spec, struct pe_faults *faults)
{
    const char *name = job_dialect(job);
    bool said = false;
    for (size_t i = 0; name && i < pe_dialects_n(); i++) {
        const struct pe_dialect *row = pe_dialect_at(i);
        if (strcmp(row->name, name) != 0 || !pe_dialect_has(row, spec->kind))
            continue;
        pe_dialect_apply(row, spec, takes_stages(job), faults);
        set_request_keys(job, row->request);
        said = true;
    }
    return said;
}

bool job_dialect_read(struct job *job)
{
    bool said = job->specs_n == 0;
    if (!job_dialect(job))
        return true;
    for (size_t i = 0; i < job->specs_n; i++) {
        struct pe_faults faults = {0};
        said = job_dialect_set(job, &job->specs[i].spec, &faults) || said;
        api_faults(&job->request->err, &faults, job->specs[i].prefix);
    }
    return said ||
           err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "dialect"),
                   "leave it out", "this dialect has nothing of its own for kind=%s",
                   job->specs[0].spec.kind->name);
}
