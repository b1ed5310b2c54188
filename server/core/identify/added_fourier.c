// SPDX-License-Identifier: Apache-2.0
/*
 * added_fourier.c: sines and cosines whose frequencies follow no series: doubling ones, those drawn
 * from one of the first seeds, or a list. A position, or its logarithm, is multiplied by them.
 */
#include <math.h>

#include "added.h"
#include "elementary.h"
#include "kind.h"
#include "spectrum.h"

#define SEEDS       256
#define DIGITS_MAX  17
#define LIST_DIGITS 5    /* of a frequency that somebody has typed */
#define QUARTER     0.25 /* turns in the smallest step: such a frequency is no other one's alias */
#define DOUBLED     3    /* pairs that show that frequencies double */

/* ---- Draws --------------------------------------------------------------------------------- */

static double drawn(double seed, size_t pair)
{
    double z;
    pe_fill_random((uint64_t)seed, "freqs", PE_CONTENT_NORMAL, 1, pair, 1, PE_F64, &z);
    return z;
}

/* Whether the pairs turn as the draws of a seed, in this unit, tell them to. */
static bool turns_as_drawn(const struct pe__search *search, double seed, double unit)
{
    size_t pair = 0;
    while (pair < search->phases.pairs &&
           pe__search_turned_by(search, pair, drawn(seed, pair) * unit, 0))
        pair++;
    return pair == search->phases.pairs;
}

/* A seed's deviation by the line of a pair, where it's known well. */
static size_t fitted_stds(const struct pe__search *search, double seed, double turn, double *out)
{
    const struct pe__turning *line = &search->line[search->probe];
    double unit = drawn(seed, search->probe) * turn, std = line->speed / unit;
    double error = PE__SPREAD * line->error / fabs(unit);
    bool more = false;
    return std > error ? pe__decimals(std - error, std + error, out, PE__TRIED, &more) : 0;
}

/* The pair whose speed is known best, of those that turn. */
static size_t clearest(const struct pe__search *search)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        const struct pe__turning *line = &search->line[pair];
        double error = line->error / fabs(line->speed);
        if (error < least) {
            least = error;
            best = pair;
        }
    }
    return best;
}

/* `digits`: of a deviation, at most. */
static bool propose_drawn(struct pe__search *search, const struct pe__draft *draft, double turn,
                          int digits)
{
    static const double usual[] = {1, 16, 10, 2, 4, 8, 30};
    const size_t usual_n = sizeof usual / sizeof *usual;
    double stds[PE__TRIED];
    size_t since = search->kept, seeds = SEEDS;
    double first = pe__added_seeds(search, "fourier", "freqs_seed", &seeds);
    if (pe__added_by_chance(search->phases.pairs - 1, search->noise.angle / PE__PI))
        return false;
    search->probe = clearest(search);
    for (size_t s = 0; s < seeds && !search->stopped; s++) {
        double seed = first + (double)s;
        size_t n = fitted_stds(search, seed, turn, stds);
        for (size_t i = 0; i < usual_n + n; i++) {
            double std = i < usual_n ? usual[i] : stds[i - usual_n];
            struct pe__draft own = *draft;
            if (pe__digits(std) > digits || !turns_as_drawn(search, seed, std * turn))
                continue;
            pe__draft_number(&own, "freqs_seed", seed);
            pe__draft_number(&own, "freqs_std", std);
            pe__propose(search, &own);
        }
    }
    return search->kept > since;
}

/* ---- Lists --------------------------------------------------------------------------------- */

/* A short number for each pair's frequency, into z, else the frequency as it is. Whether all are
 * short, and slow enough that no faster one can be meant. */
static bool read_list(struct pe__search *search, double turn)
{
    bool sure = true;
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        const struct pe__turning *line = &search->line[pair];
        double f = line->speed / turn, error = PE__SPREAD * line->error / turn, found[2];
        bool more = false;
        if (!isfinite(error) || !isfinite(f)) {
            search->z[pair] = 0;
            sure = false;
            continue;
        }
        size_t n = pe__wholes(f - error, f + error, found, 2, &more);
        search->z[pair] = n > 0 ? found[0] : f;
        bool is_short = n == 1 && !more && pe__digits(found[0]) <= LIST_DIGITS;
        sure = sure && is_short && fabs(line->speed) * line->step <= 2 * PE__PI * QUARTER;
    }
    return sure;
}

