// SPDX-License-Identifier: Apache-2.0
/*
 * deal.c: pairs that turn with several axes: how many of them each axis has, by the axes that
 * explain their angles, and by what models do; and which frequencies they have there.
 */
#include <math.h>
#include <string.h>

#include "elementary.h"
#include "spectrum.h"

/* Blocks of pairs, and the axis of each. */
struct deal {
    double sizes[PE_AXES_MAX], axes[PE_AXES_MAX];
    size_t n;
};

static bool may_be(const struct pe__search *search, size_t pair, size_t axis)
{
    return (search->axes[pair] >> axis & 1) != 0;
}

static size_t left_of(const struct pe__search *search, const struct deal *deal)
{
    double sum = 0;
    for (size_t block = 0; block < deal->n; block++)
        sum += deal->sizes[block];
    return search->phases.pairs - (size_t)sum;
}

static void number_axes(struct deal *deal, size_t n)
{
    deal->n = n;
    for (size_t block = 0; block < n; block++)
        deal->axes[block] = (double)block;
}

/* ---- By what is seen ------------------------------------------------------------------------ */

static size_t lowest(unsigned bits)
{
    size_t axis = 0;
    while (!(bits >> axis & 1))
        axis++;
    return axis;
}

/* Runs of pairs that one axis explains; an empty block at the end where the last axis has none. */
static bool deal_blocks(const struct pe__search *search, struct deal *deal)
{
    size_t pairs = search->phases.pairs, first = 0, last_axis = 0;
    deal->n = 0;
    while (first < pairs && deal->n < PE_AXES_MAX) {
        unsigned bits = search->axes[first];
        size_t end = first;
        while (end < pairs && (bits & search->axes[end]))
            bits &= search->axes[end++];
        size_t axis = lowest(bits);
        deal->sizes[deal->n] = (double)(end - first);
        deal->axes[deal->n++] = (double)axis;
        last_axis = axis > last_axis ? axis : last_axis;
        first = end;
    }
    if (first < pairs || (last_axis + 1 < search->given.axes && deal->n == PE_AXES_MAX))
        return false;
    if (last_axis + 1 < search->given.axes) {
        deal->sizes[deal->n] = 0;
        deal->axes[deal->n++] = (double)(search->given.axes - 1);
    }
    return true;
}

/* How many of the pairs `first`, first + 3 and so on an axis explains without a gap. */
static double count_turns(const struct pe__search *search, size_t first, size_t axis)
{
    double n = 0;
    for (size_t pair = first; pair < search->phases.pairs && may_be(search, pair, axis); pair += 3)
        n++;
    return n;
}

/* Three axes by turns, the first of which has the rest. */
static bool deal_turns(const struct pe__search *search, struct deal *deal)
{
    number_axes(deal, 3);
    deal->sizes[1] = count_turns(search, 1, 1);
    deal->sizes[2] = count_turns(search, 2, 2);
    deal->sizes[0] = 0;
    deal->sizes[0] = (double)left_of(search, deal);
    return search->given.axes == 3;
}

/* Three of four axes by turns, the fourth has the rest. */
static bool deal_turns_of_four(const struct pe__search *search, struct deal *deal)
{
    number_axes(deal, 4);
    deal->sizes[3] = 0;
    for (size_t axis = 0; axis < 3; axis++)
        deal->sizes[axis] = count_turns(search, axis, axis);
    deal->sizes[3] = (double)left_of(search, deal);
    return search->given.axes == 4;
}

/* The second axis and the third alternate, the first comes last. */
static bool deal_tail(const struct pe__search *search, struct deal *deal)
{
    size_t tail = search->phases.pairs;
    *deal = (struct deal){.axes = {1, 2, 0}, .n = 3};
    while (tail > 0 && may_be(search, tail - 1, 0))
        tail--;
    deal->sizes[0] = (double)((tail + 1) / 2);
    deal->sizes[1] = (double)(tail / 2);
    deal->sizes[2] = (double)(search->phases.pairs - tail);
    return search->given.axes == 3;
}

static bool deal_alternating(const struct pe__search *search, struct deal *deal)
{
    size_t n = search->given.axes;
    number_axes(deal, n);
    for (size_t block = 0; block < n; block++)
        deal->sizes[block] = (double)((search->phases.pairs + n - 1 - block) / n);
    return true;
}

/* ---- By what models do ---------------------------------------------------------------------- */

#define SHARES 64 /* of all pairs */

static const unsigned char usual[][PE_AXES_MAX] = {
    {16, 24, 24}, {24, 20, 20}, {32, 16, 16},     {22, 22, 20},
    {24, 24, 16}, {8, 28, 28},  {16, 16, 16, 16}, {32, 32},
};
#define USUAL_N (sizeof usual / sizeof *usual)

/* Sizes in these shares, for the same axes. */
static bool deal_usual(const struct pe__search *search, size_t i, struct deal *deal)
{
    size_t pairs = search->phases.pairs;
    for (size_t block = 0; block < PE_AXES_MAX; block++) {
        size_t size = usual[i][block] * pairs;
        if (size % SHARES != 0 || (size > 0 && block >= deal->n))
            return false;
        deal->sizes[block] = (double)(size / SHARES);
    }
    return true;
}

