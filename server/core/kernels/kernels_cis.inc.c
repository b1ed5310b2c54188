// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_cis.inc.c: kernels of the exact engine, part of kernels.inc.c: the complex double-double
 * product and the rounding of rows. Their error bounds are proven in cis.c and round.c.
 */

/* (ph + pl) + (qh + ql) + cross as hi + lo, for exact products p, q and a small `cross`. */
KERNEL_INLINE vec sum_products(vec ph, vec pl, vec qh, vec ql, vec cross, vec *lo)
{
    vec sl;
    vec sh = vec_two_sum(ph, qh, &sl);
    return vec_fast_two_sum(sh, ((pl + ql) + cross) + sl, lo);
}

/* One vector of cis_mul; all of a and b is read before out is written. */
KERNEL_INLINE void cis_mul_lanes(struct pe__cdd_in a, struct pe__cdd_in b, struct pe__cdd out,
                                 size_t i, size_t n)
{
    vec ach = vec_load(a.cos_hi + i, n);
    vec acl = vec_load(a.cos_lo + i, n);
    vec ash = vec_load(a.sin_hi + i, n);
    vec asl = vec_load(a.sin_lo + i, n);
    vec bch = vec_load(b.cos_hi + i, n);
    vec bcl = vec_load(b.cos_lo + i, n);
    vec bsh = vec_load(b.sin_hi + i, n);
    vec bsl = vec_load(b.sin_lo + i, n);
    vec ccl, ssl, sc_l, cs_l, lo;
    vec cc = vec_two_prod(ach, bch, &ccl);
    vec ss = vec_two_prod(ash, bsh, &ssl);
    vec sc = vec_two_prod(ash, bch, &sc_l);
    vec cs = vec_two_prod(ach, bsh, &cs_l);
    vec cross = (ach * bcl + acl * bch) - (ash * bsl + asl * bsh);
    vec hi = sum_products(cc, ccl, -ss, -ssl, cross, &lo);
    vec_store(out.cos_hi + i, hi, n);
    vec_store(out.cos_lo + i, lo, n);
    cross = (ash * bcl + asl * bch) + (ach * bsl + acl * bsh);
    hi = sum_products(sc, sc_l, cs, cs_l, cross, &lo);
    vec_store(out.sin_hi + i, hi, n);
    vec_store(out.sin_lo + i, lo, n);
}

static void cis_mul(size_t n, const struct pe__cdd_in *a, const struct pe__cdd_in *b,
                    const struct pe__cdd *out)
{
    struct pe__cdd_in x = *a; /* no store through out can change these */
    struct pe__cdd_in y = *b;
    struct pe__cdd z = *out;
    size_t i = 0;
    for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)
        cis_mul_lanes(x, y, z, i, KERNEL_LANES);
    if (i < n)
        cis_mul_lanes(x, y, z, i, n - i);
}

/*
 * Rounding of rows. Each function below rounds hi + lo, off by at most eps, and says whether that
 * is surely right; it may doubt without need, then pe__round looks again. eps comes enlarged by
 * 2^-20 of itself, which covers the roundings in sums that it dominates.
 *
 * f64: hi is right if hi + t rounds to hi where t is at least as far out as lo +- eps. It is: lo
 * grows by two of its ulps, twice the rounding error of a sum that it dominates; sums of subnormal
 * numbers are exact.
 *
 * Others: hi -+ d enclose hi + lo +- eps, since |lo| <= ulp(hi) <= 2^-52 |hi| and the rounding of
 * hi -+ d is off by 2^-53 of |hi| + d, or as a float by 2^-24 of it or 2^-150. Ends that round to
 * the same number make it right, unless that is 0, whose sign is open.
 */
KERNEL_INLINE bool round_to_f64(double hi, double lo, double eps, double *y)
{
    double t = lo * (1 + 0x1p-51) + __builtin_copysign(eps, lo);
    *y = hi;
    return hi + t == hi;
}

