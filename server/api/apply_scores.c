// SPDX-License-Identifier: Apache-2.0
/*
 * apply_scores.c: /v1/apply for kinds that act on scores: score matrices plus bias, which some
 * kinds make of q and k. Also reads a posted table.
 */
#include <math.h>
#include <string.h>

#include "apply.h"

static void output_state(struct job *job, const struct apply *own)
{
    static const char *const names[] = {"batch", "head", "position", "key"};
    const struct tensor *in = &own->scores;
    struct output *output = job_output(job, "scores_out", in->dtype, in->rank, in->shape);
    for (size_t i = 0; i < in->rank; i++) {
        const char *name = names[4 - in->rank + i];
        output->axes[i] = (struct answer_axis){.name = name, .short_name = name};
    }
    output->position_axis = in->rank - 2;
    output->axes[in->rank - 2] = job_position_axis(&own->queries);
    output->axes[in->rank - 1].labels = own->keys.list->at[0];
}

/* ---- Vectors ------------------------------------------------------------------------------- */

/* One of q and k: [.., tokens, dim] with the leading axes of scores. Its last axis is the default
 * of dim. */
static bool read_vectors(struct job *job, const struct tensor *scores, const char *name,
                         size_t tokens, struct tensor *vectors)
{
    struct err *err = &job->request->err;
    struct pe_params *params = &job->specs[0].spec.params;
    bool found;
    if (!job_tensor(job, name, vectors, &found))
        return false;
    if (!found)
        return err_add(err, ERR_missing_parameter, arena_printf(&job->request->arena, "/%s", name),
                       "for example \"q\": [[1,2]], \"k\": [[3,4]], \"scores\": [[11]]",
                       "kind=%s makes its bias of q and k: post them beside scores",
                       job->specs[0].spec.kind->name);
    size_t rank = scores->rank;
    if (vectors->rank != rank || vectors->shape[rank - 2] != tokens ||
        vectors->shape[rank - 1] == 0 ||
        memcmp(vectors->shape, scores->shape, (rank - 2) * sizeof rank) != 0)
        return err_add(err, ERR_shape_mismatch, vectors->pointer, NULL,
                       "%s must have the axes of scores, but for the last two: %zu and dim", name,
                       tokens);
    struct pe_faults faults = {0};
    pe_params_set_number(params, "dim", (double)vectors->shape[rank - 1], &faults);
    api_faults_at(err, &faults, vectors->pointer);
    return faults.n == 0;
}

/* Tensors that make no difference to this kind. */
static bool only_scores(struct job *job, bool content)
{
    static const char *const names[] = {"x", "q", "k"};
    bool ok = true;
    for (size_t i = 0; i < (content ? 1 : 3); i++)
        if (json_object_get(job->doc.root, names[i]) || safetensors_tensor(&job->file, names[i]))
            ok = err_add(&job->request->err, ERR_conflicting_parameters,
                         arena_printf(&job->request->arena, "/%s", names[i]), "leave it out",
                         "\"%s\" has no effect: kind=%s adds to scores", names[i],
                         job->specs[0].spec.kind->name);
    return ok;
}

static bool read_content(struct job *job, struct apply *own)
{
    const struct tensor *scores = &own->scores;
    size_t rank = scores->rank;
    return rank < 2 || (read_vectors(job, scores, "q", scores->shape[rank - 2], &own->q) &&
                        read_vectors(job, scores, "k", scores->shape[rank - 1], &own->k));
}

/* A posted tensor as f64, exactly. */
static const double *finite_f64(struct job *job, const struct tensor *tensor)
{
    double *at = job_alloc(job, tensor->count, sizeof *at);
    for (size_t i = 0; at && i < tensor->count; i++) {
        at[i] = pe_load(tensor->dtype, tensor->data, i);
        if (!isfinite(at[i])) {
            err_add(&job->request->err, ERR_invalid_value, tensor->pointer, NULL,
                    "biases are made of finite q and k; element %zu is not", i);
            return NULL;
        }
    }
    return at;
}

static bool check_work(struct job *job, const struct apply *own)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    size_t between = spec->kind->properties & PE_CONTEXT ? own->keys.list->n : 1;
    size_t factors[] = {own->scores.count, between, pe_spec_bias_work(spec)};
    return job_work(job, job_product(factors, 3), own->scores.pointer);
}

