// SPDX-License-Identifier: Apache-2.0
/* given.c: see given.h. */
#include "given.h"

#include <math.h>
#include <string.h>

#include "params.h"
#include "value.h"

#define SMALLEST 0x1p-100 /* below, the low parts of products may underflow */

/* Parameters that say which channels are pairs, and how they turn. */
static bool is_of_channels(const char *name)
{
    static const char *const names[] = {
        "dim",           "layout",       "rotary_dim",           "direction",
        "rotary_offset", "output_order", "partial_rotary_factor"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool pe__given_drop(struct pe_spec *spec, struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    bool ok = true;
    for (size_t i = 0; spec->table && i < params->rows_n; i++) {
        const char *name = params->rows[i].name;
        if (is_of_channels(name))
            continue;
        if (params->value[i].given)
            ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, name, "leave it out",
                              "%s has no effect on cos and sin that are given", name);
        pe__params_drop(params, name);
    }
    return ok;
}

static bool check_sizes(const struct pe_spec *spec, struct pe_faults *faults)
{
    size_t pairs = spec->table_cols / 2;
    for (size_t i = 0; i < spec->table_rows * spec->table_cols; i++) {
        const char *name = i % spec->table_cols < pairs ? "cos" : "sin";
        char shown[PE__SHOWN_MAX];
        if (!(fabs(spec->table[i]) <= PE__GIVEN_MAX))
            return pe_fault_add(faults, PE_INVALID_VALUE, name, NULL,
                                "%s must have finite numbers of at most 2^100; got %s in row %zu",
                                name, pe__show_number(spec->table[i], shown), i / spec->table_cols);
    }
    return true;
}

bool pe__given_check(struct pe_spec *spec, struct pe_faults *faults)
{
    if (!spec->table)
        return true;
    bool ok = true;
    const struct pe_value *width = pe__params_value(&spec->params, "rotary_dim");
    if (width->set && width->number != (double)spec->table_cols)
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "cos", NULL,
                          "cos and sin must have rotary_dim/2 = %.0f columns, got %zu",
                          width->number / 2, spec->table_cols / 2);
    return check_sizes(spec, faults) && ok;
}

bool pe__given_has_row(const struct pe_spec *spec, struct pe__pos position, const char *param,
                       struct pe_faults *faults)
{
    double p = position.hi;
    char shown[PE__SHOWN_MAX];
    if (!spec->table ||
        (position.lo == 0 && p == floor(p) && p >= 0 && p < (double)spec->table_rows))
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "there are no cos and sin at position %s: they have the rows 0 to %zu",
                        pe__show_number(p, shown), spec->table_rows - 1);
}

static const double *row_at(const struct pe_spec *spec, struct pe__pos at)
{
    return spec->table + (size_t)at.hi * spec->table_cols;
}

void pe__given_pairs(const struct pe_spec *spec, struct pe__pos at, size_t first, size_t n,
                     struct pe__planes *out)
{
    const double *cosines = row_at(spec, at) + first, *sines = cosines + spec->table_cols / 2;
    memcpy(out->cos_hi, cosines, n * sizeof(double));
    memcpy(out->sin_hi, sines, n * sizeof(double));
    memset(out->cos_lo, 0, n * sizeof(double));
    memset(out->sin_lo, 0, n * sizeof(double));
}

void pe__given_pair_exact(const struct pe_spec *spec, struct pe__pos at, size_t pair, mpfr_ptr c,
                          mpfr_ptr s)
{
    const double *row = row_at(spec, at);
    if (c)
        mpfr_set_d(c, row[pair], MPFR_RNDN);
    if (s)
        mpfr_set_d(s, row[spec->table_cols / 2 + pair], MPFR_RNDN);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool is_small(double x)
{
    return x != 0 && fabs(x) < SMALLEST;
}

double pe__given_eps(const struct pe__planes *planes, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double c = planes->cos_hi[i], s = planes->sin_hi[i];
        if (is_small(c) || is_small(s))
            return INFINITY;
        largest = larger(largest, larger(fabs(c), fabs(s)));
    }
    return largest * 0x1p-100;
}
