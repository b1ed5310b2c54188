// SPDX-License-Identifier: Apache-2.0
/*
 * apply.c: GET and POST /v1/apply: the caller's x, q and k (or seeded test vectors) encoded. Bias
 * kinds take scores instead and are in apply_scores.c.
 */
#include "apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "widths.h"

static const struct pe_param keys[] = {
    KEYS_POSITIONS(NULL, PE_OPTIONAL),
    KEY_PREFIX,
    {"k_positions", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Positions of k, or of the keys of scores, where they differ from those of q."},
    {"axes", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL, "d td bhtd bthd htd thd btd", NULL,
     "What the axes of the tensors are: batch, head, token, dimension; needed from rank 3 on."},
    {"heads", NULL, PE_INT, 1, PE_DIM_MAX, 0, 0, "1", NULL, NULL,
     "With axes=td or btd: heads that share the last axis; as many as fit, where axes and dim are "
     "given but not the heads."},
    {"inverse", NULL, PE_BOOL, 0, 1, 0, 0, "false", NULL, NULL,
     "Undo the encoding: rotate backwards, subtract."},
    {"shape", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "GET: shape of the test tensor x, such as 2,8,64,128; one vector per position without it."},
    KEY_CONTENT(CONTENT_CHOICES, "random", 0),
    KEY_SEED,
    KEY_GAIN("1"),
    KEY_WIDTH(NULL, PE_OPTIONAL),
    KEY_PACK,
    KEY_WITH,
    {"names", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL, "own onnx", NULL,
     "Names of the tensors: this service's, or, with their shapes, those of the ONNX operator "
     "RotaryEmbedding."},
    KEY_DTYPE("Number format of the answer; that of the input by default."),
    KEY_STAGES,
};

static const char *const tensors[] = {"x", "q", "k", "scores", "table", "cos", "sin", NULL};

static const struct {
    const char *in, *out, *norm;
} roles[TARGETS_MAX] = {{"x", "y", "norm"}, {"q", "q_out", "norm_q"}, {"k", "k_out", "norm_k"}};

/* ---- Reading ------------------------------------------------------------------------------- */

/* Sizes such as 2,8,64,128. */
static bool read_shape(struct job *job, const char *text, struct tensor *tensor)
{
    struct err *err = &job->request->err;
    const char *c = text ? text : "";
    for (tensor->rank = 0; tensor->rank < TREE_RANK_MAX; tensor->rank++) {
        char *end;
        bool digit = *c >= '0' && *c <= '9';
        unsigned long size = strtoul(c, &end, 10);
        if (!digit || size == 0 || size > PE_POSITIONS_N_MAX || (*end && *end != ','))
            break;
        tensor->shape[tensor->rank] = size;
        if (*end == '\0') {
            tensor->rank++;
            tensor->count = job_product(tensor->shape, tensor->rank);
            return true;
        }
        c = end + 1;
    }
    return err_add(err, ERR_invalid_value, "shape", "for example shape=2,8,64,128",
                   "shape must be 1 to %d sizes from 1 to %zu, separated by commas; got \"%.40s\"",
                   TREE_RANK_MAX, PE_POSITIONS_N_MAX, text ? text : "");
}

/* GET: x is seeded, of the given shape or [positions, dim]. */
static bool seed_tensor(struct job *job, struct apply *own)
{
    const struct pe_value *shape = job_key(job, "shape");
    struct target *target = &own->target[own->targets_n++];
    struct pe_params *spec = &job->specs[0].spec.params;
    *target = (struct target){.role = 0, .seeded = true};
    struct tensor *x = &target->in;
    x->dtype = job_dtype(job, PE_F64);
    x->pointer = "shape";
    if (shape->set)
        return read_shape(job, shape->text, x);
    int row = pe_params_find(spec, "dim", 3);
    const struct pe_value *dim = row >= 0 ? &spec->value[row] : NULL;
    struct position_lists lists;
    struct pe_value *positions = job_key_edit(job, "positions");
    if (!job_positions_given(job))
        *positions = (struct pe_value){.given = true, .set = true, .text = "0:32"};
    if (!job_positions(job, "positions", &job->specs[0].spec, 1, &lists))
        return false;
    x->rank = 2;
    x->shape[0] = lists.list->n;
    x->shape[1] = dim && dim->given ? (size_t)dim->number : 64;
    x->count = job_product(x->shape, 2);
    return true;
}

/* POST: the members x, q and k. */
static bool read_tensors(struct job *job, struct apply *own)
{
    bool ok = true;
    for (size_t role = 0; role < TARGETS_MAX; role++) {
        struct target target = {.role = role};
        bool found;
        ok = job_tensor(job, roles[role].in, &target.in, &found) && ok;
        if (!found)
            continue;
        for (size_t s = 0; s < job->specs_n; s++)
            if (job->specs[s].tensor && strcmp(job->specs[s].tensor, roles[role].in) == 0)
                target.spec = s;
        own->target[own->targets_n++] = target;
    }
    if (ok && own->targets_n == 0)
        return err_add(&job->request->err, ERR_missing_parameter, "/x",
                       "for example \"x\": [[1,2,3,4]]",
                       "a tensor is missing: x, or q and k (scores for bias kinds)");
    return ok;
}

/* The axes key, or what rank 1 and 2 can only mean. */
static const char *axes_of(struct job *job, const struct tensor *tensor)
{
    static const char *const names[] = {"d", "td", "bhtd", "bthd", "htd", "thd", "btd"};
    const struct pe_value *axes = job_key(job, "axes");
    if (tensor->rank == 0) {
        err_add(&job->request->err, ERR_shape_mismatch, tensor->pointer, NULL,
                "a single number (rank 0) has no channels");
        return NULL;
    }
    if (axes->set)
        return names[(size_t)axes->number];
    if (tensor->rank == 1 || tensor->rank == 2)
        return names[tensor->rank - 1];
    err_add(&job->request->err, ERR_missing_parameter, job_where(job, "axes"),
            "for example bhtd: batch, head, token, dimension",
            "axes must be given from rank 3 on, since heads and tokens cannot be told apart "
            "(rank %zu)",
            tensor->rank);
    return NULL;
}

/* How many heads share the last axis: as said, or of td and btd as many as have the dim given. */
static size_t heads_of(struct job *job, const struct target *target, const char *axes)
{
    const struct pe_value *heads = job_key(job, "heads");
    const struct pe_params *params = &job->specs[target->spec].spec.params;
    int row = pe_params_find(params, "dim", 3);
    size_t width = target->in.shape[target->in.rank - 1];
    size_t dim = row >= 0 && params->value[row].given && params->value[row].set
                     ? (size_t)params->value[row].number
                     : 0;
    bool shared = job_key(job, "axes")->given && strstr(axes, "td") && !strchr(axes, 'h');
    return shared && !heads->given && dim && width && width % dim == 0 ? width / dim
                                                                       : (size_t)heads->number;
}

/* Sees the tensor by its axes and lets the last one be the default of dim. */
static bool view_target(struct job *job, struct target *target)
{
    struct err *err = &job->request->err;
    struct tensor *in = &target->in;
    const char *axes = axes_of(job, in);
    if (!axes)
        return false;
    if (strlen(axes) != in->rank)
        return err_add(err, ERR_shape_mismatch, in->pointer, NULL,
                       "axes \"%s\" names %zu axes, the tensor has %zu", axes, strlen(axes),
                       in->rank);
    size_t heads = heads_of(job, target, axes);
    if (!pe_view_init(&target->view, in->dtype, in->data, axes, in->shape, in->rank, heads))
        return err_add(err, ERR_shape_mismatch, in->pointer, NULL,
                       "the last axis (%zu) is not divided by heads=%zu", in->shape[in->rank - 1],
                       heads);
    target->axes = axes;
    struct pe_params *params = &job->specs[target->spec].spec.params;
    int row = pe_params_find(params, "dim", 3);
    struct pe_faults faults = {0};
    if (row >= 0 && !params->value[row].given)
        pe_params_set_number(params, "dim", (double)target->view.dim, &faults);
    api_faults_at(err, &faults, in->pointer);
    return faults.n == 0;
}

static bool check_dim(struct job *job, const struct target *target)
{
    const struct pe_spec *spec = &job->specs[target->spec].spec;
    if (pe_spec_dim(spec) == target->view.dim)
        return true;
    return err_add(&job->request->err, ERR_shape_mismatch, target->in.pointer, NULL,
                   "the last axis has %zu channels, the spec says dim=%zu", target->view.dim,
                   pe_spec_dim(spec));
}

/* Whether positions spell out what their default is. */
static bool is_default_range(const char *text, size_t n)
{
    char range[32];
    snprintf(range, sizeof range, "0:%zu", n);
    return text && strcmp(text, range) == 0;
}

static bool read_positions(struct job *job, const struct apply *own, struct target *target)
{
    const struct pe_spec *spec = &job->specs[target->spec].spec;
    size_t axes = pe_spec_axes(spec), tokens = target->view.tokens;
    bool own_k = target->role == 2 && job_key(job, "k_positions")->set;
    const char *name = own_k ? "k_positions" : "positions";
    bool given = own_k || job_positions_given(job);
    if (own->given && !given)
        return apply_given_positions(job, target);
    bool none = tokens == 0 && (!given || job_positions_empty(job, name));
    bool ok = none || (!given && axes == 1)
                  ? job_positions_count(job, spec, tokens, &target->positions)
                  : job_positions(job, name, spec, target->view.batches, &target->positions);
    if (!ok)
        return false;
    const struct position_lists *p = &target->positions;
    if (job_key(job, "shape")->set && is_default_range(p->text, tokens - job_positions_around(job)))
        job_key_edit(job, name)->given = false;
    if (p->list->n != tokens || (p->lists_n != 1 && p->lists_n != target->view.batches))
        return err_add(&job->request->err, ERR_shape_mismatch, p->where,
                       "a position for each token; without positions they are counted from 0",
                       "%zu positions (in %zu lists) for %zu tokens (in %zu batch rows)",
                       p->list->n, p->lists_n, tokens, target->view.batches);
    return job_center(job, p);
}

/* Keys that only test vectors, or only a posted k, can use. */
static bool keys_read(struct job *job, const struct apply *own)
{
    static const char *const seeded[] = {"shape", "content", "seed", "gain", NULL};
    static const char *const for_k[] = {"k_positions", NULL};
    bool k = false;
    for (size_t i = 0; i < own->targets_n; i++)
        k = k || own->target[i].role == 2;
    bool ok = !job->has_doc || job_unread(job, seeded, "the request brings its own tensors");
    return (k || job_unread(job, for_k, "there is no k")) && ok;
}

/* Index columns and their labels, axis by axis. */
static void label_axes(struct output *output, const struct target *target)
{
    for (size_t i = 0; target->axes[i]; i++) {
        struct answer_axis *axis = &output->axes[i];
        switch (target->axes[i]) {
        case 'b':
            *axis = (struct answer_axis){.name = "batch", .short_name = "batch"};
            break;
        case 'h':
            *axis = (struct answer_axis){.name = "head", .short_name = "head"};
            break;
        case 't':
            *axis = job_position_axis(&target->positions);
            output->position_axis = i;
            break;
        default:
            *axis = (struct answer_axis){.name = "channel", .short_name = "channel"};
        }
    }
}

/* What a target gives: its encoded tensor, and before it the seeded one. */
static void outputs_state(struct job *job, struct apply *own, size_t i)
{
    struct target *target = &own->target[i];
    const struct tensor *in = &target->in;
    struct output *output;
    size_t shape[TREE_RANK_MAX];
    memcpy(shape, in->shape, sizeof shape);
    target->dtype = job_key(job, "dtype")->given ? job_dtype(job, PE_F64) : in->dtype;
    target->width = pe_spec_width(&job->specs[target->spec].spec);
    shape[in->rank - 1] = shape[in->rank - 1] / target->view.dim * target->width;
    norms_init(&target->norms);
    if (target->seeded) {
        output = job_output(job, "x", in->dtype, in->rank, in->shape);
        label_axes(output, target);
        apply_rows_state(output, own, i, true);
        job->main = job->outputs_n;
    }
    output = job_output(job, roles[target->role].out, target->dtype, in->rank, shape);
    label_axes(output, target);
    apply_rows_state(output, own, i, false);
}

bool apply_stages(struct job *job, enum pe_dtype dtype)
{
    return job_stages(job, PE_STAGES_OF_PLANS | 1u << PE_STAGE_APPLY, dtype);
}

/* Whether all tensors have one encoding at the same positions. */
static bool targets_agree(const struct job *job, const struct apply *own)
{
    const struct target *first = &own->target[0];
    for (size_t i = 1; i < own->targets_n; i++) {
        const struct target *target = &own->target[i];
        if (target->spec != first->spec || target->view.tokens != first->view.tokens ||
            (target->role == 2 && job_key(job, "k_positions")->set))
            return false;
    }
    return true;
}

static bool further_tensors(struct job *job, struct apply *own)
{
    bool some = job_key(job, "with")->set;
    if (some && !targets_agree(job, own))
        return err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "with"),
                       "ask for one tensor at a time",
                       "the tensors have encodings or positions of their own");
    own->aspects.spec = own->target[0].spec;
    size_t prefix = own->biases ? 0 : (size_t)job_key(job, "prefix")->number;
    if (!own->biases && !job_positions_behind(job, &own->target[0].positions, prefix, &own->placed))
        return false;
    own->aspects.positions = own->biases ? &own->queries : &own->placed;
    own->aspects.keys = own->biases ? &own->keys : NULL;
    own->aspects.dtype = job_key(job, "dtype")->given ? job_dtype(job, PE_F64) : PE_F64;
    job->aspects = &own->aspects;
    bool onnx = apply_is_onnx(job);
    if ((onnx && !apply_onnx_places(job, own)) ||
        (some && !aspects_columns(job, &own->aspects, NULL)) || !aspects_with(job))
        return false;
    if (onnx)
        apply_onnx_rename(job, own);
    else
        job_key_edit(job, "names")->given = job_key_edit(job, "names")->set = false;
    return true;
}

