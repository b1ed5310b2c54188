// SPDX-License-Identifier: Apache-2.0
/*
 * scores_parts.c: the parts of a score and the lengths of vectors as balls; see scores_parts.h. A
 * part is the sum of products of two rows of numbers: sums over the vectors on one side, the
 * encoding's values at a place on the other.
 */
#include "scores_parts.h"

#include <stdlib.h>
#include <string.h>

#include "operation.h"
#include "scores_staged.h"

#define ROWS_N 6

/* ---- Terms -------------------------------------------------------------------------------- */

size_t pe__mixed_factors(const struct pe__cell *cell, size_t t, size_t v, double a[2], double b[2])
{
    const struct pe_scores *job = cell->job;
    size_t pairs = job->plan->pairs;
    size_t pair = t < pairs ? t : t - pairs;
    a[0] = pe__term_element(cell, job->q, v, t < 2 * pairs ? pair : t);
    b[0] = pe__term_element(cell, job->k, v, t < 2 * pairs ? pair : t);
    if (t >= 2 * pairs)
        return 1;
    a[1] = pe__term_element(cell, job->q, v, pairs + pair);
    b[1] = pe__term_element(cell, job->k, v, pairs + pair);
    if (t >= pairs) {
        double second = b[0];
        b[0] = b[1];
        b[1] = -second;
    }
    return 2;
}

/* Channels of the pairs, then those that belong to none; returns how many terms. */
static size_t order_terms(const struct pe_plan *plan, size_t dim, bool *taken, size_t *order)
{
    size_t pairs = plan->pairs;
    for (size_t pair = 0; pair < pairs; pair++) {
        size_t *c = &order[pair];
        size_t *s = &order[pairs + pair];
        if (plan->spec.kind->acts == PE_ROTATES)
            pe_spec_pair_members(&plan->spec, pair, false, c, s);
        else
            plan->spec.kind->ops->pair_channels(&plan->spec, pair, c, s);
        if (*c != PE__NO_CHANNEL)
            taken[*c] = true;
        if (*s != PE__NO_CHANNEL)
            taken[*s] = true;
    }
    size_t next = 2 * pairs;
    for (size_t channel = 0; channel < dim; channel++)
        if (!taken[channel])
            order[next++] = channel;
    return next;
}

/* ---- Rows --------------------------------------------------------------------------------- */

static struct pe__dd row_at(const struct pe__row *row, size_t t)
{
    return (struct pe__dd){row->hi[t], row->lo[t]};
}

static void row_clear(struct pe__row *row)
{
    row->eps = 0;
    row->size = 0;
}

/* Sum of the products of two rows. */
static struct pe__ball row_dot(const struct pe__row *a, const struct pe__row *b, size_t n)
{
    struct pe__sum sum = {0};
    for (size_t t = 0; t < n; t++)
        pe__sum_add(&sum, row_at(a, t), row_at(b, t));
    struct pe__ball dot = pe__sum_ball(&sum);
    dot.eps += (a->eps * b->size + b->eps * a->size + a->eps * b->eps * (double)n) * 1.001;
    return dot;
}

static void row_put(struct pe__row *row, size_t t, struct pe__ball value)
{
    row->hi[t] = value.hi;
    row->lo[t] = value.lo;
    row->eps = value.eps <= row->eps ? row->eps : value.eps;
    row->size += fabs(value.hi);
}

/* Element t of q or k, summed over the cell's vectors. */
static struct pe__ball element_sum(const struct pe__cell *cell, const double *vectors, size_t t)
{
    struct pe__sum sum = {0};
    for (size_t v = cell->first; v < cell->first + cell->n; v++) {
        double x = pe__term_element(cell, vectors, v, t);
        if (cell->n == 1)
            return pe__ball_exact(x);
        pe__sum_add(&sum, (struct pe__dd){x, 0}, (struct pe__dd){1, 0});
    }
    return pe__sum_ball(&sum);
}

static struct pe__ball mixed_sum(const struct pe__cell *cell, size_t t)
{
    struct pe__sum sum = {0};
    double a[2];
    double b[2];
    for (size_t v = cell->first; v < cell->first + cell->n; v++) {
        size_t factors_n = pe__mixed_factors(cell, t, v, a, b);
        for (size_t i = 0; i < factors_n; i++)
            pe__sum_add(&sum, (struct pe__dd){a[i], 0}, (struct pe__dd){b[i], 0});
    }
    return pe__sum_ball(&sum);
}

static struct pe__ball content_sum(const struct pe__cell *cell)
{
    const struct pe_scores *job = cell->job;
    struct pe__sum sum = {0};
    for (size_t i = cell->first * job->dim; i < (cell->first + cell->n) * job->dim; i++)
        pe__sum_add(&sum, (struct pe__dd){job->q[i], 0}, (struct pe__dd){job->k[i], 0});
    return pe__sum_ball(&sum);
}

