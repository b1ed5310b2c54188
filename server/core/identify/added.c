// SPDX-License-Identifier: Apache-2.0
/*
 * added.c: something added to the vectors: y less x, the same in all vectors of a position. Then
 * all that may have added it is searched, the plainest first.
 */
#include "added.h"

#include <math.h>
#include <string.h>

#include "elementary.h"
#include "kind.h"

#define CLEAR   8     /* times the limits of libraries */
#define AGREES  4     /* times their rounding: how far vectors of a position are apart */
#define TINY    1e-18 /* square of a number whose rounding is nothing */
#define USUAL   4     /* the largest number of y that limits are made for */
#define CERTAIN 20    /* natural logarithm of how unlikely chance must be */

/* ---- What was added ------------------------------------------------------------------------ */

static size_t row_of(const struct pe__search *search, size_t batch, size_t token)
{
    return (search->given.lists_n > 1 ? batch * search->given.x->tokens : 0) + token;
}

/* y less x of one vector, in place of y. False if some number of it is none. */
static bool read_difference(struct pe__search *search, size_t batch, size_t head, size_t token)
{
    size_t dim = search->given.x->dim;
    double *from = search->vector, *off = search->vector + dim;
    pe__vector(search->given.x, batch, head, token, from);
    pe__vector(search->given.y, batch, head, token, off);
    for (size_t i = 0; i < dim; i++) {
        off[i] -= from[i];
        if (!isfinite(off[i]))
            return false;
    }
    return true;
}

/* Numbers of y are rounded by their own size: the smaller one is, the more it says. */
static double weight_of(const struct pe__search *search, size_t i)
{
    double y = search->vector[i] + search->vector[search->given.x->dim + i];
    return 1 / (y * y + TINY);
}

static void take(struct pe__search *search, size_t row, double *weights, double *loudest)
{
    size_t dim = search->given.x->dim;
    double *added = search->added + row * dim;
    search->vectors[row]++;
    for (size_t i = 0; i < dim; i++) {
        double weight = weight_of(search, i);
        weights[row * dim + i] += weight;
        added[i] += (search->vector[dim + i] - added[i]) * (weight / weights[row * dim + i]);
        *loudest = fmax(*loudest, fabs(search->vector[i] + search->vector[dim + i]));
    }
}

/* Whether the difference is that of the row, as far as y was rounded. */
static bool is_of_row(const struct pe__search *search, size_t row, const double *weights)
{
    size_t dim = search->given.x->dim;
    const double *off = search->vector + dim, *added = search->added + row * dim;
    for (size_t i = 0; i < dim; i++) {
        double size = 1 / sqrt(weight_of(search, i)) + 1 / sqrt(weights[row * dim + i]);
        if (!(fabs(off[i] - added[i]) <= AGREES * search->unit * (size + fabs(added[i]))))
            return false;
    }
    return true;
}

/* In one pass the means of all rows, in another one whether all vectors have them. */
static bool read_added(struct pe__search *search, double *loudest)
{
    const struct pe_view *x = search->given.x;
    double *weights = search->memory; /* of the phases, which are not needed yet */
    for (size_t i = 0; i < search->given.rows * x->dim; i++)
        search->added[i] = weights[i] = 0;
    for (size_t row = 0; row < search->given.rows; row++)
        search->vectors[row] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t batch = 0; batch < x->batches; batch++)
            for (size_t head = 0; head < x->heads; head++)
                for (size_t token = 0; token < x->tokens; token++) {
                    size_t row = row_of(search, batch, token);
                    if (!read_difference(search, batch, head, token))
                        continue;
                    if (pass == 0)
                        take(search, row, weights, loudest);
                    else if (!is_of_row(search, row, weights))
                        return false;
                }
    return true;
}

/* Rows of tokens without a position say nothing. If there is a single place where nothing is added,
 * it may be that of padding. Whether something is added anywhere. */
static bool read_padding(struct pe__search *search)
{
    size_t dim = search->given.x->dim;
    bool any = false;
    search->padding = NAN;
    for (size_t row = 0; row < search->given.rows; row++) {
        double at = search->given.at[0][row];
        bool blank = true;
        for (size_t i = 0; i < dim && blank; i++)
            blank = search->added[row * dim + i] == 0;
        any = any || (!blank && search->vectors[row] > 0);
        if (blank && search->vectors[row] > 0 && !isnan(at)) {
            if (isnan(search->padding))
                search->padding = at;
            else if (search->padding != at)
                search->padding = INFINITY;
        }
        if (isnan(at))
            search->vectors[row] = 0;
    }
    if (search->given.axes > 1 || isinf(search->padding))
        search->padding = NAN;
    return any;
}

