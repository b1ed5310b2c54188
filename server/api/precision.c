// SPDX-License-Identifier: Apache-2.0
/*
 * precision.c: GET /v1/precision: how far pipelines that round are from the exact numbers, position
 * by position: of cosines, angles, encoded vectors or scores.
 */
#include "precision.h"

#include <math.h>
#include <string.h>

#include "content.h"
#include "keys.h"
#include "plans.h"

#define POSITIONS     "2^0:2^17"
#define DIM_OF_BIASES 64 /* of the q and k that biases are added to */
/* Multiply-adds that an error costs, roughly: of a number, which is the difference of two that are
 * rounded one by one; of one where all is f64, so near the exact one that most differences need
 * hundreds of bits; of each channel of a score. */
#define ERROR_WORK   128
#define NEAR_WORK    (64 * ERROR_WORK)
#define CHANNEL_WORK (4 * ERROR_WORK)

static const struct pe_param keys[] = {
    {"quantity", NULL, PE_ENUM, 0, 0, 0, 0, "cos", "cos sin table angle apply score", NULL,
     "What has the error: cosines, sines, both (or the values that a kind adds), angles in "
     "radians, "
     "q encoded, or the score q.k."},
    {"positions", NULL, PE_TEXT, 0, 0, 0, 0, POSITIONS, NULL, NULL,
     "Positions to measure at; kinds with several axes stand there on all of them."},
    {"stages", NULL, PE_TEXT, 0, 0, 0, PE_SCALAR | PE_OPTIONAL | PE_DERIVED, NULL, NULL, NULL,
     "Pipelines to measure, between ;, each a preset or stages with their formats, as in "
     "f32;freq:bf16;apply:bf16,quantize:e4m3, where T is f32; usual ones without it."},
    KEY_CONTENT(CONTENT_CHOICES, "random", 0),
    KEY_SEED,
    KEY_GAIN("1"),
    {"distance", NULL, PE_REAL, -PE_POSITION_MAX, PE_POSITION_MAX, 0, PE_OPTIONAL, NULL, NULL,
     "quantity=score",
     "The key stands so far before the query, which is at the position; without it at 0."},
    {"with", NULL, PE_ENUMS, 0, 0, 0, PE_OPTIONAL, NULL, "pair_error", "quantity=cos|sin|angle",
     "A further tensor: the error of every pair, and not of the worst alone."},
};

#define USUAL_VALUES "f64;f32;bf16-table;bf16-freq;bf16-pos;all-bf16"
#define USUAL_VECTORS                                                                              \
    "f64;f32,apply:f32;f16-apply;bf16-table;bf16-freq;bf16-pos;all-bf16;quantize:e4m3;"            \
    "quantize:e5m2;quantize:int8"

static const char *const usual[PE_QUANTITIES_N] = {
    [PE_QUANTITY_COS] = USUAL_VALUES,    [PE_QUANTITY_SIN] = USUAL_VALUES,
    [PE_QUANTITY_TABLE] = USUAL_VALUES,  [PE_QUANTITY_ANGLE] = USUAL_VALUES,
    [PE_QUANTITY_APPLY] = USUAL_VECTORS, [PE_QUANTITY_SCORE] = USUAL_VECTORS,
};

struct own {
    enum pe_quantity quantity;
    struct position_lists positions; /* on one axis */
    struct pe_positions at;          /* the same on all axes of the kind */
    struct pe_stages stages[JOB_PIPELINES_MAX];
    struct content content;
    size_t dim; /* of q and k */
    double distance;
    struct precision all;
};

/* ---- Reading ------------------------------------------------------------------------------- */

static bool takes(const struct pe_spec *spec)
{
    for (unsigned quantity = 0; quantity < PE_QUANTITIES_N; quantity++) {
        struct pe_faults faults = {0};
        if (pe_precision_check(spec, (enum pe_quantity)quantity, &faults))
            return true;
    }
    return false;
}

static bool check_quantity(struct job *job, enum pe_quantity quantity)
{
    struct pe_faults faults = {0};
    bool ok = pe_precision_check(&job->specs[0].spec, quantity, &faults);
    api_faults(&job->request->err, &faults, "");
    return ok;
}

static bool read_vectors(struct job *job, struct own *own)
{
    static const char *const names[] = {"content", "seed", "gain", NULL};
    if (own->quantity < PE_QUANTITY_APPLY)
        return job_unread(job, names, "only vectors have content: quantity=apply or score");
    size_t dim = pe_spec_dim(&job->specs[0].spec);
    own->dim = dim ? dim : DIM_OF_BIASES;
    return content_read(job, own->dim, &own->content);
}

/* The default is written as powers, but echoed as a list: given so, it is no other request. */
static bool are_default(const struct pe_positions *at)
{
    double powers[64];
    size_t n;
    struct pe_faults faults = {0};
    pe_positions_parse(POSITIONS, "positions", powers, sizeof powers / sizeof *powers, &n, &faults);
    return at->n == n && memcmp(at->at[0], powers, n * sizeof *powers) == 0;
}

