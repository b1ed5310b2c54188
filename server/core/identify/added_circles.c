// SPDX-License-Identifier: Apache-2.0
/*
 * added_circles.c: sines and cosines of frequencies that are powers of a base. The order of the
 * channels is right if each pair lies on a circle; then base and shift follow from the lines of
 * its angles.
 */
#include <math.h>
#include <string.h>

#include "added.h"
#include "elementary.h"
#include "spectrum.h"

/* ---- What may have made them --------------------------------------------------------------- */

/* A parameter and the texts that it is tried with. */
struct choice {
    const char *name;
    const char *texts[5];
    bool of_odd; /* makes a difference to odd widths only, and is left out else */
};

/* What it takes besides: axes in any order, a denominator, the size of a grid. */
enum special { PLAIN, ORDERS, DENOMINATORS, SHARES };

static const struct family {
    const char *kind;
    size_t axes; /* 0: two or more */
    enum special special;
    bool spare; /* says what another one says too: only if it is asked for */
    struct choice choices[3];
} families[] = {
    {"sinusoidal",
     1,
     PLAIN,
     false,
     {{"layout", {"interleaved", "half", "cos_sin"}, false},
      {"spacing", {"paper", "endpoint"}, false},
      {"odd", {"zero", "sin"}, true}}},
    {"sinusoidal",
     1,
     DENOMINATORS,
     false,
     {{"layout", {"interleaved", "half", "cos_sin"}, false}, {"spacing", {"shift"}, false}}},
    {"timestep", 1, DENOMINATORS, true, {{"order", {"sin_cos", "cos_sin", "interleaved"}, false}}},
    {"sine2d", 2, PLAIN, false, {{"order", {"interleaved"}, false}}},
    {"sine2d",
     4,
     SHARES,
     false,
     {{"normalize", {"true"}, false}, {"order", {"interleaved", "sin_cos", "cos_sin"}, false}}},
    {"sincos2d",
     0,
     ORDERS,
     false,
     {{"order", {"sin_cos", "interleaved", "cos_sin", "grouped"}, false},
      {"spacing", {"paper", "endpoint"}, false}}},
    {"sine2d", 2, PLAIN, true, {{"order", {"sin_cos", "cos_sin"}, false}}},
};

#define CHOICES (sizeof families->choices / sizeof *families->choices)

/* Choice number `at` of all; false if there are fewer. */
static bool write_choices(const struct pe__search *search, const struct family *family, size_t at,
                          struct pe__draft *draft)
{
    bool odd = search->given.x->dim % 2 != 0;
    *draft = (struct pe__draft){.kind = pe_kind_find(family->kind, strlen(family->kind))};
    pe__draft_number(draft, "dim", (double)search->given.x->dim);
    for (size_t i = 0; i < CHOICES && family->choices[i].name; i++) {
        const struct choice *choice = &family->choices[i];
        size_t n = 1;
        while (n < sizeof choice->texts / sizeof *choice->texts && choice->texts[n])
            n++;
        if (choice->of_odd && !odd)
            continue;
        pe__draft_text(draft, choice->name, choice->texts[at % n]);
        at /= n;
    }
    return at == 0;
}

/* ---- Denominators -------------------------------------------------------------------------- */

/* ln of the base by the last fit, whatever short number positions are multiplied by. */
static struct pe__estimate base_of(struct pe__search *search)
{
    double scales[PE__TRIED], ln = 0;
    bool more = false;
    for (size_t i = 0; i < search->phases.pairs; i++)
        search->z[i] = -1;
    struct pe__estimate scale = pe__fit_factor(search, search->z);
    bool scaled = fabs(scale.value) > PE__SPREAD * scale.error;
    if (scaled && pe__decimals_of(scale, scales, &more) > 0)
        ln = pe__plain_log(scales[0]);
    return pe__fit_base(search, search->z, ln, 0, search->phases.pairs);
}

/* What is taken from the denominator of exponents shows in the base alone: besides the usual ones
 * those are tried by which the base is a usual one. */
static void propose_denominators(struct pe__search *search, const struct pe__draft *draft)
{
    static const double usual[] = {0, 1, 0.5}, bases[] = {10000, 1000, 100, 1000000};
    struct pe__draft own = *draft;
    double half = (double)(search->given.x->dim / 2), shifts[PE__TRIED];
    bool more = false;
    for (size_t i = 1; i < sizeof usual / sizeof *usual; i++) {
        pe__draft_number(&own, "freq_shift", usual[i]);
        pe__search_propose(search, &own);
    }
    pe__draft_number(&own, "freq_shift", usual[0]);
    pe__search_propose(search, &own); /* the last one: its fit is still there */
    struct pe__estimate ln = base_of(search);
    if (!isfinite(ln.error) || !(ln.value > 0))
        return;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        double by = pe__plain_log(bases[i]) / ln.value;
        double error = half * by * PE__SPREAD * ln.error / ln.value;
        size_t n = error < half ? pe__wholes(half * (1 - by) - error, half * (1 - by) + error,
                                             shifts, PE__TRIED, &more)
                                : 0;
        for (size_t k = 0; k < n && pe__digits(shifts[k]) <= PE__SHORT_DIGITS; k++) {
            pe__draft_number(&own, "freq_shift", shifts[k]);
            pe__search_propose(search, &own);
        }
    }
}

/* ---- Axes ---------------------------------------------------------------------------------- */

#define ORDERED_AXES 4 /* as many are tried in every order */

