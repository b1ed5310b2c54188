// SPDX-License-Identifier: Apache-2.0
/*
 * apply_rows.c: rows of encoded tensors. A row is one vector, or with heads inside of tokens
 * (bthd, thd, heads in btd) those of one token; either way the next row is that of the next token.
 */
#include "apply.h"

#include <math.h>
#include <string.h>

#include "columns.h"

#define LINE 64 /* alignment of scratch and of what is put there */

/* ---- Norms --------------------------------------------------------------------------------- */

static void range_include(struct norm_range *range, double norm)
{
    range->any = range->any || !isnan(norm);
    range->least = norm < range->least ? norm : range->least;
    range->most = norm > range->most ? norm : range->most;
}

static void range_join(struct norm_range *range, const struct norm_range *other)
{
    range->any = range->any || other->any;
    range->least = other->least < range->least ? other->least : range->least;
    range->most = other->most > range->most ? other->most : range->most;
}

void norms_init(struct norms *norms)
{
    const struct norm_range none = {false, INFINITY, -INFINITY};
    *norms = (struct norms){.before = none, .after = none};
    pthread_mutex_init(&norms->lock, NULL);
}

/* Vectors of two tensors, `dim` wide; one that is not a number does not count. */
static void norms_include(struct norms *norms, const struct pe_view *in, const struct pe_view *out,
                          size_t vectors)
{
    struct norms here;
    size_t in_step = in->dim * pe_dtype_size(in->dtype);
    size_t out_step = out->dim * pe_dtype_size(out->dtype);
    norms_init(&here);
    for (size_t v = 0; v < vectors; v++) {
        double before = pe_norm(in->dtype, (const char *)in->data + v * in_step, in->dim);
        double after = pe_norm(out->dtype, (const char *)out->data + v * out_step, out->dim);
        double change = before > 0 ? fabs(after - before) / before : 0;
        range_include(&here.before, before);
        range_include(&here.after, after);
        here.worst = change > here.worst ? change : here.worst;
    }
    pthread_mutex_lock(&norms->lock);
    range_join(&norms->before, &here.before);
    range_join(&norms->after, &here.after);
    norms->worst = here.worst > norms->worst ? here.worst : norms->worst;
    pthread_mutex_unlock(&norms->lock);
}

static void range_tree(struct job *job, struct tree *parent, const char *name,
                       const struct norm_range *range)
{
    double *ends = job_alloc(job, 2, sizeof *ends);
    if (!ends)
        return;
    ends[0] = range->any ? range->least : NAN;
    ends[1] = range->any ? range->most : NAN;
    tree_reals(parent, name, ends, 2);
}

