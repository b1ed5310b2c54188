// SPDX-License-Identifier: Apache-2.0
/* plan_from.h: plans from the compact form of a spec, for tests. */
#ifndef TESTS_CORE_PLAN_FROM_H
#define TESTS_CORE_PLAN_FROM_H

#include <criterion/criterion.h>

#include "posenc.h"

/* Positions on one axis. */
static inline struct pe_positions positions_of(const double *at, size_t n)
{
    return (struct pe_positions){.axes = 1, .n = n, .at = {at, at}};
}

/* A plan for these positions; the caller frees it. */
static inline struct pe_plan *staged_plan(const char *text, const struct pe_stages *stages,
                                          const struct pe_positions *positions)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    bool ok = pe_spec_parse(text, &spec, &faults);
    cr_assert(ok, "%s: %s %s", text, faults.item[0].param, faults.item[0].detail);
    ok = pe_spec_finish(&spec, &faults);
    cr_assert(ok, "%s: %s %s", text, faults.item[0].param, faults.item[0].detail);
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_staged(&spec, stages, positions, &plan), PE_OK, "%s", text);
    pe_spec_release(&spec);
    return plan;
}

static inline struct pe_plan *plan_from(const char *text, const struct pe_positions *positions)
{
    return staged_plan(text, &(struct pe_stages){0}, positions);
}

#endif
