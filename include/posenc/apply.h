// SPDX-License-Identifier: Apache-2.0
/* apply.h: applying an encoding to tensors. See posenc.h. */
#ifndef POSENC_APPLY_H
#define POSENC_APPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor seen as batch x head x token x channel: strides in elements, channels dense. */
struct pe_view {
    enum pe_dtype dtype; /* any but PE_I64 */
    void *data;
    size_t batches, heads, tokens, dim;
    size_t batch_stride, head_stride, token_stride;
};

/* Sees a dense row-major tensor by its axes ("d", "td", "bhtd", "bthd", "htd", "thd", "btd");
 * with "btd" `heads` splits the last axis (else 1). False when rank or divisibility do not fit. */
bool pe_view_init(struct pe_view *view, enum pe_dtype dtype, void *data, const char *axes,
                  const size_t *shape, size_t rank, size_t heads);

struct pe_apply {
    const struct pe_plan *plan;           /* rotating, adding or none; dim equals in->dim */
    const struct pe_positions *positions; /* [tokens] for all batches, or one per batch */
    size_t positions_n;                   /* 1, or in->batches */
    bool inverse;                         /* undo: rotate backwards, subtract */
    const struct pe_view *in, *out; /* same sizes (of polar kinds out's dim is pe_spec_width); out
                                       may be in when the dtypes are equal and the kind is not
                                       polar; else inputs are taken exactly and rounded once to
                                       out's */
    void *work;                     /* pe_apply_work_bytes, 64-byte aligned */
    const struct pe_stages *stages; /* the apply stage: its dtype for every operation, then out's;
                                       NULL: exact */
    bool is_key;                    /* k: divided by scales, turned by phases too */
};
size_t pe_apply_work_bytes(const struct pe_plan *plan);
/* Rotates the first rotary_dim channels and passes the rest through, or adds. Position 0 gives
 * back the input's bits. f64 is correctly rounded; f32, f16 and bf16 are computed in double from
 * correctly rounded cos and sin (or table values) and rounded once. Polar kinds: [r cos t | r sin
 * t], r made of the channel, correctly rounded in every dtype; no inverse, no apply stage; a token
 * without a position has the angle 0. */
void pe_apply(const struct pe_apply *job);

/* Vectors that biases are made of: q [batches, heads_n, queries, dim], k [.., keys, dim], finite.
 */
struct pe_vectors {
    const double *q, *k;
};

/* Bias kinds: scores [.., heads, queries, keys] + bias, rounded once, with an apply stage to that
 * and then to dtype (stages NULL: exact); batches dense matrices of heads_n heads starting with
 * head `first`. out may be in. `vectors`: for kinds with PE_CONTENT; else NULL. */
void pe_add_bias(const struct pe_plan *plan, const struct pe_stages *stages,
                 const struct pe_vectors *vectors, const struct pe_positions *queries,
                 const struct pe_positions *keys, size_t first, size_t heads_n, size_t batches,
                 enum pe_dtype dtype, const void *in, void *out);

#ifdef __cplusplus
}
#endif

#endif
