// SPDX-License-Identifier: Apache-2.0
/*
 * test_exact.c: more than two million cosines and sines in each dtype against MPFR, bit for bit:
 * random and hard positions (to 2^53, fractional, negative, tiny, next to multiples of a quarter
 * turn, powers of two), bases 1e2 to 1e8, widths 2 to 512. And exact.c's sums, which may cancel.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/plan_from.h"
#include "exact.h"
#include "ref/ref_trig.h"

#ifndef VALUES_MIN /* per dtype; make test-exhaustive takes more */
#define VALUES_MIN 2000000
#endif
#define POSITIONS_N 56
#define PAIRS_MAX   256
#define ANGLE_BITS  200 /* 53 before the point, 147 behind */
#define VALUE_BITS  80
#define SURE_BITS   76
#define SLOW_BITS   1200

static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};

static uint64_t draw(uint64_t *k)
{
    return pe_draw(2, "exact", ++*k);
}

static double draw_unit(uint64_t *k)
{
    return (double)(draw(k) >> 11) * 0x1p-53;
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* Numerators of convergents of pi/2: their sine or cosine is tiny where w = 1. */
static const double quarter_turns[] = {3,
                                       11,
                                       22,
                                       333,
                                       355,
                                       51819,
                                       52174,
                                       103993,
                                       104348,
                                       260515,
                                       573204,
                                       4846147,
                                       5419351,
                                       37362253,
                                       42781604,
                                       122925461,
                                       165707065,
                                       534483448,
                                       1068966896,
                                       3083975227.0,
                                       4.0,
                                       21053343141,
                                       6134899525417045.0};
#define QUARTER_TURNS_N (sizeof quarter_turns / sizeof quarter_turns[0])

/* One position of each sort in turn. */
static double draw_position(size_t sort, uint64_t *k)
{
    uint64_t bits = draw(k);
    double sign = bits & 1 ? -1 : 1;
    switch (sort % 8) {
    case 0:
        return (double)(bits >> 52);
    case 1:
        return sign * (double)(bits >> 11); /* up to 2^53 */
    case 2:
        return sign * (double)(bits >> (11 + draw(k) % 53));
    case 3:
        return sign * ldexp((double)(bits >> 32), -(int)(draw(k) % 64)); /* on the grid */
    case 4:
        return sign * (draw_unit(k) + 0x1p-60) * (double)(1 << (draw(k) % 20));
    case 5:
        return sign * ldexp(1 + draw_unit(k), -(int)(draw(k) % 1020)); /* tiny */
    case 6:
        return sign * ldexp(1, (int)(draw(k) % 106) - 52);
    default:
        return sign * quarter_turns[bits / 2 % QUARTER_TURNS_N];
    }
}

/* ---- Comparison --------------------------------------------------------------------------- */

struct batch {
    double base;
    size_t d;
    double at[POSITIONS_N];
    void *cosine[4], *sine[4]; /* by dtype */
    mpfr_t w[PAIRS_MAX];
};

static size_t values_n;
static size_t wrong_n;

static void compare(const struct batch *batch, size_t token, size_t pair, bool is_sine,
                    mpfr_srcptr y)
{
    size_t element = token * (batch->d / 2) + pair;
    for (size_t t = 0; t < 4; t++) {
        double margin;
        double expected = ref_round_margin(dtypes[t], y, &margin);
        /* Off by 2^-SURE_BITS of its size, at most 2^(format's bits) units. */
        if (margin <= ldexp(1, (int)ref_formats[dtypes[t]].bits - SURE_BITS)) {
            mpfr_t c;
            mpfr_t s;
            mpfr_inits2(SLOW_BITS, c, s, (mpfr_ptr)NULL);
            ref_cos_sin((struct ref_pair){batch->base, pair, batch->d}, batch->at[token], c, s);
            expected = ref_round(dtypes[t], is_sine ? s : c);
            mpfr_clears(c, s, (mpfr_ptr)NULL);
        }
        const void *got_in = is_sine ? batch->sine[t] : batch->cosine[t];
        double got = pe_load(dtypes[t], got_in, element);
        if (got == expected && signbit(got) == signbit(expected))
            continue;
        if (++wrong_n <= 20)
            cr_expect(false, "%s %s base %a d %zu position %a pair %zu: %a, not %a",
                      pe_dtype_name(dtypes[t]), is_sine ? "sin" : "cos", batch->base, batch->d,
                      batch->at[token], pair, got, expected);
    }
    values_n++;
}

static void compare_batch(struct batch *batch)
{
    mpfr_t angle;
    mpfr_t c;
    mpfr_t s;
    mpfr_init2(angle, ANGLE_BITS);
    mpfr_inits2(VALUE_BITS, c, s, (mpfr_ptr)NULL);
    for (size_t pair = 0; pair < batch->d / 2; pair++)
        ref_frequency(batch->w[pair], batch->base, 2 * pair, batch->d);
    for (size_t token = 0; token < POSITIONS_N; token++)
        for (size_t pair = 0; pair < batch->d / 2; pair++) {
            mpfr_mul_d(angle, batch->w[pair], batch->at[token], MPFR_RNDN);
            mpfr_sin_cos(s, c, angle, MPFR_RNDN);
            compare(batch, token, pair, false, c);
            compare(batch, token, pair, true, s);
        }
    mpfr_clears(angle, c, s, (mpfr_ptr)NULL);
}

static void run_batch(struct batch *batch)
{
    char text[80];
    snprintf(text, sizeof text, "rope:dim=%zu,base=%.17g", batch->d, batch->base);
    struct pe_positions positions = positions_of(batch->at, POSITIONS_N);
    struct pe_plan *plan = plan_from(text, &positions);
    for (size_t t = 0; t < 4; t++)
        pe_cos_sin(plan, &positions, dtypes[t], batch->cosine[t], batch->sine[t]);
    pe_plan_free(plan);
    compare_batch(batch);
}

Test(exact, every_value_is_correctly_rounded)
{
    static const double bases[] = {1e2, 1e3, 1e4, 5e5, 1e6, 1e7, 1e8};
    static struct batch batch;
    for (size_t t = 0; t < 4; t++) {
        batch.cosine[t] = malloc(POSITIONS_N * PAIRS_MAX * sizeof(double));
        batch.sine[t] = malloc(POSITIONS_N * PAIRS_MAX * sizeof(double));
    }
    for (size_t pair = 0; pair < PAIRS_MAX; pair++)
        mpfr_init2(batch.w[pair], ANGLE_BITS);
    uint64_t k = 0;
    for (size_t round = 0; values_n < VALUES_MIN; round++) {
        batch.d = round % 8 == 7 ? 512 : 2 + 2 * (draw(&k) % 255);
        batch.base = round % 2 ? pow(10, 2 + 6 * draw_unit(&k)) : bases[draw(&k) % 7];
        for (size_t i = 0; i < POSITIONS_N; i++)
            batch.at[i] = draw_position(i, &k);
        run_batch(&batch);
    }
    cr_expect_geq(values_n, VALUES_MIN);
    cr_expect_eq(wrong_n, 0, "%zu of %zu values", wrong_n, 4 * values_n);
    for (size_t t = 0; t < 4; t++) {
        free(batch.cosine[t]);
        free(batch.sine[t]);
    }
    for (size_t pair = 0; pair < PAIRS_MAX; pair++)
        mpfr_clear(batch.w[pair]);
}

/* ---- Sums --------------------------------------------------------------------------------- */

/* Terms of a sum: doubles, or sines of them. */
struct terms {
    size_t n;
    double x[4];
    bool sines;
};

static void term_exact(const void *context, size_t i, mpfr_t y)
{
    const struct terms *terms = context;
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, terms->x[i], MPFR_RNDN);
    if (terms->sines)
        mpfr_sin(y, x, MPFR_RNDN);
    else
        mpfr_set(y, x, MPFR_RNDN);
    mpfr_clear(x);
}

