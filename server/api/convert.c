// SPDX-License-Identifier: Apache-2.0
/*
 * convert.c: POST /v1/convert: vectors, or rows of the weights that make them, from one pair layout
 * to the other. Elements change places and nothing else, so that the way back gives the same bits.
 */
#include <stdint.h>
#include <string.h>

#include "job.h"
#include "keys.h"
#include "text.h"

#define SENTENCES_BYTES_MAX 4096

static const struct pe_param keys[] = {
    {"from", NULL, PE_ENUM, 0, 0, 0, 0, NULL, PE_LAYOUTS, NULL,
     "How the tensors pair their channels: interleaved 2i and 2i+1, half i and i+rotary_dim/2."},
    {"to", NULL, PE_ENUM, 0, 0, 0, 0, NULL, PE_LAYOUTS, NULL, "How they shall pair them."},
    {"axis", NULL, PE_INT, -TREE_RANK_MAX, TREE_RANK_MAX - 1, 0, 0, "-1", NULL, NULL,
     "Where the channels are: -1 in vectors; 0 in weights [out, in], whose rows make them."},
    {"num_heads", "n_heads num_attention_heads", PE_INT, 1, PE_DIM_MAX, 0, PE_OPTIONAL, NULL, NULL,
     NULL, "Heads that share the axis of q, or of x; one without it, but weights must say it."},
    {"num_kv_heads", "n_kv_heads num_key_value_heads", PE_INT, 1, PE_DIM_MAX, 0, PE_OPTIONAL, NULL,
     NULL, NULL, "Those of k, or of x where that is of k."},
    {"rotary_dim", NULL, PE_INT, 2, PE_DIM_MAX, 2, PE_OPTIONAL | PE_DERIVED, NULL, NULL, NULL,
     "Channels of a head that are rotated; the others stay where they are. All without it."},
    {"rotary_offset", NULL, PE_INT, 0, PE_DIM_MAX, 0, 0, "0", "tail", NULL,
     "The first of them; tail: they are the last ones."},
};

enum { ROLE_X, ROLE_Q, ROLE_K, ROLES_N };

static const struct {
    const char *in, *out, *permutation;
} roles[ROLES_N] = {
    {"x", "y", "permutation"}, {"q", "q_out", "q_permutation"}, {"k", "k_out", "k_permutation"}};

static const char *const tensors[] = {"x", "q", "k", NULL};

/* One tensor to convert. */
struct target {
    size_t role;
    struct tensor in;
    size_t axis, heads, head_dim;
    size_t first, paired; /* channels of a head that make up its pairs */
    int64_t *permutation; /* out[i] is in[permutation[i]], along the axis */
};

