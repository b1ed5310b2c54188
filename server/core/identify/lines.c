// SPDX-License-Identifier: Apache-2.0
/*
 * lines.c: the lines of all pairs of a hypothesis, the lengths they are multiplied by, and where
 * they begin: the place whose angle is 0 in all pairs, which a shift has moved.
 */
#include <math.h>

#include "decimals.h"
#include "elementary.h"
#include "identify_search.h"

#define CLEAR     6   /* times its error */
#define CROOKED   40  /* times its error: no line */
#define SURE      0.5 /* radians */
#define LONG_STEP 3   /* in which a pair may make more than half a turn */

/* The lines of a pair along every axis; bits of those whose places explain its angles. */
static unsigned char read_axes(struct pe__search *search, size_t pair)
{
    unsigned all = (1U << search->given.axes) - 1, bits = 0;
    for (size_t a = 0; a < search->given.axes; a++) {
        struct pe__turning *line = &search->along[a * search->phases.pairs + pair];
        *line = pe__turning_of(&search->phases, pair, search->given.at[a], search->order[a],
                               search->order_n, &search->noise);
        if (line->worst <= CLEAR)
            bits |= 1U << a;
    }
    return (unsigned char)(bits ? bits : all);
}

/* What pairs that turn multiply lengths by: the mean of it, and its error. It is summed as what
 * each length is off the first, lest the sum of many like ones is rounded the same way every time.
 */
static void read_gain(struct pe__search *search)
{
    const struct pe__phases *phases = &search->phases;
    double sum = 0, n = 0, first = 0;
    search->gain = 1;
    search->gain_error = 2 * search->unit;
    for (size_t pair = 0; pair < phases->pairs; pair++)
        for (size_t i = 0; i < search->order_n; i++) {
            size_t at = pair * phases->rows + search->order[0][i];
            bool stands = phases->re[at] == 1 && phases->im[at] == 0 && phases->rest[at] == 0;
            if (!(phases->weight[at] > 0) || stands)
                continue;
            double length = sqrt(phases->re[at] * phases->re[at] + phases->im[at] * phases->im[at]);
            first = n > 0 ? first : length;
            sum += length - first;
            n++;
        }
    if (n == 0)
        return;
    search->gain = first + sum / n;
    search->gain_error = 2 * search->unit / sqrt(n) + search->fixed / 32;
    if (fabs(search->gain - 1) <= CLEAR * search->gain_error)
        search->gain = 1;
}

void pe__search_free_lines(struct pe__search *search)
{
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        search->axes[pair] = read_axes(search, pair);
        search->axis[pair] = 0;
        search->free[pair] = search->along[pair];
    }
    read_gain(search);
}

static bool has_pair(const struct pe__pairing *pairing, const struct pe_spec *spec, size_t pair)
{
    const uint32_t *at = pairing->at[pair];
    size_t a, b, c, d;
    pe_spec_pair_members(spec, pair, false, &a, &b);
    pe_spec_pair_members(spec, pair, true, &c, &d);
    return (uint32_t)a == at[0] && (uint32_t)b == at[1] && (uint32_t)c == at[2] &&
           (uint32_t)d == at[3];
}

bool pe__search_take_axes(struct pe__search *search, const struct pe_spec *spec)
{
    size_t pairs = search->phases.pairs;
    bool ok = pe_spec_pairs(spec) == pairs && pe_spec_axes(spec) <= search->given.axes;
    for (size_t pair = 0; ok && pair < pairs; pair++) {
        size_t axis = pe_spec_pair_axis(spec, pair);
        ok = (search->axes[pair] >> axis & 1) != 0 && has_pair(&search->pairing, spec, pair);
        search->axis[pair] = (unsigned char)axis;
        search->free[pair] = search->along[axis * pairs + pair];
    }
    return ok;
}

void pe__search_lines(struct pe__search *search, double origin)
{
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        size_t axis = search->axis[pair];
        search->line[pair] = search->free[pair];
        pe__turning_from(&search->line[pair], origin, &search->phases, pair, search->given.at[axis],
                         search->order[axis], search->order_n, &search->noise);
    }
}

/* Refines where the lines begin by one pair, if what is known so far leaves no choice of turns. */
static bool refine(const struct pe__turning *line, const struct pe__noise *noise,
                   struct pe__estimate *origin)
{
    double speed = line->speed, distance = line->p0 - origin->value;
    double spread = origin->error * fabs(speed);
    double drift = fabs(speed * distance) * noise->drift;
    double noisy = sqrt(noise->angle * noise->angle + drift * drift +
                        line->error * line->error * distance * distance);
    double off = pe__wrap(line->angle0 - pe__wrap(speed * distance));
    if (!(spread < SURE) || !(noisy < SURE) || fabs(off) > CLEAR * (spread + noisy))
        return false;
    double error = noisy / fabs(speed), value = origin->value - off / speed;
    double a = 1 / (error * error), b = 1 / (origin->error * origin->error);
    origin->value = (a * value + b * origin->value) / (a + b);
    origin->error = 1 / sqrt(a + b);
    return true;
}

