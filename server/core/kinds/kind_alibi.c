// SPDX-License-Identifier: Apache-2.0
/*
 * kind_alibi.c: attention with linear biases: -slope*|m - n|. The slopes of a number of heads that
 * is no power of two continue those of the next lower one with every other slope of twice as many
 * heads; they are irrational in part, and kept as double-double.
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
    ok &= pe__heads_check(spec, faults);
    return ok;
}

/* ---- Slopes ------------------------------------------------------------------------------- */

/* The rule's slope of one head: 2^(-8k/n), to the precision of y. The exponent is exact, because n
 * is a power of two. */
static void rule_slope(size_t heads, size_t head, mpfr_t y)
{
    size_t n = 1;
    while (2 * n <= heads)
        n *= 2;
    double k = (double)head + 1;
    if (head >= n) { /* odd powers of the ratio of 2n heads */
        k = 2 * (double)(head - n) + 1;
        n *= 2;
    }
    mpfr_t exponent;
    mpfr_init2(exponent, 53);
    mpfr_set_d(exponent, -8 * k / (double)n, MPFR_RNDN);
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
    double slope;
    if (given_slope(spec, head, &slope))
        mpfr_set_d(y, slope, MPFR_RNDN);
    else
        rule_slope(pe_spec_heads(spec), head, y);
}

static size_t constants(const struct pe_spec *spec, double *hi, double *lo)
{
    size_t heads = pe_spec_heads(spec);
    if (!hi)
        return heads;
    mpfr_t slope;
    mpfr_init2(slope, SLOPE_BITS);
    for (size_t head = 0; head < heads; head++) {
        slope_exact(spec, head, slope);
        hi[head] = mpfr_get_d(slope, MPFR_RNDN);
        mpfr_sub_d(slope, slope, hi[head], MPFR_RNDN);
        lo[head] = mpfr_get_d(slope, MPFR_RNDN);
    }
    mpfr_clear(slope);
    return heads;
}

/* ---- Bias --------------------------------------------------------------------------------- */

static double bias(const struct pe_plan *plan, size_t head, double m, double n, double *hi,
                   double *lo)
{
    struct pe__dd distance = pe__two_sum(m, -n);
    struct pe__dd slope = {plan->constant_hi[head], plan->constant_lo[head]};
    *hi = *lo = 0;
    if (distance.hi == 0 || slope.hi == 0)
        return 0;
    if (distance.hi > 0)
        slope = (struct pe__dd){-slope.hi, -slope.lo};
    struct pe__dd product = pe__dd_mul(slope, distance);
    *hi = product.hi;
    *lo = product.lo;
    if (fabs(product.hi) < PRODUCT_MIN)
        return INFINITY;
    return slope.lo == 0 && distance.lo == 0 ? 0 : fabs(product.hi) * RELATIVE_EPS;
}

static void bias_exact(const struct pe_plan *plan, size_t head, double m, double n, mpfr_t y)
{
    struct pe__dd distance = pe__two_sum(m, -n);
    mpfr_t slope;
    mpfr_init2(slope, mpfr_get_prec(y) + 64);
    if (pe__stage_named(&plan->stages, PE_STAGE_FREQ))
        mpfr_set_d(slope, plan->constant_hi[head], MPFR_RNDN);
    else
        slope_exact(&plan->spec, head, slope);
    mpfr_t product;
    mpfr_init2(product, mpfr_get_prec(y) + 64);
    mpfr_set_d(product, distance.hi, MPFR_RNDN);
    mpfr_add_d(product, product, distance.lo, MPFR_RNDN);
    mpfr_abs(product, product, MPFR_RNDN);
    mpfr_mul(product, product, slope, MPFR_RNDN);
    mpfr_neg(y, product, MPFR_RNDN);
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
    "/v1/scores?kind=alibi&slope=0.5",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .bias = bias,
    .bias_exact = bias_exact,
    .slope = slope_exact,
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
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
