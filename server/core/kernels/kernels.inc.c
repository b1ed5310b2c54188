// SPDX-License-Identifier: Apache-2.0
/*
 * kernels.inc.c: THE kernel source, compiled once per instruction set by kernels_*.c, which define
 *
 *     KERNEL_VEC    bytes of a vector: 8 (one double, no vectors), 16, 32 or 64
 *     KERNEL_NAME   name of the variant, a string
 *     KERNEL_TABLE  the const table to define, the only symbol of the object
 *
 * Here are the vector type and its few primitives; the kernels are in kernels_cis.inc.c (digit
 * products, rounding), kernels_narrow.inc.c, kernels_rotate.inc.c and kernels_rotate_f64.inc.c
 * (rotation), kernels_run.inc.c (tables) and kernels_compare.inc.c. Each lane does the IEEE
 * operations of the scalar code in the same order and nothing is contracted, so that all variants
 * give the same bits; loops that do the same to every element are left to the compiler's
 * vectoriser. Everything but the table is static: the linker must never take a function compiled
 * for one instruction set for another.
 */
#include <stdint.h>
#include <string.h>

#include "dd.h"
#include "dtype.h"
#include "kernels.h"

#define KERNEL_LANES  (KERNEL_VEC / 8) /* doubles in a vector */
#define KERNEL_INLINE static inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(KERNEL_VEC)));
typedef uint64_t vec_bits __attribute__((vector_size(KERNEL_VEC)));
typedef float vec_f32 __attribute__((vector_size(KERNEL_VEC / 2)));
typedef uint32_t vec_u32 __attribute__((vector_size(KERNEL_VEC / 2)));

/* Shuffles between two vectors of first and second members and the same 2 KERNEL_LANES elements
 * as they lie in memory, interleaved. */
#if KERNEL_VEC == 64
#define EVENS      0, 2, 4, 6, 8, 10, 12, 14
#define ODDS       1, 3, 5, 7, 9, 11, 13, 15
#define LOWER_HALF 0, 8, 1, 9, 2, 10, 3, 11
#define UPPER_HALF 4, 12, 5, 13, 6, 14, 7, 15
#elif KERNEL_VEC == 32
#define EVENS      0, 2, 4, 6
#define ODDS       1, 3, 5, 7
#define LOWER_HALF 0, 4, 1, 5
#define UPPER_HALF 2, 6, 3, 7
#elif KERNEL_VEC == 16
#define EVENS      0, 2
#define ODDS       1, 3
#define LOWER_HALF 0, 2
#define UPPER_HALF 1, 3
#else
#define EVENS      0
#define ODDS       1
#define LOWER_HALF 0
#define UPPER_HALF 1
#endif

/* Of the 2 n interleaved elements of n pairs, how many lie in the first vector, and the rest. */
#define FIRST_HALF(step, n) ((step) * (n) < KERNEL_LANES ? (step) * (n) : KERNEL_LANES)
#define SECOND_HALF(n)      (2 * (n)-FIRST_HALF(2, n))

/* Lanes past n are 0, so that the last vector of a row takes the same path as the others. */
KERNEL_INLINE vec vec_load(const double *x, size_t n)
{
    vec v = {0};
    memcpy(&v, x, n * sizeof *x);
    return v;
}

KERNEL_INLINE void vec_store(double *x, vec v, size_t n)
{
    memcpy(x, &v, n * sizeof *x);
}

/* a * b exactly as the returned product and *low, see pe__two_prod. */
KERNEL_INLINE vec vec_two_prod(vec a, vec b, vec *low)
{
    vec p = a * b;
#ifdef PE__FMA
    vec l = -p;
    for (size_t i = 0; i < KERNEL_LANES; i++) /* one instruction */
        l[i] = __builtin_fma(a[i], b[i], l[i]);
    *low = l;
#else
    vec ta = 134217729.0 * a; /* Veltkamp's split at 2^27 + 1 */
    vec tb = 134217729.0 * b;
    vec ah = ta - (ta - a);
    vec bh = tb - (tb - b);
    vec al = a - ah;
    vec bl = b - bh;
    *low = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
    return p;
}

/* a + b exactly as the returned sum and *low. */
KERNEL_INLINE vec vec_two_sum(vec a, vec b, vec *low)
{
    vec s = a + b;
    vec t = s - a;
    *low = (a - (s - t)) + (b - t);
    return s;
}

/* a + b exactly, for |a| >= |b| or a = 0. */
KERNEL_INLINE vec vec_fast_two_sum(vec a, vec b, vec *low)
{
    vec s = a + b;
    *low = b - (s - a);
    return s;
}

#include "kernels_cis.inc.c"
#include "kernels_compare.inc.c"
#include "kernels_narrow.inc.c"
#include "kernels_rotate.inc.c"
#include "kernels_rotate_f64.inc.c"
#include "kernels_run.inc.c"

const struct pe__kernels KERNEL_TABLE = {
    .name = KERNEL_NAME,
    .cis_mul = cis_mul,
    .round_row = {round_row_f64, round_row_f32, round_row_f16, round_row_bf16},
    .run = {run_f64, run_f32},
    .rotate = {NULL, rotate_f32, rotate_f16, rotate_bf16},
    .rotate_f64 = rotate_f64,
    .compare = compare_block,
    .spread = spread,
    .drain = drain,
};
