// SPDX-License-Identifier: Apache-2.0
/*
 * plan.c: what is computed once per encoding: an own copy of the spec, digit tables of its
 * frequencies for the positions in question, constants of the kind. The numbers themselves come
 * from cis.c and the kind.
 */
#include <stdlib.h>
#include <string.h>

#include "dd.h"
#include "kind.h"
#include "method.h"
#include "staged.h"

#define ATTENTION_BITS 160 /* of numbers that a plan has one of */

/* ---- Making a plan ------------------------------------------------------------------------ */

/* A parameter that not every kind has. */
static double number_or(const struct pe_spec *spec, const char *name, double fallback)
{
    bool has = pe_params_find(&spec->params, name, strlen(name)) >= 0;
    return has ? pe_spec_number(spec, name) : fallback;
}

static double padding_of(const struct pe_spec *spec)
{
    int row = pe_params_find(&spec->params, "padding_idx", strlen("padding_idx"));
    bool given = row >= 0 && spec->params.value[row].set;
    return given ? spec->params.value[row].number : __builtin_nan("");
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
    struct pe__pos place;
    pe__place(&plan->placing, pe_stages_position(&plan->stages, p), &place);
    return place;
}

#define ALL_GROUPS (((uint32_t)1 << PE__GROUPS_N) - 1)

