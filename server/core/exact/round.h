// SPDX-License-Identifier: Apache-2.0
/*
 * round.h: from hi + lo with an error bound to one correctly rounded element. The rounding test
 * (Ziv): if adding and subtracting the bound cannot change the rounded result it is right; else
 * the value is recomputed by MPFR with growing precision up to 4096 bits, where an undecided value
 * counts as exact.
 */
#ifndef PE_CORE_ROUND_H
#define PE_CORE_ROUND_H

#include <mpfr.h>

#include "posenc.h"

/* Rounds hi + lo, off by at most eps, to element i of out. False when the test fails (out is then
 * not to be used). |lo| <= ulp(hi); hi finite. */
bool pe__round(enum pe_dtype dtype, double hi, double lo, double eps, void *out, size_t i);

/* The same for n values; element j goes to out[j * stride]. Indices of doubtful ones are stored in
 * bad (room for n); returns how many. Uses the chosen kernels. */
size_t pe__round_row(enum pe_dtype dtype, size_t n, const double *hi, const double *lo, double eps,
                     void *out, size_t stride, uint16_t *bad);

/* A value to the precision of y with a relative error of at most 2^(8 - precision). */
typedef void pe__exact_fn(const void *context, size_t i, mpfr_t y);

/* Stores the correctly rounded value `exact(context, i)` as element out_i. */
void pe__round_exact(enum pe_dtype dtype, pe__exact_fn *exact, const void *context, size_t i,
                     void *out, size_t out_i);

/* Rounds y itself (taken as exact) to element i of out, once. */
void pe__round_mpfr(enum pe_dtype dtype, mpfr_srcptr y, void *out, size_t i);

/* All three with a result that is given back as a double (dtype: floating). */
bool pe__round_f64(enum pe_dtype dtype, double hi, double lo, double eps, double *out);
double pe__round_exact_f64(enum pe_dtype dtype, pe__exact_fn *exact, const void *context, size_t i);
double pe__round_mpfr_f64(enum pe_dtype dtype, mpfr_srcptr y);

#endif
