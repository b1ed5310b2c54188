// SPDX-License-Identifier: Apache-2.0
/*
 * text_read.cpp: numbers from text. C++ (without exceptions and RTTI) because the compiler computes
 * the table of powers, and std::from_chars reads what the fast way cannot decide.
 *
 * The significand times a 128-bit power of ten gives the nearest double, unless the product is too
 * close to a half-way case (Lemire, Number Parsing at a Gigabyte per Second, 2021). Every narrower
 * format is reached through that double, which is the same as rounding directly unless the double
 * lies exactly half-way between two neighbours of the narrower format; then the exact decimal value
 * is compared with it.
 */
#include <mpfr.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "digits.hpp"
#include "formats.hpp"
#include "posenc.h"
#include "powers_of_ten.hpp"
#include "text.h"

namespace
{

using uint128 = unsigned __int128;

constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- Scanning ----------------------------------------------------------------------------------

// A scanned number: (-1)^negative * digits * 10^exponent.
struct Scan {
    bool negative;
    bool cut;         // a digit other than zero did not fit in `digits`
    uint64_t digits;  // the first 19 significant ones
    int64_t exponent; // of the last digit held
};

constexpr int held_digits = 19; // 10^19 < 2^64
constexpr int64_t exponent_max = 1000000000;

// Takes digits into `value` (modulo 2^64) up to the first other byte.
const char *take_digits(const char *p, const char *end, uint64_t *value)
{
    for (; p < end && is_digit(*p); ++p)
        *value = *value * 10 + static_cast<unsigned>(*p - '0');
    return p;
}

// The same for many of them.
const char *take_eights(const char *p, const char *end, uint64_t *value)
{
    for (; end - p >= 8; p += 8) {
        uint64_t bytes = load_eight(p);
        if (leading_digits(bytes) < 8)
            break;
        *value = *value * 100000000 + eight_digits(bytes);
    }
    return take_digits(p, end, value);
}

// Again, digit by digit, for a number with more significant digits than fit.
void scan_long(const char *p, const char *end, Scan *scan)
{
    int held = 0;
    bool fraction = false;
    scan->digits = 0;
    scan->exponent = 0;
    for (; p < end; ++p) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        unsigned digit = static_cast<unsigned>(*p - '0');
        if (held < held_digits) {
            scan->digits = scan->digits * 10 + digit;
            held += scan->digits != 0;
            scan->exponent -= fraction;
        } else {
            scan->cut |= digit != 0;
            scan->exponent += !fraction;
        }
    }
}

// The exponent behind an e. Returns its end, or nullptr if there is none.
const char *scan_exponent(const char *p, const char *end, int64_t *exponent)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '+' || *p == '-'))
        ++p;
    if (p == end || !is_digit(*p))
        return nullptr;
    for (; p < end && is_digit(*p); ++p)
        *exponent = *exponent < exponent_max ? *exponent * 10 + (*p - '0') : *exponent;
    if (negative)
        *exponent = -*exponent;
    return p;
}

// Reads a number of JSON's grammar. Returns its end, or nullptr if there is none.
const char *scan_number(const char *text, const char *end, Scan *scan)
{
    *scan = {};
    scan->negative = text < end && *text == '-';
    const char *whole = text + scan->negative;
    const char *p = take_digits(whole, end, &scan->digits);
    if (p == whole || (*whole == '0' && p - whole > 1))
        return nullptr;
    auto significant = *whole == '0' ? 0 : p - whole;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (significant == 0 && p < end && *p == '0')
            ++p;
        const char *first = p;
        p = take_eights(p, end, &scan->digits);
        if (p == fraction)
            return nullptr;
        significant += p - first;
        scan->exponent = fraction - p;
    }
    if (significant > held_digits)
        scan_long(whole, p, scan);
    int64_t exponent = 0;
    if (p < end && (*p | 0x20) == 'e') {
        p = scan_exponent(p + 1, end, &exponent);
        scan->exponent += exponent;
    }
    return p;
}

// Decimal exponent of the first digit.
int64_t leading_exponent(const Scan &scan)
{
    int64_t exponent = scan.exponent;
    for (uint64_t rest = scan.digits; rest >= 10; rest /= 10)
        exponent++;
    return exponent;
}

// ---- Reading -----------------------------------------------------------------------------------

