// SPDX-License-Identifier: Apache-2.0
/*
 * frequencies.c: GET /v1/frequencies: inverse frequencies, wavelengths and scaling bands of a kind
 * that has frequencies.
 */
#include <math.h>
#include <string.h>

#include "aspects.h"
#include "keys.h"

#define CONTEXT_DEFAULT 2048.0 /* where completed turns are counted when no context is given */

static const struct pe_param keys[] = {
    {"context", "seq_len", PE_REAL, 0, PE_POSITION_MAX, 0, PE_OPTIONAL | PE_OPEN_MIN, NULL, NULL,
     NULL, "Sequence length in use, in positions, for the turns; 2048 without it."},
    KEY_WITH,
    KEY_DTYPE("Number format of the answer; f64 by default."),
    KEY_STAGES,
};

/* The context is the turns' and, for some scalings, the spec's: one value for both. */
static void share_context(struct job *job)
{
    struct pe_params *params = &job->specs[0].spec.params;
    int row = pe_params_find(params, "context", 7);
    struct pe_value *of_spec = row >= 0 ? &params->value[row] : NULL;
    struct pe_value *of_request = job_key_edit(job, "context");
    if (!of_spec || !of_spec->given || !of_spec->set)
        return;
    *of_request = (struct pe_value){.given = true, .set = true, .number = of_spec->number};
    if (pe_params_applies(params, (size_t)row))
        of_request->given = false; /* the spec says it */
    else
        *of_spec = (struct pe_value){0};
}

static bool takes(const struct pe_spec *spec)
{
    return pe_spec_pairs(spec) > 0;
}

static bool prepare(struct job *job)
{
    struct aspects *own = arena_calloc(&job->request->arena, 1, sizeof *own);
    share_context(job);
    if (!own || !job_specs_finish(job))
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    if (!takes(spec))
        return err_add(&job->request->err, ERR_invalid_value, "kind",
                       "rope, rope2d and sinusoidal have", "kind=%s has no frequencies",
                       spec->kind->name);
    job_derive(job, "dtype", PE_F64);
    static const double zero = 0;
    job->plan_positions = (struct pe_positions){.axes = pe_spec_axes(spec), .n = 1};
    for (size_t axis = 0; axis < job->plan_positions.axes; axis++)
        job->plan_positions.at[axis] = &zero;
    static const char *const names[] = {"inv_freq", "base_inv_freq", "wavelength", "turns", "band"};
    enum pe_dtype dtype = job_dtype(job, PE_F64);
    size_t pairs = pe_spec_pairs(spec);
    for (size_t i = 0; i < 5; i++) {
        struct output *output = job_output(job, names[i], i < 4 ? dtype : PE_I64, 1, &pairs);
        output->axes[0] = (struct answer_axis){.name = "pair", .short_name = "pair"};
    }
    own->dtype = dtype;
    job->aspects = own;
    return job_stages(job, 1u << PE_STAGE_FREQ, dtype) && aspects_with(job);
}

/* A parameter of the scaling, 0 where it is not read. */
static double scaling_number(const struct pe_spec *spec, const char *name)
{
    int row = pe_params_find(&spec->params, name, strlen(name));
    bool read = row >= 0 && pe_params_applies(&spec->params, (size_t)row);
    return read ? spec->params.value[row].number : 0;
}

/* What a scaling comes to where its parameters alone do not say it: a factor that follows from
 * others; the alpha of implementations that have no factor beside it; the two places where models
 * with mscale multiply. */
static void scaling_readouts(struct tree *tree, const struct pe_spec *spec)
{
    double factor = scaling_number(spec, "factor"), alpha = pe_spec_ntk_alpha(spec);
    if (factor != 0 && !pe_params_get(&spec->params, "factor")->given)
        tree_number(tree, "factor", factor);
    if (!isnan(alpha) && (factor == 0 || factor == 1))
        tree_number(tree, "ntk_alpha", alpha);
    if (scaling_number(spec, "mscale") == 0 && scaling_number(spec, "mscale_all_dim") == 0)
        return;
    tree_number(tree, "mscale_term", pe_spec_mscale(spec));
    tree_number(tree, "softmax_multiplier", pe_spec_softmax(spec));
}

static void readouts(struct job *job, const struct pe_frequencies *f, size_t pairs)
{
    static const char *const names[] = {"kept", "blended", "divided"};
    const struct pe_spec *spec = &job->specs[0].spec;
    size_t counts[3] = {0};
    size_t incomplete = pairs;
    for (size_t i = 0; i < pairs; i++) {
        counts[f->band[i]]++;
        double turns = pe_load(f->dtype, f->turns, i);
        if (incomplete == pairs && turns < 1)
            incomplete = i;
    }
    struct tree *tree = job->answer.readouts;
    for (size_t i = 0; i < 3; i++)
        tree_integer(tree, names[i], (int64_t)counts[i]);
    if (incomplete < pairs)
        tree_integer(tree, "first_incomplete_pair", (int64_t)incomplete);
    else
        tree_null(tree, "first_incomplete_pair");
    tree_number(tree, "context", f->context);
    if (pe_params_find(&spec->params, "attention_factor", 16) >= 0)
        tree_number(tree, "attention_factor", pe_spec_attention(spec));
    double base = pe_spec_effective_base(spec);
    if (isnan(base)) /* the frequencies are no powers of one */
        tree_null(tree, "effective_base");
    else
        tree_number(tree, "effective_base", base);
    scaling_readouts(tree, spec);
}

static bool compute(struct job *job)
{
    size_t pairs = pe_spec_pairs(&job->specs[0].spec);
    const struct pe_value *context = job_key(job, "context");
    enum pe_dtype dtype = (enum pe_dtype)job_key(job, "dtype")->number;
    struct pe_frequencies f = {.dtype = dtype,
                               .context = context->set ? context->number : CONTEXT_DEFAULT};
    f.inv_freq = job_output_data(job, "inv_freq");
    f.base_inv_freq = job_output_data(job, "base_inv_freq");
    f.wavelength = job_output_data(job, "wavelength");
    f.turns = job_output_data(job, "turns");
    f.band = job_output_data(job, "band");
    if (!f.inv_freq || !f.base_inv_freq || !f.wavelength || !f.turns || !f.band)
        return false;
    pe_frequencies(job_plan(job, 0), &f);
    readouts(job, &f, pairs);
    return true;
}

const struct endpoint frequencies_endpoint = {
    .summary = "Inverse frequencies, wavelengths and scaling bands, pair by pair.",
    .describes = "inv_freq",
    .schema = "FrequenciesAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = ~0u,
    .takes = takes,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
