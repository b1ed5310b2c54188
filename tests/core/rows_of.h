// SPDX-License-Identifier: Apache-2.0
/* rows_of.h: encodings of positions from 0 on, and what is refused, for tests. */
#ifndef TESTS_CORE_ROWS_OF_H
#define TESTS_CORE_ROWS_OF_H

#include <stdlib.h>
#include <string.h>

#include "core/plan_from.h"

/* The f64 table of positions 0 to n - 1, which the caller frees. */
static inline double *rows_of(const char *text, size_t n)
{
    double *at = malloc(n * sizeof *at);
    cr_assert(at);
    for (size_t i = 0; i < n; i++)
        at[i] = (double)i;
    struct pe_positions positions = positions_of(at, n);
    struct pe_plan *plan = plan_from(text, &positions);
    size_t dim = pe_spec_dim(pe_plan_spec(plan));
    double *rows = malloc(n * dim * sizeof *rows);
    cr_assert(rows);
    pe_table(plan, &positions, PE_F64, rows, dim);
    pe_plan_free(plan);
    free(at);
    return rows;
}

/* The fault of a spec that is not allowed, or of the position where it is; "" without. */
static inline const char *fault_of(const char *text, double position)
{
    static char detail[sizeof((struct pe_fault *)NULL)->detail];
    struct pe_spec spec;
    struct pe_faults faults = {0};
    struct pe_positions positions = positions_of(&position, 1);
    detail[0] = '\0';
    if (pe_spec_parse(text, &spec, &faults)) {
        if (pe_spec_finish(&spec, &faults))
            pe_positions_check(&spec, &positions, "positions", &faults);
        pe_spec_release(&spec);
    }
    if (faults.n > 0)
        strcpy(detail, faults.item[0].detail);
    return detail;
}

#endif
