// SPDX-License-Identifier: Apache-2.0
/*
 * Numbers from text: the grammar, one rounding per format (against strtod, strtof and MPFR), all
 * half-way cases of the 16-bit formats, integers, exact comparison.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "text_reference.h"

/* Reads the text in the middle of a list, as readers of lists do; false: there is no number. */
static bool read_in_list(const char *text, enum pe_dtype dtype, double storage[3], bool *held)
{
    char list[2200];
    int len = snprintf(list, sizeof list, "[7.5 ,\n%s,-0.25],[1.5]                ", text);
    const char *at = list, *end = list + len;
    cr_assert_lt((size_t)len, sizeof list);
    size_t n = pe_text_read_plain(&at, end, dtype, storage, 0, 3);
    *held = true;
    while (n < 3) {
        at += strspn(at, "[ ,\n]");
        at = pe_text_read_next(at, end, dtype, storage, n, n == 1 ? held : &(bool){0});
        if (!at)
            return false;
        n += 1 + pe_text_read_plain(&at, end, dtype, storage, n + 1, 2 - n);
    }
    cr_assert(pe_load(dtype, storage, 0) == 7.5 && pe_load(dtype, storage, 2) == -0.25, "%s", text);
    return true;
}

/* Reads by our functions, alone and in a list; the stored element as a double. */
static double read_as(const char *text, enum pe_dtype dtype, bool *finite)
{
    double storage = 0, list[3];
    *finite = pe_text_read(text, strlen(text), dtype, &storage, 0);
    double alone = pe_load(dtype, &storage, 0);
    bool held;
    cr_assert(read_in_list(text, dtype, list, &held), "%s", text);
    double listed = pe_load(dtype, list, 1);
    cr_assert(held == *finite && memcmp(&listed, &alone, sizeof alone) == 0, "%s as %s: %a and %a",
              text, pe_dtype_name(dtype), alone, listed);
    return alone;
}

static void check_read(const char *text)
{
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        bool finite;
        double got = read_as(text, dtype, &finite);
        double wanted = read_by_mpfr(text, dtype);
        cr_assert(got == wanted && !signbit(got) == !signbit(wanted), "%s as %s: %a, wanted %a",
                  text, pe_dtype_name(dtype), got, wanted);
        cr_assert_eq(finite, (bool)isfinite(wanted), "%s as %s", text, pe_dtype_name(dtype));
    }
}

Test(read, plain_lists_stop_where_they_are_not_plain)
{
    static const struct {
        const char *list;
        size_t n;
    } cases[] = {
        {"1.5,2.5,\"NaN\",3.5                                ", 2},
        {"[[0.25],[-0.5]]                                   ", 2},
        {"1.5,2,3.5                                         ", 1},
        {"1.5,2.5e1,3.5                                     ", 1},
        {"1.5,12.5,3.5                                      ", 1},
        {"1.5,0.12345678901234567,3.5                       ", 2},
        {"1.5,-0.0123456789012345678,3.5                    ", 2},
        {"1.5,0.00123456789012345678,3.5                    ", 1},
        {"1.5,0.0012345678901234567e1,3.5                   ", 1},
        {"1.5,1.1234567890123456789,3.5                     ", 1},
        {"1.5,-.5,3.5                                       ", 1},
        {"1.5,2.,3.5                                        ", 1},
        {"1.5", 0}, /* too near the end to look ahead */
    };
    for (size_t i = 0; i < N(cases); i++)
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_F32; dtype++) {
            double storage[4];
            const char *at = cases[i].list;
            size_t n = pe_text_read_plain(&at, at + strlen(at), dtype, storage, 0, 3);
            cr_assert_eq(n, cases[i].n, "%s: %zu", cases[i].list, n);
        }
}

/* Numbers that fill 64 bits, next to what the C library reads of them. */
Test(read, plain_numbers_of_many_digits_are_the_nearest)
{
    char list[128];
    for (uint64_t i = 1; i <= 300000; i++) {
        double value = (double)(int64_t)pe_draw(1, "x", i) * (i % 4 ? 0x1p-67 : 0x1p-60);
        int digits = 16 + (int)(i % 4);
        int len =
            snprintf(list, sizeof list, "%.*f,                                ", digits, value);
        double read;
        float narrow;
        const char *at = list;
        cr_assert_eq(pe_text_read_plain(&at, list + len, PE_F64, &read, 0, 1), 1, "%s", list);
        cr_assert_eq(read, strtod(list, NULL), "%s", list);
        at = list;
        if (pe_text_read_plain(&at, list + len, PE_F32, &narrow, 0, 1) == 1)
            cr_assert_eq(narrow, strtof(list, NULL), "%s", list);
    }
}

/* ---- Reading ------------------------------------------------------------------------------ */

