// SPDX-License-Identifier: Apache-2.0
/* compare.h: how far two arrays of numbers are apart. See posenc.h. */
#ifndef POSENC_COMPARE_H
#define POSENC_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What counts as close: |actual - expected| <= absolute + relative * |expected|, in f64; or a
 * distance of at most max_ulp steps of the coarser dtype. Equal infinities are close, other ones
 * never. */
struct pe_tolerance {
    double relative, absolute; /* >= 0 */
    bool steps;                /* whether max_ulp is asked */
    uint64_t max_ulp;
    bool equal_nan; /* two NaNs are close */
};

/* The one with fewer digits: bf16, f16, f32, f64. Neither is PE_I64. */
enum pe_dtype pe_dtype_coarser(enum pe_dtype a, enum pe_dtype b);
/* That of torch.testing for a dtype, relative and absolute: f16 1e-3, 1e-5; bf16 1.6e-2, 1e-5;
 * f32 1.3e-6, 1e-5; f64 1e-7, 1e-7. */
struct pe_tolerance pe_tolerance_of(enum pe_dtype coarser);

/* A largest value and the element, counted over all that were added, where it is found first. */
struct pe_extreme {
    double value;
    size_t at;
};

#define PE_STEPS_BINS 5 /* 0, 1, 2-3, 4-15, more or not to be counted */

/* A comparison, block after block; numbers are as of all elements added so far. */
struct pe_comparison {
    enum pe_dtype actual, expected, coarser;
    struct pe_tolerance tolerance;
    size_t elements, mismatched;
    size_t first_mismatch;              /* where mismatched > 0 */
    struct pe_extreme max_abs, max_rel; /* |a - e|, and |a - e| / |e|; pairs with NaN aside */
    /* Steps between neighbouring numbers of the coarser dtype, to which both are rounded; of
     * elements that are finite in both. */
    struct pe_extreme max_ulp;
    size_t steps[PE_STEPS_BINS];
    size_t nonfinite_actual, nonfinite_expected;
    size_t finite; /* elements that are in both */
    /* Set by pe_comparison_end, over these: sum a e / (sqrt(sum a a) sqrt(sum e e)), NaN where one
     * is all zeros, and the root of the mean of (a - e)^2. The sums are of about 106 bits, in a
     * fixed order, and each is rounded to f64 before the root. */
    double cosine, rms;
    double sum[4], low[4]; /* private */
};

void pe_comparison_begin(struct pe_comparison *comparison, enum pe_dtype actual,
                         enum pe_dtype expected, const struct pe_tolerance *tolerance);
/* The next n elements of both. */
void pe_comparison_add(struct pe_comparison *comparison, const void *actual, const void *expected,
                       size_t n);
void pe_comparison_end(struct pe_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif
