// SPDX-License-Identifier: Apache-2.0
/*
 * properties_measure.c: what codes of positions show: whether they differ, how large they are, what
 * they depend on, how far they reach.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "properties.h"

#define CONTENT_SIZE 4.0  /* largest element of content with variance 1, nearly always */
#define LINEAR_MOST  1e-6 /* what a linear map may leave */

/* ---- Codes -------------------------------------------------------------------------------- */

static void set_distance(const struct pe__measuring *m, struct pe_property_found *found,
                         const struct pe__codes_of *codes)
{
    struct pe__distance smallest = pe__smallest_distance(codes);
    pe__set(found, 0, smallest.length);
    pe__set(found, 1, m->at[smallest.first]);
    pe__set(found, 2, m->at[smallest.second]);
    pe__judge(found, smallest.length > 0);
}

void pe__measure_unique(struct pe__measuring *m, struct pe_property_found *found)
{
    set_distance(m, found, &m->codes);
}

/* Memory for other codes of the same positions. */
static bool codes_like(struct pe__measuring *m, struct pe__codes_of *codes)
{
    *codes = m->codes;
    codes->value = calloc(codes->n * codes->width + 1, sizeof *codes->value);
    m->failed |= !codes->value;
    return codes->value != NULL;
}

void pe__measure_low_precision(struct pe__measuring *m, struct pe_property_found *found)
{
    struct pe__codes_of rounded;
    if (codes_like(m, &rounded) && pe__codes_fill(&m->coding, PE_BF16, &rounded))
        set_distance(m, found, &rounded);
    else
        m->failed = true;
    free(rounded.value);
}

void pe__measure_bounded(struct pe__measuring *m, struct pe_property_found *found)
{
    double largest = 0, shortest = INFINITY, longest = 0;
    for (size_t i = 0; i < m->codes.n; i++) {
        const double *code = m->codes.value + i * m->codes.width;
        double norm = pe_norm(PE_F64, code, m->codes.width);
        shortest = fmin(shortest, norm);
        longest = fmax(longest, norm);
        for (size_t c = 0; c < m->codes.width; c++)
            largest = fmax(largest, fabs(code[c]));
    }
    pe__set(found, 0, largest);
    pe__set(found, 1, shortest);
    pe__set(found, 2, longest);
    pe__judge(found, largest <= CONTENT_SIZE);
}

/* One position by itself, from the last to the first, as other requests would ask for them. */
void pe__measure_deterministic(struct pe__measuring *m, struct pe_property_found *found)
{
    double *code = calloc(m->codes.width + 1, sizeof *code);
    size_t differ = 0;
    m->failed |= !code;
    for (size_t i = m->codes.n; code && i-- > 0;) {
        struct pe__codes_of one = {1, m->codes.width, &m->at[i], code, NULL};
        m->failed |= !pe__codes_fill(&m->coding, PE_F64, &one);
        for (size_t c = 0; c < one.width; c++)
            differ += memcmp(&code[c], &m->codes.value[i * one.width + c], sizeof *code) != 0;
    }
    free(code);
    pe__set(found, 0, (double)differ);
    pe__judge(found, differ == 0);
}

/* ---- The length of the sequence ----------------------------------------------------------- */

/* Parameters that are the sequence's length, or follow it. */
static const char *const lengths[] = {"context", "normalize_by", "length"};

static double largest_change(const struct pe__codes_of *a, const struct pe__codes_of *b)
{
    double largest = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t c = 0; c < a->width && (!b->valid || b->valid[i]); c++)
            largest = fmax(largest, fabs(a->value[i * a->width + c] - b->value[i * a->width + c]));
    return largest;
}

/* The change of the codes when they are made in another way. */
static double change_with(struct pe__measuring *m, const struct pe__coding *other)
{
    struct pe__codes_of codes;
    double change = 0;
    if (codes_like(m, &codes) && pe__codes_fill(other, PE_F64, &codes))
        change = largest_change(&m->codes, &codes);
    else
        m->failed = true;
    free(codes.value);
    return change;
}