Test(read, takes_json_numbers_and_nothing_else)
{
    static const char *const good[] = {"0",    "-0",   "7",     "-12",    "0.5",   "10.25",
                                       "1e5",  "1E5",  "1e+5",  "1e-5",   "0e0",   "0.0",
                                       "-0.0", "1e05", "1e400", "-1e400", "1e-400"};
    static const char *const bad[] = {"",      "-",   "+1",   ".5", "1.",       "01",       "-01",
                                      "1e",    "1e+", "0x10", " 1", "1 ",       "1,",       "1.e5",
                                      "inf",   "NaN", "--1",  "1-", "Infinity", "1e5.5",    "1_0",
                                      "1.2.3", "00",  "1f",   "e5", "1e 5",     "\xc2\xbd", "٣"};
    double value;
    for (size_t i = 0; i < N(good); i++) {
        pe_text_read(good[i], strlen(good[i]), PE_F64, &value, 0);
        cr_assert(value == strtod(good[i], NULL), "%s: %a", good[i], value);
    }
    for (size_t i = 0; i < N(bad); i++) {
        value = 1;
        cr_assert_not(pe_text_read(bad[i], strlen(bad[i]), PE_F64, &value, 0), "\"%s\"", bad[i]);
        cr_assert(isnan(value), "\"%s\": %a", bad[i], value);
    }
    cr_assert(pe_text_read("12345", 3, PE_F64, &value, 0) && value == 123, "only len bytes count");
    cr_assert_not(pe_text_read("1\0002", 3, PE_F64, &value, 0), "a NUL is no digit");
}

Test(read, rounds_once_at_the_ends_of_the_formats)
{
    static const char *const texts[] = {
        "65504",
        "65519.99999999999999999999999999999999999",
        "65520",
        "-65520.0000000000000000000000001",
        "1e5",
        "3.40282346638528859811704183484516925440e38",
        "3.4028235677973366163753939545814e38",
        "3.4028235677973366163753939545815e38",
        "3.3961775292304957e38",
        "3.3961775292304951e38",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.797693134862315807937e308",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"
        "854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704"
        "342711559699508093042880",
        "1e308",
        "1e309",
        "-1e999999999999999999999",
        "1e-999999999999999999999",
        "5e-324",
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1e-45",
        "7.006492321624085354618e-46",
        "7.1e-46",
        "5.960464477539063e-8",
        "2.98023223876953125e-8",
        "2.98023223876953125000000000000000001e-8",
        "2.9802322387695312e-8",
        "4.591774807899561e-41",
        "-1e-60",
        "0e999999",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000001e81",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000e-80",
    };
    for (size_t i = 0; i < N(texts); i++)
        check_read(texts[i]);
}

/* Decimals of random length and size, more often near the formats' ranges than far outside. */
static void random_decimal(uint64_t i, char out[64])
{
    uint64_t bits = random_bits(3 * i);
    int digits = 1 + (int)(bits % 30);
    int exponent = (int)(bits >> 8 & 0xFF) - 128;
    if ((bits >> 16 & 7) == 0)
        exponent *= 3;
    int len = snprintf(out, 64, "%s%llu.", bits >> 20 & 1 ? "-" : "",
                       (unsigned long long)(bits >> 21 & 7));
    for (int j = 0; j < digits; j++) {
        uint64_t more = random_bits(3 * i + 1 + (j >= 15));
        out[len++] = (char)('0' + (more >> (4 * (j % 15)) & 0xF) % 10);
    }
    snprintf(out + len, (size_t)(64 - len), "e%d", exponent);
}

Test(read, rounds_random_decimals_once)
{
    for (uint64_t i = 0; i < 100000; i++) {
        char text[64];
        random_decimal(i, text);
        check_read(text);
    }
}

Test(read, agrees_with_strtod_on_printed_doubles)
{
    for (uint64_t i = 0; i < 500000; i++) {
        double value = f64_from_bits(random_bits(i));
        if (!isfinite(value))
            continue;
        char text[40];
        snprintf(text, sizeof text, i % 2 ? "%.17g" : "%.16e", value);
        double got;
        cr_assert(pe_text_read(text, strlen(text), PE_F64, &got, 0) || isinf(strtod(text, NULL)),
                  "%s", text);
        cr_assert(got == strtod(text, NULL), "%s: %a, wanted %a", text, got, strtod(text, NULL));
    }
}

/* Half-way cases of a narrow format, exactly, and a hair above and below. */
static void check_midpoint(double value, enum pe_dtype dtype)
{
    char text[220], above[240], below[280];
    snprintf(text, sizeof text, "%.150e", value); /* exact: at most 106 digits occur here */
    char *e = strchr(text, 'e');
    snprintf(above, sizeof above, "%.*s1%s", (int)(e - text), text, e);
    char *last = e;
    do
        last--;
    while (*last == '0' || *last == '.');
    snprintf(below, sizeof below, "%.*s%c%s9999999999%s", (int)(last - text), text, *last - 1,
             last == text ? "." : "", e);
    const char *const all[] = {text, above, below};
    for (size_t i = 0; i < N(all); i++) {
        bool finite;
        double got = read_as(all[i], dtype, &finite);
        double wanted = read_by_mpfr(all[i], dtype);
        cr_assert(got == wanted, "%s as %s: %a, wanted %a", all[i], pe_dtype_name(dtype), got,
                  wanted);
    }
}