/* Of one position, which does not say where lines begin: without a shift, and with small ones. */
static size_t usual_origins(double out[PE__ORIGINS_MAX])
{
    static const double usual[] = {0, -1, 1, -2, 2};
    size_t n = 0;
    for (; n < sizeof usual / sizeof *usual; n++)
        out[n] = usual[n];
    return n;
}

/* Whether the lines of all pairs may begin there, as far as their full turns are known. */
static bool may_begin(const struct pe__search *search, double origin)
{
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        const struct pe__turning *line = &search->free[pair];
        double distance = line->p0 - origin, angle = line->speed * distance;
        double noisy = CLEAR * (search->noise.angle + fabs(line->error * distance) +
                                fabs(angle) * search->noise.drift);
        if (line->worst > CROOKED || !(noisy < SURE) || !(fabs(angle) < 0x1p20))
            continue;
        if (fabs(pe__wrap(line->angle0 - pe__wrap(angle))) > noisy)
            return false;
    }
    return true;
}

#define STEPS_MAX 4096 /* of an interval that is searched one by one */

/* In an interval of more than one: the wholes and halves where all lines may begin, wholes first
 * and of these the nearest to 0. */
static size_t steps_in(const struct pe__search *search, double low, double high,
                       double out[PE__ORIGINS_MAX], bool *more)
{
    double farthest = fmax(fabs(low), fabs(high));
    size_t n = 0;
    if (!(high - low < STEPS_MAX) || !(farthest < 0x1p40))
        return 0;
    for (int odd = 0; odd < 2; odd++)
        for (size_t m = low > 0 || high < 0 ? (size_t)fmin(fabs(low), fabs(high)) : 0;
             m <= (size_t)farthest; m++)
            for (int sign = 1; sign >= -1; sign -= 2) {
                double at = sign * ((double)m + odd * 0.5);
                if (at < low || at > high || (at == 0 && sign < 0) || !may_begin(search, at))
                    continue;
                *more = *more || n == PE__ORIGINS_MAX - 1;
                if (n < PE__ORIGINS_MAX - 1)
                    out[n++] = at;
            }
    return n;
}

/* Where lines begin by the slowest pair that turns, and by faster and faster ones. */
static struct pe__estimate origin_of(const struct pe__search *search)
{
    struct pe__estimate origin = {0, INFINITY};
    for (size_t pair = search->phases.pairs; pair-- > 0;) {
        const struct pe__turning *line = &search->free[pair];
        double speed = line->speed;
        if (!(fabs(speed) > CLEAR * line->error) || fabs(speed) > 0x1p20 || line->worst > CROOKED)
            continue;
        if (isfinite(origin.error)) {
            refine(line, &search->noise, &origin);
            continue;
        }
        double off = pe__wrap(line->angle0 - pe__wrap(speed * line->p0));
        origin.value = -off / speed;
        double distance = fabs(line->p0 - origin.value);
        origin.error = (search->noise.angle + line->error * distance) / fabs(speed);
    }
    return origin;
}

size_t pe__search_origins(struct pe__search *search, double out[PE__ORIGINS_MAX], bool *more)
{
    struct pe__estimate origin = origin_of(search);
    double values[PE__ORIGINS_MAX], error = CLEAR * origin.error;
    double low = origin.value - error, high = origin.value + error;
    size_t n = 0, found = 0;
    *more = false;
    search->origin_error = isfinite(error) ? error : 0;
    if (search->job->distinct < 2)
        return usual_origins(out);
    if (isfinite(error) && high - low > 1)
        found = steps_in(search, low, high, values, more);
    if (isfinite(error) && found == 0)
        found = pe__wholes(low, high, values, PE__ORIGINS_MAX - 1, more);
    if (found > 1 && pe__digits(values[0]) > PE__SHORT_DIGITS)
        found = 1; /* the others are no likelier */
    bool has_zero = found == 0 || (low <= 0 && 0 <= high);
    if (has_zero)
        out[n++] = 0;
    for (size_t i = 0; i < found; i++)
        if (values[i] != 0)
            out[n++] = values[i];
    if (!has_zero && n < PE__ORIGINS_MAX)
        out[n++] = 0; /* turns may have been lost */
    return n;
}
