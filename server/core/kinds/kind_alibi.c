// SPDX-License-Identifier: Apache-2.0
/*
 * kind_alibi.c: attention with linear biases: -slope*|m - n|, or one of the forms that differ from
 * it by what a causal softmax cancels. The slopes of a number of heads that is no power of two
 * continue those of the next lower one with every other slope of twice as many heads; they are
 * irrational in part, and kept as double-double.
 */
#include <math.h>

#include "dd.h"
#include "heads.h"
#include "kind.h"
#include "params.h"
#include "rows.h"

#define SLOPE_BITS   192      /* of an irrational slope before it becomes a double-double */
#define PRODUCT_MIN  0x1p-900 /* below, the low part of a product may underflow */
#define RELATIVE_EPS 0x1p-102 /* of slope * distance, both double-double */

#define BIAS_MAX 8 /* of the rule, if not given */

enum form { SYMMETRIC, SIGNED, LAST_ZERO, KEY_INDEX };

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    {.name = "slope",
     .type = PE_REAL,
     .min = 0,
     .max = 1e6,
     .flags = PE_OPTIONAL,
     .help = "Slope of a single head, instead of the rule."},
    {.name = "slopes",
     .type = PE_REALS,
     .min = 0,
     .max = 1e6,
     .flags = PE_OPTIONAL,
     .help = "One slope per head, instead of the rule."},
    {.name = "bias_max",
     .aliases = "alibi_bias_max",
     .type = PE_REAL,
     .min = 0,
     .max = 1e6,
     .flags = PE_OPTIONAL | PE_OPEN_MIN,
     .help = "The rule's largest exponent: the last slope of a power of two is 2^-bias_max; 8 "
             "without it."},
    {.name = "total_heads",
     .type = PE_INT,
     .min = 1,
     .max = PE_HEADS_MAX,
     .flags = PE_OPTIONAL,
     .help = "Heads in all; those past `heads` have slope 0. As many as `heads` without it."},
    {.name = "form",
     .type = PE_ENUM,
     .flags = PE_OPTIONAL,
     .choices = "symmetric signed last_zero|mpt key_index|bloom",
     .help = "What the slope multiplies: symmetric -|m-n|, signed n-m, last_zero n - the last key, "
             "key_index n. The same under a causal softmax; symmetric without it."},
    PE__ROW_SHIFT,
};

/* ---- Parameters --------------------------------------------------------------------------- */

/* Given slopes say how many heads there are, or agree with it. */
static bool check_slopes_n(struct pe_params *params, const char *name, size_t n,
                           struct pe_faults *faults)
{
    const struct pe_value *heads = pe__params_value(params, "heads");
    if (!heads->given) {
        pe__params_derive(params, "heads", (double)n);
        return true;
    }
    if (!heads->set || heads->number == (double)n)
        return true;
    return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, name, NULL,
                        "%s gives %zu of the slopes of heads=%.0f", name, n, heads->number);
}

static bool check_total(struct pe_params *params, struct pe_faults *faults)
{
    const struct pe_value *heads = pe__params_value(params, "heads");
    const struct pe_value *total = pe__params_value(params, "total_heads");
    if (!heads->set || !total->set || total->number >= heads->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "total_heads", NULL,
                        "total_heads must be at least heads (%.0f), got %.0f", heads->number,
                        total->number);
}

static bool check_bias_max(struct pe_params *params, struct pe_faults *faults)
{
    const struct pe_value *bias_max = pe__params_value(params, "bias_max");
    bool given = pe__params_value(params, "slope")->set || pe__params_value(params, "slopes")->set;
    if (!bias_max->set || !given)
        return true;
    return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "bias_max", NULL,
                        "bias_max belongs to the rule, and slopes are given instead");
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    const struct pe_value *slope = pe__params_value(params, "slope");
    const struct pe_value *slopes = pe__params_value(params, "slopes");
    bool ok = true;
    if (slope->set && slopes->set)
        ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "slope", NULL,
                          "slope and slopes are both given");
    else if (slopes->set && slopes->list_n > PE_HEADS_MAX)
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "slopes", NULL,
                          "slopes may have at most %d numbers, got %zu", PE_HEADS_MAX,
                          slopes->list_n);
    else if (slopes->set)
        ok = check_slopes_n(params, "slopes", slopes->list_n, faults);
    else if (slope->set)
        ok = check_slopes_n(params, "slope", 1, faults);
    ok &= check_bias_max(params, faults);
    ok &= check_total(params, faults);
    ok &= pe__heads_check(spec, faults);
    pe__params_drop_number(params, "bias_max", BIAS_MAX);
    pe__params_drop_number(params, "form", SYMMETRIC);
    pe__params_drop_number(params, "total_heads", pe_spec_number(spec, "heads"));
    return ok;
}

/* ---- Slopes ------------------------------------------------------------------------------- */

/* The rule's slope of one head: 2^(-bias_max k/n), to the precision of y. The exponent is exact,
 * because n is a power of two. */
