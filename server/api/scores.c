// SPDX-License-Identifier: Apache-2.0
/*
 * scores.c: GET and POST /v1/scores: the score of a q and a k against the offset between them, from
 * several anchors, for one or several encodings.
 */
#include "scores.h"

#include <string.h>

#include "keys.h"

static const struct pe_param keys[] = {
    {"anchors", NULL, PE_TEXT, 0, 0, 0, 0, "0,8,24", NULL, NULL,
     "Positions of the query (with anchor_is=key of the key)."},
    {"offsets", NULL, PE_TEXT, 0, 0, 0, 0, "0:32", NULL, NULL,
     "Offsets of the other one from the anchor; may be negative."},
    {"anchor_is", NULL, PE_ENUM, 0, 0, 0, 0, "query", "query key", NULL,
     "Who stands at the anchor; the other stands at anchor + offset."},
    KEY_CONTENT(CONTENT_CHOICES, "random", 0),
    KEY_SEED,
    KEY_GAIN("1"),
    KEY_SCALE("none"),
    {"normalize", NULL, PE_ENUM, 0, 0, 0, 0, "none", "none cosine mean first", NULL,
     "Divide by the lengths (cosine), by the number of pairs (mean), by the score at offset 0 "
     "(first)."},
    {"tolerance", NULL, PE_REAL, 0, 1, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Largest spread, relative to the largest score, that counts as relative; by the dtype of q "
     "1e-12 (f64), 1e-5 (f32), 1e-2 (f16), 5e-2 (bf16)."},
    {"terms", NULL, PE_BOOL, 0, 1, 0, 0, "false", NULL, NULL,
     "Adding kinds: give the four parts of the score too."},
    KEY_STAGES,
};

static const char *const tensors[] = {"q", "k", "table", NULL};
static const char *const term_names[] = {"content", "cross_q", "cross_k", "position"};

struct own {
    struct position_lists anchors, offsets;
    struct content content;
    struct tensor q, k;
    bool posted;
    bool apart;      /* q and k have encodings of their own: one block for both */
    size_t blocks_n; /* of encodings that are compared */
    size_t dim, vectors_n;
    struct answer_axis anchor_axis, offset_axis;
    const char **spec_names; /* compact forms */
    struct score_scale scale;
    double tolerance;
    const double *q_at, *k_at; /* f64 */
    double *scores, *terms[4]; /* [specs, anchors, offsets]; terms may be NULL */
};

/* ---- Reading ------------------------------------------------------------------------------- */

static bool read_vectors(struct job *job, struct own *own)
{
    struct err *err = &job->request->err;
    bool q_found, k_found;
    if (!job_tensor(job, "q", &own->q, &q_found) || !job_tensor(job, "k", &own->k, &k_found))
        return false;
    own->posted = q_found || k_found;
    own->vectors_n = 1;
    if (!own->posted)
        return true;
    static const char *const seeded[] = {"content", "seed", "gain", NULL};
    if (!job_unread(job, seeded, "the request brings its own q and k"))
        return false;
    if (!q_found || !k_found)
        return err_add(err, ERR_missing_parameter, q_found ? "/k" : "/q", NULL,
                       "q and k are posted together or not at all");
    const struct tensor *q = &own->q, *k = &own->k;
    if (q->rank < 1 || q->rank > 2 || q->count == 0 || q->rank != k->rank ||
        memcmp(q->shape, k->shape, q->rank * sizeof q->shape[0]) != 0)
        return err_add(err, ERR_shape_mismatch, "/k", NULL,
                       "q and k must have the same shape, [d] or [n, d], not empty");
    own->vectors_n = q->rank == 2 ? q->shape[0] : 1;
    return true;
}

/* dim: the spec's, else that of the posted vectors; one for all encodings. */
static bool settle_dim(struct job *job, struct own *own)
{
    struct err *err = &job->request->err;
    size_t given = own->posted ? own->q.shape[own->q.rank - 1] : 0;
    own->dim = given ? given : 64;
    for (size_t s = 0; s < job->specs_n; s++) {
        struct pe_params *params = &job->specs[s].spec.params;
        int row = pe_params_find(params, "dim", 3);
        struct pe_faults faults = {0};
        if (row >= 0 && !params->value[row].given && given)
            pe_params_set_number(params, "dim", (double)given, &faults);
        api_faults_at(err, &faults, "/q");
    }
    if (!job_specs_finish(job))
        return false;
    bool first = true;
    for (size_t s = 0; s < job->specs_n; s++) {
        size_t dim = pe_spec_dim(&job->specs[s].spec); /* 0 for biases: any */
        if (dim && (given ? dim != given : !first && dim != own->dim))
            return err_add(err, ERR_shape_mismatch, given ? "/q" : "dim", NULL,
                           "all encodings must have one dim; got %zu and %zu", own->dim, dim);
        if (dim) {
            own->dim = dim;
            first = false;
        }
    }
    return true;
}