/* ---- Vectors ------------------------------------------------------------------------------ */

/* Makes [first, first + n) the vectors that parts are summed over. */
void pe__choose_vectors(struct pe__parts *parts, size_t first, size_t n)
{
    if (parts->first == first && parts->n == n)
        return;
    parts->first = first;
    parts->n = n;
    struct pe__cell cell = parts->cell;
    cell.first = first;
    cell.n = n;
    if (pe__has_part(parts, PE__CONTENT))
        parts->content = content_sum(&cell);
    if (pe__has_part(parts, PE__ROTATED)) {
        row_clear(&parts->mixed);
        for (size_t t = 0; t < cell.terms_n; t++)
            row_put(&parts->mixed, t, mixed_sum(&cell, t));
    }
    if (pe__has_part(parts, PE__POSITION)) {
        row_clear(&parts->query_sum);
        row_clear(&parts->key_sum);
        for (size_t t = 0; t < cell.terms_n; t++) {
            row_put(&parts->query_sum, t, element_sum(&cell, parts->job->q, t));
            row_put(&parts->key_sum, t, element_sum(&cell, parts->job->k, t));
        }
    }
}

struct pe__ball pe__length_ball(struct pe__parts *parts, const double *vectors, size_t v,
                                bool after, const struct pe__row *code)
{
    const struct pe__cell *cell = &parts->cell;
    const struct pe_plan *plan = parts->job->plan;
    size_t amplified_n = after && plan->amplified ? 2 * plan->pairs : 0;
    const struct pe__spot *at = code == &parts->anchor_code ? &cell->anchor : &cell->place;
    if (cell->staged && code)
        return pe__staged_length(&(struct pe__encoded){cell, vectors, v, at, code});
    struct pe__row *encoded = &parts->encoded;
    row_clear(encoded);
    for (size_t t = 0; t < parts->cell.terms_n; t++) {
        struct pe__ball x = pe__ball_exact(pe__term_element(&parts->cell, vectors, v, t));
        if (code)
            x = pe__ball_add(x, (struct pe__ball){code->hi[t], code->lo[t], code->eps});
        else if (t < amplified_n)
            x = pe__ball_mul(x, plan->attention);
        row_put(encoded, t, x);
    }
    return pe__ball_sqrt(row_dot(encoded, encoded, parts->cell.terms_n));
}

/* ---- Codes -------------------------------------------------------------------------------- */

static size_t blocks_of(const struct pe_plan *plan)
{
    return (plan->pairs + PE__BLOCK - 1) / PE__BLOCK;
}

static void code_from_pairs(struct pe__parts *parts, const struct pe_plan *plan,
                            const struct pe__spot *at, struct pe__row *code)
{
    struct pe__planes planes;
    size_t pairs = plan->pairs;
    struct pe__plan_walk *walk = parts->walks + (plan == parts->job->plan ? 0 : blocks_of(plan));
    for (size_t first = 0; first < pairs; first += PE__BLOCK) {
        size_t n = pairs - first < PE__BLOCK ? pairs - first : PE__BLOCK;
        double eps = pe__plan_pairs_at(plan, walk++, at->axis, first, n, &planes);
        if (plan->amplified && pe__has_part(parts, PE__ROTATED))
            eps = pe__plan_amplify(plan, n, eps, &planes);
        memcpy(&code->hi[first], planes.cos_hi, n * sizeof(double));
        memcpy(&code->lo[first], planes.cos_lo, n * sizeof(double));
        memcpy(&code->hi[pairs + first], planes.sin_hi, n * sizeof(double));
        memcpy(&code->lo[pairs + first], planes.sin_lo, n * sizeof(double));
        code->eps = eps <= code->eps ? code->eps : eps;
    }
    double rest = pe__has_part(parts, PE__ROTATED) ? 1 : 0;
    for (size_t t = 0; t < parts->cell.terms_n; t++)
        if (t >= 2 * pairs || parts->order[t] == PE__NO_CHANNEL) {
            code->hi[t] = t >= 2 * pairs ? rest : 0;
            code->lo[t] = 0;
        }
}

/* The encoding's value in every term at a place (shift included). */
static void make_code(struct pe__parts *parts, const struct pe_plan *plan,
                      const struct pe__spot *at, struct pe__row *code)
{
    row_clear(code);
    code->plan = plan;
    if (plan->cis)
        code_from_pairs(parts, plan, at, code);
    else
        code->eps = pe__plan_row(plan, at->axis[0], 0, parts->cell.terms_n, code->hi, code->lo);
    if (plan->spec.kind->properties & PE_LEARNED) { /* a learned table is one of doubles */
        memset(code->lo, 0, parts->cell.terms_n * sizeof *code->lo);
        code->eps = 0;
    }
    for (size_t t = 0; t < parts->cell.terms_n; t++)
        code->size += fabs(code->hi[t]);
}

