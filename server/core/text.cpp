// SPDX-License-Identifier: Apache-2.0
/*
 * text.cpp: numbers as text. The only C++ file: a C interface over std::from_chars (decimal to
 * nearest double) and std::to_chars (shortest digits), compiled without exceptions and RTTI.
 *
 * Reading rounds once. Every format narrower than double is reached through the nearest double,
 * which gives the same result as direct rounding unless that double lies exactly half-way between
 * two neighbours of the narrower format; then the exact decimal value is compared with it.
 */
#include <mpfr.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "posenc.h"
#include "text.h"

namespace
{

constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- Reading -----------------------------------------------------------------------------------

// A scanned number: value = (-1)^negative * digits * 10^exponent, unless `digits` is cut.
struct Scan {
    bool negative;
    bool cut;         // a digit other than zero did not fit in `digits`
    uint64_t digits;  // the first 19 significant ones
    int64_t exponent; // of the last digit held
    int64_t
        leading; // decimal exponent of the first significant digit; the value is < 10^(leading+1)
};

constexpr int held_digits = 19; // 10^19 < 2^64
constexpr int64_t exponent_max = 1000000000;

bool is_digit(char c)
{
    return static_cast<unsigned char>(c - '0') < 10;
}

// Takes the digits at *p into the scan; they stand behind the point if `fraction`.
bool scan_digits(Scan *scan, const char **p, const char *end, bool fraction, int *held)
{
    const char *start = *p;
    for (; *p < end && is_digit(**p); ++*p) {
        unsigned digit = static_cast<unsigned>(**p - '0');
        if (*held < held_digits) {
            scan->digits = scan->digits * 10 + digit;
            *held += scan->digits != 0;
            scan->exponent -= fraction;
        } else {
            scan->cut |= digit != 0;
            scan->exponent += !fraction;
        }
    }
    return *p > start;
}

bool scan_exponent(Scan *scan, const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '+' || *p == '-'))
        ++p;
    if (p == end)
        return false;
    int64_t exponent = 0;
    for (; p < end && is_digit(*p); ++p)
        exponent = exponent < exponent_max ? exponent * 10 + (*p - '0') : exponent;
    scan->exponent += negative ? -exponent : exponent;
    return p == end;
}

// Checks JSON's grammar over all of the text.
bool scan_number(const char *text, size_t len, Scan *scan)
{
    *scan = {};
    const char *p = text;
    const char *end = text + len;
    int held = 0;
    if (p < end && *p == '-') {
        scan->negative = true;
        ++p;
    }
    const char *whole = p;
    if (!scan_digits(scan, &p, end, false, &held) || (*whole == '0' && p - whole > 1))
        return false;
    if (p < end && *p == '.') {
        ++p;
        if (!scan_digits(scan, &p, end, true, &held))
            return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        if (!scan_exponent(scan, p + 1, end))
            return false;
        p = end;
    }
    scan->leading = scan->exponent + held - 1;
    return p == end;
}

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The double nearest to the exact decimal value; infinite past the largest.
double nearest_double(const Scan &scan, const char *text, size_t len)
{
    double value = static_cast<double>(scan.digits);
    if (!scan.cut && scan.digits <= (uint64_t(1) << 53) && scan.exponent >= -22 &&
        scan.exponent <= 22) { // both exact, so one rounding (Clinger 1990)
        value = scan.exponent < 0 ? value / powers_of_ten[-scan.exponent]
                                  : value * powers_of_ten[scan.exponent];
        return scan.negative ? -value : value;
    }
    std::from_chars_result result = std::from_chars(text, text + len, value);
    if (result.ec == std::errc::result_out_of_range) {
        value = scan.leading > 0 && scan.digits != 0 ? infinity : 0;
        return scan.negative ? -value : value;
    }
    return value;
}

// Significand bits and smallest normal exponent.
struct Format {
    int bits, exponent_min;
};
constexpr Format formats[] = {{53, -1022}, {24, -126}, {11, -14}, {8, -126}};

