// SPDX-License-Identifier: Apache-2.0
/*
 * scores_exact.c: one cell of a score matrix by MPFR, for the values that the fast path (scores.c)
 * leaves in doubt: those next to a midpoint, those that cancel, those out of the fast path's range.
 * Sums over vectors are exact; sums over terms take as many bits as cancellation asks for
 * (exact.c). Everything here keeps the promise of a pe__exact_fn: a relative error of at most 2^(8
 * - precision).
 */
#include <math.h>

#include "exact.h"
#include "scores_staged.h"

/* More bits for the operands of the few operations that lead to one result. */
#define OPERAND_BITS 16

/* ---- Parts of a score, summed over the cell's vectors ------------------------------------- */

static void content_exactly(const struct pe__cell *cell, mpfr_t sum)
{
    const struct pe_scores *job = cell->job;
    for (size_t i = cell->first * job->dim; i < (cell->first + cell->n) * job->dim; i++)
        pe__exact_add_product(sum, job->q[i], job->k[i]);
}

static void elements_exactly(const struct pe__cell *cell, const double *vectors, size_t t,
                             mpfr_t sum)
{
    for (size_t v = cell->first; v < cell->first + cell->n; v++)
        mpfr_add_d(sum, sum, pe__term_element(cell, vectors, v, t), MPFR_RNDN);
}

static void mixed_exactly(const struct pe__cell *cell, size_t t, mpfr_t sum)
{
    double a[2];
    double b[2];
    for (size_t v = cell->first; v < cell->first + cell->n; v++) {
        size_t factors_n = pe__mixed_factors(cell, t, v, a, b);
        for (size_t i = 0; i < factors_n; i++)
            pe__exact_add_product(sum, a[i], b[i]);
    }
}

/* A value of a learned table, which is one of doubles: a product of two rounded once. */
static void learned_exactly(const struct pe_plan *plan, struct pe__pos at, size_t t, mpfr_t y)
{
    mpfr_t value;
    mpfr_init2(value, 128);
    pe__plan_row_exact(plan, at, t, value);
    mpfr_set_d(y, mpfr_get_d(value, MPFR_RNDN), MPFR_RNDN);
    mpfr_clear(value);
}

void pe__code_exact(const struct pe__cell *cell, const struct pe_plan *plan,
                    const struct pe__spot *at, size_t t, mpfr_t y)
{
    bool is_cos = t < plan->pairs;
    if (cell->order[t] == PE__NO_CHANNEL)
        mpfr_set_zero(y, 1);
    else if (plan->cis && t >= 2 * plan->pairs)
        mpfr_set_ui(y, cell->parts >> PE__ROTATED & 1, MPFR_RNDN);
    else if (plan->cis) {
        pe__plan_pair_exact_at(plan, at->axis, t % plan->pairs, is_cos ? y : NULL,
                               is_cos ? NULL : y);
        if (plan->amplified && cell->parts >> PE__ROTATED & 1)
            pe__plan_amplify_exact(plan, y);
    } else if (plan->spec.kind->properties & PE_LEARNED)
        learned_exactly(plan, at->axis[0], t, y);
    else
        pe__plan_row_exact(plan, at->axis[0], t, y);
}

static void bias_of_vector(const void *context, size_t i, mpfr_t y)
{
    const struct pe__cell *cell = context;
    struct pe__bias_at at = pe__cell_bias(cell, cell->first + i);
    pe__plan_bias_exact(cell->job->plan, &at, y);
}

static void bias_exactly(const struct pe__cell *cell, mpfr_t y)
{
    bool same = !(cell->job->plan->spec.kind->properties & PE_CONTENT); /* for all vectors */
    pe__exact_sum(bias_of_vector, cell, same ? 1 : cell->n, y);
    if (same)
        mpfr_mul_ui(y, y, cell->n, MPFR_RNDN);
}

/* Term t of one part: y = factor * what the encoding gives. */
static void part_term(const struct pe__cell *cell, enum pe__part part, size_t t, mpfr_t y)
{
    const struct pe_scores *job = cell->job;
    const struct pe__spot *query = pe__query_place(cell);
    const struct pe__spot *key = pe__key_place(cell);
    mpfr_t factor;
    mpfr_init2(factor, PE__EXACT_BITS);
    mpfr_set_zero(factor, 1);
    mpfr_set_ui(y, 1, MPFR_RNDN);
    switch (part) {
    case PE__CONTENT:
        content_exactly(cell, factor);
        break;
    case PE__CROSS_Q:
        elements_exactly(cell, job->q, t, factor);
        pe__code_exact(cell, job->plan, key, t, y);
        break;
    case PE__CROSS_K:
        elements_exactly(cell, job->k, t, factor);
        pe__code_exact(cell, job->plan, query, t, y);
        break;
    case PE__POSITION:
        mpfr_set_prec(factor, mpfr_get_prec(y));
        pe__code_exact(cell, job->plan, query, t, factor);
        mpfr_mul_ui(factor, factor, cell->n, MPFR_RNDN);
        pe__code_exact(cell, job->plan, key, t, y);
        break;
    case PE__BIAS:
        bias_exactly(cell, y);
        mpfr_set_ui(factor, 1, MPFR_RNDN);
        break;
    case PE__ROTATED:
    default:
        mixed_exactly(cell, t, factor);
        if (!mpfr_zero_p(factor))
            pe__code_exact(cell, job->plan, &cell->apart, t, y);
    }
    mpfr_mul(y, y, factor, MPFR_RNDN);
    mpfr_clear(factor);
}

