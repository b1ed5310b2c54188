// SPDX-License-Identifier: Apache-2.0
/*
 * ref_stages.h: reference for pipelines that round: the formulas by MPFR, one operation after the
 * other, each result rounded where its stage is named. Slow, and without any of the library's ways
 * of getting there.
 */
#ifndef TESTS_REF_STAGES_H
#define TESTS_REF_STAGES_H

#include <string.h>

#include "ref/ref_trig.h"

#define REF_STAGE_BITS 500

static inline struct pe_stages stages_from(const char *text)
{
    struct pe_stages stages;
    struct pe_faults faults = {0};
    bool ok = pe_stages_parse(text, strlen(text), PE_F64, "stages", &stages, NULL, &faults);
    return ok ? stages : (struct pe_stages){.named = ~0u};
}

/* Rounds y if the stage is named. */
static inline void ref_stage(const struct pe_stages *stages, enum pe_stage stage, mpfr_t y)
{
    if (stages->named >> stage & 1)
        mpfr_set_d(y, ref_round(stages->dtype[stage], y), MPFR_RNDN);
}

/* One of the pairs of rope or sinusoidal. */
struct ref_turn {
    struct ref_pair pair;
    double factor, shift, direction; /* of scaling=linear; 0 of both: 1 */
};

static inline void ref_staged_frequency(const struct pe_stages *stages, const struct ref_turn *turn,
                                        mpfr_t w)
{
    ref_frequency(w, turn->pair.base, 2 * turn->pair.i, turn->pair.d);
    mpfr_div_d(w, w, turn->factor != 0 ? turn->factor : 1, MPFR_RNDN);
    ref_stage(stages, PE_STAGE_FREQ, w);
}

static inline void ref_staged_angle(const struct pe_stages *stages, const struct ref_turn *turn,
                                    double position, mpfr_t angle)
{
    mpfr_t w;
    mpfr_init2(w, REF_STAGE_BITS);
    ref_staged_frequency(stages, turn, w);
    mpfr_set_d(angle, position, MPFR_RNDN);
    ref_stage(stages, PE_STAGE_POS, angle);
    mpfr_add_d(angle, angle, turn->shift, MPFR_RNDN);
    mpfr_mul(angle, angle, w, MPFR_RNDN);
    mpfr_mul_d(angle, angle, turn->direction != 0 ? turn->direction : 1, MPFR_RNDN);
    ref_stage(stages, PE_STAGE_ANGLE, angle);
    mpfr_clear(w);
}

static inline void ref_staged_cos_sin(const struct pe_stages *stages, const struct ref_turn *turn,
                                      double position, mpfr_t c, mpfr_t s)
{
    mpfr_t angle;
    mpfr_init2(angle, REF_STAGE_BITS);
    ref_staged_angle(stages, turn, position, angle);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    ref_stage(stages, PE_STAGE_TABLE, c);
    ref_stage(stages, PE_STAGE_TABLE, s);
    mpfr_clear(angle);
}

/* y = x * y and y = x + y as stage operations. */
static inline void ref_staged_mul(const struct pe_stages *stages, enum pe_stage stage, mpfr_t y,
                                  mpfr_srcptr x)
{
    mpfr_mul(y, y, x, MPFR_RNDN);
    ref_stage(stages, stage, y);
}

static inline void ref_staged_add(const struct pe_stages *stages, enum pe_stage stage, mpfr_t y,
                                  mpfr_srcptr x)
{
    mpfr_add(y, y, x, MPFR_RNDN);
    ref_stage(stages, stage, y);
}

/* (a, b) turned at a position: a c - b s and a s + b c. */
static inline void ref_staged_turn(const struct pe_stages *stages, const struct ref_turn *turn,
                                   double position, mpfr_t a, mpfr_t b)
{
    mpfr_t c, s, ac, bs;
    mpfr_inits2(REF_STAGE_BITS, c, s, ac, bs, (mpfr_ptr)NULL);
    ref_staged_cos_sin(stages, turn, position, c, s);
    mpfr_set(ac, a, MPFR_RNDN);
    mpfr_set(bs, b, MPFR_RNDN);
    ref_staged_mul(stages, PE_STAGE_APPLY, ac, c);
    ref_staged_mul(stages, PE_STAGE_APPLY, bs, s);
    ref_staged_mul(stages, PE_STAGE_APPLY, a, s);
    ref_staged_mul(stages, PE_STAGE_APPLY, b, c);
    ref_staged_add(stages, PE_STAGE_APPLY, b, a);
    mpfr_neg(bs, bs, MPFR_RNDN);
    ref_staged_add(stages, PE_STAGE_APPLY, ac, bs);
    mpfr_set(a, ac, MPFR_RNDN);
    mpfr_clears(c, s, ac, bs, (mpfr_ptr)NULL);
}

#endif
