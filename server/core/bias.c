// SPDX-License-Identifier: Apache-2.0
/*
 * bias.c: biases of attention scores as matrices, added to scores, and what they are made of (t5's
 * buckets, alibi's slopes). The values are the kind's; here they are rounded once, together with
 * the score they are added to.
 */
#include <math.h>
#include <string.h>

#include "ball.h"
#include "exact.h"
#include "kind.h"

/* One element of a bias matrix, and the score it is added to. */
struct element {
    const struct pe_plan *plan;
    size_t head;
    double m, n; /* positions of query and key */
    double score;
};

static struct pe__ball bias_ball(const struct element *e)
{
    struct pe__ball bias;
    bias.eps = e->plan->spec.kind->ops->bias(e->plan, e->head, e->m, e->n, &bias.hi, &bias.lo);
    return bias;
}

static void bias_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    const struct element *e = context;
    e->plan->spec.kind->ops->bias_exact(e->plan, e->head, e->m, e->n, y);
}

static void round_bias(const struct element *e, enum pe_dtype dtype, void *out, size_t i)
{
    struct pe__ball bias = bias_ball(e);
    if (!pe__round(dtype, bias.hi, bias.lo, bias.eps, out, i))
        pe__round_exact(dtype, bias_exact, e, 0, out, i);
}

void pe_bias(const struct pe_plan *plan, const struct pe_positions *queries,
             const struct pe_positions *keys, size_t first, size_t heads_n, enum pe_dtype dtype,
             void *out)
{
    size_t next = 0;
    for (size_t head = first; head < first + heads_n; head++)
        for (size_t i = 0; i < queries->n; i++)
            for (size_t j = 0; j < keys->n; j++) {
                struct element e = {plan, head, queries->at[0][i], keys->at[0][j], 0};
                round_bias(&e, dtype, out, next++);
            }
}

void pe_buckets(const struct pe_plan *plan, const struct pe_positions *queries,
                const struct pe_positions *keys, int64_t *out)
{
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    for (size_t i = 0; i < queries->n; i++)
        for (size_t j = 0; j < keys->n; j++)
            out[i * keys->n + j] = ops->bucket(plan, queries->at[0][i], keys->at[0][j]);
}

/* The slope is what a distance of 1 costs. */
static void slope_exact(const void *context, size_t i, mpfr_t y)
{
    bias_exact(context, i, y);
    mpfr_neg(y, y, MPFR_RNDN);
}

void pe_slopes(const struct pe_plan *plan, enum pe_dtype dtype, void *out)
{
    size_t heads_n = pe_spec_heads(&plan->spec);
    for (size_t head = 0; head < heads_n; head++) {
        struct element e = {plan, head, 0, 1, 0};
        struct pe__ball bias = bias_ball(&e);
        if (!pe__round(dtype, -bias.hi, -bias.lo, bias.eps, out, head))
            pe__round_exact(dtype, slope_exact, &e, 0, out, head);
    }
}

/* ---- Adding to scores --------------------------------------------------------------------- */

static void sum_term(const void *context, size_t i, mpfr_t y)
{
    const struct element *e = context;
    if (i == 0)
        mpfr_set_d(y, e->score, MPFR_RNDN);
    else
        bias_exact(e, 0, y);
}

static void sum_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(sum_term, context, 2, y);
}

static double round_sum(const struct element *e, struct pe__ball bias)
{
    struct pe__ball sum = pe__ball_add(pe__ball_exact(e->score), bias);
    double rounded;
    if (!pe__round(PE_F64, sum.hi, sum.lo, sum.eps, &rounded, 0))
        pe__round_exact(PE_F64, sum_exact, e, 0, &rounded, 0);
    return rounded;
}

/* A bias, exactly and as the nearest double. */
struct addend {
    struct pe__ball ball;
    double rounded;
};

static void add_one(struct element *e, const struct addend *bias, enum pe_dtype dtype,
                    const void *in, void *out, size_t i)
{
    size_t size = pe_dtype_size(dtype);
    e->score = pe_load(dtype, in, i);
    if (bias->rounded == 0 && bias->ball.eps == 0) /* keeps -0 and the payload of NaN */
        memmove((char *)out + i * size, (const char *)in + i * size, size);
    else if (dtype == PE_F64 && isfinite(e->score))
        pe_store(dtype, out, i, round_sum(e, bias->ball));
    else
        pe_store(dtype, out, i, e->score + bias->rounded);
}

void pe_add_bias(const struct pe_plan *plan, const struct pe_positions *queries,
                 const struct pe_positions *keys, size_t first, size_t heads_n, size_t batches,
                 enum pe_dtype dtype, const void *in, void *out)
{
    size_t batch_step = heads_n * queries->n * keys->n;
    for (size_t i = 0; i < batch_step; i++) {
        struct element e = {plan, first + i / (queries->n * keys->n),
                            queries->at[0][i / keys->n % queries->n], keys->at[0][i % keys->n], 0};
        struct addend bias = {.ball = bias_ball(&e)};
        round_bias(&e, PE_F64, &bias.rounded, 0);
        for (size_t batch = 0; batch < batches; batch++)
            add_one(&e, &bias, dtype, in, out, batch * batch_step + i);
    }
}
