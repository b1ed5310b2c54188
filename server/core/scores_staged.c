// SPDX-License-Identifier: Apache-2.0
/*
 * scores_staged.c: scores of a pipeline that rounds, or of a query and a key with encodings of
 * their own: the query encoded at its place, the key at its own, element by element, then their dot
 * product. Elements are doubles with an apply stage, else
 * real numbers; the dot product is a running sum in the format of its stage, else exact. So equal
 * distances need not score equally here, which is what one wants to see.
 */
#include "scores_staged.h"

#include "exact.h"
#include "operation.h"

static bool names(const struct pe__cell *cell, enum pe_stage stage)
{
    return cell->job->stages && pe__stage_named(cell->job->stages, stage);
}

static enum pe_dtype dtype_of(const struct pe__cell *cell, enum pe_stage stage)
{
    return cell->job->stages->dtype[stage];
}

bool pe__scores_are_staged(const struct pe_scores *job)
{
    unsigned of_plan = job->plan->stages.named & ~(1u << PE_STAGE_FREQ);
    if (job->plan->spec.kind->acts == PE_ROTATES && isfinite(job->plan->placing.clamp))
        return true; /* the distance of clamped positions does not tell their places */
    if (job->plan->crossed || job->plan->spec.kind->ops->mixed)
        return true; /* there is no angle between them */
    unsigned own = job->stages ? job->stages->named & ~PE_STAGES_OF_PLANS : 0;
    return job->k_plan || of_plan != 0 || (own & pe_kind_stages(job->plan->spec.kind)) != 0;
}

/* ---- Elements ----------------------------------------------------------------------------- */

static void code_exact(const void *context, size_t t, mpfr_t y)
{
    const struct pe__encoded *encoded = context;
    pe__code_exact(encoded->cell, encoded->code->plan, encoded->at, t, y);
}

/* The encoding's value in term t. */
static struct pe__operand code_of(const struct pe__encoded *encoded, size_t t)
{
    const struct pe__row *code = encoded->code;
    return (struct pe__operand){{code->hi[t], code->lo[t], code->eps}, code_exact, encoded, t};
}

static struct pe__operand element_of_term(const struct pe__encoded *encoded, size_t t)
{
    return pe__operand_of(pe__term_element(encoded->cell, encoded->vectors, encoded->v, t));
}

/* The two products whose sum is a channel of a rotated pair: a and the negated b with cos and sin,
 * or a with sin and b with cos. */
struct products {
    struct pe__operand x[2], code[2];
};

static struct products products_of(const struct pe__encoded *encoded, size_t t)
{
    size_t pairs = encoded->cell->job->plan->pairs;
    size_t pair = t % pairs;
    struct pe__operand a = element_of_term(encoded, pair);
    struct pe__operand b = element_of_term(encoded, pairs + pair);
    const uint32_t *crossed = encoded->cell->job->plan->crossed;
    size_t source = crossed ? crossed[t] : pair;
    struct pe__operand c = code_of(encoded, source);
    struct pe__operand s = code_of(encoded, pairs + source);
    if (t >= pairs)
        return (struct products){{a, b}, {s, c}};
    return (struct products){{a, pe__operand_of(-b.ball.hi)}, {c, s}};
}

static void product_exact(const void *context, size_t i, mpfr_t y)
{
    const struct products *products = context;
    pe__operand_exact(&products->code[i], y);
    mpfr_mul_d(y, y, products->x[i].ball.hi, MPFR_RNDN);
}

static void rotated_exact(const void *context, size_t t, mpfr_t y)
{
    struct products products = products_of(context, t);
    pe__exact_sum(product_exact, &products, 2, y);
}

static struct pe__operand rotated(const struct pe__encoded *encoded, size_t t)
{
    struct products p = products_of(encoded, t);
    if (names(encoded->cell, PE_STAGE_APPLY)) {
        enum pe_dtype dtype = dtype_of(encoded->cell, PE_STAGE_APPLY);
        return pe__operand_of(pe__sum(dtype, pe__product_of(dtype, &p.x[0], &p.code[0]),
                                      pe__product_of(dtype, &p.x[1], &p.code[1])));
    }
    struct pe__ball ball = pe__ball_add(pe__ball_mul(p.x[0].ball, p.code[0].ball),
                                        pe__ball_mul(p.x[1].ball, p.code[1].ball));
    return (struct pe__operand){ball, rotated_exact, encoded, t};
}

