// SPDX-License-Identifier: Apache-2.0
/*
 * kind_cope.c: contextual positions: each key before the query counts as much as a gate made of
 * their product lets it, and the sum is where a table of learned vectors is read, between two rows.
 */
#include <math.h>

#include "dots.h"
#include "exact.h"
#include "heads.h"
#include "kind.h"
#include "lookup.h"
#include "rows.h"

#define GUARD_BITS   64
#define SLACK_BITS   48   /* that a place beside a row may lose */
#define PATH_BITS    4352 /* by then it counts as the row */
#define POSITION_MAX 4096

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    PE__ROW_DIM(1, 0),
    {.name = "max_pos",
     .type = PE_INT,
     .min = 2,
     .max = POSITION_MAX,
     .fallback = "16",
     .help = "Rows of the table; larger sums of gates count as the last."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

static void table_size(const struct pe_spec *spec, size_t *rows_n, size_t *cols)
{
    *rows_n = (size_t)pe_spec_number(spec, "max_pos");
    *cols = pe_spec_dim(spec);
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    static const char *const sizes[] = {"max_pos", "dim", NULL};
    bool ok = pe__lookup_check(spec, faults);
    return pe__heads_check(spec, faults) && ok && pe__lookup_fits(spec, sizes, faults);
}

/* ---- Gates -------------------------------------------------------------------------------- */

/* sum += 1 / (1 + e^(-q.k)) */
static void add_gate(const double *q, const double *k, size_t dim, mpfr_t sum)
{
    mpfr_t gate;
    mpfr_init2(gate, mpfr_get_prec(sum) + GUARD_BITS);
    pe__dots_exact(&(struct pe__dots){dim, 1, {q}, {k}}, gate);
    mpfr_neg(gate, gate, MPFR_RNDN);
    mpfr_exp(gate, gate, MPFR_RNDN);
    mpfr_add_ui(gate, gate, 1, MPFR_RNDN);
    mpfr_ui_div(gate, 1, gate, MPFR_RNDN);
    mpfr_add(sum, sum, gate, MPFR_RNDN);
    mpfr_clear(gate);
}

/* The gates of this key and those after it that are not after the query. */
static void sum_gates(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t sum)
{
    size_t dim = pe_spec_dim(&plan->spec);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < at->keys_n; i++)
        if (at->key <= at->query && pe_stages_position(&plan->stages, at->keys[i]) <= at->query)
            add_gate(at->q, at->k + i * dim, dim, sum);
}

/* ---- Bias --------------------------------------------------------------------------------- */

/* Where the table is read: rows `row` and row + 1, with these weights. */
struct place {
    size_t row;
    mpfr_t here, next; /* next 0: the row alone */
};

/* How many bits a number between 0 and 1 has lost beside numbers of size 1. */
static mpfr_exp_t lost_bits(mpfr_srcptr x)
{
    return mpfr_zero_p(x) ? 0 : -mpfr_get_exp(x);
}

static void find_place(const struct pe_plan *plan, const struct pe__bias_at *at,
                       struct place *place)
{
    double last = pe_spec_number(&plan->spec, "max_pos") - 1;
    for (;;) {
        sum_gates(plan, at, place->next);
        if (mpfr_cmp_d(place->next, last) >= 0)
            mpfr_set_d(place->next, last, MPFR_RNDN);
        place->row = mpfr_get_ui(place->next, MPFR_RNDD);
        mpfr_sub_ui(place->next, place->next, place->row, MPFR_RNDN);
        mpfr_ui_sub(place->here, 1, place->next, MPFR_RNDN);
        mpfr_exp_t lost = lost_bits(place->here) > lost_bits(place->next) ? lost_bits(place->here)
                                                                          : lost_bits(place->next);
        mpfr_prec_t bits = 2 * mpfr_get_prec(place->next);
        if (lost <= SLACK_BITS || bits > PATH_BITS)
            return;
        mpfr_set_prec(place->next, bits);
        mpfr_set_prec(place->here, bits);
    }
}

struct reading {
    const struct pe_plan *plan;
    const struct pe__bias_at *at;
    const struct place *place;
};

/* The product of the query with the first row or the next, weighed. */
static void row_term(const void *context, size_t i, mpfr_t y)
{
    const struct reading *reading = context;
    const struct place *place = reading->place;
    size_t dim = pe_spec_dim(&reading->plan->spec);
    mpfr_srcptr weight = i == 0 ? place->here : place->next;
    if (mpfr_zero_p(weight)) {
        mpfr_set_zero(y, 1);
        return;
    }
    const double *row = pe__lookup_doubles(reading->plan) + (place->row + i) * dim;
    pe__dots_exact(&(struct pe__dots){dim, 1, {reading->at->q}, {row}}, y);
    mpfr_mul(y, y, weight, MPFR_RNDN);
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    struct place place = {.row = 0};
    mpfr_inits2(mpfr_get_prec(y) + 2 * GUARD_BITS, place.here, place.next, (mpfr_ptr)0);
    find_place(plan, at, &place);
    pe__exact_sum(row_term, &(struct reading){plan, at, &place}, 2, y);
    mpfr_clears(place.here, place.next, (mpfr_ptr)0);
}

static bool places_count(const struct pe_spec *spec)
{
    (void)spec;
    return true;
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_reference references[] = {
    {"Contextual Position Encoding: Learning to Count What's Important", 2024, "arXiv:2405.18719"},
    {0},
};

static const struct pe_library libraries[] = {
    {"x-transformers", "one table for all heads, max_pos=16; gates of the scores before the bias"},
    {0},
};

static const char *const examples[] = {
    "/v1/spec?kind=cope&dim=64&max_pos=32",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .work = pe__heads_work,
    .bias_exact = bias_exact,
    .places_count = places_count,
    .table_size = table_size,
    .constants = pe__lookup_constants,
};

const struct pe_kind pe__kind_cope = {
    .name = "cope",
    .title = "Contextual position encoding (CoPE)",
    .formula = "score(m,n) = q.k + (1-f) q.table[p] + f q.table[p+1], p + f = sum over t = n..m of "
               "1/(1 + e^(-q_m.k_t)), at most max_pos - 1",
    .help = "Adds to each attention score the product of the query and a learned vector for how "
            "many keys there are up to the query, each counted by a gate made of the two. The "
            "table [max_pos, dim] is shared by the heads; it is posted, or drawn from table_seed. "
            "Post scores, q and k to /v1/apply.",
    .outside = "Sums of gates beyond max_pos - 1 count as the last, so the text may be longer "
               "than that.",
    .acts = PE_BIASES,
    .properties = PE_KEEPS_NORM | PE_LEARNED | PE_UNBOUNDED | PE_CONTENT | PE_CONTEXT,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .table_rows = "max_pos",
    .table_cols = "dim",
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
