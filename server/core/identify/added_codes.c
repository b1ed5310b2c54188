// SPDX-License-Identifier: Apache-2.0
/*
 * added_codes.c: codes of the position without frequencies. Each is read backwards, from what was
 * added to the position, which must be that of the row, but for the same shift in all of them.
 */
#include <math.h>
#include <string.h>

#include "added.h"
#include "decimals.h"
#include "elementary.h"
#include "kind.h"
#include "place.h"

#define SPREAD     6  /* times its error: what a number may be off */
#define TRIED      8  /* decimals of one interval */
#define SHIFTS     16 /* of an interval, the nearest to 0 */
#define HALVINGS   53 /* of the largest position */
#define NUMBER_MAX 0x1p53
#define PART       64      /* channels at a time */
#define ROUNDINGS  0x1p-50 /* of sums, relative */

/* ---- One number of a spec ------------------------------------------------------------------ */

bool pe__added_value(const struct pe_spec *spec, double position, size_t first, size_t n,
                     double *out)
{
    const struct pe__kind_ops *ops = spec->kind->ops;
    const struct pe__placing placing = pe__placing_of(spec);
    const struct pe_plan plan = {.spec = *spec};
    struct pe_faults faults = {0};
    struct pe__pos at;
    double low[PART];
    if (!pe__place(&placing, position, &at) ||
        (ops->has_position && !ops->has_position(spec, at, "positions", &faults)))
        return false;
    for (size_t done = 0; done < n;) {
        size_t part = n - done < PART ? n - done : PART;
        ops->row(&plan, at, first + done, part, out + done, low);
        done += part;
    }
    return true;
}

bool pe__added_offer(struct pe__search *search, const struct pe__draft *draft)
{
    size_t dim = search->given.x->dim;
    struct pe_spec spec;
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    bool fits = pe_spec_axes(&spec) == search->given.axes;
    for (size_t row = 0; fits && row < search->given.rows; row++) {
        const double *added = search->added + row * dim;
        double at = search->given.at[0][row];
        if (search->vectors[row] == 0 || at == search->padding)
            continue;
        fits = pe__added_value(&spec, at, 0, dim, search->vector);
        for (size_t i = 0; fits && i < dim; i++)
            fits = fabs(search->vector[i] - added[i]) <= pe__added_limit(search, added[i]);
    }
    search->phases.pairs = 0;
    if (fits)
        return pe__search_offer(search, &spec);
    pe_spec_release(&spec);
    return false;
}

static struct pe__draft draft_of(const struct pe__search *search, const char *kind)
{
    struct pe__draft draft = {.kind = pe_kind_find(kind, strlen(kind))};
    pe__draft_number(&draft, "dim", (double)search->given.x->dim);
    return draft;
}

/* The shifts of an interval that are whole, nearest to 0 first, until two fit: the others of it do
 * likewise as a rule. Whether any does. */
static bool offer_shifts(struct pe__search *search, const struct pe__draft *draft, double low,
                         double high)
{
    size_t since = search->kept, fitting = 0, tried = 0;
    double first = low > 0 ? ceil(low) : high < 0 ? floor(high) : 0;
    for (int i = 0; i < 2 * SHIFTS && fitting < 2; i++) {
        double shift = first + (i % 2 ? -(i + 1) / 2 : i / 2);
        struct pe__draft own = *draft;
        if (shift < low || shift > high)
            continue;
        if (shift != 0)
            pe__draft_number(&own, "shift", shift);
        fitting += pe__added_offer(search, &own);
        tried++;
    }
    if (fitting > 1 || floor(high) - ceil(low) + 1 > (double)tried)
        pe__search_open(search, since, false);
    return fitting > 0;
}

/* ---- The position itself ------------------------------------------------------------------- */

/* Every channel has slope * (position + shift). */
struct slope {
    double slope, level, slope_error, level_error;
};

static double mean_of(const struct pe__search *search, size_t row)
{
    size_t dim = search->given.x->dim;
    double sum = 0;
    for (size_t i = 0; i < dim; i++)
        sum += search->added[row * dim + i];
    return sum / (double)dim;
}

/* A line through the means of the rows, and what their rounding leaves open. */
static bool fit_slope(const struct pe__search *search, struct slope *out)
{
    double n = 0, p = 0, v = 0, pp = 0, pv = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t row = 0; row < search->given.rows; row++) {
            double weight = search->vectors[row] * (double)search->given.x->dim;
            double place = search->given.at[0][row], value = mean_of(search, row);
            if (weight == 0)
                continue;
            if (pass == 0) {
                n += weight;
                p += weight * place;
                v += weight * value;
            } else {
                pp += weight * (place - p / n) * (place - p / n);
                pv += weight * (place - p / n) * (value - v / n);
            }
        }
    if (!(n > 0) || !(pp > 0))
        return false;
    out->slope = pv / pp;
    out->level = v / n - out->slope * p / n;
    out->slope_error = 2 * search->noise.angle / sqrt(pp) + ROUNDINGS * fabs(out->slope);
    out->level_error = 2 * search->noise.angle / sqrt(n) + out->slope_error * fabs(p / n) +
                       ROUNDINGS * fabs(v / n);
    return true;
}