// Whether a double lies exactly half-way between two neighbours of the format.
bool is_midpoint(double value, Format format)
{
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
    if (exponent == -1023 || exponent == 1024) // zero or subnormal; infinite
        return false;
    int dropped = 53 - format.bits;
    if (exponent < format.exponent_min)
        dropped += format.exponent_min - exponent;
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
    for (; exponent < 0 && value; ++exponent) {
        fraction |= value % 10 != 0;
        value /= 10;
    }
    bool overflow = value && scan.leading > 18;
    for (; exponent > 0 && !overflow; --exponent)
        overflow = __builtin_mul_overflow(value, uint64_t(10), &value);
    overflow = overflow || value > limit;
    uint64_t magnitude = overflow ? limit : value;
    *out = static_cast<int64_t>(scan.negative ? 0 - magnitude : magnitude);
    return !overflow && !fraction;
}

// ---- Printing ----------------------------------------------------------------------------------

// value = 0.d1d2d3... * 10^point
struct Digits {
    char digit[20];
    int n;
    int point;
};

// Notation of ECMAScript's Number::toString.
size_t print_digits(const Digits &d, char *out)
{
    char *p = out;
    if (d.n <= d.point && d.point <= 21) {
        p = std::copy_n(d.digit, d.n, p);
        p = std::fill_n(p, d.point - d.n, '0');
    } else if (0 < d.point && d.point <= 21) {
        p = std::copy_n(d.digit, d.point, p);
        *p++ = '.';
        p = std::copy_n(d.digit + d.point, d.n - d.point, p);
    } else if (-6 < d.point && d.point <= 0) {
        p = std::copy_n("0.", 2, p);
        p = std::fill_n(p, -d.point, '0');
        p = std::copy_n(d.digit, d.n, p);
    } else {
        *p++ = d.digit[0];
        if (d.n > 1) {
            *p++ = '.';
            p = std::copy_n(d.digit + 1, d.n - 1, p);
        }
        *p++ = 'e';
        *p++ = d.point > 0 ? '+' : '-';
        p = std::to_chars(p, p + 4, std::abs(d.point - 1)).ptr;
    }
    return static_cast<size_t>(p - out);
}

// Shortest digits of a positive double or float, from its scientific form d.ddde+xx.
template <typename Real> void shortest_digits(Real value, Digits *d)
{
    char text[32];
    const char *end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
    const char *p = text;
    d->n = 0;
    for (; *p != 'e'; ++p)
        if (*p != '.')
            d->digit[d->n++] = *p;
    bool negative = p[1] == '-';
    int exponent = 0;
    for (p += 2; p < end; ++p)
        exponent = exponent * 10 + (*p - '0');
    d->point = (negative ? -exponent : exponent) + 1;
}

// value * 10^k, off by a few units in the last place.
double scale_by_ten(double value, int k)
{
    for (; k > 22; k -= 22)
        value *= 1e22;
    for (; k < -22; k += 22)
        value /= 1e22;
    return k < 0 ? value / powers_of_ten[-k] : value * powers_of_ten[k];
}

// The decimals that read back as one number of a narrow format: between low and high.
struct Interval {
    double low, high;
    bool closed; // the ends belong to it: they are ties that go to this (even) number
};

Interval rounding_interval(double value, Format format)
{
    int exponent;
    double fraction = std::frexp(value, &exponent); // value = fraction * 2^exponent, in [1/2, 1)
    exponent -= 1;
    bool narrow_below = fraction == 0.5 && exponent > format.exponent_min;
    int unit = (exponent > format.exponent_min ? exponent : format.exponent_min) - format.bits + 1;
    double half = std::ldexp(0.5, unit);
    double units = std::ldexp(value, -unit);
    bool even = std::fmod(units, 2) == 0;
    return {value - (narrow_below ? half / 2 : half), value + half, even};
}

// Digits of the integer c, standing for c * 10^exponent.
void integer_digits(unsigned c, int exponent, Digits *d)
{
    d->n = static_cast<int>(std::to_chars(d->digit, d->digit + sizeof d->digit, c).ptr - d->digit);
    d->point = exponent + d->n;
    while (d->n > 1 && d->digit[d->n - 1] == '0')
        d->n--;
}

