// SPDX-License-Identifier: Apache-2.0
/*
 * plan.c: what is computed once per encoding: an own copy of the spec, digit tables of its
 * frequencies for the positions in question, constants of the kind. Also cos and sin of a block of
 * pairs at one token, with direction and position axes applied, which tables, rotations and scores
 * are made of. The numbers themselves come from cis.c and the kind.
 */
#include <stdlib.h>
#include <string.h>

#include "dd.h"
#include "kind.h"
#include "staged.h"

/* ---- Making a plan ------------------------------------------------------------------------ */

/* A parameter that not every kind has. */
static double number_or(const struct pe_spec *spec, const char *name, double fallback)
{
    bool has = pe_params_find(&spec->params, name, strlen(name)) >= 0;
    return has ? pe_spec_number(spec, name) : fallback;
}

/* Copies the spec with its lists; kinds have no parameters of free text. On failure the copy still
 * has to be released. */
static bool copy_spec(const struct pe_spec *from, struct pe_spec *to, size_t *bytes)
{
    *to = *from;
    for (size_t i = 0; i < to->params.rows_n; i++)
        to->params.value[i].list = NULL;
    for (size_t i = 0; i < to->params.rows_n; i++) {
        const struct pe_value *value = &from->params.value[i];
        if (!value->list || value->list_n == 0)
            continue;
        size_t size = value->list_n * sizeof *value->list;
        to->params.value[i].list = malloc(size);
        if (!to->params.value[i].list)
            return false;
        memcpy(to->params.value[i].list, value->list, size);
        *bytes += size;
    }
    return true;
}

struct pe__pos pe__plan_position(const struct pe_plan *plan, double p)
{
    struct pe__dd sum = pe__two_sum(pe_stages_position(&plan->stages, p), plan->shift);
    return (struct pe__pos){sum.hi, sum.lo};
}

/* With a shift also the groups without it: scores are made of cos and sin of distances. */
static uint32_t needed_groups(const struct pe_plan *plan, const struct pe_positions *positions)
{
    uint32_t groups = 0;
    for (size_t axis = 0; axis < positions->axes; axis++)
        for (size_t i = 0; i < positions->n; i++) {
            double p = positions->at[axis][i];
            groups |= pe__groups(pe__plan_position(plan, p));
            if (plan->shift != 0)
                groups |= pe__groups((struct pe__pos){p, 0});
        }
    return groups;
}

static void scaled_frequency(const void *context, size_t k, mpfr_t w)
{
    pe__plan_frequency(context, k, true, w);
}

static void frequency_one(const void *context, size_t k, mpfr_t w)
{
    (void)context;
    (void)k;
    mpfr_set_ui(w, 1, MPFR_RNDN);
}

#define ALL_GROUPS (((uint32_t)1 << PE__GROUPS_N) - 1)

/* With an angle stage cos and sin are of doubles: a single frequency, every digit. */
static bool make_angles(struct pe_plan *plan)
{
    size_t n = plan->spec.kind->ops->frequencies_n(&plan->spec);
    plan->cis = pe__cis_new(frequency_one, NULL, 1, ALL_GROUPS);
    plan->w = malloc((n + 1) * sizeof *plan->w);
    if (!plan->w)
        return false;
    plan->bytes += n * sizeof *plan->w;
    for (size_t k = 0; k < n; k++)
        plan->w[k] = pe__plan_frequency_ball(plan, k, true);
    return true;
}

/* Looked up once, because spec parameters are found by name. */
static bool make_sources(struct pe_plan *plan)
{
    plan->sources = malloc(plan->pairs * sizeof *plan->sources);
    if (!plan->sources)
        return false;
    plan->bytes += plan->pairs * sizeof *plan->sources;
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        size_t axis;
        size_t k;
        plan->spec.kind->ops->pair_source(&plan->spec, pair, &axis, &k);
        plan->sources[pair] = (struct pe__source){(uint32_t)axis, (uint32_t)k};
    }
    return true;
}

static bool make_cis(struct pe_plan *plan, const struct pe_positions *positions)
{
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    plan->pairs = ops->pairs_n(&plan->spec);
    if (pe__stage_named(&plan->stages, PE_STAGE_ANGLE) && !make_angles(plan))
        return false;
    if (!pe__stage_named(&plan->stages, PE_STAGE_ANGLE))
        plan->cis = pe__cis_new(scaled_frequency, plan, ops->frequencies_n(&plan->spec),
                                needed_groups(plan, positions));
    if (!plan->cis)
        return false;
    plan->bytes += pe__cis_bytes(plan->cis);
    return ops->pair_source ? make_sources(plan) : true;
}

