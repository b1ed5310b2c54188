// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_rotate.inc.c: rotation of a row of pairs, included by kernels.inc.c. A pair (a, b)
 * becomes (a c - b s, a s + b c). Which channels make a pair, and the values of c and s, are
 * apply.c's business.
 */

#if KERNEL_VEC >= 32
#include <immintrin.h>
#endif

typedef uint64_t vec_bits __attribute__((vector_size(KERNEL_VEC)));
typedef float vec_f32 __attribute__((vector_size(KERNEL_VEC / 2)));
typedef uint32_t vec_u32 __attribute__((vector_size(KERNEL_VEC / 2)));
typedef uint16_t vec_u16 __attribute__((vector_size(KERNEL_VEC / 4)));

/* Inlined so that the number of lanes is a constant, or memcpy becomes a call. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "first members are the low half of words");

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

static inline vec_u32 vec_select(vec_u32 mask, vec_u32 yes, vec_u32 no)
{
    return (mask & yes) | (~mask & no);
}

/* ---- f32: bits of n <= KERNEL_LANES elements --------------------------------------------- */

ALWAYS_INLINE void load_f32(const struct pe__rotation *job, size_t step, size_t i, size_t n,
                            vec_u32 *a, vec_u32 *b)
{
    const float *x = (const float *)job->a + step * i;
    vec_u32 u = {0};
    vec_u32 v = {0};
    memcpy(&u, x, FIRST_HALF(step, n) * sizeof(float));
    if (step == 1)
        memcpy(&v, (const float *)job->b + i, n * sizeof(float));
    else
        memcpy(&v, x + KERNEL_LANES, SECOND_HALF(n) * sizeof(float));
    *a = step == 1 ? u : __builtin_shufflevector(u, v, EVENS);
    *b = step == 1 ? v : __builtin_shufflevector(u, v, ODDS);
}

ALWAYS_INLINE void store_f32(const struct pe__rotation *job, size_t step, size_t i, size_t n,
                             vec_u32 a, vec_u32 b)
{
    float *y = (float *)job->ya + step * i;
    vec_u32 u = step == 1 ? a : __builtin_shufflevector(a, b, LOWER_HALF);
    vec_u32 v = step == 1 ? b : __builtin_shufflevector(a, b, UPPER_HALF);
    memcpy(y, &u, FIRST_HALF(step, n) * sizeof(float));
    if (step == 1)
        memcpy((float *)job->yb + i, &v, n * sizeof(float));
    else
        memcpy(y + KERNEL_LANES, &v, SECOND_HALF(n) * sizeof(float));
}

/* GCC 12 makes three instructions of the general form. */
static inline vec widen_f32(vec_u32 bits)
{
#if KERNEL_VEC == 64
    return (vec)_mm512_cvtps_pd((__m256)bits);
#elif KERNEL_VEC == 32
    return (vec)_mm256_cvtps_pd((__m128)bits);
#else
    return __builtin_convertvector((vec_f32)bits, vec);
#endif
}

static inline vec_u32 narrow_f32(vec y)
{
    vec_f32 x = __builtin_convertvector(y, vec_f32);
    return vec_select((vec_u32)(x == x), (vec_u32)x, (vec_u32){0} + 0x7fc00000);
}

/* ---- f16, bf16: bits of n <= KERNEL_LANES elements, in lanes of 32 bits ------------------ */

/* The lower halves of all lanes, for which GCC 12 would take the lanes one by one. */
static inline vec_u16 lower_halves(vec_u32 x)
{
#if KERNEL_VEC == 64
    return (vec_u16)_mm256_cvtepi32_epi16((__m256i)x);
#elif KERNEL_VEC == 32
    return (vec_u16)_mm_cvtsi128_si64(_mm_packus_epi32((__m128i)x, (__m128i)x));
#else
    return __builtin_convertvector(x, vec_u16);
#endif
}

