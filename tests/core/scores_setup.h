// SPDX-License-Identifier: Apache-2.0
/* scores_setup.h: a job for pe_scores with all its memory, for tests. */
#ifndef TESTS_CORE_SCORES_SETUP_H
#define TESTS_CORE_SCORES_SETUP_H

#include <stdbool.h>
#include <string.h>

#include "core/plan_from.h"

#define ANCHORS_N   3
#define OFFSETS_MAX 32
#define CELLS_MAX   (ANCHORS_N * OFFSETS_MAX)
#define VECTORS_MAX 4
#define DIM_MAX     128

static inline bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* A job with its memory: the defaults of the API unless changed before run(). */
struct setup {
    struct pe_scores job;
    double anchors[ANCHORS_N];
    double offsets[OFFSETS_MAX];
    double q[VECTORS_MAX * DIM_MAX];
    double k[VECTORS_MAX * DIM_MAX];
    double scores[CELLS_MAX], rest[CELLS_MAX], terms[4][CELLS_MAX];
    double norm_q_after[ANCHORS_N], norm_k_after[CELLS_MAX];
};

static inline void setup_init(struct setup *setup, size_t dim, size_t offsets_n)
{
    memset(setup, 0, sizeof *setup);
    static const double anchors[ANCHORS_N] = {0, 8, 24};
    memcpy(setup->anchors, anchors, sizeof anchors);
    for (size_t o = 0; o < offsets_n; o++)
        setup->offsets[o] = (double)o;
    pe_fill_random(0, "q", PE_CONTENT_NORMAL, 1, 0, dim, PE_F64, setup->q);
    pe_fill_random(0, "k", PE_CONTENT_NORMAL, 1, 0, dim, PE_F64, setup->k);
    setup->job = (struct pe_scores){
        .q = setup->q,
        .k = setup->k,
        .vectors_n = 1,
        .dim = dim,
        .anchors = setup->anchors,
        .offsets = setup->offsets,
        .anchors_n = ANCHORS_N,
        .offsets_n = offsets_n,
        .scale = 1,
        .scores = setup->scores,
        .rest = setup->rest,
        .norm_q_after = setup->norm_q_after,
        .norm_k_after = setup->norm_k_after,
    };
    for (size_t i = 0; i < 4; i++)
        setup->job.terms[i] = setup->terms[i];
}

/* Runs with a plan for the anchors, places and distances, and the job's stages. */
static inline enum pe_status run(struct setup *setup, const char *text)
{
    double at[ANCHORS_N + OFFSETS_MAX + CELLS_MAX];
    size_t n = 0;
    for (size_t a = 0; a < setup->job.anchors_n; a++)
        at[n++] = setup->anchors[a];
    for (size_t o = 0; o < setup->job.offsets_n; o++)
        at[n++] = setup->offsets[o];
    for (size_t i = 0; i < setup->job.anchors_n * setup->job.offsets_n; i++)
        at[n++] =
            setup->anchors[i / setup->job.offsets_n] + setup->offsets[i % setup->job.offsets_n];
    struct pe_positions positions = positions_of(at, n);
    const struct pe_stages none = {0};
    struct pe_plan *plan =
        staged_plan(text, setup->job.stages ? setup->job.stages : &none, &positions);
    setup->job.plan = plan;
    enum pe_status status = pe_scores(&setup->job);
    pe_plan_free(plan);
    return status;
}

#endif
