// SPDX-License-Identifier: Apache-2.0
/*
 * biased_tables.c: learned tables, number by number, as far as pairs show them; and whether a seed
 * draws them.
 */
#include <math.h>
#include <string.h>

#include "biased.h"
#include "decimals.h"

#define SEEDS       64
#define LEAST       4 /* numbers that tell a seed; in 16 bits LEAST_ROUGH */
#define LEAST_ROUGH 12
#define LEAST_DRAW  1e-3 /* of a standard deviation: smaller ones say nothing of it */

bool pe__shown_new(struct pe__biased *biased, size_t rows, struct pe__shown *out)
{
    /* Bounds take the room of two numbers, the table that is made of them that of one. */
    const size_t each = sizeof *out->at / sizeof *biased->tables + 1;
    size_t n;
    if (__builtin_mul_overflow(rows, biased->heads * each, &n) ||
        n > PE__BIASED_TABLES - biased->tables_n)
        return false;
    out->rows = rows;
    out->at = (struct pe__bounds *)(void *)(biased->tables + biased->tables_n + n / each);
    for (size_t i = 0; i < rows * biased->heads; i++)
        out->at[i] = (struct pe__bounds){NAN, 0};
    return true;
}

/* Where the standard deviation lies by which a seed draws the numbers; false if nowhere. */
static bool deviation(const struct pe__biased *biased, const struct pe__shown *shown, size_t seed,
                      double *low, double *high)
{
    size_t n = 0, least = biased->unit > 0x1p-20 ? LEAST_ROUGH : LEAST;
    *low = 0;
    *high = INFINITY;
    for (size_t i = 0; i < shown->rows * biased->heads && *low <= *high; i++) {
        struct pe__bounds at = shown->at[i];
        double draw, off = pe__off(biased, &at);
        if (isnan(at.middle))
            continue;
        pe_fill_random(seed, "table", PE_CONTENT_NORMAL, 1, i, 1, PE_F64, &draw);
        if (fabs(draw) < LEAST_DRAW)
            continue;
        n++;
        double one = (at.middle - off) / draw, other = (at.middle + off) / draw;
        *low = fmax(*low, fmin(one, other));
        *high = fmin(*high, fmax(one, other));
    }
    return *low <= *high && *high > 0 && n >= least;
}

static bool offer_seeded(struct pe__biased *biased, const struct pe__draft *draft,
                         const struct pe__shown *shown, double extra, bool open)
{
    for (size_t seed = 0; seed < SEEDS; seed++) {
        double low, high, std = 0;
        bool more = false;
        struct pe__draft seeded = *draft;
        if (!deviation(biased, shown, seed, &low, &high) ||
            pe__decimals(low, high, &std, 1, &more) == 0)
            continue;
        pe__draft_number(&seeded, "table_seed", (double)seed);
        pe__draft_number(&seeded, "table_std", std);
        if (pe__biased_offer(biased, &seeded, PE__COST_RULE + extra, open))
            return true;
    }
    return false;
}

bool pe__shown_offer(struct pe__biased *biased, struct pe__draft *draft,
                     const struct pe__shown *shown, double cost, bool open)
{
    size_t n = shown->rows * biased->heads;
    double *table = biased->tables + biased->tables_n;
    bool seeded = offer_seeded(biased, draft, shown, cost - PE__COST_TABLE, open);
    for (size_t i = 0; i < n; i++)
        table[i] = shown->at[i].middle;
    draft->table = table;
    draft->table_rows = shown->rows;
    draft->table_cols = biased->heads;
    if (seeded)
        return true;
    biased->tables_n += n;
    return pe__biased_offer(biased, draft, cost, open);
}
