// SPDX-License-Identifier: Apache-2.0
/*
 * biased_t5.c: biases that share numbers in buckets of distances: where neighbouring distances
 * differ a bucket must begin, and where buckets begin says how many there are and how far they
 * reach. The numbers themselves are learned.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "biased.h"
#include "decimals.h"
#include "elementary.h"

#define BUCKETS_MAX  1024 /* as the parameter's */
#define SCANNED      3 /* times the near distances: up to there buckets may lie within one step */
#define DISTANCE_MAX 100000000.0 /* that a fit reaches */
#define SIDE_NUMBERS 4
#define KEPT_MAX     6
#define UNSEEN_MAX   12   /* what buckets may cost whose numbers are alike by chance */
#define ROUND        1e-9 /* of a power in plain arithmetic: whole numbers are reached */

/* Distances of one side of the query, rising. */
struct side {
    size_t n;
    const double *distance, *log; /* and its logarithm, of 0 that of 1 */
    /* Of distance i and the one before it, i >= 1: whether their biases differ; else what it costs
     * to say that they are of two buckets all the same. */
    const unsigned char *differs; /* as a bool */
    const double *cost;
};

struct sides {
    struct side past, future;
    bool future_is_one; /* keys after the query have the bias of distance 0 */
};

/* ---- Sides --------------------------------------------------------------------------------- */

/* How far numbers of a head are spread: those of other buckets are about so far away. */
static double spread(const struct pe__biased *biased, size_t head)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < biased->groups; i++) {
        double middle = pe__level(biased, head, i).middle;
        if (isnan(middle))
            continue;
        low = fmin(low, middle);
        high = fmax(high, middle);
    }
    return high - low;
}

static bool differ(const struct pe__biased *biased, size_t head, size_t a, size_t b)
{
    struct pe__bounds one = pe__level(biased, head, a), other = pe__level(biased, head, b);
    return fabs(one.middle - other.middle) > (one.width + other.width) * (1 + ROUND);
}

/* The logarithm of the chance that two buckets of a head are not told apart, negated. */
static double unlikely(const struct pe__biased *biased, size_t head, size_t a, size_t b)
{
    struct pe__bounds one = pe__level(biased, head, a), other = pe__level(biased, head, b);
    double all = spread(biased, head), room = 2 * (one.width + other.width);
    if (isnan(one.middle) || isnan(other.middle) || !(room < all))
        return 0;
    return room > 0 ? pe__plain_log(all / room) : UNSEEN_MAX;
}

/* The side's numbers in memory of SIDE_NUMBERS for each group. */
static void read_side(const struct pe__biased *biased, bool future, double *memory,
                      struct side *out)
{
    double *distance = memory, *cost = memory + biased->groups;
    double *log = memory + 2 * biased->groups;
    unsigned char *differs = (unsigned char *)(memory + 3 * biased->groups);
    size_t before = 0;
    *out = (struct side){0, distance, log, differs, cost};
    for (size_t i = 0; i < biased->groups; i++) {
        size_t group = future ? i : biased->groups - 1 - i;
        double at = future ? biased->offset[group] : -biased->offset[group];
        if (at < 0 || (future && at == 0))
            continue;
        distance[out->n] = at;
        log[out->n] = pe__plain_log(fmax(at, 1));
        differs[out->n] = false;
        cost[out->n] = 0;
        for (size_t head = 0; out->n > 0 && head < biased->heads; head++) {
            differs[out->n] = differs[out->n] || differ(biased, head, before, group);
            cost[out->n] += unlikely(biased, head, before, group);
        }
        before = group;
        out->n++;
    }
}

static bool future_is_one(const struct pe__biased *biased)
{
    for (size_t head = 0; head < biased->heads; head++) {
        struct pe__bounds all = {NAN, 0};
        for (size_t i = 0; i < biased->groups; i++) {
            struct pe__bounds level = pe__level(biased, head, i);
            if (biased->offset[i] >= 0 && !pe__bounds_meet(biased, &all, &level))
                return false;
        }
    }
    return true;
}

/* ---- Rules --------------------------------------------------------------------------------- */

struct rule {
    bool bidirectional;
    size_t buckets, near, far; /* of one direction but for `buckets` */
    double max_distance;
    double log_near, steps; /* far buckets for each unit of the logarithm */
};

static void reach(struct rule *rule, double max_distance)
{
    rule->max_distance = max_distance;
    rule->log_near = pe__plain_log((double)rule->near);
    rule->steps = (double)rule->far / (pe__plain_log(max_distance) - rule->log_near);
}

/* Reaching nowhere yet. */
static struct rule rule_of(size_t buckets, bool bidirectional)
{
    size_t each = bidirectional ? buckets / 2 : buckets;
    return (struct rule){bidirectional, buckets, each / 2, each - each / 2, 0, 0, 0};
}