/* One position only: divided by nothing, or not shifted. */
static void propose_single(struct pe__search *search, const struct pe__draft *draft, double place,
                           double value)
{
    double limit = pe__added_limit(search, value), divisors[TRIED];
    bool more = false;
    offer_shifts(search, draft, value - place - limit, value - place + limit);
    if (!(value / place > 0) || !(limit < fabs(value)))
        return;
    size_t since = search->kept;
    size_t n = pe__decimals(place / value / (1 + limit / fabs(value)),
                            place / value / (1 - limit / fabs(value)), divisors, TRIED, &more);
    for (size_t i = 0; i < n; i++) {
        struct pe__draft own = *draft;
        pe__draft_number(&own, "normalize_by", divisors[i]);
        pe__added_offer(search, &own);
    }
    pe__search_open(search, since, false);
}

static void propose_divided(struct pe__search *search, const struct pe__draft *draft,
                            const struct slope *slope, double divisor)
{
    double shift = slope->level * divisor;
    double error = SPREAD * (slope->level_error * divisor + slope->slope_error * fabs(shift));
    double shifts[TRIED];
    bool more = false;
    size_t since = search->kept;
    size_t n = fabs(shift) <= error ? 1 : 0;
    shifts[0] = 0;
    if (n == 0)
        n = pe__wholes(shift - error, shift + error, shifts, TRIED, &more);
    for (size_t i = 0; i < n; i++) {
        struct pe__draft own = *draft;
        if (shifts[i] != 0)
            pe__draft_number(&own, "shift", shifts[i]);
        if (divisor != 1)
            pe__draft_number(&own, "normalize_by", divisor);
        pe__added_offer(search, &own);
        if (divisor == 1 || divisor != floor(divisor))
            continue;
        own.n--;
        pe__draft_number(&own, "length", divisor + 1);
        pe__added_offer(search, &own);
    }
    if (more)
        pe__search_open(search, since, false);
}

static void propose_integer(struct pe__search *search)
{
    struct pe__draft draft = draft_of(search, "integer");
    struct slope slope;
    double divisors[TRIED];
    bool more = false;
    if (!fit_slope(search, &slope)) {
        for (size_t row = 0; row < search->given.rows; row++)
            if (search->vectors[row] > 0) {
                propose_single(search, &draft, search->given.at[0][row], mean_of(search, row));
                break;
            }
        return;
    }
    double error = SPREAD * slope.slope_error;
    size_t since = search->kept;
    if (!(slope.slope - error > 0))
        return;
    size_t n =
        pe__decimals(1 / (slope.slope + error), 1 / (slope.slope - error), divisors, TRIED, &more);
    for (size_t i = 0; i < n; i++)
        propose_divided(search, &draft, &slope, divisors[i]);
    if (more)
        pe__search_open(search, since, false);
}

/* ---- Bits ---------------------------------------------------------------------------------- */

/* How the bits of a number are written. */
struct writing {
    bool gray, msb, negative; /* negative: bits are 1 and -1 */
    size_t bits;
};

/* Undoes n ^ n / 2. */
static uint64_t from_gray(uint64_t n)
{
    for (int step = 1; step < 64; step *= 2)
        n ^= n >> step;
    return n;
}

/* The number of a row; -1 if it is larger than any position. */
static double number_of(const struct pe__search *search, size_t row, const struct writing *writing)
{
    const double *added = search->added + row * search->given.x->dim;
    uint64_t number = 0;
    for (size_t i = 0; i < writing->bits; i++) {
        size_t bit = writing->msb ? writing->bits - 1 - i : i;
        if (added[i] < 0.5)
            continue;
        if (bit >= 53)
            return -1;
        number |= (uint64_t)1 << bit;
    }
    return (double)(writing->gray ? from_gray(number) : number);
}

/* Whether all rows are their positions with one shift. */
static bool read_shift(const struct pe__search *search, const struct writing *writing,
                       double *shift)
{
    *shift = NAN;
    for (size_t row = 0; row < search->given.rows; row++) {
        if (search->vectors[row] == 0)
            continue;
        double number = number_of(search, row, writing);
        double off = number - search->given.at[0][row];
        if (number < 0 || !(isnan(*shift) || off == *shift))
            return false;
        *shift = off;
    }
    return !isnan(*shift);
}

static void propose_writing(struct pe__search *search, const struct writing *writing)
{
    struct pe__draft draft = draft_of(search, writing->gray ? "gray" : "binary");
    double shift;
    if (!read_shift(search, writing, &shift))
        return;
    if (writing->bits != search->given.x->dim)
        pe__draft_number(&draft, "bits", (double)writing->bits);
    if (writing->msb)
        pe__draft_text(&draft, "bit_order", "msb");
    if (writing->negative)
        pe__draft_text(&draft, "signed", "true");
    if (shift != 0)
        pe__draft_number(&draft, "shift", shift);
    pe__added_offer(search, &draft);
}