bool scores_scale(struct job *job, struct score_scale *scale)
{
    struct pe_value *value = job_key_edit(job, "scale");
    const json_t *json = job->has_doc ? json_object_get(job->doc.root, "scale") : NULL;
    if (json_is_number(json)) {
        double number = json_number_value(json);
        char text[PE_TEXT_MAX];
        size_t len = pe_text_print(PE_F64, &number, 0, text);
        value->text = arena_strndup(&job->request->arena, text, len);
    }
    const char *text = value->text ? value->text : "";
    *scale = (struct score_scale){.sqrt_dim = strcmp(text, "sqrt_dim") == 0, .factor = 1};
    if (scale->sqrt_dim || strcmp(text, "none") == 0)
        return true;
    bool numeric = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
    if (numeric && pe_text_read(text, strlen(text), PE_F64, &scale->factor, 0) &&
        scale->factor != 0)
        return true;
    return err_add(&job->request->err, ERR_invalid_value, "scale", NULL,
                   "scale must be none, sqrt_dim or a number other than 0; got \"%.40s\"", text);
}

/* Every place a vector stands at, which must have a value; and, for the plan, every distance. */
static bool places(struct job *job, const struct own *own, struct position_lists *out)
{
    size_t a_n = own->anchors.list->n, o_n = own->offsets.list->n;
    size_t n = job_product((size_t[]){a_n, o_n}, 2);
    double *at = n > PE_POSITIONS_N_MAX ? NULL : job_alloc(job, a_n + n + o_n, sizeof *at);
    struct pe_positions *list = job_alloc(job, 1, sizeof *list);
    if (!at || !list)
        return err_add(&job->request->err, ERR_limit_exceeded, "offsets", NULL,
                       "%zu anchors times %zu offsets are more than %zu places", a_n, o_n,
                       PE_POSITIONS_N_MAX);
    memcpy(at, own->anchors.list->at[0], a_n * sizeof *at);
    for (size_t i = 0; i < n; i++)
        at[a_n + i] = own->anchors.list->at[0][i / o_n] + own->offsets.list->at[0][i % o_n];
    memcpy(at + a_n + n, own->offsets.list->at[0], o_n * sizeof *at);
    *list = (struct pe_positions){.axes = 1, .n = a_n + n, .at = {at}};
    *out = (struct position_lists){.list = list, .lists_n = 1, .where = "offsets"};
    job->plan_positions = (struct pe_positions){.axes = 1, .n = a_n + n + o_n, .at = {at}};
    return true;
}

static bool check_work(struct job *job, const struct own *own)
{
    size_t places = job_product((size_t[]){own->anchors.list->n, own->offsets.list->n}, 2);
    size_t terms = job_key(job, "terms")->number != 0 ? 5 : 1, each = 0;
    for (size_t s = 0; s < own->blocks_n; s++)
        each += terms * own->dim + pe_spec_bias_work(&job->specs[s].spec);
    return job_work(job, job_product((size_t[]){places, own->vectors_n, each}, 3), "offsets");
}

static bool takes(const struct pe_spec *spec)
{
    struct pe_faults faults = {0};
    return pe_scores_check(spec, &faults);
}

static bool check_kinds(struct job *job)
{
    bool ok = true;
    for (size_t s = 0; s < job->specs_n; s++) {
        const struct pe_kind *kind = job->specs[s].spec.kind;
        struct pe_faults faults = {0};
        ok = pe_scores_check(&job->specs[s].spec, &faults) && ok;
        api_faults_at(&job->request->err, &faults, "kind");
        if (job_key(job, "terms")->number != 0 && kind->acts != PE_ADDS)
            ok = err_add(&job->request->err, ERR_invalid_value, "terms",
                         "for example kind=sinusoidal",
                         "only adding kinds have the four terms; kind=%s is none", kind->name);
    }
    return ok;
}

/* A score of each encoding, anchor and offset; without the first axis where there is one encoding.
 */
static void matrix_state(struct job *job, const struct own *own, const char *name)
{
    size_t shape[] = {own->blocks_n, own->anchors.list->n, own->offsets.list->n};
    bool several = own->blocks_n > 1;
    struct output *output =
        job_output(job, name, PE_F64, several ? 3 : 2, several ? shape : shape + 1);
    struct answer_axis *axis = output->axes;
    if (several)
        *axis++ =
            (struct answer_axis){.name = "spec", .short_name = "spec", .names = own->spec_names};
    *axis++ = own->anchor_axis;
    *axis = own->offset_axis;
}

