// SPDX-License-Identifier: Apache-2.0
/*
 * turned.c: rotations: which channels make a pair. In the right pairs the length of every pair is
 * kept, or multiplied by the same number, so that a few vectors rule out all other pairs.
 */
#include <math.h>
#include <string.h>

#include "identify_search.h"
#include "kind.h"

#define SAMPLES    16 /* vectors that lengths are compared of */
#define HYPOTHESES 6  /* of channels that are looked at more closely */
#define NORM_LIMIT 8  /* times the limit of libraries: how far squares of lengths are off */

/* The channels that differ in y anywhere. */
struct changed {
    size_t first, last; /* first > last: none */
};

static struct changed changed_channels(const struct pe__search *search)
{
    const struct pe_view *x = search->given.x;
    struct changed changed = {x->dim, 0};
    double *from = search->vector, *to = search->vector + x->dim;
    for (size_t batch = 0; batch < x->batches; batch++)
        for (size_t head = 0; head < x->heads; head++)
            for (size_t token = 0; token < x->tokens; token++) {
                pe__vector(x, batch, head, token, from);
                pe__vector(search->given.y, batch, head, token, to);
                for (size_t i = 0; i < changed.first && i < x->dim; i++)
                    if (from[i] != to[i])
                        changed.first = i;
                for (size_t i = x->dim; i-- > changed.last + (changed.first < x->dim);)
                    if (from[i] != to[i]) {
                        changed.last = i;
                        break;
                    }
            }
    return changed;
}

/* Whether all pairs of some vectors are as long in y as in x, but for one factor. */
static bool lengths_agree(const struct pe__search *search)
{
    const struct pe_view *x = search->given.x;
    size_t total = x->batches * x->heads * x->tokens, step = total / SAMPLES + 1;
    double *from = search->vector, *to = search->vector + x->dim, gain = 0, longest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t n = 0; n < total; n += step) {
            size_t token = (total - 1 - n) % x->tokens, head = (total - 1 - n) / x->tokens;
            size_t row = (search->given.lists_n > 1 ? head / x->heads * x->tokens : 0) + token;
            if (isnan(search->given.at[0][row]))
                continue;
            pe__vector(x, head / x->heads, head % x->heads, token, from);
            pe__vector(search->given.y, head / x->heads, head % x->heads, token, to);
            for (size_t pair = 0; pair < search->pairing.pairs; pair++) {
                const uint32_t *at = search->pairing.at[pair];
                double before = from[at[0]] * from[at[0]] + from[at[1]] * from[at[1]];
                double after = to[at[2]] * to[at[2]] + to[at[3]] * to[at[3]];
                bool stands = from[at[0]] == to[at[2]] && from[at[1]] == to[at[3]];
                if (pass == 0 && before > longest && !stands) {
                    longest = before;
                    gain = after / before;
                }
                double limit = NORM_LIMIT * search->fixed * (gain * before + after);
                if (pass == 1 && !stands && !(fabs(after - gain * before) <= limit))
                    return false;
            }
        }
    return true;
}

void pe__search_propose(struct pe__search *search, const struct pe__draft *draft)
{
    double origins[PE__ORIGINS_MAX];
    bool more = false;
    size_t n = pe__search_origins(search, origins, &more), since = search->kept;
    for (size_t i = 0; i < n && !search->stopped; i++) {
        struct pe__draft own = *draft;
        if (origins[i] != 0)
            pe__draft_number(&own, "shift", -origins[i]);
        if (!isnan(search->padding))
            pe__draft_number(&own, "padding_idx", search->padding - origins[i]);
        pe__search_lines(search, origins[i]);
        pe__spectrum_propose(search, &own);
    }
    if (more)
        pe__search_open(search, since, false);
}

static enum pe_status try_lines(struct pe__search *search, const struct pe__draft *draft)
{
    pe__search_free_lines(search);
    if (search->given.axes > 1)
        pe__search_deal(search, draft);
    else
        pe__search_propose(search, draft);
    return search->stopped ? PE_STOPPED : pe__search_judge(search);
}

/* One hypothesis about the pairs: everything that may turn them so. */
static enum pe_status try_pairs(struct pe__search *search, const struct pe__draft *draft)
{
    pe__phases_of(&search->phases, &search->given, &search->pairing, search->memory,
                  search->vector);
    enum pe_status status = try_lines(search, draft);
    if (status != PE_OK || search->rules != PE__RULES_ANY || pe__search_is_explained(search))
        return status;
    search->twist = PE_TWIST_SWAPPED;
    pe__phases_swap(&search->phases);
    status = try_lines(search, draft);
    search->twist = PE_TWIST_NONE;
    return status;
}