ALWAYS_INLINE void load_16_bits(const struct pe__rotation *job, size_t step, size_t i, size_t n,
                                vec_u32 *a, vec_u32 *b)
{
    if (step == 1) {
        vec_u16 x = {0};
        vec_u16 y = {0};
        memcpy(&x, (const uint16_t *)job->a + i, n * sizeof(uint16_t));
        memcpy(&y, (const uint16_t *)job->b + i, n * sizeof(uint16_t));
        *a = __builtin_convertvector(x, vec_u32);
        *b = __builtin_convertvector(y, vec_u32);
    } else {
        vec_u32 word = {0};
        memcpy(&word, (const uint16_t *)job->a + 2 * i, 2 * n * sizeof(uint16_t));
        *a = word & 0xffff;
        *b = word >> 16;
    }
}

ALWAYS_INLINE void store_16_bits(const struct pe__rotation *job, size_t step, size_t i, size_t n,
                                 vec_u32 a, vec_u32 b)
{
    if (step == 1) {
        vec_u16 x = lower_halves(a);
        vec_u16 y = lower_halves(b);
        memcpy((uint16_t *)job->ya + i, &x, n * sizeof(uint16_t));
        memcpy((uint16_t *)job->yb + i, &y, n * sizeof(uint16_t));
    } else {
        vec_u32 word = a | b << 16;
        memcpy((uint16_t *)job->ya + 2 * i, &word, 2 * n * sizeof(uint16_t));
    }
}

static inline vec widen_bf16(vec_u32 h)
{
    return widen_f32(h << 16);
}

/* To f32 such that rounding again to 11 bits or fewer is right: 12 bits of the fraction are kept
 * and the last of them is set if anything behind it was. Such a number is exact in f32, even if
 * subnormal there, down to 2^-137, and below that both short formats round to 0. */
static inline vec_f32 narrow_to_odd(vec y)
{
    const uint64_t behind = ((uint64_t)1 << 40) - 1;
    vec_bits bits = (vec_bits)y;
    bits |= (bits & behind) + behind;
    return __builtin_convertvector((vec)(bits & ~behind), vec_f32);
}

static inline vec_u32 narrow_bf16(vec y)
{
    vec_f32 x = narrow_to_odd(y);
    vec_u32 bits = (vec_u32)x;
    vec_u32 rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return vec_select((vec_u32)(x == x), rounded, (vec_u32){0} + 0x7fc0);
}

#ifdef __F16C__

/* The processor's conversions: the same bits as below, a third of the time. */
static inline vec widen_f16(vec_u32 h)
{
#if KERNEL_VEC == 64
    return widen_f32((vec_u32)_mm256_cvtph_ps((__m128i)lower_halves(h)));
#else
    return widen_f32((vec_u32)_mm_cvtph_ps(_mm_cvtsi64_si128((int64_t)lower_halves(h))));
#endif
}

static inline vec_u32 narrow_f16(vec y)
{
    vec_f32 x = narrow_to_odd(y);
#if KERNEL_VEC == 64
    __m128i half = _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
    vec_u32 rounded = (vec_u32)_mm256_cvtepu16_epi32(half);
#else
    __m128i half = _mm_cvtps_ph((__m128)x, _MM_FROUND_TO_NEAREST_INT);
    vec_u32 rounded = (vec_u32)_mm_cvtepu16_epi32(half);
#endif
    return vec_select((vec_u32)(x == x), rounded, (vec_u32){0} + 0x7e00);
}

#else

/* As pe__f16_to_f64, by way of f32, which is exact too. */
static inline vec widen_f16(vec_u32 h)
{
    vec_u32 size = (h & 0x7fff) << 13;
    vec_u32 finite = (vec_u32)((vec_f32)size * 0x1p112f);
    vec_u32 special = (h & 0x7c00) == 0x7c00;
    return widen_f32((h & 0x8000) << 16 | vec_select(special, size | 0x7f800000, finite));
}

/* As pe__narrow, in f32. */
static inline vec_u32 narrow_f16(vec y)
{
    const vec_u32 least = (vec_u32)((vec_f32){0} + 0x1p-14f);
    const vec_u32 over = (vec_u32)((vec_f32){0} + 0x1p16f);
    vec_f32 x = narrow_to_odd(y);
    vec_u32 size = (vec_u32)x & 0x7fffffff;
    vec_u32 a = vec_select((vec_u32)((vec_f32)size < 0x1p16f), size, over);
    vec_u32 e = vec_select((vec_u32)((vec_f32)a > 0x1p-14f), a, least) & 0x7f800000;
    vec_u32 unit = e + (13 << 23);
    vec_u32 q = (vec_u32)((vec_f32)a + (vec_f32)unit) - unit;
    vec_u32 rounded = ((vec_u32)x >> 16 & 0x8000) | (((e - least) >> 13) + q);
    return vec_select((vec_u32)(x == x), rounded, (vec_u32){0} + 0x7e00);
}