/* ---- For all of them ----------------------------------------------------------------------- */

double pe__added_limit(const struct pe__search *search, double value)
{
    return search->fixed * (1 + fabs(value)) + CLEAR * search->noise.angle;
}

static bool is_circle(const struct pe__search *search)
{
    const struct pe__pairing *pairing = &search->pairing;
    for (size_t row = 0; row < search->given.rows; row++) {
        const double *added = search->added + row * search->given.x->dim;
        if (search->vectors[row] == 0 || search->given.at[0][row] == search->padding)
            continue;
        for (size_t pair = 0; pair < pairing->pairs; pair++) {
            uint32_t c = pairing->at[pair][0], s = pairing->at[pair][1];
            if (c == (uint32_t)PE__NO_CHANNEL || s == (uint32_t)PE__NO_CHANNEL)
                continue;
            double square = added[c] * added[c] + added[s] * added[s];
            if (!(fabs(square - 1) <= CLEAR * search->fixed))
                return false;
        }
    }
    return true;
}

/* Whether something is added to a channel anywhere. */
static bool is_used(const struct pe__search *search, size_t channel)
{
    size_t dim = search->given.x->dim;
    bool used = false;
    for (size_t row = 0; row < search->given.rows && !used; row++)
        used = search->vectors[row] > 0 &&
               fabs(search->added[row * dim + channel]) > pe__added_limit(search, 0);
    return used;
}

/* Whether all channels that something is added to are in a pair. */
static bool holds_all(const struct pe__search *search)
{
    size_t dim = search->given.x->dim;
    double *held = search->vector;
    bool all = true;
    for (size_t i = 0; i < dim; i++)
        held[i] = 0;
    for (size_t pair = 0; pair < search->pairing.pairs; pair++)
        for (size_t k = 0; k < 2; k++)
            if (search->pairing.at[pair][k] < dim)
                held[search->pairing.at[pair][k]] = 1;
    for (size_t i = 0; i < dim && all; i++)
        all = held[i] != 0 || !is_used(search, i);
    return all;
}

bool pe__added_pairs(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe_spec spec;
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    pe__pairing_of(&spec, &search->pairing);
    bool fits = is_circle(search) && holds_all(search);
    if (fits) {
        pe__phases_added(&search->phases, &search->given, &search->pairing, search->memory,
                         search->added, search->vectors, search->padding);
        pe__search_free_lines(search);
        fits = pe__search_take_axes(search, &spec);
    }
    pe_spec_release(&spec);
    return fits;
}

double pe__added_seeds(const struct pe__search *search, const char *kind, const char *name,
                       size_t *n)
{
    struct pe__draft draft = {.kind = pe_kind_find(kind, strlen(kind))};
    struct pe_spec spec;
    pe__draft_number(&draft, "dim", (double)search->given.x->dim);
    if (!pe__search_knows(search, name) || !pe__draft_finish(search, &draft, &spec))
        return 0;
    double seed = pe_spec_number(&spec, name);
    pe_spec_release(&spec);
    *n = 1;
    return seed;
}

bool pe__added_by_chance(size_t n, double part)
{
    return !(part < 1) || (double)n * -pe__plain_log(fmax(part, 0x1p-60)) < CERTAIN;
}

/* ---- The step ------------------------------------------------------------------------------ */

#define TRIED_MAX 2500 /* encodings by each of these, whatever was tried before */

/* The next ones only where nothing explains y so far. */
static const struct {
    pe__added_fn *run;
    bool besides; /* what explains it as well as those before */
} searches[] = {
    {pe__added_codes, true},
    {pe__added_circles, true},
    {pe__added_fourier, false},
    {pe__added_table, false},
};

static bool has_several(const struct pe__search *search)
{
    for (size_t row = 0; row < search->given.rows; row++)
        if (search->vectors[row] > 1)
            return true;
    return false;
}

/* y is rounded by its own size, and so is what is left of it. */
enum pe_status pe__search_added(struct pe__search *search)
{
    const double angle = search->noise.angle, fixed = search->fixed;
    enum pe_status status = PE_OK;
    double loudest = 0;
    if (!read_added(search, &loudest) || !read_padding(search))
        return PE_OK;
    search->job->adds = has_several(search);
    if (loudest > USUAL) {
        search->noise.angle *= loudest / USUAL;
        search->fixed *= loudest / USUAL;
    }
    for (size_t i = 0; status == PE_OK && i < sizeof searches / sizeof *searches; i++)
        if (searches[i].besides || !pe__search_is_explained(search)) {
            search->tried_max = search->job->tried + TRIED_MAX;
            status = searches[i].run(search);
        }
    search->noise.angle = angle;
    search->fixed = fixed;
    search->padding = NAN;
    return status;
}
