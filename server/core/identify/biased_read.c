// SPDX-License-Identifier: Apache-2.0
/*
 * biased_read.c: what the bias of each pair can be, after all batches; what is masked; which pairs
 * stand equally far apart, and whether these have one bias.
 */
#include <math.h>
#include <stdlib.h>

#include "biased.h"

#define F16_LOWEST (-65504.0)
#define TINY       0x1p-150 /* half of f32's least number; 16-bit formats have theirs */

/* ---- Bounds -------------------------------------------------------------------------------- */

bool pe__bounds_meet(const struct pe__biased *biased, struct pe__bounds *bounds,
                     const struct pe__bounds *other)
{
    if (isnan(other->middle))
        return true;
    if (isnan(bounds->middle)) {
        *bounds = *other;
        return true;
    }
    double low = fmax(bounds->middle - bounds->width, other->middle - other->width);
    double high = fmin(bounds->middle + bounds->width, other->middle + other->width);
    double slack = 2 * biased->library * fmax(fabs(low), fabs(high));
    if (low > high + slack)
        return false;
    if (low > high) {
        double between = low;
        low = high;
        high = between;
    }
    if (bounds->middle < low || bounds->middle > high)
        bounds->middle = low + (high - low) / 2;
    bounds->width = fmax(high - bounds->middle, bounds->middle - low);
    return true;
}

static bool is_masked(double before, double after)
{
    return !isfinite(before) || !isfinite(after) || after <= PE_IDENTIFY_MASKED ||
           after == F16_LOWEST;
}

static struct pe__bounds bounds_of(const struct pe__biased *biased, size_t element)
{
    const struct pe_biased *scores = biased->scores;
    double before = scores->x ? pe_load(scores->x_dtype, scores->x, element) : 0;
    double after = pe_load(scores->y_dtype, scores->y, element);
    if (is_masked(before, after))
        return (struct pe__bounds){NAN, 0};
    double least = biased->search.job->dtype == PE_F16 ? 0x1p-25 : TINY;
    return (struct pe__bounds){after - before, biased->unit * (fabs(before) + fabs(after)) + least};
}

/* False if batches do not have the same bias. */
static bool read_bounds(struct pe__biased *biased)
{
    size_t n = biased->heads * biased->pairs;
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        biased->at[i] = (struct pe__bounds){NAN, 0};
        for (size_t batch = 0; batch < biased->scores->batches; batch++) {
            struct pe__bounds one = bounds_of(biased, batch * n + i);
            same = pe__bounds_meet(biased, &biased->at[i], &one) && same;
        }
    }
    return same;
}

/* ---- Masks --------------------------------------------------------------------------------- */

static bool is_seen(const struct pe__biased *biased, size_t pair)
{
    for (size_t head = 0; head < biased->heads; head++)
        if (!isnan(biased->at[head * biased->pairs + pair].middle))
            return true;
    return false;
}

static void read_mask(struct pe__biased *biased)
{
    struct pe_biased *scores = biased->scores;
    bool causal = true;
    scores->masked_n = 0;
    for (size_t pair = 0; pair < biased->pairs; pair++) {
        bool seen = is_seen(biased, pair);
        scores->masked_n += !seen;
        causal = causal &&
                 seen == (biased->key[pair % biased->keys] <= biased->query[pair / biased->keys]);
    }
    scores->masked = scores->masked_n == 0 ? PE_MASKED_NOT
                     : causal              ? PE_MASKED_CAUSAL
                                           : PE_MASKED_SOME;
}

/* ---- Groups -------------------------------------------------------------------------------- */

static double offset_of(const struct pe__biased *biased, size_t pair)
{
    return biased->key[pair % biased->keys] - biased->query[pair / biased->keys];
}

static int by_offset(const void *a, const void *b, void *context)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    double one = offset_of(context, i), other = offset_of(context, k);
    return one < other ? -1 : one > other ? 1 : i < k ? -1 : i > k;
}

static void group_pairs(struct pe__biased *biased)
{
    size_t n = 0;
    biased->groups = 0;
    for (size_t pair = 0; pair < biased->pairs; pair++)
        if (is_seen(biased, pair))
            biased->order[n++] = (uint32_t)pair;
    qsort_r(biased->order, n, sizeof *biased->order, by_offset, biased);
    for (size_t i = 0; i < n; i++) {
        size_t pair = biased->order[i];
        double offset = offset_of(biased, pair);
        if (biased->groups == 0 || biased->offset[biased->groups - 1] != offset) {
            biased->example[biased->groups] = (uint32_t)pair;
            biased->offset[biased->groups++] = offset;
        }
        biased->group[pair] = (uint32_t)biased->groups - 1;
    }
}

/* False if pairs of one offset do not have the same bias. */
static bool read_levels(struct pe__biased *biased)
{
    bool same = true;
    for (size_t i = 0; i < biased->heads * biased->groups; i++)
        biased->level[i] = (struct pe__bounds){NAN, 0};
    for (size_t i = 0; i < biased->heads * biased->pairs; i++) {
        size_t head = i / biased->pairs, pair = i % biased->pairs;
        if (isnan(biased->at[i].middle))
            continue;
        struct pe__bounds *level = &biased->level[head * biased->groups + biased->group[pair]];
        same = pe__bounds_meet(biased, level, &biased->at[i]) && same;
    }
    return same;
}

void pe__biased_read(struct pe__biased *biased)
{
    struct pe_biased *scores = biased->scores;
    bool same = read_bounds(biased);
    read_mask(biased);
    group_pairs(biased);
    scores->distances_n = biased->groups;
    scores->first = biased->groups > 0 ? biased->offset[0] : 0;
    scores->last = biased->groups > 0 ? biased->offset[biased->groups - 1] : 0;
    scores->hangs_on = !same                 ? PE_HANGS_ON_BATCH
                       : read_levels(biased) ? PE_HANGS_ON_DISTANCE
                                             : PE_HANGS_ON_PLACES;
}
