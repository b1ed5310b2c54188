// SPDX-License-Identifier: Apache-2.0
/*
 * apply_crossed.c: rotating by a table that is not laid out as the pairs are (pair_table), as one
 * published model does: the two members of a pair have cos and sin of different angles. No rotation
 * and not for speed: each value is rounded by itself, correctly.
 */
#include "apply.h"
#include "exact.h"
#include "kind.h"
#include "operation.h"

/* One value: x[0] code[0] + x[1] code[1]. */
struct products {
    struct pe__operand x[2], code[2];
};

static void cosine_exact(const void *context, size_t pair, mpfr_t y)
{
    pe__codes_exact(context, pair, false, y);
}

static void sine_exact(const void *context, size_t pair, mpfr_t y)
{
    pe__codes_exact(context, pair, true, y);
}

static struct pe__operand code_of(const struct pe__codes *codes, size_t pair, bool is_sine)
{
    return (struct pe__operand){pe__code_ball(codes, pair, is_sine),
                                is_sine ? sine_exact : cosine_exact, codes, pair};
}

static void product_exact(const void *context, size_t i, mpfr_t y)
{
    const struct products *products = context;
    pe__operand_exact(&products->code[i], y);
    mpfr_mul_d(y, y, products->x[i].ball.hi, MPFR_RNDN);
}

static void sum_exact(const void *context, size_t i, mpfr_t y)
{
    (void)i;
    pe__exact_sum(product_exact, context, 2, y);
}

static void store(const struct pe_apply *job, const struct products *p, void *y, size_t channel)
{
    enum pe_dtype to = job->out->dtype;
    if (job->stages && pe__stage_named(job->stages, PE_STAGE_APPLY)) {
        enum pe_dtype dtype = job->stages->dtype[PE_STAGE_APPLY];
        double first = pe__product_of(dtype, &p->x[0], &p->code[0]);
        double second = pe__product_of(dtype, &p->x[1], &p->code[1]);
        pe_store(to, y, channel, pe__sum(dtype, first, second));
        return;
    }
    if (!isfinite(p->x[0].ball.hi) || !isfinite(p->x[1].ball.hi)) {
        double first = p->x[0].ball.hi * p->code[0].ball.hi;
        pe_store(to, y, channel, first + p->x[1].ball.hi * p->code[1].ball.hi);
        return;
    }
    struct pe__ball sum = pe__ball_add(pe__ball_mul(p->x[0].ball, p->code[0].ball),
                                       pe__ball_mul(p->x[1].ball, p->code[1].ball));
    if (!pe__ball_round(sum, to, y, channel))
        pe__round_exact(to, sum_exact, p, 0, y, channel);
}

static void do_row(void *context, size_t token, const void *x, void *y)
{
    const struct pe__codes *codes = context;
    const struct pe_apply *job = codes->slab->job;
    const struct pe_plan *plan = job->plan;
    (void)token;
    pe__row_copy_rest(job, x, y);
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        size_t a, b, u = plan->crossed[pair], v = plan->crossed[plan->pairs + pair];
        pe_spec_pair_members(&plan->spec, pair, false, &a, &b);
        struct pe__operand first = pe__operand_of(pe_load(job->in->dtype, x, a));
        struct pe__operand second = pe__operand_of(pe_load(job->in->dtype, x, b));
        struct pe__operand minus = pe__operand_of(-second.ball.hi);
        struct products to_a = {{first, minus},
                                {code_of(codes, u, false), code_of(codes, u, true)}};
        struct products to_b = {{first, second},
                                {code_of(codes, v, true), code_of(codes, v, false)}};
        store(job, &to_a, y, a);
        store(job, &to_b, y, b);
    }
}

void pe__apply_crossed(const struct pe__slab *slab)
{
    struct pe__codes codes;
    pe__codes_init(&codes, slab);
    for (size_t token = 0; token < slab->job->in->tokens; token++) {
        pe__codes_make(&codes, token);
        pe__slab_rows(slab, token, 1, do_row, &codes);
    }
}
