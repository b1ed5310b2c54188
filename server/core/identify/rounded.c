// SPDX-License-Identifier: Apache-2.0
/*
 * rounded.c: numbers that libraries round on the way: positions, frequencies, angles, tables of
 * cosines and sines. Encodings are searched with the limits of what was rounded; those that fit are
 * computed once more with the stages of usual pipelines, and held against y by its own limits.
 */
#include <math.h>
#include <string.h>

#include "decimals.h"
#include "identify_search.h"
#include "kind.h"
#include "method.h"
#include "params.h"

/* What is rounded on the way, where y has more digits: how far angles are off for each radian. */
static const struct rounding {
    enum pe_dtype dtype;
    double drift, library;
} roundings[] = {
    {PE_F32, 1e-7, 3e-7},
    {PE_F16, 0x1p-12, 0x1p-11},
    {PE_BF16, 0x1p-9, 0x1p-8},
};

/* Usual pipelines, the plainest first, then those of libraries and how they come to frequencies; T
 * stands for what is rounded to. */
static const struct pipeline {
    const char *stages;
    enum pe__method method;
} pipelines[] = {
    {"table:T", PE__METHOD_EXACT},
    {"freq:f32,angle:f32,table:T", PE__METHOD_EXACT},
    {"freq:f32,angle:f32,table:T", PE__METHOD_RECIPROCAL},
    {"transformers", PE__METHOD_EXACT},
    {"transformers", PE__METHOD_RECIPROCAL},
    {"meta", PE__METHOD_EXACT},
    {"ggml", PE__METHOD_EXACT},
    {"ggml", PE__METHOD_ITERATED},
    {"onnx", PE__METHOD_EXACT},
    {"freq:T", PE__METHOD_EXACT},
    {"freq:T,angle:f32,table:f32", PE__METHOD_EXACT},
    {"pos:T", PE__METHOD_EXACT},
    {"angle:T", PE__METHOD_EXACT},
    {"pos:T,freq:T,angle:T,table:T", PE__METHOD_EXACT},
    {"pos:T,freq:T,angle:T,table:T,apply:T", PE__METHOD_EXACT},
};
#define PIPELINES_N (sizeof pipelines / sizeof *pipelines)

/* ---- One encoding in one pipeline ----------------------------------------------------------- */

/* Sets how frequencies are come to. False if the spec has no series of them. */
static bool set_method(struct pe_spec *spec, enum pe__method method)
{
    struct pe_value *value = pe__params_value(&spec->params, "freq_method");
    const struct pe_value *freqs = pe__params_value(&spec->params, "freqs");
    if (!value || !spec->kind->ops->series || (freqs && freqs->set))
        return false;
    value->number = method;
    value->given = value->set = true;
    return true;
}

/* The candidate with these stages, by the same memory. False if it has none of them. */
static bool staged(const struct pe__search *search, const struct pe_candidate *candidate,
                   const struct pipeline *pipeline, enum pe_dtype own, struct pe_candidate *out)
{
    const struct pe_identify *job = search->job;
    struct pe_faults faults = {0};
    const char *text = pipeline->stages;
    *out = *candidate;
    if (pipeline->method != PE__METHOD_EXACT && !set_method(&out->spec, pipeline->method))
        return false;
    if (!pe_stages_parse(text, strlen(text), own, "stages", &out->stages, NULL, &faults))
        return false;
    bool ok = pe_stages_fit(&out->stages, ~0u, &out->spec, &faults);
    for (size_t i = 0; ok && i < job->positions_n; i++)
        ok = pe_stages_check(&out->stages, &out->spec, &job->positions[i], "positions", &faults);
    return ok;
}

/* The phases of a candidate's pairs. */
static void read_phases(struct pe__search *search, const struct pe_candidate *candidate)
{
    pe__pairing_of(&candidate->spec, &search->pairing);
    pe__phases_of(&search->phases, &search->given, &search->pairing, search->memory,
                  search->vector);
    if (candidate->twist == PE_TWIST_SWAPPED)
        pe__phases_swap(&search->phases);
}

