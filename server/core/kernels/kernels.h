// SPDX-License-Identifier: Apache-2.0
/*
 * kernels.h: the function table that every instruction-set variant fills. The source is written
 * once (kernels.inc.c and the *.inc.c it includes) with compiler vector types and is compiled per
 * variant; every lane does the same IEEE operations as the scalar code, so all variants give the
 * same bits. Kernels never see NaN-free or aligned promises beyond what is said here.
 */
#ifndef PE_CORE_KERNELS_H
#define PE_CORE_KERNELS_H

#include "cis.h"
#include "posenc.h"

/* Structure-of-arrays complex double-double: four pointers to n doubles each. */
struct pe__cdd {
    double *cos_hi, *cos_lo, *sin_hi, *sin_lo;
};
struct pe__cdd_in {
    const double *cos_hi, *cos_lo, *sin_hi, *sin_lo;
};

/* Rows of n pairs to rotate: first members a, second members b, `step` elements apart (1 for
 * half-split, 2 for interleaved with b = a + 1). ya may be a and yb may be b; no other overlap.
 * A row is so many bytes behind the one before, and its cos and sin so many doubles. */
struct pe__rotation {
    size_t n;
    size_t step;
    const void *a, *b;
    void *ya, *yb;
    size_t rows;
    size_t row_in, row_out, row_values;
    size_t ahead; /* bytes from an element to one that will be needed soon, modulo 2^64 */
    bool stream;  /* past the caches, until drain(); then outputs are multiples of 64 bytes apart */
};

/* Factors of a run for each pair, as planes of doubles: cosine and sine, and both split as
 * kernels_run.inc.c says. */
enum pe__factor { PE__C, PE__S, PE__C1, PE__C2, PE__S1, PE__S2, PE__FACTORS };

/* A run of tokens whose positions differ in their lowest digits only: cos and sin of n pairs at
 * each, rounded into the rows of a table. */
struct pe__run_job {
    size_t n;
    /* By how far they are from the centre, 0 to steps_n - 1: the tokens ahead of it, and those
     * behind. PE__RUN: there is none. */
    size_t steps_n;
    const uint8_t *token[2];
    const double *centre;  /* its factors, PE__BLOCK apart */
    const double *offsets; /* those of step 0 on, `width` apart */
    size_t width;
    /* Rows of cosines and sines, in the order that sine_first says, of token 0; so many bytes from
     * one token to the next. With step 1 dense, with 2 interleaved in the first. */
    bool sine_first;
    size_t step, row_bytes;
    void *first, *second;
    bool stream; /* past the caches, until drain(); then rows are whole lines of 64 bytes */
    bool *doubt; /* [steps_n + 1]: of each step that has a token, see `run` */
};

/* What two arrays are compared by, and a block of them. */
#define PE__COMPARE_BLOCK 512      /* elements, a multiple of the lanes */
#define PE__COMPARE_LANES 16       /* sums that are kept apart, whatever the vectors */
#define PE__COMPARE_LEAST 0x1p-450 /* beside f64, what is smaller counts as 0 in sums */
#define PE__COMPARE_MOST  0x1p450  /* and what is larger is in none */

struct pe__compare_rule {
    enum pe_dtype actual, expected, coarser;
    double relative, absolute;
    uint64_t steps_end; /* elements fewer steps apart are close; 0: none is */
    bool equal_nan;
};

/* Of each element of a block. */
struct pe__compare_rows {
    double a[PE__COMPARE_BLOCK], e[PE__COMPARE_BLOCK], apart[PE__COMPARE_BLOCK];
    uint64_t steps[PE__COMPARE_BLOCK]; /* UINT64_MAX: not to be counted */
    uint64_t far[PE__COMPARE_BLOCK];   /* 0, 1 */
};

/* Of a e, a a, e e and (a - e)^2; each lane a sum and what its roundings left. */
struct pe__compare_sums {
    double sum[4][PE__COMPARE_LANES], low[4][PE__COMPARE_LANES];
};

/* Of the block. */
struct pe__compare_block {
    size_t far, nonfinite_a, nonfinite_e, finite, steps[PE_STEPS_BINS];
    double max_abs, max_rel;
    uint64_t max_steps;
    struct pe__compare_sums sums;
};

struct pe__kernels {
    const char *name;

    /* out = a * b, complex double-double, n lanes; out may be a or b. */
    void (*cis_mul)(size_t n, const struct pe__cdd_in *a, const struct pe__cdd_in *b,
                    const struct pe__cdd *out);

    /* pe__round_row for one floating dtype. */
    size_t (*round_row[PE_I64])(size_t n, const double *hi, const double *lo, double eps, void *out,
                                size_t stride, uint16_t *bad);

    /* f64, f32: whether one of the values is in doubt, or is zero; and of each step whether one of
     * its own, or its neighbour's, is. */
    bool (*run[PE_F32 + 1])(const struct pe__run_job *job);

    /* f32, f16, bf16: y = a*c - b*s, y' = a*s + b*c in double, in this order, rounded once. For
     * step 2 cos and sin have been spread. */
    void (*rotate[PE_I64])(const struct pe__rotation *job, const double *c, const double *s);

    /* In place, n values each become 2 n: c c, and -s s. */
    void (*spread)(size_t n, double *c, double *s);
    /* After kernels that stream, before other threads may read. */
    void (*drain)(void);

    /* f64: one row, the same with double-double c and s off by at most eps (absolute), rounded to
     * nearest with the rounding test; returns how many pairs are doubtful, their numbers in bad
     * (room for n). A pair of zeros or with a NaN or infinity is done in plain double and never
     * doubtful; one whose larger member is outside 2^+-900 always is. Doubtful pairs are not
     * written (so that in-place works). NaN results of all dtypes are the one NaN of dtype.h. */
    size_t (*rotate_f64)(const struct pe__rotation *job, struct pe__cdd_in cs, double eps,
                         uint16_t *bad);

    /* Elements [first, first + n) of two arrays, n <= PE__COMPARE_BLOCK: fills both. */
    void (*compare)(const struct pe__compare_rule *rule, const void *actual, const void *expected,
                    size_t first, size_t n, struct pe__compare_rows *rows,
                    struct pe__compare_block *block);
};

/* The chosen variant (cpu.c). */
const struct pe__kernels *pe__kernels(void);
/* All variants compiled in that this processor can run, for tests; returns how many. */
size_t pe__kernels_usable(const struct pe__kernels *out[4]);

extern const struct pe__kernels pe__kernels_scalar, pe__kernels_base, pe__kernels_avx2,
    pe__kernels_avx512;

#endif