static void summand_exact(const void *context, size_t i, mpfr_t y)
{
    pe__operand_exact((const struct pe__operand *)context + i, y);
}

static void added_exact(const void *context, size_t t, mpfr_t y)
{
    const struct pe__encoded *encoded = context;
    struct pe__operand both[] = {element_of_term(encoded, t), code_of(encoded, t)};
    pe__exact_sum(summand_exact, both, 2, y);
}

static struct pe__operand added(const struct pe__encoded *encoded, size_t t)
{
    struct pe__operand x = element_of_term(encoded, t);
    struct pe__operand code = code_of(encoded, t);
    if (names(encoded->cell, PE_STAGE_APPLY))
        return pe__operand_of(pe__sum_of(dtype_of(encoded->cell, PE_STAGE_APPLY), &x, &code));
    return (struct pe__operand){pe__ball_add(x.ball, code.ball), added_exact, encoded, t};
}

/* A channel of the encoded vector. */
static struct pe__operand element(const struct pe__encoded *encoded, size_t channel)
{
    const struct pe__cell *cell = encoded->cell;
    const struct pe_plan *plan = cell->job->plan;
    size_t t = cell->term_of[channel];
    bool in_pair = t < 2 * plan->pairs;
    if (plan->spec.kind->acts == PE_ROTATES && in_pair)
        return rotated(encoded, t);
    if (plan->spec.kind->acts == PE_ADDS && (in_pair || !plan->pairs))
        return added(encoded, t);
    return element_of_term(encoded, t);
}

/* ---- Dot products ------------------------------------------------------------------------- */

/* q and k of one vector, encoded where they stand. */
struct meeting {
    struct pe__encoded query, key;
};

static struct meeting meeting_of(const struct pe__cell *cell, size_t v)
{
    const struct pe_scores *job = cell->job;
    return (struct meeting){{cell, job->q, v, pe__query_place(cell), pe__query_row(cell)},
                            {cell, job->k, v, pe__key_place(cell), pe__key_row(cell)}};
}

static void element_product_exact(const void *context, size_t channel, mpfr_t y)
{
    const struct meeting *meeting = context;
    struct pe__operand q = element(&meeting->query, channel);
    struct pe__operand k = element(&meeting->key, channel);
    mpfr_t factor;
    mpfr_init2(factor, mpfr_get_prec(y) + 53); /* holds any double */
    pe__operand_exact(&q, factor);
    pe__operand_exact(&k, y);
    mpfr_mul(y, y, factor, MPFR_RNDN);
    mpfr_clear(factor);
}

/* With a dot stage. */
static double running_sum(const struct meeting *meeting)
{
    const struct pe__cell *cell = meeting->query.cell;
    enum pe_dtype dtype = dtype_of(cell, PE_STAGE_DOT);
    double sum = 0;
    for (size_t channel = 0; channel < cell->job->dim; channel++) {
        struct pe__operand q = element(&meeting->query, channel);
        struct pe__operand k = element(&meeting->key, channel);
        double product = pe__product_of(dtype, &q, &k);
        sum = channel == 0 ? product : pe__sum(dtype, sum, product);
    }
    return sum;
}

static struct pe__ball dot_ball(const struct meeting *meeting)
{
    if (names(meeting->query.cell, PE_STAGE_DOT))
        return pe__ball_exact(running_sum(meeting));
    struct pe__ball sum = {0, 0, 0};
    for (size_t channel = 0; channel < meeting->query.cell->job->dim; channel++) {
        struct pe__ball q = element(&meeting->query, channel).ball;
        struct pe__ball k = element(&meeting->key, channel).ball;
        sum = pe__ball_add(sum, pe__ball_mul(q, k));
    }
    return sum;
}