struct own {
    bool has[ROLES_N];
    struct target target[ROLES_N];
    size_t targets_n;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Rows are those of the last axis; where the channels are on another one, rows change places. */
static size_t source_row(const struct target *target, size_t row)
{
    const struct tensor *in = &target->in;
    size_t inner = job_product(in->shape + target->axis + 1, in->rank - 2 - target->axis);
    size_t length = in->shape[target->axis], channel = row / inner % length;
    return row + ((size_t)target->permutation[channel] - channel) * inner;
}

static void copy_element(char *out, const char *in, size_t to, size_t from, size_t size)
{
    memcpy(out + to * size, in + from * size, size);
}

static void permute_row(const struct target *target, const char *in, char *out)
{
    size_t size = pe_dtype_size(target->in.dtype), n = target->in.shape[target->axis];
    for (size_t i = 0; i < n; i++) {
        size_t from = (size_t)target->permutation[i];
        switch (size) { /* so that the copy of each is one move */
        case sizeof(uint16_t):
            copy_element(out, in, i, from, sizeof(uint16_t));
            break;
        case sizeof(uint32_t):
            copy_element(out, in, i, from, sizeof(uint32_t));
            break;
        default:
            copy_element(out, in, i, from, sizeof(uint64_t));
        }
    }
}

static void fill_converted(const struct job *job, const struct output *output, size_t first,
                           size_t n, void *out, void *scratch)
{
    const struct own *own = job->own;
    const struct target *target = &own->target[output->what];
    const struct tensor *in = &target->in;
    const char *rows = in->data;
    size_t bytes = in->shape[in->rank - 1] * pe_dtype_size(in->dtype);
    bool vectors = target->axis == in->rank - 1;
    (void)scratch;
    for (size_t row = first; row < first + n; row++) {
        char *to = (char *)out + (row - first) * bytes;
        if (vectors)
            permute_row(target, rows + row * bytes, to);
        else
            memcpy(to, rows + source_row(target, row) * bytes, bytes);
    }
}

static void fill_permutation(const struct job *job, const struct output *output, size_t first,
                             size_t n, void *out, void *scratch)
{
    const struct own *own = job->own;
    const struct target *target = &own->target[output->what];
    (void)scratch, (void)first;
    memcpy(out, target->permutation, n * output->count * sizeof *target->permutation);
}

/* ---- Which heads ----------------------------------------------------------------------------- */

static bool find_axis(struct job *job, struct target *target)
{
    const struct tensor *in = &target->in;
    double axis = job_key(job, "axis")->number;
    axis += axis < 0 ? (double)in->rank : 0;
    if (axis < 0 || axis >= (double)in->rank)
        return err_add(&job->request->err, ERR_shape_mismatch, in->pointer, NULL,
                       "there is no axis %.0f in a tensor with %zu axes",
                       job_key(job, "axis")->number, in->rank);
    target->axis = (size_t)axis;
    return true;
}

/* Weights of k have fewer heads in many models, so that nothing is supposed of them. */
static bool read_heads(struct job *job, struct target *target)
{
    const struct pe_value *q = job_key(job, "num_heads"), *k = job_key(job, "num_kv_heads");
    const struct pe_value *own =
        target->role == ROLE_K || (target->role == ROLE_X && k->set) ? k : q;
    struct err *err = &job->request->err;
    if (target->role == ROLE_X && q->set && k->set)
        return err_add(err, ERR_conflicting_parameters, job_where(job, "num_kv_heads"),
                       "give the number of heads that x has; or the tensors as q and k",
                       "num_heads and num_kv_heads are both given, but x is of one of the two");
    target->heads = own->set ? (size_t)own->number : 1;
    if (own->set || (target->axis == target->in.rank - 1 && !q->set))
        return true;
    const char *name = target->role == ROLE_K ? "num_kv_heads" : "num_heads";
    return err_add(err, ERR_missing_parameter, job_where(job, name),
                   target->role == ROLE_X ? "num_kv_heads if they are of k" : NULL,
                   "%s is missing: how many heads share the %zu channels of %s", name,
                   target->in.shape[target->axis], roles[target->role].in);
}

/* The axis as heads, and which channels of a head are paired: rotary_dim from `first` on. */
static bool split_heads(struct job *job, struct target *target)
{
    struct err *err = &job->request->err;
    size_t length = target->in.shape[target->axis];
    if (length == 0 || length % target->heads != 0)
        return err_add(err, ERR_shape_mismatch, target->in.pointer,
                       "weights of k have num_kv_heads heads, often fewer than those of q",
                       "axis %zu of %s has %zu channels, which %zu heads do not divide",
                       target->axis, roles[target->role].in, length, target->heads);
    target->head_dim = length / target->heads;
    const struct pe_value *rotary_dim = job_key(job, "rotary_dim");
    target->paired = rotary_dim->set ? (size_t)rotary_dim->number : target->head_dim;
    if (target->paired > target->head_dim)
        return err_add(err, ERR_invalid_value, job_where(job, "rotary_dim"), NULL,
                       "rotary_dim must be at most the %zu channels of a head of %s, got %zu",
                       target->head_dim, roles[target->role].in, target->paired);
    if (target->paired % 2 != 0)
        return err_add(err, ERR_shape_mismatch, target->in.pointer,
                       "say rotary_dim if not all of them are rotated",
                       "the %zu channels of a head of %s are no pairs", target->head_dim,
                       roles[target->role].in);
    double tail = (double)(target->head_dim - target->paired);
    double offset = job_key(job, "rotary_offset")->number;
    if (offset > tail)
        return err_add(err, ERR_invalid_value, job_where(job, "rotary_offset"), NULL,
                       "rotary_offset must be at most %.0f, where the %zu rotated channels of a "
                       "head of %s end; got %.0f",
                       tail, target->paired, roles[target->role].in, offset);
    target->first = (size_t)(offset < 0 ? tail : offset);
    return true;
}

/* q and k have heads of the same width: what is wrong otherwise is how many they are said to be. */
static bool check_widths(struct job *job, const struct own *own)
{
    const struct target *q = &own->target[0], *k = &own->target[1];
    if (own->targets_n < 2 || q->head_dim == k->head_dim)
        return true;
    return err_add(&job->request->err, ERR_shape_mismatch, k->in.pointer,
                   "num_heads is of q, num_kv_heads of k",
                   "with %zu heads those of q have %zu channels, with %zu heads those of k %zu",
                   q->heads, q->head_dim, k->heads, k->head_dim);
}

/* ---- Permutations ---------------------------------------------------------------------------- */

/* The choices stand in the order of PE_LAYOUTS. */
static bool is_half(const struct job *job, const char *key)
{
    return job_key(job, key)->number != 0;
}

static size_t member(bool half, size_t pairs, size_t pair, size_t which)
{
    return half ? pair + which * pairs : 2 * pair + which;
}

static bool make_permutation(struct job *job, struct target *target)
{
    size_t length = target->in.shape[target->axis], pairs = target->paired / 2;
    bool from = is_half(job, "from"), to = is_half(job, "to");
    int64_t *at = target->permutation = job_alloc(job, length, sizeof *at);
    if (!at)
        return false;
    for (size_t i = 0; i < length; i++)
        at[i] = (int64_t)i;
    for (size_t head = target->first; head < length; head += target->head_dim)
        for (size_t i = 0; i < target->paired; i++)
            at[head + member(to, pairs, i / 2, i % 2)] =
                (int64_t)(head + member(from, pairs, i / 2, i % 2));
    return true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool read_tensors(struct job *job, struct own *own)
{
    bool ok = true, found;
    for (size_t role = 0; role < ROLES_N; role++) {
        struct target *target = &own->target[own->targets_n];
        target->role = role;
        ok = job_tensor(job, roles[role].in, &target->in, &found) && ok;
        own->targets_n += found;
        own->has[role] = found;
    }
    if (ok && own->targets_n == 0)
        return err_add(&job->request->err, ERR_missing_parameter, "/x",
                       "for example \"x\": [[1,2,3,4]]", "a tensor is missing: x, or q and k");
    if (own->has[ROLE_X] && own->targets_n > 1)
        return err_add(&job->request->err, ERR_conflicting_parameters, "/x", "send one of the two",
                       "x stands alone, or q and k without it");
    return ok;
}

/* Keys that only another tensor would read. */
static bool check_keys(struct job *job, const struct own *own)
{
    static const char *const for_q[] = {"num_heads", NULL}, *const for_k[] = {"num_kv_heads", NULL};
    if (own->has[ROLE_X])
        return true;
    bool ok = own->has[ROLE_Q] || job_unread(job, for_q, "there is no q");
    return (own->has[ROLE_K] || job_unread(job, for_k, "there is no k")) && ok;
}

static bool prepare_target(struct job *job, struct target *target)
{
    return find_axis(job, target) && read_heads(job, target) && split_heads(job, target) &&
           make_permutation(job, target);
}

static void outputs_state(struct job *job, const struct own *own, size_t i)
{
    const struct target *target = &own->target[i];
    const struct tensor *in = &target->in;
    struct output *output =
        job_output(job, roles[target->role].out, in->dtype, in->rank, in->shape);
    output->what = i;
    output->fill = fill_converted;
    output->axes[target->axis] = (struct answer_axis){.name = "channel", .short_name = "channel"};
    output = job_output(job, roles[target->role].permutation, PE_I64, 1, &in->shape[target->axis]);
    output->what = i;
    output->fill = fill_permutation;
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own || !read_tensors(job, own))
        return false;
    bool ok = check_keys(job, own);
    for (size_t i = 0; i < own->targets_n; i++)
        ok = prepare_target(job, &own->target[i]) && ok;
    if (!ok || !check_widths(job, own))
        return false;
    job_derive(job, "rotary_dim", (double)own->target->paired);
    job_key_edit(job, "rotary_offset")->number = (double)own->target->first;
    for (size_t i = 0; i < own->targets_n; i++)
        outputs_state(job, own, i);
    return true;
}

/* ---- Readouts -------------------------------------------------------------------------------- */

/* Channels of a head that change places. */
static size_t moved(const struct target *target)
{
    size_t n = 0;
    for (size_t i = 0; i < target->head_dim; i++)
        n += target->permutation[i] != (int64_t)i;
    return n;
}

/* How often in the same direction until all channels are back: the second of those that are paired
 * takes a turn through the most places, whose length is a multiple of all others. */
static size_t cycle(const struct target *target)
{
    size_t start = target->first + 1, n = 1;
    for (size_t at = start; (at = (size_t)target->permutation[at]) != start;)
        n++;
    return n;
}

static const char *const layouts[] = {"interleaved", "half"};

static void say_target(struct buf *out, const struct target *target)
{
    const char *in = roles[target->role].in, *permutation = roles[target->role].permutation;
    text_say(out,
             "%s: %zu %s of %zu channels on axis %zu. In each, %zu channels change places and %zu "
             "stay.",
             in, target->heads, target->heads == 1 ? "head" : "heads", target->head_dim,
             target->axis, moved(target), target->head_dim - moved(target));
    text_say(out, "%s is numpy.take(%s, %s, axis=%zu): the same bits in other places.",
             roles[target->role].out, in, permutation, target->axis);
}

/* What a colleague would say of it. */
static void say_all(struct job *job, const struct own *own, struct buf *out)
{
    const char *from = layouts[is_half(job, "from")], *to = layouts[is_half(job, "to")];
    size_t times = cycle(&own->target[0]);
    for (size_t i = 0; i < own->targets_n; i++)
        say_target(out, &own->target[i]);
    buf_putc(out, '\n');
    if (from == to) {
        text_say(out, "from and to are the same layout, so nothing moves.");
        return;
    }
    text_say(out, "To undo it: the same with from=%s and to=%s.", to, from);
    if (times > 2)
        text_say(out,
                 "Converting once more in this direction is something else: only after %zu times "
                 "are all channels back.",
                 times);
    text_say(out,
             "Next: convert q and k alike, weights of k with num_kv_heads, and with them their "
             "biases and the weights of their norms. v and o stay as they are.");
    text_say(out,
             "Then rotate with layout=%s (%s). With the other one scores are wrong, and nothing "
             "says so.",
             to,
             is_half(job, "to") ? "rotate_half, is_neox_style=True, interleaved=0"
                                : "complex numbers, is_neox_style=False, interleaved=1");
}

static const char *sentences(struct job *job, const struct own *own)
{
    struct buf out;
    buf_init(&out, SENTENCES_BYTES_MAX);
    say_all(job, own, &out);
    const char *text = out.failed ? NULL : arena_strndup(&job->request->arena, out.data, out.len);
    buf_release(&out);
    if (!text)
        err_add(&job->request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
    return text;
}

static bool compute(struct job *job)
{
    const struct own *own = job->own;
    for (size_t i = 0; i < own->targets_n; i++) {
        const struct target *target = &own->target[i];
        struct tree *node = tree_object(job->answer.readouts, roles[target->role].in);
        tree_integer(node, "heads", (int64_t)target->heads);
        tree_integer(node, "head_dim", (int64_t)target->head_dim);
        tree_integer(node, "moved", (int64_t)moved(target));
        tree_integer(node, "cycle", (int64_t)cycle(target));
    }
    job->answer.text_readouts = sentences(job, own);
    return job->answer.text_readouts != NULL;
}

const struct endpoint convert_endpoint = {
    .summary = "Vectors, or rows of the weights that make them, from one pair layout to the other.",
    .describes = "y",
    .schema = "ConvertAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .tensors = tensors,
    .npy = "x",
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