static bool read_positions(struct job *job, struct own *own)
{
    if (!job_positions(job, "positions", NULL, 1, &own->positions))
        return false;
    if (are_default(own->positions.list))
        job_key_edit(job, "positions")->given = false;
    own->at = *own->positions.list;
    own->at.axes = pe_spec_axes(&job->specs[0].spec);
    for (size_t axis = 1; axis < own->at.axes; axis++)
        own->at.at[axis] = own->at.at[0];
    return true;
}

/* Where the keys of scores stand. */
static double key_at(const struct own *own, size_t i)
{
    return isnan(own->distance) ? 0 : own->at.at[0][i] - own->distance;
}

/* Of scores also the keys' places and the distances between the two: all that plans must know. */
static bool plan_positions(struct job *job, const struct own *own)
{
    size_t n = own->at.n;
    job->plan_positions = own->at;
    if (own->quantity != PE_QUANTITY_SCORE)
        return true;
    double *all = job_alloc(job, 3 * n, sizeof *all);
    if (!all)
        return false;
    for (size_t i = 0; i < n; i++) {
        all[i] = own->at.at[0][i];
        all[n + i] = key_at(own, i);
        all[2 * n + i] = all[i] - all[n + i];
    }
    job->plan_positions = (struct pe_positions){.axes = 1, .n = 3 * n, .at = {all}};
    return true;
}

/* Whether there are values at all places, as each pipeline rounds them. */
static bool check_positions(struct job *job, const struct own *own)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    struct pe_positions places = job->plan_positions;
    struct pe_faults faults = {0};
    if (own->quantity == PE_QUANTITY_SCORE)
        places.n = 2 * own->at.n;
    bool ok = pe_positions_check(spec, &places, "positions", &faults);
    for (size_t i = 0; ok && i < own->all.pipelines_n; i++)
        ok = pe_stages_check(&own->stages[i], spec, &places, "positions", &faults);
    api_faults_at(&job->request->err, &faults, "positions");
    return ok;
}

static bool has_pair_errors(const struct job *job)
{
    return job_key(job, "with")->set;
}

static void outputs_state(struct job *job, const struct own *own, const char **names)
{
    static const struct {
        const char *name;
        enum pe_dtype dtype;
    } tensors[] = {{"max_abs_error", PE_F64}, {"rms_error", PE_F64}, {"worst_pair", PE_I64}};
    size_t shape[] = {own->all.pipelines_n, own->at.n};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        struct output *output = job_output(job, tensors[i].name, tensors[i].dtype, 2, shape);
        output->axes[0] =
            (struct answer_axis){.name = "stages", .short_name = "stages", .names = names};
        output->axes[1] = job_position_axis(&own->positions);
    }
    if (!has_pair_errors(job))
        return;
    size_t pairs = pe_spec_pairs(&job->specs[0].spec);
    struct output *output =
        job_output(job, "pair_error", PE_F64, 3, (size_t[]){shape[0], shape[1], pairs});
    output->axes[0] =
        (struct answer_axis){.name = "stages", .short_name = "stages", .names = names};
    output->axes[1] = job_position_axis(&own->positions);
    output->axes[2] = (struct answer_axis){.name = "pair", .short_name = "pair"};
}

static bool name_pipelines(struct job *job, struct own *own, const struct pipelines_ask *ask)
{
    const char **names = job_alloc(job, own->all.pipelines_n, sizeof *names);
    for (size_t i = 0; names && i < own->all.pipelines_n; i++) {
        names[i] = job_pipeline_name(job, ask, &own->stages[i]);
        own->all.pipeline[i] = (struct pipeline){.stages = &own->stages[i], .name = names[i]};
        if (!names[i])
            return false;
    }
    if (names)
        outputs_state(job, own, names);
    return names != NULL;
}

/* Whether nothing is rounded to less than f64. */
static bool is_near(const struct pe_stages *stages)
{
    bool near = true;
    for (enum pe_stage stage = 0; stage < PE_STAGES_N; stage++)
        if (stages->named >> stage & 1)
            near = near && stage != PE_STAGE_QUANTIZE && stages->dtype[stage] == PE_F64;
    return near;
}

