// SPDX-License-Identifier: Apache-2.0
/* test_scale.c: places of values, round ticks, numbers as captions show them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scale.h"

#define MINUS "\xe2\x88\x92"

static struct scale scale_of(enum scale_type type, double low, double high)
{
    struct scale scale = scale_make(type, low, high, true);
    scale.from = 1000;
    scale.to = 101000;
    return scale;
}

Test(scale, places_values_between_its_ends)
{
    struct scale linear = scale_of(SCALE_LINEAR, -1, 3);
    cr_expect_eq(scale_at(&linear, -1), 1000);
    cr_expect_eq(scale_at(&linear, 0), 26000);
    cr_expect_eq(scale_at(&linear, 3), 101000);
    linear.from = 101000;
    linear.to = 1000;
    cr_expect_eq(scale_at(&linear, 0), 76000);
}

/* Compared with libm, whose last bits do not reach a hundredth of a pixel here. */
Test(scale, is_logarithmic)
{
    struct scale two = scale_of(SCALE_LOG2, 1, 65536), ten = scale_of(SCALE_LOG10, 1e-16, 1e4);
    for (double value = 1; value < 65536; value *= 1.37)
        cr_expect_eq(scale_at(&two, value), (int32_t)floor(1000.5 + 100000 * log2(value) / 16),
                     "%g", value);
    for (double value = 1e-16; value < 1e4; value *= 1.83)
        cr_expect_eq(scale_at(&ten, value),
                     (int32_t)floor(1000.5 + 100000 * (log10(value) + 16) / 20), "%g", value);
}

Test(scale, keeps_what_is_no_number_out_of_the_way)
{
    struct scale linear = scale_of(SCALE_LINEAR, 0, 1), far = scale_of(SCALE_LINEAR, -1e308, 1e308);
    cr_expect_lt(scale_at(&linear, NAN), 0);
    cr_expect_lt(scale_at(&linear, -INFINITY), 0);
    cr_expect_gt(scale_at(&linear, INFINITY), 101000);
    cr_expect_eq(scale_at(&far, 0), 51000);
    struct scale powers = scale_of(SCALE_LOG10, 1e-3, 1);
    cr_expect_lt(scale_at(&powers, 0), 0);
    cr_expect_lt(scale_at(&powers, -1), 0);
}

static void ticks_are(const struct scale *scale, size_t max, bool whole, const char *expected)
{
    struct ticks ticks;
    char text[400] = "";
    scale_ticks(scale, max, whole, &ticks);
    for (size_t i = 0; i < ticks.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
                 ticks.text[i]);
    cr_expect_str_eq(text, expected, "%g to %g, %zu: %s", scale->low, scale->high, max, text);
    cr_expect_leq(ticks.n, max);
}

Test(scale, has_round_ticks)
{
    static const struct {
        enum scale_type type;
        double low, high;
        size_t max;
        bool whole;
        const char *ticks;
    } rows[] = {
        {SCALE_LINEAR, 0, 10, 6, false, "0 2 4 6 8 10"},
        {SCALE_LINEAR, 0, 10, 5, false, "0 5 10"},
        {SCALE_LINEAR, -20, 50, 4, false, MINUS "20 0 20 40"},
        {SCALE_LINEAR, -0.5, 2.5, 8, true, "0 1 2"},
        {SCALE_LINEAR, 0.152, 0.3, 8, false, "0.16 0.18 0.2 0.22 0.24 0.26 0.28 0.3"},
        {SCALE_LINEAR, 1e15, 1e15 + 4, 3, false,
         "1000000000000000 1000000000000002 1000000000000004"},
        {SCALE_LOG2, 1, 131072, 7, false, "1 8 64 512 4096 32768"},
        {SCALE_LOG2, 1, 16777216, 5, false,
         "1 2\xe2\x81\xb5 2\xc2\xb9\xe2\x81\xb0 2\xc2\xb9\xe2\x81\xb5 2\xc2\xb2\xe2\x81\xb0"},
        {SCALE_LOG10, 0.001, 1000, 9, false, "0.001 0.01 0.1 1 10 100 1000"},
        {SCALE_LOG10, 1e-9, 1, 4, false,
         "10\xe2\x81\xbb\xe2\x81\xb9 10\xe2\x81\xbb\xe2\x81\xb6 10\xe2\x81\xbb\xc2\xb3 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scale scale = scale_of(rows[i].type, rows[i].low, rows[i].high);
        ticks_are(&scale, rows[i].max, rows[i].whole, rows[i].ticks);
    }
}

Test(scale, ends_where_values_are_round)
{
    struct scale scale = scale_make(SCALE_LINEAR, -13.1, 41.2, false);
    cr_expect_eq(scale.low, -20);
    cr_expect_eq(scale.high, 50);
    scale = scale_make(SCALE_LINEAR, 5, 5, true);
    cr_expect(scale.low < 5 && scale.high > 5);
    scale = scale_make(SCALE_LOG10, 3, 3, true);
    cr_expect(scale.low <= 3 && scale.high > 3);
}

/* Whatever the values are, there are ends, a few ticks between them, and an end of looking for
 * these. */
Test(scale, takes_any_values)
{
    static const double rows[][2] = {
        {INFINITY, -INFINITY}, {-INFINITY, INFINITY}, {NAN, NAN},       {INFINITY, INFINITY},
        {0, 5e-324},           {5e-324, 1e-320},      {-1e308, 1e308},  {1e308, 1e308},
        {1, 1 + 0x1p-52},      {-1e-300, 0},          {0x1p53, 0x1p60},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct scale scale = scale_make(SCALE_LINEAR, rows[i / 2][0], rows[i / 2][1], i % 2);
        struct ticks ticks;
        scale.to = 10000;
        cr_assert(isfinite(scale.low) && scale.low < scale.high, "%g %g", rows[i / 2][0],
                  rows[i / 2][1]);
        scale_ticks(&scale, 8, false, &ticks);
        cr_expect_leq(ticks.n, 8);
        for (size_t at = 0; at < ticks.n; at++)
            cr_expect(scale_at(&scale, ticks.at[at]) >= 0 &&
                          scale_at(&scale, ticks.at[at]) <= 10000,
                      "%g of %g %g", ticks.at[at], rows[i / 2][0], rows[i / 2][1]);
    }
}

Test(scale, prints_numbers_for_people)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } rows[] = {{0, 4, "0"},
                {-0.0, 4, "0"},
                {30.9168, 4, "30.92"},
                {-1.5, 4, MINUS "1.5"},
                {1e-9, 4, "1e" MINUS "9"},
                {-2e30, 4, MINUS "2e30"},
                {0.1, 2, "0.1"},
                {NAN, 4, "NaN"},
                {-INFINITY, 4, MINUS "Infinity"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TICK_TEXT_MAX];
        scale_print(rows[i].value, rows[i].digits, text);
        cr_expect_str_eq(text, rows[i].text);
    }
}
