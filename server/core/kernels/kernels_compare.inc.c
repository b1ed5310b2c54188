// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_compare.inc.c: a block of two arrays side by side: which elements are close, how far the
 * others are apart, and the sums of products; part of kernels.inc.c. Loops over all elements of the
 * block, each of which does one thing and vectorises; behind the last element there are zeros up to
 * a whole number of lanes, which change no sum and are never the largest.
 */

/* Sums are kept lane by lane, the same number of them in all variants, so that the order of
 * summation is the same. */
#define COMPARE_LANES PE__COMPARE_LANES

KERNEL_INLINE size_t compare_padded(size_t n)
{
    return (n + COMPARE_LANES - 1) / COMPARE_LANES * COMPARE_LANES;
}

static void compare_widen(enum pe_dtype dtype, const void *array, size_t first, size_t n,
                          double *out)
{
    const float *f32 = array;
    const double *f64 = array;
    const uint16_t *bits = array;
    for (size_t i = 0; dtype == PE_F64 && i < n; i++)
        out[i] = f64[first + i];
    for (size_t i = 0; dtype == PE_F32 && i < n; i++)
        out[i] = f32[first + i];
    for (size_t i = 0; dtype == PE_F16 && i < n; i++)
        out[i] = pe__f16_to_f64(bits[first + i]);
    for (size_t i = 0; dtype == PE_BF16 && i < n; i++)
        out[i] = pe__bf16_to_f64(bits[first + i]);
    for (size_t i = n; i < compare_padded(n); i++)
        out[i] = 0;
}

/* ---- Steps between neighbouring numbers ----------------------------------------------------- */

/* The bits of a number without its sign count the steps from zero. */

KERNEL_INLINE int32_t compare_step_f32(double x)
{
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    int32_t steps = (int32_t)(bits & INT32_MAX);
    return bits >> 31 ? -steps : steps;
}

KERNEL_INLINE int32_t compare_step_16(uint16_t bits)
{
    int32_t steps = bits & INT16_MAX;
    return bits >> 15 ? -steps : steps;
}

KERNEL_INLINE int64_t compare_step_f64(double x)
{
    uint64_t bits = pe__bits_from_f64(x);
    int64_t steps = (int64_t)(bits & INT64_MAX);
    return bits >> 63 ? -steps : steps;
}

KERNEL_INLINE uint32_t compare_apart(int32_t a, int32_t b)
{
    return a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a;
}

/* Of every element, as if all were finite. */
static void compare_steps(enum pe_dtype coarser, size_t n, struct pe__compare_rows *rows)
{
    const double *a = rows->a;
    const double *e = rows->e;
    uint64_t *steps = rows->steps;
    for (size_t i = 0; coarser == PE_F32 && i < n; i++)
        steps[i] = compare_apart(compare_step_f32(a[i]), compare_step_f32(e[i]));
    for (size_t i = 0; coarser == PE_F16 && i < n; i++)
        steps[i] = compare_apart(compare_step_16(pe__f16_from_f64(a[i])),
                                 compare_step_16(pe__f16_from_f64(e[i])));
    for (size_t i = 0; coarser == PE_BF16 && i < n; i++)
        steps[i] = compare_apart(compare_step_16(pe__bf16_from_f64(a[i])),
                                 compare_step_16(pe__bf16_from_f64(e[i])));
    for (size_t i = 0; coarser == PE_F64 && i < n; i++) {
        int64_t x = compare_step_f64(a[i]);
        int64_t y = compare_step_f64(e[i]);
        steps[i] = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
    }
}

/* ---- Element by element --------------------------------------------------------------------- */

/* Masks have all bits of a lane set, or none. */

KERNEL_INLINE vec_bits vec_load_bits(const uint64_t *x)
{
    vec_bits v;
    memcpy(&v, x, sizeof v);
    return v;
}

KERNEL_INLINE void vec_store_bits(uint64_t *x, vec_bits v)
{
    memcpy(x, &v, sizeof v);
}

KERNEL_INLINE vec vec_full(const double *x)
{
    return vec_load(x, KERNEL_LANES);
}

KERNEL_INLINE vec vec_where(vec_bits mask, vec x)
{
    return (vec)(mask & (vec_bits)x);
}

KERNEL_INLINE vec vec_size(vec x)
{
    return (vec)((vec_bits)x & INT64_MAX);
}

KERNEL_INLINE vec_bits vec_finite(vec x)
{
    return (vec_bits)(vec_size(x) < (vec){0} + __builtin_inf());
}

KERNEL_INLINE vec vec_larger(vec x, vec y)
{
    vec_bits more = (vec_bits)(x > y);
    return (vec)((more & (vec_bits)x) | (~more & (vec_bits)y));
}

