// SPDX-License-Identifier: Apache-2.0
/*
 * test_cis.c: the exact engine against MPFR at 400 bits: every value lies within its bound of the
 * true one, at random, hard, negative, fractional and tiny positions, for all widths of digits and
 * in blocks that begin anywhere. The frequencies are base^(-2k/d), made here.
 */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cis.h"
#include "dd.h"

#define REFERENCE_PRECISION 400
#define POSITION_PRECISION  2200 /* any hi + lo exactly */
#define PAIRS_MAX           256

struct geometric {
    double base;
    size_t dim;
};

static void geometric(const void *context, size_t k, mpfr_t w)
{
    const struct geometric *set = context;
    mpfr_t exponent, power;
    mpfr_init2(exponent, mpfr_get_prec(w) + 64);
    mpfr_init2(power, mpfr_get_prec(w) + 64);
    mpfr_set_si(exponent, -2 * (long)k, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, set->dim, MPFR_RNDN);
    mpfr_set_d(power, set->base, MPFR_RNDN);
    mpfr_pow(power, power, exponent, MPFR_RNDN);
    mpfr_set(w, power, MPFR_RNDN);
    mpfr_clears(exponent, power, (mpfr_ptr)NULL);
}

/* 1 / (k + 1): as many frequencies as one likes at no cost. */
static void harmonic(const void *context, size_t k, mpfr_t w)
{
    (void)context;
    mpfr_set_ui(w, 1, MPFR_RNDN);
    mpfr_div_ui(w, w, k + 1, MPFR_RNDN);
}

/* pi * k: half turns. */
static void half_turns(const void *context, size_t k, mpfr_t w)
{
    (void)context;
    mpfr_const_pi(w, MPFR_RNDN);
    mpfr_mul_ui(w, w, k, MPFR_RNDN);
}

/* The true cosine and sine. */
struct truth {
    mpfr_t w, p, angle, c, s;
};

static void truth_init(struct truth *truth)
{
    mpfr_init2(truth->w, REFERENCE_PRECISION + 64);
    mpfr_init2(truth->p, POSITION_PRECISION);
    mpfr_inits2(REFERENCE_PRECISION + 64, truth->angle, truth->c, truth->s, (mpfr_ptr)NULL);
}

static void truth_clear(struct truth *truth)
{
    mpfr_clears(truth->w, truth->p, truth->angle, truth->c, truth->s, (mpfr_ptr)NULL);
}

/* For the frequency in truth->w. */
static void truth_set(struct truth *truth, struct pe__pos position)
{
    mpfr_set_d(truth->p, position.hi, MPFR_RNDN);
    cr_assert_eq(mpfr_add_d(truth->p, truth->p, position.lo, MPFR_RNDN), 0);
    mpfr_mul(truth->angle, truth->p, truth->w, MPFR_RNDN);
    mpfr_sin_cos(truth->s, truth->c, truth->angle, MPFR_RNDN);
}

static bool is_normalised(double hi, double lo)
{
    return hi + lo == hi;
}

/* |hi + lo - x| <= eps. */
static bool is_within(double hi, double lo, double eps, mpfr_srcptr x)
{
    mpfr_t difference;
    mpfr_init2(difference, REFERENCE_PRECISION + 64);
    mpfr_sub_d(difference, x, hi, MPFR_RNDN);
    mpfr_sub_d(difference, difference, lo, MPFR_RNDN);
    mpfr_abs(difference, difference, MPFR_RNDN);
    bool within = mpfr_cmp_d(difference, eps) <= 0;
    mpfr_clear(difference);
    return within;
}

/* Checks pair i of a row against the frequency in truth->w. */
static void check_pair(struct truth *truth, struct pe__pos position, const struct pe__planes *row,
                       size_t i, double eps, const char *what)
{
    truth_set(truth, position);
    cr_assert(is_within(row->cos_hi[i], row->cos_lo[i], eps, truth->c),
              "%s: cos at %a + %a, pair %zu of the block", what, position.hi, position.lo, i);
    cr_assert(is_within(row->sin_hi[i], row->sin_lo[i], eps, truth->s),
              "%s: sin at %a + %a, pair %zu of the block", what, position.hi, position.lo, i);
    cr_assert(is_normalised(row->cos_hi[i], row->cos_lo[i]) &&
                  is_normalised(row->sin_hi[i], row->sin_lo[i]),
              "%s: lo too large at %a + %a", what, position.hi, position.lo);
}

