// SPDX-License-Identifier: Apache-2.0
/*
 * biased_judge.c: the verdict on biases: a spec's own numbers against those of every pair; which
 * explain all, and which of them there is least to say about.
 */
#include <math.h>
#include <string.h>

#include "biased.h"
#include "kind.h"

#define FAR_FETCHED 6         /* how much more there may be to say of a rival */
#define TO_THE_BIT  3         /* how much more there may be to say of what gives every bit */
#define COSTLY      (1 << 12) /* multiply-adds of a bias: what contradicts is not read to its end */
#define SLAB        256       /* biases between two looks at the clock */

/* ---- Numbers of a spec --------------------------------------------------------------------- */

struct trial {
    struct pe__biased *biased;
    struct pe_candidate *candidate;
    const struct pe_plan *plan;
    bool by_places; /* else by groups */
    size_t head;    /* the first of the spec's that was posted */
    double squares, element_squares, largest, cancelled;
    size_t n, elements_n, differing;
    bool within;
    struct pe_contradiction contradiction;
};

static void fill_groups(struct trial *trial)
{
    struct pe__biased *biased = trial->biased;
    double *made = biased->made;
    double of_heads[PE_HEADS_MAX];
    for (size_t i = 0; i < biased->groups && (i % SLAB || pe__biased_goes_on(biased)); i++) {
        size_t pair = biased->example[i];
        struct pe_positions query = {1, 1, {&biased->query[pair / biased->keys]}};
        struct pe_positions key = {1, 1, {&biased->key[pair % biased->keys]}};
        pe_bias(trial->plan, &query, &key, trial->head, biased->heads, PE_F64, of_heads);
        for (size_t head = 0; head < biased->heads; head++)
            made[head * biased->groups + i] = of_heads[head];
    }
}

static void fill_row(struct trial *trial, size_t query)
{
    struct pe__biased *biased = trial->biased;
    struct pe_positions one = {1, 1, {&biased->query[query]}};
    pe_bias(trial->plan, &one, biased->scores->keys, trial->head, biased->heads, PE_F64,
            biased->made);
}

static double made_of(const struct trial *trial, size_t head, size_t pair)
{
    const struct pe__biased *biased = trial->biased;
    return trial->by_places ? biased->made[head * biased->keys + pair % biased->keys]
                            : biased->made[head * biased->groups + biased->group[pair]];
}

/* ---- Against the scores -------------------------------------------------------------------- */

static void tally_elements(struct trial *trial, size_t head, size_t pair, double made)
{
    const struct pe__biased *biased = trial->biased;
    const struct pe_biased *scores = biased->scores;
    size_t n = biased->heads * biased->pairs;
    for (size_t batch = 0; batch < scores->batches; batch++) {
        size_t i = batch * n + head * biased->pairs + pair;
        double before = scores->x ? pe_load(scores->x_dtype, scores->x, i) : 0;
        double after = pe_load(scores->y_dtype, scores->y, i), ours;
        pe_store(biased->search.job->dtype, &ours, 0, before + made);
        ours = pe_load(biased->search.job->dtype, &ours, 0);
        double off = fabs(after - ours);
        if (!isfinite(off) || after <= PE_IDENTIFY_MASKED)
            continue;
        trial->element_squares += off * off;
        trial->largest = fmax(trial->largest, off);
        trial->differing += off != 0;
        trial->elements_n++;
    }
}

static void tally_pair(struct trial *trial, size_t head, size_t pair)
{
    const struct pe__biased *biased = trial->biased;
    struct pe__bounds at = biased->at[head * biased->pairs + pair];
    if (isnan(at.middle))
        return;
    double made = made_of(trial, head, pair), off = fabs(at.middle - made);
    trial->squares += off * off;
    trial->n++;
    double library = biased->library;
    double limit = library * fabs(made) + fmin(library, PE__SUMS_UNIT) * trial->cancelled;
    if (!(off <= at.width + limit)) {
        if (trial->within)
            trial->contradiction = (struct pe_contradiction){head, pair / biased->keys,
                                                             pair % biased->keys, at.middle, made};
        trial->within = false;
    }
    tally_elements(trial, head, pair, made);
}

static void tally(struct trial *trial)
{
    struct pe__biased *biased = trial->biased;
    bool costly = pe_spec_bias_work(&trial->candidate->spec) >= COSTLY;
    if (!trial->by_places)
        fill_groups(trial);
    for (size_t query = 0; query < biased->queries && pe__biased_goes_on(biased); query++) {
        if (trial->by_places)
            fill_row(trial, query);
        for (size_t head = 0; head < biased->heads; head++)
            for (size_t key = 0; key < biased->keys; key++)
                tally_pair(trial, head, query * biased->keys + key);
        if (costly && trial->by_places && !trial->within)
            return;
    }
}

/* What the terms of a sum that cancels come to, at most: libraries are off by parts of that. */
static double cancelled(const struct pe_spec *spec)
{
    const double usual = 8; /* what the first head's sum is multiplied by, at most heads / 8 */
    if (!spec->kind->ops->frequencies_n)
        return 0;
    return (double)pe_spec_dim(spec) / 2 * fmax(1, (double)pe_spec_heads(spec) / usual);
}