/* With a shift also the groups without it: scores are made of cos and sin of distances. */
static uint32_t needed_groups(const struct pe_plan *plan, const struct pe_positions *positions)
{
    uint32_t groups = plan->coordinate ? ALL_GROUPS : 0;
    for (size_t axis = 0; !plan->coordinate && axis < positions->axes; axis++)
        for (size_t i = 0; i < positions->n; i++) {
            double p = positions->at[axis][i];
            if (isnan(p))
                continue;
            groups |= pe__groups(pe__plan_position(plan, p));
            if (plan->placing.shift != 0)
                groups |= pe__groups(pe__place_distance(&plan->placing, (struct pe__dd){p, 0}));
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

/* For freq_method=iterated. */
static bool make_running(struct pe_plan *plan, size_t n)
{
    const struct pe_spec *spec = &plan->spec;
    if (pe__method_of(spec) != PE__METHOD_ITERATED)
        return true;
    plan->running = malloc((n + 1) * sizeof *plan->running);
    if (!plan->running)
        return false;
    plan->bytes += n * sizeof *plan->running;
    size_t width = 0; /* of the series whose factor this is */
    double factor = 0;
    for (size_t k = 0; k < n; k++) {
        size_t number = plan->order ? plan->order[k] : k;
        struct pe__series series = spec->kind->ops->series(spec, number, &number);
        if (series.width != width) {
            MPFR_DECL_INIT(base, ATTENTION_BITS);
            pe__series_base(&series, base);
            factor = pe__method_step(base, series.width);
            width = series.width;
        }
        plan->running[k] = (struct pe__running){number, factor};
    }
    return true;
}

/* With an angle stage cos and sin are of doubles: a single frequency, every digit. */
static bool make_angles(struct pe_plan *plan)
{
    size_t n = plan->spec.kind->ops->frequencies_n(&plan->spec);
    plan->cis = pe__cis_new(frequency_one, NULL, PE__RADIANS, 1, ALL_GROUPS);
    plan->w = malloc((n + 1) * sizeof *plan->w);
    if (!plan->w)
        return false;
    plan->bytes += n * sizeof *plan->w;
    if (!make_running(plan, n))
        return false;
    for (size_t k = 0; k < n; k++)
        plan->w[k] = pe__plan_speed_ball(plan, k);
    return true;
}

/* Where every pair has a frequency of its own: those of one axis next to each other, so that a
 * block of pairs takes a row of them from each. */
static bool order_by_axis(struct pe_plan *plan)
{
    plan->order = malloc(plan->pairs * sizeof *plan->order);
    if (!plan->order)
        return false;
    plan->bytes += plan->pairs * sizeof *plan->order;
    uint32_t n = 0;
    for (uint32_t axis = 0; axis < plan->axes; axis++)
        for (size_t pair = 0; pair < plan->pairs; pair++) {
            struct pe__source *source = &plan->sources[pair];
            if (source->axis != axis)
                continue;
            plan->order[n] = source->k;
            source->k = n++;
        }
    return true;
}

/* Looked up once, because spec parameters are found by name. */
static bool make_sources(struct pe_plan *plan)
{
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    plan->sources = malloc(plan->pairs * sizeof *plan->sources);
    if (!plan->sources)
        return false;
    plan->bytes += plan->pairs * sizeof *plan->sources;
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        size_t axis;
        size_t k;
        ops->pair_source(&plan->spec, pair, &axis, &k);
        plan->sources[pair] = (struct pe__source){(uint32_t)axis, (uint32_t)k};
    }
    return ops->frequencies_n(&plan->spec) < plan->pairs || order_by_axis(plan);
}

static bool make_speeds(struct pe_plan *plan)
{
    size_t n = plan->spec.kind->ops->frequencies_n(&plan->spec);
    plan->speed = malloc((n + 1) * sizeof *plan->speed);
    if (!plan->speed)
        return false;
    plan->bytes += n * sizeof *plan->speed;
    for (size_t k = 0; k < n; k++)
        plan->speed[k] = pe__plan_speed_ball(plan, k).hi;
    return true;
}

static bool has_no_frequency(const struct pe_plan *plan, size_t pair)
{
    size_t k = pe__pair_source(plan, pair).k;
    return plan->w ? plan->w[k].hi == 0 : pe__cis_is_zero(plan->cis, k);
}

/* Pairs that do not turn are told apart: they are exact. */
static bool make_still(struct pe_plan *plan)
{
    size_t n = 0;
    if (plan->spec.kind->ops->mixed) /* with others that may */
        return true;
    for (size_t pair = 0; pair < plan->pairs; pair++)
        n += has_no_frequency(plan, pair);
    if (n == 0)
        return true;
    plan->still = malloc(plan->pairs * sizeof *plan->still);
    if (!plan->still)
        return false;
    plan->bytes += plan->pairs * sizeof *plan->still;
    for (size_t pair = 0; pair < plan->pairs; pair++)
        plan->still[pair] = has_no_frequency(plan, pair);
    return true;
}

/* Members that take their angles from a table of another layout. */
static bool make_crossed(struct pe_plan *plan)
{
    size_t pairs = plan->pairs;
    double pair_table = number_or(&plan->spec, "pair_table", 0);
    if (pair_table == 0)
        return true;
    plan->crossed = malloc(2 * pairs * sizeof *plan->crossed);
    if (!plan->crossed)
        return false;
    plan->bytes += 2 * pairs * sizeof *plan->crossed;
    bool tiled = pair_table == 1;
    for (size_t pair = 0; pair < pairs; pair++) {
        size_t a, b;
        pe_spec_pair_channels(&plan->spec, pair, &a, &b);
        plan->crossed[pair] = (uint32_t)(tiled ? a % pairs : a / 2);
        plan->crossed[pairs + pair] = (uint32_t)(tiled ? b % pairs : b / 2);
    }
    return true;
}

/* Where rotated members go, if that is not where they come from. */
static bool make_moved(struct pe_plan *plan)
{
    bool differ = false;
    if (plan->spec.kind->acts != PE_ROTATES)
        return true;
    plan->moved = malloc(2 * plan->pairs * sizeof *plan->moved);
    if (!plan->moved)
        return false;
    for (size_t pair = 0; pair < plan->pairs; pair++) {
        size_t from[2], to[2];
        pe_spec_pair_members(&plan->spec, pair, false, &from[0], &from[1]);
        pe_spec_pair_members(&plan->spec, pair, true, &to[0], &to[1]);
        plan->moved[to[0] - plan->offset] = (uint32_t)from[0];
        plan->moved[to[1] - plan->offset] = (uint32_t)from[1];
        differ |= from[0] != to[0] || from[1] != to[1];
    }
    if (differ) {
        plan->bytes += 2 * plan->pairs * sizeof *plan->moved;
        return true;
    }
    free(plan->moved);
    plan->moved = NULL;
    return true;
}

static bool make_cis(struct pe_plan *plan, const struct pe_positions *positions)
{
    const struct pe__kind_ops *ops = plan->spec.kind->ops;
    plan->pairs = ops->pairs_n(&plan->spec);
    if (ops->pair_source && !make_sources(plan))
        return false;
    if (pe_spec_is_given(&plan->spec))
        return true;
    if (plan->coordinate && !make_speeds(plan))
        return false;
    if (pe__stage_named(&plan->stages, PE_STAGE_ANGLE) && !make_angles(plan))
        return false;
    if (!pe__stage_named(&plan->stages, PE_STAGE_ANGLE))
        plan->cis = pe__cis_new(scaled_frequency, plan, plan->unit, ops->frequencies_n(&plan->spec),
                                needed_groups(plan, positions));
    if (!plan->cis)
        return false;
    plan->bytes += pe__cis_bytes(plan->cis);
    return make_still(plan) && make_moved(plan) && make_crossed(plan);
}

static void slope_exact(const void *context, size_t head, mpfr_t y)
{
    const struct pe_spec *spec = context;
    spec->kind->ops->slope(spec, head, y);
}

static void round_slopes(struct pe_plan *plan)
{
    size_t first = plan->spec.kind->ops->slopes_at;
    size_t n = pe_spec_heads(&plan->spec);
    for (size_t head = 0; head < n; head++) {
        plan->constant_hi[first + head] =
            pe__round_exact_f64(plan->stages.dtype[PE_STAGE_FREQ], slope_exact, &plan->spec, head);
        plan->constant_lo[first + head] = 0;
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
        round_slopes(plan);
    return true;
}

enum pe_status pe_plan_new(const struct pe_spec *spec, const struct pe_positions *positions,
                           struct pe_plan **plan)
{
    return pe_plan_staged(spec, &(struct pe_stages){0}, positions, plan);
}

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
    p->placing = pe__placing_of(spec);
    p->shift = number_or(spec, "shift", 0);
    p->offset = (size_t)number_or(spec, "rotary_offset", 0);
    p->direction = number_or(spec, "direction", 1);
    p->axes = pe_spec_axes(spec);
    p->unit = number_or(spec, "angle_unit", 0) == 0 ? PE__RADIANS : PE__TURNS;
    p->padding = padding_of(spec);
    p->coordinate = spec->kind->ops->coordinate ? spec->kind->ops->coordinate(spec) : NULL;
    if (made)
        make_attention(p);
    if (made && spec->kind->ops->frequency)
        made = make_cis(p, positions);
    if (made && spec->kind->ops->scale) {
        p->center = pe_spec_number(spec, "center");
        p->scale_base = pe_spec_number(spec, "scale_base");
        made = pe__scales_new(p);
    }
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
    free(plan->running);
    free(plan->speed);
    free(plan->crossed);
    free(plan->moved);
    free(plan->still);
    free(plan->scale_log);
    free(plan->sources);
    free(plan->order);
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

void pe_thread_end(void)
{
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    mpfr_free_pool();
}