/* The same for twice the length that a parameter says. */
static double change_with_length(struct pe__measuring *m, size_t row)
{
    const struct pe_plan *plan = m->coding.plan;
    struct pe_spec spec = plan->spec;
    struct pe_positions at = {.axes = pe_spec_axes(&spec), .n = m->codes.n};
    struct pe_plan *other;
    for (size_t axis = 0; axis < at.axes; axis++)
        at.at[axis] = m->at;
    spec.params.value[row].number *= 2;
    if (pe_plan_new(&spec, &at, &other) != PE_OK) {
        m->failed = true;
        return 0;
    }
    struct pe__coding coding = m->coding;
    coding.plan = other;
    double change = change_with(m, &coding);
    pe_plan_free(other);
    return change;
}

void pe__measure_length_independent(struct pe__measuring *m, struct pe_property_found *found)
{
    const struct pe_spec *spec = &m->coding.plan->spec;
    double change = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int row = pe_params_find(&spec->params, lengths[i], strlen(lengths[i]));
        if (row < 0 || !spec->params.value[row].set || !pe_params_reads(&spec->params, (size_t)row))
            continue;
        pe__set(found, 1, spec->params.value[row].number);
        change = fmax(change, change_with_length(m, (size_t)row));
    }
    if (spec->kind->counts_pixels) {
        struct pe__coding coding = m->coding;
        coding.last *= 2;
        change = fmax(change, change_with(m, &coding));
    }
    pe__set(found, 0, change);
    pe__judge(found, change == 0);
}

/* ---- Positions that are shifted, and far ones --------------------------------------------- */

/* The codes at all positions that have one there and k further on, from and to. */
static double shift_residual(struct pe__measuring *m, double k)
{
    struct pe__codes_of from, to;
    double *shifted = calloc(m->codes.n, sizeof *shifted), residual = NAN;
    bool made = codes_like(m, &from);
    made = codes_like(m, &to) && made && shifted;
    size_t n = 0;
    for (size_t i = 0; made && i < m->codes.n; i++) {
        if (!pe__has_code(&m->coding, m->at[i] + k))
            continue;
        memcpy(from.value + n * from.width, m->codes.value + i * from.width,
               from.width * sizeof *from.value);
        shifted[n++] = m->at[i] + k;
    }
    if (made) {
        from.n = to.n = n;
        to.at = shifted;
        made = pe__codes_fill(&m->coding, PE_F64, &to);
        residual = made && n > 0 ? pe__linear_residual(&from, &to, &m->failed) : NAN;
    }
    m->failed |= !made;
    free(shifted);
    free(to.value);
    free(from.value);
    return residual;
}

void pe__measure_linear_shift(struct pe__measuring *m, struct pe_property_found *found)
{
    static const double shifts[] = {1, 7, 64};
    double worst = NAN;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts && !m->failed; i++) {
        pe__set(found, i, shift_residual(m, shifts[i]));
        worst = fmax(worst, found->number[i]);
    }
    if (isnan(worst))
        pe__without_meaning(
            found,
            "%zu codes are too few to tell a linear map of %zu channels: ask for more "
            "positions, or fewer channels",
            m->codes.n, m->codes.width);
    else
        pe__judge(found, worst <= LINEAR_MOST);
}

void pe__measure_extrapolates(struct pe__measuring *m, struct pe_property_found *found)
{
    const struct pe_properties *job = m->job;
    size_t beyond = 0, valid = 0;
    for (size_t i = 0; i < job->n; i++)
        if (job->at[i] >= job->trained) {
            beyond++;
            valid += pe__has_code(&m->coding, job->at[i]);
        }
    double has = m->at[0], last = PE_POSITION_MAX;
    for (size_t i = 0; i < m->codes.n; i++)
        has = fmax(has, m->at[i]);
    struct pe__coding far = m->coding;
    far.last = PE_POSITION_MAX;
    while (!pe__has_code(&far, last) && last - has > 1) { /* has has a value, last has none */
        double middle = floor(has + (last - has) / 2);
        if (pe__has_code(&far, middle))
            has = middle;
        else
            last = middle;
    }
    double end = pe__has_code(&far, last) ? last : has;
    pe__set(found, 0, end);
    pe__set(found, 1, (double)valid);
    pe__set(found, 2, (double)beyond);
    pe__judge(found, end == PE_POSITION_MAX);
}

void pe__measure_dimensions(struct pe__measuring *m, struct pe_property_found *found)
{
    const struct pe_spec *spec = &m->coding.plan->spec;
    size_t axes = spec->kind->counts_pixels ? spec->kind->axes : pe_spec_axes(spec);
    pe__set(found, 0, (double)axes);
    pe__judge(found, axes > 1);
}
