// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_narrow.inc.c: f32, f16 and bf16 to double and back, rounded once, for
 * kernels_rotate.inc.c.
 *
 * Conversions are what takes the time there. One of a load to doubles is a single operation for
 * half a vector of AVX-512, but four for a whole one, so that a quad, 32 bytes, is the largest
 * vector here (2.4 against 2.9 ms for 32 heads x 4096 tokens x 128 in f32, from the first-level
 * cache). Results are rounded and stored sixteen at a time: what needs a second look is rare, and
 * looked for in all of them at once.
 */

#if KERNEL_VEC >= 32
#include <immintrin.h>
#endif

#define QUAD_BYTES (KERNEL_VEC < 32 ? KERNEL_VEC : 32)
#define QUAD_LANES (QUAD_BYTES / 8)

typedef double quad __attribute__((vector_size(QUAD_BYTES)));
typedef uint64_t quad_bits __attribute__((vector_size(QUAD_BYTES)));
typedef float quad_f32 __attribute__((vector_size(QUAD_BYTES / 2)));
typedef uint32_t quad_u32 __attribute__((vector_size(QUAD_BYTES / 2)));
typedef uint16_t quad_u16 __attribute__((vector_size(QUAD_BYTES / 4)));

struct sixteen {
    quad v[16 / QUAD_LANES];
};

/* The loops over the quads of a sixteen have to be unrolled, or it lies in memory. */
#define EACH_QUAD(k) _Pragma("GCC unroll 16") for (size_t k = 0; k < 16 / QUAD_LANES; k++)

KERNEL_INLINE quad_u32 quad_select(quad_u32 mask, quad_u32 yes, quad_u32 no)
{
    return (mask & yes) | (~mask & no);
}

/* ---- Widening ----------------------------------------------------------------------------- */

/* GCC 12 makes three instructions of the general form. */
KERNEL_INLINE quad widen_f32(quad_u32 bits)
{
#if QUAD_BYTES == 32
    return (quad)_mm256_cvtps_pd((__m128)bits);
#else
    return __builtin_convertvector((quad_f32)bits, quad);
#endif
}

KERNEL_INLINE quad widen_f16(quad_u16 h)
{
#ifdef __F16C__
    return widen_f32((quad_u32)_mm_cvtph_ps(_mm_cvtsi64_si128((int64_t)h)));
#else
    /* As pe__f16_to_f64, by way of f32, which is exact too. */
    quad_u32 x = __builtin_convertvector(h, quad_u32);
    quad_u32 size = (x & 0x7fff) << 13;
    quad_u32 finite = (quad_u32)((quad_f32)size * 0x1p112f);
    quad_u32 special = (quad_u32)((x & 0x7c00) == 0x7c00);
    return widen_f32((x & 0x8000) << 16 | quad_select(special, size | 0x7f800000, finite));
#endif
}

KERNEL_INLINE quad widen_bf16(quad_u16 h)
{
    return widen_f32(__builtin_convertvector(h, quad_u32) << 16);
}

KERNEL_INLINE size_t size_of(enum pe_dtype dtype)
{
    return dtype == PE_F32 ? sizeof(float) : sizeof(uint16_t);
}

/* A quad of elements from number i of x on. */
KERNEL_INLINE quad load_quad(enum pe_dtype dtype, const void *x, size_t i)
{
    const char *from = (const char *)x + i * size_of(dtype);
    quad_u32 words;
    quad_u16 halves;
    if (dtype == PE_F32) {
        memcpy(&words, from, sizeof words);
        return widen_f32(words);
    }
    memcpy(&halves, from, sizeof halves);
    return dtype == PE_F16 ? widen_f16(halves) : widen_bf16(halves);
}

/* Sixteen elements; short ones eight at a time, which takes a tenth less than quads. */
KERNEL_INLINE struct sixteen load_sixteen(enum pe_dtype dtype, const void *x)
{
    struct sixteen v;
#if QUAD_BYTES == 32
    for (size_t k = 0; k < 2 && dtype != PE_F32; k++) {
        __m128i h = _mm_loadu_si128((const __m128i *)x + k);
        __m256 f = dtype == PE_F16 ? _mm256_cvtph_ps(h)
                                   : (__m256)_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16);
        v.v[2 * k] = (quad)_mm256_cvtps_pd(_mm256_castps256_ps128(f));
        v.v[2 * k + 1] = (quad)_mm256_cvtps_pd(_mm256_extractf128_ps(f, 1));
    }
    if (dtype != PE_F32)
        return v;
