// SPDX-License-Identifier: Apache-2.0
/*
 * attention.c: GET and POST /v1/attention: weights and outputs of a sequence with an encoding and
 * without, and whether they depend on the order of its tokens.
 */
#include "attention.h"

#include <string.h>

#include "keys.h"
#include "pairwise.h"
#include "places.h"

#define LABEL_MAX 64 /* bytes */

static const struct pe_param keys[] = {
    {"tokens", NULL, PE_INT, 1, ATTENTION_TOKENS_MAX, 0, 0, "8", NULL, NULL,
     "How many tokens, where neither labels nor a tensor say it."},
    {"labels", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Names of the tokens, as in the,dog,chased,another,dog. Equal ones get equal vectors, drawn "
     "from the stream x:name."},
    {"positions", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Where the tokens stand, 0, 1, ... without it; of kinds with several axes a list per axis "
     "between ;."},
    KEY_CONTENT("random, uniform, ones or unit:J (1 in channel J)", "random", 0),
    KEY_SEED,
    KEY_GAIN("0.25"),
    KEY_SCALE("sqrt_dim"),
    {"causal", NULL, PE_BOOL, 0, 1, 0, 0, "false", NULL, NULL,
     "Tokens do not see those behind them."},
    {"compare", NULL, PE_TEXT, 0, 0, 0, PE_SCALAR, "none", NULL, NULL,
     "The encoding that weights_without are of, in its compact form."},
    {"permutation", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "For the check of the order: which token comes to each place, as in 1,2,0. Without it one in "
     "which no token keeps its place, drawn from the seed."},
    KEY_STAGES,
};

static const char *const tensors[] = {"x", "q", "k", "v", "scores", "table", NULL};

/* ---- Labels -------------------------------------------------------------------------------- */

static bool label_fits(const char *label, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)label[i] < ' ' || label[i] == '"' || label[i] == ',')
            return false;
    return len > 0 && len <= LABEL_MAX;
}

static bool label_add(struct job *job, struct attention *own, const char *label, size_t len)
{
    const char *where = job_where(job, "labels");
    if (own->tokens == ATTENTION_TOKENS_MAX)
        return err_add(&job->request->err, ERR_limit_exceeded, where, NULL,
                       "there may be %d tokens", ATTENTION_TOKENS_MAX);
    if (!label_fits(label, len))
        return err_add(&job->request->err, ERR_invalid_value, where,
                       "for example labels=the,dog,chased,another,dog",
                       "a label has 1 to %d bytes and neither quotes nor commas; number %zu does "
                       "not",
                       LABEL_MAX, own->tokens);
    const char *copy = arena_strndup(&job->request->arena, label, len);
    own->labels[own->tokens++] = copy;
    return copy != NULL;
}

static bool labels_from_text(struct job *job, struct attention *own, const char *text)
{
    for (const char *next = text;; next++) {
        size_t len = strcspn(next, ",");
        if (!label_add(job, own, next, len))
            return false;
        next += len;
        if (*next == '\0')
            return true;
    }
}

/* A list, whose canonical text is one with commas. */
static bool labels_from_json(struct job *job, struct attention *own, const json_t *list)
{
    struct arena *arena = &job->request->arena;
    const char *text = "";
    if (!json_is_array(list) || json_array_size(list) == 0)
        return err_add(&job->request->err, ERR_invalid_value, "/labels", NULL,
                       "labels must be text with commas or a list of strings");
    for (size_t i = 0; text && i < json_array_size(list); i++) {
        const char *label = json_string_value(json_array_get(list, i));
        if (!label)
            return err_add(&job->request->err, ERR_invalid_value,
                           arena_printf(arena, "/labels/%zu", i), NULL, "labels must be strings");
        if (!label_add(job, own, label, strlen(label)))
            return false;
        text = arena_printf(arena, "%s%s%s", text, i ? "," : "", label);
    }
    job_key_edit(job, "labels")->text = text;
    return text != NULL;
}

static bool read_labels(struct job *job, struct attention *own)
{
    const struct pe_value *value = job_key(job, "labels");
    if (!value->set)
        return true;
    own->labels = job_alloc(job, ATTENTION_TOKENS_MAX, sizeof *own->labels);
    if (!own->labels)
        return false;
    return value->text ? labels_from_text(job, own, value->text)
                       : labels_from_json(job, own, json_object_get(job->doc.root, "labels"));
}

/* ---- Tensors ------------------------------------------------------------------------------- */