/* Of a candidate that comes to y to the bit: all methods by which it does. */
static enum pe_status read_methods(struct pe__search *search, struct pe_candidate *candidate)
{
    struct pe_candidate other = *candidate;
    enum pe_status status = PE_OK;
    candidate->methods = 1u << pe__method_of(&candidate->spec);
    for (int i = PE__METHOD_EXACT; status == PE_OK && i <= PE__METHOD_ITERATED; i++) {
        struct pe_faults faults = {0};
        if (candidate->methods >> i & 1 || !set_method(&other.spec, (enum pe__method)i) ||
            !pe_stages_fit(&other.stages, ~0u, &other.spec, &faults))
            continue;
        other.explains = PE_EXPLAINS_NOT;
        status = pe__search_try_bits(search, &other);
        candidate->methods |= (other.explains == PE_EXPLAINS_BITS ? 1u : 0) << i;
    }
    return status;
}

/* The first pipeline in which the candidate comes to y, to the bit if there is one; of
 * those from `*first` on before `*end`. */
static enum pe_status find_pipeline(struct pe__search *search, struct pe_candidate *candidate,
                                    enum pe_dtype own, size_t *first, size_t *end)
{
    struct pe_candidate best = *candidate;
    enum pe_status status = PE_OK;
    read_phases(search, candidate);
    best.explains = PE_EXPLAINS_NOT;
    for (size_t i = *first; status == PE_OK && i < *end; i++) {
        struct pe_candidate with;
        if (!staged(search, candidate, &pipelines[i], own, &with))
            continue;
        status = pe__search_judge_one(search, &with);
        if (status == PE_OK && with.explains > best.explains)
            best = with;
        if (best.explains == PE_EXPLAINS_BITS) { /* so the others are tried in it alone */
            *first = i;
            *end = i + 1;
        }
    }
    *candidate = best;
    return status == PE_OK && best.explains == PE_EXPLAINS_BITS ? read_methods(search, candidate)
                                                                : status;
}

/* ---- How sure it is ------------------------------------------------------------------------- */

#define APART       0.0005 /* relative: numbers of three digits are further apart than twice this */
#define APART_PAIRS 4
#define APART_TIMES 8 /* positions */

/* Whether y is met to the bit by nothing but a base, which has three digits at most, and by none
 * that is a little more or less. */
static bool is_alone(struct pe__search *search, const struct pe_candidate *candidate)
{
    const struct pe_spec *spec = &candidate->spec;
    struct pe_candidate other = *candidate;
    struct pe_value *base = pe__params_value(&other.spec.params, "base");
    const struct pe_value *scaling = pe__params_value(&other.spec.params, "scaling");
    if (!base || !base->set || pe__digits(base->number) > PE__SHORT_DIGITS ||
        spec->kind->acts != PE_ROTATES || pe_spec_pairs(spec) < APART_PAIRS ||
        search->job->distinct < APART_TIMES || pe_spec_attention(spec) != 1 ||
        (scaling && scaling->set && scaling->number != 0))
        return false;
    double number = base->number;
    for (int sign = -1; sign <= 1; sign += 2) {
        other.explains = PE_EXPLAINS_NOT;
        base->number = number * (1 + sign * APART);
        if (pe__search_try_bits(search, &other) != PE_OK || other.explains == PE_EXPLAINS_BITS)
            return false;
    }
    return true;
}

/* Other numbers that fit as far as y is rounded need not be thought of where one alone gives its
 * bits. */
static void settle(struct pe__search *search)
{
    struct pe_identify *job = search->job;
    struct pe_candidate *alone = NULL;
    size_t n = 0;
    for (size_t i = 0; i < job->found_n; i++)
        if (job->found[i].explains == PE_EXPLAINS_BITS) {
            alone = &job->found[i];
            n++;
        }
    if (n != 1 || !is_alone(search, alone))
        return;
    alone->open = false;
    search->cut = INFINITY;
    search->rounds_much = false;
}