/* Terms of all parts, one part after the other; content and bias have a single one. */
static void score_term(const void *context, size_t i, mpfr_t y)
{
    const struct pe__cell *cell = context;
    enum pe__part part = (enum pe__part)(i / cell->terms_n);
    size_t t = i % cell->terms_n;
    bool is_single = part == PE__CONTENT || part == PE__BIAS;
    if (cell->parts >> part & 1 && (t == 0 || !is_single))
        part_term(cell, part, t, y);
    else
        mpfr_set_zero(y, 1);
}

static void parts_exactly(const struct pe__cell *cell, mpfr_t y)
{
    pe__exact_sum(score_term, cell, PE__PARTS_N * cell->terms_n, y);
}

static void sum_exactly(const struct pe__cell *cell, mpfr_t y)
{
    if (cell->staged)
        pe__staged_sum_exact(cell, y);
    else
        parts_exactly(cell, y);
}

/* ---- Lengths ------------------------------------------------------------------------------ */

/* Vectors (q or k) to be measured, encoded at a place or as they are. */
struct lengths {
    const struct pe__cell *cell;
    const double *vectors;
    const struct pe__spot *at; /* NULL: as given */
    const struct pe__row *code;
    size_t v;
};

/* (x + E)^2 as x^2, 2 x E and E^2, so that cancellation is seen by pe__exact_sum. */
static void square_term(const void *context, size_t i, mpfr_t y)
{
    const struct lengths *lengths = context;
    size_t t = i / 3;
    const struct pe_plan *plan = lengths->cell->job->plan;
    bool rotates = plan->spec.kind->acts == PE_ROTATES;
    double x = pe__term_element(lengths->cell, lengths->vectors, lengths->v, t);
    mpfr_set_d(y, x, MPFR_RNDN);
    if (i % 3 == 0) {
        if (lengths->at && plan->amplified && t < 2 * plan->pairs)
            pe__plan_amplify_exact(plan, y);
        mpfr_sqr(y, y, MPFR_RNDN);
    } else if (!lengths->at || rotates) {
        mpfr_set_zero(y, 1);
    } else {
        pe__code_exact(lengths->cell, plan, lengths->at, t, y);
        if (i % 3 == 1) {
            mpfr_mul_d(y, y, x, MPFR_RNDN);
            mpfr_mul_2ui(y, y, 1, MPFR_RNDN);
        } else {
            mpfr_sqr(y, y, MPFR_RNDN);
        }
    }
}

/* Length of vector first + i. */
static void length_exactly(const void *context, size_t i, mpfr_t y)
{
    struct lengths one = *(const struct lengths *)context;
    one.v = one.cell->first + i;
    mpfr_t square;
    mpfr_init2(square, mpfr_get_prec(y) + OPERAND_BITS);
    if (one.cell->staged && one.at)
        pe__staged_square_exact(
            &(struct pe__encoded){one.cell, one.vectors, one.v, one.at, one.code}, square);
    else
        pe__exact_sum(square_term, &one, 3 * one.cell->terms_n, square);
    mpfr_sqrt(y, square, MPFR_RNDN);
    mpfr_clear(square);
}

static void mean_length_exactly(const struct pe__cell *cell, const double *vectors,
                                const struct pe__spot *at, const struct pe__row *code, mpfr_t y)
{
    struct lengths lengths = {cell, vectors, at, code, 0};
    mpfr_t sum;
    mpfr_init2(sum, mpfr_get_prec(y) + OPERAND_BITS);
    pe__exact_sum(length_exactly, &lengths, cell->n, sum);
    mpfr_div_ui(y, sum, cell->n, MPFR_RNDN);
    mpfr_clear(sum);
}

/* ---- Scores ------------------------------------------------------------------------------- */

void pe__by_root_exact(size_t dim, mpfr_t y)
{
    mpfr_t root;
    mpfr_init2(root, mpfr_get_prec(y));
    mpfr_sqrt_ui(root, dim, MPFR_RNDN);
    mpfr_div(y, y, root, MPFR_RNDN);
    mpfr_clear(root);
}

