// SPDX-License-Identifier: Apache-2.0
/*
 * kind_t5.c: T5's relative position buckets. Near distances have buckets of their own, far ones
 * share logarithmic ones; which distance begins a bucket is decided by integers, because a
 * logarithm that comes out one unit low picks the wrong bucket exactly at the edges.
 */
#include <math.h>
#include <string.h>

#include "heads.h"
#include "kind.h"
#include "lookup.h"
#include "params.h"
#include "rows.h"

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    {.name = "buckets",
     .aliases = "num_buckets",
     .type = PE_INT,
     .min = 2,
     .max = 1024,
     .fallback = "32",
     .help = "Buckets in all; half of them for each direction when bidirectional."},
    {.name = "max_distance",
     .type = PE_INT,
     .min = 2,
     .max = PE_POSITION_MAX,
     .fallback = "128",
     .help = "Distance from which on the last bucket is used, at the latest."},
    {.name = "bidirectional",
     .type = PE_BOOL,
     .fallback = "false",
     .help = "Whether keys after the query have buckets of their own (encoders); else they share "
             "bucket 0 (decoders)."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

/* ---- Bucket rule -------------------------------------------------------------------------- */

/* Buckets of one direction: `near` hold one distance each, `far` are logarithmic. */
struct rule {
    bool bidirectional;
    size_t near, far;
    double max_distance;
};

static struct rule bucket_rule(const struct pe_spec *spec)
{
    bool bidirectional = pe_spec_number(spec, "bidirectional") != 0;
    size_t buckets = (size_t)pe_spec_number(spec, "buckets") / (bidirectional ? 2 : 1);
    return (struct rule){bidirectional, buckets / 2, buckets - buckets / 2,
                         pe_spec_number(spec, "max_distance")};
}

/* Whether distance a is in far bucket j or a later one: a^far * near^j >= max^j * near^far. All
 * four powers are integers below 2^(64 far), so their products are exact. */
static bool reaches(const struct rule *rule, unsigned long a, unsigned long j)
{
    mpfr_t left, right, factor;
    mpfr_inits2((mpfr_prec_t)(128 * rule->far), left, right, factor, (mpfr_ptr)0);
    mpfr_ui_pow_ui(left, a, rule->far, MPFR_RNDN);
    mpfr_ui_pow_ui(factor, rule->near, j, MPFR_RNDN);
    mpfr_mul(left, left, factor, MPFR_RNDN);
    mpfr_ui_pow_ui(right, (unsigned long)rule->max_distance, j, MPFR_RNDN);
    mpfr_ui_pow_ui(factor, rule->near, rule->far, MPFR_RNDN);
    mpfr_mul(right, right, factor, MPFR_RNDN);
    bool yes = mpfr_cmp(left, right) >= 0;
    mpfr_clears(left, right, factor, (mpfr_ptr)0);
    return yes;
}

/* The smallest distance in far bucket j: near * (max / near)^(j / far), rounded up. The integers
 * next to a 192-bit value are told apart exactly. */
static double threshold(const struct rule *rule, size_t j)
{
    mpfr_t x, exponent;
    mpfr_inits2(192, x, exponent, (mpfr_ptr)0);
    mpfr_set_d(x, rule->max_distance, MPFR_RNDN);
    mpfr_div_ui(x, x, rule->near, MPFR_RNDN);
    mpfr_set_ui(exponent, j, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, rule->far, MPFR_RNDN);
    mpfr_pow(x, x, exponent, MPFR_RNDN);
    mpfr_mul_ui(x, x, rule->near, MPFR_RNDN);
    unsigned long nearest = mpfr_get_ui(x, MPFR_RNDN);
    mpfr_sub_ui(x, x, nearest, MPFR_RNDN);
    bool doubtful = mpfr_cmpabs_ui(x, 0) == 0 || mpfr_get_exp(x) < -64;
    bool included = doubtful ? reaches(rule, nearest, j) : mpfr_sgn(x) < 0;
    mpfr_clears(x, exponent, (mpfr_ptr)0);
    return (double)(included ? nearest : nearest + 1);
}

/* The plan's constants: what a bucket needs of the spec, the values [buckets, heads], then the
 * thresholds of far buckets 1, 2, .... */
enum { NEAR, FAR, BIDIRECTIONAL, HEADS, THRESHOLDS, VALUES };

static size_t constants(const struct pe_spec *spec, double *hi, double *lo)
{
    struct rule rule = bucket_rule(spec);
    size_t heads = pe_spec_heads(spec);
    size_t values_n = (size_t)pe_spec_number(spec, "buckets") * heads;
    size_t thresholds = VALUES + values_n;
    size_t n = thresholds + rule.far - 1;
    if (!hi)
        return n;
    memset(lo, 0, n * sizeof *lo);
    hi[NEAR] = (double)rule.near;
    hi[FAR] = (double)rule.far;
    hi[BIDIRECTIONAL] = rule.bidirectional;
    hi[HEADS] = (double)heads;
    hi[THRESHOLDS] = (double)thresholds;
    pe__lookup(spec, 0, values_n, hi + VALUES, lo + VALUES);
    for (size_t j = 1; j < rule.far; j++)
        hi[thresholds + j - 1] = threshold(&rule, j);
    return n;
}

/* How many of n rising thresholds the distance reaches. */
static size_t count_reached(const double *thresholds, size_t n, double distance)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = (low + n) / 2;
        if (thresholds[middle] <= distance)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static int64_t bucket(const struct pe_plan *plan, double m, double n)
{
    const double *constant = plan->constant_hi;
    double near = constant[NEAR], far = constant[FAR];
    bool bidirectional = constant[BIDIRECTIONAL] != 0;
    double relative = n - m;
    double distance = bidirectional ? fabs(relative) : fmax(-relative, 0);
    double base = bidirectional && relative > 0 ? near + far : 0;
    if (distance < near)
        return (int64_t)(base + distance);
    const double *thresholds = constant + (size_t)constant[THRESHOLDS];
    return (int64_t)(base + near) + (int64_t)count_reached(thresholds, (size_t)far - 1, distance);
}

/* ---- Parameters, positions, biases -------------------------------------------------------- */

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = pe__lookup_check(spec, faults);
    ok &= pe__heads_check(spec, faults);
    const struct pe_value *buckets = pe__params_value(&spec->params, "buckets");
    const struct pe_value *max_distance = pe__params_value(&spec->params, "max_distance");
    const struct pe_value *bidirectional = pe__params_value(&spec->params, "bidirectional");
    if (!buckets->set || !max_distance->set || !bidirectional->set)
        return ok;
    struct rule rule = bucket_rule(spec);
    if (rule.near == 0)
        return pe_fault_add(faults, PE_INVALID_VALUE, "buckets", NULL,
                            "buckets must be at least 4 with bidirectional=true, got %.0f",
                            buckets->number);
    if (rule.max_distance <= (double)rule.near)
        return pe_fault_add(faults, PE_INVALID_VALUE, "max_distance", NULL,
                            "max_distance must be greater than %zu, the distances with a bucket of "
                            "their own, got %.0f",
                            rule.near, rule.max_distance);
    return ok;
}

