// SPDX-License-Identifier: Apache-2.0
/*
 * test_round.c: rounding to every floating dtype against MPFR's own rounding with the format's
 * precision and exponent range, at ties, near ties, subnormals, overflow and zeros.
 */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "dd.h"
#include "round.h"

#define EXACT_PRECISION 2400 /* any sum of two doubles */

static const struct format {
    mpfr_prec_t precision;
    mpfr_exp_t emin, emax; /* as MPFR counts: 2^(emin - 1) is the smallest subnormal */
} formats[] = {
    [PE_F64] = {53, -1073, 1024},
    [PE_F32] = {24, -148, 128},
    [PE_F16] = {11, -23, 16},
    [PE_BF16] = {8, -132, 128},
};

/* y rounded to a dtype, as a double. */
static double reference(enum pe_dtype dtype, mpfr_srcptr y)
{
    const struct format *format = &formats[dtype];
    mpfr_exp_t emin = mpfr_get_emin();
    mpfr_exp_t emax = mpfr_get_emax();
    mpfr_t x;
    mpfr_init2(x, format->precision);
    int ternary = mpfr_set(x, y, MPFR_RNDN);
    mpfr_set_emin(format->emin);
    mpfr_set_emax(format->emax);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    double result = mpfr_get_d(x, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(x);
    return result;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* hi + (lo + more) exactly. */
static void set_sum(mpfr_ptr y, double hi, double lo, double more)
{
    mpfr_set_d(y, lo, MPFR_RNDN);
    mpfr_add_d(y, y, more, MPFR_RNDN);
    cr_assert_eq(mpfr_add_d(y, y, hi, MPFR_RNDN), 0);
}

static double reference_sum(enum pe_dtype dtype, double hi, double lo, double more)
{
    mpfr_t y;
    mpfr_init2(y, EXACT_PRECISION);
    set_sum(y, hi, lo, more);
    double result = reference(dtype, y);
    mpfr_clear(y);
    return result;
}

/* Spacing of the elements of a dtype around x. */
static double ulp(enum pe_dtype dtype, double x)
{
    int exponent;
    frexp(x, &exponent);
    int lowest = (int)formats[dtype].emin - 1;
    int last = exponent - (int)formats[dtype].precision;
    return ldexp(1, last > lowest ? last : lowest);
}

/* Elements of every size, positive, with both ends of the range. */
static size_t elements(enum pe_dtype dtype, double *out)
{
    static const double mantissas[] = {1, 1.5, 1.0078125, 1.9921875, 1.3359375};
    const struct format *format = &formats[dtype];
    size_t n = 0;
    int step = (format->emax - format->emin) > 500 ? 37 : 3;
    for (long e = format->emin - 1; e < format->emax; e += step)
        for (size_t i = 0; i < sizeof mantissas / sizeof *mantissas; i++)
            out[n++] = reference_sum(dtype, ldexp(mantissas[i], (int)e), 0, 0);
    double max = ldexp(2 - ldexp(1, 1 - (int)format->precision), (int)format->emax - 1);
    double least_normal = ldexp(1, (int)format->emin + (int)format->precision - 2);
    out[n++] = max;
    out[n++] = 1;
    out[n++] = least_normal;
    out[n++] = least_normal - ldexp(1, (int)format->emin - 1); /* greatest subnormal */
    return n;
}
#define ELEMENTS_MAX 600

/* Calls `check` with hi + lo at, beside and between elements of the dtype. */
static void for_all_sums(void (*check)(enum pe_dtype dtype, double hi, double lo))
{
    static const double offsets[] = {0, 0x1p-52, 0x1p-54, 0x1p-80, 0x1p-100};
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        double x[ELEMENTS_MAX];
        size_t n = elements(dtype, x);
        for (size_t i = 0; i < n * 6; i++) {
            double at = x[i / 6];
            double half = ulp(dtype, at) / 2 * (double)(i % 3); /* element, tie, next element */
            for (size_t j = 0; j < 10; j++) {
                double offset = offsets[j / 2] * at * (j % 2 ? -1 : 1);
                struct pe__dd sum = pe__two_sum(at, half);
                sum = pe__fast_two_sum(sum.hi, sum.lo + offset);
                if (isfinite(sum.hi))
                    check(dtype, i % 6 < 3 ? sum.hi : -sum.hi, i % 6 < 3 ? sum.lo : -sum.lo);
            }
        }
    }
}

static void check_exact_sum(enum pe_dtype dtype, double hi, double lo)
{
    double out[3] = {7, 7, 7};
    cr_assert(pe__round(dtype, hi, lo, 0, out, 1));
    double expected = reference_sum(dtype, hi, lo, 0);
    cr_assert(same(pe_load(dtype, out, 1), expected), "%s: %a + %a gives %a, not %a",
              pe_dtype_name(dtype), hi, lo, pe_load(dtype, out, 1), expected);
    double untouched[3] = {7, 7, 7};
    cr_assert_eq(memcmp(out, untouched, pe_dtype_size(dtype)), 0);
    size_t end = 2 * pe_dtype_size(dtype);
    cr_assert_eq(memcmp((char *)out + end, (char *)untouched + end, sizeof out - end), 0);
}

Test(round, exact_sums_are_rounded_once)
{
    for_all_sums(check_exact_sum);
}

/* The test accepts only what is the same over the whole interval, and does not doubt an interval
 * that is clear by its own width. */
static void check_interval(enum pe_dtype dtype, double hi, double lo)
{
    static const double widths[] = {0x1p-110, 0x1p-98, 0x1p-60, 0x1p-30};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        double eps = fabs(hi) * widths[i];
        if (eps == 0)
            eps = DBL_TRUE_MIN;
        double out = 0;
        bool sure = pe__round(dtype, hi, lo, eps, &out, 0);
        double below = reference_sum(dtype, hi, lo, -eps);
        double above = reference_sum(dtype, hi, lo, eps);
        double value = pe_load(dtype, &out, 0);
        cr_assert(!sure || (same(below, above) && same(value, below)),
                  "%s: %a + %a +- %a accepted as %a, ends %a %a", pe_dtype_name(dtype), hi, lo, eps,
                  value, below, above);
        double more = 2 * eps + fabs(lo) * 0x1p-51 + DBL_TRUE_MIN;
        below = reference_sum(dtype, hi, lo, -more);
        above = reference_sum(dtype, hi, lo, more);
        cr_assert(sure || !same(below, above), "%s: %a + %a +- %a doubted without need",
                  pe_dtype_name(dtype), hi, lo, eps);
    }
}

