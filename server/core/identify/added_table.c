// SPDX-License-Identifier: Apache-2.0
/*
 * added_table.c: rows of a table that was drawn from one of the first seeds. A table that was
 * trained, or posted, has no name.
 */
#include <math.h>

#include "added.h"
#include "decimals.h"
#include "kind.h"

#define SEEDS   1024
#define FEW     8   /* numbers by which seeds are told apart, */
#define SAMPLES 48  /* and more of them that confirm it */
#define TRIED   4   /* deviations of one seed */
#define SPREAD  6   /* times its error: what a deviation may be off */
#define ALIKE   0.5 /* of the square that the few have in common with a row of the table */

/* Numbers of what was added, and where each is in the table but for the shift. */
struct samples {
    size_t n, dim;
    double value[SAMPLES], row[SAMPLES];
    size_t channel[SAMPLES];
    double noise, square;
};

static void take_samples(const struct pe__search *search, struct samples *out)
{
    double vectors = INFINITY;
    *out = (struct samples){.dim = search->given.x->dim};
    for (size_t row = 0; row < search->given.rows; row++) {
        double at = search->given.at[0][row];
        if (search->vectors[row] == 0 || at == search->padding)
            continue;
        vectors = fmin(vectors, search->vectors[row]);
        for (size_t i = 0; i < out->dim && out->n < SAMPLES; i++, out->n++) {
            double value = search->added[row * out->dim + i];
            out->value[out->n] = value;
            out->row[out->n] = at;
            out->channel[out->n] = i;
            out->square += value * value;
        }
    }
    out->noise = search->noise.angle / sqrt(vectors);
}

/* By least squares what the first n are of a table's numbers, and what is left of their square. */
static bool fit_table(const struct samples *samples, size_t n, double seed, double shift,
                      struct pe__estimate *std, double *left)
{
    double dz = 0, zz = 0, dd = 0;
    for (size_t i = 0; i < n; i++) {
        double row = samples->row[i] + shift, z;
        if (!(row >= 0) || row != floor(row) || row > 1 << 30)
            return false;
        size_t at = (size_t)row * samples->dim + samples->channel[i];
        pe_fill_random((uint64_t)seed, "table", PE_CONTENT_NORMAL, 1, at, 1, PE_F64, &z);
        dz += samples->value[i] * z;
        zz += z * z;
        dd += samples->value[i] * samples->value[i];
    }
    *std = (struct pe__estimate){dz / zz, samples->noise / sqrt(zz)};
    *left = dd - dz * dz / zz;
    return zz > 0 && dz > 0;
}

/* The largest row that is read, which the table must have. */
static double last_row(const struct pe__search *search, double shift)
{
    double last = 0;
    for (size_t row = 0; row < search->given.rows; row++)
        if (search->vectors[row] > 0)
            last = fmax(last, search->given.at[0][row] + shift);
    return last;
}

static void propose_std(struct pe__search *search, double seed, double shift, double std)
{
    struct pe__draft draft = {.kind = pe_kind_find("learned", 7)};
    double rows = 2048, last = last_row(search, shift);
    while (rows <= last)
        rows *= 2;
    pe__draft_number(&draft, "dim", (double)search->given.x->dim);
    if (rows != 2048)
        pe__draft_number(&draft, "rows", rows);
    if (seed != 0)
        pe__draft_number(&draft, "table_seed", seed);
    pe__draft_number(&draft, "table_std", std);
    if (shift != 0)
        pe__draft_number(&draft, "shift", shift);
    if (!isnan(search->padding))
        pe__draft_number(&draft, "padding_idx", search->padding + shift);
    pe__added_offer(search, &draft);
}

static void try_seed(struct pe__search *search, const struct samples *samples, double seed,
                     double shift)
{
    size_t few = samples->n < FEW ? samples->n : FEW, since = search->kept;
    struct pe__estimate std;
    double left, square = 0, stds[TRIED];
    bool more = false;
    for (size_t i = 0; i < few; i++)
        square += samples->value[i] * samples->value[i];
    if (!fit_table(samples, few, seed, shift, &std, &left) || left > ALIKE * square ||
        !fit_table(samples, samples->n, seed, shift, &std, &left) ||
        left > ALIKE * samples->square || !(SPREAD * std.error < std.value))
        return;
    size_t n = pe__decimals(std.value - SPREAD * std.error, std.value + SPREAD * std.error, stds,
                            TRIED, &more);
    for (size_t i = 0; i < n; i++)
        propose_std(search, seed, shift, stds[i]);
    if (more)
        pe__search_open(search, since, false);
}

enum pe_status pe__added_table(struct pe__search *search)
{
    static const double shifts[] = {0, 1, 2, -1};
    struct samples samples;
    size_t seeds = SEEDS;
    if (search->given.axes > 1)
        return PE_OK;
    take_samples(search, &samples);
    double size = sqrt(samples.square / (double)(samples.n ? samples.n : 1));
    if (samples.n < 2 || pe__added_by_chance(samples.n - 1, samples.noise / size))
        return PE_OK;
    double first = pe__added_seeds(search, "learned", "table_seed", &seeds);
    for (size_t s = 0; s < seeds && !search->stopped; s++)
        for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++)
            try_seed(search, &samples, first + (double)s, shifts[i]);
    return search->stopped ? PE_STOPPED : pe__search_judge(search);
}
