// SPDX-License-Identifier: Apache-2.0
/*
 * pairs.c: cos and sin of a block of pairs at one token, with direction, position axes and
 * attention factor applied: what tables, rotations and scores are made of. The numbers themselves
 * come from cis.c.
 */
#include <math.h>
#include <string.h>

#include "coordinate.h"
#include "dd.h"
#include "given.h"
#include "staged.h"

#define RUN_MIN 3 /* tokens for which the setting up of a run pays */

/* ---- Pairs at one token ------------------------------------------------------------------- */

struct pe__source pe__pair_source(const struct pe_plan *plan, size_t pair)
{
    return plan->sources ? plan->sources[pair] : (struct pe__source){0, (uint32_t)pair};
}

size_t pe__plan_block(const struct pe_plan *plan, size_t first)
{
    size_t most = plan->pairs - first < PE__BLOCK ? plan->pairs - first : PE__BLOCK;
    size_t n = 1;
    while (n < most && pe__is_still(plan, first + n) == pe__is_still(plan, first))
        n++;
    return n;
}

bool pe__plan_is_plain(const struct pe_plan *plan, size_t first, size_t n)
{
    return !pe_spec_is_given(&plan->spec) && !plan->spec.kind->ops->mixed && !plan->w &&
           !plan->sources && !plan->coordinate && !plan->amplified &&
           !pe__stage_named(&plan->stages, PE_STAGE_TABLE) && !pe__is_still(plan, first) &&
           first % PE__BLOCK + n <= PE__BLOCK;
}

/* The bits in which two numbers differ. */
static uint64_t differing(double x, double y)
{
    uint64_t a;
    uint64_t b;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    return a ^ b;
}

/* How many of the n - 1 positions behind the first go on by ones. */
static size_t next_n(const double *at, size_t n)
{
    const size_t step = 32;
    size_t i = 1;
    for (uint64_t other = 0; i + step <= n; i += step) { /* many at a time, in vectors */
        for (size_t j = i; j < i + step; j++)
            other |= differing(at[j], at[j - 1] + 1);
        if (other)
            break;
    }
    while (i < n && at[i] == at[i - 1] + 1)
        i++;
    return fabs(at[0]) < 0x1p52 ? i - 1 : 0;
}

/* Whether positions one apart are places one apart, each with its pairs. */
static bool keeps_steps(const struct pe_plan *plan)
{
    return plan->placing.scale == 1 && isinf(plan->placing.clamp) && isnan(plan->padding) &&
           !pe__stage_named(&plan->stages, PE_STAGE_POS);
}

size_t pe__plan_run(const struct pe_plan *plan, const struct pe_positions *positions, size_t token,
                    size_t end, struct pe__run *run)
{
    run->n = 0;
    while (token + run->n < end) {
        const double *position = positions->at[0] + token + run->n;
        struct pe__pos at = pe__plan_position(plan, *position);
        if (pe__is_padding(plan, at) || !pe__run_add(plan->cis, run, at))
            break;
        size_t left = end - (token + run->n - 1);
        if (run->n == 1 && keeps_steps(plan)) /* token by token it takes a tenth of a run's time */
            pe__run_add_next(plan->cis, run, next_n(position, left < PE__RUN ? left : PE__RUN));
    }
    return run->n < RUN_MIN ? 0 : run->n;
}

void pe__plan_walk_init(struct pe__plan_walk *walk)
{
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++)
        walk->axis[axis].valid = false;
}

double pe__plan_cis_row(const struct pe__coordinate *coordinate, struct pe__walk *walk,
                        size_t first, size_t n, struct pe__planes *out)
{
    return coordinate->plan->w ? pe__staged_cis_row(coordinate, first, n, out)
                               : pe__coordinate_cis_row(coordinate, walk, first, n, out);
}

/* The same for the pairs of these frequencies: what is made of several, or given by the caller, in
 * its place. */
