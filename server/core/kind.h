// SPDX-License-Identifier: Apache-2.0
/*
 * kind.h: what an encoding kind must provide to the core, beside its catalogue entry (struct
 * pe_kind), and the plan that all operations share. A kind is one file kind_X.c and one row in
 * kinds.def; everything else (tables, apply, scores, HTTP) works from these functions.
 */
#ifndef PE_CORE_KIND_H
#define PE_CORE_KIND_H

#include <math.h>
#include <mpfr.h>

#include "ball.h"
#include "cis.h"
#include "place.h"
#include "posenc.h"
#include "scaling.h"

struct pe__coordinate; /* coordinate.h */

/* A real number made of a token's positions on all axes (shift included), for pairs that read this
 * axis; to the precision of y, error <= 4 ulp. */
typedef void pe__coordinate_fn(const struct pe_spec *spec, const struct pe__pos *at, size_t axis,
                               mpfr_t y);

/* A query and a key, as biases see them. Shifts cancel in distances and are not in the positions;
 * kinds whose places count add the plan's. */
struct pe__bias_at {
    size_t head;
    double query, key;   /* positions */
    double last;         /* position of the last key that the query sees */
    const double *q, *k; /* the vectors, for kinds with PE_CONTENT */
    /* PE_CONTEXT: positions of this key and those after it, whose vectors follow k. */
    const double *keys;
    size_t keys_n;
};

/* Rotating kinds that turn every channel by itself, as a pair: it comes to a radius times cos and
 * sin of the pair's angle, in channels j and dim + j. */
struct pe__polar {
    /* >= 0, to the precision of y; away from 0 where it is no number of that precision. */
    void (*radius)(double x, mpfr_t y);
    /* What is added to the angle in k. The plan's constants are the cosines of all pairs, then
     * their sines; without constants nothing is added. */
    double (*phase)(const struct pe_spec *spec, size_t pair);
};

struct pe__kind_ops {
    /* Rules between parameters and defaults that depend on others (rotary_dim); after the generic
     * checks, also when those failed: it skips rules about values that are not set. NULL: none. */
    bool (*check)(struct pe_spec *spec, struct pe_faults *faults);
    /* Whether there is a value at this position (shift included, but for bias kinds, where it
     * cancels); else explains why. NULL: always. */
    bool (*has_position)(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults);

    /* Kinds made of frequencies (rotating, sinusoidal); NULL else. frequency: number k of
     * frequencies_n, scaled or as without scaling, error <= 4 ulp of w. */
    size_t (*frequencies_n)(const struct pe_spec *spec);
    void (*frequency)(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w);
    /* What cos and sin are multiplied by, error <= 4 ulp; false if that is 1. NULL: it is. */
    bool (*attention)(const struct pe_spec *spec, mpfr_t factor);
    /* What scales.c takes to the power of the position, error <= 4 ulp. NULL: nothing. */
    void (*scale)(const struct pe_spec *spec, size_t pair, mpfr_t y);
    /* The base after base_factor and scaling. NULL: the parameter `base`. */
    void (*base)(const struct pe_spec *spec, mpfr_t b);
    /* Of which series frequency k is number *number, for a running product of angles. NULL: there
     * is none. */
    struct pe__series (*series)(const struct pe_spec *spec, size_t k, size_t *number);
    size_t (*pairs_n)(const struct pe_spec *spec);
    /* Position axes, where they depend on parameters. NULL: the catalogue's number. */
    size_t (*axes)(const struct pe_spec *spec);
    /* Axis and frequency of a pair, rising along each axis; NULL: axis 0, frequency = pair. */
    void (*pair_source)(const struct pe_spec *spec, size_t pair, size_t *axis, size_t *k);
    /* What frequencies are multiplied by in place of the position, where parameters ask for
     * something else. NULL: the position, always. */
    pe__coordinate_fn *(*coordinate)(const struct pe_spec *spec);
    /* Channels of a pair in the table: `*c` takes the cosine, `*s` the sine; PE__NO_CHANNEL for
     * none. For rotating kinds (c, s) are the first and second member of the pair. */
    void (*pair_channels)(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s);
    const struct pe__polar *polar; /* NULL: rotating kinds turn pairs of channels */
    /* Rotating kinds whose cosines and sines are made of those of several pairs: as
     * pe__plan_cis_row and pe__plan_cis_exact give the latter. NULL: a pair has its own. */
    double (*mixed)(const struct pe__coordinate *coordinate, struct pe__walk *walk, size_t first,
                    size_t n, struct pe__planes *out);
    void (*mixed_exact)(const struct pe__coordinate *coordinate, size_t pair, mpfr_ptr c,
                        mpfr_ptr s);

    /* Adding kinds without frequencies: channels [first, first + n) at one position as hi + lo;
     * returns the error bound (0: exact). exact: one channel to y's precision (round.h's rule);
     * NULL: rows always are. */
    double (*row)(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                  double *hi, double *lo);
    void (*row_exact)(const struct pe_plan *plan, struct pe__pos position, size_t channel,
                      mpfr_t y);