/* Without an angle only what comes after it can be rounded, and with phases, which are added to it,
 * only what comes before. */
static bool target_stages(struct job *job, const struct apply *own)
{
    enum pe_dtype dtype = own->target[0].in.dtype;
    bool phases = false;
    for (size_t s = 0; s < job->specs_n; s++)
        phases = phases || pe_spec_has_phases(&job->specs[s].spec);
    if (own->given)
        return job_stages(job, 1u << PE_STAGE_TABLE | 1u << PE_STAGE_APPLY, dtype);
    return phases ? job_stages(job, 1u << PE_STAGE_POS | 1u << PE_STAGE_FREQ, dtype)
                  : apply_stages(job, dtype);
}

#define WORK_PER_RADIUS 8192 /* multiply-adds in whose time a polar kind makes one by MPFR */

/* Multiply-adds beside those of the vectors; heads share the cosines and sines of a position. */
static size_t work_of(const struct job *job, const struct target *target)
{
    const struct pe_spec *spec = &job->specs[target->spec].spec;
    const struct position_lists *p = &target->positions;
    return pe_spec_is_polar(spec)
               ? job_product((size_t[]){target->in.count, WORK_PER_RADIUS}, 2)
               : job_product((size_t[]){p->lists_n, p->list->n, pe_spec_mixing_work(spec)}, 3);
}

