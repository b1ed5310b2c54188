// SPDX-License-Identifier: Apache-2.0
/* apply_to.h: applies an encoding given in compact form, for tests. */
#ifndef TESTS_CORE_APPLY_TO_H
#define TESTS_CORE_APPLY_TO_H

#include <stdlib.h>

#include "core/plan_from.h"

/* One job with a plan and scratch of its own. */
static inline void apply_staged(const char *spec, const struct pe_stages *stages,
                                const struct pe_positions *positions, size_t positions_n,
                                bool inverse, const struct pe_view *in, const struct pe_view *out)
{
    struct pe_plan *plan = staged_plan(spec, stages, positions);
    void *work = aligned_alloc(64, (pe_apply_work_bytes(plan) + 63) / 64 * 64);
    cr_assert_not_null(work);
    pe_apply(
        &(struct pe_apply){plan, positions, positions_n, inverse, in, out, work, stages, false});
    free(work);
    pe_plan_free(plan);
}

static inline void apply_views(const char *spec, const struct pe_positions *positions,
                               size_t positions_n, bool inverse, const struct pe_view *in,
                               const struct pe_view *out)
{
    apply_staged(spec, &(struct pe_stages){0}, positions, positions_n, inverse, in, out);
}

/* Rows of one batch and head: in and out are [positions->n, dim]. */
static inline void apply_rows(const char *spec, const struct pe_positions *positions, bool inverse,
                              size_t dim, enum pe_dtype from, const void *in, enum pe_dtype to,
                              void *out)
{
    size_t shape[] = {positions->n, dim};
    struct pe_view view_in;
    struct pe_view view_out;
    cr_assert(pe_view_init(&view_in, from, (void *)in, "td", shape, 2, 1));
    cr_assert(pe_view_init(&view_out, to, out, "td", shape, 2, 1));
    apply_views(spec, positions, 1, inverse, &view_in, &view_out);
}

#endif
