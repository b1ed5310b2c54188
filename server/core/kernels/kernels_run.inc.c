// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_run.inc.c: cos and sin of a run of tokens, whose positions differ in their lowest digit
 * only, rounded: the kernel of tables, part of kernels.inc.c. Tokens as far ahead of the run's
 * centre (C, S) as behind it have the same four products, which are half the work of two tokens:
 *
 *     cos = C c -+ S s        sin = S c +- C s
 *
 * f64: all factors are split at 2^-26: c = c1 + c2, where c1 is a multiple of 2^-26 and c2 the
 * rest, |c2| <= 2^-27, rounded to a double. Then
 *
 *     C c - S s = (C1 c1 - S1 s1) + (C c2 + C2 c1 - S s2 - S2 s1)
 *
 * where the first part is exact, a multiple of 2^-52 below 2, and the second below 2^-25. Its
 * terms and sums are rounded at most ten times (seven when fused) by at most 2^-79 each; c2, C2, s2
 * and S2 are off by 2^-80, and C and S beside c2 and s2 by 2^-54, which makes 2^-81. Together less
 * than 2^-75.
 *
 * f32: plain doubles are enough. The factors are off by 2^-54 each, together 2^-52.5 in a value;
 * its two products and three sums are rounded by at most 2^-53 each: less than 2^-50 in all.
 *
 * Each value is made with what may be lost added, and taken off: where these ends round to the same
 * number, that is right. Whether they do is a matter of all their bits, so that 0 is in doubt.
 */
#define RUN_LOST_F64 0x1p-75
#define RUN_LOST_F32 0x1p-50

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

KERNEL_INLINE vec run_factor(const double *factors, size_t width, enum pe__factor which)
{
    return vec_load(factors + which * width, KERNEL_LANES);
}

/* ---- Values ------------------------------------------------------------------------------- */

/* The ends of the intervals in which cosine and sine lie, ahead of the centre and behind. */
#define RUN_VALUES(dtype, vector)                                                                  \
    struct run_##dtype {                                                                           \
        vector cos_up[2], cos_down[2], sin_up[2], sin_down[2];                                     \
    };

RUN_VALUES(f64, vec)
RUN_VALUES(f32, vec_f32)

KERNEL_INLINE struct run_f64 run_values_f64(const double *centre, const double *entry, size_t width)
{
    const vec lost = (vec){0} + RUN_LOST_F64;
    vec c = run_factor(centre, PE__BLOCK, PE__C), s = run_factor(centre, PE__BLOCK, PE__S);
    vec c1 = run_factor(centre, PE__BLOCK, PE__C1), c2 = run_factor(centre, PE__BLOCK, PE__C2);
    vec s1 = run_factor(centre, PE__BLOCK, PE__S1), s2 = run_factor(centre, PE__BLOCK, PE__S2);
    vec e1 = run_factor(entry, width, PE__C1), e2 = run_factor(entry, width, PE__C2);
    vec f1 = run_factor(entry, width, PE__S1), f2 = run_factor(entry, width, PE__S2);
    vec ss = s1 * f1, cs = c1 * f1;
    vec cc_2 = vec_fma(c, e2, vec_fma(c2, e1, lost)), ss_2 = vec_fma(s, f2, s2 * f1);
    vec sc_2 = vec_fma(s, e2, vec_fma(s2, e1, lost)), cs_2 = vec_fma(c, f2, c2 * f1);
    vec cos_1[2] = {vec_fma(c1, e1, -ss), vec_fma(c1, e1, ss)};
    vec sin_1[2] = {vec_fma(s1, e1, cs), vec_fma(s1, e1, -cs)};
    vec cos_2[2] = {cc_2 - ss_2, cc_2 + ss_2};
    vec sin_2[2] = {sc_2 + cs_2, sc_2 - cs_2};
    return (struct run_f64){
        .cos_up = {cos_1[0] + cos_2[0], cos_1[1] + cos_2[1]},
        .cos_down = {cos_1[0] + (cos_2[0] - 2 * lost), cos_1[1] + (cos_2[1] - 2 * lost)},
        .sin_up = {sin_1[0] + sin_2[0], sin_1[1] + sin_2[1]},
        .sin_down = {sin_1[0] + (sin_2[0] - 2 * lost), sin_1[1] + (sin_2[1] - 2 * lost)},
    };
}

KERNEL_INLINE vec_f32 narrowed(vec x)
{
    return __builtin_convertvector(x, vec_f32);
}

