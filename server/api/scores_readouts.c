// SPDX-License-Identifier: Apache-2.0
/*
 * scores_readouts.c: what the scores show: how far they range over the offsets, how much equal
 * offsets differ between anchors (the spread), and what the encoding does to the lengths.
 */
#include <math.h>
#include <stdio.h>

#include "scores.h"

struct place {
    double value;
    size_t anchor, offset;
};

struct range {
    struct place min, max;
};

/* The difference of two scores, rounded once: what rounding took from each is put back before. */
static double difference(double a, double a_rest, double b, double b_rest)
{
    double d = a - b, t = d - a;
    double lost = (a - (d - t)) - (b + t);
    return d + (lost + (a_rest - b_rest));
}

static double range_width(const struct pe_scores *job, struct range range)
{
    size_t max = range.max.anchor * job->offsets_n + range.max.offset;
    size_t min = range.min.anchor * job->offsets_n + range.min.offset;
    return difference(range.max.value, job->rest[max], range.min.value, job->rest[min]);
}

static void range_take(struct range *range, bool first, struct place place)
{
    if (first || place.value < range->min.value)
        range->min = place;
    if (first || place.value > range->max.value)
        range->max = place;
}

/* Over the rows [from, to) of [anchors, offsets]. */
static struct range range_of(const struct pe_scores *job, size_t from, size_t to)
{
    struct range range = {0};
    for (size_t a = from; a < to; a++)
        for (size_t o = 0; o < job->offsets_n; o++) {
            struct place place = {job->scores[a * job->offsets_n + o], a, o};
            range_take(&range, a == from && o == 0, place);
        }
    return range;
}

static void place_tree(struct tree *parent, const char *key, const struct pe_scores *job,
                       struct place place)
{
    struct tree *node = tree_object(parent, key);
    tree_number(node, "value", place.value);
    tree_number(node, "anchor", job->anchors[place.anchor]);
    tree_number(node, "offset", job->offsets[place.offset]);
}

static void range_tree(struct tree *readouts, const struct pe_scores *job)
{
    struct range all = range_of(job, 0, job->anchors_n);
    struct tree *node = tree_object(readouts, "range");
    tree_number(node, "overall", range_width(job, all));
    struct tree *each = tree_array(node, "per_anchor");
    for (size_t a = 0; a < job->anchors_n; a++) {
        tree_number(each, NULL, range_width(job, range_of(job, a, a + 1)));
    }
    place_tree(node, "min", job, all.min);
    place_tree(node, "max", job, all.max);
    struct tree *places = tree_array(node, "places");
    for (size_t a = 0; a < job->anchors_n; a++) {
        struct range one = range_of(job, a, a + 1);
        struct tree *place = tree_object(places, NULL);
        tree_number(place, "min_offset", job->offsets[one.min.offset]);
        tree_number(place, "max_offset", job->offsets[one.max.offset]);
    }
}

struct spread {
    double max, at_offset, mean;
};

/* Largest minus smallest over the anchors, offset by offset; `rest` as in struct pe_scores, or
 * NULL. `scratch` holds offsets_n. */
static struct spread spread_of(const struct pe_scores *job, const double *values,
                               const double *rest, double *scratch)
{
    struct spread spread = {0, job->offsets[0], 0};
    for (size_t o = 0; o < job->offsets_n; o++) {
        size_t min = o, max = o;
        for (size_t i = o; i < job->anchors_n * job->offsets_n; i += job->offsets_n) {
            min = values[i] < values[min] ? i : min;
            max = values[i] > values[max] ? i : max;
        }
        scratch[o] =
            difference(values[max], rest ? rest[max] : 0, values[min], rest ? rest[min] : 0);
        if (scratch[o] > spread.max)
            spread = (struct spread){scratch[o], job->offsets[o], 0};
    }
    spread.mean = pe_mean(scratch, job->offsets_n);
    return spread;
}

static void spread_tree(struct tree *parent, const char *key, struct spread spread)
{
    struct tree *node = tree_object(parent, key);
    tree_number(node, "max", spread.max);
    tree_number(node, "at_offset", spread.at_offset);
    tree_number(node, "mean", spread.mean);
}

/* after/before for each, and the largest relative change. NaN where before is 0. */
static double ratios(double before, const double *after, size_t n, double *ratio)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        ratio[i] = after[i] / before;
        double change = fabs(after[i] - before) / before;
        worst = change > worst ? change : worst;
    }
    return worst;
}

