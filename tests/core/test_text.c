// SPDX-License-Identifier: Apache-2.0
/*
 * Numbers as text: the grammar, one rounding per format (against strtod, strtof and MPFR), shortest
 * and nearest digits (against exact printf; every f16 and bf16), the notation of ECMAScript.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"
#include "text.h"

#define N(array) (sizeof(array) / sizeof *(array))

static uint64_t random_bits(uint64_t i)
{
    return pe_draw(1, "text", i);
}

static double f64_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const char *print_f64(double value, char out[PE_TEXT_MAX + 1])
{
    out[pe_text_print(PE_F64, &value, 0, out)] = '\0';
    return out;
}

/* ---- References --------------------------------------------------------------------------- */

/* The value nearest to the decimal in a narrow format, by MPFR with that format's precision and
 * exponent range. */
static double read_by_mpfr(const char *text, enum pe_dtype dtype)
{
    static const struct {
        mpfr_prec_t bits;
        mpfr_exp_t emin, emax; /* MPFR's significands are in [1/2, 1) */
    } formats[] = {
        [PE_F64] = {53, -1073, 1024},
        [PE_F32] = {24, -148, 128},
        [PE_F16] = {11, -23, 16},
        [PE_BF16] = {8, -132, 128},
    };
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(formats[dtype].emin);
    mpfr_set_emax(formats[dtype].emax);
    mpfr_t y;
    mpfr_init2(y, formats[dtype].bits);
    int ternary = mpfr_strtofr(y, text, NULL, 10, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    double value = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return value;
}

/* Reads by our function; the stored element as a double. */
static double read_as(const char *text, enum pe_dtype dtype, bool *finite)
{
    double storage = 0;
    *finite = pe_text_read(text, strlen(text), dtype, &storage, 0);
    return pe_load(dtype, &storage, 0);
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

/* ---- Printing ----------------------------------------------------------------------------- */

/* RFC 8785, appendix B, but for the negative zero. */
Test(print, has_the_notation_of_ecmascript)
{
    static const struct {
        uint64_t bits;
        const char *text;
    } cases[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "-0.0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x7fffffffffffffff, "NaN"},
        {0x7ff0000000000000, "Infinity"},
        {0xfff0000000000000, "-Infinity"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[PE_TEXT_MAX + 1];
        print_f64(f64_from_bits(cases[i].bits), text);
        cr_assert_str_eq(text, cases[i].text);
    }
}

/* The significant digits of a printed number, without sign, point, zeros at the ends, exponent. */
static int significant_digits(const char *text, char digits[40])
{
    int n = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0'))
            digits[n++] = *text;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return n;
}

/* Fewest digits that read back, found by trying 1, 2, 3, ...; and the nearest with so many. A
 * shorter one that is not the nearest of its length can exist just above a power of two. */
static void check_shortest(enum pe_dtype dtype, const void *element, double value)
{
    char text[PE_TEXT_MAX + 1], digits[40], nearest[40], tried[40];
    text[pe_text_print(dtype, element, 0, text)] = '\0';
    double back = dtype == PE_F64 ? strtod(text, NULL) : strtof(text, NULL);
    cr_assert(back == value, "%s is not %a", text, value);
    int n = significant_digits(text, digits);
    for (int k = 1; k <= n; k++) {
        snprintf(tried, sizeof tried, "%.*e", k - 1, value);
        back = dtype == PE_F64 ? strtod(tried, NULL) : strtof(tried, NULL);
        if (back != value)
            continue;
        significant_digits(tried, nearest);
        cr_assert_str_eq(digits, nearest, "%s, but %s is nearer or shorter", text, tried);
        return;
    }
}

Test(print, is_shortest_and_nearest_for_random_f64)
{
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t bits = random_bits(i);
        if (i % 4 == 0) /* powers of two, where the gap below is half the gap above */
            bits &= 0xFFF0000000000000;
        double value = f64_from_bits(bits);
        if (isfinite(value) && value != 0)
            check_shortest(PE_F64, &value, value);
    }
}

Test(print, is_shortest_and_nearest_for_random_f32)
{
    for (uint64_t i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)random_bits(i);
        if (i % 16 == 0)
            bits &= 0xFF800000;
        double value = pe_load(PE_F32, &bits, 0);
        if (isfinite(value) && value != 0)
            check_shortest(PE_F32, &bits, value);
    }
}

/* |c * 10^q - value| into y, exactly (times a power of ten that depends on q alone). */
static void decimal_distance(mpfr_t y, unsigned long c, int q, double value)
{
    mpfr_t power, x;
    mpfr_inits2(1000, power, x, (mpfr_ptr)0);
    mpfr_ui_pow_ui(power, 10, (unsigned long)abs(q), MPFR_RNDN);
    mpfr_set_d(x, value, MPFR_RNDN);
    mpfr_set_ui(y, c, MPFR_RNDN);
    mpfr_mul(q >= 0 ? y : x, q >= 0 ? y : x, power, MPFR_RNDN);
    mpfr_sub(y, y, x, MPFR_RNDN);
    mpfr_abs(y, y, MPFR_RNDN);
    mpfr_clears(power, x, (mpfr_ptr)0);
}

/* Of all decimals with few digits near a value: the shortest that reads back, the nearest of these,
 * the even one of two equally near. By trying them. */
static void best_decimal(double value, enum pe_dtype dtype, char best[64])
{
    mpfr_t distance, least;
    mpfr_inits2(1000, distance, least, (mpfr_ptr)0);
    bool found = false;
    for (int n = 1; !found; n++) {
        char text[64];
        snprintf(text, sizeof text, "%.*e", n - 1, value);
        char digits[40], *e = strchr(text, 'e');
        int len = 0;
        for (const char *p = text; p < e; p++)
            if (*p != '.')
                digits[len++] = *p;
        digits[len] = '\0';
        int q = atoi(e + 1) - (n - 1);
        for (long c = atol(digits) - 1; c <= atol(digits) + 1; c++) {
            snprintf(text, sizeof text, "%lde%d", c, q);
            if (c <= 0 || read_by_mpfr(text, dtype) != value)
                continue;
            decimal_distance(distance, (unsigned long)c, q, value);
            int order = found ? mpfr_cmp(distance, least) : -1;
            if (order < 0 || (order == 0 && c % 2 == 0)) {
                mpfr_set(least, distance, MPFR_RNDN);
                snprintf(best, 64, "%lde%d", c, q);
            }
            found = true;
        }
    }
    mpfr_clears(distance, least, (mpfr_ptr)0);
}

static void check_all_values(enum pe_dtype dtype)
{
    for (uint32_t i = 1; i < 0x8000; i++) {
        uint16_t bits = (uint16_t)i;
        double value = pe_load(dtype, &bits, 0);
        if (!isfinite(value))
            continue;
        char text[PE_TEXT_MAX + 1], best[64], digits[40], wanted[40];
        text[pe_text_print(dtype, &bits, 0, text)] = '\0';
        best_decimal(value, dtype, best);
        significant_digits(text, digits);
        significant_digits(best, wanted);
        cr_assert_str_eq(digits, wanted, "%s %04x: %s, wanted %s", pe_dtype_name(dtype), i, text,
                         best);
        cr_assert(strtod(text, NULL) == strtod(best, NULL), "%s, wanted %s", text, best);
        uint16_t back;
        cr_assert(pe_text_read(text, strlen(text), dtype, &back, 0) && back == bits, "%s", text);
        bits |= 0x8000;
        char negative[PE_TEXT_MAX + 1];
        negative[pe_text_print(dtype, &bits, 0, negative)] = '\0';
        cr_assert(negative[0] == '-' && strcmp(negative + 1, text) == 0, "%s", negative);
    }
}

Test(print, is_shortest_and_nearest_for_every_f16)
{
    check_all_values(PE_F16);
}

Test(print, is_shortest_and_nearest_for_every_bf16)
{
    check_all_values(PE_BF16);
}

Test(print, names_what_is_not_a_number)
{
    static const struct {
        enum pe_dtype dtype;
        uint64_t bits;
        const char *text;
    } cases[] = {
        {PE_F32, 0x7FC00000, "NaN"},
        {PE_F32, 0xFF800000, "-Infinity"},
        {PE_F32, 0x80000000, "-0.0"},
        {PE_F16, 0x7E00, "NaN"},
        {PE_F16, 0x7C00, "Infinity"},
        {PE_F16, 0x8000, "-0.0"},
        {PE_BF16, 0xFFC0, "NaN"},
        {PE_BF16, 0xFF80, "-Infinity"},
        {PE_BF16, 0x8000, "-0.0"},
        {PE_F16, 0, "0"},
        {PE_I64, 0, "0"},
        {PE_I64, 0x8000000000000000, "-9223372036854775808"},
        {PE_F16, 0x5802, "128.2"}, /* 128.25: as near to 128.3, but 2 is even */
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[PE_TEXT_MAX + 1];
        text[pe_text_print(cases[i].dtype, &cases[i].bits, 0, text)] = '\0';
        cr_assert_str_eq(text, cases[i].text, "row %zu", i);
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
