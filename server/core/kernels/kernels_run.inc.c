// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_run.inc.c: cos and sin of a run of tokens, whose positions differ in their lowest digit
 * only, rounded: the kernel of tables, part of kernels.inc.c. Three times as fast as cis_mul and
 * rounding its result, because it keeps less of the product, and nothing of it in memory.
 *
 * The factors are split at 2^-26: a = a1 + a2, where a1 is a multiple of 2^-26 and a2 the rest,
 * |a2| <= 2^-27, rounded to a double. Then
 *
 *     a b - u v = (a1 b1 - u1 v1) + (a1 b2 + a2 b - u1 v2 - u2 v)
 *
 * where the first part is exact, a multiple of 2^-52 below 2, and the second below 2^-25. Its terms
 * and sums are rounded seven times by at most 2^-79 each; a2 and b2 are off by 2^-80, b = b1 + b2
 * by 2^-54 of which a2 leaves 2^-81. Together less than 2^-75.
 */

/* Bounds of what is lost: of the sum, and for floats also of its rounding to a double, 2^-53. */
#define RUN_LOST     0x1p-74
#define RUN_LOST_F32 0x1p-52

/* a * b + c, rounded once or twice. A loop over the lanes GCC 12 makes one instruction of in some
 * places only. */
KERNEL_INLINE vec vec_fma(vec a, vec b, vec c)
{
#if KERNEL_VEC == 64
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif KERNEL_VEC == 32
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

/* A vector of one plane each. */
struct split_lanes {
    vec c1, c2, s1, s2;
};

KERNEL_INLINE struct split_lanes split_load(const double *x, size_t width)
{
    return (struct split_lanes){vec_load(x, KERNEL_LANES), vec_load(x + width, KERNEL_LANES),
                                vec_load(x + 2 * width, KERNEL_LANES),
                                vec_load(x + 3 * width, KERNEL_LANES)};
}

/* Both ends of the interval in which a component lies; each an upper and a lower one. */
struct run_lanes {
    vec cos_up, cos_down, sin_up, sin_down;
};

KERNEL_INLINE struct run_lanes run_product(struct split_lanes x, struct split_lanes y, double lost)
{
    vec up = (vec){0} + lost;
    vec c = y.c1 + y.c2;
    vec s = y.s1 + y.s2;
    vec cos_1 = vec_fma(x.c1, y.c1, -(x.s1 * y.s1));
    vec sin_1 = vec_fma(x.s1, y.c1, x.c1 * y.s1);
    vec cos_2 = vec_fma(x.s1, y.s2, vec_fma(x.s2, s, -up));
    vec sin_2 = vec_fma(x.c1, y.s2, vec_fma(x.c2, s, up));
    cos_2 = vec_fma(x.c1, y.c2, vec_fma(x.c2, c, -cos_2));
    sin_2 = vec_fma(x.s1, y.c2, vec_fma(x.s2, c, sin_2));
    return (struct run_lanes){cos_1 + cos_2, cos_1 + (cos_2 - 2 * lost), sin_1 + sin_2,
                              sin_1 + (sin_2 - 2 * lost)};
}

/* Lanes in which the ends do not round to the same number are set. */
KERNEL_INLINE vec_bits run_doubt_f64(struct run_lanes y)
{
    return (vec_bits)(y.cos_up != y.cos_down) | (vec_bits)(y.sin_up != y.sin_down);
}

KERNEL_INLINE vec_bits run_doubt_f32(struct run_lanes y)
{
    vec_f32 cos_up = __builtin_convertvector(y.cos_up, vec_f32);
    vec_f32 cos_down = __builtin_convertvector(y.cos_down, vec_f32);
    vec_f32 sin_up = __builtin_convertvector(y.sin_up, vec_f32);
    vec_f32 sin_down = __builtin_convertvector(y.sin_down, vec_f32);
    vec_u32 differ = (vec_u32)(cos_up != cos_down) | (vec_u32)(sin_up != sin_down);
    return __builtin_convertvector(differ, vec_bits);
}

/* Stores n lanes of first and second members, apart or interleaved. */
#define RUN_STORE(dtype, element, vector)                                                          \
    KERNEL_INLINE void run_store_##dtype(const struct pe__run_job *job, size_t step, size_t token, \
                                         size_t i, size_t n, vec a, vec b)                         \
    {                                                                                              \
        size_t at = token * job->row_stride + step * i;                                            \
        vector x = __builtin_convertvector(a, vector);                                             \
        vector y = __builtin_convertvector(b, vector);                                             \
        vector u = step == 1 ? x : __builtin_shufflevector(x, y, LOWER_HALF);                      \
        vector v = step == 1 ? y : __builtin_shufflevector(x, y, UPPER_HALF);                      \
        memcpy((element *)job->first_out + at, &u, FIRST_HALF(step, n) * sizeof(element));         \
        if (step == 1)                                                                             \
            memcpy((element *)job->second_out + at, &v, n * sizeof(element));                      \
        else                                                                                       \
            memcpy((element *)job->first_out + at + KERNEL_LANES, &v,                              \
                   SECOND_HALF(n) * sizeof(element));                                              \
    }

