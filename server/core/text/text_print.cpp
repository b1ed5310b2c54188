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
#include <limits>

#include "digits.hpp"
#include "formats.hpp"
#include "posenc.h"
#include "powers_of_ten.hpp"

// What a loop over many numbers does for each is part of the loop: half the time of calls that know
// nothing of the format.
#define FAST inline __attribute__((always_inline))

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

FAST Binary decompose(double value, Format format)
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

// ---- Shortest decimals --------------------------------------------------------------------------

struct Decimal {
    uint64_t digits;
    int exponent;
};

constexpr int digits_max = 17; // of the shortest decimal of a double

// The same number with more digits.
Decimal fill_up(Decimal decimal, int digits)
{
    int n = (64 - __builtin_clzll(decimal.digits)) * 1233 >> 12; // near log10
    n += decimal.digits >= integer_powers_of_ten[n];
    return {decimal.digits * integer_powers_of_ten[digits - n], decimal.exponent - (digits - n)};
}

// v in units of 10^k, the largest power of ten not above the width of the interval that rounds to
// it: (c << shift) * power / 2^128. The interval holds one or more multiples of 10^k, and at most
// one of 10^(k+1).
struct Units {
    int k;
    PowerOfTen power;
    int shift; // 1 to 4
};

Units units_of(Binary v)
{
    int k = (v.q * 1262611 - (v.nearer_below ? 524031 : 0)) >> 22; // floor(log10(width))
    return {k, powers_of_ten[-k], v.q + power_of_ten_exponent(-k) + 128};
}

// floor(x * power / 2^128), with the last bit set if that is not exact. The power may be one unit
// too large, which leaves at most 1 behind the point of an exact result.
uint64_t scale_to_odd(uint64_t x, PowerOfTen power)
{
    uint128 low = static_cast<uint128>(x) * power.lo;
    uint128 product = static_cast<uint128>(x) * power.hi + (low >> 64);
    return static_cast<uint64_t>(product >> 64) | (static_cast<uint64_t>(product) > 1);
}

// The shortest decimal that reads back, and of these the nearest (of two, the even one). All is
// counted in quarters of 10^k, rounded to odd: comparisons with whole quarters are then exact.
Decimal decide_decimal(Binary v)
{
    Units units = units_of(v);
    PowerOfTen power = units.power;
    if (!power_of_ten_is_exact(-units.k)) // rounded up
        power.hi += ++power.lo == 0;
    uint64_t odd = v.c % 2; // the ends of the interval are ties, which go to even numbers
    uint64_t middle = scale_to_odd(4 * v.c << units.shift, power);
    uint64_t low = scale_to_odd((4 * v.c - (v.nearer_below ? 1 : 2)) << units.shift, power) + odd;
    uint64_t high = scale_to_odd((4 * v.c + 2) << units.shift, power) - odd;

    uint64_t below = middle / 4;
    uint64_t tens = below / 10;
    bool tens_below = low <= 40 * tens;
    bool tens_above = 40 * (tens + 1) <= high;
    if (below >= 10 && tens_below != tens_above)
        return {tens + tens_above, units.k + 1};
    bool ones_below = low <= 4 * below;
    bool ones_above = 4 * (below + 1) <= high;
    if (ones_below != ones_above)
        return {below + ones_above, units.k};
    uint64_t half = 4 * below + 2;
    return {below + (middle > half || (middle == half && below % 2 == 1)), units.k};
}

