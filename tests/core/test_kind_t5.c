// SPDX-License-Identifier: Apache-2.0
/*
 * t5: buckets against those that transformers gave, edges against exact powers, values by bucket
 * and head.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>

#include "golden_t5.h"
#include "plan_from.h"

#define N(array) (sizeof(array) / sizeof *(array))

static const double zero[] = {0};

static struct pe_plan *t5_plan(int buckets, double max_distance, bool bidirectional)
{
    char text[120];
    snprintf(text, sizeof text, "t5:buckets=%d,max_distance=%.0f,bidirectional=%d", buckets,
             max_distance, bidirectional);
    struct pe_positions positions = positions_of(zero, 1);
    return plan_from(text, &positions);
}

/* Bucket of a relative position, key - query, with the query at different places. */
static int64_t bucket_of(const struct pe_plan *plan, double relative)
{
    double query = relative > 0 ? -3 : 5, key = query + relative;
    struct pe_positions queries = positions_of(&query, 1), keys = positions_of(&key, 1);
    int64_t bucket;
    pe_buckets(plan, &queries, &keys, &bucket);
    return bucket;
}

Test(t5, has_the_buckets_that_transformers_gave)
{
    for (size_t c = 0; c < N(golden_t5); c++) {
        const struct golden_t5 *golden = &golden_t5[c];
        struct pe_plan *plan =
            t5_plan(golden->buckets, golden->max_distance, golden->bidirectional);
        for (size_t i = 0; i < golden->n; i++) {
            long end = i + 1 < golden->n ? golden->at[i + 1].relative : golden->last + 1;
            if (!golden->dense)
                end = golden->at[i].relative + 1;
            for (long relative = golden->at[i].relative; relative < end; relative++)
                cr_assert_eq(bucket_of(plan, (double)relative), golden->at[i].bucket,
                             "%d buckets to %d, relative %ld: %ld", golden->buckets,
                             golden->max_distance, relative,
                             (long)bucket_of(plan, (double)relative));
        }
        pe_plan_free(plan);
    }
}

/* The rule with exact powers: how many j have a^far * near^j >= max^j * near^far. */
static int64_t ref_far_bucket(size_t near, size_t far, double max_distance, double a)
{
    mpfr_t left, right;
    mpfr_inits2(60000, left, right, (mpfr_ptr)0);
    mpfr_set_d(left, a, MPFR_RNDN);
    mpfr_pow_ui(left, left, far, MPFR_RNDN);
    mpfr_ui_pow_ui(right, near, far, MPFR_RNDN);
    int64_t j = 0;
    for (; j + 1 < (int64_t)far; j++) {
        mpfr_mul_ui(left, left, near, MPFR_RNDN);
        mpfr_mul_d(right, right, max_distance, MPFR_RNDN);
        if (mpfr_cmp(left, right) < 0)
            break;
    }
    mpfr_clears(left, right, (mpfr_ptr)0);
    return (int64_t)near + j;
}

/* Around every edge, also where the edge is an integer exactly (max/near a power of 2). */
Test(t5, draws_its_edges_by_integers)
{
    static const struct {
        int buckets;
        double max_distance;
    } cases[] = {{32, 128}, {32, 16384}, {64, 0x1p53}, {8, 5},   {2, 2},       {3, 2},     {5, 100},
                 {6, 24},   {12, 4374},  {16, 8192},   {9, 1e9}, {100, 12345}, {512, 4096}};
    for (size_t c = 0; c < N(cases); c++) {
        size_t near = (size_t)cases[c].buckets / 2, far = (size_t)cases[c].buckets - near;
        double max_distance = cases[c].max_distance;
        struct pe_plan *plan = t5_plan(cases[c].buckets, max_distance, false);
        for (size_t j = 0; j < far; j += 1 + (far > 40) * 17) {
            double ratio = max_distance / (double)near;
            double edge = floor((double)near * pow(ratio, (double)j / (double)far));
            for (double a = fmax(edge - 2, (double)near); a <= edge + 2; a++)
                cr_assert_eq(bucket_of(plan, -a), ref_far_bucket(near, far, max_distance, a),
                             "%d buckets to %.0f, distance %.0f: %ld", cases[c].buckets,
                             max_distance, a, (long)bucket_of(plan, -a));
        }
        cr_assert_eq(bucket_of(plan, -0x1p53), cases[c].buckets - 1);
        cr_assert_eq(bucket_of(plan, 7), 0, "keys after the query");
        pe_plan_free(plan);
    }
}

Test(t5, looks_values_up_by_bucket_and_head)
{
    static const double at[] = {0, 1, 40};
    static const double table[] = {10, 11, 20, 21, 30, 31, 40, 41};
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("t5:max_distance=10", &spec, &faults));
    spec.table = table;
    spec.table_rows = 4;
    spec.table_cols = 2;
    cr_assert(pe_spec_finish(&spec, &faults), "%s", faults.item[0].detail);
    struct pe_positions positions = positions_of(at, 3);
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    double got[18];
    pe_bias(plan, &positions, &positions, 0, 2, PE_F64, got);
    static const double wanted[] = {10, 10, 10, 20, 10, 10, 40, 40, 10,
                                    11, 11, 11, 21, 11, 11, 41, 41, 11};
    for (size_t i = 0; i < N(wanted); i++)
        cr_assert(got[i] == wanted[i], "element %zu: %g", i, got[i]);
    pe_plan_free(plan);
    pe_spec_release(&spec);
}
