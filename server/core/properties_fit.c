// SPDX-License-Identifier: Apache-2.0
/*
 * properties_fit.c: how far codes are apart, how well a linear map leads from some to others, how
 * numbers fall. All in double and in a fixed order, so that every machine gets the same bits; dot
 * products are summed with twice the digits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ball.h"
#include "properties.h"

#define DEPENDENT 0x1p-36 /* what a channel must keep of its length beside those before it */

double pe__codes_dot(const double *a, const double *b, size_t n)
{
    struct pe__sum sum = {0};
    for (size_t i = 0; i < n; i++)
        pe__sum_add(&sum, (struct pe__dd){a[i], 0}, (struct pe__dd){b[i], 0});
    return sum.hi + sum.lo;
}

/* ---- Distances ---------------------------------------------------------------------------- */

static double distance(const double *a, const double *b, size_t n)
{
    struct pe__sum sum = {0};
    for (size_t i = 0; i < n; i++) {
        struct pe__dd d = pe__two_sum(a[i], -b[i]);
        pe__sum_add(&sum, d, d);
    }
    return sqrt(sum.hi + sum.lo);
}

struct pe__distance pe__smallest_distance(const struct pe__codes_of *codes)
{
    struct pe__distance smallest = {INFINITY, 0, 0};
    for (size_t i = 0; i < codes->n; i++)
        for (size_t j = i + 1; j < codes->n; j++) {
            double length = distance(codes->value + i * codes->width,
                                     codes->value + j * codes->width, codes->width);
            if (length < smallest.length)
                smallest = (struct pe__distance){length, i, j};
        }
    return smallest;
}

/* ---- Linear maps -------------------------------------------------------------------------- */

/* Directions of unit length at right angles, each [n]. */
struct basis {
    size_t n, size;
    double *at;
};

static double length_of(const double *x, size_t n)
{
    return sqrt(pe__codes_dot(x, x, n));
}

/* Takes from x what the directions span; twice, since once leaves what rounding lost. */
static void project_out(const struct basis *basis, double *x)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < basis->size; i++) {
            const double *direction = basis->at + i * basis->n;
            double part = pe__codes_dot(direction, x, basis->n);
            for (size_t j = 0; j < basis->n; j++)
                x[j] -= part * direction[j];
        }
}

static void take_channel(const struct pe__codes_of *codes, size_t channel, double *out)
{
    for (size_t i = 0; i < codes->n; i++)
        out[i] = codes->value[i * codes->width + channel];
}

/* A channel that depends on those before it adds no direction. */
static void basis_add(struct basis *basis, const struct pe__codes_of *codes, size_t channel)
{
    double *x = basis->at + basis->size * basis->n;
    take_channel(codes, channel, x);
    double before = length_of(x, basis->n);
    project_out(basis, x);
    double after = length_of(x, basis->n);
    if (!(after > before * DEPENDENT))
        return;
    for (size_t i = 0; i < basis->n; i++)
        x[i] /= after;
    basis->size++;
}

/* The best map leaves of each channel what stands at right angles to all channels of `from`. */
double pe__linear_residual(const struct pe__codes_of *from, const struct pe__codes_of *to,
                           bool *failed)
{
    size_t n = from->n;
    if (n <= from->width)
        return __builtin_nan("");
    struct basis basis = {.n = n, .at = calloc((from->width + 1) * n, sizeof *basis.at)};
    if (!basis.at) {
        *failed = true;
        return __builtin_nan("");
    }
    for (size_t channel = 0; channel < from->width; channel++)
        basis_add(&basis, from, channel);
    double *y = basis.at + basis.size * n;
    double all = 0, left = 0;
    for (size_t channel = 0; channel < to->width; channel++) {
        take_channel(to, channel, y);
        all += pe__codes_dot(y, y, n);
        project_out(&basis, y);
        left += pe__codes_dot(y, y, n);
    }
    free(basis.at);
    return all > 0 ? sqrt(left / all) : 0;
}

/* ---- Lines -------------------------------------------------------------------------------- */

double pe__slope(const double *at, const double *value, size_t n)
{
    double at_mean = 0, value_mean = 0, above = 0, below = 0;
    for (size_t i = 0; i < n; i++) {
        at_mean += at[i] / (double)n;
        value_mean += value[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        above += (at[i] - at_mean) * (value[i] - value_mean);
        below += (at[i] - at_mean) * (at[i] - at_mean);
    }
    return above / below;
}