/* Differences, steps where they can be counted, and what is far. */
static void compare_elements(const struct pe__compare_rule *rule, size_t n,
                             struct pe__compare_rows *rows)
{
    vec absolute = (vec){0} + rule->absolute;
    vec relative = (vec){0} + rule->relative;
    vec infinite = (vec){0} + __builtin_inf();
    vec_bits nan_is_close = (vec_bits){0} - (uint64_t)rule->equal_nan;
    vec_bits steps_end = (vec_bits){0} + rule->steps_end;
    for (size_t i = 0; i < n; i += KERNEL_LANES) {
        vec a = vec_full(rows->a + i);
        vec e = vec_full(rows->e + i);
        vec apart = vec_size(a - e);
        vec_bits nan = (vec_bits)(a != a) & (vec_bits)(e != e);
        vec_bits same = (vec_bits)(a == e) | (nan & nan_is_close);
        vec_bits near =
            (vec_bits)(apart <= absolute + relative * vec_size(e)) & (vec_bits)(apart < infinite);
        vec_bits counted = vec_finite(a) & vec_finite(e);
        vec_bits steps = (vec_load_bits(rows->steps + i) | ~counted) & ~same;
        if (rule->steps_end > 0)
            near |= (vec_bits)(steps < steps_end);
        vec_store(rows->apart + i, vec_where(~same, apart), KERNEL_LANES);
        vec_store_bits(rows->steps + i, steps);
        vec_store_bits(rows->far + i, ~(same | near) & 1);
    }
}

/* ---- What there is of each ------------------------------------------------------------------ */

/* All lanes together. */
KERNEL_INLINE size_t compare_total(vec_bits counts)
{
    size_t total = 0;
    for (size_t lane = 0; lane < KERNEL_LANES; lane++)
        total += counts[lane];
    return total;
}

/* Steps of numbers of f32 or narrower are as many as a double counts, and these compare faster than
 * integers on most processors: 2^52 + steps by its bits. Steps that are not counted become NaN. */
#define COMPARE_COUNT UINT64_C(0x4330000000000000)

KERNEL_INLINE vec compare_count(vec_bits steps)
{
    return (vec)(steps | COMPARE_COUNT);
}

/* Which are so many or more, or not counted. */
KERNEL_INLINE vec_bits compare_reaches(vec_bits steps, uint64_t least, bool narrow)
{
    return narrow ? ~(vec_bits)(compare_count(steps) < compare_count((vec_bits){0} + least))
                  : (vec_bits)(steps >= (vec_bits){0} + least);
}

/* The larger of each, if it is counted. */
KERNEL_INLINE vec_bits compare_most(vec_bits steps, vec_bits most, bool narrow)
{
    vec_bits more =
        narrow ? (vec_bits)(compare_count(steps) > compare_count(most))
               : (vec_bits)(steps > most) & (vec_bits)(steps != (vec_bits){0} + UINT64_MAX);
    return (more & steps) | (~more & most);
}

/* Elements behind the last one are close, finite and no step apart. */
KERNEL_INLINE void compare_counts(size_t n, bool narrow, const struct pe__compare_rows *rows,
                                  struct pe__compare_block *block)
{
    static const uint64_t least[PE_STEPS_BINS] = {0, 1, 2, 4, 16};
    vec_bits far = {0};
    vec_bits a_odd = {0};
    vec_bits e_odd = {0};
    vec_bits odd = {0};
    vec_bits past[PE_STEPS_BINS] = {{0}};
    for (size_t i = 0; i < n; i += KERNEL_LANES) {
        vec_bits a = ~vec_finite(vec_full(rows->a + i));
        vec_bits e = ~vec_finite(vec_full(rows->e + i));
        vec_bits steps = vec_load_bits(rows->steps + i);
        far += vec_load_bits(rows->far + i);
        a_odd -= a;
        e_odd -= e;
        odd -= a | e;
        for (size_t bin = 1; bin < PE_STEPS_BINS; bin++)
            past[bin] -= compare_reaches(steps, least[bin], narrow);
    }
    block->far = compare_total(far);
    block->nonfinite_a = compare_total(a_odd);
    block->nonfinite_e = compare_total(e_odd);
    block->finite = n - compare_total(odd);
    for (size_t bin = 0; bin < PE_STEPS_BINS; bin++) {
        size_t above = bin + 1 < PE_STEPS_BINS ? compare_total(past[bin + 1]) : 0;
        block->steps[bin] = (bin > 0 ? compare_total(past[bin]) : n) - above;
    }
}