/* False if it could not be computed. */
static bool judge(struct trial *trial)
{
    struct pe__biased *biased = trial->biased;
    struct pe_candidate *candidate = trial->candidate;
    const struct pe_spec *spec = &candidate->spec;
    struct pe_plan *plan;
    enum pe_status status = pe_plan_new(spec, biased->scores->keys, &plan);
    if (status != PE_OK) {
        biased->status = status;
        return false;
    }
    trial->plan = plan;
    trial->by_places = pe__bias_places_count(spec);
    trial->head = pe_spec_heads(spec) == biased->heads ? 0 : (size_t)pe_spec_number(spec, "head");
    trial->cancelled = cancelled(spec);
    tally(trial);
    pe_plan_free(plan);
    double n = (double)(trial->n ? trial->n : 1);
    double all = (double)(trial->elements_n ? trial->elements_n : 1);
    candidate->phase_rms = sqrt(trial->squares / n);
    candidate->rms = sqrt(trial->element_squares / all);
    candidate->max_abs = trial->largest;
    candidate->explains = trial->within ? PE_EXPLAINS_LIMITS : PE_EXPLAINS_NOT;
    if (trial->differing == 0)
        candidate->explains = PE_EXPLAINS_BITS;
    return biased->status == PE_OK;
}

/* ---- Order --------------------------------------------------------------------------------- */

/* How much there is to say; a table has every bit since it was read from them. */
static double price_of(const struct pe_candidate *candidate)
{
    bool exact = candidate->explains == PE_EXPLAINS_BITS && !candidate->spec.table;
    return candidate->cost - (exact ? TO_THE_BIT : 0);
}

static bool is_better(const struct pe_candidate *a, const struct pe_candidate *b)
{
    bool one = a->explains != PE_EXPLAINS_NOT, other = b->explains != PE_EXPLAINS_NOT;
    double price = price_of(a), other_price = price_of(b);
    if (one != other)
        return one;
    return one && price != other_price ? price < other_price : a->phase_rms < b->phase_rms;
}

/* Puts a candidate where it belongs; the last one has to go when there is no room. */
static void insert(struct pe_identify *job, struct pe_candidate *candidate)
{
    size_t k = job->found_n;
    if (k == PE_IDENTIFY_FOUND_MAX) {
        if (!is_better(candidate, &job->found[--k])) {
            pe_spec_release(&candidate->spec);
            return;
        }
        pe_spec_release(&job->found[k].spec);
    } else {
        job->found_n++;
    }
    for (; k > 0 && is_better(candidate, &job->found[k - 1]); k--)
        job->found[k] = job->found[k - 1];
    job->found[k] = *candidate;
}

bool pe__biased_offer(struct pe__biased *biased, const struct pe__draft *draft, double cost,
                      bool open)
{
    struct pe_identify *job = biased->search.job;
    struct pe_candidate candidate = {.cost = cost, .open = open};
    struct trial trial = {.biased = biased, .candidate = &candidate, .within = true};
    if (!pe__biased_goes_on(biased) || !pe__draft_finish(&biased->search, draft, &candidate.spec))
        return false;
    job->tried++;
    candidate.nth = job->tried;
    if (!judge(&trial)) {
        pe_spec_release(&candidate.spec);
        return false;
    }
    if (job->found_n == 0 || is_better(&candidate, &job->found[0]))
        biased->scores->contradiction = trial.contradiction;
    bool explains = candidate.explains != PE_EXPLAINS_NOT;
    insert(job, &candidate);
    return explains;
}

struct pe__draft pe__biased_draft(const struct pe__biased *biased, const char *kind)
{
    struct pe__draft draft = {.kind = pe_kind_find(kind, strlen(kind))};
    pe__draft_number(&draft, "heads", (double)biased->heads);
    return draft;
}

bool pe__biased_goes_on(struct pe__biased *biased)
{
    struct pe_identify *job = biased->search.job;
    if (biased->status == PE_OK && job->stop && job->stop(job->stop_context))
        biased->status = PE_STOPPED;
    return biased->status == PE_OK;
}

bool pe__biased_is_ruled(const struct pe__biased *biased)
{
    const struct pe_identify *job = biased->search.job;
    return job->rivals_n > 0 && price_of(&job->found[0]) + FAR_FETCHED < PE__COST_NUMBERS;
}

/* Beside what gives every bit, of itself, only what does likewise. */
static bool is_rival(const struct pe_candidate *best, const struct pe_candidate *other)
{
    bool exact = best->explains == PE_EXPLAINS_BITS && !best->spec.table;
    return other->explains != PE_EXPLAINS_NOT && (!exact || other->explains == PE_EXPLAINS_BITS) &&
           price_of(other) <= price_of(best) + FAR_FETCHED;
}

void pe__biased_conclude(struct pe__biased *biased)
{
    struct pe_identify *job = biased->search.job;
    job->rivals_n = 0;
    job->more = job->axes_open = false;
    while (job->rivals_n < job->found_n && is_rival(&job->found[0], &job->found[job->rivals_n]))
        job->more = job->found[job->rivals_n++].open || job->more;
    bool open = job->rivals_n > 1 || job->more || job->distinct < 2;
    job->confidence = job->rivals_n == 0 ? PE_IDENTIFIED_NOT
                      : open             ? PE_IDENTIFIED_AMBIGUOUS
                                         : PE_IDENTIFIED_UNIQUE;
}
