// SPDX-License-Identifier: Apache-2.0
/*
 * spectrum.c: bases and scalings by the speeds of the pairs. Their logarithms are linear in the
 * logarithms of the base and, for most scalings, of the factor; what each is multiplied by follows
 * from the frequencies of two specs, so that no formula stands here. A fit says in which interval a
 * parameter lies, and the short decimals of it are proposed, with the others fitted anew.
 */
#include <math.h>
#include <string.h>

#include "elementary.h"
#include "params.h"
#include "spectrum.h"

#define WIDE      2    /* logarithm of an interval that says nothing */
#define WIDEST    60   /* to which it is cut */
#define WIDER     4    /* times such an interval, where usual bases may lie too */
#define BY_CHANCE 0.01 /* how often a short decimal may be in an interval where none was meant */
#define ROUGH     0.1  /* the same of a factor of lengths, which may as well have more digits */
#define CROOKED   40   /* times what was to be expected: no line */
#define USABLE    0.25 /* relative error of a speed that has a logarithm */
#define BASE_FROM 10000.0
#define ROUNDINGS 0x1p-50 /* relative error of logarithms, whatever they were fitted by */

const double pe__usual_bases[PE__USUAL_BASES] = {
    10000,    500000,  1000000, 100,   5000000, 100000, 150000, 1000,   2000,    160000,
    10000000, 8000000, 40000,   50000, 1500000, 25000,  250000, 600000, 3000000, 2000000};

/* ---- Fits --------------------------------------------------------------------------------- */

static double direction_of(const struct pe__search *search)
{
    double votes = 0;
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        const struct pe__turning *line = &search->line[pair];
        double sure = fabs(line->speed) / line->error;
        if (sure > 3 && line->worst <= CROOKED && fabs(line->speed) * line->step < PE__PI * 0.9)
            votes += copysign(sure < 1000 ? sure : 1000, line->speed);
    }
    return votes < 0 ? -1 : 1;
}

/* Logarithms of the speeds and their errors; those of no use have infinite ones. */
static void read_logs(struct pe__search *search, double direction, double unit)
{
    for (size_t pair = search->phases.pairs; pair-- > 0;) {
        const struct pe__turning *line = &search->line[pair];
        double speed = line->speed * direction / unit, error = line->error / unit;
        search->s[pair] = INFINITY;
        search->v[pair] = 0;
        if (speed <= 0 || error > USABLE * speed)
            continue;
        double drift = search->noise.drift;
        search->v[pair] = pe__plain_log(speed);
        search->s[pair] = sqrt(error * error / (speed * speed) + drift * drift);
    }
}

struct pe__estimate pe__fit_base(const struct pe__search *search, const double *z, double ln_f,
                                 size_t first, size_t n)
{
    double xx = 0, xv = 0;
    for (size_t i = first; i < n; i++) {
        double weight = 1 / (search->s[i] * search->s[i]);
        xx += search->x[i] * search->x[i] * weight;
        xv -= search->x[i] * (search->v[i] + (z ? z[i] * ln_f : 0)) * weight;
    }
    return xx > 0 ? (struct pe__estimate){xv / xx, 1 / sqrt(xx)}
                  : (struct pe__estimate){NAN, INFINITY};
}

struct pe__estimate pe__fit_factor(const struct pe__search *search, const double *z)
{
    double xx = 0, xz = 0, zz = 0, xv = 0, zv = 0;
    for (size_t i = 0; i < search->phases.pairs; i++) {
        double weight = 1 / (search->s[i] * search->s[i]), x = search->x[i];
        xx += x * x * weight;
        xz += x * z[i] * weight;
        zz += z[i] * z[i] * weight;
        xv -= x * search->v[i] * weight;
        zv -= z[i] * search->v[i] * weight;
    }
    double left = zz - (xx > 0 ? xz * xz / xx : 0); /* of z, once x has explained its part */
    if (!(left > 1e-9 * zz))
        return (struct pe__estimate){NAN, INFINITY};
    double cancelled = ROUNDINGS * fabs(zv) / left;
    return (struct pe__estimate){(zv - (xx > 0 ? xz * xv / xx : 0)) / left,
                                 1 / sqrt(left) + cancelled};
}