/* One matrix of scores after the other, since they have nothing in common. */
static bool add_content(struct job *job, const struct apply *own)
{
    const struct tensor *in = &own->scores;
    size_t rank = in->rank, heads = pe_spec_heads(&job->specs[0].spec);
    size_t queries = own->queries.list->n, keys = own->keys.list->n;
    size_t dim = own->q.shape[rank - 1], matrices = rank == 4 ? in->shape[0] * heads : heads;
    const double *q = finite_f64(job, &own->q), *k = q ? finite_f64(job, &own->k) : NULL;
    for (size_t i = 0; k && i < matrices; i++) {
        struct pe_vectors vectors = {q + i * queries * dim, k + i * keys * dim};
        char *matrix = (char *)in->data + i * queries * keys * pe_dtype_size(in->dtype);
        if (job_expired(job))
            return false;
        pe_add_bias(job_plan(job, 0), &job->stages, &vectors, own->queries.list, own->keys.list,
                    i % heads, 1, 1, in->dtype, matrix, matrix);
    }
    return k != NULL;
}

/* ---- Scores -------------------------------------------------------------------------------- */

bool apply_scores_prepare(struct job *job, struct apply *own)
{
    struct err *err = &job->request->err;
    struct tensor *scores = &own->scores;
    const struct pe_spec *spec = &job->specs[0].spec;
    bool found, content = spec->kind->properties & PE_CONTENT;
    if (!only_scores(job, content))
        return false;
    if (!job_tensor(job, "scores", scores, &found) || !job_table(job) ||
        (content && found && !read_content(job, own)) || !job_specs_finish(job))
        return false;
    if (!found)
        return err_add(err, ERR_missing_parameter, "/scores",
                       "POST {\"spec\":\"alibi:heads=2\",\"scores\":[[[0,0],[0,0]],[[0,0],[0,0]]]}",
                       "kind=%s acts on scores: post them as [heads, queries, keys]",
                       spec->kind->name);
    static const char because[] = "scores are [heads, queries, keys], with a batch axis or without";
    static const char *const unread[] = {"axes", "inverse", "shape",  "content",
                                         "seed", "gain",    "prefix", NULL};
    if (!job_unread(job, unread, because) || !job_positions_lists_only(job, because))
        return false;
    size_t rank = scores->rank, heads = pe_spec_heads(spec);
    if (rank < 2 || rank > 4 || (rank > 2 ? scores->shape[rank - 3] != heads : heads != 1))
        return err_add(
            err, ERR_shape_mismatch, scores->pointer, NULL,
            "scores must be [queries, keys], [heads, queries, keys] or with a batch axis "
            "before, with heads=%zu as in the spec; got rank %zu",
            heads, rank);
    size_t queries = scores->shape[rank - 2], keys = scores->shape[rank - 1];
    /* A shorter query side ends where the keys end, as in decoding with a cache. */
    if (!job_positions_side(job, "k_positions", &job->specs[0].spec, keys, 0, &own->keys) ||
        !job_positions_side(job, "positions", &job->specs[0].spec, queries,
                            (double)keys - (double)queries, &own->queries))
        return false;
    if (!apply_stages(job, scores->dtype) || !check_work(job, own))
        return false;
    own->target[0].in = *scores;
    own->target[0].positions = own->queries;
    output_state(job, own);
    return job_positions_check(job, &own->keys) && job_positions_check(job, &own->queries);
}

bool apply_scores_compute(struct job *job, struct apply *own)
{
    const struct tensor *in = &own->scores;
    size_t heads = pe_spec_heads(&job->specs[0].spec);
    if (job_dtype(job, in->dtype) != in->dtype)
        return err_add(&job->request->err, ERR_invalid_value, "dtype", NULL,
                       "scores keep their dtype, %s", pe_dtype_name(in->dtype));
    job_output_place(job, "scores_out", in->data);
    if (job_expired(job))
        return false;
    if (job->specs[0].spec.kind->properties & PE_CONTENT)
        return add_content(job, own);
    pe_add_bias(job_plan(job, 0), &job->stages, NULL, own->queries.list, own->keys.list, 0, heads,
                in->rank == 4 ? in->shape[0] : 1, in->dtype, in->data, in->data);
    return true;
}