/* The lower end. Multiplied by 1 it does not wait for the units that add, which are busy with
 * conversions: a tenth of the time. */
KERNEL_INLINE vec below(vec up)
{
    const vec one = (vec){0} + 1;
    return vec_fma(up, one, one * (-2 * RUN_LOST_F32));
}

KERNEL_INLINE struct run_f32 run_values_f32(const double *centre, const double *entry, size_t width)
{
    const vec lost = (vec){0} + RUN_LOST_F32;
    vec c = run_factor(centre, PE__BLOCK, PE__C), s = run_factor(centre, PE__BLOCK, PE__S);
    vec e = run_factor(entry, width, PE__C), f = run_factor(entry, width, PE__S);
    vec cc = vec_fma(c, e, lost), sc = vec_fma(s, e, lost);
    vec cosine[2] = {vec_fma(-s, f, cc), vec_fma(s, f, cc)};
    vec sine[2] = {vec_fma(c, f, sc), vec_fma(-c, f, sc)};
    return (struct run_f32){
        .cos_up = {narrowed(cosine[0]), narrowed(cosine[1])},
        .cos_down = {narrowed(below(cosine[0])), narrowed(below(cosine[1]))},
        .sin_up = {narrowed(sine[0]), narrowed(sine[1])},
        .sin_down = {narrowed(below(sine[0])), narrowed(below(sine[1]))},
    };
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* Copies bytes; a whole vector past the caches, if the target has instructions for it.
 * Sanitized code is not folded, and gcc warns of the sizes that `bytes` rules out. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
KERNEL_INLINE void run_put(void *to, const void *from, size_t bytes, bool stream)
{
#if KERNEL_VEC >= 32
    if (stream && bytes == 16) {
        __m128i x;
        memcpy(&x, from, sizeof x);
        _mm_stream_si128(to, x);
        return;
    }
    if (stream && bytes == 32) {
        __m256i x;
        memcpy(&x, from, sizeof x);
        _mm256_stream_si256(to, x);
        return;
    }
#endif
#if KERNEL_VEC == 64
    if (stream && bytes == 64) {
        __m512i x;
        memcpy(&x, from, sizeof x);
        _mm512_stream_si512(to, x);
        return;
    }
#endif
    (void)stream;
    memcpy(to, from, bytes);
}
#pragma GCC diagnostic pop

/* Where two ends of an interval differ, added to what is in doubt so far: one instruction, where
 * there is one, instead of the one and a half that GCC 12 makes of it. */
KERNEL_INLINE vec_bits doubt_f64(vec_bits so_far, vec up, vec down)
{
#if KERNEL_VEC == 64
    return (vec_bits)_mm512_ternarylogic_epi64((__m512i)so_far, (__m512i)up, (__m512i)down, 0xf6);
#else
    return so_far | ((vec_bits)up ^ (vec_bits)down);
#endif
}

KERNEL_INLINE vec_u32 doubt_f32(vec_u32 so_far, vec_f32 up, vec_f32 down)
{
#if KERNEL_VEC == 64
    return (vec_u32)_mm256_ternarylogic_epi32((__m256i)so_far, (__m256i)up, (__m256i)down, 0xf6);
#else
    return so_far | ((vec_u32)up ^ (vec_u32)down);
#endif
}

/* Whether any lane is in doubt, in one instruction where there is one. */
KERNEL_INLINE bool any_f64(vec_bits doubt)
{
#if KERNEL_VEC == 64
    return _mm512_test_epi64_mask((__m512i)doubt, (__m512i)doubt) != 0;
#elif KERNEL_VEC == 32
    return !_mm256_testz_si256((__m256i)doubt, (__m256i)doubt);
#else
    uint64_t any = 0;
    for (size_t i = 0; i < KERNEL_LANES; i++)
        any |= doubt[i];
    return any != 0;
#endif
}

KERNEL_INLINE bool any_f32(vec_u32 doubt)
{
#if KERNEL_VEC == 64
    return !_mm256_testz_si256((__m256i)doubt, (__m256i)doubt);
#else
    return any_f64(__builtin_convertvector(doubt, vec_bits));
#endif
}

/* Two vectors are made at a time: of two steps, which saves loading the centre's factors twice
 * (a seventh of the time); or of one, where a vector is less than a line, which is written at once
 * then. */
#define RUN_BY_STEP(vector) (sizeof(vector) == 64)
#define RUN_BATCH(vector)   (RUN_BY_STEP(vector) ? KERNEL_LANES : 2 * KERNEL_LANES)

/* A step: its factors, and the rows of the tokens ahead and behind, if there are such. */
struct run_rows {
    const double *entry;
    char *first[2], *second[2];
    bool has[2];
};

/* The first step from k on that has a token. */
KERNEL_INLINE size_t run_next(const struct pe__run_job *job, size_t k)
{
    while (k < job->steps_n && job->token[0][k] == PE__RUN && job->token[1][k] == PE__RUN)
        k++;
    return k;
}

/* Those of step k; none behind the last. */
KERNEL_INLINE void run_set_rows(const struct pe__run_job *job, size_t k, struct run_rows *rows)
{
    bool is_step = k < job->steps_n;
    rows->entry = job->offsets + (is_step ? k : 0) * PE__FACTORS * job->width;
    for (size_t side = 0; side < 2; side++) {
        size_t token = is_step ? job->token[side][k] : PE__RUN;
        size_t before = token < PE__RUN ? token * job->row_bytes : 0;
        rows->first[side] = (char *)job->first + before;
        rows->second[side] = (char *)job->second + before;
        rows->has[side] = token < PE__RUN;
    }
}

/* Where one of the two goes: n lanes from pair i on. */
struct run_place {
    const struct run_rows *rows;
    size_t i, n;
};

/* How rows are written; constants where it matters. */
struct run_layout {
    size_t step;
    bool sine_first, stream;
    bool paired; /* both sides have tokens */
};

#define RUN(dtype, element, vector, bits)                                                          \
    /* Adds where the two ends differ; in lanes past n they mean nothing. */                       \
    KERNEL_INLINE bits run_doubt_##dtype(bits so_far, size_t n, vector up, vector down)            \
    {                                                                                              \
        if (n == KERNEL_LANES)                                                                     \
            return doubt_##dtype(so_far, up, down);                                                \
        for (size_t i = 0; i < n; i++)                                                             \
            so_far[i] |= ((bits)up)[i] ^ ((bits)down)[i];                                          \
        return so_far;                                                                             \
    }                                                                                              \
    KERNEL_INLINE void run_dense_##dtype(struct run_place at, struct run_layout layout,            \
                                         size_t side, char *const row[2], vector x)                \
    {                                                                                              \
        if (layout.paired || at.rows->has[side])                                                   \
            run_put((element *)row[side] + at.i, &x, at.n * sizeof(element), layout.stream);       \
    }                                                                                              \
    KERNEL_INLINE void run_interleaved_##dtype(struct run_place at, struct run_layout layout,      \
                                               size_t side, vector c, vector s)                    \
    {                                                                                              \
        element *to = (element *)at.rows->first[side] + 2 * at.i;                                  \
        vector a = layout.sine_first ? s : c;                                                      \
        vector b = layout.sine_first ? c : s;                                                      \
        vector u = __builtin_shufflevector(a, b, LOWER_HALF);                                      \
        vector v = __builtin_shufflevector(a, b, UPPER_HALF);                                      \
        if (!layout.paired && !at.rows->has[side])                                                 \
            return;                                                                                \
        run_put(to, &u, FIRST_HALF(2, at.n) * sizeof(element), layout.stream);                     \
        run_put(to + KERNEL_LANES, &v, SECOND_HALF(at.n) * sizeof(element), layout.stream);        \
    }                                                                                              \
    KERNEL_INLINE bits run_side_##dtype(const struct run_##dtype y[2], size_t side,                \
                                        const struct run_place at[2], struct run_layout layout,    \
                                        bits doubt)                                                \
    {                                                                                              \
        if (layout.step == 1) {                                                                    \
            run_dense_##dtype(at[0], layout, side, at[0].rows->first, y[0].cos_up[side]);          \
            run_dense_##dtype(at[1], layout, side, at[1].rows->first, y[1].cos_up[side]);          \
            run_dense_##dtype(at[0], layout, side, at[0].rows->second, y[0].sin_up[side]);         \
            run_dense_##dtype(at[1], layout, side, at[1].rows->second, y[1].sin_up[side]);         \
        } else {                                                                                   \
            run_interleaved_##dtype(at[0], layout, side, y[0].cos_up[side], y[0].sin_up[side]);    \
            run_interleaved_##dtype(at[1], layout, side, y[1].cos_up[side], y[1].sin_up[side]);    \
        }                                                                                          \
        _Pragma("GCC unroll 2") for (size_t v = 0; v < 2; v++)                                     \
        {                                                                                          \
            if (!layout.paired && !at[v].rows->has[side])                                          \
                continue;                                                                          \
            doubt = run_doubt_##dtype(doubt, at[v].n, y[v].cos_up[side], y[v].cos_down[side]);     \
            doubt = run_doubt_##dtype(doubt, at[v].n, y[v].sin_up[side], y[v].sin_down[side]);     \
        }                                                                                          \
        return doubt;                                                                              \
    }                                                                                              \
    KERNEL_INLINE bits run_batch_##dtype(const struct pe__run_job *job,                            \
                                         const struct run_rows *rows, struct run_layout layout,    \
                                         size_t i, size_t n, bits doubt)                           \
    {                                                                                              \
        size_t n_0 = n < KERNEL_LANES ? n : KERNEL_LANES;                                          \
        struct run_place at[2] = {{rows, i, n_0}, {rows, i + KERNEL_LANES, n - n_0}};              \
        if (RUN_BY_STEP(vector))                                                                   \
            at[1] = (struct run_place){rows + 1, i, n_0};                                          \
        struct run_##dtype y[2] = {                                                                \
            run_values_##dtype(job->centre + at[0].i, at[0].rows->entry + at[0].i, job->width),    \
            run_values_##dtype(job->centre + at[1].i, at[1].rows->entry + at[1].i, job->width),    \
        };                                                                                         \
        doubt = run_side_##dtype(y, 0, at, layout, doubt);                                         \
        return run_side_##dtype(y, 1, at, layout, doubt);                                          \
    }                                                                                              \
    KERNEL_INLINE bits run_steps_##dtype(const struct pe__run_job *job,                            \
                                         const struct run_rows *rows, struct run_layout layout)    \
    {                                                                                              \
        bits doubt = {0};                                                                          \
        size_t i = 0;                                                                              \
        for (; i + RUN_BATCH(vector) <= job->n; i += RUN_BATCH(vector))                            \
            doubt = run_batch_##dtype(job, rows, layout, i, RUN_BATCH(vector), doubt);             \
        layout.stream = false;                                                                     \
        return i < job->n ? run_batch_##dtype(job, rows, layout, i, job->n - i, doubt) : doubt;    \
    }                                                                                              \
    /* Steps in twos, or one by one; those without a token cost nothing. */                        \
    KERNEL_INLINE bool run_all_##dtype(struct pe__run_job job, struct run_layout layout)           \
    {                                                                                              \
        struct run_layout paired = layout;                                                         \
        struct run_rows at[2];                                                                     \
        bool any = false;                                                                          \
        paired.paired = true;                                                                      \
        for (size_t k = run_next(&job, 0), other; k < job.steps_n;                                 \
             k = run_next(&job, other + 1)) {                                                      \
            other = RUN_BY_STEP(vector) ? run_next(&job, k + 1) : k;                               \
            run_set_rows(&job, k, &at[0]);                                                         \
            run_set_rows(&job, other, &at[1]);                                                     \
            bool both = at[0].has[0] && at[0].has[1] && at[1].has[0] && at[1].has[1];              \
            bool doubt = any_##dtype(both ? run_steps_##dtype(&job, at, paired)                    \
                                          : run_steps_##dtype(&job, at, layout));                  \
            job.doubt[k] = job.doubt[other] = doubt;                                               \
            any |= doubt;                                                                          \
        }                                                                                          \
        return any;                                                                                \
    }                                                                                              \
    static bool run_##dtype(const struct pe__run_job *job)                                         \
    {                                                                                              \
        if (job->step == 1 && job->stream)                                                         \
            return run_all_##dtype(*job, (struct run_layout){1, false, true, false});              \
        if (job->step == 1)                                                                        \
            return run_all_##dtype(*job, (struct run_layout){1, false, false, false});             \
        if (job->stream)                                                                           \
            return run_all_##dtype(*job, (struct run_layout){2, job->sine_first, true, false});    \
        return run_all_##dtype(*job, (struct run_layout){2, job->sine_first, false, false});       \
    }

/* Rows are bytes of either element. */
/* cppcheck-suppress invalidPointerCast */
RUN(f64, double, vec, vec_bits)
/* cppcheck-suppress invalidPointerCast */
RUN(f32, float, vec_f32, vec_u32)
