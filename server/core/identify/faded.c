// SPDX-License-Identifier: Apache-2.0
/*
 * faded.c: rotations that also multiply pairs by a power of the position, each pair by one of its
 * own: the logarithm of each factor is linear in the position, and in what the kind says of the
 * pair. Once this is taken out, what is left are rotations.
 */
#include <math.h>

#include "elementary.h"
#include "kind.h"
#include "spectrum.h"

#define CLEAR     8       /* times the limits of libraries */
#define ROUNDINGS 0x1p-48 /* of logarithms, relative */
#define PLACES    3       /* positions without which no line is seen */

/* ln of a factor = ln of the pair's number * (slope * position + level). */
struct fading {
    double slope, level, slope_error, level_error;
};

/* ln of each pair's number, into z. */
static void read_numbers(struct pe__search *search, const struct pe_spec *spec)
{
    mpfr_t number;
    mpfr_init2(number, 64);
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        spec->kind->ops->scale(spec, pair, number);
        search->z[pair] = pe__plain_log(mpfr_get_d(number, MPFR_RNDN));
    }
    mpfr_clear(number);
}

static double log_length(const struct pe__phases *phases, size_t at)
{
    double square = phases->re[at] * phases->re[at] + phases->im[at] * phases->im[at];
    return square > 0 ? pe__plain_log(square) / 2 : NAN;
}

/* By least squares over all pairs and rows; and whether all are as it says. */
static bool fit(const struct pe__search *search, struct fading *out)
{
    const struct pe__phases *phases = &search->phases;
    double n = 0, p = 0, pp = 0, l = 0, pl = 0, limit = CLEAR * search->fixed;
    double first = search->given.at[0][search->order[0][0]]; /* lest squares of places cancel */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t pair = 0; pair < phases->pairs; pair++)
            for (size_t i = 0; i < search->order_n; i++) {
                size_t row = search->order[0][i], at = pair * phases->rows + row;
                double z = search->z[pair], place = search->given.at[0][row] - first;
                double length = log_length(phases, at);
                if (!(phases->weight[at] > 0))
                    continue;
                if (pass && !(fabs(length - z * (out->slope * place + out->level)) <= limit))
                    return false;
                n += z * z;
                p += z * z * place;
                pp += z * z * place * place;
                l += z * length;
                pl += z * length * place;
            }
        double spread = pp - p * p / n;
        if (!(spread > 0))
            return false;
        if (pass == 0) {
            out->slope = (pl - p * l / n) / spread;
            out->level = (l - out->slope * p) / n;
            double noise = search->noise.angle + ROUNDINGS * fabs(l / n);
            out->slope_error = noise / sqrt(spread);
            out->level_error = noise * sqrt(pp / n / spread);
        }
    }
    out->level -= out->slope * first;
    out->level_error += out->slope_error * fabs(first);
    return true;
}

/* Factors without the fading: turns alone. */
static void take_out(struct pe__search *search, const struct fading *fading)
{
    struct pe__phases *phases = &search->phases;
    for (size_t pair = 0; pair < phases->pairs; pair++)
        for (size_t row = 0; row < phases->rows; row++) {
            size_t at = pair * phases->rows + row;
            double place = search->given.at[0][row];
            double power = search->z[pair] * (fading->slope * place + fading->level);
            double length = isnan(place) ? 1 : pe__plain_exp(power);
            phases->re[at] /= length;
            phases->im[at] /= length;
            phases->rest[at] /= length * length;
            phases->weight[at] *= length * length;
        }
}

/* Drafts of all scales in the interval, with the default center if it may be that one. */
static void propose(struct pe__search *search, const struct pe__draft *draft,
                    const struct fading *fading)
{
    double scales[PE__TRIED], centers[PE__TRIED];
    double last = search->given.at[0][search->order[0][search->order_n - 1]];
    double center = -fading->level / fading->slope, size = fabs(fading->slope);
    double error = PE__SPREAD * fading->slope_error;
    double away = PE__SPREAD * (fading->level_error + fabs(center) * fading->slope_error) / size;
    bool more = false;
    size_t since = search->kept, centers_n = 0;
    if (!(error < size))
        return;
    size_t n = pe__decimals(1 / (size + error), 1 / (size - error), scales, PE__TRIED, &more);
    bool usual = fabs(floor((last + 1) / 2) - center) <= away;
    if (!usual)
        centers_n = pe__wholes(center - away, center + away, centers, PE__TRIED, &more);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < (usual ? 1 : centers_n); k++) {
            struct pe__draft own = *draft;
            pe__draft_number(&own, "scale_base", scales[i]);
            if (!usual)
                pe__draft_number(&own, "center", centers[k]);
            pe__search_propose(search, &own);
        }
    if (more)
        pe__search_open(search, since, false);
}

static enum pe_status try_layout(struct pe__search *search, const struct pe__draft *draft)
{
    struct fading fading;
    struct pe_spec spec;
    if (!pe__draft_finish(search, draft, &spec))
        return PE_OK;
    bool whole = 2 * pe_spec_pairs(&spec) == pe_spec_dim(&spec);
    if (whole) {
        pe__pairing_of(&spec, &search->pairing);
        pe__phases_of(&search->phases, &search->given, &search->pairing, search->memory,
                      search->vector);
        read_numbers(search, &spec);
        whole = fit(search, &fading);
    }
    pe_spec_release(&spec);
    if (!whole || fabs(fading.slope) <= PE__SPREAD * fading.slope_error)
        return PE_OK;
    take_out(search, &fading);
    pe__search_free_lines(search);
    search->twist = fading.slope < 0 ? PE_TWIST_KEY : PE_TWIST_NONE;
    propose(search, draft, &fading);
    search->twist = PE_TWIST_NONE;
    return search->stopped ? PE_STOPPED : pe__search_judge(search);
}

enum pe_status pe__search_faded(struct pe__search *search)
{
    static const char *const layouts[] = {"interleaved", "half"};
    enum pe_status status = PE_OK;
    if (search->given.axes > 1 || search->job->distinct < PLACES)
        return PE_OK;
    for (size_t i = 0; status == PE_OK && i < sizeof layouts / sizeof *layouts; i++) {
        struct pe__draft draft = {.kind = pe_kind_find("xpos", 4)};
        pe__draft_number(&draft, "dim", (double)search->given.x->dim);
        pe__draft_text(&draft, "layout", layouts[i]);
        status = try_layout(search, &draft);
    }
    return status;
}