static bool check_work(struct job *job, const struct apply *own)
{
    size_t total = 0;
    for (size_t i = 0; i < own->targets_n; i++)
        if (__builtin_add_overflow(total, work_of(job, &own->target[i]), &total))
            total = SIZE_MAX;
    return total == 0 || job_work(job, total, own->target[0].in.pointer);
}

static bool check_inverse(struct job *job)
{
    bool ok = true;
    for (size_t s = 0; job_key(job, "inverse")->number != 0 && s < job->specs_n; s++) {
        const struct pe_spec *spec = &job->specs[s].spec;
        if (!pe_spec_turns(spec))
            ok = err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "inverse"),
                         "use kind=rope with pair_table=matched",
                         "%s does not turn its pairs by one angle each, and so there is no inverse",
                         job->specs[s].compact);
        if (pe_spec_is_polar(spec))
            ok = err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "inverse"),
                         "leave inverse out",
                         "kind=%s makes two channels of one, and there is no inverse",
                         spec->kind->name);
    }
    return ok;
}

static bool prepare_targets(struct job *job, struct apply *own)
{
    bool ok = job->has_doc ? read_tensors(job, own) : seed_tensor(job, own);
    ok = ok && keys_read(job, own);
    for (size_t i = 0; ok && i < own->targets_n; i++)
        ok = view_target(job, &own->target[i]);
    ok = job_table(job) && ok;
    ok = ok && apply_given_read(job, own);
    if (!job_specs_finish(job) || !ok || !check_inverse(job) || !target_stages(job, own))
        return false;
    for (size_t i = 0; i < own->targets_n; i++)
        ok = check_dim(job, &own->target[i]) && read_positions(job, own, &own->target[i]) && ok;
    for (size_t i = 0; ok && i < own->targets_n; i++)
        ok = job_positions_check(job, &own->target[i].positions);
    if (!ok || !check_work(job, own))
        return false;
    for (size_t i = 0; i < own->targets_n; i++)
        outputs_state(job, own, i);
    if (!job->has_doc)
        return content_read(job, own->target[0].view.dim, &own->content);
    return true;
}

