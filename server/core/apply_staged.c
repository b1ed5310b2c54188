// SPDX-License-Identifier: Apache-2.0
/*
 * apply_staged.c: rotating and adding with an apply stage: every product and every sum is rounded
 * to its dtype, in the order of the formulas: a c, b s, their difference; a s, b c, their sum; x
 * plus what is added. Nothing is skipped at position 0. This is plain code for looking into a
 * pipeline, not for speed: each operation is correctly rounded by itself (operation.h).
 */
#include "apply.h"
#include "kind.h"
#include "operation.h"

struct work {
    struct pe__plan_walk walk;
    struct pe__planes planes;
};

/* What is being done now: pairs (or channels of a kind without) [first, first + n) of a token. */
struct staged {
    const struct pe__slab *slab;
    const struct pe_plan *plan;
    const struct pe__planes *planes;
    enum pe_dtype dtype; /* of the stage */
    double eps;
    size_t token;
    size_t first, n;
    size_t channel_c[PE__BLOCK], channel_s[PE__BLOCK];
};

/* ---- What vectors meet -------------------------------------------------------------------- */

static void exact_value(const struct staged *staged, size_t j, bool is_sine, mpfr_t y)
{
    const struct pe_positions *positions = staged->slab->positions;
    const struct pe_plan *plan = staged->plan;
    size_t i = staged->first + j;
    if (plan->pairs)
        pe__plan_pair_exact(plan, positions, staged->token, i, is_sine ? NULL : y,
                            is_sine ? y : NULL);
    else
        pe__plan_row_exact(plan, pe__plan_position(plan, positions->at[0][staged->token]), i, y);
    bool turns_back = is_sine || plan->spec.kind->acts == PE_ADDS;
    if (staged->slab->job->inverse && turns_back && !mpfr_zero_p(y))
        mpfr_neg(y, y, MPFR_RNDN);
    if (plan->amplified && staged->slab->job->inverse)
        pe__plan_undo_exact(plan, y);
    if (plan->scale_log)
        pe__plan_scale_exact(plan, pe__plan_position(plan, positions->at[0][staged->token]),
                             pe__scale_sign(staged->slab->job), i, y);
}

static void cosine_exact(const void *context, size_t j, mpfr_t y)
{
    exact_value(context, j, false, y);
}

static void sine_exact(const void *context, size_t j, mpfr_t y)
{
    exact_value(context, j, true, y);
}

/* Lane j of the cosines (which hold the rows of kinds without pairs) or of the sines, with the sign
 * that the inverse asks for. */
static struct pe__operand operand(const struct staged *staged, size_t j, bool is_sine)
{
    const struct pe__planes *planes = staged->planes;
    bool turns_back = is_sine || staged->plan->spec.kind->acts == PE_ADDS;
    double sign = staged->slab->job->inverse && turns_back ? -1 : 1;
    double hi = is_sine ? planes->sin_hi[j] : planes->cos_hi[j];
    double lo = is_sine ? planes->sin_lo[j] : planes->cos_lo[j];
    return (struct pe__operand){
        {sign * hi, sign * lo, staged->eps}, is_sine ? sine_exact : cosine_exact, staged, j};
}

/* ---- Rows --------------------------------------------------------------------------------- */

static void rotate_pair(const struct staged *staged, size_t j, const void *x, void *y)
{
    const struct pe_apply *job = staged->slab->job;
    enum pe_dtype dtype = staged->dtype;
    size_t first = staged->channel_c[j];
    size_t second = staged->channel_s[j];
    struct pe__operand c = operand(staged, j, false);
    struct pe__operand s = operand(staged, j, true);
    struct pe__operand a = pe__operand_of(pe_load(job->in->dtype, x, first));
    struct pe__operand b = pe__operand_of(pe_load(job->in->dtype, x, second));
    double difference =
        pe__sum(dtype, pe__product_of(dtype, &a, &c), -pe__product_of(dtype, &b, &s));
    double sum = pe__sum(dtype, pe__product_of(dtype, &a, &s), pe__product_of(dtype, &b, &c));
    pe_store(job->out->dtype, y, first, difference);
    pe_store(job->out->dtype, y, second, sum);
}

