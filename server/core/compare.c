// SPDX-License-Identifier: Apache-2.0
/*
 * compare.c: two arrays, block after block. The kernels say what there is in a block; here is where
 * the first of its kind stands, and how sums of blocks become one: lane by lane, in their order.
 */
#include <math.h>

#include "dd.h"
#include "dtype.h"
#include "kernels.h"

enum { SUM_PRODUCTS, SUM_ACTUAL, SUM_EXPECTED, SUM_SQUARES, SUMS_N };

enum pe_dtype pe_dtype_coarser(enum pe_dtype a, enum pe_dtype b)
{
    return a > b ? a : b; /* they stand in this order */
}

struct pe_tolerance pe_tolerance_of(enum pe_dtype coarser)
{
    static const double relative[] = {
        [PE_F64] = 1e-7, [PE_F32] = 1.3e-6, [PE_F16] = 1e-3, [PE_BF16] = 1.6e-2};
    return (struct pe_tolerance){.relative = relative[coarser],
                                 .absolute = coarser == PE_F64 ? 1e-7 : 1e-5};
}

void pe_comparison_begin(struct pe_comparison *comparison, enum pe_dtype actual,
                         enum pe_dtype expected, const struct pe_tolerance *tolerance)
{
    *comparison = (struct pe_comparison){
        .actual = actual,
        .expected = expected,
        .coarser = pe_dtype_coarser(actual, expected),
        .tolerance = *tolerance,
    };
}

/* ---- Where ---------------------------------------------------------------------------------- */

static size_t find_apart(const struct pe__compare_rows *rows, double value)
{
    size_t i = 0;
    while (rows->apart[i] != value)
        i++;
    return i;
}

/* Divided as the kernel does. */
static size_t find_share(const struct pe__compare_rows *rows, double value)
{
    size_t i = 0;
    while (isinf(value) ? !(rows->apart[i] > 0 && (rows->e[i] == 0 || isinf(rows->apart[i])))
                        : rows->apart[i] / fabs(rows->e[i]) != value)
        i++;
    return i;
}

static size_t find_steps(const struct pe__compare_rows *rows, uint64_t value)
{
    size_t i = 0;
    while (rows->steps[i] != value)
        i++;
    return i;
}

/* The first of several that are equal stays. */
static bool grows(const struct pe_extreme *most, double value)
{
    return value > most->value;
}

static void take_largest(struct pe_comparison *c, const struct pe__compare_rows *rows,
                         const struct pe__compare_block *block)
{
    if (grows(&c->max_abs, block->max_abs))
        c->max_abs =
            (struct pe_extreme){block->max_abs, c->elements + find_apart(rows, block->max_abs)};
    if (grows(&c->max_rel, block->max_rel))
        c->max_rel =
            (struct pe_extreme){block->max_rel, c->elements + find_share(rows, block->max_rel)};
    if (grows(&c->max_ulp, (double)block->max_steps))
        c->max_ulp = (struct pe_extreme){(double)block->max_steps,
                                         c->elements + find_steps(rows, block->max_steps)};
}

/* ---- Sums ----------------------------------------------------------------------------------- */

/* sum + low += x. */
static void add(double *sum, double *low, double x)
{
    struct pe__dd s = pe__two_sum(*sum, x);
    *sum = s.hi;
    *low += s.lo;
}

/* Without f64 nothing is too large; beside it one number that is leaves the sum without a value. */
static void take_sums(struct pe_comparison *c, const struct pe__compare_rows *rows, size_t n,
                      const struct pe__compare_sums *sums)
{
    bool wide = c->actual == PE_F64 || c->expected == PE_F64;
    for (size_t k = 0; k < SUMS_N; k++)
        for (size_t lane = 0; lane < PE__COMPARE_LANES; lane++) {
            add(&c->sum[k], &c->low[k], sums->sum[k][lane]);
            c->low[k] += sums->low[k][lane];
        }
    for (size_t i = 0; wide && i < n; i++)
        for (size_t k = 0; k < 2; k++) {
            double size = fabs(k == 0 ? rows->a[i] : rows->e[i]);
            if (size > PE__COMPARE_MOST && isfinite(size))
                c->low[SUM_SQUARES] = c->low[SUM_PRODUCTS] = __builtin_nan("");
        }
}

void pe_comparison_add(struct pe_comparison *comparison, const void *actual, const void *expected,
                       size_t n)
{
    const struct pe_tolerance *tolerance = &comparison->tolerance;
    struct pe__compare_rule rule = {comparison->actual,  comparison->expected, comparison->coarser,
                                    tolerance->relative, tolerance->absolute,  0,
                                    tolerance->equal_nan};
    struct pe__compare_rows rows;
    struct pe__compare_block block;
    if (tolerance->steps)
        rule.steps_end = tolerance->max_ulp < UINT64_MAX ? tolerance->max_ulp + 1 : UINT64_MAX;
    for (size_t first = 0; first < n; first += PE__COMPARE_BLOCK) {
        size_t some = n - first < PE__COMPARE_BLOCK ? n - first : PE__COMPARE_BLOCK;
        pe__kernels()->compare(&rule, actual, expected, first, some, &rows, &block);
        take_largest(comparison, &rows, &block);
        take_sums(comparison, &rows, some, &block.sums);
        for (size_t i = 0; block.far > 0 && comparison->mismatched == 0; i++)
            if (rows.far[i]) {
                comparison->first_mismatch = comparison->elements + i;
                break;
            }
        comparison->mismatched += block.far;
        comparison->nonfinite_actual += block.nonfinite_a;
        comparison->nonfinite_expected += block.nonfinite_e;
        comparison->finite += block.finite;
        for (size_t bin = 0; bin < PE_STEPS_BINS; bin++)
            comparison->steps[bin] += block.steps[bin];
        comparison->elements += some;
    }
}

void pe_comparison_end(struct pe_comparison *comparison)
{
    double total[SUMS_N];
    for (size_t k = 0; k < SUMS_N; k++)
        total[k] = comparison->sum[k] + comparison->low[k];
    double lengths = sqrt(total[SUM_ACTUAL]) * sqrt(total[SUM_EXPECTED]);
    comparison->cosine = lengths > 0 ? total[SUM_PRODUCTS] / lengths : __builtin_nan("");
    comparison->rms = comparison->finite > 0 ? sqrt(total[SUM_SQUARES] / (double)comparison->finite)
                                             : __builtin_nan("");
}
