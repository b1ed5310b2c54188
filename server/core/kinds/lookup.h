// SPDX-License-Identifier: Apache-2.0
/*
 * lookup.h: the table that kinds with learned values look them up in: the caller's own, or normally
 * distributed numbers from table_seed and table_std (stream "table", row-major).
 */
#ifndef PE_CORE_LOOKUP_H
#define PE_CORE_LOOKUP_H

#include <mpfr.h>

#include "kind.h"

/* Rules for the table of a kind: a posted one gives the parameters that the kind names where they
 * are not given, else must agree; and excludes table_seed, table_std where there are these. */
bool pe__lookup_check(struct pe_spec *spec, struct pe_faults *faults);
/* Elements [first, first + n) as hi + lo; returns the error bound (0: exact). */
double pe__lookup(const struct pe_spec *spec, size_t first, size_t n, double *hi, double *lo);
void pe__lookup_exact(const struct pe_spec *spec, size_t i, mpfr_t y);
/* A table of doubles, for sums of products: the caller's own, or the plan's constants, which the
 * function below makes of a seeded one (a struct pe__kind_ops' `constants`). */
static inline const double *pe__lookup_doubles(const struct pe_plan *plan)
{
    return plan->spec.table ? plan->spec.table : plan->constant_hi;
}
#define PE__TABLE_MAX (1 << 22) /* elements of one */
/* Whether the table is within that; else one of the parameters that make it is too large, the first
 * that is given. `names` ends with NULL. */
bool pe__lookup_fits(struct pe_spec *spec, const char *const *names, struct pe_faults *faults);
size_t pe__lookup_constants(const struct pe_spec *spec, double *hi, double *lo);
/* Error bound of one element, by its value (pe__lookup's is the largest of the n). */
double pe__lookup_eps(const struct pe_spec *spec, double hi);

#endif
