// SPDX-License-Identifier: Apache-2.0
/*
 * round.c: correct rounding, what round.h says. Rows go through a kernel first, which settles
 * nearly all elements; here are the careful test of single ones and the rounding of MPFR's values.
 *
 * Values with more digits than a double reach the narrow formats by rounding to odd: an inexact
 * value becomes that of its two neighbours among the doubles whose last bit is set. It keeps on
 * which side of a midpoint of the narrow format it was, so that one rounding of it is the rounding
 * of the value (Boldo and Melquiond 2008).
 */
#include "round.h"

#include <math.h>
#include <string.h>

#include "dd.h"
#include "dtype.h"
#include "kernels.h"

#define EXACT_PRECISION_MIN 96
#define EXACT_PRECISION_MAX 4096

/* hi + lo rounded to odd. Stepping away from or towards 0 is counting the bits up or down. */
static double odd_from_sum(double hi, double lo)
{
    struct pe__dd x = pe__two_sum(hi, lo);
    uint64_t bits = pe__bits_from_f64(x.hi);
    if (x.lo != 0 && bits % 2 == 0)
        bits += (x.lo > 0) == (x.hi > 0) ? 1 : -1;
    return pe__f64_from_bits(bits);
}

static double odd_from_mpfr(mpfr_srcptr y)
{
    double x = mpfr_get_d(y, MPFR_RNDZ);
    uint64_t bits = pe__bits_from_f64(x);
    return mpfr_cmp_d(y, x) == 0 ? x : pe__f64_from_bits(bits | 1);
}

/* Rounds hi + lo, taken as exact. */
static void round_sum(enum pe_dtype dtype, double hi, double lo, void *out, size_t i)
{
    pe_store(dtype, out, i, dtype == PE_F64 ? hi + lo : odd_from_sum(hi, lo));
}

/* One element of any floating dtype, and its bits. */
union element {
    uint64_t bits;
    double f64;
    float f32;
    uint16_t f16, bf16;
};

/* Stores the element that both ends of an interval round to; false when they differ. */
static bool store_agreed(enum pe_dtype dtype, union element below, union element above, void *out,
                         size_t i)
{
    size_t size = pe_dtype_size(dtype);
    if (below.bits != above.bits)
        return false;
    memcpy((char *)out + i * size, &above, size);
    return true;
}

bool pe__round(enum pe_dtype dtype, double hi, double lo, double eps, void *out, size_t i)
{
    if (eps == 0) {
        round_sum(dtype, hi, lo, out, i);
        return true;
    }
    /* One ulp outwards, so that the ends' own rounding does not bring them too near. */
    union element below = {0};
    union element above = {0};
    round_sum(dtype, hi, nextafter(lo - eps, -INFINITY), &below, 0);
    round_sum(dtype, hi, nextafter(lo + eps, INFINITY), &above, 0);
    return store_agreed(dtype, below, above, out, i);
}

size_t pe__round_row(enum pe_dtype dtype, size_t n, const double *hi, const double *lo, double eps,
                     void *out, size_t stride, uint16_t *bad)
{
    size_t doubtful_n = pe__kernels()->round_row[dtype](n, hi, lo, eps, out, stride, bad);
    size_t bad_n = 0;
    for (size_t j = 0; j < doubtful_n; j++) {
        uint16_t i = bad[j];
        if (!pe__round(dtype, hi[i], lo[i], eps, out, i * stride))
            bad[bad_n++] = i;
    }
    return bad_n;
}

void pe__round_mpfr(enum pe_dtype dtype, mpfr_srcptr y, void *out, size_t i)
{
    pe_store(dtype, out, i, dtype == PE_F64 ? mpfr_get_d(y, MPFR_RNDN) : odd_from_mpfr(y));
}

/* Rounds y, off by a relative 2^(8 - precision) at most; false when that leaves a doubt. */
static bool round_inexact(enum pe_dtype dtype, mpfr_srcptr y, void *out, size_t i)
{
    union element below = {0};
    union element above = {0};
    mpfr_t error, end;
    mpfr_init2(error, mpfr_get_prec(y));
    mpfr_init2(end, mpfr_get_prec(y));
    mpfr_mul_2si(error, y, 9 - (long)mpfr_get_prec(y), MPFR_RNDN); /* twice what is needed */
    mpfr_sub(end, y, error, MPFR_RNDN);
    pe__round_mpfr(dtype, end, &below, 0);
    mpfr_add(end, y, error, MPFR_RNDN);
    pe__round_mpfr(dtype, end, &above, 0);
    mpfr_clears(error, end, (mpfr_ptr)NULL);
    return store_agreed(dtype, below, above, out, i);
}

void pe__round_exact(enum pe_dtype dtype, pe__exact_fn *exact, const void *context, size_t i,
                     void *out, size_t out_i)
{
    mpfr_t y;
    mpfr_init2(y, EXACT_PRECISION_MIN);
    exact(context, i, y);
    if (mpfr_zero_p(y))
        mpfr_set_zero(y, 1); /* the number 0, whatever sign it came with */
    while (!round_inexact(dtype, y, out, out_i)) {
        if (mpfr_get_prec(y) == EXACT_PRECISION_MAX) {
            /* A tie, which half the digits show without the noise of the last ones. */
            mpfr_prec_round(y, EXACT_PRECISION_MAX / 2, MPFR_RNDN);
            pe__round_mpfr(dtype, y, out, out_i);
            break;
        }
        mpfr_prec_t precision = 2 * mpfr_get_prec(y);
        mpfr_set_prec(y, precision < EXACT_PRECISION_MAX ? precision : EXACT_PRECISION_MAX);
        exact(context, i, y);
    }
    mpfr_clear(y);
}

/* ---- Results as doubles ------------------------------------------------------------------- */

bool pe__round_f64(enum pe_dtype dtype, double hi, double lo, double eps, double *out)
{
    union element element;
    bool settled = pe__round(dtype, hi, lo, eps, &element, 0);
    *out = settled ? pe_load(dtype, &element, 0) : 0;
    return settled;
}

double pe__round_exact_f64(enum pe_dtype dtype, pe__exact_fn *exact, const void *context, size_t i)
{
    union element element;
    pe__round_exact(dtype, exact, context, i, &element, 0);
    return pe_load(dtype, &element, 0);
}

double pe__round_mpfr_f64(enum pe_dtype dtype, mpfr_srcptr y)
{
    union element element;
    pe__round_mpfr(dtype, y, &element, 0);
    return pe_load(dtype, &element, 0);
}