/* ---- All that fits, as far as it is rounded -------------------------------------------------- */

static enum pe_status find_pipelines(struct pe__search *search, enum pe_dtype own)
{
    struct pe_identify *job = search->job;
    enum pe_status status = PE_OK;
    size_t first = 0, end = PIPELINES_N;
    for (size_t i = 0; status == PE_OK && i < job->found_n; i++)
        if (job->found[i].explains != PE_EXPLAINS_NOT)
            status = find_pipeline(search, &job->found[i], own, &first, &end);
    return status;
}

/* By frequencies of rules, the plainest first. */
static enum pe_status search_rounded(struct pe__search *search, const struct rounding *rounding)
{
    enum pe_status status = PE_OK;
    for (int rules = PE__RULES_PLAIN; status == PE_OK && rules <= PE__RULES_BLENDS; rules++) {
        pe__search_limit(search, rounding->dtype);
        search->noise.drift = rounding->drift;
        search->library = rounding->library;
        status = pe__search_pairs(search, (enum pe__rules)rules);
        pe__search_limit(search, search->job->dtype);
        if (status == PE_OK)
            status = find_pipelines(search, rounding->dtype);
        if (pe__search_is_explained(search))
            break;
    }
    return status;
}

/* What was found before is left as it was, unless something explains y now. */
static enum pe_status try_rounding(struct pe__search *search, const struct rounding *rounding)
{
    struct pe_identify *job = search->job, before = *job;
    double cut = search->cut;
    job->found_n = 0;
    enum pe_status status = search_rounded(search, rounding);
    if (pe__search_is_explained(search)) {
        pe_identify_release(&before);
        search->rounds_much = rounding->dtype != PE_F32;
        settle(search);
        return status;
    }
    before.tried = job->tried;
    pe_identify_release(job);
    *job = before;
    search->cut = cut;
    return status;
}

enum pe_status pe__search_rounded(struct pe__search *search)
{
    enum pe_dtype dtype = search->job->dtype;
    enum pe_status status = PE_OK;
    for (size_t i = 0; status == PE_OK && i < sizeof roundings / sizeof *roundings; i++) {
        if (roundings[i].dtype == PE_F32 ? dtype == PE_F64 : dtype <= roundings[i].dtype)
            status = try_rounding(search, &roundings[i]);
        if (pe__search_is_explained(search))
            break;
    }
    return status;
}

/* ---- What is explained already --------------------------------------------------------------- */

#define NAMED_MAX 4 /* rivals that are tried */

/* One of them; it stays as it is unless some pipeline gives the bits. */
static enum pe_status name_stages(struct pe__search *search, struct pe_candidate *candidate)
{
    enum pe_status status = PE_OK;
    struct pe_candidate with;
    for (size_t i = 0; status == PE_OK && i < PIPELINES_N; i++) {
        if (!staged(search, candidate, &pipelines[i], search->job->dtype, &with))
            continue;
        status = pe__search_try_bits(search, &with);
        if (status != PE_OK || with.explains != PE_EXPLAINS_BITS)
            continue;
        *candidate = with;
        return read_methods(search, candidate);
    }
    return status;
}

enum pe_status pe__search_name_stages(struct pe__search *search)
{
    struct pe_identify *job = search->job;
    size_t n = job->rivals_n < NAMED_MAX ? job->rivals_n : NAMED_MAX;
    enum pe_status status = PE_OK;
    for (size_t i = 0; status == PE_OK && i < n; i++)
        if (job->found[i].explains == PE_EXPLAINS_LIMITS && job->found[i].twist != PE_TWIST_SWAPPED)
            status = name_stages(search, &job->found[i]);
    for (size_t i = 1; i < n; i++) /* the bits come first */
        if (job->found[i].explains > job->found[0].explains) {
            struct pe_candidate at = job->found[i];
            job->found[i] = job->found[0];
            job->found[0] = at;
        }
    return status;
}
