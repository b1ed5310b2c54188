// SPDX-License-Identifier: Apache-2.0
/*
 * ramps.c: scalings that keep the fast pairs, divide the slow ones and blend between: the base by
 * the former, the factor by the latter, or by the lengths, and of usual lengths of contexts those
 * whose blend it is.
 */
#include <math.h>
#include <string.h>

#include "elementary.h"
#include "spectrum.h"

/* Lengths of contexts that scalings were made for. */
static const double usual_lengths[] = {8192,   4096,   2048, 32768, 16384, 1024,   512,    65536,
                                       131072, 262144, 256,  128,   64,    32,     16,     8,
                                       40960,  10240,  2000, 1000,  100,   524288, 1048576};

/* ---- Scalings that keep fast pairs ---------------------------------------------------------- */

/* How a scaling is written whose factor and length are fitted. */
static const struct ramp {
    const char *scaling;
    struct pe_setting more[2];
} ramps[] = {
    {"llama3", {{0}}},
    {"yarn", {{0}}},
    {"yarn", {{.name = "truncate", .text = "false"}}},
    {"yarn", {{.name = "truncate", .text = "false"}, {.name = "yarn_clamp", .text = "pairs"}}},
    {"yarn", {{.name = "beta_fast", .text = "64"}, {.name = "beta_slow", .text = "2"}}},
    {"ntk_by_parts", {{0}}},
};

/* The base by the pairs before any is divided: as many as one base explains. */
static struct pe__estimate fit_head(const struct pe__search *search, size_t *end)
{
    struct pe__estimate base = {NAN, INFINITY};
    size_t n = search->phases.pairs, i = 1;
    for (; i < n; i++) {
        if (!isfinite(search->s[i]) || search->x[i] <= 0)
            continue;
        double expected = -base.value * search->x[i];
        double limit = PE__SPREAD * sqrt(search->s[i] * search->s[i] +
                                         base.error * base.error * search->x[i] * search->x[i]);
        if (isfinite(base.error) && fabs(search->v[i] - expected) > limit / 2)
            break;
        base = pe__fit_base(search, NULL, 0, 1, i + 1);
    }
    *end = i;
    return base;
}

/* ln of the factor by the last pairs that are all divided by the same. */
static struct pe__estimate fit_tail(const struct pe__search *search, double ln_base, size_t head)
{
    double sum = 0, weights = 0;
    for (size_t i = search->phases.pairs; i-- > head;) {
        if (!isfinite(search->s[i]))
            continue;
        double ln = -search->v[i] - search->x[i] * ln_base;
        double limit = PE__SPREAD * (search->s[i] + (weights > 0 ? 1 / sqrt(weights) : INFINITY));
        if (weights > 0 && fabs(ln - sum / weights) > limit)
            break;
        sum += ln / (search->s[i] * search->s[i]);
        weights += 1 / (search->s[i] * search->s[i]);
    }
    return weights > 0 ? (struct pe__estimate){sum / weights, 1 / sqrt(weights)}
                       : (struct pe__estimate){NAN, INFINITY};
}

/* The length of llama3's rule by one blended pair: the share that is kept is linear in it. */
static size_t blended_lengths(const struct pe__search *search, double ln_base, double factor,
                              double *out, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < search->phases.pairs && n < max; i++) {
        if (!isfinite(search->s[i]))
            continue;
        double w = pe__plain_exp(-search->x[i] * ln_base), ratio = pe__plain_exp(search->v[i]) / w;
        double share = (ratio - 1 / factor) / (1 - 1 / factor);
        if (share < 0.05 || share > 0.95)
            continue;
        bool more = false;
        double error = PE__SPREAD * search->s[i] * ratio / (1 - 1 / factor);
        double low = 2 * PE__PI / w * (1 + 3 * (share - error));
        double high = 2 * PE__PI / w * (1 + 3 * (share + error));
        n += pe__wholes(low, high, out + n, max - n < 3 ? max - n : 3, &more);
    }
    return n;
}

static bool propose_ramp(struct pe__search *search, const struct pe__draft *draft,
                         const struct ramp *ramp, double ln_base, double factor)
{
    struct pe__draft other = *draft;
    bool any;
    double lengths[8];
    pe__draft_text(&other, "scaling", ramp->scaling);
    pe__draft_number(&other, "factor", factor);
    for (size_t i = 0; i < 2 && ramp->more[i].name; i++)
        pe__draft_text(&other, ramp->more[i].name, ramp->more[i].text);
    any = pe__propose_each(search, &other, "original_max", usual_lengths,
                           sizeof usual_lengths / sizeof *usual_lengths);
    bool solves = strcmp(ramp->scaling, "llama3") == 0 && !any;
    size_t n = solves ? blended_lengths(search, ln_base, factor, lengths, 8) : 0;
    for (size_t i = 0; i < n; i++) {
        pe__draft_number(&other, "original_max", lengths[i]);
        any = pe__propose(search, &other) || any;
    }
    return any;
}