static bool check_work(struct job *job, const struct own *own)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    size_t count = pe_precision_count(spec, own->quantity), each = 0;
    bool of_vectors = own->quantity >= PE_QUANTITY_APPLY;
    for (size_t i = 0; i < own->all.pipelines_n; i++)
        each += count * (!of_vectors && is_near(&own->stages[i]) ? NEAR_WORK : ERROR_WORK) +
                own->dim * (own->quantity == PE_QUANTITY_SCORE ? CHANNEL_WORK : ERROR_WORK) +
                pe_spec_bias_work(spec) + pe_spec_mixing_work(spec);
    return job_work(job, job_product((size_t[]){own->at.n, each}, 2), "positions");
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own || !job_specs_finish(job))
        return false;
    const struct pe_value *distance = job_key(job, "distance");
    own->quantity = (enum pe_quantity)job_key(job, "quantity")->number;
    own->distance = distance->set ? distance->number : NAN;
    struct pipelines_ask ask = {pe_precision_stages(own->quantity), PE_F32, usual[own->quantity]};
    bool ok = check_quantity(job, own->quantity);
    ok = read_positions(job, own) && ok;
    ok = ok && read_vectors(job, own) &&
         job_pipelines(job, &ask, own->stages, &own->all.pipelines_n) &&
         job_center(job, &own->positions) && plan_positions(job, own) && check_positions(job, own);
    if (!ok)
        return false;
    return check_work(job, own) && name_pipelines(job, own, &ask);
}

/* ---- Computing ----------------------------------------------------------------------------- */

static bool should_stop(void *job)
{
    return job_expired(job);
}

static bool measure(struct job *job, struct pe_precision *core)
{
    struct plan_source source = {&job->specs[0].spec, job->specs[0].compact, core->stages,
                                 &job->plan_positions};
    struct plan_ref *ref = plan_get(job->app->plans, &source);
    enum pe_status status = PE_NO_MEMORY;
    if (ref) {
        core->staged = plan_ref_plan(ref);
        status = pe_precision(core);
        plan_release(job->app->plans, ref);
    }
    return status == PE_OK || status == PE_STOPPED /* and job_expired has said why */
               ? status == PE_OK
               : err_add(&job->request->err, ERR_overloaded, NULL, NULL,
                         "no memory for the errors");
}

static bool vectors_make(struct job *job, const struct own *own, struct pe_precision *core)
{
    double *q = job_alloc(job, 2 * own->dim, sizeof *q);
    if (!q)
        return false;
    content_fill(&own->content, "q", PE_F64, 0, own->dim, q);
    content_fill(&own->content, "k", PE_F64, 0, own->dim, q + own->dim);
    core->q = q;
    core->k = q + own->dim;
    core->dim = own->dim;
    return true;
}

static void tell(struct job *job, struct own *own)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    size_t len;
    const struct pe_param *row = &keys[0];
    const char *name = pe_choice_name(row, (double)own->quantity, &len);
    own->all.quantity = arena_strndup(&job->request->arena, name, len);
    own->all.compact = job->specs[0].compact;
    own->all.at = own->positions.list->at[0];
    own->all.positions_n = own->at.n;
    if (own->quantity != PE_QUANTITY_SCORE)
        own->all.member = pe_spec_pairs(spec) ? "pair" : "channel";
    precision_readouts(job->answer.readouts, &own->all);
    if (!job_in_words(job))
        return;
    if (job->main == 0)
        job->answer.main = NULL; /* the text has it, a column for each pipeline */
    job->answer.text_readouts = precision_text(&job->request->arena, &own->all);
}

static bool compute(struct job *job)
{
    struct own *own = job->own;
    size_t n = own->at.n;
    double *largest = job_output_data(job, "max_abs_error");
    double *rms = job_output_data(job, "rms_error");
    int64_t *worst = job_output_data(job, "worst_pair");
    double *each = has_pair_errors(job) ? job_output_data(job, "pair_error") : NULL;
    if (!largest || !rms || !worst || (has_pair_errors(job) && !each))
        return false;
    struct pe_precision core = {.exact = job_plan(job, 0),
                                .quantity = own->quantity,
                                .positions = &own->at,
                                .distance = own->distance,
                                .stop = should_stop,
                                .stop_context = job};
    if (own->dim > 0 && !vectors_make(job, own, &core))
        return false;
    unsigned named = 0;
    for (size_t i = 0; i < own->all.pipelines_n; i++) {
        core.stages = &own->stages[i];
        core.max_abs_error = largest + i * n;
        core.rms_error = rms + i * n;
        core.worst = worst + i * n;
        core.error = each ? each + i * n * pe_spec_pairs(&job->specs[0].spec) : NULL;
        if (!measure(job, &core))
            return false;
        own->all.pipeline[i].max_abs_error = core.max_abs_error;
        own->all.pipeline[i].worst = core.worst;
        named |= own->stages[i].named;
    }
    tell(job, own);
    const char *note = job_stages_note(&(struct pe_stages){.named = named});
    if (note)
        job_note(job, note);
    return true;
}

const struct endpoint precision_endpoint = {
    .summary = "How far pipelines that round are from the exact numbers, position by position.",
    .describes = "max_abs_error",
    .schema = "PrecisionAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = 1u << PE_ADDS | 1u << PE_ROTATES | 1u << PE_BIASES,
    .takes = takes,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