    /* Bias kinds: what is added to a score, to the precision of y and as a ball. NULL: the ball is
     * made from that. */
    void (*bias_exact)(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y);
    struct pe__ball (*bias)(const struct pe_plan *plan, const struct pe__bias_at *at);
    /* The input of a learned function of the positions, to the precision of y. */
    void (*input_exact)(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y);
    /* How many positions there are from 0 on, where these are few. NULL: without end. */
    size_t (*tokens_n)(const struct pe_spec *spec);
    /* Multiply-adds that one bias costs, or the cosines and sines of one place. NULL: as many as
     * dim; none but those of rotating. */
    size_t (*work)(const struct pe_spec *spec);
    /* Whether it depends on more of the positions than their distance. NULL: no. */
    bool (*places_count)(const struct pe_spec *spec);
    /* alibi: the slope of a head to the precision of y, error < 1 ulp. With a freq stage the plan's
     * constants from slopes_at on are the rounded slopes, and bias works from them. */
    void (*slope)(const struct pe_spec *spec, size_t head, mpfr_t y);
    size_t slopes_at;
    /* Which of the shared biases, or row of the table, a query at m and a key at n have. */
    int64_t (*bucket)(const struct pe_plan *plan, double m, double n);
    /* Rows and columns of the learned table; NULL: those that the parameters named in the kind say.
     */
    void (*table_size)(const struct pe_spec *spec, size_t *rows, size_t *cols);
    /* Fills plan->constant_hi/lo (alibi: slopes; t5: values and thresholds); returns how many it
     * needs when both are NULL. */
    size_t (*constants)(const struct pe_spec *spec, double *hi, double *lo);
};

#define PE__NO_CHANNEL ((size_t)-1)

/* Where a pair's angle comes from. */
struct pe__source {
    uint32_t axis, k; /* position axis, number of the frequency in the plan */
};

/* An angle as a running product: from the position in f32, so many times the factor. */
struct pe__running {
    size_t steps;
    double factor;
};

struct pe_plan {
    struct pe_spec spec;     /* own copy; a posted table is the caller's */
    struct pe_stages stages; /* those of pos, freq, angle and table that the kind has */
    struct pe__placing placing;
    double
        shift; /* the parameter, for biases that count positions from 0: it is in no place there */
    double direction;                /* 1 or -1 */
    bool amplified;                  /* the attention factor is not 1 */
    struct pe__ball attention, undo; /* it, and 1 over its square */
    size_t pairs;                    /* 0 without frequencies */
    enum pe__unit unit;              /* of position times frequency */
    struct pe__cis *cis;             /* NULL without frequencies; angle stage: of frequency 1 */
    struct pe__ball *w;              /* angle stage: radians per position; else NULL */
    struct pe__running *running;     /* freq_method=iterated with an angle stage, to the frequencies
                                        without scaling: w is then what the scaling divides by */
    size_t axes;                     /* position axes */
    pe__coordinate_fn *coordinate;   /* NULL: positions are used as they are */
    double *speed;                   /* with coordinates: radians per unit; else NULL */
    double padding;                  /* the position whose row is zero; NaN: none */
    struct pe__source *sources;      /* [pairs]; NULL: axis 0, frequency = pair */
    uint32_t *order;                 /* frequencies by axis: their numbers; NULL: the kind's */
    bool *still;                     /* [pairs]: the frequency is 0; NULL: none is */
    size_t offset;                   /* first channel of vectors that is in a pair */
    uint32_t *moved;                 /* [2 pairs]: the channel whose rotated value comes to channel
                                        offset + i; NULL: all stay where they are */
    uint32_t *crossed;         /* [2 pairs]: the pair whose cos and sin a first member has, and
                                  a second one; NULL: its own */
    struct pe__dd *scale_log;  /* [pairs]: logarithms of the scales; NULL: there are none */
    double center, scale_base; /* of the scales' exponent */
    double *constant_hi, *constant_lo; /* one allocation */
    size_t bytes;
};

#define KIND(name) extern const struct pe_kind pe__kind_##name;
#include "kinds.def"
#undef KIND

static inline bool pe__stage_named(const struct pe_stages *stages, enum pe_stage stage)
{
    return stages->named >> stage & 1;
}

/* The position of a token on one axis: its pos stage, then the plan's shift, exact. Of a token
 * without a position hi is NaN. */