static void slope_exact(const void *context, size_t head, mpfr_t y)
{
    const struct pe_spec *spec = context;
    spec->kind->ops->slope(spec, head, y);
}

static void round_slopes(struct pe_plan *plan, size_t n)
{
    for (size_t head = 0; head < n; head++) {
        plan->constant_hi[head] =
            pe__round_exact_f64(plan->stages.dtype[PE_STAGE_FREQ], slope_exact, &plan->spec, head);
        plan->constant_lo[head] = 0;
    }
}

static bool make_constants(struct pe_plan *plan)
{
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    size_t n = ops->constants(&plan->spec, NULL, NULL);
    if (n == 0)
        return true;
    plan->constant_hi = malloc(2 * n * sizeof *plan->constant_hi);
    if (!plan->constant_hi)
        return false;
    plan->constant_lo = plan->constant_hi + n;
    plan->bytes += 2 * n * sizeof *plan->constant_hi;
    ops->constants(&plan->spec, plan->constant_hi, plan->constant_lo);
    if (pe__stage_named(&plan->stages, PE_STAGE_FREQ))
        round_slopes(plan, n);
    return true;
}

enum pe_status pe_plan_new(const struct pe_spec *spec, const struct pe_positions *positions,
                           struct pe_plan **plan)
{
    return pe_plan_staged(spec, &(struct pe_stages){0}, positions, plan);
}

#define ATTENTION_BITS 160
#define GUARD_BITS     8 /* so that the factor's own error does not count */

static void make_attention(struct pe_plan *plan)
{
    MPFR_DECL_INIT(factor, ATTENTION_BITS);
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    plan->amplified = ops->attention && ops->attention(&plan->spec, factor);
    if (!plan->amplified)
        return;
    plan->attention.hi = mpfr_get_d(factor, MPFR_RNDN);
    mpfr_sub_d(factor, factor, plan->attention.hi, MPFR_RNDN);
    plan->attention.lo = mpfr_get_d(factor, MPFR_RNDN);
    plan->attention.eps = mpfr_zero_p(factor) ? 0 : plan->attention.hi * 0x1p-104;
    plan->undo = pe__ball_div(pe__ball_exact(1), pe__ball_mul(plan->attention, plan->attention));
}

enum pe_status pe_plan_staged(const struct pe_spec *spec, const struct pe_stages *stages,
                              const struct pe_positions *positions, struct pe_plan **plan)
{
    *plan = NULL;
    struct pe_plan *p = calloc(1, sizeof *p);
    if (!p)
        return PE_NO_MEMORY;
    p->bytes = sizeof *p;
    bool made = copy_spec(spec, &p->spec, &p->bytes);
    p->stages = *stages;
    p->stages.named &= PE_STAGES_OF_PLANS & pe_kind_stages(spec->kind);
    p->shift = number_or(spec, "shift", 0);
    p->direction = number_or(spec, "direction", 1);
    if (made)
        make_attention(p);
    if (made && spec->kind->ops->frequency)
        made = make_cis(p, positions);
    if (made && spec->kind->ops->constants)
        made = make_constants(p);
    if (!made) {
        pe_plan_free(p);
        return PE_NO_MEMORY;
    }
    *plan = p;
    return PE_OK;
}

void pe_plan_free(struct pe_plan *plan)
{
    if (!plan)
        return;
    pe__cis_free(plan->cis);
    free(plan->w);
    free(plan->sources);
    free(plan->constant_hi);
    pe_spec_release(&plan->spec);
    free(plan);
}

const struct pe_spec *pe_plan_spec(const struct pe_plan *plan)
{
    return &plan->spec;
}

size_t pe_plan_bytes(const struct pe_plan *plan)
{
    return plan->bytes;
}

bool pe_plan_covers(const struct pe_plan *plan, const struct pe_positions *positions)
{
    if (!plan->cis)
        return true;
    uint32_t tabulated = ((uint32_t)1 << PE__GROUPS_N) - 1;
    uint32_t needed = needed_groups(plan, positions) & tabulated;
    return (needed & ~pe__cis_groups(plan->cis)) == 0;
}

/* ---- Pairs at one token ------------------------------------------------------------------- */

struct pe__source pe__pair_source(const struct pe_plan *plan, size_t pair)
{
    return plan->sources ? plan->sources[pair] : (struct pe__source){0, (uint32_t)pair};
}

void pe__plan_walk_init(struct pe__plan_walk *walk)
{
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++)
        walk->axis[axis].valid = false;
}

