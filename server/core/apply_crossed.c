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

/* One token's cos and sin of all pairs follow. */
struct work {
    struct pe__plan_walk walk;
    struct pe__planes planes;
};

struct crossed {
    const struct pe__slab *slab;
    const struct pe_plan *plan;
    double *hi[2], *lo[2]; /* of cos and sin, by pair */
    double eps;
    size_t token;
};

/* One value: x[0] code[0] + x[1] code[1]. */
struct products {
    struct pe__operand x[2], code[2];
};

static void code_exact(const struct crossed *crossed, size_t pair, bool is_sine, mpfr_t y)
{
    pe__plan_pair_exact(crossed->plan, crossed->slab->positions, crossed->token, pair,
                        is_sine ? NULL : y, is_sine ? y : NULL);
}

static void cosine_exact(const void *context, size_t pair, mpfr_t y)
{
    code_exact(context, pair, false, y);
}

static void sine_exact(const void *context, size_t pair, mpfr_t y)
{
    code_exact(context, pair, true, y);
}

static struct pe__operand code_of(const struct crossed *crossed, size_t pair, bool is_sine)
{
    return (struct pe__operand){
        {crossed->hi[is_sine][pair], crossed->lo[is_sine][pair], crossed->eps},
        is_sine ? sine_exact : cosine_exact,
        crossed,
        pair};
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

static void store(const struct crossed *crossed, const struct products *p, void *y, size_t channel)
{
    const struct pe_apply *job = crossed->slab->job;
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
    const struct crossed *crossed = context;
    const struct pe_apply *job = crossed->slab->job;
    const struct pe_plan *plan = crossed->plan;
    (void)token;
    pe__row_copy_rest(job, x, y);
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        size_t a, b, u = plan->crossed[pair], v = plan->crossed[plan->pairs + pair];
        pe_spec_pair_members(&plan->spec, pair, false, &a, &b);
        struct pe__operand first = pe__operand_of(pe_load(job->in->dtype, x, a));
        struct pe__operand second = pe__operand_of(pe_load(job->in->dtype, x, b));
        struct pe__operand minus = pe__operand_of(-second.ball.hi);
        struct products to_a = {{first, minus},
                                {code_of(crossed, u, false), code_of(crossed, u, true)}};
        struct products to_b = {{first, second},
                                {code_of(crossed, v, true), code_of(crossed, v, false)}};
        store(crossed, &to_a, y, a);
        store(crossed, &to_b, y, b);
    }
}

static void make_codes(struct crossed *crossed, struct work *work)
{
    const struct pe_plan *plan = crossed->plan;
    crossed->eps = 0;
    for (size_t first = 0, n; first < plan->pairs; first += n) {
        n = pe__plan_block(plan, first);
        pe__plan_walk_init(&work->walk);
        double eps = pe__plan_pairs(plan, &work->walk, crossed->slab->positions, crossed->token,
                                    first, n, &work->planes);
        crossed->eps = eps > crossed->eps ? eps : crossed->eps;
        for (size_t j = 0; j < n; j++) {
            crossed->hi[0][first + j] = work->planes.cos_hi[j];
            crossed->lo[0][first + j] = work->planes.cos_lo[j];
            crossed->hi[1][first + j] = work->planes.sin_hi[j];
            crossed->lo[1][first + j] = work->planes.sin_lo[j];
        }
    }
}

size_t pe__crossed_work_bytes(const struct pe_plan *plan)
{
    return sizeof(struct work) + 4 * plan->pairs * sizeof(double);
}

void pe__apply_crossed(const struct pe__slab *slab)
{
    struct work *work = slab->job->work;
    const struct pe_plan *plan = slab->job->plan;
    struct crossed crossed = {.slab = slab, .plan = plan};
    double *codes = (double *)(work + 1);
    for (size_t i = 0; i < 2; i++) {
        crossed.hi[i] = codes + 2 * i * plan->pairs;
        crossed.lo[i] = crossed.hi[i] + plan->pairs;
    }
    for (crossed.token = 0; crossed.token < slab->job->in->tokens; crossed.token++) {
        make_codes(&crossed, work);
        pe__slab_rows(slab, crossed.token, 1, do_row, &crossed);
    }
}