/* The largest of each; NaN and steps that are not counted are none. */
KERNEL_INLINE void compare_largest(size_t n, bool narrow, const struct pe__compare_rows *rows,
                                   struct pe__compare_block *block)
{
    vec infinite = (vec){0} + __builtin_inf();
    vec apart = {0};
    vec share = {0};
    vec_bits steps = {0};
    for (size_t i = 0; i < n; i += KERNEL_LANES) {
        vec d = vec_full(rows->apart + i);
        vec quotient = d / vec_size(vec_full(rows->e + i));
        quotient = (vec)((vec_bits)quotient & (vec_bits)(d < infinite)) + /* an infinite d stays */
                   vec_where((vec_bits)(d == infinite), infinite);
        apart = vec_larger(d, apart);
        share = vec_larger(vec_where((vec_bits)(d > 0), quotient), share);
        steps = compare_most(vec_load_bits(rows->steps + i), steps, narrow);
    }
    block->max_abs = block->max_rel = 0;
    block->max_steps = 0;
    for (size_t lane = 0; lane < KERNEL_LANES; lane++) {
        block->max_abs = apart[lane] > block->max_abs ? apart[lane] : block->max_abs;
        block->max_rel = share[lane] > block->max_rel ? share[lane] : block->max_rel;
        block->max_steps = steps[lane] > block->max_steps ? steps[lane] : block->max_steps;
    }
}

/* ---- Sums ----------------------------------------------------------------------------------- */

#define COMPARE_VECS (COMPARE_LANES / KERNEL_LANES)

/* One of the sums, in as many vectors as have all lanes. */
struct compare_sum {
    vec sum[COMPARE_VECS], low[COMPARE_VECS];
};

/* sum + low += x * y; `exact`: the product of two numbers of f32 or narrower. */
KERNEL_INLINE void compare_sum_add(struct compare_sum *sum, size_t k, vec x, vec y, bool exact)
{
    vec lost = {0};
    vec left;
    vec product = exact ? x * y : vec_two_prod(x, y, &lost);
    sum->sum[k] = vec_two_sum(sum->sum[k], product, &left);
    sum->low[k] += exact ? left : left + lost;
}

/* What takes no part in sums: infinities and NaN, and beside f64 what its squares cannot hold. */
KERNEL_INLINE vec compare_summand(vec x, vec_bits finite, bool narrow)
{
    vec_bits held = (vec_bits)(vec_size(x) >= (vec){0} + PE__COMPARE_LEAST);
    return vec_where(narrow ? finite : finite & held, x);
}

KERNEL_INLINE void compare_sums(size_t n, bool narrow, const struct pe__compare_rows *rows,
                                struct compare_sum sums[4])
{
    for (size_t i = 0; i < n; i += COMPARE_LANES)
        for (size_t k = 0; k < COMPARE_VECS; k++) {
            size_t at = i + k * KERNEL_LANES;
            vec a = vec_full(rows->a + at);
            vec e = vec_full(rows->e + at);
            vec_bits finite = vec_finite(a) & vec_finite(e);
            vec d = compare_summand(vec_full(rows->apart + at), finite, narrow);
            a = compare_summand(a, finite, narrow);
            e = compare_summand(e, finite, narrow);
            compare_sum_add(&sums[0], k, a, e, narrow);
            compare_sum_add(&sums[1], k, a, a, narrow);
            compare_sum_add(&sums[2], k, e, e, narrow);
            compare_sum_add(&sums[3], k, d, d, narrow);
        }
}

/* ---- All of it ------------------------------------------------------------------------------ */

/* `narrow`: neither array is of f64. */
KERNEL_INLINE void compare_found(size_t n, bool narrow, const struct pe__compare_rows *rows,
                                 struct pe__compare_block *block, struct compare_sum sums[4])
{
    size_t padded = compare_padded(n);
    compare_counts(n, narrow, rows, block);
    compare_largest(padded, narrow, rows, block);
    compare_sums(padded, narrow, rows, sums);
}

static void compare_block(const struct pe__compare_rule *rule, const void *actual,
                          const void *expected, size_t first, size_t n,
                          struct pe__compare_rows *rows, struct pe__compare_block *block)
{
    struct compare_sum sums[4] = {0};
    size_t padded = compare_padded(n);
    compare_widen(rule->actual, actual, first, n, rows->a);
    compare_widen(rule->expected, expected, first, n, rows->e);
    compare_steps(rule->coarser, padded, rows);
    compare_elements(rule, padded, rows);
    if (rule->actual != PE_F64 && rule->expected != PE_F64)
        compare_found(n, true, rows, block, sums);
    else
        compare_found(n, false, rows, block, sums);
    for (size_t k = 0; k < 4; k++) {
        memcpy(block->sums.sum[k], sums[k].sum, sizeof sums[k].sum);
        memcpy(block->sums.low[k], sums[k].low, sizeof sums[k].low);
    }
}
