// SPDX-License-Identifier: Apache-2.0
/*
 * drafts.c: specs that might be the one: made of settings, held to what is known, compared with the
 * lines pair by pair.
 */
#include <math.h>
#include <string.h>

#include "decimals.h"
#include "elementary.h"
#include "identify_search.h"
#include "kind.h"
#include "params.h"

/* ---- Settings ----------------------------------------------------------------------------- */

static struct pe_setting *setting(struct pe__draft *draft, const char *name)
{
    size_t i = 0;
    while (i < draft->n && strcmp(draft->at[i].name, name) != 0)
        i++;
    if (i == draft->n && draft->n < PE__DRAFT_MAX)
        draft->n++;
    struct pe_setting *at = &draft->at[i < PE__DRAFT_MAX ? i : PE__DRAFT_MAX - 1];
    *at = (struct pe_setting){.name = name};
    return at;
}

void pe__draft_number(struct pe__draft *draft, const char *name, double number)
{
    setting(draft, name)->number = number;
}

void pe__draft_text(struct pe__draft *draft, const char *name, const char *text)
{
    setting(draft, name)->text = text;
}

void pe__draft_list(struct pe__draft *draft, const char *name, const double *list, size_t n)
{
    struct pe_setting *at = setting(draft, name);
    at->list = list;
    at->list_n = n;
}

/* ---- Specs -------------------------------------------------------------------------------- */

static bool set(struct pe_spec *spec, const struct pe_setting *at)
{
    struct pe_faults faults = {0};
    if (at->text)
        return pe_params_set_text(&spec->params, at->name, at->text, &faults);
    if (at->list)
        return pe_params_set_list(&spec->params, at->name, at->list, at->list_n, &faults);
    return pe_params_set_number(&spec->params, at->name, at->number, &faults);
}

static int row_of(const struct pe_spec *spec, const char *name)
{
    return pe_params_find(&spec->params, name, strlen(name));
}

static bool is_known(const struct pe__search *search, const struct pe_spec *spec, const char *name)
{
    const struct pe_identify *job = search->job;
    int row = row_of(spec, name);
    for (size_t i = 0; i < job->known_n; i++)
        if (row_of(spec, job->known[i].name) == row)
            return true;
    return false;
}

bool pe__search_knows(const struct pe__search *search, const char *name)
{
    for (size_t i = 0; i < search->job->known_n; i++)
        if (strcmp(search->job->known[i].name, name) == 0)
            return true;
    return false;
}

/* Parameters that are not searched have their defaults, or what is known. */
static bool is_searched(const struct pe__search *search, const struct pe_spec *spec)
{
    const struct pe_identify *job = search->job;
    for (size_t i = 0; job->search && i < spec->params.rows_n; i++) {
        const char *name = spec->params.rows[i].name;
        bool shape = strcmp(name, "dim") == 0 || strcmp(name, "heads") == 0;
        bool asked = shape || is_known(search, spec, name);
        for (const char *const *key = job->search; *key && !asked; key++)
            asked = row_of(spec, *key) == (int)i;
        if (!asked && spec->params.value[i].given && pe__params_differs(&spec->params, i))
            return false;
    }
    return true;
}

bool pe__draft_finish(const struct pe__search *search, const struct pe__draft *draft,
                      struct pe_spec *spec)
{
    const struct pe_identify *job = search->job;
    struct pe_faults faults = {0};
    pe_spec_init(spec, draft->kind);
    bool ok =
        job->tried < search->tried_max && (!job->kind || strcmp(job->kind, draft->kind->name) == 0);
    spec->table = draft->table;
    spec->table_rows = draft->table_rows;
    spec->table_cols = draft->table_cols;
    for (size_t i = 0; ok && i < draft->n; i++)
        ok = is_known(search, spec, draft->at[i].name) || set(spec, &draft->at[i]);
    for (size_t i = 0; ok && i < job->known_n; i++)
        ok = row_of(spec, job->known[i].name) >= 0 && set(spec, &job->known[i]);
    if (ok && pe_spec_finish(spec, &faults) && is_searched(search, spec))
        return true;
    pe_spec_release(spec);
    return false;
}

/* ---- Speeds ------------------------------------------------------------------------------- */

#define SPEED_BITS 64

