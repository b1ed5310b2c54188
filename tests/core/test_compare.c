// SPDX-License-Identifier: Apache-2.0
/* Comparing arrays: what is close, held to the definition; counts, extremes and sums. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "posenc.h"

/* ---- What is close -------------------------------------------------------------------------- */

static struct pe_comparison compare(enum pe_dtype dtype, double actual, double expected,
                                    const struct pe_tolerance *tolerance)
{
    struct pe_comparison comparison;
    double a, e;
    pe_store(dtype, &a, 0, actual);
    pe_store(dtype, &e, 0, expected);
    pe_comparison_begin(&comparison, dtype, dtype, tolerance);
    pe_comparison_add(&comparison, &a, &e, 1);
    pe_comparison_end(&comparison);
    return comparison;
}

static bool is_close(enum pe_dtype dtype, double actual, double expected, bool equal_nan)
{
    struct pe_tolerance tolerance = pe_tolerance_of(dtype);
    tolerance.equal_nan = equal_nan;
    return compare(dtype, actual, expected, &tolerance).mismatched == 0;
}

/* The number of the dtype next to x in the direction of `up`. */
static double next(enum pe_dtype dtype, double x, bool up)
{
    int64_t bits = 0;
    pe_store(dtype, &bits, 0, x);
    bits += (x > 0) == up ? 1 : -1;
    return pe_load(dtype, &bits, 0);
}

/* rtol and atol of torch.testing.assert_close, as its documentation has them. */
static const struct {
    enum pe_dtype dtype;
    double relative, absolute;
} torch[] = {
    {PE_F16, 1e-3, 1e-5}, {PE_BF16, 1.6e-2, 1e-5}, {PE_F32, 1.3e-6, 1e-5}, {PE_F64, 1e-7, 1e-7}};

Test(compare, the_last_number_inside_is_close_and_the_first_outside_is_not)
{
    static const double expected[] = {1, 0.375, -2.5, 100, -0x1p-3, 0x1p-10, 0};
    for (size_t d = 0; d < sizeof torch / sizeof *torch; d++)
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
            for (int side = -1; side <= 1; side += 2) {
                enum pe_dtype dtype = torch[d].dtype;
                double e = expected[i];
                long double allowed =
                    (long double)torch[d].absolute + (long double)torch[d].relative * fabsl(e);
                double a;
                uint64_t bits = 0;
                pe_store(dtype, &bits, 0,
                         (double)(e + side * allowed)); /* and then to the border */
                a = pe_load(dtype, &bits, 0);
                while (fabsl((long double)a - e) <= allowed)
                    a = next(dtype, a, side > 0);
                cr_expect_not(is_close(dtype, a, e, false), "%s %a %a", pe_dtype_name(dtype), a, e);
                while (fabsl((long double)a - e) > allowed)
                    a = next(dtype, a, side < 0);
                cr_expect(is_close(dtype, a, e, false), "%s %a %a", pe_dtype_name(dtype), a, e);
            }
}

Test(compare, infinities_are_close_to_themselves_and_nan_if_it_is_asked)
{
    for (enum pe_dtype dtype = PE_F64; dtype < PE_I64; dtype++) {
        cr_expect(is_close(dtype, INFINITY, INFINITY, false));
        cr_expect(is_close(dtype, -INFINITY, -INFINITY, false));
        cr_expect_not(is_close(dtype, -INFINITY, INFINITY, false));
        cr_expect_not(is_close(dtype, 1, INFINITY, false));
        cr_expect_not(is_close(dtype, INFINITY, 1, false));
        cr_expect_not(is_close(dtype, NAN, NAN, false));
        cr_expect(is_close(dtype, NAN, NAN, true));
        cr_expect_not(is_close(dtype, NAN, 1, true));
        cr_expect_not(is_close(dtype, 1, NAN, true));
        cr_expect_not(is_close(dtype, NAN, INFINITY, true));
    }
    cr_expect_not(is_close(PE_F64, 1.7e308, -1.7e308, false)); /* too far apart for a double */
}

Test(compare, of_two_dtypes_the_coarser_one_has_the_tolerance)
{
    cr_expect_eq(pe_dtype_coarser(PE_F64, PE_F32), PE_F32);
    cr_expect_eq(pe_dtype_coarser(PE_F16, PE_F32), PE_F16);
    cr_expect_eq(pe_dtype_coarser(PE_F16, PE_BF16), PE_BF16);
    for (size_t d = 0; d < sizeof torch / sizeof *torch; d++) {
        struct pe_tolerance tolerance = pe_tolerance_of(torch[d].dtype);
        cr_expect_eq(tolerance.relative, torch[d].relative);
        cr_expect_eq(tolerance.absolute, torch[d].absolute);
    }
    struct pe_tolerance tolerance = pe_tolerance_of(PE_BF16);
    struct pe_comparison comparison;
    float a = 1.0160f, far = 1.0161f; /* within 1.6e-2 + 1e-5, and not */
    uint16_t one = 0x3f80;
    pe_comparison_begin(&comparison, PE_F32, PE_BF16, &tolerance);
    pe_comparison_add(&comparison, &a, &one, 1);
    cr_expect_eq(comparison.mismatched, 0);
    pe_comparison_add(&comparison, &far, &one, 1);
    cr_expect_eq(comparison.mismatched, 1);
    cr_expect_eq(comparison.first_mismatch, 1);
}