// Shortest digits of a positive f16 or bf16: of the decimals with n digits only the two next to the
// value can read back as it, the nearer one is tried first. The arithmetic is in double, whose
// error is far below what separates any two cases (all 65536 values of both formats are tested).
void shortest_digits(double value, Format format, Digits *d)
{
    Interval interval = rounding_interval(value, format);
    int exponent;
    std::frexp(value, &exponent);
    int point = exponent * 1233 / 4096; // near log10
    while (scale_by_ten(value, -point) >= 1)
        point++;
    while (scale_by_ten(value, 1 - point) < 1)
        point--;
    for (int n = 1;; n++) {
        double scaled = scale_by_ten(value, n - point);
        unsigned below = static_cast<unsigned>(scaled);
        double rest = scaled - below;
        bool up = rest > 0.5 || (rest == 0.5 && below % 2 == 1);
        for (unsigned c : {below + up, below + !up}) {
            double x = scale_by_ten(c, point - n);
            if ((interval.low < x && x < interval.high) ||
                (interval.closed && (x == interval.low || x == interval.high)))
                return integer_digits(c, point - n, d);
        }
    }
}

size_t print_real(enum pe_dtype dtype, const void *array, size_t i, char *out)
{
    double value = pe_load(dtype, array, i);
    if (std::isnan(value))
        return std::copy_n("NaN", 3, out) - out;
    char *p = out;
    if (std::signbit(value)) {
        *p++ = '-';
        value = -value;
    }
    if (value == 0) // only the negative zero has a point
        return std::copy_n("0.0", p > out ? 3 : 1, p) - out;
    if (std::isinf(value))
        return std::copy_n("Infinity", 8, p) - out;
    Digits digits;
    if (dtype == PE_F64)
        shortest_digits(value, &digits);
    else if (dtype == PE_F32)
        shortest_digits(static_cast<float>(value), &digits);
    else
        shortest_digits(value, formats[dtype], &digits);
    return p - out + print_digits(digits, p);
}

} // namespace

extern "C" int pe__text_compare(const char *text, size_t len, double number)
{
    // Enough digits to tell any decimal from any double; a final 1 stands for what was cut.
    constexpr int digits_max = 800;
    char copy[digits_max + 40];
    char *p = copy;
    Scan scan;
    scan_number(text, len, &scan);
    if (scan.negative)
        *p++ = '-';
    int n = 0;
    bool more = false;
    for (const char *t = text; t < text + len && *t != 'e' && *t != 'E'; ++t) {
        if (!is_digit(*t) || (n == 0 && *t == '0'))
            continue;
        if (n < digits_max)
            p[n++] = *t;
        else
            more |= *t != '0';
    }
    if (n == 0)
        p[n++] = '0';
    int64_t exponent = scan.leading - n + 1;
    if (more) {
        p[n++] = '1';
        exponent--;
    }
    p += n;
    *p++ = 'e';
    p = std::to_chars(p, copy + sizeof copy - 1, exponent).ptr;
    *p = '\0';

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
    if (!scan_number(text, len, &scan) || scan.cut)
        return false;
    decimal->digits = scan.negative ? -static_cast<__int128>(scan.digits) : scan.digits;
    decimal->exponent = scan.digits ? scan.exponent : 0;
    return true;
}

extern "C" bool pe_text_read(const char *text, size_t len, enum pe_dtype dtype, void *array,
                             size_t i)
{
    Scan scan;
    bool is_number = scan_number(text, len, &scan);
    if (dtype == PE_I64) {
        int64_t value = 0;
        bool fits = is_number && read_i64(scan, &value);
        static_cast<int64_t *>(array)[i] = value;
        return fits;
    }
    double value = is_number ? nearest_double(scan, text, len) : std::nan("");
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

extern "C" size_t pe_text_print(enum pe_dtype dtype, const void *array, size_t i,
                                char out[PE_TEXT_MAX])
{
    if (dtype == PE_I64)
        return std::to_chars(out, out + PE_TEXT_MAX, static_cast<const int64_t *>(array)[i]).ptr -
               out;
    return print_real(dtype, array, i, out);
}
