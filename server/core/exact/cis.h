// SPDX-License-Identifier: Apache-2.0
/*
 * cis.h: exact cos and sin of position x frequency, by digit products (numerics of the project:
 * cis(a + b) = cis(a) cis(b)). A position is a fixed-point number of 6-bit digits; for each digit
 * group a table holds cis(digit * 64^g * w_i) as double-double, seeded by MPFR. Values come out as
 * double-double with an error bound; the caller rounds (round.h) and asks for the exact value by
 * MPFR where the bound leaves a doubt.
 */
#ifndef PE_CORE_CIS_H
#define PE_CORE_CIS_H

#include <mpfr.h>

#include "posenc.h"

/* Pairs that one call of pe__cis_row handles at most: its planes fit the first-level cache. */
#define PE__BLOCK 128
/* Tokens of a run, at most: digits of one bit more than the tables have. */
#define PE__RUN_BITS 7
#define PE__RUN      (1 << PE__RUN_BITS)

/* A position: the exact sum hi + lo (a position plus the shift), |hi + lo| <= 2^54. */
struct pe__pos {
    double hi, lo;
};

/* cos and sin of a block of pairs as unevaluated sums hi + lo. */
struct pe__planes {
    _Alignas(64) double cos_hi[PE__BLOCK];
    _Alignas(64) double cos_lo[PE__BLOCK];
    _Alignas(64) double sin_hi[PE__BLOCK];
    _Alignas(64) double sin_lo[PE__BLOCK];
};

/* Frequency k of a set, in radians or turns per position, to the precision of w (error <= 4 ulp of
 * w); below 2^64 in size, turns below 2^61. */
typedef void pe__frequency_fn(const void *context, size_t k, mpfr_t w);

/* Digit groups that occur in a set of positions: bit g stands for digits of weight 64^(g - 11), so
 * that 2^-66 is the smallest step; bit PE__GROUPS_N marks positions that are no multiple of it
 * (they are computed by MPFR one by one). */
#define PE__GROUPS_N 20
uint32_t pe__groups(struct pe__pos position);

struct pe__cis;

enum pe__unit { PE__RADIANS, PE__TURNS };

/* Builds digit tables for `n` frequencies and the given groups (immutable afterwards, shared by
 * threads). In turns quarters of one have exact values. `context` is kept by reference for
 * pe__cis_exact. The radix shrinks (6, 3, 1 bits) where 64-entry tables would take more than half
 * of PE_PLAN_BYTES_MAX. NULL without memory. */
struct pe__cis *pe__cis_new(pe__frequency_fn *frequency, const void *context, enum pe__unit unit,
                            size_t n, uint32_t groups);
void pe__cis_free(struct pe__cis *cis);
size_t pe__cis_bytes(const struct pe__cis *cis);
uint32_t pe__cis_groups(const struct pe__cis *cis);
bool pe__cis_is_zero(const struct pe__cis *cis, size_t k); /* frequency k */

/* What a walk over positions keeps between calls for one block of pairs: the product of all digit
 * groups but the lowest, reused while they stay the same. Start with valid = false; use one walk
 * per block. */
struct pe__walk {
    bool valid;
    unsigned __int128 high; /* the digits the prefix stands for; 0: 1, and no planes */
    struct pe__planes prefix;
};

/* cis(position * w_k) for k in [first, first + n), n <= PE__BLOCK, into out. Negative positions
 * give the conjugate. Returns a bound on |value - (hi + lo)| of every component, 2^-101.8 for each
 * bit of the position from the first to the last set; 0 when exact (position 0). A position outside
 * the tables' groups takes the slow path. */
double pe__cis_row(const struct pe__cis *cis, struct pe__walk *walk, struct pe__pos position,
                   size_t first, size_t n, struct pe__planes *out);

/* Tokens one behind the other whose positions have the same sign and differ in PE__RUN_BITS bits
 * from the lowest group on, each by another digit of these, and in nothing else. Begin with n = 0.
 */
struct pe__run {
    size_t n;
    bool negative;
    unsigned __int128 high;
    unsigned last, least, most; /* digits: the last token's, and all lie between */
    uint8_t token[PE__RUN];     /* that has the digit, PE__RUN: there is none */
};
/* Adds a token; false when it does not belong to the run, or to none. */
bool pe__run_add(const struct pe__cis *cis, struct pe__run *run, struct pe__pos position);
/* Adds to a run of one token as many as belong to it of the n behind, at positions one apart. */
void pe__run_add_next(const struct pe__cis *cis, struct pe__run *run, size_t n);

/* Where the values of a run go: rows of the first token; see struct pe__run_job. Sines for the
 * opposite direction too. */
struct pe__run_out {
    enum pe_dtype dtype; /* PE_F64 or PE_F32 */
    bool backwards, sine_first, stream;
    size_t step, row_stride;
    void *first, *second;
};
/* cos and sin of pairs [first, first + n), n <= PE__BLOCK, that lie in one block of the tables,
 * each rounded once. False if that could not be decided everywhere: then bad[token] says in which
 * rows, and these are to be done again. The last element is not a token's. */
bool pe__cis_run(const struct pe__cis *cis, struct pe__walk *walk, const struct pe__run *run,
                 size_t first, size_t n, const struct pe__run_out *out, bool bad[PE__RUN + 1]);

/* Of a set with the single frequency 1 and all groups: cis of n <= PE__BLOCK angles, finite
 * multiples of 2^-66. All lanes take every product that one of them needs, so
 * that it does not pay for few. Returns the bound as above. */
double pe__cis_angles(const struct pe__cis *cis, size_t n, const double *angles,
                      struct pe__planes *out);

/* cos and sin of position * w_k by MPFR to the precision of c and s (relative error <= 2^(4 -
 * precision) each); one that is 2^-4096 beside its angle counts as an exact zero, +0. One of them
 * may be NULL. */
void pe__cis_exact(const struct pe__cis *cis, struct pe__pos position, size_t k, mpfr_ptr c,
                   mpfr_ptr s);
/* The same of any real number in place of the position: `real` gives it to the precision of y, off
 * by at most 4 ulp. */
typedef void pe__real_fn(const void *context, mpfr_t y);
void pe__cis_exact_of(const struct pe__cis *cis, pe__real_fn *real, const void *context, size_t k,
                      mpfr_ptr c, mpfr_ptr s);
/* A position as such a number. */
void pe__pos_exact(const void *position, mpfr_t y);

#endif