/* How many decimals of so many digits an interval of this width has in the mean. */
static double expected_decimals(double width, int digits)
{
    for (int i = 0; i < digits; i++)
        width *= 10;
    return width;
}

/* Whether a decimal of so many digits lies in an interval of this width by chance. */
static bool is_chance(double width, int digits)
{
    return digits > PE__SHORT_DIGITS && expected_decimals(width, digits) > BY_CHANCE;
}

size_t pe__decimals_of(struct pe__estimate ln, double *out, bool *more)
{
    double error = PE__SPREAD * ln.error + ROUNDINGS * (1 + fabs(ln.value));
    if (!(error < WIDE))
        return 0;
    size_t n = pe__decimals(pe__plain_exp(ln.value - error), pe__plain_exp(ln.value + error), out,
                            PE__TRIED, more);
    *more = *more || (n > 0 && is_chance(2 * error, pe__digits(out[0])));
    return n;
}

/* ---- Drafts ------------------------------------------------------------------------------- */

bool pe__propose(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe_spec spec;
    struct pe__draft other = *draft;
    double factors[4], error = PE__SPREAD * search->gain_error;
    size_t since = search->kept;
    bool more = false, any = false;
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    if (spec.kind->acts != PE_ROTATES || fabs(search->gain - pe_spec_attention(&spec)) <= error)
        return pe__search_offer(search, &spec);
    bool fits = pe__search_fits(search, &spec);
    pe_spec_release(&spec);
    size_t n = pe__decimals(search->gain - error, search->gain + error, factors, 4, &more);
    for (size_t i = 0; fits && i < n; i++) {
        pe__draft_number(&other, "attention_factor", factors[i]);
        any = (pe__draft_finish(search, &other, &spec) && pe__search_offer(search, &spec)) || any;
    }
    if (any && (more || expected_decimals(2 * error, pe__digits(factors[0])) > ROUGH))
        pe__search_open(search, since, false);
    return any;
}

bool pe__propose_each(struct pe__search *search, struct pe__draft *draft, const char *name,
                      const double *values, size_t n)
{
    struct pe_spec spec;
    bool any = false;
    pe__draft_number(draft, name, values[0]);
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    struct pe_value *value = pe__params_value(&spec.params, name);
    for (size_t i = 0; i < n; i++) {
        value->number = values[i];
        if (!pe__search_fits(search, &spec))
            continue;
        pe__draft_number(draft, name, values[i]);
        any = pe__propose(search, draft) || any;
    }
    pe_spec_release(&spec);
    return any;
}

static void widen(struct pe_identify *job, struct pe__estimate ln)
{
    if (!isfinite(ln.value))
        return;
    double error = PE__SPREAD * ln.error < WIDEST ? PE__SPREAD * ln.error : WIDEST;
    double low = pe__plain_exp(ln.value - error), high = pe__plain_exp(ln.value + error);
    if (job->base_low == 0 || low < job->base_low)
        job->base_low = low;
    if (high > job->base_high)
        job->base_high = high;
}

/* The usual bases of an interval that has too many others. */
static bool propose_usual(struct pe__search *search, struct pe__draft *draft,
                          struct pe__estimate ln)
{
    double bases[PE__USUAL_BASES];
    size_t n = 0;
    for (size_t i = 0; i < PE__USUAL_BASES; i++)
        if (!(fabs(pe__plain_log(pe__usual_bases[i]) - ln.value) > PE__SPREAD * ln.error))
            bases[n++] = pe__usual_bases[i];
    return n > 0 && pe__propose_each(search, draft, "base", bases, n);
}

