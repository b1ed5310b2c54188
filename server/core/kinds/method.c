// SPDX-License-Identifier: Apache-2.0
/* method.c: see method.h. */
#include "method.h"

#include <string.h>

#include "round.h"

enum pe__method pe__method_of(const struct pe_spec *spec)
{
    int row = pe_params_find(&spec->params, "freq_method", 11);
    return row < 0 ? PE__METHOD_EXACT : (enum pe__method)spec->params.value[row].number;
}

struct power {
    mpfr_srcptr base;
    float exponent;
};

static void power_exact(const void *context, size_t i, mpfr_t y)
{
    const struct power *power = context;
    mpfr_t exponent;
    (void)i;
    mpfr_init2(exponent, 24);
    mpfr_set_flt(exponent, power->exponent, MPFR_RNDN);
    mpfr_pow(y, power->base, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

double pe__method_reciprocal(mpfr_srcptr base, size_t k, size_t width)
{
    struct power power = {base, (float)(2 * k) / (float)width};
    return 1 / (float)pe__round_exact_f64(PE_F32, power_exact, &power, 0);
}

double pe__method_step(mpfr_srcptr base, size_t width)
{
    mpfr_t rounded;
    mpfr_init2(rounded, 24);
    mpfr_set(rounded, base, MPFR_RNDN);
    struct power power = {rounded, -2 / (float)width};
    double step = pe__round_exact_f64(PE_F32, power_exact, &power, 0);
    mpfr_clear(rounded);
    return step;
}
