// SPDX-License-Identifier: Apache-2.0
/*
 * biased_alibi.c: biases that are a slope times a distance: what the slope of each head can be, for
 * every form, and which rule gives these slopes.
 */
#include <math.h>

#include "biased.h"
#include "decimals.h"
#include "elementary.h"

#define USUAL_MAX    8     /* the exponent of the rule */
#define TYPED_DIGITS 3     /* of an exponent that somebody chose */
#define SAME         1e-14 /* of slopes in plain arithmetic */
#define LOOSE        0.05  /* a slope that is known no better is open */

static double symmetric(double query, double key, double last)
{
    (void)last;
    return fabs(query - key);
}

static double signed_distance(double query, double key, double last)
{
    (void)last;
    return query - key;
}

static double from_last(double query, double key, double last)
{
    (void)query;
    return last - key;
}

static double from_first(double query, double key, double last)
{
    (void)query;
    (void)last;
    return -key;
}

/* The choices of `form`, by what the negated slope multiplies. */
static const struct form {
    const char *name;
    double (*distance)(double query, double key, double last);
} forms[] = {
    {"symmetric", symmetric},
    {"signed", signed_distance},
    {"last_zero", from_last},
    {"key_index", from_first},
};

/* ---- Slopes -------------------------------------------------------------------------------- */

/* Where the slope of each head lies. */
struct slopes {
    double low[PE_HEADS_MAX], high[PE_HEADS_MAX];
};

/* Makes the interval no wider than one pair allows; false if nothing is left of it. */
static bool narrow(const struct pe__biased *biased, const struct pe__bounds *at, double distance,
                   double *low, double *high)
{
    double off = pe__off(biased, at);
    if (isnan(at->middle))
        return true;
    if (distance == 0)
        return fabs(at->middle) <= off;
    double one = -(at->middle - off) / distance, other = -(at->middle + off) / distance;
    *low = fmax(*low, fmin(one, other));
    *high = fmin(*high, fmax(one, other));
    return *low <= *high;
}

static bool read_slopes(const struct pe__biased *biased, const struct form *form,
                        struct slopes *out)
{
    double last = biased->key[biased->keys - 1];
    for (size_t head = 0; head < biased->heads; head++) {
        out->low[head] = 0;
        out->high[head] = INFINITY;
        for (size_t pair = 0; pair < biased->pairs; pair++) {
            double distance = form->distance(biased->query[pair / biased->keys],
                                             biased->key[pair % biased->keys], last);
            if (!narrow(biased, &biased->at[head * biased->pairs + pair], distance, &out->low[head],
                        &out->high[head]))
                return false;
        }
        if (isinf(out->high[head])) /* no pair is any distance apart */
            return false;
    }
    return true;
}

static bool holds(const struct slopes *slopes, size_t head, double slope)
{
    return slopes->low[head] * (1 - SAME) <= slope && slope <= slopes->high[head] * (1 + SAME);
}

/* ---- Rules --------------------------------------------------------------------------------- */

static size_t power_below(size_t heads)
{
    size_t n = 1;
    while (2 * n <= heads)
        n *= 2;
    return n;
}

/* The slope of one of `heads` by the rule. */
static double rule(double bias_max, size_t heads, size_t head)
{
    size_t n = power_below(heads);
    double part =
        head < n ? (double)(head + 1) / (double)n : (double)(2 * (head - n) + 1) / (double)(2 * n);
    return pe__plain_exp(-bias_max * part * PE__LN2);
}

/* Whether heads [first, first + n) of `heads` have the slopes. */
static bool fits(const struct slopes *slopes, double bias_max, size_t heads, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!holds(slopes, i, rule(bias_max, heads, first + i)))
            return false;
    return true;
}

/* How many heads have slopes; those behind them may have none. */
static size_t sloping(const struct pe__biased *biased, const struct slopes *slopes)
{
    size_t n = biased->heads;
    while (n > 0 && slopes->low[n - 1] <= 0)
        n--;
    return n;
}

static struct pe__draft draft_of(const struct pe__biased *biased, const struct form *form)
{
    struct pe__draft draft = pe__biased_draft(biased, "alibi");
    pe__draft_text(&draft, "form", form->name);
    return draft;
}

