// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_rotate_f64.inc.c: rotation of a row of pairs in f64, included by kernels.inc.c:
 * double-double products, rounded once with the rounding test. Of 3.0 x memcpy 1.75 are left since
 * that takes both ends of the interval, and all lanes at once are asked for doubt.
 */

KERNEL_INLINE void load_f64(const struct pe__rotation *job, size_t step, size_t i, size_t n, vec *a,
                            vec *b)
{
    const double *x = (const double *)job->a + step * i;
    vec u = vec_load(x, FIRST_HALF(step, n));
    vec v = step == 1 ? vec_load((const double *)job->b + i, n)
                      : vec_load(x + KERNEL_LANES, SECOND_HALF(n));
    *a = step == 1 ? u : __builtin_shufflevector(u, v, EVENS);
    *b = step == 1 ? v : __builtin_shufflevector(u, v, ODDS);
}

KERNEL_INLINE void put_f64(double *y, vec v, bool stream)
{
#if KERNEL_VEC == 64
    if (stream) {
        _mm512_stream_pd(y, (__m512d)v);
        return;
    }
#elif KERNEL_VEC == 32
    if (stream) {
        _mm256_stream_pd(y, (__m256d)v);
        return;
    }
#endif
    (void)stream;
    vec_store(y, v, KERNEL_LANES);
}

/* KERNEL_LANES pairs. */
KERNEL_INLINE void store_f64(const struct pe__rotation *job, size_t step, size_t i, bool stream,
                             vec a, vec b)
{
    double *y = (double *)job->ya + step * i;
    double *z = step == 1 ? (double *)job->yb + i : y + KERNEL_LANES;
    put_f64(y, step == 1 ? a : __builtin_shufflevector(a, b, LOWER_HALF), stream);
    put_f64(z, step == 1 ? b : __builtin_shufflevector(a, b, UPPER_HALF), stream);
}

/*
 * x c + y s rounded to double, lanes that are in doubt set in *doubt: those where the ends of the
 * interval in which the sum lies do not round to the same number (two additions less for each than
 * a test of the rounded sum's rest). With M = |x| + |y|, |c|, |s| <= 1 and low parts <= 2^-52 the
 * operations after the exact products err by less than 2^-102 M, those of the test among them;
 * `eps` has that and the error of c and s.
 */
KERNEL_INLINE vec dot_of_two(vec x, vec c, vec c_lo, vec y, vec s, vec s_lo, vec eps,
                             vec_bits *doubt)
{
    vec p_lo, q_lo, sum_lo;
    vec p = vec_two_prod(x, c, &p_lo);
    vec q = vec_two_prod(y, s, &q_lo);
    vec sum = vec_two_sum(p, q, &sum_lo);
    vec low = sum_lo + ((p_lo + q_lo) + (x * c_lo + y * s_lo));
    vec up = sum + (low + eps);
    vec down = sum + (low - eps);
    *doubt |= (vec_bits)up ^ (vec_bits)down;
    return up;
}

/* A vector in which not all lanes are sure: stores those that are, and those that plain double
 * arithmetic decides (zeros, NaN, infinities), appends the others to bad. */
static size_t store_each_f64(const struct pe__rotation *job, struct pe__cdd_in cs, size_t i,
                             size_t n, const vec y[2], vec_bits doubt, uint16_t *bad)
{
    size_t bad_n = 0;
    for (size_t j = 0; j < n; j++) {
        size_t at = (i + j) * job->step;
        double a = ((const double *)job->a)[at];
        double b = ((const double *)job->b)[at];
        double ya = y[0][j];
        double yb = y[1][j];
        if (doubt[j]) {
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

/* GCC 12 would take out all lanes one by one. */
KERNEL_INLINE bool is_in_doubt(vec_bits lanes)
{
#if KERNEL_VEC == 64
    return _mm512_test_epi64_mask((__m512i)lanes, (__m512i)lanes) != 0;
#elif KERNEL_VEC == 32
    return !_mm256_testz_si256((__m256i)lanes, (__m256i)lanes);
#else
    uint64_t any = 0;
    for (size_t j = 0; j < KERNEL_LANES; j++)
        any |= lanes[j];
    return any != 0;
#endif
}

KERNEL_INLINE size_t rotate_vec_f64(const struct pe__rotation *job, size_t step, bool stream,
                                    size_t i, size_t n, struct pe__cdd_in cs, double eps,
                                    uint16_t *bad)
{
    vec a, b;
    load_f64(job, step, i, n, &a, &b);
    vec c = vec_load(cs.cos_hi + i, n);
    vec s = vec_load(cs.sin_hi + i, n);
    vec c_lo = vec_load(cs.cos_lo + i, n);
    vec s_lo = vec_load(cs.sin_lo + i, n);

    vec size = (vec)((vec_bits)a & INT64_MAX) + (vec)((vec_bits)b & INT64_MAX);
    vec_bits doubt = ~((vec_bits)(size >= 0x1p-900) & (vec_bits)(size <= 0x1p900));
    vec bound = size * (eps * 1.0001 + 0x1p-101);
    vec y[2] = {dot_of_two(a, c, c_lo, -b, s, s_lo, bound, &doubt),
                dot_of_two(a, s, s_lo, b, c, c_lo, bound, &doubt)};
    if (n < KERNEL_LANES || is_in_doubt(doubt))
        return store_each_f64(job, cs, i, n, y, doubt, bad);
    store_f64(job, step, i, stream, y[0], y[1]);
    return 0;
}

KERNEL_INLINE size_t rotate_row_f64(const struct pe__rotation *job, size_t step, bool stream,
                                    struct pe__cdd_in cs, double eps, uint16_t *bad)
{
    size_t bad_n = 0;
    size_t i = 0;
    for (; i + KERNEL_LANES <= job->n; i += KERNEL_LANES) {
        fetch((const double *)job->a + step * i, job->ahead);
        fetch(step == 1 ? (const double *)job->b + i
                        : (const double *)job->a + 2 * i + KERNEL_LANES,
              job->ahead);
        bad_n += rotate_vec_f64(job, step, stream, i, KERNEL_LANES, cs, eps, bad + bad_n);
    }
    if (i < job->n)
        bad_n += rotate_vec_f64(job, step, false, i, job->n - i, cs, eps, bad + bad_n);
    return bad_n;
}

static size_t rotate_f64(const struct pe__rotation *job, struct pe__cdd_in cs, double eps,
                         uint16_t *bad)
{
    const struct pe__rotation row = *job;
    if (row.step == 1)
        return row.stream ? rotate_row_f64(&row, 1, true, cs, eps, bad)
                          : rotate_row_f64(&row, 1, false, cs, eps, bad);
    return row.stream ? rotate_row_f64(&row, 2, true, cs, eps, bad)
                      : rotate_row_f64(&row, 2, false, cs, eps, bad);
}
