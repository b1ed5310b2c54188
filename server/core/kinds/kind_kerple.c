// SPDX-License-Identifier: Apache-2.0
/*
 * kind_kerple.c: kernelized relative positions: biases that are a conditionally positive definite
 * kernel of the distance, a power or a logarithm with two parameters for each head.
 */
#include "heads.h"
#include "kind.h"
#include "params.h"
#include "rows.h"

#define GUARD_BITS 64 /* more than hold a product of two doubles, and what a power magnifies */

enum form { LOG, POWER };

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    {.name = "form",
     .type = PE_ENUM,
     .fallback = "log",
     .choices = "log|logarithmic power",
     .help = "log: -p ln(1 + a|m-n|); power: -a|m-n|^p."},
    {.name = "a",
     .type = PE_REALS,
     .min = 0,
     .max = 1e6,
     .flags = PE_OPEN_MIN,
     .fallback = "1",
     .help = "Learned scale, one number for all heads or one for each; models keep it from 0.01 "
             "on."},
    {.name = "p",
     .type = PE_REALS,
     .min = 0,
     .max = 1e6,
     .flags = PE_OPEN_MIN,
     .fallback = "1",
     .help = "Learned weight (log) or exponent (power, at most 2), for all heads or for each."},
    PE__ROW_SHIFT,
};

static bool check_exponents(const struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *form = pe_params_get(&spec->params, "form");
    const struct pe_value *p = pe_params_get(&spec->params, "p");
    if (!form->set || !p->set || form->number != POWER)
        return true;
    for (size_t i = 0; i < p->list_n; i++)
        if (p->list[i] > 2)
            return pe_fault_add(faults, PE_INVALID_VALUE, "p", NULL,
                                "p must be at most 2 with form=power, got %g", p->list[i]);
    return true;
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = pe__heads_check_list(spec, "a", faults);
    ok &= pe__heads_check_list(spec, "p", faults);
    ok &= pe__heads_check(spec, faults);
    ok &= check_exponents(spec, faults);
    return ok;
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    const struct pe_spec *spec = &plan->spec;
    double a = pe__heads_number(spec, "a", at->head), p = pe__heads_number(spec, "p", at->head);
    mpfr_t x, exponent;
    mpfr_init2(x, mpfr_get_prec(y) + GUARD_BITS);
    mpfr_init2(exponent, 53);
    pe__distance_exact(at, x);
    if (pe_spec_number(spec, "form") == POWER) {
        mpfr_set_d(exponent, p, MPFR_RNDN);
        mpfr_pow(x, x, exponent, MPFR_RNDN);
        mpfr_mul_d(x, x, -a, MPFR_RNDN);
    } else {
        mpfr_mul_d(x, x, a, MPFR_RNDN);
        mpfr_log1p(x, x, MPFR_RNDN);
        mpfr_mul_d(x, x, -p, MPFR_RNDN);
    }
    mpfr_set(y, x, MPFR_RNDN);
    if (mpfr_zero_p(y))
        mpfr_set_zero(y, 1);
    mpfr_clears(x, exponent, (mpfr_ptr)0);
}

static const struct pe_reference references[] = {
    {"KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation", 2022,
     "arXiv:2205.09921"},
    {0},
};

static const struct pe_library libraries[] = {
    {"KERPLE", "GPT-NeoX with form=log or power, a and p learned for each head, at least 0.01"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=kerple&positions=0:4",
    "/v1/scores?kind=kerple&form=power&a=0.5&p=0.5",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .work = pe__heads_work,
    .bias_exact = bias_exact,
};

const struct pe_kind pe__kind_kerple = {
    .name = "kerple",
    .title = "Kernelized relative positional embedding (KERPLE)",
    .formula = "score(m,n) = q.k - p ln(1 + a|m-n|), or q.k - a|m-n|^p",
    .help = "Adds to each attention score a kernel of the distance that falls off by a logarithm "
            "or a power, with two learned parameters for each head. A power with p=1 is ALiBi.",
    .outside = "Without end: the logarithm hardly falls where distances are longer than those of "
               "training.",
    .acts = PE_BIASES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_LEARNED | PE_UNBOUNDED,
    .facets = 1u << PE_FACET_BIAS,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
