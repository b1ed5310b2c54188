// SPDX-License-Identifier: Apache-2.0
/*
 * biased_sandwich.c: biases that are sums of cosines of the distance: how many there are and of
 * which base, by the nearest distances, for every even width.
 */
#include <math.h>

#include "biased.h"
#include "decimals.h"
#include "elementary.h"

#define HEADS_SCALE 8 /* what the last head's sum is divided by */
#define DIM_MAX     1024
#define BISECTIONS  60
#define BASE_LOW    1.5
#define BASE_HIGH   1e9
#define LOOKED_AT   6    /* distances that are compared before a spec is made */
#define FITTED_MAX  256  /* widths whose base is fitted */
#define SAME        1e-9 /* of sums in plain arithmetic, in parts of the number of cosines */

/* 1 - cos(x) = 2 sin(x/2)^2, by a series after three halvings. */
static double versine(double x)
{
    double y = pe__wrap(x) / 8, y2 = y * y, v = 0;
    for (int n = 14; n >= 2; n -= 2)
        v = y2 / (double)(n * (n - 1)) * (1 - v);
    for (int i = 0; i < 3; i++)
        v = 2 * v * (2 - v);
    return v;
}

/* What the bias of the last of all heads is, times 8, negated. */
static double sum_of(size_t dim, double base, double distance)
{
    double step = pe__plain_exp(-2 * pe__plain_log(base) / (double)dim), w = 1, sum = 0;
    for (size_t k = 0; k < dim / 2; k++)
        sum += versine(distance * (w *= step));
    return sum;
}

/* The sums that levels come to, for all heads alike. */
struct sums {
    size_t n;
    double distance[LOOKED_AT], low[LOOKED_AT], high[LOOKED_AT];
};

/* Where the sum of a group lies by all heads; false if they disagree, or it is below 0. */
static bool read_sum(const struct pe__biased *biased, size_t group, double *low, double *high)
{
    double all = (double)biased->heads;
    *low = 0;
    *high = INFINITY;
    for (size_t head = 0; head < biased->heads; head++) {
        struct pe__bounds level = pe__level(biased, head, group);
        double factor = HEADS_SCALE * (double)(head + 1) / all;
        if (isnan(level.middle))
            continue;
        double off = pe__off(biased, &level);
        *low = fmax(*low, -(level.middle + off) * factor);
        *high = fmin(*high, -(level.middle - off) * factor);
    }
    return *low <= *high * (1 + 16 * biased->library) + SAME;
}

/* Those of the nearest distances. */
static bool read_sums(const struct pe__biased *biased, struct sums *out)
{
    out->n = 0;
    for (size_t i = 0; i < biased->groups; i++) {
        double low, high, distance = fabs(biased->offset[i]);
        if (!read_sum(biased, i, &low, &high))
            return false;
        if (distance == 0 || isinf(high))
            continue;
        size_t at = out->n;
        for (size_t k = 0; out->n == LOOKED_AT && k < LOOKED_AT; k++)
            if (at == LOOKED_AT || out->distance[k] > out->distance[at])
                at = k;
        if (out->n == LOOKED_AT && out->distance[at] <= distance)
            continue;
        out->n += out->n < LOOKED_AT;
        out->distance[at] = distance;
        out->low[at] = low;
        out->high[at] = high;
    }
    return out->n > 0;
}

static bool agrees(const struct pe__biased *biased, const struct sums *sums, size_t dim,
                   double base)
{
    double room = (fmin(biased->library, PE__SUMS_UNIT) + SAME) * (double)(dim / 2);
    for (size_t i = 0; i < sums->n; i++) {
        double sum = sum_of(dim, base, sums->distance[i]);
        if (sum < sums->low[i] - room || sum > sums->high[i] + room)
            return false;
    }
    return true;
}

static bool offer(struct pe__biased *biased, size_t dim, double base, double cost)
{
    struct pe__draft draft = pe__biased_draft(biased, "sandwich");
    pe__draft_number(&draft, "dim", (double)dim);
    pe__draft_number(&draft, "base", base);
    /* In 16 bits other widths and bases round alike. */
    return pe__biased_offer(biased, &draft, cost, biased->unit > PE__SHORT_UNIT);
}

/* The base at which the sum of the nearest distance is this; sums of small angles fall with it. */
static double base_of(size_t dim, double distance, double sum)
{
    double low = BASE_LOW, high = BASE_HIGH;
    for (size_t i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        *(sum_of(dim, middle, distance) > sum ? &low : &high) = middle;
    }
    return low;
}

static void offer_fitted(struct pe__biased *biased, const struct sums *sums, size_t dim)
{
    size_t nearest = 0;
    double bases[8];
    bool more = false;
    for (size_t i = 1; i < sums->n; i++)
        if (sums->distance[i] < sums->distance[nearest])
            nearest = i;
    if (sums->distance[nearest] > PE__PI)
        return;
    double room = (fmin(biased->library, PE__SUMS_UNIT) + SAME) * (double)(dim / 2);
    double low = base_of(dim, sums->distance[nearest], sums->high[nearest] + room);
    double high = base_of(dim, sums->distance[nearest], fmax(sums->low[nearest] - room, 0));
    if (!(low < high))
        return;
    size_t n = pe__decimals(low, high, bases, sizeof bases / sizeof *bases, &more);
    for (size_t i = 0; i < n; i++)
        if (bases[i] > 1 && agrees(biased, sums, dim, bases[i]) &&
            offer(biased, dim, bases[i], PE__COST_RULE + 3))
            return;
}

void pe__biased_sandwich(struct pe__biased *biased)
{
    static const double usual[] = {10000, 500000, 1000000, 100, 1000};
    struct sums sums;
    bool found = false;
    if (!read_sums(biased, &sums))
        return;
    for (size_t dim = 2; dim <= DIM_MAX && pe__biased_goes_on(biased); dim += 2)
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
            if (agrees(biased, &sums, dim, usual[i]))
                found = offer(biased, dim, usual[i], PE__COST_RULE + (double)(i > 0)) || found;
    for (size_t dim = 2; !found && dim <= FITTED_MAX && pe__biased_goes_on(biased); dim += 2)
        offer_fitted(biased, &sums, dim);
}