/* Ways in which pairs lie in vectors. */
static const struct way {
    const char *layout, *output_order;
} ways[] = {
    {"interleaved", NULL}, {"half", NULL}, {"interleaved", "halves"}, {"half_per_axis", NULL}};

/* Whether the spec pairs the channels as y demands; then its pairs are those of the search. */
static bool read_pairs(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe_spec spec;
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    pe__pairing_of(&spec, &search->pairing);
    pe_spec_release(&spec);
    return lengths_agree(search);
}

/* Widths of the rotated part, those first that are most likely. */
static enum pe_status try_widths(struct pe__search *search, struct pe__draft *draft, size_t least,
                                 size_t most, size_t *tried)
{
    enum pe_status status = PE_OK;
    bool whole = true;
    least += least % 2;
    if (least < 2)
        least = 2;
    for (size_t width = most - most % 2; width >= least && *tried < HYPOTHESES; width -= 2) {
        if (!whole && width != least && width * 2 != most && width * 4 != most)
            if (strcmp(draft->at[1].text, "half") != 0)
                continue; /* neighbours that stand still are pairs of any width */
        whole = false;
        pe__draft_number(draft, "rotary_dim", (double)width);
        if (!read_pairs(search, draft))
            continue;
        ++*tried;
        status = try_pairs(search, draft);
        if (status != PE_OK)
            break;
    }
    return status;
}

/* Where the first channels stand still, which the fastest pair would not: pairs from there on. */
static enum pe_status try_offset(struct pe__search *search, const struct pe__draft *draft,
                                 const struct changed *changed, size_t *tried)
{
    struct pe__draft own = *draft;
    if (changed->first == 0)
        return PE_OK;
    pe__draft_number(&own, "rotary_offset", (double)changed->first);
    return try_widths(search, &own, changed->last + 1 - changed->first,
                      search->given.x->dim - changed->first, tried);
}

/* What pairs are read by: the kind that is known, unless it changes lengths, or the plainest with
 * as many axes. */
static const struct pe_kind *kind_of(const struct pe__search *search)
{
    const char *known = search->job->kind;
    const struct pe_kind *kind = known ? pe_kind_find(known, strlen(known)) : NULL;
    if (kind && kind->acts == PE_ROTATES && !kind->ops->scale)
        return kind;
    return search->given.axes > 1 ? pe_kind_find("mrope", 5) : pe_kind_find("rope", 4);
}

static enum pe_status try_ways(struct pe__search *search, const struct changed *changed)
{
    static const double numbers[PE_AXES_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    const struct pe_view *x = search->given.x;
    enum pe_status status = PE_OK;
    for (size_t i = 0; status == PE_OK && i < sizeof ways / sizeof *ways; i++) {
        size_t tried = 0;
        struct pe__draft draft = {.kind = kind_of(search)};
        pe__draft_number(&draft, "dim", (double)x->dim);
        pe__draft_text(&draft, "layout", ways[i].layout);
        if (strcmp(ways[i].layout, "half_per_axis") == 0)
            pe__draft_list(&draft, "section_axes", numbers, search->given.axes);
        if (ways[i].output_order)
            pe__draft_text(&draft, "output_order", ways[i].output_order);
        status = try_offset(search, &draft, changed, &tried);
        if (status == PE_OK && tried == 0)
            status = try_widths(search, &draft, changed->last + 1, x->dim, &tried);
    }
    return status;
}

enum pe_status pe__search_pairs(struct pe__search *search, enum pe__rules rules)
{
    struct changed changed = changed_channels(search);
    if (changed.first > changed.last)
        return PE_OK;
    search->rules = rules;
    enum pe_status status = try_ways(search, &changed);
    search->rules = PE__RULES_ANY;
    return status;
}

/* The plainest frequencies in every way first: what is wrong leaves room for any others. */
enum pe_status pe__search_turned(struct pe__search *search)
{
    enum pe_status status = pe__search_pairs(search, PE__RULES_PLAIN);
    if (status == PE_OK && !pe__search_is_explained(search))
        status = pe__search_pairs(search, PE__RULES_BLENDS);
    return status;
}

enum pe_status pe__search_turned_anyhow(struct pe__search *search)
{
    return pe__search_pairs(search, PE__RULES_ANY);
}