Test(compare, steps_are_counted_in_the_coarser_dtype_and_across_zero)
{
    struct pe_tolerance exactly = {.steps = true, .max_ulp = 2};
    cr_expect_eq(compare(PE_F32, 1, 1, &exactly).max_ulp.value, 0);
    cr_expect_eq(compare(PE_F32, 1 + 0x1p-22, 1, &exactly).max_ulp.value, 2);
    cr_expect_eq(compare(PE_F32, 1 + 0x1p-22, 1, &exactly).mismatched, 0);
    cr_expect_eq(compare(PE_F32, 1 + 3 * 0x1p-23, 1, &exactly).mismatched, 1);
    cr_expect_eq(compare(PE_F64, 1 - 0x1p-53, 1, &exactly).max_ulp.value, 1);
    cr_expect_eq(compare(PE_F64, -0x1p-1074, 0x1p-1074, &exactly).max_ulp.value, 2);
    cr_expect_eq(compare(PE_F64, -0.0, 0.0, &exactly).max_ulp.value, 0);
    cr_expect_eq(compare(PE_F16, 2, 1, &exactly).max_ulp.value, 1024);
    cr_expect_eq(compare(PE_BF16, 2, 1, &exactly).max_ulp.value, 128);
    cr_expect_eq(compare(PE_F32, -1, 1, &exactly).max_ulp.value, 2.0 * 0x3f800000);
    cr_expect_eq(compare(PE_F16, INFINITY, 65504, &exactly).mismatched, 1); /* no step of numbers */
}

/* ---- Against the definition, one by one ----------------------------------------------------- */

static double random_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    double x = (double)(int64_t)*state * 0x1p-62;
    switch (*state >> 33 & 63) {
    case 0:
        return INFINITY;
    case 1:
        return NAN;
    case 2:
        return 0;
    default:
        return x;
    }
}

/* Bits of a number of the dtype, counted from zero. */
static int64_t steps_of(enum pe_dtype dtype, double x)
{
    int64_t bits = 0;
    pe_store(dtype, &bits, 0, fabs(x));
    return signbit(x) ? -bits : bits;
}

struct tally {
    size_t mismatched, bins[PE_STEPS_BINS], a_odd, e_odd, finite;
    double max_abs, max_rel, max_steps;
    size_t at_abs, at_rel, at_steps, first;
    long double products, aa, ee, squares;
};

static void tally_steps(struct tally *tally, double steps, size_t i)
{
    size_t bin = steps < 1 ? 0 : steps < 2 ? 1 : steps < 4 ? 2 : steps < 16 ? 3 : 4;
    tally->bins[bin]++;
    if (isfinite(steps) && steps > tally->max_steps) {
        tally->max_steps = steps;
        tally->at_steps = i;
    }
}

static void tally_add(struct tally *tally, enum pe_dtype coarser, double a, double e, size_t i)
{
    const struct pe_tolerance tolerance = pe_tolerance_of(coarser);
    bool finite = isfinite(a) && isfinite(e), same = a == e;
    double d = same ? 0 : fabs(a - e);
    double steps = same ? 0 : INFINITY;
    if (finite)
        steps = fabs((double)(steps_of(coarser, a) - steps_of(coarser, e)));
    tally_steps(tally, steps, i);
    if (!same && !(finite && d <= tolerance.absolute + tolerance.relative * fabs(e)) &&
        tally->mismatched++ == 0)
        tally->first = i;
    if (d > tally->max_abs) {
        tally->max_abs = d;
        tally->at_abs = i;
    }
    double share = isinf(d) ? INFINITY : d / fabs(e);
    if (d > 0 && share > tally->max_rel) {
        tally->max_rel = share;
        tally->at_rel = i;
    }
    tally->a_odd += !isfinite(a);
    tally->e_odd += !isfinite(e);
    if (!finite)
        return;
    tally->finite++;
    tally->products += (long double)a * e;
    tally->aa += (long double)a * a;
    tally->ee += (long double)e * e;
    tally->squares += (long double)d * d;
}

