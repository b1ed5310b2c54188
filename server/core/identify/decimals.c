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

/* What was found so far, and where the interval has its middle. */
struct found {
    double *out;
    size_t n, max;
    double middle;
    bool more;
};

/* Puts a number into its place among those of as many digits, from `first` on; where there is no
 * more room in that of the one furthest from the middle. False if that is the number itself. */
static bool insert(struct found *found, size_t first, double value)
{
    size_t i = found->n;
    double away = fabs(value - found->middle);
    if (i == found->max) {
        found->more = true;
        if (i == first || away >= fabs(found->out[i - 1] - found->middle))
            return false;
        i--;
    } else {
        found->n++;
    }
    for (; i > first && away < fabs(found->out[i - 1] - found->middle); i--)
        found->out[i] = found->out[i - 1];
    found->out[i] = value;
    return true;
}

static bool is_among(const struct found *found, double value)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->out[i] == value)
            return true;
    return false;
}

/* Where to begin with `max` of the wholes from low to high: around the middle. */
static double first_whole(double low, double high, double middle, struct found *found)
{
    double first = ceil(low), last = floor(high), max = (double)found->max;
    if (!(last - first >= max))
        return first;
    found->more = true;
    return fmax(first, fmin(ceil(middle - max / 2), last - max + 1));
}

/* Multiples of 10^e, among the numbers from `first` on. */
static void of_unit(double low, double high, int e, struct found *found, size_t first)
{
    double unit = decimal(1, e);
    double m = first_whole(low / unit, high / unit, found->middle / unit, found);
    if (m - 1 < low / unit && decimal(m - 1, e) >= low)
        m -= 1; /* the quotient was rounded up */
    m = m < 1 ? 1 : m;
    for (bool on = true; on && decimal(m, e) <= high;) {
        double value = decimal(m, e);
        bool fresh = value >= low && !is_among(found, value);
        on = !fresh || insert(found, first, value) || value <= found->middle;
        m += 1;
    }
}

/* Those of this many digits, which are not there with fewer. Below the power of ten that `high`
 * begins with they are closer to each other; further below nothing is looked for. */
static void of_digits(double low, double high, int digits, struct found *found)
{
    size_t first = found->n;
    int e = magnitude(high) - digits + 1;
    double below = nextafter(decimal(1, magnitude(high)), 0);
    of_unit(low, high, e, found, first);
    if (low <= below)
        of_unit(low, below, e - 1, found, first);
}

size_t pe__decimals(double low, double high, double *out, size_t max, bool *more)
{
    struct found found = {out, 0, max, (low + high) / 2, false};
    if (!(low <= high) || !(high >= decimal(1, -TENS_MAX)) || !(high <= ten_to(TENS_MAX)))
        return 0;
    for (int digits = 1; digits <= DIGITS_MAX && (digits <= PE__SHORT_DIGITS || found.n == 0);
         digits++)
        of_digits(low, high, digits, &found);
    if (found.n == 0 && max > 0)
        out[found.n++] = low + (high - low) / 2;
    *more = *more || found.more;
    return found.n;
}

size_t pe__wholes(double low, double high, double *out, size_t max, bool *more)
{
    struct found found = {out, 0, max, (low + high) / 2, false};
    if (!(low <= high))
        return 0;
    double m = first_whole(low, high, found.middle, &found);
    while (m <= high && (insert(&found, 0, m) || m < found.middle))
        m += 1;
    *more = *more || found.more;
    if (found.n > 0)
        return found.n;
    size_t n = pe__decimals(low < 0 ? -high : low, low < 0 ? -low : high, out, max, more);
    for (size_t i = 0; low < 0 && i < n; i++)
        out[i] = -out[i];
    return n;
}