/* All bases of an interval. */
static bool propose_bases(struct pe__search *search, const struct pe__draft *draft,
                          struct pe__estimate ln)
{
    double bases[PE__TRIED];
    struct pe__draft other = *draft;
    bool any = false, more = false;
    size_t since = search->kept;
    if (pe__search_knows(search, "base"))
        return pe__propose(search, draft);
    size_t n = pe__decimals_of(ln, bases, &more);
    if (n == 0 && (any = propose_usual(search, &other, ln)))
        more = true;
    if (n > 0 && pe__digits(bases[0]) > PE__SHORT_DIGITS) { /* libraries may be off by more */
        struct pe__estimate wide = {ln.value, WIDER * ln.error};
        any = propose_usual(search, &other, wide);
    }
    for (size_t i = 0; i < n; i++) {
        if (bases[i] <= 1)
            continue;
        pe__draft_number(&other, "base", bases[i]);
        any = pe__propose(search, &other) || any;
    }
    if (more)
        pe__search_open(search, since, false);
    if (any)
        widen(search->job, ln);
    return any;
}

/* Radians in the draft's unit of angles. */
static double unit_of(const struct pe__draft *draft)
{
    for (size_t i = 0; i < draft->n; i++)
        if (strcmp(draft->at[i].name, "angle_unit") == 0 && draft->at[i].text &&
            strcmp(draft->at[i].text, "turn") == 0)
            return 2 * PE__PI;
    return 1;
}

/* For each pair -ln of the speed, of this draft. */
static bool slopes_of(struct pe__search *search, const struct pe__draft *draft, double *out)
{
    struct pe_spec spec;
    if (!pe__draft_finish(search, draft, &spec))
        return false;
    bool ok = pe_spec_pairs(&spec) == search->phases.pairs;
    double unit = unit_of(draft);
    for (size_t i = 0; ok && i < search->phases.pairs; i++) {
        double speed = fabs(pe__speed_of(&spec, i)) / unit;
        out[i] = speed > 0 ? -pe__plain_log(speed) : INFINITY;
        if (speed == 0)
            search->s[i] = INFINITY;
    }
    pe_spec_release(&spec);
    return ok;
}

/* x: by how much ln of a speed falls with ln of the base. */
static bool read_x(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe__draft template = *draft;
    if (pe__search_knows(search, "base"))
        return slopes_of(search, draft, search->x);
    pe__draft_number(&template, "base", BASE_FROM);
    if (!slopes_of(search, &template, search->x))
        return false;
    for (size_t i = 0; i < search->phases.pairs; i++)
        search->x[i] = isfinite(search->x[i]) ? search->x[i] / pe__plain_log(BASE_FROM) : 0;
    return true;
}

/* ---- Scalings by a factor ------------------------------------------------------------------ */

static const char *const factored[] = {"linear", "ntk_fixed", "ntk_mixed", "ntk_divide"};
#define FACTORED_N (sizeof factored / sizeof *factored)

/* z: the same with ln of the factor. */
static bool read_z(struct pe__search *search, const struct pe__draft *draft, const char *scaling)
{
    struct pe__draft template = *draft;
    pe__draft_number(&template, "base", BASE_FROM);
    pe__draft_text(&template, "scaling", scaling);
    pe__draft_number(&template, "factor", PE__BY_FACTOR);
    if (!slopes_of(search, &template, search->z))
        return false;
    for (size_t i = 0; i < search->phases.pairs; i++)
        search->z[i] = isfinite(search->z[i])
                           ? (search->z[i] - search->x[i] * pe__plain_log(BASE_FROM)) /
                                 pe__plain_log(PE__BY_FACTOR)
                           : 0;
    return true;
}

/* Positions times a number: the place where lines begin stays where it is, and the shift is a whole
 * or a half if it may be one. */
static void scale_positions(const struct pe__search *search, struct pe__draft *draft, double scale)
{
    pe__draft_number(draft, "position_scale", scale);
    for (size_t i = 0; i < draft->n; i++) {
        struct pe_setting *at = &draft->at[i];
        if (strcmp(at->name, "shift") != 0)
            continue;
        double shift = at->number * scale, half = floor(2 * shift + 0.5) / 2;
        double off = search->origin_error * scale + ROUNDINGS * fabs(shift);
        at->number = fabs(shift - half) <= off ? half : shift;
    }
}

