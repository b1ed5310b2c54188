// SPDX-License-Identifier: Apache-2.0
/*
 * text_print.cpp: numbers to text: the shortest decimal inside the rounding interval, and of these
 * the nearest, for any binary format (Giulietti, The Schubfach way to render doubles, 2020), in the
 * notation of ECMAScript. C++ (without exceptions and RTTI) because the compiler computes the table
 * of powers, and for std::to_chars of integers.
 */
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "formats.hpp"
#include "posenc.h"
#include "powers_of_ten.hpp"

namespace
{

using uint128 = unsigned __int128;

// A positive number c * 2^q; its neighbour below is nearer than the one above at the lower end of a
// binade.
struct Binary {
    uint64_t c;
    int q;
    bool nearer_below;
};

Binary decompose(double value, Format format)
{
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    int exponent = static_cast<int>(bits >> 52);
    uint64_t c = bits & ((uint64_t(1) << 52) - 1);
    if (exponent == 0) // a subnormal double, which narrower formats do not have
        return {c, -1074, false};
    c |= uint64_t(1) << 52;
    exponent -= 1023;
    int dropped = 53 - format.bits + std::max(format.exponent_min - exponent, 0); // zeros
    bool lowest = c == uint64_t(1) << 52;
    return {c >> dropped, exponent - 52 + dropped, lowest && exponent > format.exponent_min};
}

struct Decimal {
    uint64_t digits;
    int exponent;
};

// floor(x * power / 2^128), with the last bit set if that is not exact. The power may be one unit
// too large, which leaves at most 1 behind the point of an exact result.
uint64_t scale_to_odd(uint64_t x, PowerOfTen power)
{
    uint128 low = static_cast<uint128>(x) * power.lo;
    uint128 product = static_cast<uint128>(x) * power.hi + (low >> 64);
    return static_cast<uint64_t>(product >> 64) | (static_cast<uint64_t>(product) > 1);
}

// The shortest decimal that reads back, and of these the nearest (of two, the even one).
//
// 10^k is the largest power of ten not above the width of the rounding interval, so that the
// interval holds one or more multiples of 10^k, and at most one of 10^(k+1). All is counted in
// quarters of 10^k, rounded to odd: comparisons with whole quarters are then exact.
Decimal shortest_decimal(Binary v)
{
    int k = (v.q * 1262611 - (v.nearer_below ? 524031 : 0)) >> 22; // floor(log10(width))
    PowerOfTen power = powers_of_ten[-k];
    if (!power_of_ten_is_exact(-k)) // rounded up
        power.hi += ++power.lo == 0;
    int h = v.q + power_of_ten_exponent(-k) + 128;
    uint64_t odd = v.c % 2; // the ends of the interval are ties, which go to even numbers
    uint64_t middle = scale_to_odd(4 * v.c << h, power);
    uint64_t low = scale_to_odd((4 * v.c - (v.nearer_below ? 1 : 2)) << h, power) + odd;
    uint64_t high = scale_to_odd((4 * v.c + 2) << h, power) - odd;

    uint64_t below = middle / 4;
    uint64_t tens = below / 10;
    bool tens_below = low <= 40 * tens;
    bool tens_above = 40 * (tens + 1) <= high;
    if (below >= 10 && tens_below != tens_above)
        return {tens + tens_above, k + 1};
    bool ones_below = low <= 4 * below;
    bool ones_above = 4 * (below + 1) <= high;
    if (ones_below != ones_above)
        return {below + ones_above, k};
    uint64_t half = 4 * below + 2;
    return {below + (middle > half || (middle == half && below % 2 == 1)), k};
}

// Eight digits of value < 10^8 as text: halves, quarters and eighths of the word at once.
uint64_t eight_digits(uint64_t value)
{
    uint64_t fours = value / 10000 | value % 10000 << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007F0000007F; // each half / 100
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = (twos * 103 >> 10) & 0x000F000F000F000F; // each quarter / 10
    return (tens | (twos - 10 * tens) << 8) + 0x3030303030303030;
}

constexpr int room = 24; // digits that three words hold; a 64-bit number has 20 at most

// Writes the number so that its last digit is text[room - 1], and as many zeros behind it; returns
// how many digits it has.
int write_digits(uint64_t value, char text[2 * room])
{
    static constexpr uint64_t powers[] = {1,
                                          10,
                                          100,
                                          1000,
                                          10000,
                                          100000,
                                          1000000,
                                          10000000,
                                          100000000,
                                          1000000000,
                                          10000000000,
                                          100000000000,
                                          1000000000000,
                                          10000000000000,
                                          100000000000000,
                                          1000000000000000,
                                          10000000000000000,
                                          100000000000000000,
                                          1000000000000000000,
                                          10000000000000000000u};
    constexpr uint64_t block = 100000000;
    uint64_t words[] = {eight_digits(value / block / block), eight_digits(value / block % block),
                        eight_digits(value % block)};
    std::memcpy(text, words, sizeof words);
    std::memset(text + room, '0', room);
    int n = (64 - __builtin_clzll(value)) * 1233 >> 12; // near log10(value)
    return n + (value >= powers[n]);
}

// digits * 10^exponent in the notation of ECMAScript's Number::toString. Copies have constant sizes
// (PE_TEXT_MAX has room for what they write too much), so that they are single instructions.
char *print_decimal(Decimal decimal, char *out)
{
    char text[2 * room];
    int n = write_digits(decimal.digits, text);
    const char *digits = text + room - n;
    int point = decimal.exponent + n; // value = 0.digits * 10^point
    for (const char *last = text + room - 1; *last == '0'; --last)
        n--;
    if (n <= point && point <= 21) {
        std::memcpy(out, digits, 21);
        return out + point;
    }
    if (0 < point && point <= 21) {
        std::memcpy(out, digits, 17);
        out[point] = '.';
        std::memcpy(out + point + 1, digits + point, 17);
        return out + n + 1;
    }
    if (-6 < point && point <= 0) {
        std::memcpy(out, "0.000000", 8);
        std::memcpy(out + 2 - point, digits, 17);
        return out + 2 - point + n;
    }
    out[0] = digits[0];
    out[1] = '.';
    std::memcpy(out + 2, digits + 1, 16);
    out += n > 1 ? n + 1 : 1;
    *out++ = 'e';
    *out++ = point > 0 ? '+' : '-';
    return std::to_chars(out, out + 4, std::abs(point - 1)).ptr;
}

// What is not a positive finite number. Else nullptr, with `value` positive and `out` behind its
// sign.
char *print_special(double &value, char *&out)
{
    if (std::isnan(value))
        return std::copy_n("NaN", 3, out);
    bool negative = std::signbit(value);
    if (negative) {
        *out++ = '-';
        value = -value;
    }
    if (value == 0) // only the negative zero has a point
        return std::copy_n("0.0", negative ? 3 : 1, out);
    return std::isinf(value) ? std::copy_n("Infinity", 8, out) : nullptr;
}

size_t print_real(double value, Format format, char *out)
{
    char *p = out;
    if (char *end = print_special(value, p))
        return end - out;
    if (value < static_cast<double>(uint64_t(1) << format.bits) && value == std::trunc(value))
        return std::to_chars(p, out + PE_TEXT_MAX, static_cast<uint64_t>(value)).ptr - out;
    return print_decimal(shortest_decimal(decompose(value, format)), p) - out;
}

// The nearest decimal of so many digits. printf knows it; its decimal point is the locale's.
Decimal digits_decimal(double value, int digits)
{
    char text[PE_TEXT_MAX];
    int len = std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
    Decimal decimal = {0, 1 - digits};
    const char *c = text;
    for (; *c != 'e'; ++c)
        if (*c >= '0' && *c <= '9')
            decimal.digits = 10 * decimal.digits + static_cast<uint64_t>(*c - '0');
    int exponent = 0;
    std::from_chars(c[1] == '+' ? c + 2 : c + 1, text + len, exponent);
    decimal.exponent += exponent;
    return decimal;
}

// Digits that tell any two numbers of a dtype apart, whatever they are.
constexpr int all_digits[] = {17, 9, 5, 4};

size_t print_exact(double value, enum pe_dtype dtype, char *out)
{
    char *p = out;
    if (char *end = print_special(value, p))
        return end - out;
    return print_decimal(digits_decimal(value, all_digits[dtype]), p) - out;
}

char *print_hex_integer(uint64_t magnitude, bool negative, char *out)
{
    out = std::copy_n(&"-0x"[!negative], 2 + negative, out);
    return std::to_chars(out, out + 16, magnitude, 16).ptr;
}

// C's %a with a leading 1, also for subnormal numbers, so that a value has one text.
size_t print_hex(double value, char *out)
{
    constexpr uint64_t fraction = (uint64_t(1) << 52) - 1;
    char *p = out;
    if (std::isnan(value) || std::isinf(value))
        return print_special(value, p) - out;
    if (std::signbit(value))
        *p++ = '-';
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
    bits &= fraction;
    if (exponent == -1023 && bits) { // subnormal
        int shift = __builtin_clzll(bits) - 11;
        bits = bits << shift & fraction;
        exponent = -1022 - shift;
    }
    p = std::copy_n(value == 0 ? "0x0" : "0x1", 3, p);
    if (bits)
        *p++ = '.';
    for (int shift = 48; bits; shift -= 4) {
        *p++ = "0123456789abcdef"[bits >> shift];
        bits &= (uint64_t(1) << shift) - 1;
    }
    *p++ = 'p';
    exponent = value == 0 ? 0 : exponent;
    if (exponent >= 0)
        *p++ = '+';
    return std::to_chars(p, out + PE_TEXT_MAX, exponent).ptr - out;
}

size_t print_bits(enum pe_dtype dtype, const void *array, size_t i, char *out)
{
    uint64_t bits = 0;
    size_t size = pe_dtype_size(dtype);
    if (size == 2)
        bits = static_cast<const uint16_t *>(array)[i];
    else if (size == 4)
        bits = static_cast<const uint32_t *>(array)[i];
    else
        bits = static_cast<const uint64_t *>(array)[i];
    return std::to_chars(out, out + PE_TEXT_MAX, bits).ptr - out;
}

} // namespace

extern "C" size_t pe_text_print(enum pe_dtype dtype, const void *array, size_t i,
                                char out[PE_TEXT_MAX])
{
    if (dtype == PE_I64)
        return std::to_chars(out, out + PE_TEXT_MAX, static_cast<const int64_t *>(array)[i]).ptr -
               out;
    double value =
        dtype == PE_F64 ? static_cast<const double *>(array)[i] : pe_load(dtype, array, i);
    return print_real(value, formats[dtype], out);
}

extern "C" size_t pe_text_print_as(enum pe_dtype dtype, enum pe_notation notation,
                                   const void *array, size_t i, char out[PE_TEXT_MAX])
{
    if (notation == PE_BITS)
        return print_bits(dtype, array, i, out);
    if (notation == PE_SHORTEST || (notation == PE_EXACT && dtype == PE_I64))
        return pe_text_print(dtype, array, i, out);
    if (dtype == PE_I64) {
        int64_t value = static_cast<const int64_t *>(array)[i];
        uint64_t magnitude =
            value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
        return print_hex_integer(magnitude, value < 0, out) - out;
    }
    double value = pe_load(dtype, array, i);
    return notation == PE_HEX ? print_hex(value, out) : print_exact(value, dtype, out);
}
