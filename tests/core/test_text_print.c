// SPDX-License-Identifier: Apache-2.0
/*
 * Numbers to text: the notation of ECMAScript, shortest and nearest digits (random f64 and f32
 * against exact printf, every f16 and bf16 against a search).
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_reference.h"

static const char *print_f64(double value, char out[PE_TEXT_MAX + 1])
{
    out[pe_text_print(PE_F64, &value, 0, out)] = '\0';
    return out;
}

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

/* ---- Other notations ----------------------------------------------------------------------- */

static const char *print_as(enum pe_dtype dtype, enum pe_notation notation, const void *element,
                            char out[PE_TEXT_MAX + 1])
{
    out[pe_text_print_as(dtype, notation, element, 0, out)] = '\0';
    return out;
}

/* The text of a list against that of its elements. */
static void check_list(enum pe_dtype dtype, const void *array, size_t n)
{
    enum { MOST = 4096 };
    static char list[MOST * (PE_TEXT_MAX + 3)];
    cr_assert_leq(n, (size_t)MOST);
    size_t len = pe_text_print_list(dtype, array, 1, n, list);
    const char *at = list;
    for (size_t i = 1; i <= n; i++) {
        char text[PE_TEXT_MAX + 3], number[PE_TEXT_MAX];
        int size = (int)pe_text_print(dtype, array, i, number);
        const char *quote = number[size - 1] > '9' ? "\"" : "";
        size = snprintf(text, sizeof text, "%s%.*s%s,", quote, size, number, quote);
        cr_assert(memcmp(at, text, (size_t)size) == 0, "%s: %s, not %.*s", pe_dtype_name(dtype),
                  text, size, at);
        at += size;
    }
    cr_assert_eq(len, (size_t)(at - list));
}

Test(print, a_list_is_its_elements_with_commas)
{
    enum { LENGTH = 2048 };
    static double numbers[LENGTH + 1];
    static uint64_t elements[LENGTH + 1];
    static const double chosen[] = {0,  -0.0, NAN, INFINITY, -INFINITY, 1,     -17,  0.5,
                                    1., 1e15, 1e6, 1e-6,     1e-7,      1e300, 8192, -65504};
    for (size_t i = 0; i <= LENGTH; i++) {
        double uniform = (double)(int64_t)pe_draw(5, "list", i) * 0x1p-63;
        numbers[i] = i < N(chosen) ? chosen[i] : ldexp(uniform, (int)(i % 90) - 45);
    }
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        for (size_t i = 0; i <= LENGTH; i++)
            pe_store(dtype, elements, i, numbers[i]);
        check_list(dtype, elements, LENGTH);
    }
    for (size_t i = 0; i <= LENGTH; i++)
        elements[i] = pe_draw(6, "list", i) >> i % 64;
    check_list(PE_I64, elements, LENGTH);
}

Test(print, exact_gives_all_digits_of_the_stored_value)
{
    static const int digits[] = {[PE_F64] = 17, [PE_F32] = 9, [PE_F16] = 5, [PE_BF16] = 4};
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++)
        for (uint64_t i = 0; i < 20000; i++) {
            uint64_t bits = random_bits(i);
            double value = pe_load(dtype, &bits, 0);
            if (!isfinite(value) || value == 0)
                continue;
            char text[PE_TEXT_MAX + 1], wanted[64], got[40], want[40];
            print_as(dtype, PE_EXACT, &bits, text);
            snprintf(wanted, sizeof wanted, "%.*e", digits[dtype] - 1, value);
            significant_digits(text, got);
            significant_digits(wanted, want);
            cr_assert_str_eq(got, want, "%s: %s, wanted %s", pe_dtype_name(dtype), text, wanted);
            cr_assert(strtod(text, NULL) == strtod(wanted, NULL), "%s, wanted %s", text, wanted);
            uint64_t back = 0;
            cr_assert(pe_text_read(text, strlen(text), dtype, &back, 0));
            cr_assert(memcmp(&back, &bits, pe_dtype_size(dtype)) == 0, "%s does not come back",
                      text);
        }
}

/* printf's %a is another text of the same number for subnormal ones. */
Test(print, hex_is_that_of_c_and_reads_back)
{
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++)
        for (uint64_t i = 0; i < 20000; i++) {
            uint64_t bits = random_bits(i);
            double value = pe_load(dtype, &bits, 0);
            if (!isfinite(value))
                continue;
            char text[PE_TEXT_MAX + 1], wanted[64];
            print_as(dtype, PE_HEX, &bits, text);
            snprintf(wanted, sizeof wanted, "%a", value);
            cr_assert(strtod(text, NULL) == value, "%s, wanted %s", text, wanted);
            if (fpclassify(value) == FP_NORMAL)
                cr_assert_str_eq(text, wanted);
        }
}

Test(print, notations_of_chosen_numbers)
{
    static const struct {
        enum pe_dtype dtype;
        uint64_t bits;
        const char *shortest, *exact, *hex, *bits_text;
    } cases[] = {
        {PE_F64, 0x3FB999999999999A, "0.1", "0.10000000000000001", "0x1.999999999999ap-4",
         "4591870180066957722"},
        {PE_F64, 0x4008000000000000, "3", "3", "0x1.8p+1", "4613937818241073152"},
        {PE_F64, 0x8000000000000000, "-0.0", "-0.0", "-0x0p+0", "9223372036854775808"},
        {PE_F64, 0, "0", "0", "0x0p+0", "0"},
        {PE_F64, 1, "5e-324", "4.9406564584124654e-324", "0x1p-1074", "1"},
        {PE_F64, 0x7FF0000000000000, "Infinity", "Infinity", "Infinity", "9218868437227405312"},
        {PE_F64, 0x7FF8000000000001, "NaN", "NaN", "NaN", "9221120237041090561"},
        {PE_F64, 0x4340000000000001, "9007199254740994", "9007199254740994",
         "0x1.0000000000001p+53", "4845873199050653697"},
        {PE_F32, 0x3DCCCCCD, "0.1", "0.100000001", "0x1.99999ap-4", "1036831949"},
        {PE_F32, 0x00000001, "1e-45", "1.40129846e-45", "0x1p-149", "1"},
        {PE_F32, 0xFF800000, "-Infinity", "-Infinity", "-Infinity", "4286578688"},
        {PE_F16, 0x2E66, "0.1", "0.099976", "0x1.998p-4", "11878"},
        {PE_F16, 0x0001, "6e-8", "5.9605e-8", "0x1p-24", "1"},
        {PE_BF16, 0x3DCD, "0.1", "0.1001", "0x1.9ap-4", "15821"},
        {PE_BF16, 0x7FC1, "NaN", "NaN", "NaN", "32705"},
        {PE_I64, 42, "42", "42", "0x2a", "42"},
        {PE_I64, (uint64_t)-42, "-42", "-42", "-0x2a", "18446744073709551574"},
        {PE_I64, 0x8000000000000000, "-9223372036854775808", "-9223372036854775808",
         "-0x8000000000000000", "9223372036854775808"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const char *wanted[] = {cases[i].shortest, cases[i].exact, cases[i].hex,
                                cases[i].bits_text};
        for (enum pe_notation notation = PE_SHORTEST; notation <= PE_BITS; notation++) {
            char text[PE_TEXT_MAX + 1];
            print_as(cases[i].dtype, notation, &cases[i].bits, text);
            cr_expect_str_eq(text, wanted[notation], "row %zu", i);
        }
    }
}
