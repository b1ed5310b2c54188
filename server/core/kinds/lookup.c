// SPDX-License-Identifier: Apache-2.0
/*
 * lookup.c: posted or seeded tables of learned values. A seeded element is the exact product of a
 * normally distributed double and table_std.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dd.h"
#include "lookup.h"
#include "params.h"

#define STREAM      "table"
#define PRODUCT_MIN 0x1p-900 /* below, the low part of a product may underflow */

/* A parameter that a posted table gives. */
static void derive_size(struct pe_spec *spec, const char *name, size_t size)
{
    if (name && !pe__params_value(&spec->params, name)->given)
        pe__params_derive(&spec->params, name, (double)size);
}

static bool drop_seed(struct pe_spec *spec, const char *name, struct pe_faults *faults)
{
    const struct pe_value *value = pe__params_value(&spec->params, name);
    bool given = value && value->given;
    if (value)
        pe__params_drop(&spec->params, name);
    if (!given)
        return true;
    return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, name, NULL,
                        "%s and a posted table are both given", name);
}

static bool agrees(struct pe_spec *spec, const char *name, size_t n)
{
    const struct pe_value *value = pe__params_value(&spec->params, name);
    return !value->set || value->number == (double)n;
}

static bool check_named(struct pe_spec *spec, struct pe_faults *faults)
{
    const char *rows = spec->kind->table_rows, *cols = spec->kind->table_cols;
    if (agrees(spec, rows, spec->table_rows) && agrees(spec, cols, spec->table_cols))
        return true;
    return pe_fault_add(faults, PE_SHAPE_MISMATCH, "table", NULL,
                        "table must be [%s, %s] = [%.0f, %.0f], got [%zu, %zu]", rows, cols,
                        pe_spec_number(spec, rows), pe_spec_number(spec, cols), spec->table_rows,
                        spec->table_cols);
}

static bool check_size(struct pe_spec *spec, struct pe_faults *faults)
{
    size_t rows, cols;
    spec->kind->ops->table_size(spec, &rows, &cols);
    if (rows == 0 || cols == 0) /* a size was refused before */
        return false;
    if (rows == spec->table_rows && cols == spec->table_cols)
        return true;
    return pe_fault_add(faults, PE_SHAPE_MISMATCH, "table", NULL,
                        "table must be [%zu, %zu], got [%zu, %zu]", rows, cols, spec->table_rows,
                        spec->table_cols);
}

bool pe__lookup_check(struct pe_spec *spec, struct pe_faults *faults)
{
    if (!spec->table)
        return true;
    bool ok = drop_seed(spec, "table_seed", faults);
    ok &= drop_seed(spec, "table_std", faults);
    derive_size(spec, spec->kind->table_rows, spec->table_rows);
    derive_size(spec, spec->kind->table_cols, spec->table_cols);
    ok &= spec->kind->ops->table_size ? check_size(spec, faults) : check_named(spec, faults);
    return ok;
}

static void fill_normal(const struct pe_spec *spec, size_t first, size_t n, double *out)
{
    uint64_t seed = (uint64_t)pe_spec_number(spec, "table_seed");
    pe_fill_random(seed, STREAM, PE_CONTENT_NORMAL, 1, first, n, PE_F64, out);
}

double pe__lookup_eps(const struct pe_spec *spec, double hi)
{
    return !spec->table && hi != 0 && fabs(hi) < PRODUCT_MIN ? INFINITY : 0;
}

double pe__lookup(const struct pe_spec *spec, size_t first, size_t n, double *hi, double *lo)
{
    if (spec->table) {
        memcpy(hi, spec->table + first, n * sizeof *hi);
        memset(lo, 0, n * sizeof *lo);
        return 0;
    }
    double eps = 0;
    double std = pe_spec_number(spec, "table_std");
    fill_normal(spec, first, n, hi);
    for (size_t i = 0; i < n; i++) {
        struct pe__dd value = pe__two_prod(hi[i], std);
        hi[i] = value.hi;
        lo[i] = value.lo;
        eps = fmax(eps, pe__lookup_eps(spec, value.hi));
    }
    return eps;
}

bool pe__lookup_fits(struct pe_spec *spec, const char *const *names, struct pe_faults *faults)
{
    size_t rows, cols;
    spec->kind->ops->table_size(spec, &rows, &cols);
    if (cols == 0 || rows <= PE__TABLE_MAX / cols) /* 0: a size was refused before */
        return true;
    char list[80] = "";
    const char *blamed = NULL;
    for (size_t i = 0, len = 0; names[i]; i++) {
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", names[i]);
        if (!blamed && pe__params_value(&spec->params, names[i])->given)
            blamed = names[i];
    }
    return pe_fault_add(faults, PE_LIMIT_EXCEEDED, blamed ? blamed : names[0], NULL,
                        "%s make a table of [%zu, %zu], which has more than %d elements", list,
                        rows, cols, PE__TABLE_MAX);
}

size_t pe__lookup_constants(const struct pe_spec *spec, double *hi, double *lo)
{
    size_t rows, cols;
    spec->kind->ops->table_size(spec, &rows, &cols);
    if (spec->table)
        return 0;
    if (hi) {
        pe__lookup(spec, 0, rows * cols, hi, lo);
        memset(lo, 0, rows * cols * sizeof *lo);
    }
    return rows * cols;
}

void pe__lookup_exact(const struct pe_spec *spec, size_t i, mpfr_t y)
{
    double value;
    if (spec->table) {
        mpfr_set_d(y, spec->table[i], MPFR_RNDN);
        return;
    }
    fill_normal(spec, i, 1, &value);
    mpfr_set_d(y, value, MPFR_RNDN);
    mpfr_mul_d(y, y, pe_spec_number(spec, "table_std"), MPFR_RNDN);
}