static double pairs_row(const struct pe__coordinate *coordinate, struct pe__walk *walk,
                        size_t first, size_t n, struct pe__planes *out)
{
    const struct pe_plan *plan = coordinate->plan;
    if (pe_spec_is_given(&plan->spec)) {
        pe__given_pairs(&plan->spec, coordinate->at[coordinate->axis], first, n, out);
        return 0;
    }
    return plan->spec.kind->ops->mixed
               ? plan->spec.kind->ops->mixed(coordinate, walk, first, n, out)
               : pe__plan_cis_row(coordinate, walk, first, n, out);
}

/* The frequencies that a block of pairs takes from one axis, in rising order: `n` from `first`. */
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
    for (size_t axis = 0; axis < plan->axes; axis++) {
        struct axis_range range = axis_frequencies(sources, n, axis);
        if (range.n == 0)
            continue;
        struct pe__coordinate coordinate = {plan, at, axis};
        double eps = pairs_row(&coordinate, &walk->axis[axis], range.first, range.n, &part);
        eps_max = eps > eps_max ? eps : eps_max;
        scatter_axis(sources, n, axis, range.first, &part, out);
    }
    return eps_max;
}

static bool all_still(const struct pe_plan *plan, size_t first, size_t n)
{
    return plan->still && !memchr(plan->still + first, 0, n);
}

static double stand_still(size_t n, struct pe__planes *out)
{
    for (size_t j = 0; j < n; j++) {
        out->cos_hi[j] = 1;
        out->cos_lo[j] = out->sin_hi[j] = out->sin_lo[j] = 0;
    }
    return 0;
}

static double turn(const struct pe_plan *plan, struct pe__plan_walk *walk,
                   const struct pe__pos at[PE_AXES_MAX], size_t first, size_t n,
                   struct pe__planes *out)
{
    if (all_still(plan, first, n))
        return stand_still(n, out);
    struct pe__coordinate coordinate = {plan, at, 0};
    return plan->sources ? several_axes(plan, walk, at, first, n, out)
                         : pairs_row(&coordinate, &walk->axis[0], first, n, out);
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

#define GUARD_BITS 8 /* so that the factor's own error does not count */

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
    size_t axis;
    bool is_sine;
};

static void set_both(double cosine, double sine, mpfr_ptr c, mpfr_ptr s)
{
    if (c)
        mpfr_set_d(c, cosine, MPFR_RNDN);
    if (s)
        mpfr_set_d(s, sine, MPFR_RNDN);
}

void pe__plan_cis_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c, mpfr_ptr s)
{
    const struct pe_plan *plan = coordinate->plan;
    if (plan->w)
        pe__staged_cis_exact(coordinate, k, c, s);
    else if (plan->coordinate || coordinate->at[coordinate->axis].hi != 0)
        pe__coordinate_cis_exact(coordinate, k, c, s);
    else
        set_both(1, 0, c, s);
}

static void unrounded_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c,
                            mpfr_ptr s)
{
    const struct pe_plan *plan = coordinate->plan;
    if (pe__is_padding(plan, coordinate->at[0])) {
        set_both(0, 0, c, s);
        return;
    }
    if (pe_spec_is_given(&plan->spec))
        pe__given_pair_exact(&plan->spec, coordinate->at[coordinate->axis], k, c, s);
    else if (plan->spec.kind->ops->mixed)
        plan->spec.kind->ops->mixed_exact(coordinate, k, c, s);
    else
        pe__plan_cis_exact(coordinate, k, c, s);
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
    struct pe__coordinate coordinate = {value->plan, value->at, source.axis};
    unrounded_exact(&coordinate, source.k, value->is_sine ? NULL : y, value->is_sine ? y : NULL);
}

static double round_table(const struct pe_plan *plan, const struct pe__pos at[PE_AXES_MAX],
                          size_t first, size_t n, double eps, struct pe__planes *out)
{
    struct value value = {.plan = plan, .at = at};
    pe__staged_values(plan, value_exact, &value, first, n, eps, out->cos_hi, out->cos_lo);
    value.is_sine = true;
    pe__staged_values(plan, value_exact, &value, first, n, eps, out->sin_hi, out->sin_lo);
    return 0;
}