static bool prepare(struct job *job)
{
    struct apply *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return false;
    own->biases = job->specs[0].spec.kind->acts == PE_BIASES;
    if (own->biases ? !apply_scores_prepare(job, own) : !prepare_targets(job, own))
        return false;
    if (!further_tensors(job, own))
        return false;
    job->plan_positions =
        job_positions_all(own->biases ? &own->queries : &own->target[0].positions);
    return true;
}

/* ---- Computing ----------------------------------------------------------------------------- */

/* Echo what the defaults came to. */
static void echo(struct job *job, const struct apply *own)
{
    const struct target *first = &own->target[0];
    struct pe_value *positions = job_key_edit(job, "positions");
    if (!positions->set && !job_positions_given(job)) {
        positions->set = true;
        positions->text = first->positions.text;
    }
    job_dtype(job, first->in.dtype);
    struct pe_value *heads = job_key_edit(job, "heads");
    bool shared = first->axes && strstr(first->axes, "td") && !strchr(first->axes, 'h');
    if (!shared || (!heads->given && (first->view.heads > 1 || strcmp(first->axes, "td") == 0)))
        heads->set = false;
}

static bool compute(struct job *job)
{
    struct apply *own = job->own;
    echo(job, own);
    if (own->biases)
        return apply_scores_compute(job, own);
    apply_rows_prepare(job);
    return true;
}

/* The readouts norm.before, norm.after ([min, max] over the vectors) and the worst change. */
static bool conclude(struct job *job)
{
    const struct apply *own = job->own;
    for (size_t i = 0; i < own->targets_n; i++)
        if (own->target[i].in.count > 0)
            norms_tree(job, &own->target[i].norms, roles[own->target[i].role].norm);
    return true;
}

/* There are no test scores. */
static bool takes(const struct pe_spec *spec)
{
    return spec->kind->acts != PE_BIASES;
}

const struct endpoint apply_endpoint = {
    .summary = "The caller's x, q, k (or scores) with the encoding applied; GET: test vectors.",
    .describes = "y",
    .schema = "ApplyAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = TARGETS_MAX,
    .acts = ~0u,
    .takes = takes,
    .tensors = tensors,
    .npy = "x",
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
    .conclude = conclude,
};
