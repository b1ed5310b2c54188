// SPDX-License-Identifier: Apache-2.0
/* bits.c: see bits.h. */
#include "bits.h"

#include <math.h>
#include <string.h>

#include "params.h"
#include "value.h"

enum { ORDER_LSB, ORDER_MSB };

bool pe__bits_check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *bits = pe__params_value(&spec->params, "bits");
    if (!dim->set || !bits->set || bits->number <= dim->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "bits", NULL,
                        "bits must be at most dim (%.0f), got %.0f", dim->number, bits->number);
}

bool pe__bits_has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                           struct pe_faults *faults)
{
    double bits = pe_spec_number(spec, "bits");
    double limit = bits < 64 ? ldexp(1, (int)bits) : 0x1p64; /* |position| <= 2^54 */
    double p = position.hi;
    bool integer = p == floor(p) && position.lo == floor(position.lo);
    bool below = p < limit || (p == limit && position.lo < 0);
    if (integer && p >= 0 && below)
        return true;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "%.0f bits hold the integers 0 to 2^%.0f-1, not the position %s", bits,
                        bits, pe__show_number(p, shown));
}

uint64_t pe__bits_number(struct pe__pos position)
{
    return (uint64_t)((int64_t)position.hi + (int64_t)position.lo);
}

void pe__bits_row(const struct pe_spec *spec, uint64_t number, size_t first, size_t n, double *hi,
                  double *lo)
{
    size_t bits = (size_t)pe_spec_number(spec, "bits");
    bool msb = pe_spec_number(spec, "bit_order") == ORDER_MSB;
    bool is_signed = pe_spec_number(spec, "signed") != 0;
    for (size_t i = 0; i < n; i++) {
        size_t channel = first + i;
        size_t bit = msb ? bits - 1 - channel : channel;
        double value = bit < 64 ? (double)(number >> bit & 1) : 0;
        hi[i] = channel >= bits ? 0 : is_signed ? 2 * value - 1 : value;
    }
    memset(lo, 0, n * sizeof *lo);
}