/* The next order of numbers, as in a dictionary; false behind the last. */
static bool next_order(double *order, size_t n)
{
    size_t i = n > 0 ? n - 1 : 0, k = i;
    while (i > 0 && order[i - 1] >= order[i])
        i--;
    if (i == 0)
        return false;
    while (k > i && order[k] <= order[i - 1])
        k--;
    double swapped = order[i - 1];
    order[i - 1] = order[k];
    order[k] = swapped;
    for (k = n - 1; i < k; i++, k--) {
        swapped = order[i];
        order[i] = order[k];
        order[k] = swapped;
    }
    return true;
}

static void propose_pairs(struct pe__search *search, const struct pe__draft *draft)
{
    if (!search->stopped && pe__added_pairs(search, draft))
        pe__search_propose(search, draft);
}

/* A block for each axis, of one size; or of three, those of videos. */
static void propose_orders(struct pe__search *search, const struct pe__draft *draft)
{
    size_t n = search->given.axes, eighth = search->given.x->dim / 8;
    double order[PE_AXES_MAX];
    const double video[] = {(double)eighth, 1.5 * (double)eighth, 1.5 * (double)eighth};
    for (size_t uneven = 0; uneven < (n == 3 ? 2 : 1); uneven++) {
        bool sorted = true;
        for (size_t i = 0; i < n; i++)
            order[i] = (double)i;
        do {
            struct pe__draft own = *draft;
            if (!sorted || n != 2)
                pe__draft_list(&own, "section_axes", order, n);
            if (uneven)
                pe__draft_list(&own, "sections", video, n);
            propose_pairs(search, &own);
            sorted = false;
        } while (n <= ORDERED_AXES && next_order(order, n));
    }
}

/* ---- Shares of a grid ---------------------------------------------------------------------- */

/* (place + offset) / (last + eps) * scale, of the rows and the columns. */
struct share {
    double offset, eps, scale;
};

#define EPS 1e-6

static double share_of(const void *context, const struct pe_positions *list, size_t token,
                       size_t axis)
{
    const struct share *share = context;
    double last = list->at[axis % 2 + 2][token];
    return (list->at[axis % 2][token] + share->offset) / (last + share->eps) * share->scale;
}

/* What a whole grid has in radians, by all pairs: 1 if it is what places were multiplied by. */
static size_t read_scales(struct pe__search *search, const struct share *share, double *scales,
                          bool *more)
{
    for (size_t i = 0; i < search->phases.pairs; i++)
        search->z[i] = -1;
    struct pe__estimate ln = pe__fit_factor(search, search->z);
    ln.value += pe__plain_log(share->scale);
    return pe__decimals_of(ln, scales, more);
}

/* With the usual scale, 2 pi; else with what the speeds say. */
static void propose_scales(struct pe__search *search, const struct pe__draft *draft, double offset)
{
    struct share share = {offset, EPS, 2 * PE__PI};
    double scales[PE__TRIED];
    bool more = false;
    size_t since = search->kept;
    pe__search_places(search, share_of, &share);
    propose_pairs(search, draft);
    if (search->kept > since)
        return;
    size_t n = search->phases.pairs > 0 ? read_scales(search, &share, scales, &more) : 0;
    for (size_t i = 0; i < n; i++) {
        struct pe__draft own = *draft;
        share.scale = scales[i];
        pe__draft_number(&own, "scale", scales[i]);
        pe__search_places(search, share_of, &share);
        propose_pairs(search, &own);
    }
    if (more)
        pe__search_open(search, since, false);
}

static void propose_shares(struct pe__search *search, const struct pe__draft *draft)
{
    static const double offsets[] = {0, -0.5, 0.5};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct pe__draft own = *draft;
        if (offsets[i] != 0)
            pe__draft_number(&own, "offset", offsets[i]);
        search->phases.pairs = 0;
        propose_scales(search, &own, offsets[i]);
    }
    pe__search_places(search, NULL, NULL);
}

/* ---- All of them --------------------------------------------------------------------------- */

static enum pe_status try_choices(struct pe__search *search, const struct family *family,
                                  const struct pe__draft *draft)
{
    switch (family->special) {
    case PLAIN:
        propose_pairs(search, draft);
        break;
    case DENOMINATORS:
        if (pe__added_pairs(search, draft))
            propose_denominators(search, draft);
        break;
    case ORDERS:
        propose_orders(search, draft);
        break;
    case SHARES:
        propose_shares(search, draft);
        break;
    }
    return search->stopped ? PE_STOPPED : pe__search_judge(search);
}

/* Whether it is found since, to the bit and with a base that no other could have been taken for. */
static bool is_settled(const struct pe__search *search, size_t since)
{
    const struct pe_identify *job = search->job;
    bool exact = false;
    for (size_t i = 0; i < job->found_n; i++)
        exact = exact || (job->found[i].nth > since && job->found[i].explains == PE_EXPLAINS_BITS);
    return exact && !search->rounds_much && !pe__search_is_open(search, since);
}

enum pe_status pe__added_circles(struct pe__search *search)
{
    enum pe_status status = PE_OK;
    size_t since = search->kept;
    for (size_t i = 0; status == PE_OK && i < sizeof families / sizeof *families; i++) {
        const struct family *family = &families[i];
        bool fits = family->axes ? family->axes == search->given.axes : search->given.axes > 1;
        struct pe__draft draft;
        if (!fits || (family->spare && !search->job->kind))
            continue;
        for (size_t at = 0; status == PE_OK && write_choices(search, family, at, &draft); at++) {
            status = try_choices(search, family, &draft);
            if (is_settled(search, since))
                return status;
        }
    }
    return status;
}
