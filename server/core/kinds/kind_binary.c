// SPDX-License-Identifier: Apache-2.0
/*
 * kind_binary.c: the bits of the position, lowest first: bounded, but with jumps where a carry
 * runs through.
 */
#include <math.h>

#include "kind.h"
#include "params.h"
#include "rows.h"
#include "value.h"

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 0),
    {.name = "bits",
     .type = PE_INT,
     .min = 1,
     .max = PE_DIM_MAX,
     .flags = PE_DERIVED,
     .fallback = "@dim",
     .help = "Bits written to the first channels, at most dim; the other channels are 0."},
    PE__ROW_SHIFT,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *bits = pe__params_value(&spec->params, "bits");
    if (!dim->set || !bits->set || bits->number <= dim->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "bits", NULL,
                        "bits must be at most dim (%.0f), got %.0f", dim->number, bits->number);
}

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
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

static uint64_t code(struct pe__pos position)
{
    return (uint64_t)((int64_t)position.hi + (int64_t)position.lo);
}

static double row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                  double *hi, double *lo)
{
    (void)plan; /* positions have no more bits than the spec allows */
    for (size_t i = 0; i < n; i++) {
        size_t bit = first + i;
        hi[i] = bit < 64 ? (double)(code(position) >> bit & 1) : 0;
        lo[i] = 0;
    }
    return 0;
}

static void row_exact(const struct pe_plan *plan, struct pe__pos position, size_t channel, mpfr_t y)
{
    double hi, lo;
    row(plan, position, channel, 1, &hi, &lo);
    mpfr_set_d(y, hi, MPFR_RNDN);
}

static const struct pe_library libraries[] = {{0}};

static const struct pe_reference references[] = {
    {"You could have designed state of the art positional encoding", 2024,
     "huggingface.co/blog/designing-positional-encoding"},
    {0},
};

static const char *const examples[] = {"/v1/table?kind=binary&dim=4&positions=0:16", NULL};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = has_position,
    .row = row,
    .row_exact = row_exact,
};

const struct pe_kind pe__kind_binary = {
    .name = "binary",
    .title = "Binary position",
    .formula = "PE[p,j] = bit j of p, j = 0 the lowest; y = x + PE",
    .help = "Adds the bits of the position, one per channel: bounded, but neighbours may differ in "
            "many channels. A position that is negative, fractional or too large is an error.",
    .outside = "Positions from 2^dim on have no value. Below, bits that were 0 in all of "
               "training turn 1.",
    .acts = PE_ADDS,
    .properties = 0,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