/* Whether it is sure. */
static bool propose_list(struct pe__search *search, const struct pe__draft *draft, double turn)
{
    struct pe__draft own = *draft;
    size_t since = search->kept;
    bool sure = read_list(search, turn);
    pe__draft_list(&own, "freqs", search->z, search->phases.pairs);
    sure = pe__propose(search, &own) && sure;
    if (!sure)
        pe__search_open(search, since, false); /* measured, not named */
    return sure;
}

/* ---- Doubling ------------------------------------------------------------------------------ */

/* Whether they do. */
static bool propose_powers(struct pe__search *search, const struct pe__draft *draft, double turn)
{
    struct pe__draft own = *draft;
    size_t since = search->kept, seen = 0;
    double speed = turn / 2; /* of the first pair */
    for (; seen < search->phases.pairs && speed * search->line[seen].step <= PE__PI; seen++)
        speed *= 2;
    pe__draft_text(&own, "bands", "powers");
    pe__propose(search, &own);
    if (seen < DOUBLED && seen < search->phases.pairs)
        pe__search_open(search, since, false);
    return search->kept > since;
}

/* ---- All of them --------------------------------------------------------------------------- */

/* Short numbers in either unit first. */
static void propose(struct pe__search *search, const struct pe__draft *draft)
{
    static const struct {
        const char *name;
        double turn;
    } units[] = {{"turn", 2 * PE__PI}, {"radian", 1}};
    static const int digits[] = {PE__SHORT_DIGITS, DIGITS_MAX};
    bool found = false;
    pe__search_lines(search, 0);
    for (size_t k = 0; k < sizeof digits / sizeof *digits && !found; k++)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            struct pe__draft own = *draft;
            pe__draft_text(&own, "angle_unit", units[i].name);
            found = propose_powers(search, &own, units[i].turn) || found;
            found = propose_drawn(search, &own, units[i].turn, digits[k]) || found;
        }
    for (size_t i = 0; i < sizeof units / sizeof *units && !found; i++) {
        struct pe__draft own = *draft;
        pe__draft_text(&own, "angle_unit", units[i].name);
        found = propose_list(search, &own, units[i].turn);
    }
}

static double logarithm_of(const void *context, const struct pe_positions *list, size_t token,
                           size_t axis)
{
    (void)context;
    return pe__plain_log(list->at[axis][token]);
}

static bool are_positive(const struct pe__search *search)
{
    for (size_t i = 0; i < search->order_n; i++)
        if (!(search->given.at[0][search->order[0][i]] > 0))
            return false;
    return true;
}

static void try_order(struct pe__search *search, const char *order)
{
    struct pe__draft draft = {.kind = pe_kind_find("fourier", 7)};
    pe__draft_number(&draft, "dim", (double)search->given.x->dim);
    pe__draft_text(&draft, "order", order);
    size_t since = search->kept;
    if (!pe__added_pairs(search, &draft))
        return;
    propose(search, &draft);
    if (search->kept > since || !are_positive(search))
        return;
    pe__draft_text(&draft, "log_positions", "true");
    pe__search_places(search, logarithm_of, NULL);
    if (pe__added_pairs(search, &draft))
        propose(search, &draft);
    pe__search_places(search, NULL, NULL);
}

enum pe_status pe__added_fourier(struct pe__search *search)
{
    static const char *const orders[] = {"sin_cos", "interleaved", "cos_sin"};
    if (search->given.axes > 1 || search->given.x->dim % 2 != 0)
        return PE_OK;
    for (size_t i = 0; i < sizeof orders / sizeof *orders && !search->stopped; i++)
        try_order(search, orders[i]);
    return search->stopped ? PE_STOPPED : pe__search_judge(search);
}