Test(round, intervals_are_accepted_when_clear)
{
    for_all_sums(check_interval);
}

Test(round, zeros)
{
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        double out = 7;
        cr_assert(pe__round(dtype, 0, 0, 0, &out, 0));
        cr_assert(same(pe_load(dtype, &out, 0), 0));
        cr_assert(!pe__round(dtype, 0, 0, 0x1p-100, &out, 0), "the sign of 0 +- eps is open");
    }
}

/* A row gives what single rounding gives, and lists just those that it refuses. */
Test(round, rows_are_rounded_like_single_values)
{
    enum { N = 301 };
    static double hi[N];
    static double lo[N];
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        double x[ELEMENTS_MAX];
        size_t elements_n = elements(dtype, x);
        for (size_t i = 0; i < N; i++) {
            double at = i % 7 == 0 ? 0 : i % 7 == 1 ? 1e-61 : x[i % elements_n];
            double half = ulp(dtype, at) / 2 * (double)(i % 3);
            struct pe__dd sum = pe__two_sum(at, half);
            hi[i] = isfinite(sum.hi) ? sum.hi : at;
            lo[i] = i % 5 ? sum.lo : hi[i] * 0x1.8p-55;
        }
        for (size_t stride = 1; stride <= 3; stride++) {
            static const double bounds[] = {0, 0x1p-200, 0x1p-110, 0x1p-60, 0x1p-20};
            for (size_t e = 0; e < sizeof bounds / sizeof *bounds; e++) {
                double row[3 * N];
                uint16_t bad[N];
                size_t bad_n = pe__round_row(dtype, N, hi, lo, bounds[e], row, stride, bad);
                size_t next = 0;
                for (size_t i = 0; i < N; i++) {
                    double one = 0;
                    if (next < bad_n && bad[next] == i) {
                        next++;
                        cr_assert(!pe__round(dtype, hi[i], lo[i], bounds[e], &one, 0));
                        continue;
                    }
                    cr_assert(pe__round(dtype, hi[i], lo[i], bounds[e], &one, 0));
                    cr_assert(same(pe_load(dtype, row, i * stride), pe_load(dtype, &one, 0)),
                              "%s: %a + %a +- %a", pe_dtype_name(dtype), hi[i], lo[i], bounds[e]);
                }
                cr_assert_eq(next, bad_n, "bad ones out of order");
            }
        }
    }
}

/* A value with an error as large as the contract allows. */
struct inexact {
    mpfr_srcptr value;
    int sign; /* of the error */
    mpfr_prec_t last_precision;
};