static bool is_matrix(struct job *job, const struct tensor *tensor, size_t rows)
{
    if (tensor->rank == 2 && tensor->count > 0 && (rows == 0 || tensor->shape[0] == rows))
        return true;
    return err_add(&job->request->err, ERR_shape_mismatch, tensor->pointer, NULL,
                   rows ? "%s must be [tokens, dim] with the %zu tokens of the others"
                        : "%s must be [tokens, dim], not empty",
                   tensor->pointer + 1, rows);
}

static bool same_shape(struct job *job, const struct tensor *q, const struct tensor *k)
{
    return q->shape[1] == k->shape[1] ||
           err_add(&job->request->err, ERR_shape_mismatch, k->pointer, NULL,
                   "q and k must have one dim; got %zu and %zu", q->shape[1], k->shape[1]);
}

/* What was posted: x; or q, k and v; or scores. */
static bool settle_tensors(struct job *job, struct attention *own, const bool found[5])
{
    struct err *err = &job->request->err;
    bool some = found[1] || found[2] || found[3], all = found[1] && found[2] && found[3];
    size_t forms = (size_t)found[0] + some + found[4];
    own->seeded = forms == 0;
    own->same = own->seeded || found[0];
    own->has_scores = found[4];
    if (forms > 1)
        return err_add(err, ERR_conflicting_parameters, found[4] ? "/scores" : "/x", NULL,
                       "post x, or q, k and v, or scores, but not several of them");
    if (some && !all)
        return err_add(err, ERR_missing_parameter,
                       !found[1]   ? "/q"
                       : !found[2] ? "/k"
                                   : "/v",
                       NULL, "q, k and v are posted together or not at all");
    if (found[0] && !is_matrix(job, &own->x, 0))
        return false;
    if (some)
        return is_matrix(job, &own->q, 0) && is_matrix(job, &own->k, own->q.shape[0]) &&
               is_matrix(job, &own->v, own->q.shape[0]) && same_shape(job, &own->q, &own->k);
    const size_t *square = own->scores.shape;
    return !found[4] || (own->scores.rank == 2 && square[0] == square[1] && square[0] > 0) ||
           err_add(err, ERR_shape_mismatch, "/scores", NULL,
                   "scores must be square, [tokens, tokens], and not empty");
}

static bool read_tensors(struct job *job, struct attention *own)
{
    struct tensor *tensor[] = {&own->x, &own->q, &own->k, &own->v, &own->scores};
    bool found[5] = {false};
    for (size_t i = 0; i < 5; i++)
        if (!job_tensor(job, tensors[i], tensor[i], &found[i]))
            return false;
    return settle_tensors(job, own, found);
}

/* ---- How many ------------------------------------------------------------------------------ */

/* Tokens, dim and width, from whatever says them. */
static bool settle_sizes(struct job *job, struct attention *own)
{
    static const char *const tokens[] = {"tokens", NULL};
    static const char *const seeds[] = {"content", "seed", "gain", NULL};
    static const char *const order[] = {"scale", "permutation", NULL};
    const struct tensor *given = own->has_scores ? &own->scores : own->same ? &own->x : &own->q;
    size_t named = own->tokens;
    bool ok = true;
    if (!own->seeded) {
        own->tokens = given->shape[0];
        ok = job_unread(job, seeds, "the request brings its own numbers");
        if (own->has_scores)
            ok = job_unread(job, order, "scores are scaled already, and have no outputs") && ok;
    }
    if (own->seeded ? named > 0 : true)
        ok = job_unread(job, tokens,
                        own->seeded ? "there are as many as labels" : "the tensor has them") &&
             ok;
    if (own->seeded && named == 0)
        own->tokens = (size_t)job_key(job, "tokens")->number;
    if (!own->seeded && named > 0 && named != own->tokens)
        return err_add(&job->request->err, ERR_shape_mismatch, job_where(job, "labels"), NULL,
                       "%zu labels for %zu tokens", named, own->tokens);
    if (own->tokens > ATTENTION_TOKENS_MAX)
        return err_add(&job->request->err, ERR_limit_exceeded, given->pointer, NULL,
                       "there may be %d tokens, got %zu", ATTENTION_TOKENS_MAX, own->tokens);
    return ok;
}

/* The width of vectors as the default of a spec's dim; then it must be it. */
static bool fit_dim(struct job *job, struct pe_spec *spec, size_t dim, const char *where)
{
    struct pe_faults faults = {0};
    int row = pe_params_find(&spec->params, "dim", 3);
    if (row >= 0 && !spec->params.value[row].given)
        pe_params_set_number(&spec->params, "dim", (double)dim, &faults);
    api_faults_at(&job->request->err, &faults, where);
    return faults.n == 0;
}