static double bucket_of(const struct rule *rule, double distance, double log)
{
    double near = (double)rule->near;
    if (distance < near)
        return distance;
    return near + fmin(floor((log - rule->log_near) * rule->steps + ROUND), (double)rule->far - 1);
}

/* What the rule leaves unexplained of a side: infinite where distances of one bucket differ. */
static double cost_of(const struct rule *rule, const struct side *side, double limit)
{
    double cost = 0, before = 0;
    for (size_t i = 0; i < side->n && cost <= limit; i++) {
        double bucket = bucket_of(rule, side->distance[i], side->log[i]);
        if (i > 0 && side->differs[i] && bucket == before)
            return INFINITY;
        if (i > 0 && !side->differs[i] && bucket != before)
            cost += side->cost[i];
        before = bucket;
    }
    return cost;
}

static double cost_of_both(const struct rule *rule, const struct sides *sides)
{
    double cost = cost_of(rule, &sides->past, UNSEEN_MAX);
    if (rule->bidirectional && cost <= UNSEEN_MAX)
        cost += cost_of(rule, &sides->future, UNSEEN_MAX);
    return cost;
}

/* How many of a side's distances lie in buckets of several, or beyond: whether all begin within
 * what was seen. */
static bool shows_all(const struct rule *rule, const struct side *side)
{
    size_t last = side->n - 1;
    return side->n > 0 && bucket_of(rule, side->distance[last], side->log[last]) ==
                              (double)(rule->near + rule->far - 1);
}

/* ---- Distances that buckets may reach ------------------------------------------------------ */

/* The bounds of max_distance by the steps of a side, each the beginning of the next far bucket. */
static bool bound_distance(const struct rule *rule, const struct side *side, double *low,
                           double *high)
{
    double near = (double)rule->near, far = (double)rule->far;
    size_t step = 0;
    for (size_t i = 1; i < side->n; i++) {
        if (side->distance[i] <= near || !side->differs[i])
            continue;
        double power = far / (double)++step;
        if (step >= rule->far)
            return false;
        double before = fmax(side->distance[i - 1], near);
        *low = fmax(*low, near * pe__plain_exp(power * pe__plain_log(before / near)));
        *high = fmin(*high, near * pe__plain_exp(power * pe__plain_log(side->distance[i] / near)));
    }
    double last = side->n > 0 ? side->distance[side->n - 1] : 0;
    if (step + 1 < rule->far && last > near)
        *low =
            fmax(*low, near * pe__plain_exp(far / (double)(step + 1) * pe__plain_log(last / near)));
    return *low <= *high * (1 + ROUND);
}

/* ---- Proposals ----------------------------------------------------------------------------- */

struct found {
    struct rule rule;
    double cost;
    bool open; /* so may other distances be that are reached */
};

struct shortlist {
    struct found at[KEPT_MAX];
    size_t n;
    bool more;
};

static const struct {
    size_t buckets;
    double max_distance;
} usual[] = {{32, 128}, {32, 256}, {64, 128}, {320, 800}};

/* Those of models cost nothing besides, powers of two and long reaches less than others. */
static double unusual(const struct rule *rule)
{
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i].buckets == rule->buckets && usual[i].max_distance == rule->max_distance)
            return i > 0 ? 0.5 : 0;
    bool power = (rule->buckets & (rule->buckets - 1)) == 0;
    bool odd = rule->max_distance < 4 * (double)rule->near;
    return 1 + (double)pe__digits(rule->max_distance) / 8 + (power ? 0 : 0.5) + (odd ? 0.5 : 0);
}

static void keep(struct shortlist *list, const struct rule *rule, double cost, bool open)
{
    struct found found = {*rule, cost + unusual(rule), open};
    size_t k = list->n;
    if (k == KEPT_MAX) {
        list->more = true;
        if (found.cost >= list->at[--k].cost)
            return;
    } else {
        list->n++;
    }
    for (; k > 0 && found.cost < list->at[k - 1].cost; k--)
        list->at[k] = list->at[k - 1];
    list->at[k] = found;
}

static bool try(const struct sides *sides, struct shortlist *list, struct rule rule, bool open)
{
    double cost = cost_of_both(&rule, sides);
    if (cost <= UNSEEN_MAX)
        keep(list, &rule, cost, open);
    return cost <= UNSEEN_MAX;
}

/* The usual distance within the bounds, else the shortest number. */
static void try_between(const struct sides *sides, struct shortlist *list, struct rule rule,
                        double low, double high)
{
    static const double reached[] = {128, 256, 512, 800};
    double first = floor(low * (1 - ROUND)) + 1, last = floor(high * (1 + ROUND));
    reach(&rule, last);
    bool all =
        shows_all(&rule, &sides->past) || (rule.bidirectional && shows_all(&rule, &sides->future));
    bool more = false, open = first < last && !all, offered = false;
    double number = 0;
    for (size_t i = 0; i < sizeof reached / sizeof *reached; i++)
        if (first <= reached[i] && reached[i] <= last) {
            reach(&rule, reached[i]);
            offered = try(sides, list, rule, open) || offered;
        }
    if (offered || first > last || pe__wholes(first, last, &number, 1, &more) == 0)
        return;
    reach(&rule, number);
    try(sides, list, rule, open);
}

