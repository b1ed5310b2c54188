// SPDX-License-Identifier: Apache-2.0
/*
 * test_dtype.c: every value of the 16-bit formats both ways, and every point where narrowing
 * changes its answer, against the formats' definitions.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "dtype.h"

/* A 16-bit format by its definition (IEEE 754-2019, 3.4). */
struct format {
    enum pe_dtype dtype;
    int fraction, bias;
    uint16_t infinity, nan;
};
static const struct format formats[] = {
    {PE_F16, 10, 15, 0x7c00, 0x7e00},
    {PE_BF16, 7, 127, 0x7f80, 0x7fc0},
};
#define FORMATS_N (sizeof formats / sizeof formats[0])

/* The value of a pattern without sign; that of infinity is taken as if the range went on. */
static double value_of(const struct format *format, unsigned bits)
{
    int exponent = (int)(bits >> format->fraction);
    int fraction = (int)(bits & ((1u << format->fraction) - 1));
    if (exponent == 0)
        return ldexp(fraction, 1 - format->bias - format->fraction);
    return ldexp((1 << format->fraction) + fraction, exponent - format->bias - format->fraction);
}

static uint16_t store(enum pe_dtype dtype, double value)
{
    uint16_t cell;
    pe_store(dtype, &cell, 0, value);
    return cell;
}

static void expect_both_signs(const struct format *format, double value, unsigned bits)
{
    cr_expect_eq(store(format->dtype, value), bits, "%s of %a is not %#x",
                 pe_dtype_name(format->dtype), value, bits);
    cr_expect_eq(store(format->dtype, -value), bits | 0x8000, "%s of %a is not %#x",
                 pe_dtype_name(format->dtype), -value, bits | 0x8000);
}

Test(dtype, every_finite_pattern_reads_as_its_value_and_back)
{
    for (size_t f = 0; f < FORMATS_N; f++)
        for (unsigned bits = 0; bits < formats[f].infinity; bits++) {
            uint16_t cells[2] = {(uint16_t)bits, (uint16_t)(bits | 0x8000)};
            double value = value_of(&formats[f], bits);
            cr_expect_eq(pe_load(formats[f].dtype, cells, 0), value, "pattern %#x", bits);
            cr_expect_eq(pe_load(formats[f].dtype, cells, 1), -value, "pattern %#x", cells[1]);
            cr_expect_eq(signbit(pe_load(formats[f].dtype, cells, 1)) != 0, 1);
            expect_both_signs(&formats[f], value, bits);
        }
}

/* Narrowing is monotonic, so its steps say everything: at each midpoint of two neighbours the even
 * one, and just beside it the nearer one. */
Test(dtype, narrowing_rounds_once_at_every_midpoint)
{
    for (size_t f = 0; f < FORMATS_N; f++)
        for (unsigned bits = 0; bits < formats[f].infinity; bits++) {
            double below = value_of(&formats[f], bits);
            double above = value_of(&formats[f], bits + 1);
            double middle = below + (above - below) / 2;
            expect_both_signs(&formats[f], middle, bits + (bits & 1));
            expect_both_signs(&formats[f], nextafter(middle, 0), bits);
            expect_both_signs(&formats[f], nextafter(middle, INFINITY), bits + 1);
            expect_both_signs(&formats[f], nextafter(above, 0), bits + 1);
        }
}

Test(dtype, narrowing_keeps_the_ends_of_the_range)
{
    static const double tiny[] = {0, 0x1p-1074, 0x1p-1022, 0x1p-150, 0x1p-140, 0x1p-134};
    for (size_t f = 0; f < FORMATS_N; f++) {
        for (size_t i = 0; i < sizeof tiny / sizeof tiny[0]; i++)
            expect_both_signs(&formats[f], tiny[i], 0);
        expect_both_signs(&formats[f], INFINITY, formats[f].infinity);
        expect_both_signs(&formats[f], 0x1.fffffffffffffp1023, formats[f].infinity);
        expect_both_signs(&formats[f], 0x1p128, formats[f].infinity);
        cr_expect_eq(store(formats[f].dtype, NAN), formats[f].nan);
        cr_expect_eq(store(formats[f].dtype, -NAN), formats[f].nan);
    }
}

Test(dtype, nan_and_infinity_patterns_stay_what_they_are)
{
    for (size_t f = 0; f < FORMATS_N; f++)
        for (unsigned bits = formats[f].infinity; bits < 0x8000; bits++) {
            uint16_t cell = (uint16_t)bits;
            double value = pe_load(formats[f].dtype, &cell, 0);
            bool infinite = bits == formats[f].infinity;
            cr_expect_eq(isinf(value) != 0, infinite, "pattern %#x gives %g", bits, value);
            cr_expect_eq(isnan(value) != 0, !infinite, "pattern %#x gives %g", bits, value);
            cr_expect_eq(store(formats[f].dtype, value),
                         infinite ? formats[f].infinity : formats[f].nan);
        }
}

