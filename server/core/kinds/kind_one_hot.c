// SPDX-License-Identifier: Apache-2.0
/*
 * kind_one_hot.c: 1 in the channel of the position, 0 in all others: every position its own
 * direction, and none nearer to one than to another.
 */
#include <math.h>
#include <string.h>

#include "kind.h"
#include "rows.h"
#include "value.h"

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 0),
    PE__ROW_SHIFT,
};

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    double dim = (double)pe_spec_dim(spec);
    double p = position.hi;
    if (position.lo == 0 && p == floor(p) && p >= 0 && p < dim)
        return true;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "%.0f channels hold the positions 0 to %.0f, not %s", dim, dim - 1,
                        pe__show_number(p, shown));
}

static double row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                  double *hi, double *lo)
{
    (void)plan;
    for (size_t i = 0; i < n; i++)
        hi[i] = position.hi == (double)(first + i);
    memset(lo, 0, n * sizeof *lo);
    return 0;
}

static const struct pe_library libraries[] = {{0}};

static const struct pe_reference references[] = {
    {"You could have designed state of the art positional encoding", 2024,
     "huggingface.co/blog/designing-positional-encoding"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=one_hot&dim=8&positions=0:8",
    "/v1/scores?kind=one_hot&dim=64&anchors=0,8,24&offsets=0:32&terms=1",
    NULL,
};

static const struct pe__kind_ops ops = {
    .has_position = has_position,
    .row = row,
};

const struct pe_kind pe__kind_one_hot = {
    .name = "one_hot",
    .title = "One-hot position",
    .formula = "PE[p,j] = 1 if j = p, else 0; y = x + PE",
    .help = "Adds 1 to the channel that has the number of the position: a learned table before "
            "anything is learned. All positions are equally far from each other, and a position "
            "that is negative, fractional or not below dim is an error.",
    .outside = "No value: there are as many positions as channels.",
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
