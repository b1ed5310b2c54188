// SPDX-License-Identifier: Apache-2.0
/*
 * apply_codes.c: cos and sin of all pairs of one token, for what is applied value by value.
 */
#include "apply.h"
#include "kind.h"

/* The codes follow. */
struct work {
    struct pe__plan_walk walk;
    struct pe__planes planes;
};

size_t pe__codes_work_bytes(const struct pe_plan *plan)
{
    return sizeof(struct work) + 5 * plan->pairs * sizeof(double);
}

void pe__codes_init(struct pe__codes *codes, const struct pe__slab *slab)
{
    double *next = (double *)((struct work *)slab->job->work + 1);
    size_t pairs = slab->job->plan->pairs;
    *codes = (struct pe__codes){.slab = slab};
    for (size_t i = 0; i < 2; i++, next += 2 * pairs) {
        codes->hi[i] = next;
        codes->lo[i] = next + pairs;
    }
    codes->eps = next;
}

void pe__codes_make(struct pe__codes *codes, size_t token)
{
    struct work *work = codes->slab->job->work;
    const struct pe_plan *plan = codes->slab->job->plan;
    codes->token = token;
    for (size_t first = 0, n; first < plan->pairs; first += n) {
        n = pe__plan_block(plan, first);
        pe__plan_walk_init(&work->walk);
        double eps = pe__plan_pairs(plan, &work->walk, codes->slab->positions, token, first, n,
                                    &work->planes);
        for (size_t j = 0; j < n; j++) {
            codes->hi[0][first + j] = work->planes.cos_hi[j];
            codes->lo[0][first + j] = work->planes.cos_lo[j];
            codes->hi[1][first + j] = work->planes.sin_hi[j];
            codes->lo[1][first + j] = work->planes.sin_lo[j];
            codes->eps[first + j] = eps;
        }
    }
}

void pe__codes_exact(const struct pe__codes *codes, size_t pair, bool is_sine, mpfr_t y)
{
    pe__plan_pair_exact(codes->slab->job->plan, codes->slab->positions, codes->token, pair,
                        is_sine ? NULL : y, is_sine ? y : NULL);
}
