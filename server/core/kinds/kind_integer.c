// SPDX-License-Identifier: Apache-2.0
/*
 * kind_integer.c: the position itself in every channel, plain or divided by a length: the first
 * attempt of every lesson.
 */
#include <math.h>

#include "dd.h"
#include "kind.h"
#include "params.h"
#include "rows.h"

#define QUOTIENT_MIN 0x1p-900 /* below, the remainder may underflow */
#define RELATIVE_EPS 0x1p-102 /* of the quotient: two correction steps of double division */

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 0),
    {.name = "normalize_by",
     .type = PE_REAL,
     .min = 1e-9, /* so that every quotient is finite */
     .max = PE_POSITION_MAX,
     .flags = PE_OPTIONAL,
     .help = "Divides the position, usually the sequence length; without it, p as it is."},
    {.name = "length",
     .type = PE_INT,
     .min = 1,
     .max = PE_POSITION_MAX,
     .flags = PE_OPTIONAL,
     .help = "Sequence length in positions: p/(length-1), from 0 to 1; all 0 where it is 1."},
    PE__ROW_SHIFT,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *divisor = pe__params_value(&spec->params, "normalize_by");
    const struct pe_value *length = pe__params_value(&spec->params, "length");
    if (!divisor->set || !length->set)
        return true;
    return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "length", NULL,
                        "length and normalize_by are both given, %.0f and %g", length->number,
                        divisor->number);
}

/* 0: every value is 0. */
static double divisor(const struct pe_spec *spec)
{
    const struct pe_value *value = pe_params_get(&spec->params, "normalize_by");
    const struct pe_value *length = pe_params_get(&spec->params, "length");
    if (length->set)
        return length->number - 1;
    return value->set ? value->number : 1;
}

/* (a.hi + a.lo) / b with its error bound, 0 when exact. */
static double divide(struct pe__pos a, double b, struct pe__dd *quotient)
{
    *quotient = (struct pe__dd){0, 0};
    if (b == 0)
        return 0;
    double q = a.hi / b;
    struct pe__dd product = pe__two_prod(q, b);
    double remainder = (a.hi - product.hi) - product.lo; /* exact */
    double rest = remainder + a.lo;
    *quotient = pe__fast_two_sum(q, rest / b);
    if (q != 0 && fabs(q) < QUOTIENT_MIN)
        return INFINITY;
    return remainder == 0 && a.lo == 0 ? 0 : fabs(q) * RELATIVE_EPS;
}

static double row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                  double *hi, double *lo)
{
    (void)first; /* all channels are alike */
    struct pe__dd value;
    double eps = divide(position, divisor(&plan->spec), &value);
    for (size_t i = 0; i < n; i++) {
        hi[i] = value.hi;
        lo[i] = value.lo;
    }
    return eps;
}

static void row_exact(const struct pe_plan *plan, struct pe__pos position, size_t channel, mpfr_t y)
{
    (void)channel;
    double by = divisor(&plan->spec);
    mpfr_t sum;
    mpfr_init2(sum, mpfr_get_prec(y) + 64);
    mpfr_set_d(sum, position.hi, MPFR_RNDN);
    mpfr_add_d(sum, sum, position.lo, MPFR_RNDN);
    if (by == 0)
        mpfr_set_zero(y, 1);
    else
        mpfr_div_d(y, sum, by, MPFR_RNDN);
    mpfr_clear(sum);
}

static const struct pe_library libraries[] = {{0}};

static const struct pe_reference references[] = {
    {"You could have designed state of the art positional encoding", 2024,
     "huggingface.co/blog/designing-positional-encoding"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=integer&dim=4&positions=0:8",
    "/v1/table?kind=integer&dim=4&normalize_by=8&positions=0:8",
    "/v1/table?kind=integer&dim=4&length=9&positions=0:9",
    NULL,
};

static const struct pe__kind_ops ops = {.check = check, .row = row, .row_exact = row_exact};

const struct pe_kind pe__kind_integer = {
    .name = "integer",
    .title = "Integer position",
    .formula = "PE[p,j] = p, p/normalize_by or p/(length-1); y = x + PE",
    .help = "Adds the position to every channel. Unnormalised it grows without bound and drowns "
            "the content; divided by the length, the same position differs from text to text.",
    .outside = "Grows on: values that no layer has seen, and larger than the content. Divided by "
               "the length it stays within 0 and 1, but the steps become smaller than in "
               "training.",
    .acts = PE_ADDS,
    .properties = PE_UNBOUNDED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
