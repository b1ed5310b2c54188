// SPDX-License-Identifier: Apache-2.0
/*
 * scores.c: how q.k depends on where the two stand. Every number is the exact mean over the vectors
 * rounded once: computed as a ball (ball.h), and by MPFR (scores_exact.c) where the ball does not
 * decide the rounding. Kinds whose scores depend on the distance alone are computed once per offset
 * and copied to the other anchors. What the parts of a score are is said in scores.h.
 */
#include <stdlib.h>
#include <string.h>

#include "ball.h"
#include "round.h"
#include "scores.h"

/* Numbers in the order of the terms, each off by at most eps. */
struct row {
    double *hi, *lo;
    double eps;
    double size; /* sum of |hi| */
};

#define ROWS_N 6

struct work {
    struct pe_scores *job;
    struct pe__cell cell; /* the one in work, with all vectors */
    size_t *order;
    double *numbers;             /* memory of the rows */
    struct pe__plan_walk *walks; /* one per block of pairs */
    bool divides_by_zero;

    size_t first, n; /* the vectors summed in what follows */
    struct row query_sum, key_sum, mixed;
    struct pe__ball content;

    struct row anchor_code, place_code; /* the encoding's values; rotating: cos, sin, 1 at place */
    struct row encoded;                 /* scratch: one vector plus its code */
    struct pe__ball start;              /* sum of parts at offset 0 */
};

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

static struct pe__dd row_at(const struct row *row, size_t t)
{
    return (struct pe__dd){row->hi[t], row->lo[t]};
}

static void row_clear(struct row *row)
{
    row->eps = 0;
    row->size = 0;
}

/* Sum of the products of two rows. */
static struct pe__ball row_dot(const struct row *a, const struct row *b, size_t n)
{
    struct pe__sum sum = {0};
    for (size_t t = 0; t < n; t++)
        pe__sum_add(&sum, row_at(a, t), row_at(b, t));
    struct pe__ball dot = pe__sum_ball(&sum);
    dot.eps += (a->eps * b->size + b->eps * a->size + a->eps * b->eps * (double)n) * 1.001;
    return dot;
}