/* p plus a shift, exactly. */
static struct pe__pos position_sum(double p, double shift)
{
    struct pe__dd sum = pe__two_sum(p, shift);
    return (struct pe__pos){sum.hi, sum.lo};
}

static const double sums[][2] = {
    {1, 0},
    {-1, 0},
    {2, 0},
    {63, 0},
    {64, 0},
    {-65, 0},
    {4095, 0},
    {4096, 0},
    {131071, 0},
    {0x1p53, 0},
    {-0x1p53, 0},
    {0x1p53 - 1, 0},
    {0x1.5555555555555p52, 0},
    {6381956970095103, 0},
    {245850922, 0}, /* near a multiple of pi */
    {-8958937768937, 0},
    {0.1, 0},
    {-1.0 / 3, 0},
    {1234.56789, 0},
    {0x1p-66, 0},
    {-0x1.8p-65, 0},
    {0x1.fffffffffffffp-14, 0},
    {0.1, 1e6},
    {0x1p53, 0.5},
    {0x1p53 - 1, -0x1p-40},
    {-0x1p53, 0x1.23456789abcdep-14},
    {1.0 / 3, 0x1.fffffffffffffp52},
};
#define SUMS_N   (sizeof sums / sizeof *sums)
#define RANDOM_N 60

static uint64_t mix(uint64_t x) /* the finalizer of SplitMix64 */
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The listed positions, then random ones of every size; all multiples of 2^-66. */
static struct pe__pos position_at(size_t i, uint64_t seed)
{
    if (i < SUMS_N)
        return position_sum(sums[i][0], sums[i][1]);
    uint64_t bits = mix(seed * 1000003 + i);
    double p = ldexp((double)(bits >> 11), -(int)(bits % 67));
    return position_sum(bits & 128 ? -p : p, 0);
}

static uint32_t all_groups(uint64_t seed)
{
    uint32_t groups = 0;
    for (size_t i = 0; i < SUMS_N + RANDOM_N; i++)
        groups |= pe__groups(position_at(i, seed));
    return groups;
}

/* All positions at the pairs [first, first + n), n <= PE__BLOCK. */
static void check_block(const struct pe__cis *cis, pe__frequency_fn *frequency, const void *context,
                        size_t first, size_t n, uint64_t seed, const char *what)
{
    static struct pe__planes row[SUMS_N + RANDOM_N];
    double eps[SUMS_N + RANDOM_N];
    struct pe__walk walk = {.valid = false};
    for (size_t i = 0; i < SUMS_N + RANDOM_N; i++) {
        eps[i] = pe__cis_row(cis, &walk, position_at(i, seed), first, n, &row[i]);
        cr_assert(eps[i] > 0 && eps[i] < 0x1p-94, "%s: eps %a", what, eps[i]);
    }
    struct truth truth;
    truth_init(&truth);
    for (size_t k = 0; k < n; k++) {
        frequency(context, first + k, truth.w);
        for (size_t i = 0; i < SUMS_N + RANDOM_N; i++)
            check_pair(&truth, position_at(i, seed), &row[i], k, eps[i], what);
    }
    truth_clear(&truth);
}

Test(cis, values_lie_within_their_bounds)
{
    static const double bases[] = {1e2, 1e4, 5e5, 1e8, 1e12};
    static const size_t dims[] = {2, 8, 34, 64, 128};
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
            struct geometric set = {bases[b], dims[d]};
            uint64_t seed = b * 100 + d;
            char what[64];
            snprintf(what, sizeof what, "base %g, d %zu", bases[b], dims[d]);
            struct pe__cis *cis =
                pe__cis_new(geometric, &set, PE__RADIANS, dims[d] / 2, all_groups(seed));
            cr_assert_not_null(cis);
            check_block(cis, geometric, &set, 0, dims[d] / 2, seed, what);
            pe__cis_free(cis);
        }
    }
}