// Rounds (significand + f) * 2^exponent to a double, infinity included: the top bit of the
// significand is set, 0 <= f < 1, `more` says that f > 0.
double round_significand(uint64_t significand, bool more, int exponent)
{
    int lowest = std::max(exponent + 11, -1074); // exponent of the last bit kept
    int dropped = lowest - exponent;
    if (dropped > 64)
        return 0;
    if (exponent + 63 > 1023)
        return infinity;
    uint64_t kept = dropped < 64 ? significand >> dropped : 0;
    uint64_t rest = significand << (64 - dropped);
    uint64_t half = uint64_t(1) << 63;
    kept += (rest > half) | ((rest == half) & (more | (kept & 1)));
    // The hidden bit adds one to the exponent field, as does a carry.
    uint64_t bits = (static_cast<uint64_t>(lowest + 1074) << 52) + kept;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// The double nearest to digits * 10^exponent. False when 128 bits of the power leave a doubt.
bool multiply_power(uint64_t digits, int64_t exponent, double *value)
{
    if (digits == 0 || exponent < power_of_ten_min || exponent > 308) {
        *value = digits == 0 || exponent < 0 ? 0 : infinity;
        return true;
    }
    int k = static_cast<int>(exponent);
    int shift = __builtin_clzll(digits);
    uint64_t significand = digits << shift;
    PowerOfTen power = powers_of_ten[k];
    uint128 low = static_cast<uint128>(significand) * power.lo;
    uint128 product = static_cast<uint128>(significand) * power.hi + (low >> 64);
    // The exact value is at least the product, and less than two units above it: one for the part
    // of `low` cut here, one for the bits of the power behind its 128.
    uint64_t next = static_cast<uint64_t>(product);
    if (next >= ~uint64_t(1))
        return false;
    bool beyond = static_cast<uint64_t>(low) != 0 || !power_of_ten_is_exact(k);
    uint64_t top = static_cast<uint64_t>(product >> 64);
    int two = power_of_ten_exponent(k) - shift + 128; // the value is (top + ...) * 2^two
    int high = static_cast<int>(top >> 63);           // else the top bit is the next one; no branch
    top = high ? top : top << 1 | next >> 63;
    next = high ? next : next << 1;
    two -= 1 - high;
    *value = round_significand(top, next != 0 || beyond, two);
    return true;
}

// The double nearest to the scanned number but for its sign. False when only all of its digits can
// tell.
bool decide_double(const Scan &scan, double *value)
{
    double above;
    if (multiply_power(scan.digits, scan.exponent, value))
        return !scan.cut ||
               (multiply_power(scan.digits + 1, scan.exponent, &above) && above == *value);
    if (scan.cut || scan.digits > (uint64_t(1) << 53) || scan.exponent < -22 || scan.exponent > 22)
        return false;
    double digits = static_cast<double>(scan.digits); // both exact, so one rounding (Clinger, 1990)
    *value = scan.exponent < 0 ? digits / exact_powers_of_ten[-scan.exponent]
                               : digits * exact_powers_of_ten[scan.exponent];
    return true;
}

// The double nearest to the exact decimal value, infinite past the largest.
double nearest_double(const Scan &scan, const char *text, size_t len)
{
    double value;
    if (!decide_double(scan, &value)) {
        const char *start = text + scan.negative;
        if (std::from_chars(start, text + len, value).ec == std::errc::result_out_of_range)
            value = scan.exponent > 0 ? infinity : 0;
    }
    return std::copysign(value, scan.negative ? -1.0 : 1.0);
}

// Whether a double lies exactly half-way between two neighbours of the format.
bool is_midpoint(double value, Format format)
{
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
    if (exponent == -1023 || exponent == 1024) // zero or subnormal; infinite
        return false;
    int dropped = 53 - format.bits + std::max(format.exponent_min - exponent, 0);
    if (dropped > 53)
        return false;
    uint64_t significand = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
    uint64_t half = uint64_t(1) << (dropped - 1);
    return (significand & (2 * half - 1)) == half;
}

// Whether the number is an integer that fits; else the nearest end, or the integer part.
bool read_i64(const Scan &scan, int64_t *out)
{
    uint64_t value = scan.digits;
    uint64_t limit = uint64_t(std::numeric_limits<int64_t>::max()) + scan.negative;
    int64_t exponent = value ? scan.exponent : 0;
    bool fraction = scan.cut; // digits that were cut stand behind the point, or it overflows
    bool overflow = leading_exponent(scan) > 18 && value;
    for (; exponent < 0 && value; ++exponent) {
        fraction |= value % 10 != 0;
        value /= 10;
    }
    for (; exponent > 0 && !overflow; --exponent)
        overflow = __builtin_mul_overflow(value, uint64_t(10), &value);
    overflow = overflow || value > limit;
    uint64_t magnitude = overflow ? limit : value;
    *out = static_cast<int64_t>(scan.negative ? 0 - magnitude : magnitude);
    return !overflow && !fraction;
}

// ---- Exact comparison --------------------------------------------------------------------------

// Exact digits for MPFR: "-12345e67" in `out`. A last digit 1 stands for all that do not fit: no
// double has more than 800 digits, so that is enough to compare with any.
constexpr int compared_digits = 800;

void copy_decimal(const char *text, size_t len, char out[compared_digits + 40])
{
    Scan scan;
    scan_number(text, text + len, &scan);
    char *p = out;
    if (scan.negative)
        *p++ = '-';
    int n = 0;
    bool more = false;
    for (const char *t = text; t < text + len && *t != 'e' && *t != 'E'; ++t) {
        if (!is_digit(*t) || (n == 0 && *t == '0'))
            continue;
        if (n < compared_digits)
            p[n++] = *t;
        else
            more |= *t != '0';
    }
    int64_t exponent = leading_exponent(scan) - n + 1;
    if (more || n == 0) {
        p[n++] = more ? '1' : '0';
        exponent--;
    }
    p += n;
    *p++ = 'e';
    *std::to_chars(p, p + 24, exponent).ptr = '\0';
}

} // namespace

