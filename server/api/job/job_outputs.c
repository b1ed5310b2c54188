// SPDX-License-Identifier: Apache-2.0
/*
 * job_outputs.c: the tensors of an answer. `prepare` states all of them, so that limits, select=
 * and what a format cannot hold are judged before anything is computed; `compute` then asks for
 * the memory of each.
 */
#include <assert.h>
#include <string.h>

#include "job.h"
#include "plots.h"

struct output *job_output(struct job *job, const char *name, enum pe_dtype dtype, size_t rank,
                          const size_t *shape)
{
    assert(job->outputs_n < JOB_OUTPUTS_MAX && rank <= TREE_RANK_MAX);
    struct output *output = &job->outputs[job->outputs_n++];
    *output = (struct output){.name = name, .dtype = dtype, .rank = rank, .row_axes = 1};
    memcpy(output->shape, shape, rank * sizeof *shape);
    output->count = job_product(shape, rank);
    for (size_t axis = 0; axis < rank; axis++)
        output->axes[axis] = (struct answer_axis){.name = "index", .short_name = "index"};
    return output;
}

struct output *job_output_named(struct job *job, const char *name)
{
    for (size_t i = 0; i < job->outputs_n; i++)
        if (strcmp(job->outputs[i].name, name) == 0)
            return &job->outputs[i];
    return NULL;
}

/* select= in place of the endpoint's own choice of a main tensor. */
static bool read_select(struct job *job)
{
    struct pe_value *select = &job->common.value[COMMON_SELECT];
    if (!select->set || job->outputs_n == 0)
        return true;
    struct output *chosen = job_output_named(job, select->text);
    if (chosen) {
        size_t main = (size_t)(chosen - job->outputs);
        select->set = main != job->main; /* spelt out, the default is no other request */
        job->main = main;
        return true;
    }
    const char *names[JOB_OUTPUTS_MAX], *allowed = "";
    for (size_t i = 0; allowed && i < job->outputs_n; i++) {
        names[i] = job->outputs[i].name;
        allowed = arena_printf(&job->request->arena, "%s%s%s", allowed, i > 0 ? " " : "", names[i]);
    }
    const char *near = pe_nearest_name(select->text, names, job->outputs_n);
    struct err *err = &job->request->err;
    err_add(err, ERR_invalid_value, job_where(job, "select"),
            near ? arena_printf(&job->request->arena, "did you mean \"%s\"?", near) : NULL,
            "this answer has no tensor \"%.40s\", but %s", select->text, allowed ? allowed : "");
    if (err->n <= ERR_ITEMS_MAX)
        err->item[err->n - 1].allowed = allowed;
    return false;
}

/* The limit on the elements of all tensors together. */
static bool check_elements(struct job *job)
{
    struct err *err = &job->request->err;
    const struct app_options *options = &job->app->options;
    size_t limit =
        format_is_binary(job->format) ? options->elements_max : options->text_elements_max;
    if (job->picture && limit > PLOT_ELEMENTS_MAX)
        limit = PLOT_ELEMENTS_MAX;
    job->elements = 0;
    for (size_t i = 0; i < job->outputs_n; i++)
        if (__builtin_add_overflow(job->elements, job->outputs[i].count, &job->elements))
            job->elements = SIZE_MAX;
    if (job->elements <= limit)
        return true;
    err_add(err, ERR_limit_exceeded, NULL,
            !job->picture && limit < options->elements_max
                ? "ask for fewer positions or channels, or for .npy, "
                  ".safetensors or .bin"
                : "ask for fewer positions or channels",
            "the answer would have %zu elements, the limit is %zu", job->elements, limit);
    err->cost = (double)job->elements;
    err->limit = (double)limit;
    return false;
}

/* numpy has no bf16: its bits are given to those who ask for bits. */
static bool check_format(struct job *job)
{
    if (job->format != FORMAT_NPY || job->outputs_n == 0 ||
        job->outputs[job->main].dtype != PE_BF16 || job_notation(job) == PE_BITS)
        return true;
    return err_add(&job->request->err, ERR_not_acceptable, NULL,
                   "ask for .safetensors; or, with numbers=bits, for the bits as <u2",
                   "npy has no bf16, but safetensors has");
}

/* In a file that puts tensors one behind the other those of large elements come first, so that
 * each stands at a multiple of its element's size, where readers can use it. */
