// SPDX-License-Identifier: Apache-2.0
/*
 * from_config.c: POST /v1/from-config: a model's config.json, as it is, to the encodings of its
 * layers, their frequencies, and a list of all that was read, supposed and left aside.
 */
#include <string.h>

#include "job.h"
#include "keys.h"
#include "model.h"

static const struct pe_param keys[] = {
    {"layout", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL,
     "interleaved|gptj half|neox|rotate_half|halves", NULL,
     "Channels of a pair; without it those of the model's class in transformers."},
    {"context", "seq_len", PE_INT, 1, PE_POSITION_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Sequence length in use, in positions, for scalings that depend on it."},
    {"layer_type", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL | PE_SCALAR, NULL, NULL, NULL,
     "One of several parameter sets, such as full_attention: the answer is about it alone."},
    {"lenient", NULL, PE_BOOL, 0, 1, 0, 0, "false", NULL, NULL,
     "Whether unknown keys of a scaling and contradictions are warnings, not mistakes."},
    KEY_DTYPE("Number format of the answer; f64 by default."),
    KEY_STAGES,
};

/* ---- Which sets ----------------------------------------------------------------------------- */

static const char *set_names(const struct model *model)
{
    const char *names = "";
    for (size_t i = 0; names && i < model->sets_n; i++)
        names = arena_printf(&model->job->request->arena, "%s%s%s", names, i ? " " : "",
                             model->sets[i].name);
    return names;
}

/* layer_type= leaves one set. */
static bool choose_set(struct model *model)
{
    struct job *job = model->job;
    struct err *err = &job->request->err;
    const struct pe_value *asked = job_key(job, "layer_type");
    if (!asked->set)
        return true;
    for (size_t i = 0; i < model->sets_n; i++)
        if (strcmp(model->sets[i].name, asked->text) == 0) {
            model->sets[0] = model->sets[i];
            model->sets_n = 1;
            return true;
        }
    err_add(err, ERR_invalid_value, "layer_type", NULL, "this config has no layer_type \"%.60s\"",
            asked->text);
    if (err->n <= ERR_ITEMS_MAX)
        err->item[err->n - 1].allowed = set_names(model);
    return false;
}

/* Encodings that are not for layers of some type. */
static void check_layer_type(struct model *model)
{
    if (job_key(model->job, "layer_type")->set)
        err_add(&model->job->request->err, ERR_conflicting_parameters, "layer_type", "leave it out",
                "the layers of this config do not differ in what they rotate by");
}

static void read_context(struct model *model)
{
    struct job *job = model->job;
    const struct pe_value *context = job_key(job, "context");
    bool used = false;
    for (size_t i = 0; context->set && i < model->sets_n; i++) {
        struct pe_params *params = &model->sets[i].slot->spec.params;
        int row = pe_params_find(params, "context", 7);
        struct pe_faults faults = {0};
        if (row < 0 || !pe_params_reads(params, (size_t)row))
            continue;
        used = pe_params_set_number(params, "context", context->number, &faults);
        api_faults(&job->request->err, &faults, "");
    }
    if (context->set && !used)
        model_warn(model, NULL, "context has no effect: no scaling here depends on the length");
}

/* What a library has no use for is in the config for another one. */
static void apply_dialect(struct model *model, struct set *set)
{
    struct pe_faults faults = {0};
    if (!job_dialect_set(model->job, &set->slot->spec, &faults) && job_dialect(model->job))
        model_warn(model, NULL, "the dialect has nothing of its own for kind=%s",
                   set->slot->spec.kind->name);
    for (size_t i = 0; i < faults.n && i < PE_FAULTS_MAX; i++) {
        const char *key = faults.item[i].param;
        if (model->family->flags & FAMILY_MLA && strncmp(key, "mscale", 6) == 0)
            continue; /* vLLM has another class for these, which reads them */
        int row = pe_params_find(&set->slot->spec.params, key, strlen(key));
        const char *where = row >= 0 ? set->where[row] : NULL;
        model_complain(model, ERR_conflicting_parameters, where, NULL, "%s", faults.item[i].detail);
        if (row >= 0 && model->lenient)
            set->slot->spec.params.value[row] = (struct pe_value){0};
    }
}

static void read_sets(struct model *model)
{
    const struct family *family = model->family;
    struct node attention = model_node(model, &model->config, "attn_config");
    bool alibi = false;
    const char *pointer;
    if (family->flags & FAMILY_ALIBI_KEY &&
        (model_bool(model, &model->config, "alibi", &alibi, &pointer) ||
         model_bool(model, &attention, "alibi", &alibi, &pointer)))
        model_read(model, pointer, alibi ? "kind=alibi" : "no ALiBi");
    if (family->scheme != SCHEME_ROPE || alibi) {
        model_other(model);
        check_layer_type(model);
        read_context(model);
        return;
    }
    model_sets(model);
    if (!choose_set(model))
        return;
    for (size_t i = 0; i < model->sets_n; i++)
        model_rope(model, &model->sets[i]);
    read_context(model);
}

/* ---- Specs ---------------------------------------------------------------------------------- */

/* A fault of a parameter stands where the config has it, or would. */
static bool finish_set(struct model *model, struct set *set)
{
    struct pe_spec *spec = &set->slot->spec;
    struct pe_faults all = {0};
    if (pe_spec_finish(spec, &all))
        return job_spec_name(model->job, set->slot);
    for (size_t i = 0; i < all.n && i < PE_FAULTS_MAX; i++) {
        struct pe_faults one = {.n = 1, .item = {all.item[i]}};
        int row = pe_params_find(&spec->params, one.item[0].param, strlen(one.item[0].param));
        const char *where = row >= 0 ? set->where[row] : NULL;
        if (!where)
            where = model_pointer(model, set->dict.object ? &set->dict : &model->config,
                                  one.item[0].param);
        api_faults_at(&model->job->request->err, &one, where);
    }
    return false;
}

/* ---- Tensors -------------------------------------------------------------------------------- */

/* "inv_freq", with several sets "inv_freq_full_attention". */
static const char *name_in(const struct model *model, const struct set *set, const char *name)
{
    return model->sets_n == 1 ? name
                              : arena_printf(&model->job->request->arena, "%s_%s", name, set->name);
}

static bool has_slopes(const struct pe_spec *spec)
{
    return strcmp(spec->kind->name, "alibi") == 0;
}

static bool state_outputs(struct model *model)
{
    struct job *job = model->job;
    enum pe_dtype dtype = job_dtype(job, PE_F64);
    for (size_t i = 0; i < model->sets_n; i++) {
        const struct set *set = &model->sets[i];
        const struct pe_spec *spec = &set->slot->spec;
        size_t pairs = pe_spec_pairs(spec), heads = pe_spec_heads(spec);
        const char *main = name_in(model, set, pairs ? "inv_freq" : "slopes");
        const char *band = name_in(model, set, "band");
        if (!main || !band)
            return job_alloc(job, SIZE_MAX, 1);
        if (pairs > 0) {
            job_output(job, main, dtype, 1, &pairs)->axes[0] =
                (struct answer_axis){.name = "pair", .short_name = "pair"};
            job_output(job, band, PE_I64, 1, &pairs)->axes[0] =
                (struct answer_axis){.name = "pair", .short_name = "pair"};
        } else if (has_slopes(spec)) {
            job_output(job, main, dtype, 1, &heads)->axes[0] =
                (struct answer_axis){.name = "head", .short_name = "head"};
        }
    }
    return true;
}

/* A format for one table. */
static bool check_one(struct model *model)
{
    struct job *job = model->job;
    struct err *err = &job->request->err;
    if (job->format == FORMAT_JSON || job->format == FORMAT_SAFETENSORS)
        return true;
    if (job->outputs_n == 0)
        return err_add(err, ERR_not_acceptable, NULL, "ask for .json",
                       "what this config describes has no frequencies to be a table");
    if (model->sets_n == 1 || job->common.value[COMMON_SELECT].set)
        return true;
    err_add(err, ERR_missing_parameter, "layer_type",
            "choose one, or ask for .json or .safetensors, which have all",
            "layer_type is required for one table: the config has several parameter sets");
    if (err->n <= ERR_ITEMS_MAX)
        err->item[err->n - 1].allowed = set_names(model);
    return false;
}

static bool prepare(struct job *job)
{
    struct model *model = job_alloc(job, 1, sizeof *model);
    if (!model)
        return false;
    *model = (struct model){0};
    job->own = model;
    if (!model_begin(model, job))
        return false;
    read_sets(model);
    bool ok = job->request->err.n == 0;
    for (size_t i = 0; ok && i < model->sets_n; i++)
        apply_dialect(model, &model->sets[i]);
    ok = job->request->err.n == 0;
    for (size_t i = 0; ok && i < model->sets_n; i++)
        ok = finish_set(model, &model->sets[i]);
    if (ok)
        model_layers(model);
    if (!ok || job->request->err.n > 0 || !state_outputs(model) || !check_one(model))
        return false;
    static const double zero = 0;
    job->plan_positions = (struct pe_positions){.axes = job->outputs_n ? PE_AXES_MAX : 0, .n = 1};
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++)
        job->plan_positions.at[axis] = &zero;
    return job_stages(job, 1u << PE_STAGE_FREQ, job_dtype(job, PE_F64));
}