static bool propose_factored(struct pe__search *search, const struct pe__draft *draft,
                             const char *scaling)
{
    double factors[PE__TRIED];
    bool any = false, more = false;
    size_t since = search->kept;
    if (!read_z(search, draft, scaling))
        return false;
    struct pe__estimate ln = pe__fit_factor(search, search->z);
    bool shrinks = ln.value < 0 && strcmp(scaling, "linear") == 0;
    if (shrinks)
        ln.value = -ln.value;
    size_t n = pe__decimals_of(ln, factors, &more);
    for (size_t i = 0; i < n; i++) {
        struct pe__draft other = *draft;
        if (!(factors[i] > 1))
            continue;
        if (shrinks) {
            scale_positions(search, &other, factors[i]);
            factors[i] = 1 / factors[i];
        } else {
            pe__draft_text(&other, "scaling", scaling);
            pe__draft_number(&other, "factor", factors[i]);
        }
        struct pe__estimate base =
            pe__fit_base(search, search->z, pe__plain_log(factors[i]), 0, search->phases.pairs);
        any = propose_bases(search, &other, base) || any;
    }
    if (more)
        pe__search_open(search, since, false);
    return any;
}

/* Kinds that add have no scaling, but positions may be multiplied by a number. */
static bool propose_multiplied(struct pe__search *search, const struct pe__draft *draft)
{
    double scales[PE__TRIED];
    bool any = false, more = false;
    size_t since = search->kept;
    for (size_t i = 0; i < search->phases.pairs; i++)
        search->z[i] = -1;
    struct pe__estimate ln = pe__fit_factor(search, search->z);
    size_t n = pe__decimals_of(ln, scales, &more);
    for (size_t i = 0; i < n; i++) {
        struct pe__draft other = *draft;
        scale_positions(search, &other, scales[i]);
        ln = pe__fit_base(search, search->z, pe__plain_log(scales[i]), 0, search->phases.pairs);
        any = (scales[i] != 1 && propose_bases(search, &other, ln)) || any;
    }
    if (more)
        pe__search_open(search, since, false);
    return any;
}

/* Those that only come to another base: a usual base, stretched by a short factor. */
static bool propose_rebased(struct pe__search *search, const struct pe__draft *draft,
                            struct pe__estimate base)
{
    bool any = false;
    struct pe__draft other = *draft;
    pe__draft_text(&other, "scaling", "ntk");
    if (!read_z(search, draft, "ntk"))
        return false;
    double share = 0; /* of ln f in ln b */
    for (size_t i = 0; i < search->phases.pairs; i++)
        if (search->x[i] > 0)
            share = search->z[i] / search->x[i];
    for (size_t k = 0; share > 0 && k < PE__USUAL_BASES; k++) {
        double factors[PE__TRIED];
        bool more = false, fits = false;
        size_t since = search->kept;
        struct pe__estimate ln = {(base.value - pe__plain_log(pe__usual_bases[k])) / share,
                                  base.error / share};
        size_t n = ln.value > 0.01 && ln.value < 7 ? pe__decimals_of(ln, factors, &more) : 0;
        for (size_t i = 0; i < n && pe__digits(factors[i]) <= PE__SHORT_DIGITS; i++) {
            pe__draft_number(&other, "base", pe__usual_bases[k]);
            pe__draft_number(&other, "factor", factors[i]);
            fits = (factors[i] > 1 && pe__propose(search, &other)) || fits;
        }
        if (fits && more)
            pe__search_open(search, since, false);
        any = any || fits;
    }
    return any;
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* Where steps are so long that full turns are lost, the usual bases are tried one by one. */
static bool propose_stretched(struct pe__search *search, const struct pe__draft *draft)
{
    static const double factors[] = {1, 2, 4, 8, 16, 32};
    const struct pe__estimate any_base = {0, INFINITY};
    bool any = false;
    if (pe__search_knows(search, "base"))
        return pe__propose(search, draft);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        struct pe__draft other = *draft;
        if (factors[i] != 1) {
            pe__draft_text(&other, "scaling", "linear");
            pe__draft_number(&other, "factor", factors[i]);
        }
        any = propose_usual(search, &other, any_base) || any;
    }
    return any;
}

