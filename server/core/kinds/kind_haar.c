// SPDX-License-Identifier: Apache-2.0
/*
 * kind_haar.c: Haar's wavelets over a stretch of positions: the first channel is constant, the
 * second tells the halves apart, the next two the quarters, and so on: where a position stands,
 * coarse to fine, each channel orthogonal to all others.
 */
#include <math.h>

#include "dd.h"
#include "kind.h"
#include "params.h"
#include "rows.h"
#include "value.h"

#define ROOT_EPS 0x1p-105 /* of the root below, and of every value: none is larger than 1 */

static const struct pe__dd root_of_two = {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54};

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 0),
    {.name = "length",
     .type = PE_INT,
     .min = 1,
     .max = PE_POSITION_MAX,
     .flags = PE_OPTIONAL | PE_DERIVED,
     .help = "Positions from 0 on that the wavelets cover: a power of two, dim or more; the least "
             "such without it."},
    {.name = "normalize",
     .type = PE_BOOL,
     .fallback = "false",
     .help = "Every channel of length 1 over all positions, instead of values 1, 0 and -1."},
    PE__ROW_SHIFT,
};

static double least_length(double dim)
{
    double length = 1;
    while (length < dim)
        length *= 2;
    return length;
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *length = pe__params_value(&spec->params, "length");
    if (dim->set && !length->given)
        pe__params_derive(&spec->params, "length", least_length(dim->number));
    if (!dim->set || !length->set)
        return true;
    if (length->number == least_length(length->number) && length->number >= dim->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "length", NULL,
                        "length must be a power of two and at least dim (%.0f), got %.0f",
                        dim->number, length->number);
}

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    double length = pe_spec_number(spec, "length");
    double p = position.hi;
    if (position.lo == 0 && p == floor(p) && p >= 0 && p < length)
        return true;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "the wavelets cover the integers 0 to %.0f, not the position %s",
                        length - 1, pe__show_number(p, shown));
}

/* A channel at a position: its sign, or 0 outside of its stretch; and how often the length is
 * halved to give the stretch. */
struct wavelet {
    double sign;
    int halvings;
};

static struct wavelet wavelet(size_t channel, double position, double length)
{
    if (channel == 0)
        return (struct wavelet){1, 0};
    int halvings = ilogb((double)channel);
    double stretches = ldexp(1, halvings);
    double halves = floor(position * (2 * stretches / length)); /* from the start, exact */
    double number = (double)channel - stretches;
    double sign = floor(halves / 2) != number ? 0 : halves == 2 * number ? 1 : -1;
    return (struct wavelet){sign, halvings};
}

/* The square of a wavelet's length is length / 2^halvings. */
static struct pe__dd normalized(struct wavelet wavelet, double length)
{
    int exponent = wavelet.halvings - ilogb(length); /* of the square of the value */
    bool odd = exponent % 2 != 0;
    double scale = ldexp(wavelet.sign, (exponent - odd) / 2);
    if (!odd)
        return (struct pe__dd){scale, 0};
    return (struct pe__dd){root_of_two.hi * scale, root_of_two.lo * scale};
}

static double row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                  double *hi, double *lo)
{
    double length = pe_spec_number(&plan->spec, "length");
    bool normalizes = pe_spec_number(&plan->spec, "normalize") != 0;
    for (size_t i = 0; i < n; i++) {
        struct wavelet one = wavelet(first + i, position.hi, length);
        struct pe__dd value = {one.sign, 0};
        if (normalizes)
            value = normalized(one, length);
        hi[i] = value.hi;
        lo[i] = value.lo;
    }
    return normalizes ? ROOT_EPS : 0;
}

static void row_exact(const struct pe_plan *plan, struct pe__pos position, size_t channel, mpfr_t y)
{
    double length = pe_spec_number(&plan->spec, "length");
    struct wavelet one = wavelet(channel, position.hi, length);
    mpfr_set_d(y, one.sign, MPFR_RNDN);
    if (pe_spec_number(&plan->spec, "normalize") == 0 || one.sign == 0)
        return;
    mpfr_set_ui_2exp(y, 1, one.halvings - ilogb(length), MPFR_RNDN);
    mpfr_sqrt(y, y, MPFR_RNDN);
    mpfr_mul_d(y, y, one.sign, MPFR_RNDN);
}

static const struct pe_library libraries[] = {{0}};

static const struct pe_reference references[] = {
    {"Zur Theorie der orthogonalen Funktionensysteme (A. Haar)", 1910,
     "Mathematische Annalen 69, 331-371"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=haar&dim=8&positions=0:8",
    "/v1/table?kind=haar&dim=4&length=16&normalize=true&positions=0:16",
    "/v1/scores?kind=haar&dim=64&anchors=0,8,24&offsets=0:32&terms=1",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = has_position,
    .row = row,
    .row_exact = row_exact,
};

const struct pe_kind pe__kind_haar = {
    .name = "haar",
    .title = "Haar wavelets of the position",
    .formula = "PE[p,0] = 1; PE[p,2^s+i] = 1 in the first half of the stretch i*length/2^s <= p < "
               "(i+1)*length/2^s, -1 in its second half, 0 elsewhere; y = x + PE",
    .help = "Adds a hierarchical basis: each further level halves the stretches that a channel "
            "tells apart, so that near positions share all coarse channels. A position that is "
            "negative, fractional or not below length is an error.",
    .outside = "No value: the wavelets cover a stated length.",
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