// The same by a single product, which is cut, unless a comparison is too close for it. For normal
// numbers whose neighbours are equally near. Without branches on digits, which no processor
// foresees: half the time.
FAST bool guess_decimal(Binary v, Format format, Decimal *decimal)
{
    Units units = units_of(v);
    uint64_t x = v.c << units.shift;
    uint128 low = static_cast<uint128>(x) * units.power.lo;
    uint128 product = static_cast<uint128>(x) * units.power.hi + static_cast<uint64_t>(low >> 64);
    uint64_t below = static_cast<uint64_t>(product >> 64);
    uint64_t fraction = static_cast<uint64_t>(product);
    uint64_t tens = below / 10;

    // Distances in units of 10^k, below 16, with so many bits behind the point.
    constexpr int point = 60;
    uint64_t reach = units.power.hi >> (65 - point - units.shift); // half the interval's width
    uint64_t down = (below - 10 * tens) << point | fraction >> (64 - point);
    uint64_t up = (uint64_t(10) << point) - down;
    constexpr uint64_t doubt = 4; // more than the errors of any two
    constexpr uint64_t half = uint64_t(1) << 63;
    if (down - reach + doubt <= 2 * doubt || up - reach + doubt <= 2 * doubt ||
        fraction - half + doubt <= 2 * doubt)
        return false;
    uint64_t tens_above = up < reach;
    uint64_t is_tens = -(tens_above | (down < reach));
    uint64_t digits =
        (10 * (tens + tens_above) & is_tens) | ((below + (fraction >> 63)) & ~is_tens);

    // At least c and less than 20 c, so that it has two lengths, or three in the narrower formats.
    digits *= integer_powers_of_ten[format.spare_digits];
    int exponent = units.k - format.spare_digits;
    for (int i = format.bits == 53 ? 1 : 0; i < 2; i++) {
        uint64_t is_short = digits < integer_powers_of_ten[format.digits - 1];
        digits += 9 * digits & -is_short;
        exponent -= static_cast<int>(is_short);
    }
    *decimal = {digits, exponent};
    return true;
}

FAST Decimal shortest_decimal(Binary v, Format format)
{
    Decimal decimal;
    bool normal = v.c >> (format.bits - 1) != 0;
    return normal && !v.nearer_below && guess_decimal(v, format, &decimal)
               ? decimal
               : fill_up(decide_decimal(v), format.digits);
}

// ---- Digits as text -----------------------------------------------------------------------------

// Every group of four digits, the first one lowest.
struct Groups {
    uint32_t entry[10000];

    constexpr Groups() : entry()
    {
        for (uint32_t i = 0; i < 10000; i++)
            entry[i] = i / 1000 | i / 100 % 10 << 8 | i / 10 % 10 << 16 | i % 10 << 24;
    }
};

constexpr Groups groups;

// Eight digits of value < 10^8 in eight bytes, the first one lowest.
uint64_t eight_characters(uint64_t value)
{
    uint64_t high = value / 10000;
    return groups.entry[high] | static_cast<uint64_t>(groups.entry[value - 10000 * high]) << 32;
}

// Seventeen digits, the zeros at the end included: one, eight and eight characters.
struct Digits {
    char first;
    uint64_t next, last;
    int n; // without the zeros at the end
};

// Of nine digits, which all but doubles have, the last eight are zeros: a third of the time of
// printing less.
FAST Digits split_digits(uint64_t digits, bool nine)
{
    constexpr uint64_t block = 100000000;
    constexpr uint64_t zeros = 0x3030303030303030;
    uint64_t first = nine ? digits / block : digits / (block * block);
    uint64_t rest = digits - first * (nine ? block : block * block);
    uint64_t next = eight_characters(nine ? rest : rest / block);
    uint64_t last = nine ? 0 : eight_characters(rest % block);
    int cut = last ? __builtin_clzll(last) / 8 : next ? 8 + __builtin_clzll(next) / 8 : 16;
    return {static_cast<char>('0' + first), next + zeros, last + zeros, digits_max - cut};
}

char *put_digits(const Digits &digits, char *out)
{
    *out++ = digits.first;
    std::memcpy(out, &digits.next, 8);
    std::memcpy(out + 8, &digits.last, 8);
    return out + 16;
}