/* d = 512 has two blocks of tables; a block of a row may begin anywhere and take from both. */
Test(cis, blocks_may_begin_anywhere)
{
    static const struct {
        size_t first, n;
    } blocks[] = {{0, 128}, {128, 128}, {1, 5}, {127, 1}, {100, 128}, {121, 20}, {250, 6}};
    struct geometric set = {1e4, 512};
    struct pe__cis *cis = pe__cis_new(geometric, &set, PE__RADIANS, PAIRS_MAX, all_groups(7));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        check_block(cis, geometric, &set, blocks[i].first, blocks[i].n, 7, "d 512");
    pe__cis_free(cis);
}

/* More pairs than 64-entry tables have room for: digits of 3 bits, then of 1 bit. */
Test(cis, narrow_digits_keep_the_bounds)
{
    static const struct {
        size_t n;
        uint32_t groups;
        size_t entries; /* per group */
        const char *what;
    } sizes[] = {
        {4000, (1 << PE__GROUPS_N) - 1, 2 * 7, "digits of 3 bits"},
        {15000, (1 << PE__GROUPS_N) - 1, 6, "digits of 1 bit"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i].n;
        struct pe__cis *cis = pe__cis_new(harmonic, NULL, PE__RADIANS, n, sizes[i].groups);
        size_t table_bytes = n * PE__GROUPS_N * sizes[i].entries * 4 * sizeof(double);
        cr_assert_geq(pe__cis_bytes(cis), table_bytes, "%s", sizes[i].what);
        cr_assert_lt(pe__cis_bytes(cis), table_bytes + table_bytes / 8, "%s", sizes[i].what);
        check_block(cis, harmonic, NULL, 0, 9, 3, sizes[i].what);
        check_block(cis, harmonic, NULL, n - 9, 9, 4, sizes[i].what);
        check_block(cis, harmonic, NULL, 1277, 9, 5, sizes[i].what);
        pe__cis_free(cis);
    }
}

Test(cis, bound_is_proportional_to_the_bits)
{
    struct pe__cis *cis = pe__cis_new(harmonic, NULL, PE__RADIANS, 1, 3 << 11);
    for (unsigned p = 1; p < 4096; p++) {
        struct pe__walk walk = {.valid = false};
        struct pe__planes row;
        double eps = pe__cis_row(cis, &walk, (struct pe__pos){p, 0}, 0, 1, &row);
        unsigned odd = p; /* its bits are those from the first to the last set */
        while (odd % 2 == 0)
            odd /= 2;
        int bits = 0;
        for (; odd != 0; odd /= 2)
            bits++;
        cr_assert_eq(eps, 18 * 0x1p-106 * bits, "at %u", p);
        cr_assert_leq(eps, 0x1p-98);
    }
    pe__cis_free(cis);
}

static void assert_same_row(const struct pe__planes *a, const struct pe__planes *b, size_t n,
                            double p)
{
    size_t size = n * sizeof(double);
    cr_assert(memcmp(a->cos_hi, b->cos_hi, size) == 0 && memcmp(a->cos_lo, b->cos_lo, size) == 0 &&
                  memcmp(a->sin_hi, b->sin_hi, size) == 0 &&
                  memcmp(a->sin_lo, b->sin_lo, size) == 0,
              "rows differ at %a", p);
}

/* A walk that has been anywhere before gives the same as a fresh one. */
Test(cis, walks_do_not_show_where_they_were)
{
    static const struct {
        double first, step;
    } walks[] = {{-200, 1}, {0, 0.25}, {5000, -1}, {0, 64}, {1e6, 4097}, {3, 0}, {0, 0.1}};
    enum { N = 20 };
    struct geometric set = {1e4, 2 * N};
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++) {
        uint32_t groups = 0;
        for (int i = 0; i < 500; i++)
            groups |= pe__groups((struct pe__pos){walks[w].first + i * walks[w].step, 0});
        struct pe__cis *cis = pe__cis_new(geometric, &set, PE__RADIANS, N, groups);
        struct pe__walk walk = {.valid = false};
        for (int i = 0; i < 500; i++) {
            double p = walks[w].first + i * walks[w].step;
            struct pe__walk fresh = {.valid = false};
            struct pe__planes a;
            struct pe__planes b;
            double eps = pe__cis_row(cis, &walk, (struct pe__pos){p, 0}, 0, N, &a);
            cr_assert_eq(pe__cis_row(cis, &fresh, (struct pe__pos){p, 0}, 0, N, &b), eps);
            assert_same_row(&a, &b, N, p);
        }
        pe__cis_free(cis);
    }
}