#endif
    EACH_QUAD(k)
    {
        v.v[k] = load_quad(dtype, x, k * QUAD_LANES);
    }
    /* cppcheck-suppress uninitvar; the loop sets all of it */
    return v;
}

/* ---- Rounding, without a doubt left -------------------------------------------------------- */

/* To f32 such that rounding again to 11 bits or fewer is right: 12 bits of the fraction are kept
 * and the last of them is set if anything behind it was. Such a number is exact in f32, even if
 * subnormal there, down to 2^-137, and below that both short formats round to 0. */
KERNEL_INLINE quad_f32 narrow_to_odd(quad y)
{
    const uint64_t behind = ((uint64_t)1 << 40) - 1;
    quad_bits bits = (quad_bits)y;
    bits |= (bits & behind) + behind;
    return __builtin_convertvector((quad)(bits & ~behind), quad_f32);
}

KERNEL_INLINE quad_u32 narrow_f32(quad y)
{
    quad_f32 x = __builtin_convertvector(y, quad_f32);
    return quad_select((quad_u32)(x == x), (quad_u32)x, (quad_u32){0} + 0x7fc00000);
}

KERNEL_INLINE quad_u32 narrow_bf16(quad y)
{
    quad_f32 x = narrow_to_odd(y);
    quad_u32 bits = (quad_u32)x;
    quad_u32 rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return quad_select((quad_u32)(x == x), rounded, (quad_u32){0} + 0x7fc0);
}

/* As pe__narrow, in f32. */
KERNEL_INLINE quad_u32 narrow_f16(quad y)
{
    const quad_u32 least = (quad_u32)((quad_f32){0} + 0x1p-14f);
    const quad_u32 over = (quad_u32)((quad_f32){0} + 0x1p16f);
    quad_f32 x = narrow_to_odd(y);
    quad_u32 size = (quad_u32)x & 0x7fffffff;
    quad_u32 a = quad_select((quad_u32)((quad_f32)size < 0x1p16f), size, over);
    quad_u32 e = quad_select((quad_u32)((quad_f32)a > 0x1p-14f), a, least) & 0x7f800000;
    quad_u32 unit = e + (13 << 23);
    quad_u32 q = (quad_u32)((quad_f32)a + (quad_f32)unit) - unit;
    quad_u32 rounded = ((quad_u32)x >> 16 & 0x8000) | (((e - least) >> 13) + q);
    return quad_select((quad_u32)(x == x), rounded, (quad_u32){0} + 0x7e00);
}

KERNEL_INLINE void store_carefully(enum pe_dtype dtype, void *y, const struct sixteen *x)
{
    EACH_QUAD(k)
    {
        char *to = (char *)y + k * QUAD_LANES * size_of(dtype);
        quad_u32 words = dtype == PE_F32   ? narrow_f32(x->v[k])
                         : dtype == PE_F16 ? narrow_f16(x->v[k])
                                           : narrow_bf16(x->v[k]);
        quad_u16 halves = __builtin_convertvector(words, quad_u16);
        if (dtype == PE_F32)
            memcpy(to, &words, sizeof words);
        else
            memcpy(to, &halves, sizeof halves);
    }
}

/* ---- Rounding, sixteen at a time ----------------------------------------------------------- */

#if QUAD_BYTES == 32

KERNEL_INLINE __m256 join_f32(quad x, quad y)
{
    return _mm256_set_m128(_mm256_cvtpd_ps((__m256d)y), _mm256_cvtpd_ps((__m256d)x));
}

/* Lanes of f32 that had no NaN so far: one is looked for after each row, 0.03 x memcpy less than
 * after each store. */
#if KERNEL_VEC == 64
typedef __mmask8 ordered;
#else
typedef __m256 ordered;
#endif

KERNEL_INLINE ordered all_ordered(void)
{
#if KERNEL_VEC == 64
    return 0xff;
#else
    return (ordered)_mm256_set1_epi32(-1);
#endif
}

KERNEL_INLINE ordered keep_ordered(ordered so_far, __m256 x, __m256 y)
{
#if KERNEL_VEC == 64
    return _mm256_mask_cmp_ps_mask(so_far, x, y, _CMP_ORD_Q);
#else
    return _mm256_and_ps(so_far, _mm256_cmp_ps(x, y, _CMP_ORD_Q));
#endif
}