/* The channels behind the last one that is not 0 anywhere are no bits, or bits that are 0: of the
 * lowest first, what they are is all the same. */
static void propose_bits(struct pe__search *search)
{
    size_t dim = search->given.x->dim, used = 1;
    bool negative = false;
    for (size_t row = 0; row < search->given.rows; row++)
        for (size_t i = 0; search->vectors[row] > 0 && i < dim; i++) {
            double value = search->added[row * dim + i];
            if (fabs(value) > 0.5 && i >= used)
                used = i + 1;
            negative = negative || value < -0.5;
        }
    size_t most = negative ? used : dim - used < 53 ? dim : used + 53;
    for (int gray = 0; gray < 2; gray++) {
        propose_writing(search, &(struct writing){gray, false, negative, negative ? used : dim});
        for (size_t bits = used; bits <= most; bits++)
            propose_writing(search, &(struct writing){gray, true, negative, bits});
    }
}

/* ---- Channels ------------------------------------------------------------------------------ */

/* The channel with the largest number, in size. */
static size_t largest_in(const struct pe__search *search, size_t row)
{
    size_t dim = search->given.x->dim, at = 0;
    const double *added = search->added + row * dim;
    for (size_t i = 1; i < dim; i++)
        if (fabs(added[i]) > fabs(added[at]))
            at = i;
    return at;
}

static void propose_one_hot(struct pe__search *search)
{
    struct pe__draft draft = draft_of(search, "one_hot");
    double shift = NAN;
    for (size_t row = 0; row < search->given.rows; row++) {
        if (search->vectors[row] == 0)
            continue;
        double off = (double)largest_in(search, row) - search->given.at[0][row];
        if (!isnan(shift) && shift != off)
            return;
        shift = off;
    }
    if (isnan(shift))
        return;
    if (shift != 0)
        pe__draft_number(&draft, "shift", shift);
    pe__added_offer(search, &draft);
}

/* ---- Wavelets ------------------------------------------------------------------------------ */

/* Shifts by which every row stands in the halves of stretches that its channels say. */
static bool wavelet_shifts(const struct pe__search *search, double length, double *low,
                           double *high)
{
    size_t dim = search->given.x->dim;
    *low = -NUMBER_MAX;
    *high = NUMBER_MAX;
    for (size_t row = 0; row < search->given.rows; row++) {
        double at = search->given.at[0][row];
        if (search->vectors[row] == 0)
            continue;
        *low = fmax(*low, -at);
        *high = fmin(*high, length - 1 - at);
        for (size_t i = 1, stretches = 1; i < dim; i++) {
            if (i == 2 * stretches)
                stretches = i;
            double value = search->added[row * dim + i], half = length / (double)(2 * stretches);
            if (fabs(value) <= pe__added_limit(search, 0))
                continue;
            double from = (double)(2 * (i - stretches) + (value < 0)) * half - at;
            *low = fmax(*low, from);
            *high = fmin(*high, from + half - 1);
        }
    }
    return *low <= *high;
}

#define LENGTHS 4 /* that fit */

static void propose_lengths(struct pe__search *search, const struct pe__draft *draft, double least)
{
    size_t fitting = 0, since = search->kept;
    for (int halvings = ilogb(least); halvings <= HALVINGS && fitting < LENGTHS; halvings++) {
        struct pe__draft own = *draft;
        double low, high, length = ldexp(1, halvings);
        if (length != least)
            pe__draft_number(&own, "length", length);
        if (wavelet_shifts(search, length, &low, &high))
            fitting += offer_shifts(search, &own, low, high);
    }
    if (fitting == LENGTHS)
        pe__search_open(search, since, false);
}

/* The first channel is 1, or with all of length 1 it tells how many positions there are. */
static void propose_haar(struct pe__search *search)
{
    struct pe__draft draft = draft_of(search, "haar");
    size_t row = 0, dim = search->given.x->dim;
    double least = 1, length = 1;
    while (row < search->given.rows && search->vectors[row] == 0)
        row++;
    if (row == search->given.rows)
        return;
    while (least < (double)dim)
        least *= 2;
    double first = search->added[row * dim], square = first * first;
    if (fabs(first - 1) <= pe__added_limit(search, 1))
        propose_lengths(search, &draft, least);
    while (length < NUMBER_MAX && length * square < 0.75)
        length *= 2;
    pe__draft_text(&draft, "normalize", "true");
    if (length != least)
        pe__draft_number(&draft, "length", length);
    double low, high;
    if (length >= least && first > pe__added_limit(search, 0) &&
        wavelet_shifts(search, length, &low, &high))
        offer_shifts(search, &draft, low, high);
}

/* ---- All of them --------------------------------------------------------------------------- */

enum pe_status pe__added_codes(struct pe__search *search)
{
    static void (*const proposals[])(struct pe__search * search) = {propose_integer, propose_bits,
                                                                    propose_one_hot, propose_haar};
    for (size_t i = 0; search->given.axes == 1 && i < sizeof proposals / sizeof *proposals; i++)
        proposals[i](search);
    return search->stopped ? PE_STOPPED : pe__search_judge(search);
}
