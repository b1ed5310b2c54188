// SPDX-License-Identifier: Apache-2.0
/*
 * job_stages.c: the key `stages`: where the request wants its numbers rounded on the way. A stage
 * that makes no difference is a mistake when it was named, but not when a preset brought it along;
 * what remains is echoed, so that a preset and its spelling are one request.
 */
#include <string.h>

#include "job.h"

static const char note[] =
    "Every stage is correctly rounded. A library whose own pow, cos or sin is not may differ by "
    "one "
    "unit in the last place of the stage; by a few in frequencies, where it rounds exponents too.";

/* The stages that some encoding of the request has. */
static unsigned stages_of_specs(const struct job *job)
{
    unsigned stages = 0;
    for (size_t s = 0; s < job->specs_n; s++)
        stages |= pe_kind_stages(job->specs[s].spec.kind);
    return stages;
}

static bool refuse_spelt(struct job *job, unsigned idle, const char *where)
{
    for (unsigned stage = 0; stage < PE_STAGES_N; stage++)
        if (idle >> stage & 1)
            err_add(&job->request->err, ERR_conflicting_parameters, where, "leave it out",
                    "the stage \"%s\" has no effect on what %s gives of kind=%s",
                    pe_stage_name((enum pe_stage)stage), job->request->path,
                    job->specs[0].spec.kind->name);
    return idle == 0;
}

/* Frequencies that are reached in a way of their own say where it rounds. */
static bool fit_methods(struct job *job, unsigned stages)
{
    bool fit = true;
    for (size_t s = 0; s < job->specs_n; s++) {
        struct pe_faults faults = {0};
        fit = pe_stages_fit(&job->stages, stages, &job->specs[s].spec, &faults) && fit;
        api_faults(&job->request->err, &faults, job->specs[s].prefix);
    }
    return fit;
}

/* The canonical text, for echo and links. */
static bool echo(struct job *job, struct pe_value *value)
{
    size_t len = pe_stages_print(&job->stages, NULL, 0);
    char *text = job_alloc(job, len + 1, 1);
    if (!text)
        return false;
    pe_stages_print(&job->stages, text, len + 1);
    value->text = text;
    return true;
}

bool job_stages(struct job *job, unsigned stages, enum pe_dtype own)
{
    struct pe_value *value = job_key_edit(job, "stages");
    bool member = job->has_doc && json_object_get(job->doc.root, "stages");
    const char *where = member ? "/stages" : "stages";
    if (!value->text)
        return err_add(&job->request->err, ERR_invalid_value, where,
                       "for example \"f32\" or \"freq:f32,table:bf16\"", "stages must be text");
    struct pe_faults faults = {0};
    unsigned spelt;
    pe_stages_parse(value->text, strlen(value->text), own, where, &job->stages, &spelt, &faults);
    api_faults_at(&job->request->err, &faults, where);
    if (faults.n > 0)
        return false;
    stages &= stages_of_specs(job);
    job->stages.named &= stages;
    return (value->implied || refuse_spelt(job, spelt & ~stages, where)) &&
           fit_methods(job, stages) && echo(job, value);
}

const char *job_stages_note(const struct job *job)
{
    unsigned functions = 1u << PE_STAGE_FREQ | 1u << PE_STAGE_TABLE;
    return job->stages.named & functions ? note : NULL;
}
