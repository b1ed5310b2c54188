// SPDX-License-Identifier: Apache-2.0
/*
 * bias.c: biases of attention scores as matrices, added to scores, and what they are made of (t5's
 * buckets, alibi's slopes). The values are the kind's; here they are rounded once, together with
 * the score they are added to.
 */
#include <math.h>

#include "ball.h"
#include "dtype.h"
#include "exact.h"
#include "kind.h"
#include "operation.h"

#define BLOCK 128 /* keys done together */

/* Biases between one query and consecutive keys. */
struct block {
    const struct pe_plan *plan;
    struct pe__bias_at at; /* but for the key */
    const double *keys;
    const double *k; /* vectors of the keys, [n, dim]; NULL: they make no difference */
    size_t rest;     /* keys from the block's first on */
    size_t n;
    double hi[BLOCK], lo[BLOCK], eps[BLOCK];
    double eps_max;
};

/* Where key j of the block is met. */
static struct pe__bias_at at_key(const struct block *block, size_t j)
{
    struct pe__bias_at at = block->at;
    at.key = block->keys[j];
    at.keys = block->keys + j;
    at.keys_n = block->rest - j;
    at.k = block->k ? block->k + j * pe_spec_dim(&block->plan->spec) : NULL;
    return at;
}

/* Chooses the keys [first, first + n), at most BLOCK of the rest. */
static void fill_block(struct block *block, const struct pe_positions *keys, size_t first)
{
    block->keys = keys->at[0] + first;
    block->rest = keys->n - first;
    block->n = block->rest < BLOCK ? block->rest : BLOCK;
    block->eps_max = 0;
    for (size_t j = 0; j < block->n; j++) {
        struct pe__bias_at at = at_key(block, j);
        struct pe__ball bias = pe__plan_bias(block->plan, &at);
        block->hi[j] = bias.hi;
        block->lo[j] = bias.lo;
        block->eps[j] = bias.eps;
        block->eps_max = fmax(block->eps_max, bias.eps);
    }
}

static void bias_exact(const void *context, size_t j, mpfr_t y)
{
    const struct block *block = context;
    struct pe__bias_at at = at_key(block, j);
    pe__plan_bias_exact(block->plan, &at, y);
}

/* Biases of one head and query, before any key is chosen. */
static struct block block_of(const struct pe_plan *plan, size_t head, double query,
                             const struct pe_positions *keys)
{
    double last = keys->n > 0 ? keys->at[0][keys->n - 1] : query;
    return (struct block){.plan = plan, .at = {.head = head, .query = query, .last = last}};
}

/* Rounds the block's biases to elements [first, first + n) of out. */
static void round_block(const struct block *block, enum pe_dtype dtype, void *out, size_t first)
{
    uint16_t bad[BLOCK];
    char *start = (char *)out + first * pe_dtype_size(dtype);
    size_t bad_n =
        pe__round_row(dtype, block->n, block->hi, block->lo, block->eps_max, start, 1, bad);
    for (size_t i = 0; i < bad_n; i++) { /* perhaps with its own bound */
        size_t j = bad[i];
        if (!pe__round(dtype, block->hi[j], block->lo[j], block->eps[j], out, first + j))
            pe__round_exact(dtype, bias_exact, block, j, out, first + j);
    }
}

void pe_bias(const struct pe_plan *plan, const struct pe_positions *queries,
             const struct pe_positions *keys, size_t first, size_t heads_n, enum pe_dtype dtype,
             void *out)
{
    for (size_t row = 0; row < heads_n * queries->n; row++) {
        struct block block =
            block_of(plan, first + row / queries->n, queries->at[0][row % queries->n], keys);
        for (size_t j = 0; j < keys->n; j += block.n) {
            fill_block(&block, keys, j);
            round_block(&block, dtype, out, row * keys->n + j);
        }
    }
}

void pe_buckets(const struct pe_plan *plan, const struct pe_positions *queries,
                const struct pe_positions *keys, int64_t *out)
{
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    for (size_t i = 0; i < queries->n; i++)
        for (size_t j = 0; j < keys->n; j++)
            out[i * keys->n + j] =
                ops->bucket(plan, pe_stages_position(&plan->stages, queries->at[0][i]),
                            pe_stages_position(&plan->stages, keys->at[0][j]));
}

static void input_exact(const void *context, size_t j, mpfr_t y)
{
    const struct block *block = context;
    struct pe__bias_at at = at_key(block, j);
    at.query = pe_stages_position(&block->plan->stages, at.query);
    at.key = pe_stages_position(&block->plan->stages, at.key);
    block->plan->spec.kind->ops->input_exact(block->plan, &at, y);
}

void pe_bias_inputs(const struct pe_plan *plan, const struct pe_positions *queries,
                    const struct pe_positions *keys, enum pe_dtype dtype, void *out)
{
    for (size_t i = 0; i < queries->n; i++) {
        struct block block = block_of(plan, 0, queries->at[0][i], keys);
        block.keys = keys->at[0];
        for (size_t j = 0; j < keys->n; j++)
            pe__round_exact(dtype, input_exact, &block, j, out, i * keys->n + j);
    }
}

static void slope_exact(const void *context, size_t head, mpfr_t y)
{
    const struct pe_plan *plan = context;
    if (pe__stage_named(&plan->stages, PE_STAGE_FREQ))
        mpfr_set_d(y, plan->constant_hi[plan->spec.kind->ops->slopes_at + head], MPFR_RNDN);
    else
        plan->spec.kind->ops->slope(&plan->spec, head, y);
}