static void norms_tree(struct tree *readouts, const struct pe_scores *job)
{
    struct arena *arena = readouts->arena;
    double *q = arena_alloc(arena, job->anchors_n * sizeof *q);
    double *k = arena_alloc(arena, job->anchors_n * job->offsets_n * sizeof *k);
    if (!q || !k)
        return;
    struct tree *node = tree_object(readouts, "norm_q");
    tree_number(node, "before", job->norm_q_before);
    tree_reals(node, "after", job->norm_q_after, job->anchors_n);
    double worst = ratios(job->norm_q_before, job->norm_q_after, job->anchors_n, q);
    tree_reals(node, "ratio", q, job->anchors_n);
    tree_number(node, "max_relative_change", worst);

    node = tree_object(readouts, "norm_k");
    tree_number(node, "before", job->norm_k_before);
    worst = ratios(job->norm_k_before, job->norm_k_after, job->anchors_n * job->offsets_n, k);
    struct tree *after = tree_array(node, "after");
    struct tree *ratio = tree_array(node, "ratio");
    for (size_t a = 0; a < job->anchors_n; a++) {
        tree_reals(after, NULL, job->norm_k_after + a * job->offsets_n, job->offsets_n);
        tree_reals(ratio, NULL, k + a * job->offsets_n, job->offsets_n);
    }
    tree_number(node, "max_relative_change", worst);
}

static bool is_relative(const struct score_block *block, double spread)
{
    const struct pe_scores *job = block->job;
    double largest = 0;
    for (size_t i = 0; i < job->anchors_n * job->offsets_n; i++)
        largest = fmax(largest, fabs(job->scores[i]));
    return spread <= block->tolerance * largest;
}

void scores_readouts(struct tree *readouts, const struct score_block *block)
{
    static const char *const term_names[] = {"content", "cross_q", "cross_k", "position"};
    const struct pe_scores *job = block->job;
    double *scratch =
        readouts ? arena_alloc(readouts->arena, job->offsets_n * sizeof *scratch) : NULL;
    if (!scratch)
        return;
    struct spread spread = spread_of(job, job->scores, job->rest, scratch);
    range_tree(readouts, job);
    spread_tree(readouts, "spread", spread);
    norms_tree(readouts, job);
    tree_bool(readouts, "relative", is_relative(block, spread.max));
    struct tree *terms = job->terms[0] ? tree_object(readouts, "term_spread") : NULL;
    for (size_t t = 0; t < 4 && job->terms[t]; t++)
        spread_tree(terms, term_names[t], spread_of(job, job->terms[t], NULL, scratch));
}

const char *scores_sentences(struct arena *arena, const struct score_block *block, const char *name)
{
    const struct pe_scores *job = block->job;
    double *scratch = arena_alloc(arena, job->offsets_n * sizeof *scratch);
    if (!scratch)
        return NULL;
    struct range range = range_of(job, 0, job->anchors_n);
    struct spread spread = spread_of(job, job->scores, job->rest, scratch);
    bool relative = is_relative(block, spread.max);
    double low = job->norm_q_after[0], high = low;
    for (size_t a = 1; a < job->anchors_n; a++) {
        low = fmin(low, job->norm_q_after[a]);
        high = fmax(high, job->norm_q_after[a]);
    }
    const char *first =
        arena_printf(arena, "%s\nrange %.6g: scores go from %.6g (offset %g) to %.6g (offset %g)\n",
                     name, range_width(job, range), range.min.value, job->offsets[range.min.offset],
                     range.max.value, job->offsets[range.max.offset]);
    const char *second =
        arena_printf(arena, "spread %.6g at offset %g: %s\n", spread.max, spread.at_offset,
                     relative ? "equal distances score equally, only the distance counts"
                              : "equal distances do not score equally, so absolute position leaks");
    const char *third =
        low == job->norm_q_before && high == low
            ? arena_printf(arena, "norm of q %.6g: kept\n", job->norm_q_before)
            : arena_printf(arena, "norm of q %.6g becomes %.6g to %.6g: changed by the encoding\n",
                           job->norm_q_before, low, high);
    return first && second && third ? arena_printf(arena, "%s%s%s", first, second, third) : NULL;
}
