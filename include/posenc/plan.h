// SPDX-License-Identifier: Apache-2.0
/* plan.h: plans: what is computed once per encoding, and the tables that they give. See posenc.h.
 */
#ifndef POSENC_PLAN_H
#define POSENC_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plans -------------------------------------------------------------------------------- */

/* Frequencies and digit tables of one spec: immutable, shared by threads, freed by the caller. */
struct pe_plan;

/* Makes a plan that is fast for positions like `positions` (the same digit groups); others are
 * correct too, but slow. The spec must be finished; it is copied, a posted table is referenced.
 * PE_NO_MEMORY is the only failure. At most PE_PLAN_BYTES_MAX are allocated. */
#define PE_PLAN_BYTES_MAX ((size_t)256 << 20)
enum pe_status pe_plan_new(const struct pe_spec *spec, const struct pe_positions *positions,
                           struct pe_plan **plan);
/* The same with the stages of plans, as far as the kind has them: all that is computed from it is
 * exact but for these. Positions must have passed pe_stages_check. */
enum pe_status pe_plan_staged(const struct pe_spec *spec, const struct pe_stages *stages,
                              const struct pe_positions *positions, struct pe_plan **plan);
void pe_plan_free(struct pe_plan *plan);
const struct pe_spec *pe_plan_spec(const struct pe_plan *plan);
size_t pe_plan_bytes(const struct pe_plan *plan);
/* Whether the plan has all digit groups that these positions need. */
bool pe_plan_covers(const struct pe_plan *plan, const struct pe_positions *positions);
/* For a thread that made plans or identified, before it ends: gives back the constants that MPFR
 * keeps for it. */
void pe_thread_end(void);

/* ---- Tables ------------------------------------------------------------------------------- */

/* The encoding: row i of out (row_stride elements apart, >= width) is that of token i. Adding
 * kinds and none: width dim. Rotating kinds: width rotary_dim, cos in the channel of each pair's
 * first member, sin in the second's; polar ones: width 2 dim, all cos first. dtype: any but PE_I64.
 * Positions have passed pe_positions_check. */
void pe_table(const struct pe_plan *plan, const struct pe_positions *positions, enum pe_dtype dtype,
              void *out, size_t row_stride);
/* Rotating kinds: cos and sin, each [n, pairs] dense. */
void pe_cos_sin(const struct pe_plan *plan, const struct pe_positions *positions,
                enum pe_dtype dtype, void *cos_out, void *sin_out);
/* Bias kinds without PE_CONTENT: out[h][i][j], h in [first, first + heads_n), dense, -slope*|m - n|
 * or the bucket's value, query at m = queries->at[0][i], key at n = keys->at[0][j]. */
void pe_bias(const struct pe_plan *plan, const struct pe_positions *queries,
             const struct pe_positions *keys, size_t first, size_t heads_n, enum pe_dtype dtype,
             void *out);
/* t5: bucket numbers, swin and others: rows of their table, [queries, keys]. */
void pe_buckets(const struct pe_plan *plan, const struct pe_positions *queries,
                const struct pe_positions *keys, int64_t *out);
/* fire: what its network is given, [queries, keys]. */
void pe_bias_inputs(const struct pe_plan *plan, const struct pe_positions *queries,
                    const struct pe_positions *keys, enum pe_dtype dtype, void *out);
/* alibi: slopes [heads] of all heads. */
void pe_slopes(const struct pe_plan *plan, enum pe_dtype dtype, void *out);

/* Kinds with scales: the factors of rotated q, [n, pairs] dense; k is divided by them. */
void pe_scales(const struct pe_plan *plan, const struct pe_positions *positions,
               enum pe_dtype dtype, void *out);

/* Frequencies of rotating kinds and sinusoidal, each [pairs] in `dtype`; radians per position,
 * positions. turns = context / wavelength; band 0 kept, 2 divided. */
struct pe_frequencies {
    enum pe_dtype dtype; /* any but PE_I64 */
    double context;      /* positions, > 0 */
    void *inv_freq, *base_inv_freq, *wavelength, *turns;
    int64_t *band;
};
void pe_frequencies(const struct pe_plan *plan, const struct pe_frequencies *out);

/* n positions on one axis as the angles are made from them: after the pos stage, with the shift,
 * and divided by `factor` where scaling=linear does that. */
void pe_positions_used(const struct pe_plan *plan, const double *at, size_t n, double *out);

/* The angle direction*p*w of each token and chosen pair, [n, pairs_n]. */
enum pe_angle { PE_ANGLE, PE_ANGLE_MOD, PE_TURNS }; /* radians; in [0, 2 pi); full turns */
void pe_angles(const struct pe_plan *plan, const struct pe_positions *positions,
               const size_t *pairs, size_t pairs_n, enum pe_angle form, enum pe_dtype dtype,
               void *out);

#ifdef __cplusplus
}
#endif

#endif
