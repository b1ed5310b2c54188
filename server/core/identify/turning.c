// SPDX-License-Identifier: Apache-2.0
/*
 * turning.c: the speed of a pair from the two rows that are nearest to each other, and then from
 * rows further and further away, as long as the speed so far says how many full turns are between.
 */
#include "turning.h"

#include <math.h>

#include "elementary.h"

#define SURE 0.4 /* radians: an angle that is known to this has no other number of turns */

/* The rows before and behind a reference, nearest first, one by one. */
struct outward {
    const double *at;
    const uint32_t *order;
    size_t below, above, n; /* rows order[0 .. below) and order[above .. n) are left */
    double origin;
};

static bool next_row(struct outward *walk, uint32_t *row)
{
    bool has_below = walk->below > 0, has_above = walk->above < walk->n;
    if (!has_below && !has_above)
        return false;
    double down = has_below ? walk->origin - walk->at[walk->order[walk->below - 1]] : INFINITY;
    double up = has_above ? walk->at[walk->order[walk->above]] - walk->origin : INFINITY;
    *row = down <= up ? walk->order[--walk->below] : walk->order[walk->above++];
    return true;
}

/* A line through the origin that gets more and more points. */
struct line {
    double squares, products; /* sums of distance^2 and distance times angle, over the variance */
    double speed, error;
};

static void add_point(struct line *line, double distance, double angle, double variance)
{
    line->squares += distance * distance / variance;
    line->products += distance * angle / variance;
    line->speed = line->products / line->squares;
    line->error = 1 / sqrt(line->squares);
}

/* Follows the line outward; `base`: the variance that every difference has besides. */
static void follow(struct pe__turning *turning, struct line *line, struct outward *walk,
                   const struct pe__phases *phases, size_t pair, double angle0,
                   const struct pe__noise *noise)
{
    const double *angle = phases->angle + pair * phases->rows;
    const double *weight = phases->weight + pair * phases->rows;
    uint32_t row;
    while (next_row(walk, &row)) {
        if (!(weight[row] > 0))
            continue;
        double distance = walk->at[row] - walk->origin;
        double expected = line->speed * distance;
        double drift = noise->drift * fabs(expected), spread = line->error * fabs(distance);
        if (spread > SURE || drift > SURE || fabs(expected) > 0x1p30)
            break;
        double variance = 2 * noise->angle * noise->angle + drift * drift;
        double off = pe__wrap(angle[row] - angle0 - pe__wrap(expected));
        double limit = sqrt(variance + spread * spread);
        if (fabs(off) / limit > turning->worst)
            turning->worst = fabs(off) / limit;
        if (distance != 0)
            add_point(line, distance, expected + off, variance);
    }
    turning->speed = line->speed;
    turning->error = line->error;
}

/* The neighbours in order that are nearest to each other, and not in one place. */
static bool nearest(const struct pe__phases *phases, size_t pair, const double *at,
                    const uint32_t *order, size_t n, size_t *first, size_t *second)
{
    const double *weight = phases->weight + pair * phases->rows;
    double least = INFINITY;
    size_t last = n;
    for (size_t i = 0; i < n; i++) {
        if (!(weight[order[i]] > 0))
            continue;
        if (last < n && at[order[i]] > at[order[last]] && at[order[i]] - at[order[last]] < least) {
            least = at[order[i]] - at[order[last]];
            *first = last;
            *second = i;
        }
        last = i;
    }
    return least < INFINITY;
}

/* All rows in one place: they have one angle, or are no line. */
static void stand(struct pe__turning *turning, const struct pe__phases *phases, size_t pair,
                  const double *at, const uint32_t *order, size_t n, const struct pe__noise *noise)
{
    const double *angle = phases->angle + pair * phases->rows;
    bool seen = false;
    for (size_t i = 0; i < n; i++) {
        if (!(phases->weight[pair * phases->rows + order[i]] > 0))
            continue;
        double off = seen ? fabs(pe__wrap(angle[order[i]] - turning->angle0)) : 0;
        turning->worst = fmax(turning->worst, off / (2 * noise->angle));
        turning->p0 = at[order[i]];
        turning->angle0 = angle[order[i]];
        seen = true;
    }
    if (!seen)
        turning->p0 = NAN; /* begins nowhere */
}

struct pe__turning pe__turning_of(const struct pe__phases *phases, size_t pair, const double *at,
                                  const uint32_t *order, size_t n, const struct pe__noise *noise)
{
    struct pe__turning turning = {.error = INFINITY, .step = INFINITY};
    const double *angle = phases->angle + pair * phases->rows;
    size_t a = 0, b = 0;
    if (!nearest(phases, pair, at, order, n, &a, &b)) {
        stand(&turning, phases, pair, at, order, n, noise);
        return turning;
    }
    turning.step = at[order[b]] - at[order[a]];
    turning.p0 = at[order[a]];
    turning.angle0 = angle[order[a]];
    struct line line = {0};
    double off = pe__wrap(angle[order[b]] - turning.angle0);
    double drift = noise->drift * fabs(off);
    add_point(&line, turning.step, off, 2 * noise->angle * noise->angle + drift * drift);
    struct outward walk = {at, order, a, a + 1, n, turning.p0};
    line.squares *= 1e-3; /* that row is met once more */
    line.products *= 1e-3;
    line.error *= 1.5;
    follow(&turning, &line, &walk, phases, pair, turning.angle0, noise);
    return turning;
}

/* Of a pair whose turns since the origin are not known: as if it had made less than half a one. */
static void begin(struct pe__turning *turning, struct line *line, double origin,
                  const struct pe__noise *noise)
{
    double distance = turning->p0 - origin;
    if (!(fabs(distance) > 0))
        return;
    add_point(line, distance, turning->angle0, noise->angle * noise->angle);
    turning->step = fabs(distance);
    line->squares *= 1e-3; /* that row is met once more */
    line->products *= 1e-3;
}

void pe__turning_from(struct pe__turning *turning, double origin, const struct pe__phases *phases,
                      size_t pair, const double *at, const uint32_t *order, size_t n,
                      const struct pe__noise *noise)
{
    size_t above = 0;
    while (above < n && at[order[above]] < origin)
        above++;
    struct line line = {.speed = turning->speed, .error = turning->error};
    bool known = isfinite(line.error) && line.error * fabs(turning->p0 - origin) <= SURE;
    if (known && line.error > 0) {
        line.squares = 1 / (line.error * line.error) * 1e-6;
        line.products = line.squares * line.speed;
    }
    struct outward walk = {at, order, above, above, n, origin};
    if (!known)
        begin(turning, &line, origin, noise);
    turning->worst = 0;
    follow(turning, &line, &walk, phases, pair, 0, noise);
    turning->p0 = origin;
    turning->angle0 = 0;
}
