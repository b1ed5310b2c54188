// SPDX-License-Identifier: Apache-2.0
/*
 * kind_binary.c: the bits of the position: bounded, but with jumps where a carry runs through.
 */
#include "bits.h"

static const struct pe_param rows[] = {PE__BITS_ROWS};

static double row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                  double *hi, double *lo)
{
    pe__bits_row(&plan->spec, pe__bits_number(position), first, n, hi, lo);
    return 0;
}

static const struct pe_library libraries[] = {{0}};

static const struct pe_reference references[] = {
    {"You could have designed state of the art positional encoding", 2024,
     "huggingface.co/blog/designing-positional-encoding"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=binary&dim=4&positions=0:16",
    "/v1/table?kind=binary&dim=4&bit_order=msb&signed=true&positions=0:16",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = pe__bits_check,
    .has_position = pe__bits_has_position,
    .row = row,
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
