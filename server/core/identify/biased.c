// SPDX-License-Identifier: Apache-2.0
/*
 * biased.c: which bias score matrices were given: sets the search up in the caller's memory and
 * asks one kind after the other.
 */
#include "biased.h"

#include <math.h>
#include <string.h>

#include "kind.h"

/* Half a unit in the last place of y, and how far off libraries are that compute in its dtype, in
 * parts of a bias: slopes that are running products, a slope and its product each rounded. */
static const struct {
    double unit, library;
} limits_of[PE_I64] = {
    [PE_F64] = {0x1p-53, 0x1p-48},
    [PE_F32] = {0x1p-24, 1e-6},
    [PE_F16] = {0x1p-11, 0x1.8p-10},
    [PE_BF16] = {0x1p-8, 0x1.8p-7},
};

/* Kinds whose tables or networks are learned and do not show: those of the first seeds. */
#define FIRE_SEEDS 16

/* ---- Steps without a fit ------------------------------------------------------------------- */

/* Whether nothing was added: then no bias is looked for. */
static void propose_none(struct pe__biased *biased)
{
    struct pe_identify *job = biased->search.job;
    struct pe__draft draft = {.kind = pe_kind_find("none", 4)};
    struct pe_candidate *found = &job->found[0];
    for (size_t i = 0; i < biased->heads * biased->pairs; i++)
        if (fabs(biased->at[i].middle) > biased->at[i].width)
            return;
    if (!pe__draft_finish(&biased->search, &draft, &found->spec))
        return;
    found->explains = PE_EXPLAINS_BITS;
    job->found_n = 1;
}

static void propose_fire(struct pe__biased *biased)
{
    for (size_t seed = 0; seed < FIRE_SEEDS; seed++) {
        struct pe__draft draft = pe__biased_draft(biased, "fire");
        pe__draft_number(&draft, "table_seed", (double)seed);
        pe__biased_offer(biased, &draft, PE__COST_RULE, false);
    }
}

/* `distance`: only where nothing but the distance decides; `places`: only where more does. */
static const struct {
    const char *kind;
    bool distance, places;
    void (*propose)(struct pe__biased *biased);
} steps[] = {
    {"none", false, false, propose_none},       {"alibi", false, false, pe__biased_alibi},
    {"kerple", true, false, pe__biased_kerple}, {"sandwich", true, false, pe__biased_sandwich},
    {"t5", true, false, pe__biased_t5},         {"swin", false, true, pe__biased_swin},
    {"fire", false, false, propose_fire},
};

static bool is_asked(const struct pe__biased *biased, size_t step)
{
    const char *kind = biased->search.job->kind;
    bool by_distance = biased->scores->hangs_on == PE_HANGS_ON_DISTANCE;
    if (kind && strcmp(kind, steps[step].kind) != 0)
        return false;
    if (steps[step].propose == propose_fire && pe__biased_is_ruled(biased))
        return false;
    return !(steps[step].distance && !by_distance) && !(steps[step].places && by_distance && !kind);
}

/* ---- Setting up ---------------------------------------------------------------------------- */

static void lay_out(struct pe__biased *biased, struct pe__memory *memory,
                    const struct pe_biased *scores)
{
    size_t heads = scores->heads, pairs = scores->queries->n * scores->keys->n;
    biased->at = pe__take(memory, heads * pairs, sizeof *biased->at);
    biased->level = pe__take(memory, heads * pairs, sizeof *biased->level);
    biased->made = pe__take(memory, heads * pairs, sizeof *biased->made);
    biased->order = pe__take(memory, pairs, sizeof *biased->order);
    biased->group = pe__take(memory, pairs, sizeof *biased->group);
    biased->example = pe__take(memory, pairs, sizeof *biased->example);
    biased->offset = pe__take(memory, pairs, sizeof *biased->offset);
    biased->tables = pe__take(memory, PE__BIASED_TABLES, sizeof *biased->tables);
}

size_t pe_identify_bias_work_bytes(const struct pe_biased *scores)
{
    struct pe__biased biased;
    struct pe__memory memory = {0};
    lay_out(&biased, &memory, scores);
    return memory.used;
}

enum pe_status pe_identify_bias(struct pe_biased *scores, struct pe_identify *job)
{
    struct pe__memory memory = {.at = job->work};
    struct pe__biased biased = {.search = {.job = job, .tried_max = PE_IDENTIFY_TRIED_MAX},
                                .scores = scores,
                                .query = scores->queries->at[0],
                                .key = scores->keys->at[0],
                                .heads = scores->heads,
                                .queries = scores->queries->n,
                                .keys = scores->keys->n,
                                .pairs = scores->queries->n * scores->keys->n,
                                .unit = limits_of[job->dtype].unit,
                                .library = limits_of[job->dtype].library};
    job->found_n = job->rivals_n = job->tried = 0;
    job->base_low = job->base_high = 0;
    scores->contradiction = (struct pe_contradiction){0};
    lay_out(&biased, &memory, scores);
    pe__biased_read(&biased);
    job->distinct = scores->distances_n;
    pe__biased_conclude(&biased);
    for (size_t i = 0; scores->hangs_on != PE_HANGS_ON_BATCH && i < sizeof steps / sizeof *steps;
         i++) {
        if (is_asked(&biased, i) && pe__biased_goes_on(&biased))
            steps[i].propose(&biased);
        pe__biased_conclude(&biased);
        if (job->found_n > 0 && job->found[0].spec.kind->acts == PE_ACTS_NOT)
            break;
    }
    return biased.status;
}