RUN_STORE(f64, double, vec)
RUN_STORE(f32, float, vec_f32)

KERNEL_INLINE uint64_t any_lane(vec_bits x, size_t n)
{
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= x[i];
    return any;
}

/* run_lanes: the lanes [i, i + n) at the tokens [token, end); true if one is in doubt, which
 * run_doubts then looks for. Step and n are constants where it matters. A few tokens at a time, so
 * that rows are written one soon after the other, as the processor expects: a tenth less time. */
#define RUN_TILE 8

#define RUN(dtype, lost)                                                                           \
    KERNEL_INLINE bool run_lanes_##dtype(struct pe__run_job job, size_t step, size_t token,        \
                                         size_t end, size_t i, size_t n)                           \
    {                                                                                              \
        struct split_lanes prefix = split_load(job.prefix + i, PE__BLOCK);                         \
        vec_bits doubt = {0};                                                                      \
        const vec_bits sign = (vec_bits){0} + ((uint64_t)job.negative << 63);                      \
        for (size_t t = token; t < end; t++) {                                                     \
            const double *entry = job.entries + job.digit[t] * 4 * job.width + i;                  \
            struct run_lanes y = run_product(prefix, split_load(entry, job.width), lost);          \
            doubt |= run_doubt_##dtype(y);                                                         \
            vec sine = (vec)((vec_bits)y.sin_up ^ sign);                                           \
            if (job.sine_first)                                                                    \
                run_store_##dtype(&job, step, t, i, n, sine, y.cos_up);                            \
            else                                                                                   \
                run_store_##dtype(&job, step, t, i, n, y.cos_up, sine);                            \
        }                                                                                          \
        return any_lane(doubt, n) != 0;                                                            \
    }                                                                                              \
    static void run_doubts_##dtype(const struct pe__run_job *job, size_t token, size_t end,        \
                                   size_t i, size_t n, bool *bad)                                  \
    {                                                                                              \
        struct split_lanes prefix = split_load(job->prefix + i, PE__BLOCK);                        \
        for (size_t t = token; t < end; t++) {                                                     \
            const double *entry = job->entries + job->digit[t] * 4 * job->width + i;               \
            struct run_lanes y = run_product(prefix, split_load(entry, job->width), lost);         \
            bad[t] |= any_lane(run_doubt_##dtype(y), n) != 0;                                      \
        }                                                                                          \
    }                                                                                              \
    KERNEL_INLINE void run_tile_##dtype(const struct pe__run_job *job, size_t token, bool *bad)    \
    {                                                                                              \
        size_t end = job->tokens - token < RUN_TILE ? job->tokens : token + RUN_TILE;              \
        for (size_t i = 0; i < job->n; i += KERNEL_LANES) {                                        \
            size_t n = job->n - i < KERNEL_LANES ? job->n - i : KERNEL_LANES;                      \
            bool doubt;                                                                            \
            if (n < KERNEL_LANES)                                                                  \
                doubt = run_lanes_##dtype(*job, job->step, token, end, i, n);                      \
            else if (job->step == 1)                                                               \
                doubt = run_lanes_##dtype(*job, 1, token, end, i, KERNEL_LANES);                   \
            else                                                                                   \
                doubt = run_lanes_##dtype(*job, 2, token, end, i, KERNEL_LANES);                   \
            if (doubt)                                                                             \
                run_doubts_##dtype(job, token, end, i, n, bad);                                    \
        }                                                                                          \
    }                                                                                              \
    static void run_##dtype(const struct pe__run_job *job, bool *bad)                              \
    {                                                                                              \
        for (size_t token = 0; token < job->tokens; token += RUN_TILE)                             \
            run_tile_##dtype(job, token, bad);                                                     \
    }

RUN(f64, RUN_LOST)
RUN(f32, RUN_LOST_F32)
