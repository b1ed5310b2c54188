// SPDX-License-Identifier: Apache-2.0
/*
 * added.c: something added to the vectors: y less x, the same in every head, as cosines and sines
 * of pairs. In the right pairs they lie on a circle.
 */
#include <math.h>

#include "identify_search.h"

#define CLEAR 8 /* times the limits of libraries: how far off the circle */

/* Where the cosines and sines are, and which frequencies they have. */
static const struct way {
    const char *layout, *spacing;
} ways[] = {
    {"interleaved", "paper"},    {"half", "paper"},    {"cos_sin", "paper"},
    {"interleaved", "endpoint"}, {"half", "endpoint"}, {"cos_sin", "endpoint"},
};

static bool is_circle(const struct pe__search *search)
{
    const struct pe__phases *phases = &search->phases;
    for (size_t at = 0; at < phases->pairs * phases->rows; at++) {
        double square = phases->re[at] * phases->re[at] + phases->im[at] * phases->im[at];
        if (phases->weight[at] > 0 && !(fabs(square - 1) <= CLEAR * search->fixed))
            return false;
    }
    return true;
}

/* Whether the spec lies on a circle; then its pairs are those of the search. */
static bool read_pairs(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe_spec spec;
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    pe__pairing_of(&spec, &search->pairing);
    pe_spec_release(&spec);
    pe__phases_of(&search->phases, &search->given, &search->pairing, search->memory,
                  search->vector);
    return is_circle(search);
}

enum pe_status pe__search_added(struct pe__search *search)
{
    enum pe_status status = PE_OK;
    size_t dim = search->given.x->dim;
    if (search->given.axes > 1 || dim % 2 != 0)
        return PE_OK;
    for (size_t i = 0; status == PE_OK && i < sizeof ways / sizeof *ways; i++) {
        struct pe__draft draft = {.kind = pe_kind_find("sinusoidal", 10)};
        pe__draft_number(&draft, "dim", (double)dim);
        pe__draft_text(&draft, "layout", ways[i].layout);
        pe__draft_text(&draft, "spacing", ways[i].spacing);
        if (!read_pairs(search, &draft))
            continue;
        pe__search_free_lines(search);
        pe__search_propose(search, &draft);
        status = search->stopped ? PE_STOPPED : pe__search_judge(search);
        if (pe__search_is_explained(search) && !search->rounds_much &&
            !pe__search_is_open(search, 0))
            break; /* with a base that no other could have been taken for */
    }
    return status;
}