static bool outputs_state(struct job *job, struct own *own)
{
    const char **names = job_alloc(job, own->blocks_n, sizeof *names);
    for (size_t s = 0; names && s < own->blocks_n; s++)
        names[s] = job->specs[s].compact;
    own->spec_names = names;
    own->anchor_axis = (struct answer_axis){
        .name = "anchor", .short_name = "anchor", .labels = own->anchors.list->at[0]};
    own->offset_axis = (struct answer_axis){
        .name = "offset", .short_name = "offset", .labels = own->offsets.list->at[0]};
    matrix_state(job, own, "scores");
    for (size_t t = 0; job_key(job, "terms")->number != 0 && t < 4; t++)
        matrix_state(job, own, term_names[t]);
    job_output(job, "offsets", PE_F64, 1, &own->offsets.list->n)->axes[0] = own->offset_axis;
    job_output(job, "anchors", PE_F64, 1, &own->anchors.list->n)->axes[0] = own->anchor_axis;
    job->outputs_hidden = own->blocks_n > 1; /* JSON has a block for each encoding */
    return names != NULL;
}

static bool prepare(struct job *job)
{
    static const double tolerances[PE_I64] = {1e-12, 1e-5, 1e-2, 5e-2};
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own || !read_vectors(job, own) || !job_table(job) || !scores_apart_read(job, &own->apart))
        return false;
    own->blocks_n = own->apart ? 1 : job->specs_n;
    bool ok = scores_scale(job, &own->scale);
    ok = settle_dim(job, own) && check_kinds(job) && (!own->apart || scores_apart_check(job)) && ok;
    ok = job_positions(job, "anchors", NULL, 1, &own->anchors) && ok;
    ok = job_positions(job, "offsets", NULL, 1, &own->offsets) && ok;
    ok = (own->posted || content_read(job, own->dim, &own->content)) && ok;
    ok = ok && job_stages(job, PE_STAGES_OF_PLANS | 1u << PE_STAGE_APPLY | 1u << PE_STAGE_DOT,
                          own->posted ? own->q.dtype : PE_F64);
    struct position_lists all;
    if (!ok || !check_work(job, own) || !places(job, own, &all) || !job_positions_check(job, &all))
        return false;
    job_derive(job, "tolerance", tolerances[own->posted ? own->q.dtype : PE_F64]);
    own->tolerance = job_key(job, "tolerance")->number;
    return outputs_state(job, own);
}

/* ---- Computing ----------------------------------------------------------------------------- */

/* A posted tensor as f64, exactly; or test vectors. */
static const double *vector_f64(struct job *job, const struct own *own, const struct tensor *posted,
                                const char *stream)
{
    size_t n = own->vectors_n * own->dim;
    double *at = job_alloc(job, n, sizeof *at);
    if (!at)
        return NULL;
    if (!own->posted)
        content_fill(&own->content, stream, PE_F64, 0, n, at);
    for (size_t i = 0; own->posted && i < n; i++)
        at[i] = pe_load(posted->dtype, posted->data, i);
    return at;
}

static bool vectors_finite(struct job *job, const struct own *own)
{
    size_t n = own->vectors_n * own->dim;
    for (size_t i = 0; i < n; i++)
        if (!(own->q_at[i] - own->q_at[i] == 0 && own->k_at[i] - own->k_at[i] == 0))
            return err_add(&job->request->err, ERR_invalid_value, "/q", NULL,
                           "scores need finite q and k; element %zu is not", i);
    return true;
}

static bool should_stop(void *job)
{
    return job_expired(job);
}

/* The core's job for one encoding, with its outputs. */
static struct pe_scores *core_job(struct job *job, size_t spec)
{
    const struct own *own = job->own;
    size_t a_n = own->anchors.list->n, o_n = own->offsets.list->n;
    struct pe_scores *core = job_alloc(job, 1, sizeof *core);
    double *norms = job_alloc(job, a_n * (1 + o_n), sizeof *norms);
    double *rest = job_alloc(job, a_n * o_n, sizeof *rest);
    if (!core || !norms || !rest)
        return NULL;
    const struct pe_params *params = &job->specs[spec].spec.params;
    int head = pe_params_find(params, "head", 4);
    *core = (struct pe_scores){
        .plan = job_plan(job, spec),
        .k_plan = own->apart ? job_plan(job, K_SPEC) : NULL,
        .q = own->q_at,
        .k = own->k_at,
        .vectors_n = own->vectors_n,
        .dim = own->dim,
        .anchors = own->anchors.list->at[0],
        .offsets = own->offsets.list->at[0],
        .anchors_n = a_n,
        .offsets_n = o_n,
        .anchor_is_key = job_key_is(job, "anchor_is", "key"),
        .head = head >= 0 ? (size_t)params->value[head].number : 0,
        .scale_sqrt_dim = own->scale.sqrt_dim,
        .scale = own->scale.factor,
        .normalize = (enum pe_normalize)job_key(job, "normalize")->number,
        .stages = &job->stages,
        .stop = should_stop,
        .stop_context = job,
        .scores = own->scores + spec * a_n * o_n,
        .rest = rest,
        .norm_q_after = norms,
        .norm_k_after = norms + a_n,
    };
    for (size_t t = 0; t < 4 && own->terms[t]; t++)
        core->terms[t] = own->terms[t] + spec * a_n * o_n;
    return core;
}