/* What a token without a position has: the angle 0, or nothing to add. */
static double no_pairs(const struct pe_plan *plan, size_t n, struct pe__planes *out)
{
    double cosine = plan->spec.kind->acts == PE_ROTATES ? 1 : 0;
    for (size_t j = 0; j < n; j++) {
        out->cos_hi[j] = cosine;
        out->cos_lo[j] = out->sin_hi[j] = out->sin_lo[j] = 0;
    }
    return 0;
}

double pe__plan_pairs_at(const struct pe_plan *plan, struct pe__plan_walk *walk,
                         const struct pe__pos at[PE_AXES_MAX], size_t first, size_t n,
                         struct pe__planes *out)
{
    if (pe__is_padding(plan, at[0]))
        return no_pairs(plan, n, out);
    double eps = turn(plan, walk, at, first, n, out);
    if (plan->direction < 0)
        turn_back(n, out);
    if (plan->amplified)
        eps = multiply_planes(&plan->attention, 1, n, eps, out);
    if (pe__stage_named(&plan->stages, PE_STAGE_TABLE))
        eps = round_table(plan, at, first, n, eps, out);
    return eps;
}

static void places_of(const struct pe_plan *plan, const struct pe_positions *positions,
                      size_t token, struct pe__pos at[PE_AXES_MAX])
{
    for (size_t axis = 0; axis < plan->axes; axis++)
        at[axis] = pe__plan_position(plan, positions->at[axis][token]);
}

double pe__plan_pairs(const struct pe_plan *plan, struct pe__plan_walk *walk,
                      const struct pe_positions *positions, size_t token, size_t first, size_t n,
                      struct pe__planes *out)
{
    struct pe__pos at[PE_AXES_MAX] = {{0, 0}};
    places_of(plan, positions, token, at);
    return pe__plan_pairs_at(plan, walk, at, first, n, out);
}

/* For frequency k, in place of the pair. */
static void frequency_value_exact(const void *context, size_t k, mpfr_t y)
{
    const struct value *value = context;
    struct pe__coordinate coordinate = {value->plan, value->at, value->axis};
    unrounded_exact(&coordinate, k, value->is_sine ? NULL : y, value->is_sine ? y : NULL);
}

static void rounded_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c, mpfr_ptr s)
{
    const struct pe_plan *plan = coordinate->plan;
    if (!pe__stage_named(&plan->stages, PE_STAGE_TABLE)) {
        unrounded_exact(coordinate, k, c, s);
        return;
    }
    enum pe_dtype dtype = plan->stages.dtype[PE_STAGE_TABLE];
    struct value value = {plan, coordinate->at, coordinate->axis, false};
    if (c)
        mpfr_set_d(c, pe__round_exact_f64(dtype, frequency_value_exact, &value, k), MPFR_RNDN);
    value.is_sine = true;
    if (s)
        mpfr_set_d(s, pe__round_exact_f64(dtype, frequency_value_exact, &value, k), MPFR_RNDN);
}

void pe__plan_pair_exact_at(const struct pe_plan *plan, const struct pe__pos at[PE_AXES_MAX],
                            size_t pair, mpfr_ptr c, mpfr_ptr s)
{
    struct pe__source source = pe__pair_source(plan, pair);
    rounded_exact(&(struct pe__coordinate){plan, at, source.axis}, source.k, c, s);
}

void pe__plan_pair_exact(const struct pe_plan *plan, const struct pe_positions *positions,
                         size_t token, size_t pair, mpfr_ptr c, mpfr_ptr s)
{
    struct pe__pos at[PE_AXES_MAX] = {{0, 0}};
    places_of(plan, positions, token, at);
    pe__plan_pair_exact_at(plan, at, pair, c, s);
}
