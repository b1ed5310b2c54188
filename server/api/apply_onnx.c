// SPDX-License-Identifier: Apache-2.0
/*
 * apply_onnx.c: names=onnx: the tensors of /v1/apply as inputs and output of the ONNX operator
 * RotaryEmbedding: its names; cos and sin of every token in every batch row, or, with position_ids,
 * as a cache of the positions 0, 1, ..., of which these are the row numbers.
 */
#include <string.h>

#include "apply.h"
#include "widths.h"

static const struct {
    const char *own, *onnx;
} names[] = {
    {"x", "X"},
    {"y", "Y"},
    {"cos", "cos_cache"},
    {"sin", "sin_cache"},
    {"positions", "position_ids"},
};

bool apply_is_onnx(const struct job *job)
{
    return job_key_is(job, "names", "onnx");
}

static bool refuse(struct job *job, const char *name, const char *hint, const char *because)
{
    return err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, name), hint,
                   "names=onnx is for what RotaryEmbedding takes: %s", because);
}

static bool check_request(struct job *job, const struct apply *own)
{
    const struct target *x = &own->target[0];
    const struct pe_spec *spec = &job->specs[0].spec;
    bool rotates = spec->kind->acts == PE_ROTATES && !pe_spec_is_polar(spec);
    if (!rotates || own->targets_n != 1 || x->role != 0)
        return refuse(job, "names", NULL, "one tensor x, rotated");
    if (strcmp(x->axes, "bhtd") != 0 && strcmp(x->axes, "btd") != 0)
        return refuse(job, "axes", "axes=bhtd, or axes=btd with heads", "batches of tokens");
    if (width_of(job) != WIDTH_HALF || pack_of(job) != PACK_SEPARATE)
        return refuse(job, "width", "leave width and pack out", "cos and sin once per pair");
    return true;
}

/* A cache is as good as any positions if its row numbers are them. */
static bool check_cache(struct job *job, const struct position_lists *lists)
{
    bool count = lists->lists_n == 1 && lists->list->axes == 1;
    for (size_t i = 0; count && i < lists->list->n; i++)
        count = lists->list->at[0][i] == (double)i;
    return count ||
           refuse(job, "with", "leave positions out: cos and sin are then those of each token",
                  "with position_ids the positions are 0, 1, 2, ...");
}

/* One list for each batch row. */
static bool repeat_lists(struct job *job, struct apply *own)
{
    size_t batches = own->target[0].view.batches;
    struct position_lists *placed = &own->placed;
    struct pe_positions *list = job_alloc(job, batches, sizeof *list);
    for (size_t b = 0; list && b < batches; b++)
        list[b] = placed->list[placed->lists_n > 1 ? b : 0];
    placed->list = list;
    placed->lists_n = batches;
    placed->batched = true;
    return list != NULL;
}

bool apply_onnx_places(struct job *job, struct apply *own)
{
    if (!check_request(job, own))
        return false;
    if (!job_key(job, "dtype")->given)
        own->aspects.dtype = own->target[0].in.dtype;
    return aspects_asked(job, ASPECT_POSITIONS) ? check_cache(job, &own->placed)
                                                : repeat_lists(job, own);
}

/* The row numbers of one batch row. */
static void fill_ids(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    size_t tokens = job_output_row(output);
    (void)job, (void)first, (void)scratch;
    for (size_t i = 0; i < n * tokens; i++)
        ((int64_t *)out)[i] = (int64_t)(i % tokens);
}

static void state_ids(const struct apply *own, struct output *output)
{
    const struct pe_view *view = &own->target[0].view;
    const char *const axes[] = {"batch", "token"};
    output->dtype = PE_I64;
    output->fill = fill_ids;
    output->rank = 2;
    output->shape[0] = view->batches;
    output->shape[1] = view->tokens;
    output->count = view->batches * view->tokens;
    for (size_t i = 0; i < 2; i++)
        output->axes[i] = (struct answer_axis){.name = axes[i], .short_name = axes[i]};
    output->position_axis = 0;
}

void apply_onnx_rename(struct job *job, const struct apply *own)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct output *output = job_output_named(job, names[i].own);
        if (!output)
            continue;
        if (strcmp(output->name, "positions") == 0)
            state_ids(own, output);
        output->name = names[i].onnx;
    }
}