static double exact_sum(const struct terms *terms)
{
    mpfr_t y;
    mpfr_init2(y, 64);
    pe__exact_sum(term_exact, terms, terms->n, y);
    double sum = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    return sum;
}

Test(exact, sums_that_cancel)
{
    static const struct {
        struct terms terms;
        double sum;
    } cases[] = {
        {{0, {0}, false}, 0},
        {{2, {0, -0.0}, false}, 0},
        {{3, {1e300, 1e-300, -1e300}, false}, 1e-300},
        {{4, {1, 0x1p-1074, -1, 0x1p-1074}, false}, 0x1p-1073},
        {{2, {3, -3}, false}, 0},
        {{2, {3, -3}, true}, 0},
        {{3, {2, 1e-200, -2}, true}, 1e-200},
        {{2, {1, INFINITY}, false}, INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(exact_sum(&cases[i].terms), cases[i].sum, "%zu: %a", i,
                     exact_sum(&cases[i].terms));
}

Test(exact, sums_of_products_are_not_rounded)
{
    mpfr_t sum;
    mpfr_init2(sum, PE__EXACT_BITS);
    mpfr_set_zero(sum, 1);
    pe__exact_add_product(sum, 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023);
    pe__exact_add_product(sum, 0x1p-1074, 0x1p-1074);
    pe__exact_add_product(sum, -0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023);
    mpfr_mul_2ui(sum, sum, 2148, MPFR_RNDN);
    cr_expect_eq(mpfr_get_d(sum, MPFR_RNDN), 1);
    mpfr_clear(sum);
}