Test(cis, position_zero_is_exact)
{
    static const double zeros[][2] = {{0, 0}, {-0.0, 0}, {5, -5}, {-0.5, 0.5}};
    struct geometric set = {1e4, 8};
    for (uint32_t groups = 0; groups < 2; groups++) {
        struct pe__cis *cis = pe__cis_new(geometric, &set, PE__RADIANS, 4, groups << 11);
        for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
            struct pe__walk walk = {.valid = false};
            struct pe__planes row;
            struct pe__pos position = position_sum(zeros[i][0], zeros[i][1]);
            cr_assert_eq(pe__cis_row(cis, &walk, position, 0, 4, &row), 0);
            for (size_t k = 0; k < 4; k++) {
                cr_assert(row.cos_hi[k] == 1 && row.cos_lo[k] == 0);
                cr_assert(row.sin_hi[k] == 0 && row.sin_lo[k] == 0 && !signbit(row.sin_hi[k]));
            }
        }
        pe__cis_free(cis);
    }
}

/* Positions that are no multiples of 2^-66, too large, or have digits that the plan has not. */
Test(cis, other_positions_take_the_slow_path)
{
    static const double slow[][2] = {
        {1e-300, 0},       {-1e-300, 0},
        {DBL_TRUE_MIN, 0}, {-0x1p-67, 0},
        {0x1.8p-66, 0},    {1e-30, 0},
        {64, 0},           {0.5, 0},
        {0x1p54, 0},       {-0x1p54, 0},
        {1, 1e-300},       {1, 0x1p-70},
        {0x1p53, -1e-300}, {0x1p53, DBL_TRUE_MIN},
    };
    struct geometric set = {1e4, 16};
    struct pe__cis *cis = pe__cis_new(geometric, &set, PE__RADIANS, 8, 1 << 11);
    struct truth truth;
    truth_init(&truth);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        struct pe__pos position = position_sum(slow[i][0], slow[i][1]);
        struct pe__walk walk = {.valid = false};
        struct pe__planes row;
        double eps = pe__cis_row(cis, &walk, position, 2, 6, &row);
        cr_assert(eps > 0 && eps < 0x1p-100);
        for (size_t k = 0; k < 6; k++) {
            geometric(&set, 2 + k, truth.w);
            check_pair(&truth, position, &row, k, eps, "slow path");
        }
    }
    truth_clear(&truth);
    pe__cis_free(cis);
}