Test(read, decides_every_half_way_case_of_f16_and_bf16)
{
    for (uint32_t bits = 0; bits < 0x7F80; bits++) {
        uint16_t pair[2] = {(uint16_t)bits, (uint16_t)(bits + 1)};
        if (bits < 0x7BFF)
            check_midpoint((pe_load(PE_F16, pair, 0) + pe_load(PE_F16, pair, 1)) / 2, PE_F16);
        if (bits < 0x7F7F)
            check_midpoint(pe_load(PE_BF16, pair, 0) / 2 + pe_load(PE_BF16, pair, 1) / 2, PE_BF16);
    }
}

Test(read, decides_half_way_cases_of_f32)
{
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)random_bits(i) & 0x7FFFFFFF;
        if (bits >= 0x7F7FFFFF)
            continue;
        uint32_t pair[2] = {bits, bits + 1};
        check_midpoint((pe_load(PE_F32, pair, 0) + pe_load(PE_F32, pair, 1)) / 2, PE_F32);
    }
}

Test(read, takes_integers_for_i64)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"9007199254740993", true, 9007199254740993},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775807.000000000000", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, INT64_MAX},
        {"-9223372036854775809", false, INT64_MIN},
        {"1e3", true, 1000},
        {"1.0", true, 1},
        {"12.50e1", true, 125},
        {"1.5", false, 1},
        {"-1.5", false, -1},
        {"0.00000000000000000000000001", false, 0},
        {"9223372036854775807.0000000000000000001", false, INT64_MAX},
        {"0e99999999999999999999", true, 0},
        {"1e99999999999999999999", false, INT64_MAX},
        {"-1e19", false, INT64_MIN},
        {"1e18", true, 1000000000000000000},
        {"abc", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < N(cases); i++) {
        int64_t value = 1;
        bool ok = pe_text_read(cases[i].text, strlen(cases[i].text), PE_I64, &value, 0);
        cr_assert_eq(ok, cases[i].ok, "%s", cases[i].text);
        cr_assert_eq(value, cases[i].value, "%s: %lld", cases[i].text, (long long)value);
    }
}

/* ---- Exact comparison --------------------------------------------------------------------- */

Test(exact, compares_a_decimal_with_a_double)
{
    static const struct {
        const char *text;
        double number;
        int order;
    } cases[] = {
        {"1", 1, 0},
        {"1.0000000000000000000000000000000000000000001", 1, 1},
        {"0.99999999999999999999999999999999999999999999", 1, -1},
        {"-1.00000000000000000000000001", -1, -1},
        {"9007199254740993", 0x1p53, 1},
        {"9007199254740991.5", 0x1p53, -1},
        {"0.1", 0.1, -1},
        {"0.1000000000000000055511151231257827021181583404541015625", 0.1, 0},
        {"0", 0, 0},
        {"0.0e5", 0, 0},
        {"1e-400", 0, 1},
        {"-3", 2, -1},
    };
    for (size_t i = 0; i < N(cases); i++)
        cr_assert_eq(pe__text_compare(cases[i].text, strlen(cases[i].text), cases[i].number),
                     cases[i].order, "%s", cases[i].text);
    char longer[2000];
    memset(longer, '0', sizeof longer);
    memcpy(longer, "1.", 2);
    cr_assert_eq(pe__text_compare(longer, sizeof longer, 1), 0);
    longer[sizeof longer - 1] = '1';
    cr_assert_eq(pe__text_compare(longer, sizeof longer, 1), 1, "the 2000th digit counts");
}

Test(exact, takes_a_decimal_apart)
{
    struct pe__decimal decimal;
    cr_assert(pe__text_decimal("-12.50e3", 8, &decimal));
    cr_assert(decimal.digits == -1250 && decimal.exponent == 1);
    cr_assert(pe__text_decimal("9999999999999999999", 19, &decimal));
    cr_assert(decimal.digits == (__int128)9999999999999999999u && decimal.exponent == 0);
    cr_assert(pe__text_decimal("0.000e7", 7, &decimal));
    cr_assert(decimal.digits == 0 && decimal.exponent == 0);
    cr_assert(pe__text_decimal("1000000000000000000000", 22, &decimal));
    cr_assert(decimal.digits * 1 == (__int128)1000000000000000000 && decimal.exponent == 3);
    cr_assert_not(pe__text_decimal("12345678901234567891", 20, &decimal), "20 digits");
    cr_assert_not(pe__text_decimal("x", 1, &decimal));
}
