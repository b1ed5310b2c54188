// SPDX-License-Identifier: Apache-2.0
/*
 * text_plain.cpp: numbers of the usual form, by the list: what bodies are full of, at about a third
 * of the time that text_read.cpp takes for a number of any form. C++ as that is.
 */
#include <cmath>
#include <cstdint>
#include <cstring>

#include "digits.hpp"
#include "posenc.h"
#include "powers_of_ten.hpp"

namespace
{

using uint128 = unsigned __int128;

// Between the numbers of a list, which are in quotes if they are special.
bool is_between(char c)
{
    return static_cast<unsigned char>(c - '-') > '9' - '-' && c != '"';
}

// How many of 16 bytes are digits before the first that is none.
inline int count_digits(const char *p)
{
    int high = leading_digits(load_eight(p)), low = leading_digits(load_eight(p + 8));
    return high + (high == 8 ? low : 0);
}

// Puts the first n of eight digits behind `value`.
inline uint64_t append(uint64_t value, const char *p, int n)
{
    int unused = 32 - 4 * n; // half the bits; 64 at once would be no shift
    return value * integer_powers_of_ten[n] + eight_digits(load_eight(p) << unused << unused);
}

constexpr int plain_max = 32; // bytes that reading a plain number looks at

// A number of the form 1.2345 with at most 16 digits behind the point, which is what arrays are
// full of: without branches that depend on how many digits there are or whether it has a sign, and
// with the shortest way to where it ends, since the next one waits for that. Returns its end, or
// nullptr for any other form. Looks at plain_max bytes.
inline const char *scan_plain(const char *p, uint64_t *digits, int *behind)
{
    const char *stop = p + 3 + count_digits(p + 3); // the first of -1.2 or the second of 1.23
    p += *p == '-';
    unsigned whole = static_cast<unsigned char>(*p - '0');
    *behind = static_cast<int>(stop - p) - 2;
    int others = int{whole > 9} | int{p[1] != '.'} | int{!is_digit(p[2])} | int{*behind > 16} |
                 int{is_digit(*stop)};
    if (others != 0 || (*stop | 0x20) == 'e')
        return nullptr;
    *digits = *behind <= 8 ? append(whole, p + 2, *behind)
                           : append(append(whole, p + 2, 8), p + 10, *behind - 8);
    return stop;
}

// The same for 0.01234 with 17 to 19 digits behind the point, as doubles below 0.1 have them: a
// third of the time that a number of any form takes, and one in twelve of a normal distribution.
inline const char *scan_small(const char *p, uint64_t *digits, int *behind)
{
    p += *p == '-';
    if (p[0] != '0' || p[1] != '.' || count_digits(p + 2) != 16)
        return nullptr;
    int n = leading_digits(load_eight(p + 18));
    const char *stop = p + 18 + n;
    if (n < 1 || n > 3 || (*stop | 0x20) == 'e')
        return nullptr;
    *behind = 16 + n;
    *digits = append(append(append(0, p + 2, 8), p + 10, 8), p + 18, n);
    return stop;
}

// The double nearest to digits / 10^behind, 0 < behind <= 19, below 10, by a product. False where
// its 128 bits leave a doubt. It is multiply_power without what such numbers do not need: they are
// normal, the power is never exact, and what lies half-way between two doubles has more digits.
inline bool multiply_plain(uint64_t digits, int behind, double *value)
{
    int shift = __builtin_clzll(digits | 1);
    PowerOfTen power = powers_of_ten[-behind];
    uint128 low = static_cast<uint128>(digits << shift) * power.lo;
    uint128 product = static_cast<uint128>(digits << shift) * power.hi + (low >> 64);
    uint64_t top = static_cast<uint64_t>(product >> 64);
    int high = static_cast<int>(top >> 63);
    uint64_t halves = top >> (9 + high);
    uint64_t kept = (halves >> 1) + (halves & 1);
    int lowest = power_of_ten_exponent(-behind) - shift + 128 + 10 + high;
    uint64_t bits = (static_cast<uint64_t>(lowest + 1074) << 52) + kept;
    std::memcpy(value, &bits, sizeof bits);
    return digits != 0 && static_cast<uint64_t>(product) < ~uint64_t(1);
}

// The same by whichever way is quicker for numbers that mostly have few digits or many. False when
// that takes more.
template <bool few_digits> inline bool plain_double(uint64_t digits, int behind, double *value)
{
    bool few = digits <= uint64_t(1) << 53;
    if (!(few_digits && few) && multiply_plain(digits, behind, value))
        return true;
    *value = static_cast<double>(digits) / exact_powers_of_ten[behind];
    return few; // both exact, so one rounding
}

bool store_plain(double value, double *out)
{
    *out = value;
    return true;
}

// Not when the float may not be the one nearest to the text, or is no normal number.
bool store_plain(double value, float *out)
{
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    constexpr uint64_t cut = (uint64_t(1) << 29) - 1, half = uint64_t(1) << 28;
    *out = static_cast<float>(value);
    double size = std::fabs(value);
    return (bits & cut) != half && (size == 0 || (size > 1e-30 && size < 1e30));
}

template <typename T> size_t read_plain(const char **text, const char *end, T *out, size_t n)
{
    const char *p = *text;
    size_t i = 0;
    for (; i < n; i++) {
        while (p < end && is_between(*p))
            ++p;
        if (end - p < plain_max)
            break;
        uint64_t digits;
        int behind;
        double value;
        const char *stop = scan_plain(p, &digits, &behind);
        if (!stop)
            stop = scan_small(p, &digits, &behind);
        if (!stop || !plain_double<sizeof(T) == 4>(digits, behind, &value) ||
            !store_plain(std::copysign(value, *p == '-' ? -1.0 : 1.0), out + i))
            break;
        p = stop;
    }
    *text = p;
    return i;
}

} // namespace

extern "C" size_t pe_text_read_plain(const char **text, const char *end, enum pe_dtype dtype,
                                     void *array, size_t first, size_t n)
{
    if (dtype == PE_F64)
        return read_plain(text, end, static_cast<double *>(array) + first, n);
    if (dtype == PE_F32)
        return read_plain(text, end, static_cast<float *>(array) + first, n);
    return 0;
}
