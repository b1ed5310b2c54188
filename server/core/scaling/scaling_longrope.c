// SPDX-License-Identifier: Apache-2.0
/*
 * scaling_longrope.c: LongRoPE (arXiv:2402.13753): every pair has a divisor of its own, one list of
 * them for contexts up to the original one and one for longer contexts.
 */
#include "params.h"
#include "scalings.h"

static bool check(struct pe_spec *spec, const struct pe__series *series, struct pe_faults *faults)
{
    const struct pe_value *original = pe__params_value(&spec->params, "original_max");
    bool ok = pe__series_check_list(spec, "short_factor", series->n, faults);
    ok = pe__series_check_list(spec, "long_factor", series->n, faults) && ok;
    if (!original->set || original->number > 1)
        return ok;
    return pe_fault_add(faults, PE_INVALID_VALUE, "original_max", NULL,
                        "original_max must be above 1 with scaling=longrope, got %.0f",
                        original->number);
}

static void frequency(const struct pe__series *series, size_t k, mpfr_t w)
{
    const struct pe_spec *spec = series->spec;
    bool longer = pe_spec_number(spec, "context") > pe_spec_number(spec, "original_max");
    const struct pe_value *divisors =
        pe_params_get(&spec->params, longer ? "long_factor" : "short_factor");
    mpfr_div_d(w, w, divisors->list[k], MPFR_RNDN);
}

/* sqrt(1 + ln(factor) / ln(original_max)). */
static void attention(const struct pe__series *series, mpfr_t factor)
{
    mpfr_t length;
    mpfr_init2(length, mpfr_get_prec(factor));
    mpfr_set_d(length, pe_spec_number(series->spec, "original_max"), MPFR_RNDN);
    mpfr_log(length, length, MPFR_RNDN);
    mpfr_set_d(factor, pe_spec_number(series->spec, "factor"), MPFR_RNDN);
    mpfr_log(factor, factor, MPFR_RNDN);
    mpfr_div(factor, factor, length, MPFR_RNDN);
    mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
    mpfr_sqrt(factor, factor, MPFR_RNDN);
    mpfr_clear(length);
}

const struct pe__scaling pe__scaling_longrope = {.name = "longrope",
                                                 .has_factor = true,
                                                 .check = check,
                                                 .frequency = frequency,
                                                 .attention = attention};
