// SPDX-License-Identifier: Apache-2.0
/*
 * plans.h: plans (frequencies and digit tables) shared between requests, by compact spec, in a
 * least-recently-used cache with a byte budget. Any thread.
 */
#ifndef API_PLANS_H
#define API_PLANS_H

#include <stdbool.h>
#include <stddef.h>

#include "posenc.h"

#define PLANS_BYTES_MAX ((size_t)64 << 20) /* what idle plans may take together */

struct plan_store;
struct plan_ref;

struct plan_store *plan_store_new(void); /* NULL without memory */
void plan_store_free(struct plan_store *store);

/* What a plan is made from. */
struct plan_source {
    const struct pe_spec *spec; /* finished */
    const char *compact;        /* its compact form */
    const struct pe_stages *stages;
    const struct pe_positions *positions; /* that it must be fast for */
};

/* A plan of this source, in use until plan_release. plan_find only looks (NULL: not there);
 * plan_get makes it if need be (NULL: no memory). A spec with a posted table is never shared: its
 * memory belongs to the request. */
struct plan_ref *plan_find(struct plan_store *store, const struct plan_source *source);
struct plan_ref *plan_get(struct plan_store *store, const struct plan_source *source);
const struct pe_plan *plan_ref_plan(const struct plan_ref *ref);
void plan_release(struct plan_store *store, struct plan_ref *ref); /* NULL is allowed */

#endif