static void inexact(const void *context, size_t i, mpfr_t y)
{
    struct inexact *x = (struct inexact *)context;
    cr_assert_eq(i, 42);
    x->last_precision = mpfr_get_prec(y);
    mpfr_t error;
    mpfr_init2(error, 64);
    mpfr_mul_2si(error, x->value, 8 - (long)mpfr_get_prec(y), MPFR_RNDZ);
    mpfr_mul_d(error, error, x->sign * 0.98, MPFR_RNDZ); /* the last rounding is the rest */
    mpfr_add(y, x->value, error, MPFR_RNDN);
    mpfr_clear(error);
}

static void check_inexact(enum pe_dtype dtype, mpfr_srcptr value, mpfr_prec_t precision_max)
{
    double expected = reference(dtype, value);
    for (int sign = -1; sign <= 1; sign++) {
        struct inexact x = {value, sign, 0};
        double out = 7;
        pe__round_exact(dtype, inexact, &x, 42, &out, 0);
        cr_assert(same(pe_load(dtype, &out, 0), expected), "%s: %a instead of %a, error %d",
                  pe_dtype_name(dtype), pe_load(dtype, &out, 0), expected, sign);
        cr_assert_leq(x.last_precision, precision_max);
    }
}

/* Values at a tie, and off it by 2^-distance of themselves. */
Test(round, exact_values_are_refined_until_decided)
{
    static const struct {
        long distance;
        mpfr_prec_t enough;
    } rows[] = {{60, 96}, {100, 192}, {300, 384}, {1000, 1536}, {3000, 3072}, {4000, 4096}};
    mpfr_t value, offset;
    mpfr_inits2(5000, value, offset, (mpfr_ptr)NULL);
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        static const double at[] = {1, 1.0078125, -1.5, 0x1p-14, -0x1p-20, 0x1p-120, 1e-310};
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            set_sum(value, at[i], ulp(dtype, at[i]) / 4, ulp(dtype, at[i]) / 4);
            if (mpfr_get_exp(value) < formats[dtype].emin - 1)
                continue;
            check_inexact(dtype, value, 4096);
            for (size_t j = 0; j < 2 * sizeof rows / sizeof *rows; j++) {
                mpfr_mul_2si(offset, value, -rows[j / 2].distance, MPFR_RNDN);
                if (j % 2)
                    mpfr_add(offset, value, offset, MPFR_RNDN);
                else
                    mpfr_sub(offset, value, offset, MPFR_RNDN);
                check_inexact(dtype, offset, rows[j / 2].enough);
            }
        }
    }
    mpfr_clears(value, offset, (mpfr_ptr)NULL);
}

Test(round, an_exact_zero_is_positive)
{
    mpfr_t zero;
    mpfr_init2(zero, 53);
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            mpfr_set_zero(zero, sign);
            struct inexact x = {zero, 0, 0};
            double out = 7;
            pe__round_exact(dtype, inexact, &x, 42, &out, 0);
            cr_assert(same(pe_load(dtype, &out, 0), 0));
            cr_assert_eq(x.last_precision, 96);
        }
    }
    mpfr_clear(zero);
}

static void check_mpfr(enum pe_dtype dtype, double hi, double lo)
{
    mpfr_t y;
    mpfr_init2(y, EXACT_PRECISION);
    set_sum(y, hi, lo, 0);
    for (int i = -1; i <= 1; i++) {
        mpfr_t beside;
        mpfr_init2(beside, EXACT_PRECISION);
        mpfr_set(beside, y, MPFR_RNDN);
        if (i < 0)
            mpfr_nextbelow(beside);
        if (i > 0)
            mpfr_nextabove(beside);
        double out[2] = {7, 7};
        pe__round_mpfr(dtype, beside, out, 1);
        double expected = reference(dtype, beside);
        cr_assert(same(pe_load(dtype, out, 1), expected), "%s: %a + %a, %d beside: %a, not %a",
                  pe_dtype_name(dtype), hi, lo, i, pe_load(dtype, out, 1), expected);
        mpfr_clear(beside);
    }
    mpfr_clear(y);
}

Test(round, mpfr_values_are_rounded_once)
{
    for_all_sums(check_mpfr);
    mpfr_t y;
    mpfr_init2(y, 100);
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        static const struct {
            double mantissa;
            long exponent;
        } far[] = {{1, -5000}, {-1, -5000}, {1, 5000}, {-1, 5000}};
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            double out = 7;
            mpfr_set_d(y, far[i].mantissa, MPFR_RNDN);
            mpfr_mul_2si(y, y, far[i].exponent, MPFR_RNDN);
            pe__round_mpfr(dtype, y, &out, 0);
            double expected = far[i].exponent < 0 ? 0 : INFINITY;
            cr_assert(same(pe_load(dtype, &out, 0), copysign(expected, far[i].mantissa)));
        }
    }
    mpfr_clear(y);
}