static void rule_slope(double bias_max, size_t heads, size_t head, mpfr_t y)
{
    size_t n = 1;
    while (2 * n <= heads)
        n *= 2;
    size_t k = head + 1;
    if (head >= n) { /* odd powers of the ratio of 2n heads */
        k = 2 * (head - n) + 1;
        n *= 2;
    }
    mpfr_t exponent;
    mpfr_init2(exponent, 128);
    mpfr_set_d(exponent, -bias_max, MPFR_RNDN);
    mpfr_mul_ui(exponent, exponent, k, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, n, MPFR_RNDN);
    mpfr_exp2(y, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* Whether the slope was given; then it is a double. */
static bool given_slope(const struct pe_spec *spec, size_t head, double *slope)
{
    const struct pe_value *one = pe_params_get(&spec->params, "slope");
    const struct pe_value *all = pe_params_get(&spec->params, "slopes");
    if (all->set)
        *slope = all->list[head];
    else if (one->set)
        *slope = one->number;
    return all->set || one->set;
}

static void slope_exact(const struct pe_spec *spec, size_t head, mpfr_t y)
{
    size_t heads = (size_t)pe_spec_number(spec, "heads");
    const struct pe_value *bias_max = pe_params_get(&spec->params, "bias_max");
    double slope;
    if (head >= heads)
        mpfr_set_zero(y, 1);
    else if (given_slope(spec, head, &slope))
        mpfr_set_d(y, slope, MPFR_RNDN);
    else
        rule_slope(bias_max->set ? bias_max->number : BIAS_MAX, heads, head, y);
}

static enum form form_of(const struct pe_spec *spec)
{
    const struct pe_value *form = pe_params_get(&spec->params, "form");
    return form->set ? (enum form)form->number : SYMMETRIC;
}

static bool places_count(const struct pe_spec *spec)
{
    return form_of(spec) >= LAST_ZERO;
}

/* The plan's constants. */
enum { FORM, SLOPES };

static size_t constants(const struct pe_spec *spec, double *hi, double *lo)
{
    size_t n = SLOPES + pe_spec_heads(spec);
    if (!hi)
        return n;
    hi[FORM] = form_of(spec);
    lo[FORM] = 0;
    mpfr_t slope;
    mpfr_init2(slope, SLOPE_BITS);
    for (size_t i = SLOPES; i < n; i++) {
        slope_exact(spec, i - SLOPES, slope);
        hi[i] = mpfr_get_d(slope, MPFR_RNDN);
        mpfr_sub_d(slope, slope, hi[i], MPFR_RNDN);
        lo[i] = mpfr_get_d(slope, MPFR_RNDN);
    }
    mpfr_clear(slope);
    return n;
}

/* ---- Bias --------------------------------------------------------------------------------- */

/* What the negated slope multiplies, exact. */
static struct pe__dd distance_of(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct pe__dd distance;
    switch ((enum form)plan->constant_hi[FORM]) {
    case SIGNED:
        return pe__two_sum(at->query, -at->key);
    case LAST_ZERO:
        return pe__two_sum(at->last, -at->key);
    case KEY_INDEX:
        return pe__two_sum(-at->key, -plan->shift);
    case SYMMETRIC:
    default:
        distance = pe__two_sum(at->query, -at->key);
        return distance.hi < 0 ? (struct pe__dd){-distance.hi, -distance.lo} : distance;
    }
}

static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct pe__dd distance = distance_of(plan, at);
    struct pe__dd slope = {-plan->constant_hi[SLOPES + at->head],
                           -plan->constant_lo[SLOPES + at->head]};
    if (distance.hi == 0 || slope.hi == 0)
        return pe__ball_exact(0);
    struct pe__dd product = pe__dd_mul(slope, distance);
    bool is_exact = slope.lo == 0 && distance.lo == 0;
    double eps = is_exact ? 0 : fabs(product.hi) * RELATIVE_EPS;
    return (struct pe__ball){product.hi, product.lo,
                             fabs(product.hi) < PRODUCT_MIN ? INFINITY : eps};
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    struct pe__dd distance = distance_of(plan, at);
    mpfr_t slope, product;
    mpfr_inits2(mpfr_get_prec(y) + 64, slope, product, (mpfr_ptr)0);
    if (pe__stage_named(&plan->stages, PE_STAGE_FREQ))
        mpfr_set_d(slope, plan->constant_hi[SLOPES + at->head], MPFR_RNDN);
    else
        slope_exact(&plan->spec, at->head, slope);
    mpfr_set_d(product, -distance.hi, MPFR_RNDN);
    mpfr_sub_d(product, product, distance.lo, MPFR_RNDN);
    mpfr_mul(y, product, slope, MPFR_RNDN);
    if (mpfr_zero_p(y))
        mpfr_set_zero(y, 1);
    mpfr_clears(slope, product, (mpfr_ptr)0);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_library libraries[] = {
    {"transformers", "BLOOM, MPT; Falcon with slopes in bf16 (stages=freq:bf16)"},
    {"vLLM", "slopes, applied in the kernels"},
    {"llama.cpp", "max_bias, in the softmax"},
    {"keras-hub", "AlibiBias"},
    {"x-transformers", "AlibiPositionalBias, symmetric"},
    {0},
};

static const struct pe_reference references[] = {
    {"Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
     2021, "arXiv:2108.12409"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=alibi&heads=8&positions=0:4",
    "/v1/table?kind=alibi&heads=4&form=key_index&queries=1&keys=6",
    "/v1/scores?kind=alibi&slope=0.5",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .bias = bias,
    .bias_exact = bias_exact,
    .places_count = places_count,
    .slope = slope_exact,
    .slopes_at = SLOPES,
    .constants = constants,
};

const struct pe_kind pe__kind_alibi = {
    .name = "alibi",
    .title = "Attention with linear biases",
    .formula = "score(m,n) = q.k - slope_h*|m-n|, slope_h = 2^(-8(h+1)/heads) for a power of two",
    .help = "Subtracts from each attention score a slope times the distance, one slope per head. "
            "Heads beyond a power of two n take the odd powers of 2^(-8/(2n)). Vectors stay as "
            "they are.",
    .outside = "Made for it: the penalty grows on with the distance, so far tokens fade as the "
               "near ones of training did.",
    .acts = PE_BIASES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_UNBOUNDED,
    .facets = 1u << PE_FACET_BIAS | 1u << PE_FACET_SLOPES,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