Test(cis, groups_are_the_digits_that_occur)
{
    static const struct {
        struct pe__pos position;
        uint32_t groups;
    } rows[] = {
        {{0, 0}, 0},
        {{1, 0}, 1 << 11},
        {{-63, 0}, 1 << 11},
        {{64, 0}, 1 << 12},
        {{65, 0}, 3 << 11},
        {{0.5, 0}, 1 << 10},
        {{0x1p-66, 0}, 1},
        {{-0x1p-61, 0}, 1},
        {{0x1p-60, 0}, 2},
        {{0x1p53, 0}, 1 << 19},
        {{0x1p53, -1}, 0x1ff << 11}, /* 53 ones, 48 in eight groups and 5 above */
        {{0x1p53, 0x1p-66}, 1 << 19 | 1},
        {{0x1.fffffffffffffp53, 0}, 0x1ff << 11},
        {{0x1p54, 0}, 1 << PE__GROUPS_N},
        {{0x1p-67, 0}, 1 << PE__GROUPS_N},
        {{0x1.8p-66, 0}, 1 << PE__GROUPS_N},
        {{1, 0x1p-67}, 1 << PE__GROUPS_N},
        {{1e-300, 0}, 1 << PE__GROUPS_N},
        {{DBL_TRUE_MIN, 0}, 1 << PE__GROUPS_N},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(pe__groups(rows[i].position), rows[i].groups, "row %zu: %#x", i,
                     pe__groups(rows[i].position));
    struct pe__cis *cis = pe__cis_new(harmonic, NULL, PE__RADIANS, 3, 5 << 11 | 1 << PE__GROUPS_N);
    cr_assert_eq(pe__cis_groups(cis), 5 << 11 | 1 << PE__GROUPS_N);
    pe__cis_free(cis);
}

/* |x - truth| <= 2^(4 - precision) |truth|. */
static bool is_relatively_near(mpfr_srcptr x, mpfr_srcptr truth)
{
    mpfr_t difference, bound;
    mpfr_inits2(REFERENCE_PRECISION, difference, bound, (mpfr_ptr)NULL);
    mpfr_sub(difference, x, truth, MPFR_RNDN);
    mpfr_mul_2si(bound, truth, 4 - (long)mpfr_get_prec(x), MPFR_RNDN);
    bool near = mpfr_cmpabs(difference, bound) <= 0;
    mpfr_clears(difference, bound, (mpfr_ptr)NULL);
    return near;
}

Test(cis, exact_values_have_the_precision_asked_for)
{
    static const mpfr_prec_t precisions[] = {53, 96, 192, 300};
    struct geometric set = {1e4, 64};
    struct pe__cis *cis = pe__cis_new(geometric, &set, PE__RADIANS, 32, 0);
    struct truth truth;
    truth_init(&truth);
    for (size_t k = 0; k < 32; k += 6) {
        geometric(&set, k, truth.w);
        for (size_t i = 0; i < SUMS_N + RANDOM_N; i++) {
            struct pe__pos position = position_at(i, 11);
            truth_set(&truth, position);
            for (size_t j = 0; j < sizeof precisions / sizeof *precisions; j++) {
                mpfr_t c, s;
                mpfr_inits2(precisions[j], c, s, (mpfr_ptr)NULL);
                pe__cis_exact(cis, position, k, c, NULL);
                pe__cis_exact(cis, position, k, NULL, s);
                cr_assert(is_relatively_near(c, truth.c), "cos at %a, k %zu", position.hi, k);
                cr_assert(is_relatively_near(s, truth.s), "sin at %a, k %zu", position.hi, k);
                mpfr_t both;
                mpfr_init2(both, precisions[j]);
                pe__cis_exact(cis, position, k, c, both);
                cr_assert(mpfr_equal_p(s, both));
                mpfr_clears(c, s, both, (mpfr_ptr)NULL);
            }
        }
    }
    truth_clear(&truth);
    pe__cis_free(cis);
}

/* Multiples of a quarter turn have components 0 that no precision can tell from 0. */
Test(cis, exact_zeros_are_zero)
{
    static const struct {
        double p;
        size_t k;
        int c, s;
    } rows[] = {{3, 0, 1, 0},   {-3, 0, 1, 0},   {1, 1, -1, 0},    {2, 1, 1, 0},
                {0.5, 1, 0, 1}, {-1.5, 1, 0, 1}, {-0.5, 1, 0, -1}, {0x1p53, 2, 1, 0}};
    struct pe__cis *cis = pe__cis_new(half_turns, NULL, PE__RADIANS, 3, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mpfr_t c, s;
        mpfr_inits2(96, c, s, (mpfr_ptr)NULL);
        pe__cis_exact(cis, (struct pe__pos){rows[i].p, 0}, rows[i].k, c, s);
        cr_assert_eq(mpfr_get_d(c, MPFR_RNDN), rows[i].c, "cos in row %zu", i);
        cr_assert_eq(mpfr_get_d(s, MPFR_RNDN), rows[i].s, "sin in row %zu", i);
        cr_assert(mpfr_sgn(c) != 0 || !mpfr_signbit(c), "cos in row %zu is -0", i);
        cr_assert(mpfr_sgn(s) != 0 || !mpfr_signbit(s), "sin in row %zu is -0", i);
        mpfr_clears(c, s, (mpfr_ptr)NULL);
    }
    pe__cis_free(cis);
}

Test(cis, no_pairs_are_fine)
{
    struct pe__cis *cis = pe__cis_new(harmonic, NULL, PE__RADIANS, 0, 1 << 11);
    cr_assert_not_null(cis);
    struct pe__walk walk = {.valid = false};
    struct pe__planes row;
    cr_assert_gt(pe__cis_row(cis, &walk, (struct pe__pos){1, 0}, 0, 0, &row), 0);
    pe__cis_free(cis);
    pe__cis_free(NULL);
}