// digits * 10^exponent, of nine or seventeen digits, in the notation of ECMAScript's
// Number::toString. Stores are of whole words (PE_TEXT_MAX has room for what they write too much),
// and nothing is read back. Whether zeros stand before the digits or the point among them is no
// branch: in most arrays some do and some do not.
FAST char *print_decimal(Decimal decimal, int length, char *out)
{
    Digits digits = split_digits(decimal.digits, length < digits_max);
    int point = decimal.exponent + length; // the value is 0.digits * 10^point
    if (-6 < point && point <= 8 && point < digits.n) {
        bool whole = point > 0; // digits stand before the point, else zeros behind it
        int bits = 8 * (point - 1) & 63;
        uint64_t before = whole ? (uint64_t(1) << bits) - 1 : ~uint64_t(0);
        uint64_t dot = whole ? uint64_t('.') << bits : 0;
        std::memcpy(out, "0.000000", 8);
        char *at = whole ? out : out + 2 - point;
        *at++ = digits.first;
        uint64_t dotted = (digits.next & before) | dot | (digits.next & ~before) << 8;
        std::memcpy(at, &dotted, 8);
        at[8] = static_cast<char>(digits.next >> 56);
        std::memcpy(at + 8 + whole, &digits.last, 8);
        return at + digits.n - 1 + whole;
    }
    if (0 < point && point < digits.n) {
        uint128 behind = static_cast<uint128>(digits.last) << 64 | digits.next;
        behind >>= 8 * (point - 1);
        put_digits(digits, out);
        out[point] = '.';
        std::memcpy(out + point + 1, &behind, 16);
        return out + digits.n + 1;
    }
    if (0 < point && point <= 21) {
        std::memset(put_digits(digits, out), '0', 4);
        return out + point;
    }
    put_digits(digits, out + 1);
    out[0] = digits.first;
    out[1] = '.';
    out += digits.n > 1 ? digits.n + 1 : 1;
    *out++ = 'e';
    *out++ = point > 0 ? '+' : '-';
    return std::to_chars(out, out + 4, std::abs(point - 1)).ptr;
}

// Writes the sign without a branch, which half of the numbers would take. Returns the magnitude.
double print_sign(double value, char *&out)
{
    *out = '-';
    out += std::signbit(value) && !std::isnan(value);
    return std::fabs(value);
}

// Zero (which has a point if it is negative), infinity or NaN, behind their sign.
char *print_special(double magnitude, bool negative, char *out)
{
    if (std::isnan(magnitude))
        return std::copy_n("NaN", 3, out);
    if (std::isinf(magnitude))
        return std::copy_n("Infinity", 8, out);
    return std::copy_n("0.0", negative ? 3 : 1, out);
}

bool is_special(double magnitude)
{
    uint64_t bits;
    std::memcpy(&bits, &magnitude, sizeof bits);
    constexpr uint64_t infinity = uint64_t(0x7FF) << 52;
    return bits - 1 >= infinity - 1;
}

// Whether it is an integer that the format has all neighbours of.
FAST bool is_whole(double magnitude, Format format)
{
    return magnitude < static_cast<double>(uint64_t(1) << format.bits) &&
           static_cast<double>(static_cast<int64_t>(magnitude)) == magnitude;
}