#endif

/* ---- f32, f16, bf16: plain double arithmetic, rounded once ------------------------------- */

#define DEFINE_ROTATE(name, load, store)                                                           \
    ALWAYS_INLINE void rotate_vec_##name(const struct pe__rotation *job, size_t step, size_t i,    \
                                         size_t n, const double *c, const double *s)               \
    {                                                                                              \
        vec_u32 bits_a, bits_b;                                                                    \
        load(job, step, i, n, &bits_a, &bits_b);                                                   \
        vec a = widen_##name(bits_a);                                                              \
        vec b = widen_##name(bits_b);                                                              \
        vec vc = vec_load(c + i, n);                                                               \
        vec vs = vec_load(s + i, n);                                                               \
        store(job, step, i, n, narrow_##name(a *vc - b * vs), narrow_##name(a *vs + b * vc));      \
    }                                                                                              \
                                                                                                   \
    ALWAYS_INLINE void rotate_row_##name(const struct pe__rotation *job, size_t step,              \
                                         const double *c, const double *s)                         \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + KERNEL_LANES <= job->n; i += KERNEL_LANES)                                      \
            rotate_vec_##name(job, step, i, KERNEL_LANES, c, s);                                   \
        if (i < job->n)                                                                            \
            rotate_vec_##name(job, step, i, job->n - i, c, s);                                     \
    }                                                                                              \
                                                                                                   \
    static void rotate_##name(const struct pe__rotation *job, const double *c, const double *s)    \
    {                                                                                              \
        const struct pe__rotation row = *job; /* own copy: stores cannot change it */              \
        if (row.step == 1)                                                                         \
            rotate_row_##name(&row, 1, c, s);                                                      \
        else                                                                                       \
            rotate_row_##name(&row, 2, c, s);                                                      \
    }

DEFINE_ROTATE(f32, load_f32, store_f32)
DEFINE_ROTATE(f16, load_16_bits, store_16_bits)
DEFINE_ROTATE(bf16, load_16_bits, store_16_bits)

/* ---- f64: double-double products, rounded once with the rounding test -------------------- */

ALWAYS_INLINE void load_f64(const struct pe__rotation *job, size_t step, size_t i, size_t n, vec *a,
                            vec *b)
{
    const double *x = (const double *)job->a + step * i;
    vec u = vec_load(x, FIRST_HALF(step, n));
    vec v = step == 1 ? vec_load((const double *)job->b + i, n)
                      : vec_load(x + KERNEL_LANES, SECOND_HALF(n));
    *a = step == 1 ? u : __builtin_shufflevector(u, v, EVENS);
    *b = step == 1 ? v : __builtin_shufflevector(u, v, ODDS);
}

/* KERNEL_LANES pairs. */
ALWAYS_INLINE void store_f64(const struct pe__rotation *job, size_t step, size_t i, vec a, vec b)
{
    double *y = (double *)job->ya + step * i;
    double *z = step == 1 ? (double *)job->yb + i : y + KERNEL_LANES;
    vec_store(y, step == 1 ? a : __builtin_shufflevector(a, b, LOWER_HALF), KERNEL_LANES);
    vec_store(z, step == 1 ? b : __builtin_shufflevector(a, b, UPPER_HALF), KERNEL_LANES);
}

/*
 * x c + y s rounded to double, lanes where the rounding test fails cleared from *sure. With M =
 * |x| + |y|, |c|, |s| <= 1 and low parts <= 2^-52 the operations after the exact products err by
 * less than 2^-102 M; `eps` has that, the error of c and s, and the rounding of the test itself.
 */