static size_t element(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    return (size_t)bucket(plan, at->query, at->key) * (size_t)plan->constant_hi[HEADS] + at->head;
}

static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    size_t i = element(plan, at);
    double hi = plan->constant_hi[VALUES + i];
    return (struct pe__ball){hi, plan->constant_lo[VALUES + i], pe__lookup_eps(&plan->spec, hi)};
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    pe__lookup_exact(&plan->spec, element(plan, at), y);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_library libraries[] = {
    {"transformers", "T5, mT5, UMT5; WavLM with 320 buckets to distance 800"},
    {"llama.cpp", "T5, max_distance fixed at 128"},
    {"ONNX Runtime", "RelativePositionBias"},
    {"x-transformers", "RelativePositionBias, values times the square root of dim"},
    {"keras-hub", "T5"},
    {"torchtune", "T5 encoder"},
    {0},
};

static const struct pe_reference references[] = {
    {"Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", 2019,
     "arXiv:1910.10683"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=t5&value=bucket&positions=0:8",
    "/v1/table?kind=t5&heads=2&bidirectional=true&positions=0:4",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = pe__heads_whole,
    .bias = bias,
    .bias_exact = bias_exact,
    .bucket = bucket,
    .constants = constants,
};

const struct pe_kind pe__kind_t5 = {
    .name = "t5",
    .title = "T5 relative position buckets",
    .formula = "score(m,n) = q.k + table[bucket(n-m),h]",
    .help = "Adds to each attention score a learned number that depends on the head and on the "
            "bucket of the distance: one bucket per near distance, logarithmic buckets up to "
            "max_distance, one for all beyond. The table is posted, or drawn from table_seed.",
    .outside = "All distances from max_distance on share the last bucket, so longer texts have a "
               "value that was trained.",
    .acts = PE_BIASES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_LEARNED | PE_UNBOUNDED,
    .facets = 1u << PE_FACET_BIAS | 1u << PE_FACET_BUCKET,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .table_rows = "buckets",
    .table_cols = "heads",
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