static void try_buckets(const struct sides *sides, struct shortlist *list, size_t buckets,
                        bool bidirectional)
{
    struct rule rule = rule_of(buckets, bidirectional);
    double scanned = (double)(SCANNED * rule.near), low = scanned, high = DISTANCE_MAX;
    if (rule.near == 0)
        return;
    /* Where not even the near distances fit, nothing will. */
    reach(&rule, DISTANCE_MAX);
    struct side near = sides->past;
    while (near.n > 0 && near.distance[near.n - 1] > (double)rule.near)
        near.n--;
    if (cost_of(&rule, &near, UNSEEN_MAX) > UNSEEN_MAX)
        return;
    for (size_t at = (size_t)rule.near + 1; at <= (size_t)scanned; at++) {
        reach(&rule, (double)at);
        try(sides, list, rule, false);
    }
    if (bound_distance(&rule, &sides->past, &low, &high) &&
        (!bidirectional || bound_distance(&rule, &sides->future, &low, &high)))
        try_between(sides, list, rule, low, high);
}

static void offer(struct pe__biased *biased, const struct found *found, bool more)
{
    const struct rule *rule = &found->rule;
    struct pe__draft draft = pe__biased_draft(biased, "t5");
    struct pe__shown shown;
    double each = (double)(rule->near + rule->far);
    pe__draft_number(&draft, "buckets", (double)rule->buckets);
    pe__draft_number(&draft, "max_distance", rule->max_distance);
    pe__draft_text(&draft, "bidirectional", rule->bidirectional ? "true" : "false");
    if (!pe__shown_new(biased, rule->buckets, &shown))
        return;
    size_t seen = 0;
    for (size_t i = 0; i < biased->groups; i++) {
        double offset = biased->offset[i];
        double past = rule->bidirectional ? fabs(offset) : fmax(-offset, 0);
        size_t row = (size_t)(bucket_of(rule, past, pe__plain_log(fmax(past, 1))) +
                              (rule->bidirectional && offset > 0 ? each : 0));
        for (size_t head = 0; head < biased->heads; head++) {
            struct pe__bounds level = pe__level(biased, head, i);
            struct pe__bounds *at = &shown.at[row * biased->heads + head];
            seen += head == 0 && isnan(at->middle);
            pe__bounds_meet(biased, at, &level);
        }
    }
    pe__shown_offer(biased, &draft, &shown,
                    PE__COST_TABLE + (double)(seen > 3 ? seen - 3 : 0) + found->cost,
                    found->open || more);
}

/* Whether every position is a whole number: there are no other buckets. */
static bool is_whole(const struct pe__biased *biased)
{
    for (size_t i = 0; i < biased->groups; i++)
        if (biased->offset[i] != floor(biased->offset[i]))
            return false;
    return true;
}

static bool is_equal_somewhere(const struct side *side)
{
    for (size_t i = 1; i < side->n; i++)
        if (!side->differs[i])
            return true;
    return false;
}

/* Tables of one number for each distance are buckets of every number above; only usual ones are
 * named then. */
static void try_all(struct pe__biased *biased, const struct sides *sides, struct shortlist *list,
                    bool bidirectional)
{
    bool equal =
        is_equal_somewhere(&sides->past) || (bidirectional && is_equal_somewhere(&sides->future));
    if (!bidirectional && !sides->future_is_one)
        return;
    for (size_t buckets = 2; equal && buckets <= BUCKETS_MAX && pe__biased_goes_on(biased);
         buckets += bidirectional ? 2 : 1)
        try_buckets(sides, list, buckets, bidirectional);
    for (size_t i = 0; !equal && i < sizeof usual / sizeof *usual; i++) {
        struct rule rule = rule_of(usual[i].buckets, bidirectional);
        reach(&rule, usual[i].max_distance);
        list->more = try(sides, list, rule, true) || list->more;
    }
}

void pe__biased_t5(struct pe__biased *biased)
{
    struct shortlist list = {.n = 0};
    size_t n = SIDE_NUMBERS * biased->groups;
    if (!is_whole(biased) || 2 * n > PE__BIASED_TABLES)
        return;
    /* The sides' numbers stand at the end of the room for tables. */
    double *memory = biased->tables + PE__BIASED_TABLES - 2 * n;
    struct sides sides = {.future_is_one = future_is_one(biased)};
    read_side(biased, false, memory, &sides.past);
    read_side(biased, true, memory + n, &sides.future);
    try_all(biased, &sides, &list, false);
    if (sides.future.n > 0 && biased->scores->masked != PE_MASKED_CAUSAL)
        try_all(biased, &sides, &list, true);
    for (size_t i = 0; i < list.n; i++)
        offer(biased, &list.at[i], list.more);
}
