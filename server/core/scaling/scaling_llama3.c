// SPDX-License-Identifier: Apache-2.0
/*
 * scaling_llama3.c: Llama 3.1: pairs that turn often in the original context are kept, those that
 * turn rarely are divided, and a blend lies between.
 */
#include "params.h"
#include "scalings.h"

static bool check(struct pe_spec *spec, const struct pe__series *series, struct pe_faults *faults)
{
    (void)series;
    const struct pe_value *low = pe__params_value(&spec->params, "low_freq_factor");
    const struct pe_value *high = pe__params_value(&spec->params, "high_freq_factor");
    if (!low->set || !high->set || high->number >= low->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "high_freq_factor", NULL,
                        "high_freq_factor must be at least low_freq_factor (%g), got %g",
                        low->number, high->number);
}

/* With `turns` = original_max * w / (2 pi), which is no double: kept above high_freq_factor,
 * divided below low_freq_factor. */
static void frequency(const struct pe__series *series, size_t k, mpfr_t w)
{
    (void)k;
    double low = pe_spec_number(series->spec, "low_freq_factor");
    double high = pe_spec_number(series->spec, "high_freq_factor");
    mpfr_t turns, divided;
    mpfr_inits2(mpfr_get_prec(w), turns, divided, (mpfr_ptr)NULL);
    mpfr_const_pi(turns, MPFR_RNDN);
    mpfr_mul_2ui(turns, turns, 1, MPFR_RNDN);
    mpfr_div(turns, w, turns, MPFR_RNDN);
    mpfr_mul_d(turns, turns, pe_spec_number(series->spec, "original_max"), MPFR_RNDN);
    mpfr_div_d(divided, w, pe_spec_number(series->spec, "factor"), MPFR_RNDN);
    if (mpfr_cmp_d(turns, low) < 0) {
        mpfr_set(w, divided, MPFR_RNDN);
    } else if (mpfr_cmp_d(turns, high) <= 0) {
        mpfr_sub_d(turns, turns, low, MPFR_RNDN); /* now the share that is kept, times high - low */
        mpfr_sub(w, w, divided, MPFR_RNDN);
        mpfr_mul(w, w, turns, MPFR_RNDN);
        mpfr_set_d(turns, high, MPFR_RNDN);
        mpfr_sub_d(turns, turns, low, MPFR_RNDN);
        mpfr_div(w, w, turns, MPFR_RNDN);
        mpfr_add(w, w, divided, MPFR_RNDN);
    }
    mpfr_clears(turns, divided, (mpfr_ptr)NULL);
}

const struct pe__scaling pe__scaling_llama3 = {
    .name = "llama3", .has_factor = true, .check = check, .frequency = frequency};