void norms_tree(struct job *job, const struct norms *norms, const char *name)
{
    struct tree *norm = tree_object(job->answer.readouts, name);
    range_tree(job, norm, "before", &norms->before);
    range_tree(job, norm, "after", &norms->after);
    tree_number(norm, "max_relative_change", norms->worst);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static bool heads_inside(const struct target *target)
{
    const char *h = strchr(target->axes, 'h'), *t = strchr(target->axes, 't');
    return h && t && h > t;
}

/* Vectors in one row. */
static size_t row_vectors(const struct target *target)
{
    bool outside = strchr(target->axes, 'h') && !heads_inside(target);
    return outside ? 1 : target->view.heads;
}

/* The positions of the tokens of rows [first, first + n), copied to `at`. */
static struct pe_positions row_positions(const struct target *target, size_t first, size_t n,
                                         double *at)
{
    const struct position_lists *lists = &target->positions;
    size_t tokens = target->view.tokens;
    size_t batch_rows = tokens * target->view.heads / row_vectors(target);
    struct pe_positions positions = {.axes = lists->list->axes, .n = n};
    for (size_t axis = 0; axis < positions.axes; axis++, at += n) {
        positions.at[axis] = at;
        for (size_t row = first; row < first + n; row++) {
            size_t list = lists->lists_n > 1 ? row / batch_rows : 0;
            at[row - first] = lists->list[list].at[axis][row % tokens];
        }
    }
    return positions;
}

/* n rows of vectors `dim` wide, as tokens with heads inside. */
static struct pe_view row_view(const struct target *target, enum pe_dtype dtype, size_t dim,
                               void *data, size_t n)
{
    size_t heads = row_vectors(target);
    return (struct pe_view){.dtype = dtype,
                            .data = data,
                            .batches = 1,
                            .heads = heads,
                            .tokens = n,
                            .dim = dim,
                            .batch_stride = n * heads * dim,
                            .head_stride = dim,
                            .token_stride = heads * dim};
}

static size_t round_up(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static void fill_seeded(const struct job *job, const struct output *output, size_t first, size_t n,
                        void *out, void *scratch)
{
    const struct apply *own = job->own;
    size_t row = job_output_row(output);
    (void)scratch;
    content_fill(&own->content, "x", output->dtype, first * row, n * row, out);
}

/* Scratch: that of pe_apply, the positions, seeded vectors. */
static void fill_encoded(const struct job *job, const struct output *output, size_t first, size_t n,
                         void *out, void *scratch)
{
    struct apply *own = job->own;
    struct target *target = &own->target[output->what];
    const struct tensor *x = &target->in;
    size_t row = row_vectors(target) * target->view.dim;
    size_t work_bytes = job_apply_scratch(job, target->spec);
    char *at = (char *)scratch + work_bytes;
    char *data;
    if (target->seeded) {
        data = at + round_up(n * target->positions.list->axes * sizeof(double));
        content_fill(&own->content, "x", x->dtype, first * row, n * row, data);
    } else {
        data = (char *)x->data + first * row * pe_dtype_size(x->dtype);
    }
    struct pe_positions positions = row_positions(target, first, n, (double *)(void *)at);
    struct pe_view in = row_view(target, x->dtype, target->view.dim, data, n);
    struct pe_view encoded = row_view(target, output->dtype, target->width, out, n);
    pe_apply(&(struct pe_apply){.plan = job_plan(job, target->spec),
                                .positions = &positions,
                                .positions_n = 1,
                                .inverse = job_key(job, "inverse")->number != 0,
                                .is_key = target->role == 2,
                                .in = &in,
                                .out = &encoded,
                                .work = scratch,
                                .stages = &job->stages});
    if (job->format == FORMAT_JSON || job->format == FORMAT_TXT)
        norms_include(&target->norms, &in, &encoded, n * in.heads);
}

void apply_rows_state(struct output *output, struct apply *own, size_t i, bool seeded)
{
    const struct target *target = &own->target[i];
    size_t row_axes = heads_inside(target) ? 2 : 1;
    output->what = i;
    output->row_axes = row_axes;
    output->fill = seeded ? fill_seeded : fill_encoded;
    if (seeded)
        return;
    output->row_scratch = target->positions.list->axes * sizeof(double);
    if (target->seeded)
        output->row_scratch +=
            row_vectors(target) * target->view.dim * pe_dtype_size(target->in.dtype);
}

/* ---- In place ------------------------------------------------------------------------------ */

#define PART_BYTES ((size_t)1 << 20)

/* Of tokens, or of batches where there are more of these. */
static size_t extent(const struct pe_view *view)
{
    return view->tokens > view->batches ? view->tokens : view->batches;
}

static void encode_view(const struct job *job, const struct target *target,
                        const struct pe_view *view, const struct pe_positions *positions,
                        size_t positions_n, void *work)
{
    pe_apply(&(struct pe_apply){.plan = job_plan(job, target->spec),
                                .positions = positions,
                                .positions_n = positions_n,
                                .inverse = job_key(job, "inverse")->number != 0,
                                .is_key = target->role == 2,
                                .in = view,
                                .out = view,
                                .work = work,
                                .stages = &job->stages});
}

static void encode_batches(const struct job *job, const struct target *target, size_t first,
                           size_t n, void *work)
{
    const struct position_lists *lists = &target->positions;
    struct pe_view view = target->view;
    bool one = lists->lists_n == 1;
    view.data = (char *)view.data + first * view.batch_stride * pe_dtype_size(view.dtype);
    view.batches = n;
    encode_view(job, target, &view, lists->list + (one ? 0 : first), one ? 1 : n, work);
}

static void encode_tokens(const struct job *job, const struct target *target, size_t first,
                          size_t n, void *work)
{
    const struct position_lists *lists = &target->positions;
    struct pe_view view = target->view;
    char *data = (char *)view.data + first * view.token_stride * pe_dtype_size(view.dtype);
    view.tokens = n;
    view.batches = lists->lists_n == 1 ? view.batches : 1;
    for (size_t i = 0; i < lists->lists_n; i++) {
        struct pe_positions positions = tokens_slab(&lists->list[i], first, n);
        view.data = data + i * view.batch_stride * pe_dtype_size(view.dtype);
        encode_view(job, target, &view, &positions, 1, work);
    }
}

/* Part i of all targets together. */
static void encode_part(const struct job *job, size_t i, void *scratch)
{
    const struct apply *own = job->own;
    const struct target *target = own->target;
    for (; i >= target->parts; target++)
        i -= target->parts;
    const struct pe_view *view = &target->view;
    size_t all = extent(view), first = all * i / target->parts;
    size_t n = all * (i + 1) / target->parts - first;
    (view->tokens == all ? encode_tokens : encode_batches)(job, target, first, n, scratch);
}

/* Whether the tensors that the caller has sent can become the answer: they have its dtypes and
 * widths, and no readout compares them with it. */
static bool is_in_place(const struct job *job, const struct apply *own)
{
    bool ok = format_is_binary(job->format);
    for (size_t i = 0; i < own->targets_n; i++) {
        const struct target *target = &own->target[i];
        ok = ok && !target->seeded && target->dtype == target->in.dtype &&
             target->width == target->view.dim;
    }
    return ok;
}

static void place_target(struct job *job, struct output *output, struct target *target)
{
    size_t bytes = target->in.count * pe_dtype_size(target->in.dtype);
    size_t parts = (bytes + PART_BYTES - 1) / PART_BYTES, scratch = output->scratch;
    target->parts = parts < extent(&target->view) ? parts : extent(&target->view);
    job->parts_n += target->parts;
    job->part_scratch = scratch > job->part_scratch ? scratch : job->part_scratch;
    job_output_place(job, output->name, target->in.data);
}

void apply_rows_prepare(struct job *job)
{
    struct apply *own = job->own;
    bool in_place = is_in_place(job, own);
    job->part = encode_part;
    for (size_t i = 0; i < job->outputs_n; i++) {
        struct output *output = &job->outputs[i];
        if (output->fill != fill_encoded)
            continue;
        struct target *target = &own->target[output->what];
        output->scratch = job_apply_scratch(job, target->spec) + LINE;
        if (in_place)
            place_target(job, output, target);
    }
}