/* ---- The answer ----------------------------------------------------------------------------- */

static void spec_links(const struct model *model, struct tree *object, const struct job_spec *slot)
{
    static const char *const rotating[] = {"frequencies", "rotation", "table", "apply", NULL},
                             *const adding[] = {"table", "apply", NULL},
                             *const biasing[] = {"table", "scores", NULL};
    const char *const *name = slot->spec.kind->acts == PE_ROTATES  ? rotating
                              : slot->spec.kind->acts == PE_BIASES ? biasing
                                                                   : adding;
    struct tree *links = tree_object(object, "links");
    struct buf query;
    buf_init(&query, MODEL_BYTES_MAX);
    job_spec_query(&query, slot->compact);
    for (; links && *name; name++)
        tree_string(links, *name,
                    query.failed ? NULL
                                 : arena_printf(&model->job->request->arena, "/v1/%s%.*s", *name,
                                                (int)query.len, query.data));
    buf_release(&query);
}

static void write_specs(struct model *model)
{
    for (size_t i = 0; i < model->sets_n; i++) {
        const struct set *set = &model->sets[i];
        struct tree *object = tree_object(model->specs, NULL);
        tree_string(object, "applies_to", set->name);
        job_spec_tree(object, "spec", &set->slot->spec);
        tree_string(object, "compact", set->slot->compact);
        tree_string(object, "spec_id", set->slot->id);
        if (pe_spec_pairs(&set->slot->spec) > 0)
            tree_string(object, "tensor", name_in(model, set, "inv_freq"));
        spec_links(model, object, set->slot);
    }
}

