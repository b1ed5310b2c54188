// SPDX-License-Identifier: Apache-2.0
/*
 * scale.c: see scale.h. Logarithms are made of operations that every machine rounds alike, so that
 * places do not depend on its libm.
 */
#include "scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LN2         0.69314718055994530942
#define LOG10_2     0.30102999566398119521
#define STEPS_N     3
#define TICK_DIGITS 6
#define DIGITS_MAX  17
#define MOST        4e307  /* of an end, so that their difference is a number */
#define LEAST       1e-290 /* that the ends are apart */
#define FAR_OFF     4096   /* of places beyond the ends, in times the length */

/* The series of atanh, for a mantissa near 1: an error below 1e-15. */
static double log_2(double value)
{
    int exponent;
    double mantissa = frexp(value, &exponent);

    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        exponent--;
    }
    double z = (mantissa - 1) / (mantissa + 1), square = z * z, sum = 0;
    for (int n = 23; n >= 1; n -= 2)
        sum = sum * square + 1.0 / n;
    return exponent + 2 * z * sum / LN2;
}

/* NaN: a logarithmic scale has no place for it. */
static double transformed(enum scale_type type, double value)
{
    if (type == SCALE_LINEAR)
        return value;
    if (!(value > 0))
        return NAN;
    return type == SCALE_LOG2 ? log_2(value) : log_2(value) * LOG10_2;
}

double scale_log10(double value)
{
    return transformed(SCALE_LOG10, value);
}

/* 10^exponent, for small ones exactly. */
static double ten_to(int exponent)
{
    double power = 1;

    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        power *= 10;
    return exponent < 0 ? 1 / power : power;
}

/* 1, 2 or 5 times a power of ten: the least that goes into the length at most `max` times. */
static double round_step(double length, size_t max)
{
    static const double steps[STEPS_N] = {1, 2, 5};
    double least = length / (double)max * (1 - 1e-9);
    int exponent = (int)floor(log_2(least) * LOG10_2) - 1;

    for (;; exponent++)
        for (int i = 0; i < STEPS_N; i++)
            if (steps[i] * ten_to(exponent) >= least)
                return steps[i] * ten_to(exponent);
}

static double within(double value)
{
    return fmin(fmax(value, -MOST), MOST);
}

struct scale scale_make(enum scale_type type, double low, double high, bool exact)
{
    struct scale scale = {.type = type, .low = within(low), .high = within(high)};

    if (type != SCALE_LINEAR) {
        if (!(scale.high > scale.low))
            scale.high = scale.low * 2;
        return scale;
    }
    if (!(scale.high - scale.low > LEAST)) {
        double around = fabs(scale.low) > LEAST ? fabs(scale.low) / 2 : 1;
        scale.high = scale.low + around;
        scale.low -= around;
    }
    if (exact)
        return scale;
    double step = round_step(scale.high - scale.low, 8);
    scale.low = floor(scale.low / step) * step;
    scale.high = ceil(scale.high / step) * step;
    return scale;
}

int32_t scale_at(const struct scale *scale, double value)
{
    double low = transformed(scale->type, scale->low), high = transformed(scale->type, scale->high);
    double part = (transformed(scale->type, value) - low) / (high - low);

    if (!(part > -FAR_OFF)) /* and not-a-number */
        part = -FAR_OFF;
    if (part > FAR_OFF)
        part = FAR_OFF;
    return (int32_t)floor(scale->from + part * (scale->to - scale->from) + 0.5);
}

void scale_print(double value, int digits, char out[TICK_TEXT_MAX])
{
    static const char minus[] = "\xe2\x88\x92";
    char text[24];

    if (!isfinite(value)) {
        snprintf(out, TICK_TEXT_MAX, "%s%s", value < 0 ? minus : "",
                 isnan(value) ? "NaN" : "Infinity");
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits, value == 0 ? 0 : value);
    char *mantissa = text[0] == '-' ? text + 1 : text, *e = strchr(mantissa, 'e');
    long exponent = e ? strtol(e + 1, NULL, 10) : 0;
    if (e)
        *e = '\0';
    snprintf(out, TICK_TEXT_MAX, "%s%s", text[0] == '-' ? minus : "", mantissa);
    if (e)
        snprintf(out + strlen(out), TICK_TEXT_MAX - strlen(out), "e%s%ld",
                 exponent < 0 ? minus : "", exponent < 0 ? -exponent : exponent);
}

/* With as many digits as tell it from its neighbours. */
static void add(struct ticks *ticks, double at, double step)
{
    int digits = TICK_DIGITS;

    while (digits < DIGITS_MAX && fabs(at) / step >= ten_to(digits - 1))
        digits++;
    ticks->at[ticks->n] = at;
    ticks->text[ticks->n] = ticks->printed[ticks->n];
    scale_print(at, digits, ticks->printed[ticks->n++]);
}

/* The multiples of a step on the scale, first and last. */
static size_t multiples(const struct scale *scale, double step, double *first)
{
    *first = ceil(scale->low / step - 1e-9);
    double n = floor(scale->high / step + 1e-9) - *first + 1;
    return n < TICKS_MAX ? (size_t)fmax(n, 0) : TICKS_MAX + 1;
}

/* By the least round step that gives no more than `max`. */
static void linear_ticks(const struct scale *scale, size_t max, bool whole, struct ticks *ticks)
{
    double step = round_step(scale->high - scale->low, max + 1), first;

    if (whole && step < 1)
        step = 1;
    while (multiples(scale, step, &first) > max)
        step = round_step(step * 1.5, 1);
    for (size_t i = 0, n = multiples(scale, step, &first); i < n; i++)
        add(ticks, (first + (double)i) * step, step);
}

/* 10^-3 and 2^16 with small digits above, or as they are. */
static void add_power(struct ticks *ticks, int base, int exponent, bool plain)
{
    static const char *const raised[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char *text = ticks->printed[ticks->n];
    int size = exponent < 0 ? -exponent : exponent;

    ticks->text[ticks->n] = text;
    ticks->at[ticks->n] = base == 2 ? ldexp(1, exponent) : ten_to(exponent);
    if (plain || exponent == 0)
        scale_print(ticks->at[ticks->n], TICK_DIGITS, text);
    else
        snprintf(text, TICK_TEXT_MAX, "%d%s%s%s%s", base, exponent < 0 ? "\xe2\x81\xbb" : "",
                 size >= 100 ? raised[size / 100 % 10] : "",
                 size >= 10 ? raised[size / 10 % 10] : "", raised[size % 10]);
    ticks->n++;
}

static void power_ticks(const struct scale *scale, size_t max, struct ticks *ticks)
{
    double low = transformed(scale->type, scale->low), high = transformed(scale->type, scale->high);
    int first = (int)ceil(low - 1e-9), last = (int)floor(high + 1e-9), step = 1;
    bool plain = scale->low >= 1e-3 && scale->high < (scale->type == SCALE_LOG2 ? 1e6 : 1e5);

    while (step < (last - first) / (int)max + 1)
        step++;
    for (int i = first; i <= last; i++)
        if (i % step == 0 && ticks->n < max)
            add_power(ticks, scale->type == SCALE_LOG2 ? 2 : 10, i, plain);
}

void scale_ticks(const struct scale *scale, size_t max, bool whole, struct ticks *ticks)
{
    ticks->n = 0;
    if (max > TICKS_MAX)
        max = TICKS_MAX;
    if (scale->type == SCALE_LINEAR)
        linear_ticks(scale, max, whole, ticks);
    else
        power_ticks(scale, max, ticks);
}
