// SPDX-License-Identifier: Apache-2.0
/* identify_ask.h: asks which encoding made y of x, for tests that know it. */
#ifndef TESTS_CORE_IDENTIFY_ASK_H
#define TESTS_CORE_IDENTIFY_ASK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/apply_to.h"

#define TOKENS_MAX 64
#define DIM_MAX    128
#define HEADS_MAX  3
#define AXES_MAX   4

static uint64_t draws, draws_seed = 7;

static inline size_t below(size_t n)
{
    return (size_t)(pe_draw(draws_seed, "identify", ++draws) % n);
}

struct request {
    char text[1024];
    enum pe_dtype dtype;
    const char *stages; /* NULL: none; T stands for dtype */
    double at[TOKENS_MAX];
    size_t tokens, heads;
    bool swapped;    /* cosines and sines, in f64 */
    size_t beside_n; /* axes besides the first */
    double beside[AXES_MAX - 1][TOKENS_MAX];
};

/* ---- Asking -------------------------------------------------------------------------------- */

static _Alignas(64) double x[HEADS_MAX * TOKENS_MAX * DIM_MAX], y[HEADS_MAX * TOKENS_MAX * DIM_MAX];

static inline double normal(void)
{
    double sum = 0;
    for (size_t i = 0; i < 12; i++)
        sum += (double)below(1 << 24) * 0x1p-24;
    return sum - 6;
}

/* Swaps cosines and sines: (a c - b s, a s + b c) becomes (a s - b c, a c + b s). */
static inline void swap_pairs(const struct pe_spec *spec, const double *from, double *to,
                              size_t vectors)
{
    size_t dim = pe_spec_dim(spec);
    for (size_t i = 0; i < vectors; i++)
        for (size_t pair = 0; pair < pe_spec_pairs(spec); pair++) {
            size_t a, b;
            pe_spec_pair_members(spec, pair, false, &a, &b);
            double re = from[i * dim + a], im = from[i * dim + b];
            double c = re * to[i * dim + a] + im * to[i * dim + b];
            double s = re * to[i * dim + b] - im * to[i * dim + a], square = re * re + im * im;
            to[i * dim + a] = (re * s - im * c) / square;
            to[i * dim + b] = (re * c + im * s) / square;
        }
}

static inline void ask(const struct request *request, struct pe_spec *spec, struct pe_identify *job)
{
    struct pe_faults faults = {0};
    struct pe_stages stages;
    struct pe_view from, to;
    struct pe_positions positions = positions_of(request->at, request->tokens);
    positions.axes = 1 + request->beside_n;
    for (size_t axis = 0; axis < request->beside_n; axis++)
        positions.at[1 + axis] = request->beside[axis];
    cr_assert(pe_spec_parse(request->text, spec, &faults) && pe_spec_finish(spec, &faults),
              "%s: %s", request->text, faults.item[0].detail);
    size_t shape[] = {request->heads, request->tokens, pe_spec_dim(spec)};
    for (size_t i = 0; i < shape[0] * shape[1] * shape[2]; i++)
        pe_store(request->dtype, x, i, normal());
    cr_assert(pe_view_init(&from, request->dtype, x, "htd", shape, 3, 1));
    cr_assert(pe_view_init(&to, request->dtype, y, "htd", shape, 3, 1));
    const char *staged = request->stages ? request->stages : "exact";
    cr_assert(
        pe_stages_parse(staged, strlen(staged), request->dtype, "stages", &stages, NULL, &faults));
    apply_staged(request->text, &stages, &positions, 1, false, &from, &to);
    if (request->swapped)
        swap_pairs(spec, x, y, shape[0] * shape[1]);
    *job = (struct pe_identify){
        .x = &from, .y = &to, .positions = &positions, .positions_n = 1, .dtype = request->dtype};
    size_t bytes = (pe_identify_work_bytes(&from, 1) + 63) / 64 * 64;
    job->work = aligned_alloc(64, bytes);
    cr_assert_not_null(job->work);
    cr_assert_eq(pe_identify(job), PE_OK);
    free(job->work);
}

/* Whether the spec is among the first n, or is one of those that are told by their base alone. */
static inline bool is_among(const struct pe_identify *job, const struct pe_spec *spec, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pe_spec_same_numbers(&job->found[i].spec, spec))
            return true;
    if (n == 0 || !job->more || pe_spec_pairs(spec) == 0)
        return false;
    double base = pe_spec_effective_base(spec);
    return job->base_low <= base && base <= job->base_high;
}

static inline void show(const struct request *request, const struct pe_identify *job)
{
    char text[512];
    fprintf(stderr, "%s (%s) in %s at %g, %g..%g (%zu), %zu heads: confidence %d%s\n",
            request->text, request->stages ? request->stages : "exact",
            pe_dtype_name(request->dtype), request->at[0], request->at[1],
            request->at[request->tokens - 1], request->tokens, request->heads, job->confidence,
            job->more        ? ", more"
            : job->axes_open ? ", axes"
                             : "");
    for (size_t i = 0; i < job->found_n && i < 4; i++) {
        pe_spec_compact(&job->found[i].spec, text, sizeof text);
        fprintf(stderr, "    %d %.160s phase %.3g\n", job->found[i].explains, text,
                job->found[i].phase_rms);
    }
}

#endif
