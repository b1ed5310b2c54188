// SPDX-License-Identifier: Apache-2.0
/* sinusoid.c: see sinusoid.h. */
#include "sinusoid.h"

#include "frequency.h"
#include "params.h"
#include "value.h"

#define DENOMINATOR_MIN 0.5

bool pe__freq_shift_check(const struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe_params_get(&spec->params, "dim");
    const struct pe_value *shift = pe_params_get(&spec->params, "freq_shift");
    char shown[PE__SHOWN_MAX];
    char limit[PE__SHOWN_MAX];
    if (!dim->set || !shift->set)
        return true;
    double most = (double)((size_t)dim->number / 2) - DENOMINATOR_MIN;
    if (shift->number <= most)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "freq_shift", NULL,
                        "freq_shift must be at most floor(dim/2)-0.5 (%s), got %s",
                        pe__show_number(most, limit), pe__show_number(shift->number, shown));
}

void pe__freq_shift_frequency(const struct pe_spec *spec, size_t k, mpfr_t w)
{
    pe__frequency_shifted(pe_spec_number(spec, "base"), k, pe_spec_dim(spec) / 2,
                          pe_spec_number(spec, "freq_shift"), w);
}

void pe__order_channels(enum pe__order order, size_t sines_n, size_t cosines_n, size_t k, size_t *c,
                        size_t *s)
{
    *s = order == PE__ORDER_INTERLEAVED ? 2 * k : order == PE__ORDER_SIN_COS ? k : cosines_n + k;
    *c = order == PE__ORDER_INTERLEAVED ? 2 * k + 1 : order == PE__ORDER_COS_SIN ? k : sines_n + k;
    if (k >= cosines_n)
        *c = PE__NO_CHANNEL;
}