/* Factors of yarn by what lengths are multiplied by, which is linear in their logarithm. */
static struct pe__estimate factor_by_gain(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe__draft template = *draft;
    struct pe_spec spec;
    pe__draft_text(&template, "scaling", "yarn");
    pe__draft_number(&template, "factor", PE__BY_FACTOR);
    pe__draft_number(&template, "original_max", usual_lengths[0]);
    if (search->gain == 1 || !pe__draft_finish(search, &template, &spec))
        return (struct pe__estimate){NAN, INFINITY};
    double share = (pe_spec_attention(&spec) - 1) / pe__plain_log(PE__BY_FACTOR);
    pe_spec_release(&spec);
    return (struct pe__estimate){(search->gain - 1) / share, search->gain_error / share};
}

/* Bases of the fast pairs: short ones, and usual ones nearby, since a blend begins slowly. */
#define HEAD_BASES_MAX 24

static size_t head_bases(struct pe__estimate base, size_t head, double out[HEAD_BASES_MAX])
{
    double all[PE__TRIED];
    bool more = false;
    size_t n = 0, found = pe__decimals_of(base, all, &more);
    for (size_t i = 0; i < found && n < 3; i++)
        if (all[i] > 1)
            out[n++] = all[i];
    for (size_t i = 0; i < PE__USUAL_BASES && n < HEAD_BASES_MAX; i++)
        if (head <= 2 ||
            fabs(pe__plain_log(pe__usual_bases[i]) - base.value) <= 4 * PE__SPREAD * base.error)
            out[n++] = pe__usual_bases[i];
    return n;
}

/* Usual bases by the angles of the first pairs, where their speeds are not known. */
static size_t turned_bases(struct pe__search *search, const struct pe__draft *draft,
                           double out[HEAD_BASES_MAX])
{
    struct pe__draft other = *draft;
    size_t n = 0;
    for (size_t i = 0; i < PE__USUAL_BASES; i++) {
        struct pe_spec spec;
        pe__draft_number(&other, "base", pe__usual_bases[i]);
        if (!pe__draft_finish(search, &other, &spec))
            continue;
        if (pe__search_head(search, &spec) > 1)
            out[n++] = pe__usual_bases[i];
        pe_spec_release(&spec);
    }
    return n;
}

/* A ramp with every short factor of an interval. */
static bool propose_factors(struct pe__search *search, const struct pe__draft *draft,
                            const struct ramp *ramp, double ln_base, struct pe__estimate ln)
{
    double factors[PE__TRIED];
    bool any = false, more = false;
    size_t since = search->kept, n = pe__decimals_of(ln, factors, &more);
    for (size_t k = 0; k < n; k++)
        any = (factors[k] > 1 && propose_ramp(search, draft, ramp, ln_base, factors[k])) || any;
    if (more)
        pe__search_open(search, since, false);
    return any;
}

bool pe__propose_ramps(struct pe__search *search, const struct pe__draft *draft)
{
    size_t head;
    bool any = false;
    double bases[HEAD_BASES_MAX];
    struct pe__draft other = *draft;
    struct pe__estimate base = fit_head(search, &head), gain = factor_by_gain(search, draft);
    search->probe = head < search->phases.pairs ? head : 0;
    size_t bases_n =
        search->by_angles ? turned_bases(search, draft, bases) : head_bases(base, head, bases);
    for (size_t i = 0; i < bases_n; i++) {
        double ln_base = pe__plain_log(bases[i]);
        pe__draft_number(&other, "base", bases[i]);
        struct pe__estimate tail = fit_tail(search, ln_base, search->by_angles ? 0 : head);
        for (size_t r = 0; r < sizeof ramps / sizeof *ramps; r++) {
            bool by_gain = strcmp(ramps[r].scaling, "yarn") == 0 && isfinite(gain.error);
            bool fits = by_gain && propose_factors(search, &other, &ramps[r], ln_base, gain);
            fits = fits || propose_factors(search, &other, &ramps[r], ln_base, tail);
            any = any || fits;
        }
    }
    return any;
}