/* Whether a base was found that no other could have been taken for. */
static bool is_clear(const struct pe_identify *job, double width)
{
    int row = pe_params_find(&job->found[job->found_n - 1].spec.params, "base", 4);
    double base = job->found[job->found_n - 1].spec.params.value[row].number;
    return expected_decimals(width, pe__digits(base)) < BY_CHANCE;
}

/* Where places are so far apart that the lines of fast pairs are none, these and all that are as
 * fast say nothing about speeds. Whether there are any. */
static bool leave_lost(struct pe__search *search)
{
    double x = -1;
    for (size_t pair = 0; pair < search->phases.pairs; pair++)
        if (search->line[pair].worst > CROOKED)
            x = fmax(x, search->x[pair]);
    for (size_t pair = 0; pair < search->phases.pairs; pair++)
        if (search->x[pair] <= x)
            search->s[pair] = INFINITY;
    return x >= 0;
}

static size_t count_moving(const struct pe__search *search)
{
    size_t n = 0;
    for (size_t pair = 0; pair < search->phases.pairs; pair++)
        n += isfinite(search->s[pair]);
    return n;
}

/* Pairs from some number on that do not turn, while those before them do. */
static size_t still_from(const struct pe__search *search)
{
    size_t pair = search->phases.pairs;
    while (pair > 0 &&
           fabs(search->line[pair - 1].speed) <= PE__SPREAD * search->line[pair - 1].error)
        pair--;
    return pair;
}

/* Without any line. */
static bool propose_by_angles(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe__draft other = *draft;
    search->by_angles = true;
    bool any = propose_stretched(search, draft);
    if (!any && draft->kind->acts == PE_ROTATES) {
        pe__draft_number(&other, "direction", -1);
        any = propose_stretched(search, &other);
    }
    return any;
}

/* By the speeds that are known, the likeliest first. */
static bool propose_all(struct pe__search *search, const struct pe__draft *draft)
{
    bool turns = draft->kind->acts == PE_ROTATES, any;
    size_t since = search->kept, moving = count_moving(search), still = still_from(search);
    struct pe__estimate base = pe__fit_base(search, NULL, 0, 0, search->phases.pairs);
    search->probe = search->phases.pairs - 1;
    any = propose_bases(search, draft, base);
    if (any && !pe__search_is_open(search, since) &&
        is_clear(search->job, 2 * PE__SPREAD * base.error))
        return true;
    if (!any && turns && still < search->phases.pairs && still > 0) {
        struct pe__draft kept = *draft;
        pe__draft_number(&kept, "kept_pairs", (double)still);
        any = propose_bases(search, &kept, base) || propose_factored(search, &kept, "linear");
    }
    if (turns && moving > 1)
        any = propose_rebased(search, draft, base) || any;
    if (!turns && moving > 1)
        any = propose_multiplied(search, draft) || any;
    for (size_t i = 0; turns && moving > 1 && i < FACTORED_N; i++)
        any = propose_factored(search, draft, factored[i]) || any;
    bool wanted = search->gain != 1 || (!any && moving > 2);
    if (turns && wanted && (any || search->rules == PE__RULES_BLENDS))
        any = pe__propose_ramps(search, draft) || any;
    return any;
}

void pe__spectrum_propose(struct pe__search *search, const struct pe__draft *draft)
{
    struct pe__draft own = *draft;
    bool turns = draft->kind->acts == PE_ROTATES;
    double direction = turns ? direction_of(search) : 1;
    if (direction < 0)
        pe__draft_number(&own, "direction", -1);
    read_logs(search, direction, unit_of(&own));
    if (!read_x(search, &own))
        return;
    bool lost = search->by_angles = leave_lost(search);
    bool any = propose_all(search, &own);
    if (!any && (lost || search->rules != PE__RULES_PLAIN))
        any = propose_by_angles(search, draft);
    search->by_angles = lost;
    if (!any && turns && search->rules == PE__RULES_ANY)
        pe__propose_lists(search, &own);
    search->by_angles = false;
}