FAST char *print_real(double value, Format format, char *out)
{
    char *p = out;
    double magnitude = print_sign(value, p);
    if (is_special(magnitude))
        return print_special(magnitude, p > out, p);
    if (is_whole(magnitude, format))
        return std::to_chars(p, out + PE_TEXT_MAX, static_cast<int64_t>(magnitude)).ptr;
    Decimal decimal = shortest_decimal(decompose(magnitude, format), format);
    return print_decimal(decimal, format.digits, p);
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

char *print_exact(double value, enum pe_dtype dtype, char *out)
{
    char *p = out;
    double magnitude = print_sign(value, p);
    if (is_special(magnitude))
        return print_special(magnitude, p > out, p);
    Decimal decimal = fill_up(digits_decimal(magnitude, all_digits[dtype]), digits_max);
    return print_decimal(decimal, digits_max, p);
}

char *print_hex_integer(uint64_t magnitude, bool negative, char *out)
{
    out = std::copy_n(&"-0x"[!negative], 2 + negative, out);
    return std::to_chars(out, out + 16, magnitude, 16).ptr;
}

// C's %a with a leading 1, also for subnormal numbers, so that a value has one text.
char *print_hex(double value, char *out)
{
    constexpr uint64_t fraction = (uint64_t(1) << 52) - 1;
    char *p = out;
    value = print_sign(value, p);
    if (!std::isfinite(value))
        return print_special(value, false, p);
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
    return std::to_chars(p, out + PE_TEXT_MAX, exponent).ptr;
}

char *print_bits(enum pe_dtype dtype, const void *array, size_t i, char *out)
{
    uint64_t bits = 0;
    size_t size = pe_dtype_size(dtype);
    if (size == 2)
        bits = static_cast<const uint16_t *>(array)[i];
    else if (size == 4)
        bits = static_cast<const uint32_t *>(array)[i];
    else
        bits = static_cast<const uint64_t *>(array)[i];
    return std::to_chars(out, out + PE_TEXT_MAX, bits).ptr;
}

// The decimal of an element without its sign, or digits 0 for those that print_real prints in
// another way.
FAST Decimal list_decimal(double value, Format format)
{
    double magnitude = std::fabs(value);
    if (is_special(magnitude) || is_whole(magnitude, format))
        return {0, 0};
    return shortest_decimal(decompose(magnitude, format), format);
}

FAST char *print_element(double value, Decimal decimal, Format format, char *out)
{
    char *begin = out;
    if (decimal.digits != 0) {
        print_sign(value, out);
        return print_decimal(decimal, format.digits, out);
    }
    out = print_real(value, format, out);
    if (out[-1] > '9') { // NaN, Infinity
        std::memmove(begin + 1, begin, static_cast<size_t>(out - begin));
        *begin = '"';
        out[1] = '"';
        out += 2;
    }
    return out;
}

// A loop for each dtype, so that its format is known there; `load` gives element i as a double. The
// decimals of some elements, then their text: two short loops, of which a processor does more
// rounds at once than of a long one (f32 11 % faster, f64 4 %).
template <typename Load> char *print_list(size_t n, Format format, Load load, char *out)
{
    constexpr size_t block_max = 16;
    Decimal decimals[block_max];
    for (size_t first = 0; first < n; first += block_max) {
        size_t block = std::min(n - first, block_max);
        for (size_t i = 0; i < block; i++)
            decimals[i] = list_decimal(load(first + i), format);
        for (size_t i = 0; i < block; i++) {
            out = print_element(load(first + i), decimals[i], format, out);
            *out++ = ',';
        }
    }
    return out;
}

} // namespace

extern "C" size_t pe_text_print(enum pe_dtype dtype, const void *array, size_t i,
                                char out[PE_TEXT_MAX])
{
    if (dtype == PE_I64)
        return std::to_chars(out, out + PE_TEXT_MAX, static_cast<const int64_t *>(array)[i]).ptr -
               out;
    return print_real(pe_load(dtype, array, i), formats[dtype], out) - out;
}

extern "C" size_t pe_text_print_list(enum pe_dtype dtype, const void *array, size_t first, size_t n,
                                     char *out)
{
    char *end = out;
    switch (dtype) {
    case PE_F64: {
        auto *at = static_cast<const double *>(array) + first;
        end = print_list(
            n, formats[PE_F64], [at](size_t i) { return at[i]; }, out);
        break;
    }
    case PE_F32: {
        auto *at = static_cast<const float *>(array) + first;
        end = print_list(
            n, formats[PE_F32], [at](size_t i) { return double(at[i]); }, out);
        break;
    }
    case PE_I64:
        for (size_t i = first; i < first + n; i++) {
            end += pe_text_print(dtype, array, i, end);
            *end++ = ',';
        }
        break;
    default:
        auto load = [=](size_t i) { return pe_load(dtype, array, first + i); };
        end = print_list(n, formats[dtype], load, out);
    }
    return static_cast<size_t>(end - out);
}

extern "C" size_t pe_text_print_as(enum pe_dtype dtype, enum pe_notation notation,
                                   const void *array, size_t i, char out[PE_TEXT_MAX])
{
    if (notation == PE_BITS)
        return print_bits(dtype, array, i, out) - out;
    if (notation == PE_SHORTEST || (notation == PE_EXACT && dtype == PE_I64))
        return pe_text_print(dtype, array, i, out);
    if (dtype == PE_I64) {
        int64_t value = static_cast<const int64_t *>(array)[i];
        uint64_t magnitude =
            value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
        return print_hex_integer(magnitude, value < 0, out) - out;
    }
    double value = pe_load(dtype, array, i);
    char *end = notation == PE_HEX ? print_hex(value, out) : print_exact(value, dtype, out);
    return end - out;
}