static bool dim_agrees(struct job *job, const struct pe_spec *spec, size_t dim, const char *where)
{
    size_t own = pe_spec_dim(spec);
    return own == 0 || own == dim ||
           err_add(&job->request->err, ERR_shape_mismatch, where, NULL,
                   "vectors have dim %zu, and kind=%s dim %zu", dim, spec->kind->name, own);
}

#define DIM_DEFAULT 64

static bool settle_spec(struct job *job, struct attention *own)
{
    struct pe_spec *spec = &job->specs[0].spec;
    size_t given = own->seeded || own->has_scores ? 0
                   : own->same                    ? own->x.shape[1]
                                                  : own->q.shape[1];
    const char *where = own->same ? "/x" : "/q";
    if (!job_table(job) || (given && !fit_dim(job, spec, given, where)) || !job_specs_finish(job))
        return false;
    size_t dim = pe_spec_dim(spec);
    own->dim = given ? given : dim ? dim : DIM_DEFAULT;
    own->width = own->same || own->has_scores ? own->dim : own->v.shape[1];
    return dim_agrees(job, spec, own->dim, where) && pairwise_shows(job, spec, "kind");
}

/* ---- What it is compared with -------------------------------------------------------------- */

static bool read_compare(struct job *job, const struct attention *own)
{
    struct err *err = &job->request->err;
    struct pe_value *value = job_key_edit(job, "compare");
    struct job_spec *slot = &job->specs[WITHOUT_SPEC];
    const char *where = job_where(job, "compare");
    struct pe_faults faults = {0};
    *slot = (struct job_spec){.prefix = ""};
    if (!value->text)
        return err_add(err, ERR_invalid_value, where, "for example \"sinusoidal\"",
                       "compare must be an encoding in its compact form");
    bool parsed = pe_spec_parse(value->text, &slot->spec, &faults);
    api_faults_at(err, &faults, where);
    if (!parsed)
        return false;
    job->beside_n = 1;
    if (!fit_dim(job, &slot->spec, own->dim, where))
        return false;
    bool finished = pe_spec_finish(&slot->spec, &faults);
    api_faults_at(err, &faults, where);
    if (!finished || !job_spec_name(job, slot) || !pairwise_shows(job, &slot->spec, where))
        return false;
    bool none = slot->spec.kind->acts == PE_ACTS_NOT;
    value->text = none ? "none" : slot->compact;
    size_t axes = pe_spec_axes(&job->specs[0].spec);
    if (!none && pe_spec_axes(&slot->spec) != axes)
        return err_add(err, ERR_invalid_value, where, NULL,
                       "compare=%s has other position axes, %zu, than kind=%s, %zu", slot->compact,
                       pe_spec_axes(&slot->spec), job->specs[0].spec.kind->name, axes);
    return dim_agrees(job, &slot->spec, own->dim, where);
}

/* ---- The order ----------------------------------------------------------------------------- */

/* Sattolo's shuffle: one cycle through all tokens, so that none keeps its place. */
static void shuffle(uint64_t seed, size_t n, size_t *permutation)
{
    for (size_t i = 0; i < n; i++)
        permutation[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(pe_draw(seed, "permutation", n - i + 1) % (i - 1));
        size_t other = permutation[i - 1];
        permutation[i - 1] = permutation[j];
        permutation[j] = other;
    }
}

static bool read_permutation(struct job *job, struct attention *own)
{
    struct numbers numbers;
    size_t n = own->tokens;
    const char *where = places_where(job, "permutation");
    bool *taken = job_alloc(job, n, sizeof *taken);
    own->permutation = job_alloc(job, n, sizeof *own->permutation);
    if (!taken || !own->permutation)
        return false;
    if (!job_key(job, "permutation")->set) {
        shuffle((uint64_t)job_key(job, "seed")->number, n, own->permutation);
        return true;
    }
    if (!numbers_read(job, "permutation", &numbers, NULL) ||
        !numbers_whole(job, "permutation", &numbers, 0, (double)n - 1))
        return false;
    memset(taken, 0, n * sizeof *taken);
    size_t there = 0;
    for (size_t i = 0; i < numbers.count && i < n; i++) {
        own->permutation[i] = (size_t)numbers.at[i];
        there += !taken[own->permutation[i]];
        taken[own->permutation[i]] = true;
    }
    if (numbers.count != n || there != n)
        return err_add(&job->request->err, ERR_invalid_value, where, "for example 1,2,0",
                       "permutation must name every token from 0 to %zu once", n - 1);
    return numbers_echo(job, "permutation", &numbers);
}

/* ---- All of it ----------------------------------------------------------------------------- */