static inline vec dot_of_two(vec x, vec c, vec c_lo, vec y, vec s, vec s_lo, vec eps,
                             vec_bits *sure)
{
    vec p_lo, q_lo, sum_lo, rest;
    vec p = vec_two_prod(x, c, &p_lo);
    vec q = vec_two_prod(y, s, &q_lo);
    vec sum = vec_two_sum(p, q, &sum_lo);
    vec low = sum_lo + ((p_lo + q_lo) + (x * c_lo + y * s_lo));
    vec result = vec_two_sum(sum, low, &rest);
    *sure &= (vec_bits)(result + (rest + eps) == result);
    *sure &= (vec_bits)(result + (rest - eps) == result);
    return result;
}

/* A vector in which not all lanes are sure: stores those that are and those that plain double
 * arithmetic decides (zeros, NaN, infinities), appends the others to bad. */
static size_t store_each_f64(const struct pe__rotation *job, struct pe__cdd_in cs, size_t i,
                             size_t n, const vec y[2], vec_bits sure, uint16_t *bad)
{
    size_t bad_n = 0;
    for (size_t j = 0; j < n; j++) {
        size_t at = (i + j) * job->step;
        double a = ((const double *)job->a)[at];
        double b = ((const double *)job->b)[at];
        double ya = y[0][j];
        double yb = y[1][j];
        if (!sure[j]) {
            bool special = (a == 0 && b == 0) || !isfinite(a) || !isfinite(b);
            if (!special) {
                bad[bad_n++] = (uint16_t)(i + j);
                continue;
            }
            ya = a * cs.cos_hi[i + j] - b * cs.sin_hi[i + j];
            yb = a * cs.sin_hi[i + j] + b * cs.cos_hi[i + j];
            ya = ya == ya ? ya : __builtin_nan("");
            yb = yb == yb ? yb : __builtin_nan("");
        }
        ((double *)job->ya)[at] = ya;
        ((double *)job->yb)[at] = yb;
    }
    return bad_n;
}

static inline bool all_lanes(vec_bits mask)
{
    uint64_t all = mask[0];
    for (size_t j = 1; j < KERNEL_LANES; j++)
        all &= mask[j];
    return all != 0;
}

ALWAYS_INLINE size_t rotate_vec_f64(const struct pe__rotation *job, size_t step, size_t i, size_t n,
                                    struct pe__cdd_in cs, double eps, uint16_t *bad)
{
    vec a, b;
    load_f64(job, step, i, n, &a, &b);
    vec c = vec_load(cs.cos_hi + i, n);
    vec s = vec_load(cs.sin_hi + i, n);
    vec c_lo = vec_load(cs.cos_lo + i, n);
    vec s_lo = vec_load(cs.sin_lo + i, n);

    vec size = (vec)((vec_bits)a & INT64_MAX) + (vec)((vec_bits)b & INT64_MAX);
    vec_bits sure = (vec_bits)(size >= 0x1p-900) & (vec_bits)(size <= 0x1p900);
    vec bound = size * (eps * 1.0001 + 0x1p-101);
    vec y[2] = {dot_of_two(a, c, c_lo, -b, s, s_lo, bound, &sure),
                dot_of_two(a, s, s_lo, b, c, c_lo, bound, &sure)};
    if (n < KERNEL_LANES || !all_lanes(sure))
        return store_each_f64(job, cs, i, n, y, sure, bad);
    store_f64(job, step, i, y[0], y[1]);
    return 0;
}

ALWAYS_INLINE size_t rotate_row_f64(const struct pe__rotation *job, size_t step,
                                    struct pe__cdd_in cs, double eps, uint16_t *bad)
{
    size_t bad_n = 0;
    size_t i = 0;
    for (; i + KERNEL_LANES <= job->n; i += KERNEL_LANES)
        bad_n += rotate_vec_f64(job, step, i, KERNEL_LANES, cs, eps, bad + bad_n);
    if (i < job->n)
        bad_n += rotate_vec_f64(job, step, i, job->n - i, cs, eps, bad + bad_n);
    return bad_n;
}

static size_t rotate_f64(const struct pe__rotation *job, struct pe__cdd_in cs, double eps,
                         uint16_t *bad)
{
    const struct pe__rotation row = *job;
    return row.step == 1 ? rotate_row_f64(&row, 1, cs, eps, bad)
                         : rotate_row_f64(&row, 2, cs, eps, bad);
}