void pe_slopes(const struct pe_plan *plan, enum pe_dtype dtype, void *out)
{
    size_t heads_n = pe_spec_heads(&plan->spec);
    for (size_t head = 0; head < heads_n; head++)
        pe__round_exact(dtype, slope_exact, plan, head, out, head);
}

/* ---- Adding to scores --------------------------------------------------------------------- */

/* A score and its bias. */
struct summands {
    const struct block *block;
    size_t j;
    double score;
};

static void summand_exact(const void *context, size_t i, mpfr_t y)
{
    const struct summands *summands = context;
    if (i == 0)
        mpfr_set_d(y, summands->score, MPFR_RNDN);
    else
        bias_exact(summands->block, summands->j, y);
}

static void sum_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(summand_exact, context, 2, y);
}

/* score + bias number j, rounded once. */
static double round_sum(const struct block *block, size_t j, double score)
{
    struct pe__ball bias = {block->hi[j], block->lo[j], block->eps[j]};
    struct pe__ball sum = pe__ball_add(pe__ball_exact(score), bias);
    struct summands summands = {block, j, score};
    double rounded;
    if (!pe__ball_round(sum, PE_F64, &rounded, 0))
        pe__round_exact(PE_F64, sum_exact, &summands, 0, &rounded, 0);
    return rounded;
}

/* Adds the block's biases, `rounded` to double, to scores [first, first + n). A bias of 0 leaves
 * the score alone, also -0. */
static void add_block(const struct block *block, const double *rounded, enum pe_dtype dtype,
                      const void *in, void *out, size_t first)
{
    double scores[BLOCK];
    pe__load_row(dtype, in, first, block->n, scores);
    for (size_t j = 0; j < block->n; j++) {
        if (rounded[j] == 0 && block->eps[j] == 0)
            continue;
        if (dtype == PE_F64 && isfinite(scores[j]))
            scores[j] = round_sum(block, j, scores[j]);
        else
            scores[j] += rounded[j];
    }
    pe__store_row(dtype, out, first, block->n, scores);
}

/* The same with an apply stage: nothing is skipped. */
static void add_block_staged(const struct block *block, enum pe_dtype stage, enum pe_dtype dtype,
                             const void *in, void *out, size_t first)
{
    for (size_t j = 0; j < block->n; j++) {
        struct pe__operand bias = {
            {block->hi[j], block->lo[j], block->eps[j]}, bias_exact, block, j};
        struct pe__operand score = pe__operand_of(pe_load(dtype, in, first + j));
        pe_store(dtype, out, first + j, pe__sum_of(stage, &score, &bias));
    }
}

/* What pe_add_bias is given. */
struct addition {
    const struct pe_plan *plan;
    const struct pe_stages *stages;
    const struct pe_vectors *vectors;
    const struct pe_positions *queries, *keys;
    size_t heads_n, batches;
    enum pe_dtype dtype;
    const void *in;
    void *out;
};

/* Adds a block that begins at key `first` to that row (of head and query) of one batch. */
static void add_to_batch(const struct addition *job, const struct block *block, size_t batch,
                         size_t row, size_t first)
{
    const struct pe_stages *stages = job->stages;
    size_t at = (batch * job->heads_n * job->queries->n + row) * job->keys->n + first;
    double rounded[BLOCK];
    if (stages && pe__stage_named(stages, PE_STAGE_APPLY)) {
        add_block_staged(block, stages->dtype[PE_STAGE_APPLY], job->dtype, job->in, job->out, at);
        return;
    }
    round_block(block, PE_F64, rounded, 0);
    add_block(block, rounded, job->dtype, job->in, job->out, at);
}

/* The block with the vectors of a batch. */
static void choose_vectors(const struct addition *job, struct block *block, size_t batch,
                           size_t row, size_t first)
{
    size_t dim = pe_spec_dim(&job->plan->spec);
    size_t head = batch * job->heads_n + row / job->queries->n;
    block->at.q = job->vectors->q + (batch * job->heads_n * job->queries->n + row) * dim;
    block->k = job->vectors->k + (head * job->keys->n + first) * dim;
}

static void add_row(const struct addition *job, struct block *block, size_t row)
{
    for (size_t j = 0; j < job->keys->n; j += block->n) {
        if (!job->vectors)
            fill_block(block, job->keys, j);
        for (size_t batch = 0; batch < job->batches; batch++) {
            if (job->vectors) {
                choose_vectors(job, block, batch, row, j);
                fill_block(block, job->keys, j);
            }
            add_to_batch(job, block, batch, row, j);
        }
    }
}

void pe_add_bias(const struct pe_plan *plan, const struct pe_stages *stages,
                 const struct pe_vectors *vectors, const struct pe_positions *queries,
                 const struct pe_positions *keys, size_t first, size_t heads_n, size_t batches,
                 enum pe_dtype dtype, const void *in, void *out)
{
    struct addition job = {plan, stages, vectors, queries, keys, heads_n, batches, dtype, in, out};
    for (size_t row = 0; batches > 0 && row < heads_n * queries->n; row++) {
        struct block block =
            block_of(plan, first + row / queries->n, queries->at[0][row % queries->n], keys);
        add_row(&job, &block, row);
    }
}