static void align_outputs(struct job *job)
{
    const char *main = job->outputs_n > 0 ? job->outputs[job->main].name : "";
    for (size_t i = 1; i < job->outputs_n; i++)
        for (size_t k = i; k > 0; k--) {
            struct output *pair = &job->outputs[k - 1], second = pair[1];
            if (pe_dtype_size(pair[0].dtype) >= pe_dtype_size(second.dtype))
                break;
            pair[1] = pair[0];
            pair[0] = second;
        }
    for (size_t i = 0; i < job->outputs_n; i++)
        if (strcmp(job->outputs[i].name, main) == 0)
            job->main = i;
}

bool job_outputs_finish(struct job *job)
{
    bool ok = read_select(job);
    ok = check_elements(job) && ok;
    ok = ok && check_format(job);
    if (ok && job->format == FORMAT_SAFETENSORS)
        align_outputs(job);
    return ok;
}

enum pe_notation job_notation(const struct job *job)
{
    /* The choices of the row stand in the order of enum pe_notation. */
    return (enum pe_notation)job->common.value[COMMON_NUMBERS].number;
}

void job_outputs_tree(struct job *job)
{
    struct answer *answer = &job->answer;
    struct tree *parent =
        job->outputs_hidden ? tree_new(&job->request->arena, TREE_OBJECT) : answer->tensors;
    answer->outputs = parent;
    for (size_t i = 0; i < job->outputs_n; i++) {
        struct output *output = &job->outputs[i];
        output->node =
            tree_tensor(parent, output->name, output->dtype, output->rank, output->shape, NULL);
        if (output->node)
            output->node->as.tensor.notation = job_notation(job);
    }
    if (job->outputs_n == 0)
        return;
    const struct output *main = &job->outputs[job->main];
    answer->main = main->node;
    answer->position_axis = main->position_axis;
    memcpy(answer->axes, main->axes, sizeof answer->axes);
}

const char *job_tensor_field(const struct job *job)
{
    const struct output *main = &job->outputs[job->main];
    struct arena *arena = &job->request->arena;
    const char *shape = "";
    for (size_t axis = 0; shape && axis < main->rank; axis++)
        shape = arena_printf(arena, "%s%s%zu", shape, axis ? "," : "", main->shape[axis]);
    return shape ? arena_printf(arena, "dtype=%s; shape=\"%s\"", pe_dtype_name(main->dtype), shape)
                 : NULL;
}

void job_output_place(struct job *job, const char *name, void *data)
{
    struct output *output = job_output_named(job, name);
    assert(output);
    output->fill = NULL;
    if (output->node)
        output->node->as.tensor.data = data;
}

void *job_output_data(struct job *job, const char *name)
{
    const struct output *output = job_output_named(job, name);
    assert(output);
    void *data = job_alloc(job, output->count, pe_dtype_size(output->dtype));
    if (!data || !output->node)
        return NULL;
    output->node->as.tensor.data = data;
    return data;
}

size_t job_output_row(const struct output *output)
{
    size_t axes = output->rank < output->row_axes ? output->rank : output->row_axes;
    return job_product(output->shape + output->rank - axes, axes);
}

#define SLAB_BYTES ((size_t)256 << 10) /* made between two looks at the clock */

static bool output_fill_all(struct job *job, const struct output *output)
{
    size_t row = job_output_row(output);
    size_t rows = row > 0 ? output->count / row : 0;
    size_t row_bytes = row * pe_dtype_size(output->dtype);
    size_t slab = row_bytes < SLAB_BYTES ? SLAB_BYTES / (row_bytes + 1) : 1;
    slab = slab < rows ? slab : rows;
    char *out = job_output_data(job, output->name);
    char *scratch = job_scratch(job, slab * output->row_scratch + output->scratch);
    for (size_t first = 0; out && scratch && first < rows; first += slab) {
        if (job_expired(job))
            return false;
        output->fill(job, output, first, rows - first < slab ? rows - first : slab,
                     out + first * row_bytes, scratch);
    }
    return out && scratch;
}

bool job_outputs_fill(struct job *job)
{
    bool ok = true;
    for (size_t i = 0; ok && i < job->outputs_n; i++)
        ok = !job->outputs[i].fill || output_fill_all(job, &job->outputs[i]);
    return ok;
}