/* The sum of all frequencies tells tables apart at a glance. */
static double sum_of(struct job *job, enum pe_dtype dtype, const void *inv_freq, size_t n)
{
    double *values = job_alloc(job, n, sizeof *values), *ones = job_alloc(job, n, sizeof *ones);
    if (!values || !ones)
        return 0;
    for (size_t i = 0; i < n; i++) {
        values[i] = pe_load(dtype, inv_freq, i);
        ones[i] = 1;
    }
    return pe_dot(PE_F64, values, ones, n);
}

static void write_readouts(struct model *model, const struct set *set,
                           const struct pe_frequencies *f, size_t pairs)
{
    static const char *const names[] = {"kept", "blended", "divided"};
    const struct pe_spec *spec = &set->slot->spec;
    struct tree *tree = model->readouts;
    size_t counts[3] = {0};
    for (size_t i = 0; i < pairs; i++)
        counts[f->band[i]]++;
    for (size_t i = 0; i < 3; i++)
        tree_integer(tree, name_in(model, set, names[i]), (int64_t)counts[i]);
    tree_number(tree, name_in(model, set, "attention_factor"), pe_spec_attention(spec));
    if (model->family->flags & FAMILY_MLA)
        tree_number(tree, name_in(model, set, "softmax_multiplier"), pe_spec_softmax(spec));
    tree_number(tree, name_in(model, set, "effective_base"), pe_spec_effective_base(spec));
    tree_number(tree, name_in(model, set, "inv_freq_sum"),
                sum_of(model->job, f->dtype, f->inv_freq, pairs));
}

