// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_rotate_f64.inc.c: rotation of a row of pairs in f64, included by kernels.inc.c:
 * double-double products, rounded once with the rounding test.
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

/* KERNEL_LANES pairs. */
KERNEL_INLINE void store_f64(const struct pe__rotation *job, size_t step, size_t i, vec a, vec b)
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

KERNEL_INLINE size_t rotate_vec_f64(const struct pe__rotation *job, size_t step, size_t i, size_t n,
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

KERNEL_INLINE size_t rotate_row_f64(const struct pe__rotation *job, size_t step,
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