static double number_or(const struct pe_spec *spec, const char *name, double fallback)
{
    int row = row_of(spec, name);
    return row >= 0 && spec->params.value[row].set ? spec->params.value[row].number : fallback;
}

double pe__speed_of(const struct pe_spec *spec, size_t pair)
{
    const struct pe__kind_ops *ops = spec->kind->ops;
    size_t axis, k = pair;
    mpfr_t w;
    mpfr_init2(w, SPEED_BITS);
    if (ops->pair_source)
        ops->pair_source(spec, pair, &axis, &k);
    ops->frequency(spec, k, true, w);
    double speed = mpfr_get_d(w, MPFR_RNDN);
    mpfr_clear(w);
    if (number_or(spec, "angle_unit", 0) != 0)
        speed *= 2 * PE__PI;
    return speed * number_or(spec, "direction", 1) * number_or(spec, "position_scale", 1);
}

double pe__origin_of(const struct pe_spec *spec)
{
    return -number_or(spec, "shift", 0) / number_or(spec, "position_scale", 1);
}

/* ---- Proposals ---------------------------------------------------------------------------- */

#define DRIFTS 4 /* times what angles are off for each radian: products of many roundings */
#define CLEAR  8 /* times its error: what a number cannot be off by chance */

bool pe__search_turned_by(const struct pe__search *search, size_t pair, double speed, double origin)
{
    const struct pe__phases *phases = &search->phases;
    size_t axis = search->axis[pair];
    for (size_t i = 0; i < search->order_n; i++) {
        size_t row = search->order[axis][i], at = pair * phases->rows + row;
        double distance = search->given.at[axis][row] - origin, angle = speed * distance;
        double limit = 2 * (search->fixed + search->library * fmax(fabs(distance), fabs(angle)));
        if (phases->weight[at] > 0 && fabs(angle) < 0x1p30 &&
            fabs(pe__wrap(phases->angle[at] - pe__wrap(angle))) > limit)
            return false;
    }
    return true;
}

/* Whether the speed of a pair is that of its line, of which full turns per step are not known. */
static bool speed_fits(const struct pe__search *search, size_t pair, double speed)
{
    const struct pe__turning *line = &search->line[pair];
    double off = speed - line->speed;
    if (!isfinite(line->error))
        return true;
    if (isfinite(line->step) && fabs(off) * line->step > PE__PI)
        off = pe__wrap(off * line->step) / line->step;
    return fabs(off) <= CLEAR * line->error + DRIFTS * search->noise.drift * fabs(speed);
}

/* What it costs to say a parameter, besides the digits of its number. */
static const struct {
    const char *name;
    double cost;
} costs[] = {
    {"base", 1.5},           {"scaling", 2},      {"kept_pairs", 3},
    {"rotary_dim", 1},       {"shift", 0.5},      {"position_scale", 2},
    {"attention_factor", 2}, {"output_order", 2}, {"rotary_offset", 1},
};

static bool is_usual(const struct pe_spec *spec, const char *name, double number)
{
    static const double bases[] = {10000, 500000, 1000000};
    for (size_t i = 0; strcmp(name, "base") == 0 && i < sizeof bases / sizeof *bases; i++)
        if (number == bases[i])
            return true;
    double dim = (double)pe_spec_dim(spec);
    return strcmp(name, "rotary_dim") == 0 && (number * 2 == dim || number * 4 == dim);
}

/* How much there is to say: digits of numbers that are not defaults, and choices. */
static double cost_of(const struct pe_spec *spec)
{
    double cost = 0;
    for (size_t i = 0; i < spec->params.rows_n; i++) {
        const struct pe_param *row = &spec->params.rows[i];
        const struct pe_value *value = &spec->params.value[i];
        if (!value->given || !pe_params_applies(&spec->params, i) ||
            !pe__params_differs(&spec->params, i) || strcmp(row->name, "dim") == 0)
            continue;
        for (size_t k = 0; k < sizeof costs / sizeof *costs; k++)
            if (strcmp(costs[k].name, row->name) == 0 && !is_usual(spec, row->name, value->number))
                cost += costs[k].cost;
        bool deals = strncmp(row->name, "section", 7) == 0; /* pairs, in one way or another */
        if (deals)
            cost += 1;
        else if (value->list)
            cost += 4 * (double)value->list_n;
        else if ((row->type == PE_REAL || row->type == PE_INT) &&
                 !is_usual(spec, row->name, value->number))
            cost += pe__digits(value->number);
        else
            cost += 1;
    }
    return cost;
}