/* cis of position * w_k for k in [first, first + n), the angle rounded if that stage is named. */
static double cis_row(const struct pe_plan *plan, struct pe__walk *walk, struct pe__pos at,
                      size_t first, size_t n, struct pe__planes *out)
{
    return plan->w ? pe__staged_cis_row(plan, at, first, n, out)
                   : pe__cis_row(plan->cis, walk, at, first, n, out);
}

/* The frequencies that a block of pairs takes from one axis, in rising order: within `n` numbers
 * from `first` (some may be for the other axis). n = 0: none. */
struct axis_range {
    size_t first, n;
};

static struct axis_range axis_frequencies(const struct pe__source *sources, size_t n, size_t axis)
{
    struct axis_range range = {0, 0};
    for (size_t j = 0; j < n; j++) {
        if (sources[j].axis != axis)
            continue;
        if (range.n == 0)
            range.first = sources[j].k;
        range.n = sources[j].k - range.first + 1;
    }
    return range;
}

static void scatter_axis(const struct pe__source *sources, size_t n, size_t axis, size_t first_k,
                         const struct pe__planes *from, struct pe__planes *to)
{
    for (size_t j = 0; j < n; j++) {
        if (sources[j].axis != axis)
            continue;
        size_t i = sources[j].k - first_k;
        to->cos_hi[j] = from->cos_hi[i];
        to->cos_lo[j] = from->cos_lo[i];
        to->sin_hi[j] = from->sin_hi[i];
        to->sin_lo[j] = from->sin_lo[i];
    }
}

static double several_axes(const struct pe_plan *plan, struct pe__plan_walk *walk,
                           const struct pe__pos at[PE_AXES_MAX], size_t first, size_t n,
                           struct pe__planes *out)
{
    const struct pe__source *sources = plan->sources + first;
    struct pe__planes part;
    double eps_max = 0;
    for (size_t axis = 0; axis < plan->spec.kind->axes; axis++) {
        struct axis_range range = axis_frequencies(sources, n, axis);
        if (range.n == 0)
            continue;
        double eps = cis_row(plan, &walk->axis[axis], at[axis], range.first, range.n, &part);
        eps_max = eps > eps_max ? eps : eps_max;
        scatter_axis(sources, n, axis, range.first, &part, out);
    }
    return eps_max;
}

static void turn_back(size_t n, struct pe__planes *out)
{
    for (size_t j = 0; j < n; j++) { /* 0 - x: an exact zero stays +0 */
        out->sin_hi[j] = 0 - out->sin_hi[j];
        out->sin_lo[j] = 0 - out->sin_lo[j];
    }
}

/* ---- The attention factor ----------------------------------------------------------------- */

static void multiply(const struct pe__ball *factor, size_t n, double *hi, double *lo)
{
    for (size_t j = 0; j < n; j++) {
        struct pe__dd product =
            pe__dd_mul((struct pe__dd){hi[j], lo[j]}, (struct pe__dd){factor->hi, factor->lo});
        hi[j] = product.hi;
        lo[j] = product.lo;
    }
}

/* Values of at most `size` in absolute value. Those of size 1 that are exact are 0 and 1, and so
 * are their products with an exact factor. */
static double multiply_planes(const struct pe__ball *factor, double size, size_t n, double eps,
                              struct pe__planes *out)
{
    multiply(factor, n, out->cos_hi, out->cos_lo);
    multiply(factor, n, out->sin_hi, out->sin_lo);
    if (eps == 0 && size == 1 && factor->eps == 0 && factor->lo == 0)
        return 0;
    return (factor->hi + factor->eps) * eps + (factor->eps + factor->hi * 0x1p-103) * size * 1.001 +
           PE__BALL_LOST;
}

double pe__plan_amplify(const struct pe_plan *plan, size_t n, double eps, struct pe__planes *out)
{
    return multiply_planes(&plan->attention, 1 + plan->attention.hi, n, eps, out);
}

double pe__plan_undo(const struct pe_plan *plan, size_t n, double eps, struct pe__planes *out)
{
    return multiply_planes(&plan->undo, 1 + plan->attention.hi, n, eps, out);
}

void pe__plan_amplify_exact(const struct pe_plan *plan, mpfr_t y)
{
    mpfr_t factor;
    mpfr_init2(factor, mpfr_get_prec(y) + GUARD_BITS);
    plan->spec.kind->ops->attention(&plan->spec, factor);
    mpfr_mul(y, y, factor, MPFR_RNDN);
    mpfr_clear(factor);
}

void pe__plan_undo_exact(const struct pe_plan *plan, mpfr_t y)
{
    mpfr_t factor;
    mpfr_init2(factor, mpfr_get_prec(y) + GUARD_BITS);
    plan->spec.kind->ops->attention(&plan->spec, factor);
    mpfr_div(y, y, factor, MPFR_RNDN);
    mpfr_div(y, y, factor, MPFR_RNDN);
    mpfr_clear(factor);
}