KERNEL_INLINE bool had_nan(ordered lanes)
{
#if KERNEL_VEC == 64
    return lanes != 0xff;
#else
    return _mm256_movemask_ps(lanes) != 0xff;
#endif
}

/* Whether the lowest `bits` of an element are all zeros. */
KERNEL_INLINE bool any_round(__m256 x, __m256 y, unsigned bits)
{
    __m256i mask = _mm256_set1_epi32((1 << bits) - 1);
#if KERNEL_VEC == 64
    __mmask8 neither = _mm256_test_epi32_mask((__m256i)x, mask);
    return _mm256_mask_test_epi32_mask(neither, (__m256i)y, mask) != 0xff;
#else
    __m256i zero = _mm256_setzero_si256();
    __m256i a = _mm256_cmpeq_epi32((__m256i)x & mask, zero);
    __m256i b = _mm256_cmpeq_epi32((__m256i)y & mask, zero);
    return _mm256_movemask_epi8(a | b) != 0;
#endif
}

KERNEL_INLINE void put(void *y, __m256i v, bool stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)y, v);
    else
        _mm256_storeu_si256((__m256i *)y, v);
}

/*
 * f16, bf16: rounding to f32 and then again is wrong only if the first has led to the middle of two
 * of their numbers, or to one of them; such a float has zeros in its last 12, or 15, bits, and so
 * have zeros, infinities and NaN of these formats. Others are never halfway, so that bf16 is
 * rounded by adding half a unit. Half a line at a time goes past the caches more slowly than
 * through them: 2.4 against 2.0 x memcpy.
 */
KERNEL_INLINE bool store_short(enum pe_dtype dtype, void *y, __m256 a, __m256 b)
{
    if (any_round(a, b, dtype == PE_F16 ? 12 : 15))
        return false;
    if (dtype == PE_F16) {
        put(y,
            _mm256_set_m128i(_mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT),
                             _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT)),
            false);
    } else {
        const __m256i half = _mm256_set1_epi32(0x8000);
        __m256i low = _mm256_srli_epi32(_mm256_add_epi32((__m256i)a, half), 16);
        __m256i high = _mm256_srli_epi32(_mm256_add_epi32((__m256i)b, half), 16);
        put(y, _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8), false);
    }
    return true;
}

/* Not called cold, which would make GCC move all of the loop away. */
__attribute__((noinline)) static void look_again(enum pe_dtype dtype, void *y,
                                                 const struct sixteen *x)
{
    store_carefully(dtype, y, x);
}

/* p + q: a multiplication by 1 and an addition rounded once is the same number, and waits less, for
 * conversions use the units that add: 2.7 against 3.1 ms with adjacent members. */
KERNEL_INLINE quad sum_of(quad p, quad q)
{
    return (quad)_mm256_fmadd_pd((__m256d)p, _mm256_set1_pd(1), (__m256d)q);
}

/* In f32, what NaN there are is left to settle_nan. */
KERNEL_INLINE void store_sixteen(enum pe_dtype dtype, void *y, const struct sixteen *x, bool stream,
                                 ordered *lanes)
{
    __m256 a = join_f32(x->v[0], x->v[1]);
    __m256 b = join_f32(x->v[2], x->v[3]);
    if (dtype == PE_F32) {
        *lanes = keep_ordered(*lanes, a, b);
        put(y, (__m256i)a, stream);
        put((char *)y + 32, (__m256i)b, stream);
    } else if (__builtin_expect(!store_short(dtype, y, a, b), 0)) {
        struct sixteen copy = *x; /* whose address is taken, so that x stays in registers */
        look_again(dtype, y, &copy);
    }
}

#else

KERNEL_INLINE quad sum_of(quad p, quad q)
{
    return p + q;
}

typedef bool ordered;

KERNEL_INLINE ordered all_ordered(void)
{
    return true;
}

KERNEL_INLINE bool had_nan(ordered lanes)
{
    return !lanes;
}

KERNEL_INLINE void store_sixteen(enum pe_dtype dtype, void *y, const struct sixteen *x, bool stream,
                                 ordered *lanes)
{
    (void)stream, (void)lanes;
    store_carefully(dtype, y, x);
}

#endif
