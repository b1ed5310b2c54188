// SPDX-License-Identifier: Apache-2.0
/*
 * nearest.c: which known name a misspelt one was meant to be. The distance is that of optimal
 * string alignment: insertions, deletions, substitutions and swaps of neighbours count one each.
 */
#include "nearest.h"
#include "posenc.h"

#define NAME_LEN_MAX         32 /* longer ones are not compared */
#define ABBREVIATION_LEN_MIN 6  /* a shorter one may abbreviate anything */
#define ABBREVIATION_EDITS   2  /* as how many an abbreviation counts */

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(struct pe__span a, struct pe__span b)
{
    size_t rows[3][NAME_LEN_MAX + 1];
    size_t *above2 = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++)
        above[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = a.text[i - 1] == b.text[j - 1];
            row[j] = min_size(min_size(above[j], row[j - 1]) + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && a.text[i - 1] == b.text[j - 2] && a.text[i - 2] == b.text[j - 1])
                row[j] = min_size(row[j], above2[j - 2] + 1);
        }
        size_t *oldest = above2;
        above2 = above;
        above = row;
        row = oldest;
    }
    return above[b.len];
}

/* attn_factor for attention_factor: the letters that are left stand in order. */
static bool abbreviates(struct pe__span name, struct pe__span full)
{
    size_t taken = 0;
    if (name.len < ABBREVIATION_LEN_MIN || name.len > full.len || 2 * name.len < full.len ||
        name.text[0] != full.text[0])
        return false;
    for (size_t i = 0; i < full.len && taken < name.len; i++)
        taken += full.text[i] == name.text[taken];
    return taken == name.len;
}

void pe__nearest_init(struct pe__nearest *nearest, struct pe__span name)
{
    size_t limit = (name.len + 1) / 3;
    nearest->name = name;
    nearest->best = (struct pe__span){0};
    nearest->distance = 1 + (limit < 1 ? 1 : limit > 3 ? 3 : limit);
}

void pe__nearest_offer(struct pe__nearest *nearest, struct pe__span candidate)
{
    struct pe__span name = nearest->name;
    if (name.len > NAME_LEN_MAX || candidate.len > NAME_LEN_MAX)
        return;
    size_t d = distance(name, candidate);
    if (abbreviates(name, candidate))
        d = min_size(d, ABBREVIATION_EDITS);
    if (d < nearest->distance && d < name.len) {
        nearest->distance = d;
        nearest->best = candidate;
    }
}

void pe__nearest_offer_list(struct pe__nearest *nearest, const char *list, char separator)
{
    struct pe__span rest = pe__span_of(list);
    struct pe__span piece;
    while (pe__span_cut(&rest, separator, &piece))
        pe__nearest_offer(nearest, piece);
}

const char *pe_nearest_name(const char *name, const char *const *names, size_t n)
{
    struct pe__nearest nearest;
    pe__nearest_init(&nearest, pe__span_of(name));
    for (size_t i = 0; i < n; i++)
        pe__nearest_offer(&nearest, pe__span_of(names[i]));
    return nearest.best.text;
}