static void divide(const struct pe__cell *cell, mpfr_t y, mpfr_srcptr divisor)
{
    if (mpfr_zero_p(divisor)) {
        *cell->divides_by_zero = true;
        mpfr_set_zero(y, 1);
    } else {
        mpfr_div(y, y, divisor, MPFR_RNDN);
    }
}

/* Score of vector first + i divided by both lengths. */
static void cosine_exactly(const void *context, size_t i, mpfr_t y)
{
    struct pe__cell cell = *(const struct pe__cell *)context;
    cell.first += i;
    cell.n = 1;
    const struct pe__spot *query = pe__query_place(&cell);
    const struct pe__spot *key = pe__key_place(&cell);
    bool changes = pe__lengths_vary(&cell) || cell.job->plan->amplified;
    struct lengths lengths_q = {&cell, cell.job->q, changes ? query : NULL, pe__query_row(&cell),
                                0};
    struct lengths lengths_k = {&cell, cell.job->k, changes ? key : NULL, pe__key_row(&cell), 0};
    mpfr_t score;
    mpfr_t length;
    mpfr_inits2(mpfr_get_prec(y) + OPERAND_BITS, score, length, (mpfr_ptr)NULL);
    sum_exactly(&cell, score);
    length_exactly(&lengths_q, 0, length);
    divide(&cell, score, length);
    length_exactly(&lengths_k, 0, length);
    divide(&cell, score, length);
    mpfr_set(y, score, MPFR_RNDN);
    mpfr_clears(score, length, (mpfr_ptr)NULL);
}

/* y = the score divided by that at offset 0, where scale and number of vectors cancel. */
static void ratio_exactly(const struct pe__cell *cell, mpfr_t y)
{
    struct pe__cell start = *cell;
    start.place = start.anchor;
    start.place_code = start.anchor_code;
    start.distance = 0;
    start.apart = (struct pe__spot){0};
    mpfr_t first;
    mpfr_init2(first, mpfr_get_prec(y));
    sum_exactly(&start, first);
    sum_exactly(cell, y);
    divide(cell, y, first);
    mpfr_clear(first);
}

static void score_exactly(const struct pe__cell *cell, mpfr_t y)
{
    const struct pe_scores *job = cell->job;
    if (job->normalize == PE_NORMALIZE_FIRST) {
        ratio_exactly(cell, y);
        return;
    }
    if (job->normalize == PE_NORMALIZE_COSINE)
        pe__exact_sum(cosine_exactly, cell, cell->n, y);
    else
        sum_exactly(cell, y);
    mpfr_div_ui(y, y, cell->n, MPFR_RNDN);
    mpfr_mul_d(y, y, job->scale, MPFR_RNDN);
    if (job->normalize == PE_NORMALIZE_MEAN)
        mpfr_div_d(y, y, (double)job->dim / 2, MPFR_RNDN);
    if (job->scale_sqrt_dim)
        pe__by_root_exact(job->dim, y);
}

/* The score, less what it was rounded to. */
static void rest_term(const void *context, size_t i, mpfr_t y)
{
    const struct pe__cell *cell = context;
    if (i == 0)
        pe__cell_exact(cell, PE__SCORE, y);
    else
        mpfr_set_d(y, -cell->rounded, MPFR_RNDN);
}

static void rest_exactly(const struct pe__cell *cell, mpfr_t y)
{
    pe__exact_sum(rest_term, cell, 2, y);
    if (cell->rounded != 0)
        mpfr_mul_2si(y, y, -ilogb(cell->rounded), MPFR_RNDN);
}

static void term_exactly(const struct pe__cell *cell, enum pe__part part, mpfr_t y)
{
    struct pe__cell one = *cell;
    one.parts = 1u << part;
    parts_exactly(&one, y);
    mpfr_div_ui(y, y, cell->n, MPFR_RNDN);
}

void pe__cell_exact(const void *context, size_t i, mpfr_t y)
{
    const struct pe__cell *cell = context;
    const struct pe_scores *job = cell->job;
    mpfr_t result;
    mpfr_init2(result, mpfr_get_prec(y) + OPERAND_BITS);
    switch (i) {
    case PE__SCORE:
        score_exactly(cell, result);
        break;
    case PE__LENGTH_Q:
        mean_length_exactly(cell, job->q, NULL, NULL, result);
        break;
    case PE__LENGTH_K:
        mean_length_exactly(cell, job->k, NULL, NULL, result);
        break;
    case PE__LENGTH_Q_AFTER:
        mean_length_exactly(cell, job->q, &cell->anchor, cell->anchor_code, result);
        break;
    case PE__LENGTH_K_AFTER:
        mean_length_exactly(cell, job->k, &cell->place, cell->place_code, result);
        break;
    case PE__REST:
        rest_exactly(cell, result);
        break;
    default:
        term_exactly(cell, (enum pe__part)i, result);
    }
    if (mpfr_zero_p(result))
        mpfr_set_zero(result, 1);
    mpfr_set(y, result, MPFR_RNDN);
    mpfr_clear(result);
}