Test(dtype, f32_and_f64_store_one_nan)
{
    uint32_t single;
    pe_store(PE_F32, &single, 0, -NAN);
    cr_expect_eq(single, 0x7fc00000);
    uint64_t both[2];
    pe_store(PE_F64, both, 1, -NAN);
    cr_expect_eq(both[1], 0x7ff8000000000000);
    float rounded[2];
    pe_store(PE_F32, rounded, 1, 0x1.000001p0);
    cr_expect_eq(rounded[1], 1.0f, "a tie goes to the even neighbour");
    cr_expect_eq(pe_load(PE_F32, rounded, 1), 1.0);
}

Test(dtype, i64_takes_the_nearest_integer_of_its_range)
{
    static const struct {
        double value;
        int64_t expected;
    } rows[] = {
        {0, 0},
        {-7, -7},
        {2.5, 2},
        {3.5, 4},
        {0x1p53, 9007199254740992},
        {-0x1p63, INT64_MIN},
        {0x1p63, INT64_MAX},
        {-INFINITY, INT64_MIN},
        {NAN, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t cell;
        pe_store(PE_I64, &cell, 0, rows[i].value);
        cr_expect_eq(cell, rows[i].expected, "%g", rows[i].value);
    }
    int64_t cells[] = {-9007199254740991};
    cr_expect_eq(pe_load(PE_I64, cells, 0), -9007199254740991.0);
}

Test(dtype, rows_are_their_elements)
{
    static const double values[] = {1, -2, 3.5, -0.0, 5, 1e6, INFINITY, -1e-7};
    for (int d = 0; d < PE_DTYPES_N; d++) {
        enum pe_dtype dtype = (enum pe_dtype)d;
        double single[8];
        double row[8];
        double loaded[8] = {0};
        for (size_t i = 0; i < 8; i++)
            pe_store(dtype, single, i, values[i]);
        memcpy(row, single, sizeof row);
        memset(row, 0xff, 6 * pe_dtype_size(dtype));
        pe__store_row(dtype, row, 1, 4, values + 1);
        pe_store(dtype, row, 0, values[0]);
        pe_store(dtype, row, 5, values[5]);
        cr_expect_arr_eq(row, single, 8 * pe_dtype_size(dtype), "%s", pe_dtype_name(dtype));
        pe__load_row(dtype, row, 2, 5, loaded);
        for (size_t i = 0; i < 5; i++)
            cr_expect_eq(loaded[i], pe_load(dtype, single, 2 + i), "%s %zu", pe_dtype_name(dtype),
                         i);
        cr_expect_eq(loaded[5], 0);
    }
}

Test(dtype, names_sizes_and_aliases)
{
    static const struct {
        const char *alias, *name;
        size_t bytes;
    } rows[] = {
        {"f64", "f64", 8},     {"F64", "f64", 8},   {"float64", "f64", 8},   {"FP64", "f64", 8},
        {"double", "f64", 8},  {"<f8", "f64", 8},   {"f32", "f32", 4},       {"F32", "f32", 4},
        {"float32", "f32", 4}, {"FP32", "f32", 4},  {"float", "f32", 4},     {"single", "f32", 4},
        {"<f4", "f32", 4},     {"f16", "f16", 2},   {"F16", "f16", 2},       {"float16", "f16", 2},
        {"FP16", "f16", 2},    {"half", "f16", 2},  {"<f2", "f16", 2},       {"bf16", "bf16", 2},
        {"BF16", "bf16", 2},   {"i64", "i64", 8},   {"bfloat16", "bf16", 2}, {"I64", "i64", 8},
        {"int64", "i64", 8},   {"INT64", "i64", 8}, {"<i8", "i64", 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum pe_dtype dtype = PE_DTYPES_N;
        cr_expect(pe_dtype_parse(rows[i].alias, strlen(rows[i].alias), &dtype), "%s",
                  rows[i].alias);
        cr_assert_lt(dtype, PE_DTYPES_N, "%s", rows[i].alias);
        cr_expect_str_eq(pe_dtype_name(dtype), rows[i].name, "%s", rows[i].alias);
        cr_expect_eq(pe_dtype_size(dtype), rows[i].bytes, "%s", rows[i].alias);
    }
    static const char *const unknown[] = {"",         "f",    "f8",         "float3",
                                          "float322", "f32 ", "f64 float64"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        enum pe_dtype dtype;
        cr_expect_not(pe_dtype_parse(unknown[i], strlen(unknown[i]), &dtype), "'%s'", unknown[i]);
    }
}
