// SPDX-License-Identifier: Apache-2.0
/*
 * decimals.c: short decimals in an interval, digit count by digit count.
 */
#include "decimals.h"

#include <math.h>

#include "posenc.h"

#define DIGITS_MAX 15 /* whose integers doubles count one by one */
#define TENS_MAX   22 /* powers of ten that doubles hold exactly */

static double ten_to(int n)
{
    double power = 1;
    for (int i = 0; i < n; i++)
        power *= 10;
    return power;
}

/* m * 10^e, rounded once. */
static double decimal(double m, int e)
{
    return e < 0 ? m / ten_to(-e) : m * ten_to(e);
}

/* The power of ten of the first digit. */
static int magnitude(double x)
{
    int e = 0;
    while (e < TENS_MAX && x >= ten_to(e + 1))
        e++;
    while (e > -TENS_MAX && x < decimal(1, e))
        e--;
    return e;
}

int pe__digits(double x)
{
    char text[PE_TEXT_MAX];
    double value = fabs(x);
    size_t n = pe_text_print(PE_F64, &value, 0, text);
    int digits = 0, zeros = 0;
    for (size_t i = 0; i < n && text[i] != 'e'; i++) {
        if (text[i] < '0' || text[i] > '9' || (digits + zeros == 0 && text[i] == '0'))
            continue;
        if (text[i] == '0') {
            zeros++;
        } else {
            digits += zeros + 1;
            zeros = 0;
        }
    }
    return digits;
}

/* Puts a number into its place among those of as many digits, from `first` on. */
static void insert(double *out, size_t first, size_t n, double value, double middle)
{
    size_t i = n;
    for (; i > first && fabs(value - middle) < fabs(out[i - 1] - middle); i--)
        out[i] = out[i - 1];
    out[i] = value;
}

static bool is_among(const double *out, size_t n, double value)
{
    for (size_t i = 0; i < n; i++)
        if (out[i] == value)
            return true;
    return false;
}

/* Where to begin with at most `max` of the wholes from low to high: around the middle. */
static double first_whole(double low, double high, size_t max, bool *more)
{
    double first = ceil(low), last = floor(high);
    if (!(last - first >= (double)max))
        return first;
    *more = true;
    return floor(first + (last - first - (double)max) / 2);
}

/* Those of this many digits, which are not there with fewer. */
static size_t of_digits(double low, double high, int digits, double *out, size_t n, size_t max,
                        bool *more)
{
    size_t first = n;
    int e = magnitude(high) - digits + 1;
    double unit = decimal(1, e), m = first_whole(low / unit, high / unit, max - n, more) - 1;
    if (m < 1)
        m = 1;
    while (decimal(m, e) <= high && n < max) {
        double value = decimal(m, e);
        if (value >= low && !is_among(out, n, value))
            insert(out, first, n++, value, (low + high) / 2);
        m += 1;
    }
    *more = *more || decimal(m, e) <= high;
    return n;
}

size_t pe__decimals(double low, double high, double *out, size_t max, bool *more)
{
    size_t n = 0;
    if (!(low <= high) || !(high >= decimal(1, -TENS_MAX)) || !(high <= ten_to(TENS_MAX)))
        return 0;
    for (int digits = 1; digits <= DIGITS_MAX && (digits <= PE__SHORT_DIGITS || n == 0); digits++)
        n = of_digits(low, high, digits, out, n, max, more);
    if (n == 0 && max > 0)
        out[n++] = low + (high - low) / 2;
    return n;
}

size_t pe__wholes(double low, double high, double *out, size_t max, bool *more)
{
    size_t n = 0;
    if (!(low <= high))
        return 0;
    double m = first_whole(low, high, max, more);
    while (m <= high && n < max) {
        insert(out, 0, n++, m, (low + high) / 2);
        m += 1;
    }
    *more = *more || m <= high;
    if (n > 0)
        return n;
    n = pe__decimals(low < 0 ? -high : low, low < 0 ? -low : high, out, max, more);
    for (size_t i = 0; low < 0 && i < n; i++)
        out[i] = -out[i];
    return n;
}
