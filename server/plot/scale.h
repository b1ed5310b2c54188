// SPDX-License-Identifier: Apache-2.0
/*
 * scale.h: from values to places, and the values worth a tick.
 */
#ifndef PLOT_SCALE_H
#define PLOT_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scale_type { SCALE_LINEAR, SCALE_LOG2, SCALE_LOG10 };

struct scale {
    enum scale_type type;
    double low, high; /* values; positive where the scale is logarithmic */
    int32_t from, to; /* where they are */
};

#define TICKS_MAX     16
#define TICK_TEXT_MAX 40

struct ticks {
    size_t n;
    double at[TICKS_MAX];
    const char *text[TICKS_MAX]; /* as printed, or somebody else's */
    char printed[TICKS_MAX][TICK_TEXT_MAX];
};

/* A scale on which low and high differ; linear ones end at round values unless they are `exact`. */
struct scale scale_make(enum scale_type type, double low, double high, bool exact);
/* Values beyond the ends have places beyond them too, but near. */
int32_t scale_at(const struct scale *scale, double value);
/* At most `max` (<= TICKS_MAX) round values from low to high; whole numbers, if so asked. */
void scale_ticks(const struct scale *scale, size_t max, bool whole, struct ticks *ticks);
/* As of scales: the same on every machine. */
double scale_log10(double value);
/* The value in at most so many significant digits, as ticks and captions show it. */
void scale_print(double value, int digits, char out[TICK_TEXT_MAX]);

#endif
