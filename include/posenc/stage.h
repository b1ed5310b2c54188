// SPDX-License-Identifier: Apache-2.0
/* stage.h: stages: where a pipeline rounds on purpose. See posenc.h. */
#ifndef POSENC_STAGE_H
#define POSENC_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "number.h"
#include "position.h"
#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a pipeline rounds on purpose, as libraries that compute in f32 or bf16 do. Each stage that
 * is named is one correctly rounded operation on what the stage before it gave (in f64: plain
 * double arithmetic); the others are exact. */
enum pe_stage {
    PE_STAGE_POS,      /* the position as given, before the shift */
    PE_STAGE_FREQ,     /* the frequency after its scaling; of alibi the slope */
    PE_STAGE_ANGLE,    /* position (with shift) times frequency; of alibi distance times slope */
    PE_STAGE_TABLE,    /* cos and sin; of kinds without frequencies and of biases the value */
    PE_STAGE_APPLY,    /* every product and sum of rotating and adding */
    PE_STAGE_QUANTIZE, /* the encoded vector, to fewer bits than a dtype has (pe_quantize) */
    PE_STAGE_DOT,      /* the products and the running sum of q.k, channel by channel */
    PE_STAGES_N
};

/* Those of a plan; the others belong to what is done with it. */
#define PE_STAGES_OF_PLANS                                                                         \
    (1u << PE_STAGE_POS | 1u << PE_STAGE_FREQ | 1u << PE_STAGE_ANGLE | 1u << PE_STAGE_TABLE)

/* Zeroed: exact. */
struct pe_stages {
    unsigned named;                   /* bits 1 << enum pe_stage */
    enum pe_dtype dtype[PE_STAGES_N]; /* of the named ones but quantize: any but PE_I64 */
    enum pe_quant quant;              /* of quantize */
};

/* A name for stages. */
struct pe_preset {
    const char *name;
    const char *stages; /* spelt out; the dtype T is that of the tensors (see pe_stages_parse) */
    const char *help;   /* what computes like this */
};
size_t pe_presets_n(void);
const struct pe_preset *pe_preset_at(size_t i);
const char *pe_stage_name(enum pe_stage stage); /* "pos" */

/* Reads "exact", or stages and presets: "freq:f32,table:bf16", "f32,apply:f32". T stands for `own`,
 * in the table stage for f32 if that is f64, since cos and sin are computed in f32 there. *spelt
 * (may be NULL): the stages named by themselves, as bits. Faults name `param`. */
bool pe_stages_parse(const char *text, size_t len, enum pe_dtype own, const char *param,
                     struct pe_stages *stages, unsigned *spelt, struct pe_faults *faults);
/* The canonical text: stages in their order, or "exact". Returns the length it needs, as snprintf
 * does. */
#define PE_STAGES_TEXT_MAX 96 /* bytes, with the NUL */
size_t pe_stages_print(const struct pe_stages *stages, char *out, size_t size);
/* The stages that a kind has, as bits; others make no difference to it. */
unsigned pe_kind_stages(const struct pe_kind *kind);
/* Whether the stages, of those that are `offered` (bits), are those in which the spec's freq_method
 * rounds. */
bool pe_stages_fit(const struct pe_stages *stages, unsigned offered, const struct pe_spec *spec,
                   struct pe_faults *faults);
/* The position that the pos stage gives; infinite beyond the range of its dtype. */
double pe_stages_position(const struct pe_stages *stages, double position);
/* The first position from 0 on that the pos stage rounds to the same number as the next one, at
 * most 2^53; NaN: there is none. */
double pe_stages_collision(const struct pe_stages *stages);
/* pe_positions_check for the positions that the pos stage gives, which must be finite. */
bool pe_stages_check(const struct pe_stages *stages, const struct pe_spec *spec,
                     const struct pe_positions *positions, const char *param,
                     struct pe_faults *faults);

#ifdef __cplusplus
}
#endif

#endif