static bool run(struct job *job, struct pe_scores *core)
{
    switch (pe_scores(core)) {
    case PE_OK:
        return true;
    case PE_STOPPED:
        return false; /* and job_expired has said why */
    case PE_INVALID_VALUE:
        return err_add(&job->request->err, ERR_invalid_value, "normalize", NULL,
                       "the score or length to divide by is 0");
    default:
        return err_add(&job->request->err, ERR_overloaded, NULL, NULL, "no memory for the scores");
    }
}

/* Tensors of one encoding among several. */
static void block_tensors(const struct job *job, struct tree *parent, const struct pe_scores *core)
{
    size_t shape[] = {core->anchors_n, core->offsets_n};
    tree_tensor(parent, "scores", PE_F64, 2, shape, core->scores);
    for (size_t t = 0; t < 4 && core->terms[t]; t++)
        tree_tensor(parent, term_names[t], PE_F64, 2, shape, core->terms[t]);
    tree_tensor(parent, "offsets", PE_F64, 1, shape + 1, core->offsets);
    tree_tensor(parent, "anchors", PE_F64, 1, shape, core->anchors);
    for (struct tree *node = parent ? parent->first : NULL; node; node = node->next)
        node->as.tensor.notation = job_notation(job);
}

/* Memory of all outputs; offsets and anchors are known. */
static bool outputs_make(struct job *job, struct own *own)
{
    const struct pe_positions *offsets = own->offsets.list, *anchors = own->anchors.list;
    own->scores = job_output_data(job, "scores");
    bool ok = own->scores != NULL;
    for (size_t t = 0; ok && job_key(job, "terms")->number != 0 && t < 4; t++)
        ok = (own->terms[t] = job_output_data(job, term_names[t])) != NULL;
    double *offsets_out = job_output_data(job, "offsets");
    double *anchors_out = job_output_data(job, "anchors");
    if (!ok || !offsets_out || !anchors_out)
        return false;
    memcpy(offsets_out, offsets->at[0], offsets->n * sizeof *offsets_out);
    memcpy(anchors_out, anchors->at[0], anchors->n * sizeof *anchors_out);
    return true;
}

static bool compute_block(struct job *job, struct tree *blocks, size_t spec)
{
    const struct own *own = job->own;
    struct answer *answer = &job->answer;
    struct pe_scores *core = core_job(job, spec);
    if (!core || job_expired(job) || !run(job, core))
        return false;
    struct score_block block = {core, own->tolerance};
    struct tree *readouts = answer->readouts;
    if (blocks) {
        struct tree *node = tree_object(blocks, NULL);
        job_spec_tree(node, "spec", &job->specs[spec].spec);
        tree_string(node, "spec_id", job->specs[spec].id);
        struct tree *tensors_node =
            job->format == FORMAT_JSON ? tree_object(node, "tensors") : NULL;
        readouts = tree_object(node, "readouts");
        block_tensors(job, tensors_node, core);
    }
    scores_readouts(readouts, &block);
    if (job_in_words(job)) {
        struct arena *arena = &job->request->arena;
        const char *name = job->specs[spec].compact;
        if (own->apart)
            name = arena_printf(arena, "q %s, k %s", name, job->specs[K_SPEC].compact);
        const char *said = scores_sentences(arena, &block, name);
        answer->text_readouts = answer->text_readouts && said
                                    ? arena_printf(arena, "%s\n%s", answer->text_readouts, said)
                                    : said;
    }
    return true;
}

static bool compute(struct job *job)
{
    struct own *own = job->own;
    bool several = own->blocks_n > 1;
    own->q_at = vector_f64(job, own, &own->q, "q");
    own->k_at = own->q_at ? vector_f64(job, own, &own->k, "k") : NULL;
    if (!own->k_at || !outputs_make(job, own) || !vectors_finite(job, own))
        return false;
    struct tree *blocks = several ? tree_array(job->answer.root, "blocks") : NULL;
    for (size_t s = 0; s < own->blocks_n; s++)
        if (!compute_block(job, blocks, s))
            return false;
    if (own->apart)
        scores_apart_tell(job);
    return true;
}

const struct endpoint scores_endpoint = {
    .summary = "The score q.k against the offset, from several anchors, with readouts.",
    .describes = "scores",
    .schema = "ScoresAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = JOB_SPECS_MAX,
    .acts = ~0u,
    .takes = takes,
    .tensors = tensors,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