static void add_value(const struct staged *staged, size_t j, bool is_sine, const void *x, void *y)
{
    const struct pe_apply *job = staged->slab->job;
    size_t channel = is_sine ? staged->channel_s[j] : staged->channel_c[j];
    if (channel == PE__NO_CHANNEL)
        return;
    struct pe__operand value = operand(staged, j, is_sine);
    struct pe__operand old = pe__operand_of(pe_load(job->in->dtype, x, channel));
    pe_store(job->out->dtype, y, channel, pe__sum_of(staged->dtype, &old, &value));
}

/* Channels outside of all pairs stay as they are. */
static void do_row(void *context, size_t token, const void *x, void *y)
{
    const struct staged *staged = context;
    const struct pe_apply *job = staged->slab->job;
    bool rotates = staged->plan->spec.kind->acts == PE_ROTATES;
    (void)token;
    if (staged->first == 0 && staged->plan->pairs)
        pe__row_copy_rest(job, x, y);
    for (size_t j = 0; j < staged->n; j++) {
        if (rotates) {
            rotate_pair(staged, j, x, y);
            continue;
        }
        add_value(staged, j, false, x, y);
        if (staged->plan->pairs)
            add_value(staged, j, true, x, y);
    }
}

static void pair_channels(struct staged *staged, size_t j)
{
    const struct pe_spec *spec = &staged->plan->spec;
    size_t pair = staged->first + j;
    if (spec->kind->acts == PE_ROTATES)
        pe_spec_pair_members(spec, pair, false, &staged->channel_c[j], &staged->channel_s[j]);
    else
        spec->kind->ops->pair_channels(spec, pair, &staged->channel_c[j], &staged->channel_s[j]);
}

static void map_channels(struct staged *staged)
{
    for (size_t j = 0; j < staged->n; j++) {
        staged->channel_c[j] = staged->first + j;
        if (staged->plan->pairs)
            pair_channels(staged, j);
    }
}

static double make_values(const struct staged *staged, struct work *work)
{
    const struct pe_plan *plan = staged->plan;
    const struct pe_positions *positions = staged->slab->positions;
    if (plan->pairs) {
        double eps = pe__plan_pairs(plan, &work->walk, positions, staged->token, staged->first,
                                    staged->n, &work->planes);
        if (plan->amplified && staged->slab->job->inverse)
            eps = pe__plan_undo(plan, staged->n, eps, &work->planes);
        if (plan->scale_log)
            eps = pe__plan_scale(plan, pe__plan_position(plan, positions->at[0][staged->token]),
                                 pe__scale_sign(staged->slab->job), staged->first, staged->n, eps,
                                 &work->planes);
        return eps;
    }
    return pe__plan_row(plan, pe__plan_position(plan, positions->at[0][staged->token]),
                        staged->first, staged->n, work->planes.cos_hi, work->planes.cos_lo);
}

static size_t block_size(const struct staged *staged, size_t total)
{
    if (staged->plan->pairs)
        return pe__plan_block(staged->plan, staged->first);
    return total - staged->first < PE__BLOCK ? total - staged->first : PE__BLOCK;
}

size_t pe__staged_work_bytes(void)
{
    return sizeof(struct work);
}

void pe__apply_staged(const struct pe__slab *slab)
{
    struct work *work = slab->job->work;
    struct staged staged = {.slab = slab,
                            .plan = slab->job->plan,
                            .planes = &work->planes,
                            .dtype = slab->job->stages->dtype[PE_STAGE_APPLY]};
    size_t total = staged.plan->pairs ? staged.plan->pairs : slab->job->in->dim;
    for (staged.first = 0; staged.first < total; staged.first += staged.n) {
        staged.n = block_size(&staged, total);
        map_channels(&staged);
        pe__plan_walk_init(&work->walk);
        for (staged.token = 0; staged.token < slab->job->in->tokens; staged.token++) {
            staged.eps = make_values(&staged, work);
            pe__slab_rows(slab, staged.token, 1, do_row, &staged);
        }
    }
}
