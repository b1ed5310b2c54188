// SPDX-License-Identifier: Apache-2.0
/*
 * kind_deberta.c: disentangled attention: the query also meets the distance, and the distance the
 * key. Near distances have a row of the tables each, far ones share logarithmic buckets that are
 * rounded up; which bucket a distance has is decided by integers where logarithms are too near to
 * a whole number.
 */
#include <math.h>
#include <stdlib.h>

#include "dots.h"
#include "heads.h"
#include "kind.h"
#include "lookup.h"
#include "params.h"
#include "rows.h"

#define BITS        192 /* of logarithms, at first */
#define BITS_LOST   96  /* by ratios near 1, and in front of the point */
#define BUCKETS_MAX (1 << 15)

enum terms { BOTH, C2P, P2C };

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    PE__ROW_DIM(1, 0),
    {.name = "buckets",
     .aliases = "position_buckets",
     .type = PE_INT,
     .min = -1,
     .max = BUCKETS_MAX,
     .fallback = "256",
     .help = "Buckets of both directions; -1: none, every distance is its own up to "
             "max_distance."},
    {.name = "max_distance",
     .aliases = "max_relative_positions",
     .type = PE_INT,
     .min = 1,
     .max = PE_POSITION_MAX,
     .fallback = "512",
     .help = "Distance that the last bucket begins with, plus 1."},
    {.name = "terms",
     .aliases = "pos_att_type",
     .type = PE_ENUM,
     .fallback = "both",
     .choices = "both c2p p2c",
     .help = "c2p: the query with the distance; p2c: the distance with the key."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

/* ---- Bucket rule -------------------------------------------------------------------------- */

/* A product of powers. Its factors get coprime, so that it is 1 only if nothing is left. */
struct power {
    uint64_t base;
    int64_t exponent;
};

#define POWERS_MAX 256 /* more than 3 numbers below 2^54 can fall into */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Splits the first two factors with a common divisor; false if there are none. */
static bool split(struct power *powers, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        for (size_t j = i + 1; j < *n; j++) {
            uint64_t divisor = common_divisor(powers[i].base, powers[j].base);
            if (divisor == 1)
                continue;
            powers[i].base /= divisor;
            powers[j].base /= divisor;
            powers[(*n)++] = (struct power){divisor, powers[i].exponent + powers[j].exponent};
            return true;
        }
    return false;
}

static bool is_one(struct power *powers, size_t n)
{
    do {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (powers[i].base != 1 && powers[i].exponent != 0)
                powers[kept++] = powers[i];
        n = kept;
    } while (split(powers, &n));
    return n == 0;
}

/* ln(a / middle) / ln(top / middle) * (middle - 1), rounded up. */
static int64_t far_bucket(int64_t a, int64_t middle, int64_t top)
{
    for (mpfr_prec_t bits = BITS;; bits *= 2) {
        mpfr_t x, y;
        mpfr_inits2(bits, x, y, (mpfr_ptr)0);
        mpfr_set_si(x, (long)a, MPFR_RNDN);
        mpfr_div_si(x, x, (long)middle, MPFR_RNDN);
        mpfr_log(x, x, MPFR_RNDN);
        mpfr_set_si(y, (long)top, MPFR_RNDN);
        mpfr_div_si(y, y, (long)middle, MPFR_RNDN);
        mpfr_log(y, y, MPFR_RNDN);
        mpfr_div(x, x, y, MPFR_RNDN);
        mpfr_mul_si(x, x, (long)middle - 1, MPFR_RNDN);
        int64_t nearest = mpfr_get_si(x, MPFR_RNDN);
        mpfr_sub_si(y, x, (long)nearest, MPFR_RNDN);
        bool known = mpfr_regular_p(y) && mpfr_get_exp(y) > BITS_LOST - bits;
        bool above = mpfr_sgn(y) > 0;
        mpfr_clears(x, y, (mpfr_ptr)0);
        if (known)
            return nearest + above;
        struct power powers[POWERS_MAX] = {{(uint64_t)a, middle - 1},
                                           {(uint64_t)middle, nearest - (middle - 1)},
                                           {(uint64_t)top, -nearest}};
        if (is_one(powers, 3))
            return nearest;
    }
}

/* Of query - key. */
static int64_t bucket(const struct pe_plan *plan, double m, double n)
{
    int64_t relative = (int64_t)m - (int64_t)n;
    int64_t buckets = (int64_t)pe_spec_number(&plan->spec, "buckets");
    int64_t middle = buckets / 2, distance = relative < 0 ? -relative : relative;
    if (buckets < 0 || distance <= middle)
        return relative;
    int64_t top = (int64_t)pe_spec_number(&plan->spec, "max_distance") - 1;
    int64_t far = middle + far_bucket(distance, middle, top);
    return relative < 0 ? -far : far;
}

/* ---- Bias --------------------------------------------------------------------------------- */

/* Buckets on either side that the tables have rows for. */
static size_t span_of(const struct pe_spec *spec)
{
    double buckets = pe_spec_number(spec, "buckets");
    return (size_t)(buckets < 0 ? pe_spec_number(spec, "max_distance") : buckets);
}

static void table_size(const struct pe_spec *spec, size_t *rows_n, size_t *cols)
{
    *rows_n = 2 * span_of(spec);
    *cols = 2 * pe_spec_heads(spec) * pe_spec_dim(spec);
}

/* q.key of the distance + k.query of the distance. */
static struct pe__dots products(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    const struct pe_spec *spec = &plan->spec;
    size_t dim = pe_spec_dim(spec), heads = pe_spec_heads(spec);
    int64_t span = (int64_t)span_of(spec), row = bucket(plan, at->query, at->key) + span;
    row = row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
    const double *key = pe__lookup_doubles(plan) + ((size_t)row * 2 * heads + at->head) * dim;
    const double *query = key + heads * dim;
    switch ((enum terms)pe_spec_number(spec, "terms")) {
    case C2P:
        return (struct pe__dots){dim, 1, {at->q}, {key}};
    case P2C:
        return (struct pe__dots){dim, 1, {at->k}, {query}};
    case BOTH:
    default:
        return (struct pe__dots){dim, 2, {at->q, at->k}, {key, query}};
    }
}

static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct pe__dots dots = products(plan, at);
    return pe__dots_ball(&dots);
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    struct pe__dots dots = products(plan, at);
    pe__dots_exact(&dots, y);
}