KERNEL_INLINE bool round_to_f32(double hi, double lo, double eps, float *y)
{
    (void)lo;
    double d = __builtin_fabs(hi) * 0x1p-51 + eps;
    *y = (float)(hi - d);
    return (*y == (float)(hi + d)) & (*y != 0);
}

/* hi -+ d as floats, of which a vector holds twice as many: in one of some thousands of elements
 * the sixteen-bit formats doubt for that. */
struct ends {
    float below, above;
};

KERNEL_INLINE struct ends enclose(double hi, double eps)
{
    double d = __builtin_fabs(hi) * 0x1.00001p-24 + (eps + 0x1p-150);
    return (struct ends){(float)(hi - d), (float)(hi + d)};
}

KERNEL_INLINE int32_t bits_from_float(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

KERNEL_INLINE float float_from_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The way of pe__narrow, with comparisons of integers, which all instruction sets have. */
KERNEL_INLINE uint16_t f16_from_float(float x)
{
    const int32_t least = 113 << 23; /* 2^-14, the least normal number */
    const int32_t over = 143 << 23;  /* 2^16 */
    int32_t bits = bits_from_float(x);
    int32_t size = bits & INT32_MAX;
    size = size < over ? size : over;
    int32_t e = (size > least ? size : least) & 0x7f800000;
    int32_t unit = e + (13 << 23);
    int32_t q = bits_from_float(float_from_bits(size) + float_from_bits(unit)) - unit;
    return (uint16_t)((bits >> 16 & 0x8000) | (((e - least) >> 13) + q));
}

KERNEL_INLINE bool round_to_f16(double hi, double lo, double eps, uint16_t *y)
{
    (void)lo;
    struct ends ends = enclose(hi, eps);
    *y = f16_from_float(ends.below);
    return *y == f16_from_float(ends.above);
}

/* A bfloat16 is the upper half of a float. */
KERNEL_INLINE uint16_t bf16_from_float(float x)
{
    uint32_t bits = (uint32_t)bits_from_float(x);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

KERNEL_INLINE bool round_to_bf16(double hi, double lo, double eps, uint16_t *y)
{
    (void)lo;
    struct ends ends = enclose(hi, eps);
    *y = bf16_from_float(ends.below);
    return *y == bf16_from_float(ends.above);
}

/* round_row of one dtype: first all elements without branches, then, rarely, the doubtful ones'
 * numbers. Unit stride apart, because it makes whole vectors. */
#define ROUND_ROW(dtype, type)                                                                     \
    KERNEL_INLINE bool round_all_##dtype(size_t n, const double *hi, const double *lo, double eps, \
                                         type *restrict out, size_t stride)                        \
    {                                                                                              \
        uint64_t sure = 1;                                                                         \
        for (size_t i = 0; i < n; i++)                                                             \
            sure &= round_to_##dtype(hi[i], lo[i], eps, &out[i * stride]);                         \
        return sure;                                                                               \
    }                                                                                              \
    static size_t round_row_##dtype(size_t n, const double *hi, const double *lo, double eps,      \
                                    void *out, size_t stride, uint16_t *bad)                       \
    {                                                                                              \
        size_t bad_n = 0;                                                                          \
        type ignored;                                                                              \
        eps *= 1 + 0x1p-20;                                                                        \
        if (stride == 1 ? round_all_##dtype(n, hi, lo, eps, out, 1)                                \
                        : round_all_##dtype(n, hi, lo, eps, out, stride))                          \
            return 0;                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            if (!round_to_##dtype(hi[i], lo[i], eps, &ignored))                                    \
                bad[bad_n++] = (uint16_t)i;                                                        \
        return bad_n;                                                                              \
    }

ROUND_ROW(f64, double)
ROUND_ROW(f32, float)
ROUND_ROW(f16, uint16_t)
ROUND_ROW(bf16, uint16_t)
