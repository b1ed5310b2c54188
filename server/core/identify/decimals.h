// SPDX-License-Identifier: Apache-2.0
/*
 * decimals.h: the short decimal numbers of an interval, of which one is what a person has typed.
 */
#ifndef PE_CORE_DECIMALS_H
#define PE_CORE_DECIMALS_H

#include <stdbool.h>
#include <stddef.h>

#define PE__SHORT_DIGITS 3 /* numbers of so few digits are all tried */

/* An estimate, and how far off it may be. */
struct pe__estimate {
    double value, error;
};

/* Significant decimal digits of |x|: the fewest that read back. */
int pe__digits(double x);
/* Decimals in [low, high], 0 <= low: all of at most PE__SHORT_DIGITS digits; where there are none
 * those of the fewest digits. The ones of fewer digits first, then by how near they are to the
 * middle. At most `max`; *more becomes true where there are more. Returns how many. */
size_t pe__decimals(double low, double high, double *out, size_t max, bool *more);
/* The same for any sign of the interval, and whole numbers as far as there are any. */
size_t pe__wholes(double low, double high, double *out, size_t max, bool *more);

#endif
