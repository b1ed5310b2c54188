// SPDX-License-Identifier: Apache-2.0
/*
 * kind_fire.c: functional interpolation: a small network of the logarithm of the distance, relative
 * to that of the query's position, so that keys before it have an input within 0 and 1 however long
 * the text is. The network has one layer of rectified units between its input and the heads.
 */
#include "exact.h"
#include "heads.h"
#include "kind.h"
#include "lookup.h"
#include "params.h"
#include "rows.h"

#define HIDDEN     32
#define GUARD_BITS 64 /* more than a product of doubles has beyond one */

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    {.name = "c",
     .type = PE_REAL,
     .min = 0,
     .max = 1e6,
     .flags = PE_OPEN_MIN,
     .fallback = "0.1",
     .help = "Learned factor of the distance within the logarithm."},
    {.name = "threshold",
     .aliases = "L",
     .type = PE_REAL,
     .min = 0,
     .max = PE_POSITION_MAX,
     .fallback = "512",
     .help = "Learned position up to which all queries divide by the same number."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

/* ---- The input ---------------------------------------------------------------------------- */

/* ln(c x + 1) in place; x >= 0. */
static void squash(const struct pe_spec *spec, mpfr_t x)
{
    mpfr_mul_d(x, x, pe_spec_number(spec, "c"), MPFR_RNDN);
    mpfr_log1p(x, x, MPFR_RNDN);
}

/* phi(|m - n|) / (phi(max(m, threshold)) + 10^-6) */
static void input_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    const struct pe_spec *spec = &plan->spec;
    double threshold = pe_spec_number(spec, "threshold");
    mpfr_t far, least;
    mpfr_inits2(mpfr_get_prec(y) + GUARD_BITS, far, least, (mpfr_ptr)0);
    mpfr_set_d(far, at->query, MPFR_RNDN);
    mpfr_add_d(far, far, plan->shift, MPFR_RNDN);
    if (mpfr_cmp_d(far, threshold) < 0)
        mpfr_set_d(far, threshold, MPFR_RNDN);
    squash(spec, far);
    mpfr_set_ui(least, 1, MPFR_RNDN);
    mpfr_div_ui(least, least, 1000000, MPFR_RNDN);
    mpfr_add(far, far, least, MPFR_RNDN);
    pe__distance_exact(at, least);
    squash(spec, least);
    mpfr_div(y, least, far, MPFR_RNDN);
    if (mpfr_zero_p(y))
        mpfr_set_zero(y, 1);
    mpfr_clears(far, least, (mpfr_ptr)0);
}

/* ---- The network -------------------------------------------------------------------------- */

/* The numbers of the table, one after the other: the hidden units' weights and offsets, then those
 * of the heads. */
struct network {
    const double *weight, *offset; /* [HIDDEN] */
    const double *out_weight;      /* [HIDDEN], of one head */
    double out_offset;
};

static struct network network_of(const struct pe_plan *plan, size_t head)
{
    const double *table = pe__lookup_doubles(plan);
    const double *out = table + 2 * HIDDEN;
    return (struct network){table, table + HIDDEN, out + head * HIDDEN,
                            out[pe_spec_heads(&plan->spec) * HIDDEN + head]};
}

static void table_size(const struct pe_spec *spec, size_t *rows_n, size_t *cols)
{
    *rows_n = 1;
    *cols = 2 * HIDDEN + pe_spec_heads(spec) * (HIDDEN + 1);
}

struct input {
    const struct pe_plan *plan;
    const struct pe__bias_at *at;
};

static void input_value(const void *context, size_t i, mpfr_t y)
{
    const struct input *input = context;
    (void)i;
    input_exact(input->plan, input->at, y);
}

static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct network network = network_of(plan, at->head);
    struct pe__ball x = pe__ball_from(input_value, &(struct input){plan, at}, 0);
    struct pe__ball sum = pe__ball_exact(network.out_offset);
    for (size_t j = 0; j < HIDDEN; j++) {
        struct pe__ball unit = pe__ball_add(pe__ball_mul(x, pe__ball_exact(network.weight[j])),
                                            pe__ball_exact(network.offset[j]));
        if (!(fabs(unit.hi) > 2 * unit.eps)) /* perhaps of the other sign */
            unit.eps = unit.hi == 0 && unit.eps == 0 ? 0 : INFINITY;
        else if (unit.hi < 0)
            continue;
        sum = pe__ball_add(sum, pe__ball_mul(unit, pe__ball_exact(network.out_weight[j])));
    }
    return sum;
}

struct unit {
    const struct input *input;
    const struct network *network;
    size_t j;
};

/* weight * x + offset */
static void unit_term(const void *context, size_t i, mpfr_t y)
{
    const struct unit *unit = context;
    if (i == 1) {
        mpfr_set_d(y, unit->network->offset[unit->j], MPFR_RNDN);
        return;
    }
    input_value(unit->input, 0, y);
    mpfr_mul_d(y, y, unit->network->weight[unit->j], MPFR_RNDN);
}

/* What hidden unit j gives to the head; after them the head's offset. */
static void head_term(const void *context, size_t j, mpfr_t y)
{
    const struct input *input = context;
    struct network network = network_of(input->plan, input->at->head);
    if (j == HIDDEN) {
        mpfr_set_d(y, network.out_offset, MPFR_RNDN);
        return;
    }
    pe__exact_sum(unit_term, &(struct unit){input, &network, j}, 2, y);
    if (mpfr_sgn(y) > 0)
        mpfr_mul_d(y, y, network.out_weight[j], MPFR_RNDN);
    else
        mpfr_set_zero(y, 1);
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    pe__exact_sum(head_term, &(struct input){plan, at}, HIDDEN + 1, y);
}

/* The query's own position decides what the distance is divided by. */
static bool places_count(const struct pe_spec *spec)
{
    (void)spec;
    return true;
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = pe__lookup_check(spec, faults);
    return pe__heads_check(spec, faults) && ok;
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_reference references[] = {
    {"Functional Interpolation for Relative Positions Improves Long Context Transformers", 2024,
     "arXiv:2310.04418"},
    {0},
};

static const struct pe_library libraries[] = {
    {"mcleish7/arithmetic", "the threshold a learned multiple of 512; training may draw positions"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=fire&value=input&positions=10&k_positions=0,9",
    "/v1/table?kind=fire&heads=2&table_seed=1&table_std=0.5&positions=0:4",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .work = pe__heads_work,
    .bias = bias,
    .bias_exact = bias_exact,
    .input_exact = input_exact,
    .places_count = places_count,
    .table_size = table_size,
    .constants = pe__lookup_constants,
};

const struct pe_kind pe__kind_fire = {
    .name = "fire",
    .title = "Functional interpolation of relative positions (FIRE)",
    .formula = "score(m,n) = q.k + f_h(phi(|m-n|) / (phi(max(m, threshold)) + 1e-6)), "
               "phi(x) = ln(c x + 1)",
    .help = "Adds to each attention score a learned function of the distance relative to the "
            "query's position. f is a network of 32 rectified units; the table is its weights, "
            "[1, 64 + 33 heads]: of the units, their offsets, of the heads [heads, 32], their "
            "offsets. It is posted, or drawn from table_seed.",
    .outside = "The input stays between 0 and 1: distances are seen in proportion to the text, so "
               "no value is met that training has not seen.",
    .acts = PE_BIASES,
    .properties = PE_KEEPS_NORM | PE_LEARNED | PE_UNBOUNDED,
    .facets = 1u << PE_FACET_BIAS | 1u << PE_FACET_INPUT,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