static bool check_buckets(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *buckets = pe__params_value(&spec->params, "buckets");
    const struct pe_value *max_distance = pe__params_value(&spec->params, "max_distance");
    if (!buckets->set || !max_distance->set || buckets->number == -1)
        return true;
    if (buckets->number < 2)
        return pe_fault_add(faults, PE_INVALID_VALUE, "buckets", NULL,
                            "buckets must be at least 2, or -1 for none; got %.0f",
                            buckets->number);
    double middle = floor(buckets->number / 2);
    if (max_distance->number - 1 > middle)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "max_distance", NULL,
                        "max_distance must be at least %.0f, half the buckets plus 2; got %.0f",
                        middle + 2, max_distance->number);
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    static const char *const sizes[] = {"buckets", "max_distance", "heads", "dim", NULL};
    bool ok = check_buckets(spec, faults);
    ok = pe__lookup_check(spec, faults) && ok;
    ok = pe__heads_check(spec, faults) && ok;
    return ok && pe__lookup_fits(spec, sizes, faults);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_reference references[] = {
    {"DeBERTa: Decoding-enhanced BERT with Disentangled Attention", 2020, "arXiv:2006.03654"},
    {0},
};

static const struct pe_library libraries[] = {
    {"transformers", "DeBERTa-v2 and -v3 with 256 buckets; DeBERTa with buckets=-1. Scores are "
                     "divided by the root of 3 dim (2 dim with one of the terms)"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=deberta&value=bucket&positions=128:132&k_positions=0",
    "/v1/scores?kind=deberta&table_std=0.5",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .work = pe__heads_work,
    .has_position = pe__heads_whole,
    .bias = bias,
    .bias_exact = bias_exact,
    .bucket = bucket,
    .table_size = table_size,
    .constants = pe__lookup_constants,
};

const struct pe_kind pe__kind_deberta = {
    .name = "deberta",
    .title = "Disentangled attention (DeBERTa)",
    .formula = "score(m,n) = q_m.k_n + q_m.K[b] + Q[b].k_n, b = clip(bucket(m-n) + span, 0, "
               "2 span - 1)",
    .help = "Adds to each attention score the product of the query and a learned key for the "
            "distance, and that of a learned query for the distance and the key. The table is [2 "
            "span, 2 heads dim], span = buckets: keys of all heads, then queries, both as "
            "projected. It is posted, or drawn from table_seed.",
    .outside = "Distances beyond max_distance have the buckets of an endless logarithm, of which "
               "the tables have the first.",
    .acts = PE_BIASES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_LEARNED | PE_UNBOUNDED | PE_CONTENT,
    .facets = 1u << PE_FACET_BUCKET,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