static bool offer_rule(struct pe__biased *biased, const struct form *form,
                       const struct slopes *slopes, double bias_max, double cost)
{
    size_t n = biased->heads;
    struct pe__draft draft = draft_of(biased, form);
    if (!fits(slopes, bias_max, n, 0, n)) {
        n = sloping(biased, slopes);
        if (n == 0 || n == biased->heads || !fits(slopes, bias_max, n, 0, n))
            return false;
        pe__draft_number(&draft, "heads", (double)n);
        pe__draft_number(&draft, "total_heads", (double)biased->heads);
        cost++;
    }
    if (bias_max != USUAL_MAX)
        pe__draft_number(&draft, "bias_max", bias_max);
    return pe__biased_offer(biased, &draft, cost, false);
}

/* The exponent of the rule by the last of the heads that are a power of two. */
static void offer_exponents(struct pe__biased *biased, const struct form *form,
                            const struct slopes *slopes, double cost)
{
    size_t n = sloping(biased, slopes);
    double found[PE_IDENTIFY_FOUND_MAX];
    bool more = false, offered = false;
    if (n < 2)
        return;
    size_t at = power_below(n) - 1;
    double high = -pe__plain_log(slopes->low[at]) / PE__LN2;
    double low = -pe__plain_log(slopes->high[at]) / PE__LN2;
    if (!(high > 0))
        return;
    double room = 4 * SAME * high;
    size_t found_n =
        pe__decimals(fmax(low - room, 0), high + room, found, sizeof found / sizeof *found, &more);
    for (size_t i = 0; i < found_n && !offered; i++)
        if (found[i] > 0)
            offered = offer_rule(biased, form, slopes, found[i],
                                 cost + fmin(pe__digits(found[i]), 2 * TYPED_DIGITS));
}

/* Some heads out of more: of usual numbers, the likeliest first. */
static void offer_slices(struct pe__biased *biased, const struct form *form,
                         const struct slopes *slopes, double cost)
{
    static const size_t usual[] = {8, 16, 32, 12, 64, 4, 40, 24, 48, 112, 128};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        for (size_t first = 0; first + biased->heads <= usual[i]; first++) {
            struct pe__draft draft = draft_of(biased, form);
            if (usual[i] == biased->heads ||
                !fits(slopes, USUAL_MAX, usual[i], first, biased->heads))
                continue;
            pe__draft_number(&draft, "heads", (double)usual[i]);
            pe__draft_number(&draft, "head", (double)first);
            pe__biased_offer(biased, &draft, cost + (double)(i > 0), false);
        }
}

/* A slope of its own for each head, the shortest number that it can be. */
static void offer_numbers(struct pe__biased *biased, const struct form *form,
                          const struct slopes *slopes, double cost)
{
    struct pe__draft draft = draft_of(biased, form);
    double numbers[PE_HEADS_MAX];
    bool open = false;
    for (size_t head = 0; head < biased->heads; head++) {
        double low = slopes->low[head], high = slopes->high[head];
        bool more = false;
        if (low <= 0)
            numbers[head] = 0;
        else if (pe__decimals(low, high, &numbers[head], 1, &more) == 0)
            numbers[head] = low + (high - low) / 2;
        open = open || high - low > LOOSE * high;
    }
    if (biased->heads == 1)
        pe__draft_number(&draft, "slope", numbers[0]);
    else
        pe__draft_list(&draft, "slopes", numbers, biased->heads);
    pe__biased_offer(biased, &draft, cost, open && biased->heads > 1);
}

/* Where a causal mask hides the keys after the query, two forms are one. */
static bool is_hidden(const struct pe__biased *biased, const struct form *form)
{
    return form->distance == signed_distance && biased->scores->masked == PE_MASKED_CAUSAL;
}

void pe__biased_alibi(struct pe__biased *biased)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct slopes slopes = {.low = {0}};
        double form_cost = i > 0;
        if (is_hidden(biased, &forms[i]) || !read_slopes(biased, &forms[i], &slopes))
            continue;
        bool ruled = offer_rule(biased, &forms[i], &slopes, USUAL_MAX, PE__COST_RULE + form_cost);
        if (biased->heads == 1) {
            offer_slices(biased, &forms[i], &slopes, PE__COST_RULE + 2 + form_cost);
            offer_numbers(biased, &forms[i], &slopes, PE__COST_RULE + form_cost);
        } else if (!ruled) {
            offer_slices(biased, &forms[i], &slopes, PE__COST_RULE + 2 + form_cost);
            offer_exponents(biased, &forms[i], &slopes, PE__COST_RULE + form_cost);
            offer_numbers(biased, &forms[i], &slopes,
                          fmin(PE__COST_NUMBERS, 4 + 2 * (double)biased->heads) + form_cost);
        }
    }
}