static void dot_exact(const void *context, size_t i, mpfr_t y)
{
    const struct meeting *meeting = context;
    (void)i;
    if (names(meeting->query.cell, PE_STAGE_DOT))
        mpfr_set_d(y, running_sum(meeting), MPFR_RNDN);
    else
        pe__exact_sum(element_product_exact, meeting, meeting->query.cell->job->dim, y);
}

/* ---- Scores ------------------------------------------------------------------------------- */

static struct pe__ball bias_ball(const struct pe__cell *cell, size_t v)
{
    struct pe__bias_at at = pe__cell_bias(cell, v);
    return pe__plan_bias(cell->job->plan, &at);
}

static void bias_exact(const void *context, size_t v, mpfr_t y)
{
    const struct pe__cell *cell = context;
    struct pe__bias_at at = pe__cell_bias(cell, v);
    pe__plan_bias_exact(cell->job->plan, &at, y);
}

/* What is added up to the score of one vector: q.k and, for biases, the bias; or their sum, rounded
 * by the apply stage. Returns how many there are. */
static size_t summands_of(const struct meeting *meeting, struct pe__operand summand[2])
{
    const struct pe__cell *cell = meeting->query.cell;
    const struct pe_scores *job = cell->job;
    summand[0] = (struct pe__operand){dot_ball(meeting), dot_exact, meeting, 0};
    if (job->plan->spec.kind->acts != PE_BIASES)
        return 1;
    size_t v = meeting->query.v;
    summand[1] = (struct pe__operand){bias_ball(cell, v), bias_exact, cell, v};
    if (!names(cell, PE_STAGE_APPLY))
        return 2;
    summand[0] =
        pe__operand_of(pe__sum_of(dtype_of(cell, PE_STAGE_APPLY), &summand[0], &summand[1]));
    return 1;
}

/* A single number stays what it is: a double has no bound. */
static struct pe__ball add(size_t count, struct pe__ball sum, struct pe__ball next)
{
    return count == 0 ? next : pe__ball_add(sum, next);
}

struct pe__ball pe__staged_sum(const struct pe__cell *cell)
{
    struct pe__ball sum = {0, 0, 0};
    size_t count = 0;
    for (size_t v = cell->first; v < cell->first + cell->n; v++) {
        struct meeting meeting = meeting_of(cell, v);
        struct pe__operand summand[2];
        size_t n = summands_of(&meeting, summand);
        for (size_t i = 0; i < n; i++)
            sum = add(count++, sum, summand[i].ball);
    }
    return sum;
}

/* Summand i % 2 of vector first + i / 2. */
static void score_summand(const void *context, size_t i, mpfr_t y)
{
    const struct pe__cell *cell = context;
    struct meeting meeting = meeting_of(cell, cell->first + i / 2);
    struct pe__operand summand[2];
    if (i % 2 < summands_of(&meeting, summand))
        pe__operand_exact(&summand[i % 2], y);
    else
        mpfr_set_zero(y, 1);
}

void pe__staged_sum_exact(const struct pe__cell *cell, mpfr_t y)
{
    pe__exact_sum(score_summand, cell, 2 * cell->n, y);
}

/* ---- Lengths ------------------------------------------------------------------------------ */

struct pe__ball pe__staged_length(const struct pe__encoded *encoded)
{
    struct pe__ball sum = {0, 0, 0};
    for (size_t channel = 0; channel < encoded->cell->job->dim; channel++) {
        struct pe__ball x = element(encoded, channel).ball;
        sum = pe__ball_add(sum, pe__ball_mul(x, x));
    }
    return pe__ball_sqrt(sum);
}

static void square_exact(const void *context, size_t channel, mpfr_t y)
{
    struct pe__operand x = element(context, channel);
    pe__operand_exact(&x, y);
    mpfr_sqr(y, y, MPFR_RNDN);
}

void pe__staged_square_exact(const struct pe__encoded *encoded, mpfr_t y)
{
    pe__exact_sum(square_exact, encoded, encoded->cell->job->dim, y);
}