static void check(const struct pe_comparison *got, const struct tally *tally, size_t n)
{
    cr_expect_eq(got->elements, n);
    cr_expect_eq(got->mismatched, tally->mismatched);
    cr_expect_eq(got->first_mismatch, tally->first);
    cr_expect_eq(got->max_abs.value, tally->max_abs);
    cr_expect_eq(got->max_abs.at, tally->at_abs);
    cr_expect_eq(got->max_rel.value, tally->max_rel);
    cr_expect_eq(got->max_rel.at, tally->at_rel);
    cr_expect_eq(got->max_ulp.value, tally->max_steps);
    cr_expect_eq(got->max_ulp.at, tally->at_steps);
    cr_expect_arr_eq(got->steps, tally->bins, sizeof tally->bins);
    cr_expect_eq(got->nonfinite_actual, tally->a_odd);
    cr_expect_eq(got->nonfinite_expected, tally->e_odd);
    cr_expect_eq(got->finite, tally->finite);
    double cosine = (double)tally->products / (sqrt((double)tally->aa) * sqrt((double)tally->ee));
    cr_expect_float_eq(got->cosine, cosine, 1e-15);
    double rms = sqrt((double)tally->squares / (double)tally->finite);
    cr_expect_float_eq(got->rms, rms, 1e-15 * rms);
}

#define MANY 1700 /* more than three blocks, and not a whole number of them */

Test(compare, random_numbers_in_all_dtypes_and_block_sizes)
{
    static double a[MANY], e[MANY]; /* room for any dtype */
    uint64_t state = 1;
    for (enum pe_dtype x = PE_F64; x < PE_I64; x++)
        for (enum pe_dtype y = PE_F64; y < PE_I64; y++) {
            struct tally tally = {0};
            struct pe_comparison got;
            enum pe_dtype coarser = pe_dtype_coarser(x, y);
            struct pe_tolerance tolerance = pe_tolerance_of(coarser);
            for (size_t i = 0; i < MANY; i++) {
                double number = random_number(&state);
                pe_store(x, a, i, number);
                pe_store(y, e, i, i % 3 ? number * (1 + 0x1p-20) : random_number(&state));
                tally_add(&tally, coarser, pe_load(x, a, i), pe_load(y, e, i), i);
            }
            pe_comparison_begin(&got, x, y, &tolerance);
            pe_comparison_add(&got, a, e, MANY);
            pe_comparison_end(&got);
            check(&got, &tally, MANY);
            pe_comparison_begin(&got, x, y, &tolerance); /* in pieces of other sizes */
            for (size_t first = 0, n = 1; first < MANY; first += n, n = n * 2 + 1) {
                n = n < MANY - first ? n : MANY - first;
                pe_comparison_add(&got, (char *)a + first * pe_dtype_size(x),
                                  (char *)e + first * pe_dtype_size(y), n);
            }
            pe_comparison_end(&got);
            check(&got, &tally, MANY);
        }
}

Test(compare, all_variants_give_the_same_bits)
{
    const struct pe__kernels *kernels[4];
    static double a[PE__COMPARE_BLOCK], e[PE__COMPARE_BLOCK];
    static struct pe__compare_rows rows, other_rows;
    uint64_t state = 7;
    for (size_t i = 0; i < PE__COMPARE_BLOCK; i++) {
        a[i] = random_number(&state);
        e[i] = i % 2 ? random_number(&state) : a[i] * 1.0000001;
    }
    size_t n = pe__kernels_usable(kernels);
    struct pe__compare_rule rule = {PE_F64, PE_F64, PE_F64, 1e-7, 1e-7, 3, false};
    for (size_t len = 1; len <= PE__COMPARE_BLOCK; len = len * 3 + 1) {
        struct pe__compare_block block = {0}, other = {0};
        kernels[0]->compare(&rule, a, e, 0, len, &rows, &block);
        for (size_t k = 1; k < n; k++) {
            kernels[k]->compare(&rule, a, e, 0, len, &other_rows, &other);
            cr_expect_eq(memcmp(&block, &other, sizeof block), 0, "%s, %zu", kernels[k]->name, len);
        }
    }
}

Test(compare, nothing_has_no_direction_and_large_numbers_have_no_sum)
{
    struct pe_comparison comparison;
    struct pe_tolerance tolerance = pe_tolerance_of(PE_F64);
    pe_comparison_begin(&comparison, PE_F64, PE_F64, &tolerance);
    pe_comparison_end(&comparison);
    cr_expect_eq(comparison.elements, 0);
    cr_expect(isnan(comparison.cosine) && isnan(comparison.rms));
    comparison = compare(PE_F64, 0, 1, &tolerance);
    cr_expect(isnan(comparison.cosine));
    cr_expect_eq(comparison.rms, 1);
    comparison = compare(PE_F64, 1e200, 1, &tolerance);
    cr_expect(isnan(comparison.cosine) && isnan(comparison.rms));
    cr_expect_eq(comparison.max_abs.value, 1e200);
}
