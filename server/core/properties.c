// SPDX-License-Identifier: Apache-2.0
/*
 * properties.c: what one wishes of an encoding, each wish a row: what it means, which kinds it has
 * a meaning for, and the function that measures it.
 */
#include "properties.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Of all kinds, bits 1 << enum pe_acts. */
#define ALL   (1u << PE_ACTS_NOT | 1u << PE_ADDS | 1u << PE_ROTATES | 1u << PE_BIASES)
#define CODED (1u << PE_ADDS | 1u << PE_ROTATES)

/* ---- Verdicts ----------------------------------------------------------------------------- */

void pe__judge(struct pe_property_found *found, bool holds)
{
    found->verdict = holds ? PE_HOLDS : PE_FAILS;
}

void pe__without_meaning(struct pe_property_found *found, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(found->reason, sizeof found->reason, format, list);
    va_end(list);
    found->verdict = PE_NO_MEANING;
}

/* ---- The rows ----------------------------------------------------------------------------- */

#define NO_CODE   "nothing is added or rotated: there is no code"
#define NO_VECTOR "a bias belongs to a distance: both ends may shift without a change"

static const struct {
    struct pe_wish_row row;
    unsigned of; /* kinds that it has a meaning for, */
    const char *otherwise;
    void (*measure)(struct pe__measuring *m, struct pe_property_found *found);
} wishes[PE_WISHES_N] = {
    [PE_WISH_UNIQUE] = {{"unique",
                         "the smallest distance between the codes of two positions is not 0",
                         "every position has a code of its own",
                         "two positions cannot be told apart",
                         {"smallest_distance", "first_position", "second_position"}},
                        ALL,
                        NULL,
                        pe__measure_unique},
    [PE_WISH_BOUNDED] = {{"bounded",
                          "no value is larger than 4, as few of content with variance 1 are",
                          "values stay as small as content",
                          "values drown the content",
                          {"largest_value", "shortest_code", "longest_code"}},
                         ALL,
                         NULL,
                         pe__measure_bounded},
    [PE_WISH_LENGTH_INDEPENDENT] = {{"length_independent",
                                     "codes do not change when the sequence gets twice as long",
                                     "a position has the same code in every sequence",
                                     "a position's code depends on the length of the sequence",
                                     {"largest_change", "length"}},
                                    ALL,
                                    NULL,
                                    pe__measure_length_independent},
    [PE_WISH_LINEAR_SHIFT] = {{"linear_shift",
                               "the best linear map from codes at p to codes at p + 1, 7 and 64 "
                               "leaves at most a millionth",
                               "a shift of position is one linear map",
                               "no linear map shifts all positions",
                               {"residual_1", "residual_7", "residual_64"}},
                              CODED,
                              NULL,
                              pe__measure_linear_shift},
    [PE_WISH_EXTRAPOLATES] = {{"extrapolates",
                               "positions have a value up to 2^53",
                               "far positions have a value too",
                               "beyond the last position there is no value",
                               {"last_position", "beyond_with_value", "beyond_trained"}},
                              ALL,
                              NULL,
                              pe__measure_extrapolates},
    [PE_WISH_DETERMINISTIC] = {{"deterministic",
                                "computed twice, one by one and backwards, no bit differs",
                                "the same position has the same code every time",
                                "the same position has several codes",
                                {"differences"}},
                               ALL,
                               NULL,
                               pe__measure_deterministic},
    [PE_WISH_DECAY] = {{"decay",
                        "the line that fits the mean score of two codes (or the bias) against "
                        "their distance falls by 0.1 or more",
                        "scores fall with the distance",
                        "scores do not fall with the distance",
                        {"slope_per_position", "nearest", "farthest"}},
                       CODED | 1u << PE_BIASES,
                       NO_CODE,
                       pe__measure_decay},
    [PE_WISH_RELATIVE] = {{"relative",
                           "q.k at equal distance is the same from the positions 0, 8 and 24",
                           "equal distances score equally",
                           "equal distances do not score equally, so absolute position leaks",
                           {"spread", "at_offset", "largest_score"}},
                          ALL,
                          NULL,
                          pe__measure_relative},
    [PE_WISH_KEEPS_NORM] = {{"keeps_norm",
                             "encoded vectors are as long as before",
                             "vectors keep their length",
                             "vectors change their length",
                             {"smallest_ratio", "largest_ratio"}},
                            ALL,
                            NULL,
                            pe__measure_keeps_norm},
    [PE_WISH_DIMENSIONS] = {{"dimensions",
                             "positions have two or more axes",
                             "positions have several axes",
                             "positions have one axis",
                             {"axes"}},
                            ALL,
                            NULL,
                            pe__measure_dimensions},
    [PE_WISH_LOW_PRECISION] = {{"low_precision",
                                "codes rounded to bf16 are still different ones",
                                "codes stay apart in bf16",
                                "bf16 makes one code of two",
                                {"smallest_distance", "first_position", "second_position"}},
                               ALL,
                               NULL,
                               pe__measure_low_precision},
};