static bool read_positions(struct job *job, struct attention *own)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    if (!job_key(job, "positions")->set) {
        if (!job_positions_count(job, spec, own->tokens, &own->positions))
            return false;
    } else if (!job_positions(job, "positions", spec, 1, &own->positions)) {
        return false;
    }
    return own->positions.list->n == own->tokens ||
           err_add(&job->request->err, ERR_shape_mismatch, own->positions.where, NULL,
                   "%zu positions for %zu tokens", own->positions.list->n, own->tokens);
}

/* Scores of the caller's may be biased, by what needs no vectors. */
static bool scores_fit(struct job *job, const struct attention *own)
{
    for (size_t s = 0; own->has_scores && s < job->specs_n + job->beside_n; s++) {
        const struct pe_kind *kind = job->specs[s].spec.kind;
        bool fits = !kind || kind->acts == PE_ACTS_NOT ||
                    (kind->acts == PE_BIASES && !(kind->properties & PE_CONTENT));
        if (!fits)
            return err_add(&job->request->err, ERR_invalid_value, "/scores",
                           "post x, or q, k and v",
                           "kind=%s acts on vectors, and scores are without them", kind->name);
    }
    return true;
}

static bool read_content(struct job *job, struct attention *own)
{
    if (!own->seeded)
        return true;
    return content_read(job, own->dim, &own->content) &&
           (own->content.form != CONTENT_SAME ||
            err_add(&job->request->err, ERR_invalid_value, job_where(job, "content"),
                    "ones or unit:J make all tokens equal",
                    "content=same has no meaning here: q, k and v are x anyway"));
}

/* Two encodings, each in two orders; for each cell the score, an exponential and its share of an
 * output. */
static bool check_work(struct job *job, const struct attention *own)
{
    size_t each = 600 + 2 * own->width;
    for (size_t s = 0; s <= WITHOUT_SPEC; s++)
        each += 4 * own->dim + pe_spec_bias_work(&job->specs[s].spec);
    return job_work(job, job_product((size_t[]){own->tokens, own->tokens, 2 * each}, 3), "tokens");
}

static void outputs_state(struct job *job, const struct attention *own)
{
    static const char *const names[] = {"weights", "weights_without"};
    for (size_t i = 0; i < 2; i++) {
        struct output *output =
            job_output(job, names[i], PE_F64, 2, (size_t[]){own->tokens, own->tokens});
        output->axes[0] =
            (struct answer_axis){.name = "query", .short_name = "query", .names = own->labels};
        output->axes[1] =
            (struct answer_axis){.name = "key", .short_name = "key", .names = own->labels};
    }
    if (own->has_scores)
        return;
    struct output *output =
        job_output(job, "output", PE_F64, 2, (size_t[]){own->tokens, own->width});
    output->axes[0] =
        (struct answer_axis){.name = "query", .short_name = "query", .names = own->labels};
    output->axes[1] = (struct answer_axis){.name = "channel", .short_name = "channel"};
}

static enum pe_dtype dtype_of(const struct attention *own)
{
    return own->seeded       ? PE_F64
           : own->has_scores ? own->scores.dtype
           : own->same       ? own->x.dtype
                             : own->q.dtype;
}

static bool prepare(struct job *job)
{
    struct attention *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own || !read_labels(job, own) || !read_tensors(job, own))
        return false;
    bool ok = settle_sizes(job, own);
    if (!settle_spec(job, own))
        return false;
    ok = (own->has_scores || scores_scale(job, &own->scale)) && ok;
    ok = read_compare(job, own) && scores_fit(job, own) && ok;
    ok = read_content(job, own) && read_permutation(job, own) && ok;
    ok = read_positions(job, own) && ok;
    bool biases = job->specs[0].spec.kind->acts == PE_BIASES;
    unsigned of_vectors = biases ? 0 : 1u << PE_STAGE_APPLY | 1u << PE_STAGE_DOT;
    if (!ok || !job_stages(job, PE_STAGES_OF_PLANS | of_vectors, dtype_of(own)))
        return false;
    own->causal = job_key(job, "causal")->number != 0;
    job_derive(job, "tokens", (double)own->tokens);
    outputs_state(job, own);
    return check_work(job, own) && job_positions_check(job, &own->positions) &&
           pairwise_plan_for(job, own->positions.list, own->positions.list);
}

static bool compute(struct job *job)
{
    if (!attention_run(job, job->own))
        return false;
    attention_tell(job, job->own);
    return true;
}

const struct endpoint attention_endpoint = {
    .summary = "Attention weights with an encoding and without, and what the order changes.",
    .describes = "weights",
    .schema = "AttentionAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = ~0u,
    .takes = pairwise_attends,
    .tensors = tensors,
    .npy = "x",
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