static bool is_there(const struct pe__search *search, const struct pe_spec *spec)
{
    const struct pe_identify *job = search->job;
    for (size_t i = 0; i < job->found_n; i++)
        if (job->found[i].twist == search->twist && pe__same_parameters(&job->found[i].spec, spec))
            return true;
    return false;
}

/* The one with most to say. */
static size_t dearest(const struct pe_identify *job)
{
    size_t at = 0;
    for (size_t i = 1; i < job->found_n; i++)
        if (job->found[i].cost > job->found[at].cost)
            at = i;
    return at;
}

/* Puts the spec among those found, or in the place of the one with most to say. */
static bool keep(struct pe__search *search, struct pe_spec *spec)
{
    struct pe_identify *job = search->job;
    struct pe_candidate *at = &job->found[job->found_n];
    double cost = cost_of(spec);
    if (is_there(search, spec)) {
        pe_spec_release(spec);
        return true;
    }
    if (job->found_n == PE_IDENTIFY_FOUND_MAX) {
        at = &job->found[dearest(job)];
        search->cut = fmin(search->cut, fmax(at->cost, cost));
        if (at->cost <= cost) {
            pe_spec_release(spec);
            return false;
        }
        pe_spec_release(&at->spec);
    } else {
        job->found_n++;
    }
    *at = (struct pe_candidate){.spec = *spec,
                                .twist = search->twist,
                                .fastest = search->fastest,
                                .cost = cost,
                                .nth = ++search->kept,
                                .phase_rms = -1};
    return true;
}

bool pe__search_is_open(const struct pe__search *search, size_t since)
{
    for (size_t i = 0; i < search->job->found_n; i++)
        if (search->job->found[i].nth > since && search->job->found[i].open)
            return true;
    return false;
}

void pe__search_open(struct pe__search *search, size_t since, bool axes)
{
    for (size_t i = 0; i < search->job->found_n; i++) {
        struct pe_candidate *at = &search->job->found[i];
        if (at->nth <= since)
            continue;
        at->open = at->open || !axes;
        at->axes_open = at->axes_open || axes;
    }
}

/* Whether its pairs have the speeds of their lines, and stand where these have turned them to. */
static bool pairs_fit(struct pe__search *search, const struct pe_spec *spec)
{
    size_t n = search->phases.pairs;
    double origin = pe__origin_of(spec);
    bool fits = pe_spec_pairs(spec) == n;
    search->fastest = 0;
    for (size_t i = 0; fits && i < n; i++) {
        size_t pair = (search->probe + n - i) % n;
        double speed = pe__speed_of(spec, pair);
        search->fastest = fmax(search->fastest, fabs(speed));
        fits = (search->by_angles || speed_fits(search, pair, speed)) &&
               pe__search_turned_by(search, pair, speed, origin);
    }
    return fits;
}

bool pe__search_fits(struct pe__search *search, const struct pe_spec *spec)
{
    struct pe_identify *job = search->job;
    search->stopped = search->stopped || (job->stop && job->stop(job->stop_context));
    if (search->stopped)
        return false;
    if (++job->tried == search->tried_max)
        search->cut = 0; /* there may be more to say */
    if (job->found_n == PE_IDENTIFY_FOUND_MAX) {
        double cost = cost_of(spec);
        if (cost >= job->found[dearest(job)].cost) {
            search->cut = fmin(search->cut, cost);
            return false;
        }
    }
    return pairs_fit(search, spec);
}

size_t pe__search_head(const struct pe__search *search, const struct pe_spec *spec)
{
    size_t n = 0;
    while (n < search->phases.pairs &&
           pe__search_turned_by(search, n, pe__speed_of(spec, n), pe__origin_of(spec)))
        n++;
    return n;
}

bool pe__search_offer(struct pe__search *search, struct pe_spec *spec)
{
    if (pe__search_fits(search, spec))
        return keep(search, spec);
    pe_spec_release(spec);
    return false;
}