/* ---- Pairs -------------------------------------------------------------------------------- */

/* One pair's cosine or sine without its table stage, for MPFR. */
struct value {
    const struct pe_plan *plan;
    const struct pe__pos *at; /* per axis */
    bool is_sine;
};

static void unrounded_exact(const struct pe_plan *plan, struct pe__pos at, size_t k, mpfr_ptr c,
                            mpfr_ptr s)
{
    if (plan->w) {
        pe__staged_cis_exact(plan, at, k, c, s);
    } else if (at.hi != 0) {
        pe__cis_exact(plan->cis, at, k, c, s);
    } else {
        if (c)
            mpfr_set_ui(c, 1, MPFR_RNDN);
        if (s)
            mpfr_set_zero(s, 1);
    }
    if (s && plan->direction < 0 && !mpfr_zero_p(s))
        mpfr_neg(s, s, MPFR_RNDN);
    if (c && plan->amplified)
        pe__plan_amplify_exact(plan, c);
    if (s && plan->amplified)
        pe__plan_amplify_exact(plan, s);
}

static void value_exact(const void *context, size_t pair, mpfr_t y)
{
    const struct value *value = context;
    struct pe__source source = pe__pair_source(value->plan, pair);
    unrounded_exact(value->plan, value->at[source.axis], source.k, value->is_sine ? NULL : y,
                    value->is_sine ? y : NULL);
}

static double round_table(const struct pe_plan *plan, const struct pe__pos at[PE_AXES_MAX],
                          size_t first, size_t n, double eps, struct pe__planes *out)
{
    struct value value = {plan, at, false};
    pe__staged_values(plan, value_exact, &value, first, n, eps, out->cos_hi, out->cos_lo);
    value.is_sine = true;
    pe__staged_values(plan, value_exact, &value, first, n, eps, out->sin_hi, out->sin_lo);
    return 0;
}

double pe__plan_pairs_at(const struct pe_plan *plan, struct pe__plan_walk *walk,
                         const struct pe__pos at[PE_AXES_MAX], size_t first, size_t n,
                         struct pe__planes *out)
{
    double eps = plan->sources ? several_axes(plan, walk, at, first, n, out)
                               : cis_row(plan, &walk->axis[0], at[0], first, n, out);
    if (plan->direction < 0)
        turn_back(n, out);
    if (plan->amplified)
        eps = multiply_planes(&plan->attention, 1, n, eps, out);
    if (pe__stage_named(&plan->stages, PE_STAGE_TABLE))
        eps = round_table(plan, at, first, n, eps, out);
    return eps;
}

double pe__plan_pairs(const struct pe_plan *plan, struct pe__plan_walk *walk,
                      const struct pe_positions *positions, size_t token, size_t first, size_t n,
                      struct pe__planes *out)
{
    struct pe__pos at[PE_AXES_MAX] = {{0, 0}};
    for (size_t axis = 0; axis < plan->spec.kind->axes; axis++)
        at[axis] = pe__plan_position(plan, positions->at[axis][token]);
    return pe__plan_pairs_at(plan, walk, at, first, n, out);
}

/* For frequency k, in place of the pair. */
static void frequency_value_exact(const void *context, size_t k, mpfr_t y)
{
    const struct value *value = context;
    unrounded_exact(value->plan, value->at[0], k, value->is_sine ? NULL : y,
                    value->is_sine ? y : NULL);
}

void pe__plan_pair_exact_at(const struct pe_plan *plan, struct pe__pos at, size_t k, mpfr_ptr c,
                            mpfr_ptr s)
{
    if (!pe__stage_named(&plan->stages, PE_STAGE_TABLE)) {
        unrounded_exact(plan, at, k, c, s);
        return;
    }
    enum pe_dtype dtype = plan->stages.dtype[PE_STAGE_TABLE];
    struct value value = {plan, &at, false};
    if (c)
        mpfr_set_d(c, pe__round_exact_f64(dtype, frequency_value_exact, &value, k), MPFR_RNDN);
    value.is_sine = true;
    if (s)
        mpfr_set_d(s, pe__round_exact_f64(dtype, frequency_value_exact, &value, k), MPFR_RNDN);
}

void pe__plan_pair_exact(const struct pe_plan *plan, const struct pe_positions *positions,
                         size_t token, size_t pair, mpfr_ptr c, mpfr_ptr s)
{
    struct pe__source source = pe__pair_source(plan, pair);
    struct pe__pos at = pe__plan_position(plan, positions->at[source.axis][token]);
    pe__plan_pair_exact_at(plan, at, source.k, c, s);
}