extern "C" int pe__text_compare(const char *text, size_t len, double number)
{
    char copy[compared_digits + 40];
    copy_decimal(text, len, copy);
    mpfr_t nearest;
    mpfr_init2(nearest, 53);
    int rounded_up = mpfr_strtofr(nearest, copy, nullptr, 10, MPFR_RNDN);
    int order = mpfr_cmp_d(nearest, number);
    mpfr_clear(nearest);
    if (order == 0)
        order = -rounded_up;
    return (order > 0) - (order < 0);
}

extern "C" bool pe__text_decimal(const char *text, size_t len, struct pe__decimal *decimal)
{
    Scan scan;
    if (scan_number(text, text + len, &scan) != text + len || scan.cut)
        return false;
    decimal->digits = scan.negative ? -static_cast<__int128>(scan.digits) : scan.digits;
    decimal->exponent = scan.digits ? scan.exponent : 0;
    return true;
}

extern "C" double pe__text_value(struct pe__decimal decimal)
{
    bool negative = decimal.digits < 0;
    uint128 digits = negative ? -static_cast<uint128>(decimal.digits) : decimal.digits;
    constexpr uint64_t part = 10000000000000000000u; // 10^19
    uint64_t high = static_cast<uint64_t>(digits / part);
    uint64_t low = static_cast<uint64_t>(digits % part);
    double value;
    if (high != 0 || !decide_double({false, false, low, decimal.exponent}, &value)) {
        char text[80], tail[24];
        char *p = high != 0 ? std::to_chars(text, text + 24, high).ptr : text;
        auto n = std::to_chars(tail, tail + 24, low).ptr - tail;
        p = std::fill_n(p, high != 0 ? 19 - n : 0, '0');
        p = std::copy_n(tail, n, p);
        *p++ = 'e';
        p = std::to_chars(p, p + 24, decimal.exponent).ptr;
        pe_text_read(text, static_cast<size_t>(p - text), PE_F64, &value, 0);
    }
    return negative ? -value : value;
}

namespace
{

// Stores the scanned number; false when the dtype does not hold it.
bool store(const Scan &scan, const char *text, size_t len, enum pe_dtype dtype, void *array,
           size_t i)
{
    if (dtype == PE_I64)
        return read_i64(scan, static_cast<int64_t *>(array) + i);
    double value = nearest_double(scan, text, len);
    if (dtype == PE_F64) {
        static_cast<double *>(array)[i] = value;
        return std::isfinite(value);
    }
    if (is_midpoint(value, formats[dtype])) {
        int order = pe__text_compare(text, len, value);
        if (order != 0)
            value = std::nextafter(value, order > 0 ? infinity : -infinity);
    }
    pe_store(dtype, array, i, value);
    return std::isfinite(pe_load(dtype, array, i));
}

} // namespace

extern "C" bool pe_text_read(const char *text, size_t len, enum pe_dtype dtype, void *array,
                             size_t i)
{
    Scan scan;
    if (scan_number(text, text + len, &scan) == text + len)
        return store(scan, text, len, dtype, array, i);
    if (dtype == PE_I64)
        static_cast<int64_t *>(array)[i] = 0;
    else
        pe_store(dtype, array, i, std::nan(""));
    return false;
}

extern "C" const char *pe_text_read_next(const char *text, const char *end, enum pe_dtype dtype,
                                         void *array, size_t i, bool *held)
{
    Scan scan;
    const char *stop = scan_number(text, end, &scan);
    *held = stop && store(scan, text, static_cast<size_t>(stop - text), dtype, array, i);
    return stop;
}