static void row_put(struct row *row, size_t t, struct pe__ball value)
{
    row->hi[t] = value.hi;
    row->lo[t] = value.lo;
    row->eps = fmax(row->eps, value.eps);
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

static bool has_part(const struct work *work, enum pe__part part)
{
    return work->cell.parts >> part & 1;
}

/* Makes [first, first + n) the vectors that parts are summed over. */
static void choose_vectors(struct work *work, size_t first, size_t n)
{
    if (work->first == first && work->n == n)
        return;
    work->first = first;
    work->n = n;
    struct pe__cell cell = work->cell;
    cell.first = first;
    cell.n = n;
    if (has_part(work, PE__CONTENT))
        work->content = content_sum(&cell);
    if (has_part(work, PE__ROTATED)) {
        row_clear(&work->mixed);
        for (size_t t = 0; t < cell.terms_n; t++)
            row_put(&work->mixed, t, mixed_sum(&cell, t));
    }
    if (has_part(work, PE__POSITION)) {
        row_clear(&work->query_sum);
        row_clear(&work->key_sum);
        for (size_t t = 0; t < cell.terms_n; t++) {
            row_put(&work->query_sum, t, element_sum(&cell, work->job->q, t));
            row_put(&work->key_sum, t, element_sum(&cell, work->job->k, t));
        }
    }
}

/* Length of vector v of q or k, encoded with `code` unless that is NULL. */
static struct pe__ball length_ball(struct work *work, const double *vectors, size_t v,
                                   const struct row *code)
{
    struct row *encoded = &work->encoded;
    row_clear(encoded);
    for (size_t t = 0; t < work->cell.terms_n; t++) {
        struct pe__ball x = pe__ball_exact(pe__term_element(&work->cell, vectors, v, t));
        if (code)
            x = pe__ball_add(x, (struct pe__ball){code->hi[t], code->lo[t], code->eps});
        row_put(encoded, t, x);
    }
    return pe__ball_sqrt(row_dot(encoded, encoded, work->cell.terms_n));
}

static struct pe__ball mean_ball(struct pe__ball sum, size_t n)
{
    return n == 1 ? sum : pe__ball_div(sum, pe__ball_exact((double)n));
}

static struct pe__ball mean_length(struct work *work, const double *vectors, const struct row *code)
{
    struct pe__ball sum = {0, 0, 0};
    for (size_t v = 0; v < work->job->vectors_n; v++)
        sum = pe__ball_add(sum, length_ball(work, vectors, v, code));
    return mean_ball(sum, work->job->vectors_n);
}

/* ---- Codes -------------------------------------------------------------------------------- */

static void code_from_pairs(struct work *work, struct pe__pos at, struct row *code)
{
    const struct pe_plan *plan = work->job->plan;
    const struct pe__pos places[PE_AXES_MAX] = {at};
    struct pe__planes planes;
    size_t pairs = plan->pairs;
    for (size_t first = 0; first < pairs; first += PE__BLOCK) {
        size_t n = pairs - first < PE__BLOCK ? pairs - first : PE__BLOCK;
        double eps =
            pe__plan_pairs_at(plan, &work->walks[first / PE__BLOCK], places, first, n, &planes);
        memcpy(&code->hi[first], planes.cos_hi, n * sizeof(double));
        memcpy(&code->lo[first], planes.cos_lo, n * sizeof(double));
        memcpy(&code->hi[pairs + first], planes.sin_hi, n * sizeof(double));
        memcpy(&code->lo[pairs + first], planes.sin_lo, n * sizeof(double));
        code->eps = fmax(code->eps, eps);
    }
    double rest = has_part(work, PE__ROTATED) ? 1 : 0;
    for (size_t t = 0; t < work->cell.terms_n; t++)
        if (t >= 2 * pairs || work->order[t] == PE__NO_CHANNEL) {
            code->hi[t] = t >= 2 * pairs ? rest : 0;
            code->lo[t] = 0;
        }
}

/* The encoding's value in every term at a place (shift included). */
static void make_code(struct work *work, struct pe__pos at, struct row *code)
{
    const struct pe_plan *plan = work->job->plan;
    row_clear(code);
    if (plan->cis)
        code_from_pairs(work, at, code);
    else
        code->eps = plan->spec.kind->ops->row(plan, at, 0, work->cell.terms_n, code->hi, code->lo);
    for (size_t t = 0; t < work->cell.terms_n; t++)
        code->size += fabs(code->hi[t]);
}

/* ---- Scores ------------------------------------------------------------------------------- */

static const struct row *query_code(const struct work *work)
{
    return work->job->anchor_is_key ? &work->place_code : &work->anchor_code;
}

static const struct row *key_code(const struct work *work)
{
    return work->job->anchor_is_key ? &work->anchor_code : &work->place_code;
}

static struct pe__ball bias_ball(const struct work *work)
{
    const struct pe_scores *job = work->job;
    struct pe__ball bias;
    bias.eps = job->plan->spec.kind->ops->bias(job->plan, job->head, work->cell.distance, 0,
                                               &bias.hi, &bias.lo);
    return bias;
}

/* One part, summed over the chosen vectors. */
static struct pe__ball part_ball(const struct work *work, enum pe__part part)
{
    size_t terms_n = work->cell.terms_n;
    struct pe__ball n = pe__ball_exact((double)work->n);
    switch (part) {
    case PE__CONTENT:
        return work->content;
    case PE__CROSS_Q:
        return row_dot(&work->query_sum, key_code(work), terms_n);
    case PE__CROSS_K:
        return row_dot(&work->key_sum, query_code(work), terms_n);
    case PE__POSITION:
        return pe__ball_mul(n, row_dot(query_code(work), key_code(work), terms_n));
    case PE__BIAS:
        return pe__ball_mul(n, bias_ball(work));
    case PE__ROTATED:
    default:
        return row_dot(&work->mixed, &work->place_code, terms_n);
    }
}

static struct pe__ball parts_sum(const struct work *work)
{
    struct pe__ball sum = {0, 0, 0};
    for (unsigned part = 0; part < PE__PARTS_N; part++)
        if (has_part(work, part))
            sum = pe__ball_add(sum, part_ball(work, part));
    return sum;
}

/* Sum over the vectors of score / (length of q * length of k). */
static struct pe__ball cosines_sum(struct work *work)
{
    const struct pe_scores *job = work->job;
    bool adds = has_part(work, PE__POSITION);
    struct pe__ball sum = {0, 0, 0};
    for (size_t v = 0; v < job->vectors_n; v++) {
        choose_vectors(work, v, 1);
        struct pe__ball q = length_ball(work, job->q, v, adds ? query_code(work) : NULL);
        struct pe__ball k = length_ball(work, job->k, v, adds ? key_code(work) : NULL);
        struct pe__ball cosine = pe__ball_div(pe__ball_div(parts_sum(work), q), k);
        sum = pe__ball_add(sum, cosine);
    }
    choose_vectors(work, 0, job->vectors_n);
    return sum;
}

static struct pe__ball score_ball(struct work *work)
{
    const struct pe_scores *job = work->job;
    if (job->normalize == PE_NORMALIZE_FIRST) /* scale and number of vectors cancel */
        return pe__ball_div(parts_sum(work), work->start);
    struct pe__ball score =
        job->normalize == PE_NORMALIZE_COSINE ? cosines_sum(work) : parts_sum(work);
    score = mean_ball(score, job->vectors_n);
    if (job->scale != 1)
        score = pe__ball_mul(score, pe__ball_exact(job->scale));
    if (job->normalize == PE_NORMALIZE_MEAN)
        score = pe__ball_div(score, pe__ball_exact((double)job->dim / 2));
    if (job->scale_sqrt_dim)
        score = pe__ball_div(score, pe__ball_sqrt(pe__ball_exact((double)job->dim)));
    return score;
}

/* ---- Cells -------------------------------------------------------------------------------- */

/* Rounds one output of the current cell. */
static void store(struct work *work, enum pe__output output, struct pe__ball value, double *out)
{
    bool known = isfinite(value.hi) && isfinite(value.eps);
    if (!known || !pe__round(PE_F64, value.hi, value.lo, value.eps, out, 0))
        pe__round_exact(PE_F64, pe__cell_exact, &work->cell, output, out, 0);
}

/* anchor + offset + shift, exact unless the three span more than 106 bits. */
static struct pe__pos place_of(const struct pe_scores *job, double anchor, double offset)
{
    struct pe__dd sum = pe__two_sum(anchor, offset);
    sum = pe__dd_add(sum, (struct pe__dd){job->plan->shift, 0});
    return (struct pe__pos){sum.hi, sum.lo};
}

/* Moves to the cell at this anchor and offset. */
static void choose_cell(struct work *work, double anchor, double offset)
{
    struct pe__cell *cell = &work->cell;
    cell->place = place_of(work->job, anchor, offset);
    cell->distance = work->job->anchor_is_key ? offset : 0 - offset;
    if (has_part(work, PE__POSITION))
        make_code(work, cell->place, &work->place_code);
    if (has_part(work, PE__ROTATED))
        make_code(work, (struct pe__pos){cell->distance, 0}, &work->place_code);
}

static void choose_anchor(struct work *work, double anchor)
{
    work->cell.anchor = place_of(work->job, anchor, 0);
    if (has_part(work, PE__POSITION))
        make_code(work, work->cell.anchor, &work->anchor_code);
    choose_cell(work, anchor, 0);
    work->start = parts_sum(work);
}

static void compute_anchor(struct work *work, size_t a)
{
    struct pe_scores *job = work->job;
    bool adds = has_part(work, PE__POSITION);
    choose_anchor(work, job->anchors[a]);
    if (adds)
        store(work, PE__LENGTH_Q_AFTER, mean_length(work, job->q, &work->anchor_code),
              &job->norm_q_after[a]);
    for (size_t o = 0; o < job->offsets_n; o++) {
        size_t i = a * job->offsets_n + o;
        choose_cell(work, job->anchors[a], job->offsets[o]);
        store(work, PE__SCORE, score_ball(work), &job->scores[i]);
        for (unsigned part = 0; adds && part < PE__TERMS_N; part++)
            if (job->terms[part])
                store(work, part, mean_ball(part_ball(work, part), job->vectors_n),
                      &job->terms[part][i]);
        if (adds)
            store(work, PE__LENGTH_K_AFTER, mean_length(work, job->k, &work->place_code),
                  &job->norm_k_after[i]);
    }
}

/* Where only the distance counts every anchor has the scores of the first, and vectors keep their
 * length. */
static void copy_anchors(struct pe_scores *job)
{
    size_t n = job->offsets_n;
    for (size_t a = 1; a < job->anchors_n; a++)
        memcpy(job->scores + a * n, job->scores, n * sizeof *job->scores);
    for (size_t a = 0; a < job->anchors_n; a++)
        job->norm_q_after[a] = job->norm_q_before;
    for (size_t i = 0; i < job->anchors_n * n; i++)
        job->norm_k_after[i] = job->norm_k_before;
}

static void compute(struct work *work)
{
    struct pe_scores *job = work->job;
    choose_vectors(work, 0, job->vectors_n);
    store(work, PE__LENGTH_Q, mean_length(work, job->q, NULL), &job->norm_q_before);
    store(work, PE__LENGTH_K, mean_length(work, job->k, NULL), &job->norm_k_before);
    bool only_distance = !has_part(work, PE__POSITION);
    size_t anchors_n = only_distance && job->anchors_n > 1 ? 1 : job->anchors_n;
    for (size_t a = 0; a < anchors_n; a++)
        compute_anchor(work, a);
    if (only_distance)
        copy_anchors(job);
}

/* ---- Public ------------------------------------------------------------------------------- */

static unsigned parts_of(enum pe_acts acts)
{
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

static void cut_rows(struct work *work, size_t n)
{
    struct row *rows[ROWS_N] = {&work->query_sum,   &work->key_sum,    &work->mixed,
                                &work->anchor_code, &work->place_code, &work->encoded};
    for (size_t i = 0; i < ROWS_N; i++) {
        rows[i]->hi = work->numbers + 2 * i * n;
        rows[i]->lo = rows[i]->hi + n;
    }
}

static bool make_work(struct work *work)
{
    struct pe_scores *job = work->job;
    const struct pe_plan *plan = job->plan;
    size_t blocks_n = (plan->pairs + PE__BLOCK - 1) / PE__BLOCK;
    size_t terms_max = 2 * plan->pairs + job->dim;
    bool *taken = calloc(job->dim, sizeof *taken);
    work->order = malloc(terms_max * sizeof *work->order);
    work->numbers = malloc(ROWS_N * 2 * terms_max * sizeof *work->numbers);
    work->walks = aligned_alloc(64, (blocks_n + 1) * sizeof *work->walks);
    bool made = taken && work->order && work->numbers && work->walks;
    if (made) {
        work->cell.job = job;
        work->cell.parts = parts_of(plan->spec.kind->acts);
        work->cell.order = work->order;
        work->cell.terms_n = order_terms(plan, job->dim, taken, work->order);
        work->cell.n = job->vectors_n;
        work->cell.divides_by_zero = &work->divides_by_zero;
        cut_rows(work, work->cell.terms_n);
        for (size_t i = 0; i < blocks_n; i++)
            pe__plan_walk_init(&work->walks[i]);
    }
    free(taken);
    return made;
}

enum pe_status pe_scores(struct pe_scores *job)
{
    if (job->normalize == PE_NORMALIZE_FIRST && job->scale == 0)
        return PE_INVALID_VALUE; /* 0 / 0 */
    struct work work = {.job = job};
    bool made = make_work(&work);
    if (made)
        compute(&work);
    free(work.walks);
    free(work.numbers);
    free(work.order);
    if (!made)
        return PE_NO_MEMORY;
    return work.divides_by_zero ? PE_INVALID_VALUE : PE_OK;
}
