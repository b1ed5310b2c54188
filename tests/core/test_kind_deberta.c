// SPDX-License-Identifier: Apache-2.0
/*
 * deberta: buckets against exact powers of integers, at edges that are integers themselves and
 * around all others, and far beyond the largest distance.
 */
#include <criterion/criterion.h>
#include <mpfr.h>
#include <stdio.h>

#include "plan_from.h"

#define N(array) (sizeof(array) / sizeof *(array))

static int64_t bucket_of(const struct pe_plan *plan, double relative)
{
    const double key = 0;
    struct pe_positions queries = positions_of(&relative, 1), keys = positions_of(&key, 1);
    int64_t bucket;
    pe_buckets(plan, &queries, &keys, &bucket);
    return bucket;
}

static struct pe_plan *deberta_plan(int buckets, int max_distance)
{
    static const double zero[] = {0};
    struct pe_positions positions = positions_of(zero, 1);
    char text[80];
    snprintf(text, sizeof text, "deberta:dim=1,buckets=%d,max_distance=%d", buckets, max_distance);
    return plan_from(text, &positions);
}

/* The least j with a^(middle-1) middle^j <= top^j middle^(middle-1), all four exact. */
static int64_t ref_far(unsigned long a, unsigned long middle, unsigned long top)
{
    mpfr_t left, right;
    mpfr_inits2(60000, left, right, (mpfr_ptr)0);
    mpfr_ui_pow_ui(left, a, middle - 1, MPFR_RNDN);
    mpfr_ui_pow_ui(right, middle, middle - 1, MPFR_RNDN);
    int64_t j = 0;
    for (; mpfr_cmp(left, right) > 0; j++) {
        mpfr_mul_ui(left, left, middle, MPFR_RNDN);
        mpfr_mul_ui(right, right, top, MPFR_RNDN);
    }
    mpfr_clears(left, right, (mpfr_ptr)0);
    return j;
}

Test(deberta, decides_buckets_by_exact_powers)
{
    static const struct {
        int buckets, max_distance;
    } rules[] = {{256, 512}, {16, 1025}, {10, 100}, {6, 5}, {2, 3}, {5, 163}, {32, 18}};
    for (size_t r = 0; r < N(rules); r++) {
        struct pe_plan *plan = deberta_plan(rules[r].buckets, rules[r].max_distance);
        int64_t middle = rules[r].buckets / 2, top = rules[r].max_distance - 1;
        for (int64_t a = 0; a <= 2 * top; a += a < 200 || a > top - 3 ? 1 : 13) {
            int64_t wanted = a <= middle ? a
                                         : middle + ref_far((unsigned long)a, (unsigned long)middle,
                                                            (unsigned long)top);
            cr_assert_eq(bucket_of(plan, (double)a), wanted, "%d to %d, distance %d: %d, wanted %d",
                         rules[r].buckets, rules[r].max_distance, (int)a,
                         (int)bucket_of(plan, (double)a), (int)wanted);
            cr_assert_eq(bucket_of(plan, -(double)a), -wanted);
        }
        pe_plan_free(plan);
    }
}

/* 8 * 2^j is the last distance of bucket 8 + j. */
Test(deberta, has_edges_on_integers)
{
    struct pe_plan *plan = deberta_plan(16, 1025);
    for (int64_t j = 1; j <= 49; j++) {
        double edge = (double)(8LL << j);
        cr_expect_eq(bucket_of(plan, edge), 8 + j, "2^%d", (int)j + 3);
        cr_expect_eq(bucket_of(plan, edge + 1), 9 + j, "2^%d + 1", (int)j + 3);
        cr_expect_eq(bucket_of(plan, -edge), -8 - j);
    }
    pe_plan_free(plan);
}

Test(deberta, has_no_buckets_in_its_first_version)
{
    struct pe_plan *plan = deberta_plan(-1, 4);
    cr_expect_eq(bucket_of(plan, 600), 600);
    cr_expect_eq(bucket_of(plan, -3), -3);
    pe_plan_free(plan);
}