static bool compute_set(struct model *model, size_t i)
{
    struct job *job = model->job;
    const struct set *set = &model->sets[i];
    size_t pairs = pe_spec_pairs(&set->slot->spec);
    enum pe_dtype dtype = (enum pe_dtype)job_key(job, "dtype")->number;
    struct pe_frequencies f = {.dtype = dtype, .context = 1};
    if (has_slopes(&set->slot->spec)) {
        void *slopes = job_output_data(job, name_in(model, set, "slopes"));
        if (slopes)
            pe_slopes(job_plan(job, i), dtype, slopes);
        return slopes;
    }
    if (pairs == 0)
        return true;
    f.inv_freq = job_output_data(job, name_in(model, set, "inv_freq"));
    f.band = job_output_data(job, name_in(model, set, "band"));
    f.base_inv_freq = job_alloc(job, pairs, pe_dtype_size(dtype));
    f.wavelength = job_alloc(job, pairs, pe_dtype_size(dtype));
    f.turns = job_alloc(job, pairs, pe_dtype_size(dtype));
    if (!f.inv_freq || !f.band || !f.base_inv_freq || !f.wavelength || !f.turns)
        return false;
    pe_frequencies(job_plan(job, i), &f);
    write_readouts(model, set, &f, pairs);
    return true;
}

static const char *text_of(const struct tree *object, const char *key)
{
    const struct tree *member = tree_member(object, key);
    return member && member->type == TREE_STRING && member->as.string ? member->as.string : "";
}

/* For people at a terminal, who see no more than one table: what the rest of the answer says. */
static void write_sentences(struct model *model)
{
    struct arena *arena = &model->job->request->arena;
    struct tree *notes = tree_new(arena, TREE_ARRAY);
    for (const struct tree *node = model->specs->first; node; node = node->next)
        tree_string(
            notes, NULL,
            arena_printf(arena, "%s: %s", text_of(node, "applies_to"), text_of(node, "compact")));
    for (const struct tree *node = model->assumed->first; node; node = node->next) {
        const struct tree *value = tree_member(node, "value");
        const char *shown = value && value->type == TREE_NUMBER
                                ? model_text(model, value->as.number)
                                : text_of(node, "value");
        tree_string(notes, NULL,
                    arena_printf(arena, "%s=%s is supposed: %s", text_of(node, "key"), shown,
                                 text_of(node, "because")));
    }
    for (const struct tree *node = model->warnings->first; node; node = node->next)
        tree_string(notes, NULL,
                    arena_printf(arena, "%s%s%s", text_of(node, "pointer"),
                                 tree_member(node, "pointer") ? ": " : "",
                                 text_of(node, "detail")));
    model->job->answer.notes = notes;
}

static bool compute(struct job *job)
{
    struct model *model = job->own;
    write_specs(model);
    if (job->format == FORMAT_TXT && tree_ok(model->answer))
        write_sentences(model);
    job->answer.root = model->answer;
    job->answer.params = model->params;
    job->answer.tensors = model->tensors;
    job->answer.readouts = model->readouts;
    job_outputs_tree(job);
    bool ok = true;
    for (size_t i = 0; ok && i < model->sets_n; i++)
        ok = compute_set(model, i);
    return ok;
}

const struct endpoint from_config_endpoint = {
    .summary = "A model's config.json to its encodings, and what was read and supposed.",
    .describes = "inv_freq",
    .schema = "FromConfigAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .acts = ~0u,
    .document_max = MODEL_BYTES_MAX,
    .cache = CACHE_NO_STORE,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