/* ---- Hypotheses ----------------------------------------------------------------------------- */

/* Ways to deal pairs out, and what else is said of them. */
static const struct way {
    const char *kind;
    bool (*deal)(const struct pe__search *search, struct deal *deal);
    const char *name, *text; /* a setting besides; NULL: none */
} ways[] = {
    {"mrope", deal_blocks, NULL, NULL},
    {"mrope", deal_turns, "axes_split", "interleaved"},
    {"mrope", deal_turns_of_four, "axes_split", "interleaved_ggml"},
    {"mrope", deal_tail, "axes_split", "alternate_tail"},
    {"axial", deal_blocks, NULL, NULL},
    {"axial", deal_blocks, "spectrum", "strided"},
    {"axial", deal_alternating, "axes_split", "alternate"},
    {"axial", deal_blocks, "angle_unit", "turn"},
    {"axial", deal_blocks, "bands", "log"},
    {"axial", deal_blocks, "bands", "linear"},
    {"rope2d", deal_blocks, NULL, NULL},
    {"rope2d", deal_blocks, "axes_split", "alternate"},
};

/* Whether some pair that turns could as well turn with another axis. */
static bool are_axes_open(const struct pe__search *search)
{
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        unsigned bits = search->axes[pair];
        const struct pe__turning *line = &search->free[pair];
        if ((bits & (bits - 1)) && line->worst <= PE__SPREAD && line->speed != 0)
            return true;
    }
    return false;
}

/* Bands end at a multiple of pi that is fitted to the last pair of the first block. */
static void propose_bands(struct pe__search *search, struct pe__draft *draft,
                          const struct deal *deal)
{
    const struct pe__draft plain = *draft;
    size_t since = search->kept;
    double ends[PE__TRIED];
    bool more = false;
    pe__search_lines(search, 0);
    const struct pe__turning *line =
        &search->line[deal->sizes[0] > 0 ? (size_t)deal->sizes[0] - 1 : 0];
    double end = fabs(line->speed) * 2 / PE__PI;
    double error =
        (PE__SPREAD * line->error + search->noise.drift * fabs(line->speed)) * 2 / PE__PI;
    size_t n = isfinite(error) && end > error
                   ? pe__decimals(end - error, end + error, ends, PE__TRIED, &more)
                   : 0;
    if (line->speed < 0)
        pe__draft_number(draft, "direction", -1);
    if (n > 0 && pe__propose_each(search, draft, "max_freq", ends, n)) {
        if (more)
            pe__search_open(search, since, false);
        return;
    }
    search->by_angles = true; /* the usual one */
    pe__propose(search, &plain);
    search->by_angles = false;
}

/* The draft of a way, if the axes that it says explain the pairs. */
static bool write_deal(struct pe__search *search, const struct way *way, const struct deal *deal,
                       struct pe__draft *own)
{
    struct pe_spec spec;
    own->kind = pe_kind_find(way->kind, strlen(way->kind));
    if (strcmp(way->kind, "rope2d") != 0) { /* whose halves are of one size */
        pe__draft_list(own, "sections", deal->sizes, deal->n);
        pe__draft_list(own, "section_axes", deal->axes, deal->n);
    }
    if (way->name)
        pe__draft_text(own, way->name, way->text);
    if (!pe__draft_finish(search, own, &spec))
        return false;
    bool fits = pe__search_take_axes(search, &spec);
    pe_spec_release(&spec);
    return fits;
}

static void try_deal(struct pe__search *search, const struct pe__draft *draft,
                     const struct way *way, const struct deal *deal)
{
    struct pe__draft own = *draft;
    size_t since = search->kept;
    if (!write_deal(search, way, deal, &own))
        return;
    if (way->name && strcmp(way->name, "bands") == 0)
        propose_bands(search, &own, deal);
    else
        pe__search_propose(search, &own);
    if (are_axes_open(search))
        pe__search_open(search, since, true);
}

/* Whether a way says nothing that another does not say too: rope2d, unless it is asked for. */
static bool is_spare(const struct pe__search *search, const struct way *way)
{
    return strcmp(way->kind, "rope2d") == 0 && !search->job->kind;
}

void pe__search_deal(struct pe__search *search, const struct pe__draft *draft)
{
    size_t since = search->kept;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !search->stopped; i++) {
        struct deal seen, other;
        if (is_spare(search, &ways[i]) || !ways[i].deal(search, &seen))
            continue;
        for (size_t k = 0; k < USUAL_N; k++) {
            other = seen;
            if (ways[i].deal == deal_blocks)
                number_axes(&other, search->given.axes);
            if (deal_usual(search, k, &other))
                try_deal(search, draft, &ways[i], &other);
        }
        try_deal(search, draft, &ways[i], &seen);
        if (search->rules == PE__RULES_ANY && search->kept > since)
            break; /* lists fit wherever one does */
    }
}