struct pe__pos pe__plan_position(const struct pe_plan *plan, double p);
static inline bool pe__has_position(const struct pe_positions *positions, size_t token)
{
    return !isnan(positions->at[0][token]);
}
/* Whether nothing is added at this position: there is none, or it is that of padding. */
static inline bool pe__is_padding(const struct pe_plan *plan, struct pe__pos at)
{
    return isnan(at.hi) || (at.hi == plan->padding && at.lo == 0);
}
/* Frequency k by the kind's formula, and after the freq stage: to the precision of w, as a ball. */
void pe__plan_formula(const struct pe_plan *plan, size_t k, bool scaled, mpfr_t w);
void pe__plan_frequency(const struct pe_plan *plan, size_t k, bool scaled, mpfr_t w);
struct pe__ball pe__plan_frequency_ball(const struct pe_plan *plan, size_t k, bool scaled);
struct pe__source pe__pair_source(const struct pe_plan *plan, size_t pair);
/* How many pairs from `first` on, at most PE__BLOCK, make a block: all of them turn, or none. */
size_t pe__plan_block(const struct pe_plan *plan, size_t first);
/* Whether such a block's values are just cis of position times frequency, up to the direction. */
bool pe__plan_is_plain(const struct pe_plan *plan, size_t first, size_t n);
/* The run of tokens (cis.h) from `token` on, before `end`; returns how many, 0 if too few for one.
 */
size_t pe__plan_run(const struct pe_plan *plan, const struct pe_positions *positions, size_t token,
                    size_t end, struct pe__run *run);
static inline bool pe__is_still(const struct pe_plan *plan, size_t pair)
{
    return plan->still && plan->still[pair];
}

/* Walks over the tokens of one block of pairs [first, first + n), n <= PE__BLOCK. */
struct pe__plan_walk {
    struct pe__walk axis[PE_AXES_MAX];
};
void pe__plan_walk_init(struct pe__plan_walk *walk);
/* cis of a place times frequency k for k in [first, first + n), n <= PE__BLOCK, the angle rounded
 * if that stage is named: a bound as of pe__cis_row, and to any precision as by pe__cis_exact. */
double pe__plan_cis_row(const struct pe__coordinate *coordinate, struct pe__walk *walk,
                        size_t first, size_t n, struct pe__planes *out);
void pe__plan_cis_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c, mpfr_ptr s);
/* cos and sin of the block's pairs at one token, direction and axes applied; returns the error
 * bound of every component, 0 when the position is 0 on every axis, or no pair turns. An exact 0 is
 * +0. */
double pe__plan_pairs(const struct pe_plan *plan, struct pe__plan_walk *walk,
                      const struct pe_positions *positions, size_t token, size_t first, size_t n,
                      struct pe__planes *out);
/* cos and sin of one pair at one token to the precision of c and s (relative error <= 2^(4 -
 * precision)); either may be NULL. */
void pe__plan_pair_exact(const struct pe_plan *plan, const struct pe_positions *positions,
                         size_t token, size_t pair, mpfr_ptr c, mpfr_ptr s);
/* The same at positions given per axis, shift included. */
double pe__plan_pairs_at(const struct pe_plan *plan, struct pe__plan_walk *walk,
                         const struct pe__pos at[PE_AXES_MAX], size_t first, size_t n,
                         struct pe__planes *out);
void pe__plan_pair_exact_at(const struct pe_plan *plan, const struct pe__pos at[PE_AXES_MAX],
                            size_t pair, mpfr_ptr c, mpfr_ptr s);
/* Amplified plans: cos and sin of n pairs, which have the attention factor in them, multiplied by
 * it once more (rotated q and k both have it), or by `undo` (for the inverse of a rotation); eps is
 * their error bound, the result the new one. The same for a value by MPFR. */
double pe__plan_amplify(const struct pe_plan *plan, size_t n, double eps, struct pe__planes *out);
double pe__plan_undo(const struct pe_plan *plan, size_t n, double eps, struct pe__planes *out);
void pe__plan_amplify_exact(const struct pe_plan *plan, mpfr_t y);
void pe__plan_undo_exact(const struct pe_plan *plan, mpfr_t y);
/* Plans with scales: their logarithms. False without memory. */
bool pe__scales_new(struct pe_plan *plan);
/* n pairs multiplied by their scales at a position (sign 1), or divided (-1), as pe__plan_amplify
 * does. The same for a value of one pair. */
double pe__plan_scale(const struct pe_plan *plan, struct pe__pos at, int sign, size_t first,
                      size_t n, double eps, struct pe__planes *out);
void pe__plan_scale_exact(const struct pe_plan *plan, struct pe__pos at, int sign, size_t pair,
                          mpfr_t y);
/* The kind's row and bias with the plan's stages; as struct pe__kind_ops says. */
double pe__plan_row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                    double *hi, double *lo);
void pe__plan_row_exact(const struct pe_plan *plan, struct pe__pos position, size_t channel,
                        mpfr_t y);
struct pe__ball pe__plan_bias(const struct pe_plan *plan, const struct pe__bias_at *at);
void pe__plan_bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y);
static inline bool pe__bias_places_count(const struct pe_spec *spec)
{
    const struct pe__kind_ops *ops = spec->kind->ops;
    return ops->places_count && ops->places_count(spec);
}

#endif