const struct pe_wish_row *pe_wish_row(enum pe_wish wish)
{
    return &wishes[wish].row;
}

/* ---- All of them -------------------------------------------------------------------------- */

size_t pe_properties_work(const struct pe_spec *spec, size_t n)
{
    size_t width = pe__code_width(spec), pairs, fit = 0, all;
    if (width < n && __builtin_mul_overflow(n * width, 12 * width, &fit))
        return SIZE_MAX;
    if (__builtin_mul_overflow(n * width, 3 * n, &pairs) ||
        __builtin_add_overflow(pairs, fit, &all))
        return SIZE_MAX;
    return all;
}

static bool init(struct pe__measuring *m, struct pe_properties *job)
{
    const struct pe_spec *spec = &job->plan->spec;
    *m = (struct pe__measuring){.job = job, .coding = {job->plan, 0, job->q, job->k}};
    m->at = calloc(job->n, sizeof *m->at);
    for (size_t i = 0; i < job->n; i++) {
        job->decay[i] = NAN;
        m->coding.last = fmax(m->coding.last, job->at[i] + 1);
    }
    for (size_t i = 0; m->at && i < job->n; i++)
        if (pe__has_code(&m->coding, job->at[i]))
            m->at[m->codes.n++] = job->at[i];
    m->codes.at = m->at;
    m->codes.width = pe__code_width(spec);
    m->codes.value = calloc(m->codes.n * m->codes.width + 1, sizeof *m->codes.value);
    return m->at && m->codes.value;
}

static void measure_one(struct pe__measuring *m, enum pe_wish wish)
{
    const struct pe_kind *kind = m->coding.plan->spec.kind;
    struct pe_property_found *found = &m->job->found[wish];
    *found = (struct pe_property_found){.verdict = PE_NO_MEANING};
    for (size_t i = 0; i < PE_WISH_NUMBERS_MAX; i++)
        found->number[i] = NAN;
    if (!(wishes[wish].of >> kind->acts & 1))
        pe__without_meaning(found, "%s", kind->acts == PE_BIASES ? NO_VECTOR : NO_CODE);
    else if (kind->properties & PE_CONTEXT && wish != PE_WISH_KEEPS_NORM &&
             wish != PE_WISH_DIMENSIONS)
        pe__without_meaning(found, "biases depend on the vectors of all keys between the two");
    else
        wishes[wish].measure(m, found);
}

enum pe_status pe_properties(struct pe_properties *job)
{
    struct pe__measuring m;
    enum pe_status status = init(&m, job) ? PE_OK : PE_NO_MEMORY;
    job->measured_n = m.codes.n;
    if (status == PE_OK && m.codes.n < 2)
        status = PE_INVALID_VALUE;
    bool has_codes = !(job->plan->spec.kind->properties & PE_CONTEXT);
    if (status == PE_OK && has_codes && !pe__codes_fill(&m.coding, PE_F64, &m.codes))
        status = PE_NO_MEMORY;
    for (enum pe_wish wish = 0; status == PE_OK && wish < PE_WISHES_N; wish++) {
        if (job->stop && job->stop(job->stop_context)) {
            status = PE_STOPPED;
            break;
        }
        measure_one(&m, wish);
        status = m.failed ? PE_NO_MEMORY : PE_OK;
    }
    free(m.codes.value);
    free(m.at);
    return status;
}