/* The place of anchor + offset, exact unless that spans more than 106 bits; with a pos stage the
 * sum is rounded to it. */
static struct pe__pos place_of(const struct pe_plan *plan, double anchor, double offset)
{
    const struct pe_stages *stages = &plan->stages;
    struct pe__dd sum = pe__two_sum(anchor, offset);
    if (pe__stage_named(stages, PE_STAGE_POS))
        sum = (struct pe__dd){pe__sum(stages->dtype[PE_STAGE_POS], anchor, offset), 0};
    return pe__place_sum(&plan->placing, sum);
}

/* Whether scores are made of the encoding's values at both places. */
static bool has_codes(const struct pe__parts *parts)
{
    enum pe_acts acts = parts->job->plan->spec.kind->acts;
    return acts == PE_ADDS || (acts == PE_ROTATES && parts->cell.staged);
}

static void make_anchor_code(struct pe__parts *parts)
{
    if (has_codes(parts))
        make_code(parts, parts->job->plan, &parts->cell.anchor, &parts->anchor_code);
}

static void make_place_code(struct pe__parts *parts)
{
    const struct pe_scores *job = parts->job;
    const struct pe_plan *plan = job->k_plan ? job->k_plan : job->plan;
    if (has_codes(parts))
        make_code(parts, plan, &parts->cell.place, &parts->place_code);
    if (pe__has_part(parts, PE__ROTATED))
        make_code(parts, plan, &parts->cell.apart, &parts->place_code);
}

void pe__choose_place(struct pe__parts *parts, double anchor, double offset)
{
    struct pe__cell *cell = &parts->cell;
    const struct pe_scores *job = parts->job;
    const struct pe_plan *plan = job->k_plan ? job->k_plan : job->plan;
    cell->place.axis[0] = place_of(plan, anchor, offset);
    cell->distance = job->anchor_is_key ? offset : 0 - offset;
    cell->apart.axis[0] = pe__place_distance(&plan->placing, (struct pe__dd){cell->distance, 0});
    make_place_code(parts);
}

void pe__choose_anchor(struct pe__parts *parts, double anchor)
{
    parts->cell.anchor.axis[0] = place_of(parts->job->plan, anchor, 0);
    make_anchor_code(parts);
}

void pe__choose_query(struct pe__parts *parts, const struct pe_positions *queries, size_t query)
{
    const struct pe_plan *plan = parts->job->plan;
    for (size_t axis = 0; axis < plan->axes; axis++)
        parts->cell.anchor.axis[axis] = place_of(plan, queries->at[axis][query], 0);
    make_anchor_code(parts);
}

void pe__choose_key(struct pe__parts *parts, const struct pe_positions *queries, size_t query,
                    const struct pe_positions *keys, size_t key)
{
    struct pe__cell *cell = &parts->cell;
    const struct pe_plan *plan = parts->job->plan;
    for (size_t axis = 0; axis < plan->axes; axis++) {
        double m = queries->at[axis][query];
        double n = keys->at[axis][key];
        cell->place.axis[axis] = place_of(plan, n, 0);
        cell->apart.axis[axis] = pe__place_distance(&plan->placing, pe__two_sum(m, -n));
    }
    make_place_code(parts);
}

/* ---- Parts -------------------------------------------------------------------------------- */

/* The biases of the chosen vectors, which are the same but for kinds made of them. */
static struct pe__ball bias_sum(const struct pe__parts *parts)
{
    const struct pe_plan *plan = parts->job->plan;
    struct pe__bias_at at = pe__cell_bias(&parts->cell, parts->first);
    struct pe__ball sum = pe__plan_bias(plan, &at);
    if (!(plan->spec.kind->properties & PE_CONTENT))
        return pe__ball_mul(pe__ball_exact((double)parts->n), sum);
    for (size_t v = parts->first + 1; v < parts->first + parts->n; v++) {
        at = pe__cell_bias(&parts->cell, v);
        sum = pe__ball_add(sum, pe__plan_bias(plan, &at));
    }
    return sum;
}

/* One part, summed over the chosen vectors. */
struct pe__ball pe__part_ball(const struct pe__parts *parts, enum pe__part part)
{
    size_t terms_n = parts->cell.terms_n;
    struct pe__ball n = pe__ball_exact((double)parts->n);
    switch (part) {
    case PE__CONTENT:
        return parts->content;
    case PE__CROSS_Q:
        return row_dot(&parts->query_sum, pe__key_code(parts), terms_n);
    case PE__CROSS_K:
        return row_dot(&parts->key_sum, pe__query_code(parts), terms_n);
    case PE__POSITION:
        return pe__ball_mul(n, row_dot(pe__query_code(parts), pe__key_code(parts), terms_n));
    case PE__BIAS:
        return bias_sum(parts);
    case PE__ROTATED:
    default:
        return row_dot(&parts->mixed, &parts->place_code, terms_n);
    }
}

