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
    for (size_t s = 0; s < job->specs_n + job->beside_n; s++)
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
static bool fit_methods(struct job *job, const struct pe_stages *read, unsigned stages, bool tell)
{
    bool fit = true;
    for (size_t s = 0; s < job->specs_n + job->beside_n; s++) {
        struct pe_faults faults = {0};
        fit = pe_stages_fit(read, stages, &job->specs[s].spec, &faults) && fit;
        if (tell)
            api_faults(&job->request->err, &faults, job->specs[s].prefix);
    }
    return fit;
}

static const char *where_stages(const struct job *job)
{
    bool member = job->has_doc && json_object_get(job->doc.root, "stages");
    return member ? "/stages" : "stages";
}

/* Who says so: the caller, in so many words; a dialect; nobody. */
enum origin { SPELT, IMPLIED, USUAL };

/* One pipeline. A usual one that does not fit comes to nothing. */
static bool read_pipeline(struct job *job, const char *text, size_t len, enum origin origin,
                          const struct pipelines_ask *ask, struct pe_stages *out)
{
    const char *where = where_stages(job);
    struct pe_faults faults = {0};
    unsigned spelt, stages = ask->stages & stages_of_specs(job);
    pe_stages_parse(text, len, ask->own, where, out, &spelt, &faults);
    api_faults_at(&job->request->err, &faults, where);
    if (faults.n > 0)
        return false;
    out->named &= stages;
    bool fit = fit_methods(job, out, stages, origin != USUAL);
    if (origin == USUAL && !fit)
        out->named = 0;
    return (origin != SPELT || refuse_spelt(job, spelt & ~stages, where)) &&
           (fit || origin == USUAL);
}

/* The canonical text, for echo and links; pipelines between `;`. NULL without memory. */
static const char *canonical_text(struct job *job, const struct pe_stages *pipelines, size_t n)
{
    struct arena *arena = &job->request->arena;
    const char *all = NULL;
    for (size_t i = 0; i < n; i++) {
        char text[PE_STAGES_TEXT_MAX];
        pe_stages_print(&pipelines[i], text, sizeof text);
        all = i == 0 ? arena_printf(arena, "%s", text) : arena_printf(arena, "%s;%s", all, text);
        if (!all)
            return NULL;
    }
    return all;
}

bool job_stages(struct job *job, unsigned stages, enum pe_dtype own)
{
    struct pe_value *value = job_key_edit(job, "stages");
    if (!value->text)
        return err_add(&job->request->err, ERR_invalid_value, where_stages(job),
                       "for example \"f32\" or \"freq:f32,table:bf16\"", "stages must be text");
    struct pipelines_ask ask = {stages, own, NULL};
    enum origin origin = value->implied ? IMPLIED : SPELT;
    if (!read_pipeline(job, value->text, strlen(value->text), origin, &ask, &job->stages))
        return false;
    value->text = canonical_text(job, &job->stages, 1);
    return value->text != NULL;
}

/* ---- Several pipelines --------------------------------------------------------------------- */

static bool is_among(const struct pe_stages *pipelines, size_t n, const struct pe_stages *one)
{
    char text[PE_STAGES_TEXT_MAX], other[PE_STAGES_TEXT_MAX];
    pe_stages_print(one, text, sizeof text);
    for (size_t i = 0; i < n; i++) {
        pe_stages_print(&pipelines[i], other, sizeof other);
        if (strcmp(text, other) == 0)
            return true;
    }
    return false;
}

/* The pipelines of a text. Those that come to the same as one before are left out, and so are usual
 * ones without a stage that counts. */
static bool read_pipelines(struct job *job, const char *text, enum origin origin,
                           const struct pipelines_ask *ask, struct pe_stages *out, size_t *n)
{
    *n = 0;
    for (bool more = true; more;) {
        size_t len = strcspn(text, ";");
        struct pe_stages one;
        if (!read_pipeline(job, text, len, origin, ask, &one))
            return false;
        bool counts = (origin != USUAL || one.named != 0) && !is_among(out, *n, &one);
        if (counts && *n == JOB_PIPELINES_MAX)
            return err_add(&job->request->err, ERR_limit_exceeded, where_stages(job),
                           "split the request", "there are more than %d pipelines in stages",
                           JOB_PIPELINES_MAX);
        if (counts)
            out[(*n)++] = one;
        more = text[len] == ';';
        text += len + 1;
    }
    return true;
}

bool job_pipelines(struct job *job, const struct pipelines_ask *ask, struct pe_stages *out,
                   size_t *n)
{
    struct pe_value *value = job_key_edit(job, "stages");
    struct pe_stages usual[JOB_PIPELINES_MAX];
    size_t usual_n = 0;
    if (!read_pipelines(job, ask->usual, USUAL, ask, usual, &usual_n))
        return false;
    if (value->text) {
        enum origin origin = value->implied ? IMPLIED : SPELT;
        if (!read_pipelines(job, value->text, origin, ask, out, n))
            return false;
    } else {
        memcpy(out, usual, sizeof usual);
        *n = usual_n;
    }
    if (*n == 0)
        return err_add(&job->request->err, ERR_invalid_value, "kind", "kind=rope",
                       "none of the usual pipelines rounds anything of kind=%s here",
                       job->specs[0].spec.kind->name);
    const char *text = canonical_text(job, out, *n);
    const char *otherwise = usual_n ? canonical_text(job, usual, usual_n) : "";
    if (!text || !otherwise)
        return false;
    if (strcmp(text, otherwise) == 0)
        value->given = false; /* spelt out, the default is no other request */
    value->text = text;
    value->set = true;
    return true;
}

const char *job_pipeline_name(struct job *job, const struct pipelines_ask *ask,
                              const struct pe_stages *pipeline)
{
    struct arena *arena = &job->request->arena;
    char text[PE_STAGES_TEXT_MAX], other[PE_STAGES_TEXT_MAX];
    pe_stages_print(pipeline, text, sizeof text);
    for (size_t i = 0; i < pe_presets_n() && pipeline->named; i++) {
        const struct pe_preset *preset = pe_preset_at(i);
        struct pe_faults faults = {0};
        struct pe_stages stages;
        pe_stages_parse(preset->name, strlen(preset->name), ask->own, "stages", &stages, NULL,
                        &faults);
        stages.named &= ask->stages & stages_of_specs(job);
        pe_stages_print(&stages, other, sizeof other);
        if (strcmp(text, other) == 0)
            return preset->name;
    }
    return arena_printf(arena, "%s", text);
}

const char *job_stages_note(const struct pe_stages *stages)
{
    unsigned functions = 1u << PE_STAGE_FREQ | 1u << PE_STAGE_TABLE;
    return stages->named & functions ? note : NULL;
}
