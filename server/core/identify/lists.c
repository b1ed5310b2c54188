// SPDX-License-Identifier: Apache-2.0
/*
 * lists.c: frequencies that follow no rule: those of a usual base, each divided by a short number;
 * or as they are.
 */
#include <math.h>

#include "elementary.h"
#include "spectrum.h"

#define LIST_DIGITS 5
#define DIVISOR_MAX 64 /* where it is searched by angles */

/* What the speed of a usual base is divided by in a pair: a short number by its line, or by its
 * angles where there is none; 0: no such number. */
static double divisor_of(const struct pe__search *search, const struct pe_spec *spec, size_t pair)
{
    double speed = pe__speed_of(spec, pair), origin = pe__origin_of(spec), divisor = 0;
    if (isfinite(search->s[pair])) {
        double ln = pe__plain_log(fabs(speed)) - search->v[pair];
        double error = PE__SPREAD * search->s[pair];
        bool more = false;
        size_t n =
            pe__decimals(pe__plain_exp(ln - error), pe__plain_exp(ln + error), &divisor, 1, &more);
        return n > 0 && pe__digits(divisor) <= LIST_DIGITS ? divisor : 0;
    }
    for (int tenths = 10; !search->rounds_much && tenths <= 10 * DIVISOR_MAX; tenths++)
        if (pe__search_turned_by(search, pair, speed * 10 / tenths, origin))
            return tenths / 10.0;
    return 0;
}

/* The divisors of all pairs, into z. */
static bool read_divisors(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe_spec spec;
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    bool ok = pe_spec_pairs(&spec) == search->phases.pairs;
    for (size_t i = 0; ok && i < search->phases.pairs; i++)
        ok = (search->z[i] = divisor_of(search, &spec, i)) > 0;
    pe_spec_release(&spec);
    return ok;
}

static int most_digits(const double *list, size_t n)
{
    int most = 0;
    for (size_t i = 0; i < n; i++)
        most = pe__digits(list[i]) > most ? pe__digits(list[i]) : most;
    return most;
}

/* The speeds as parts of those of a usual base, if all of these are short; else as they are. */
bool pe__propose_lists(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe__draft other = *draft;
    size_t n = search->phases.pairs;
    for (size_t k = 0; k < PE__USUAL_BASES; k++) {
        other = *draft;
        pe__draft_number(&other, "base", pe__usual_bases[k]);
        if (!read_divisors(search, &other))
            continue;
        size_t since = search->kept;
        pe__draft_list(&other, "freq_factors", search->z, n);
        if (!pe__propose(search, &other))
            continue;
        if (most_digits(search->z, n) > PE__SHORT_DIGITS)
            pe__search_open(search, since, false); /* which fit any frequencies */
        return true;
    }
    other = *draft;
    for (size_t i = 0; i < n; i++) {
        bool known = isfinite(search->s[i]);
        search->z[i] = known ? pe__plain_exp(search->v[i]) : fabs(search->line[i].speed);
    }
    size_t since = search->kept;
    pe__draft_list(&other, "freqs", search->z, n);
    bool fits = pe__propose(search, &other);
    pe__search_open(search, since, false); /* measured, not named */
    return fits;
}