struct pe__ball pe__parts_sum(const struct pe__parts *parts)
{
    struct pe__ball sum = {0, 0, 0};
    struct pe__cell chosen = parts->cell;
    chosen.first = parts->first;
    chosen.n = parts->n;
    if (chosen.staged)
        return pe__staged_sum(&chosen);
    for (unsigned part = 0; part < PE__PARTS_N; part++)
        if (pe__has_part(parts, part))
            sum = pe__ball_add(sum, pe__part_ball(parts, part));
    return sum;
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* With stages only the terms of adding kinds are made of parts. */
static unsigned parts_of(enum pe_acts acts, bool staged)
{
    if (staged && acts != PE_ADDS)
        return 0;
    switch (acts) {
    case PE_ADDS:
        return 1u << PE__CONTENT | 1u << PE__CROSS_Q | 1u << PE__CROSS_K | 1u << PE__POSITION;
    case PE_ROTATES:
        return 1u << PE__ROTATED;
    case PE_BIASES:
        return 1u << PE__CONTENT | 1u << PE__BIAS;
    case PE_ACTS_NOT:
    default:
        return 1u << PE__CONTENT;
    }
}

/* Where the farthest key stands. */
static double farthest_key(const struct pe_scores *job)
{
    double anchor = -INFINITY;
    double offset = job->anchor_is_key ? 0 : -INFINITY;
    for (size_t a = 0; a < job->anchors_n; a++)
        anchor = fmax(anchor, job->anchors[a]);
    for (size_t o = 0; o < job->offsets_n && !job->anchor_is_key; o++)
        offset = fmax(offset, job->offsets[o]);
    return anchor + offset;
}

/* Channels are those of the vectors once they are encoded. */
static void invert_order(const struct pe__cell *cell, size_t *term_of)
{
    const struct pe_plan *plan = cell->job->plan;
    for (size_t t = 0; t < cell->terms_n; t++)
        if (cell->order[t] != PE__NO_CHANNEL)
            term_of[cell->order[t]] = t;
    for (size_t t = 0; plan->moved && t < 2 * plan->pairs; t++)
        term_of[plan->offset + t] = t;
}

static void cut_rows(struct pe__parts *parts, size_t n)
{
    struct pe__row *rows[ROWS_N] = {&parts->query_sum,   &parts->key_sum,    &parts->mixed,
                                    &parts->anchor_code, &parts->place_code, &parts->encoded};
    for (size_t i = 0; i < ROWS_N; i++) {
        rows[i]->hi = parts->numbers + 2 * i * n;
        rows[i]->lo = rows[i]->hi + n;
    }
}

bool pe__parts_init(struct pe__parts *parts, struct pe_scores *job)
{
    const struct pe_plan *plan = job->plan;
    size_t blocks_n = (job->k_plan ? 2 : 1) * blocks_of(plan);
    size_t terms_max = 2 * plan->pairs + job->dim;
    *parts = (struct pe__parts){.job = job};
    bool *taken = calloc(job->dim, sizeof *taken);
    parts->order = malloc((terms_max + job->dim) * sizeof *parts->order);
    parts->numbers = malloc(ROWS_N * 2 * terms_max * sizeof *parts->numbers);
    parts->walks = aligned_alloc(64, (blocks_n + 1) * sizeof *parts->walks);
    bool made = taken && parts->order && parts->numbers && parts->walks;
    bool staged = pe__scores_are_staged(job);
    if (made) {
        parts->cell = (struct pe__cell){
            .job = job,
            .parts = parts_of(plan->spec.kind->acts, staged),
            .staged = staged,
            .order = parts->order,
            .term_of = parts->order + terms_max,
            .anchor_code = &parts->anchor_code,
            .place_code = &parts->place_code,
            .terms_n = order_terms(plan, job->dim, taken, parts->order),
            .n = job->vectors_n,
            .bias_places = pe__bias_places_count(&plan->spec),
            .last = farthest_key(job),
            .divides_by_zero = &parts->divides_by_zero,
        };
        invert_order(&parts->cell, parts->order + terms_max);
        cut_rows(parts, parts->cell.terms_n);
        for (size_t i = 0; i < blocks_n; i++)
            pe__plan_walk_init(&parts->walks[i]);
    }
    free(taken);
    return made;
}

void pe__parts_release(struct pe__parts *parts)
{
    free(parts->walks);
    free(parts->numbers);
    free(parts->order);
}
