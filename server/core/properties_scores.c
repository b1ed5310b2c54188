// SPDX-License-Identifier: Apache-2.0
/*
 * properties_scores.c: what scores show of an encoding, and lengths of vectors: whether scores fall
 * with the distance and depend on it alone, whether vectors keep their length.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "properties.h"

#define RELATIVE_MOST 1e-12       /* spread, of the largest score */
#define NORM_MOST     1e-12       /* change of a length */
#define DECAY_LEAST   0.1         /* fall over all distances */
#define ANCHORS_N     ((size_t)3) /* of scores: 0, 8, 24 */
#define OFFSETS_N     ((size_t)32)
#define WORK_ALIGN    ((size_t)64)

/* ---- Scores ------------------------------------------------------------------------------- */

static bool are_even(const double *at, size_t n)
{
    for (size_t i = 2; i < n; i++)
        if (at[i] - at[i - 1] != at[1] - at[0])
            return false;
    return n > 2 && at[1] > at[0];
}

/* Of biases the code is the score already. */
static void bias_scores(const struct pe__measuring *m)
{
    for (size_t i = 0; i < m->codes.n; i++)
        m->job->decay[i] = m->codes.value[i];
}

/* The mean over the positions of code.code, i steps apart; of those that both have one. */
static bool code_scores(struct pe__measuring *m)
{
    size_t n = m->codes.n, width = m->codes.width;
    double *at = calloc(2 * n, sizeof *at), *value = calloc(2 * n * width, sizeof *value);
    bool *valid = calloc(2 * n, sizeof *valid);
    struct pe__codes_of all = {2 * n, width, at, value, valid};
    bool made = at && value && valid;
    for (size_t i = 0; made && i < 2 * n; i++) {
        at[i] = m->at[0] + (double)i * (m->at[1] - m->at[0]);
        valid[i] = pe__has_code(&m->coding, at[i]);
    }
    made = made && pe__codes_fill(&m->coding, PE_F64, &all);
    for (size_t d = 0; made && d < n; d++) {
        double sum = 0;
        size_t pairs = 0;
        for (size_t i = 0; i < n; i++)
            if (valid[i] && valid[i + d]) {
                sum += pe__codes_dot(value + i * width, value + (i + d) * width, width);
                pairs++;
            }
        m->job->decay[d] = pairs ? sum / (double)pairs : NAN;
    }
    free(valid);
    free(value);
    free(at);
    m->failed |= !made;
    return made;
}

void pe__measure_decay(struct pe__measuring *m, struct pe_property_found *found)
{
    const struct pe_spec *spec = &m->coding.plan->spec;
    double *decay = m->job->decay;
    size_t n = m->codes.n;
    if (!are_even(m->at, n)) {
        pe__without_meaning(found,
                            "distances need three or more positions with one step between them");
        return;
    }
    bool is_bias = spec->kind->acts == PE_BIASES;
    if (is_bias)
        bias_scores(m);
    else if (!code_scores(m))
        return;
    double own = decay[0], step = m->at[1] - m->at[0];
    for (size_t i = 0; !is_bias && own != 0 && i < n; i++)
        decay[i] /= own;
    double *distance = calloc(n + 1, sizeof *distance);
    m->failed |= !distance;
    for (size_t i = 0; distance && i < n; i++)
        distance[i] = (double)i * step;
    double slope = distance ? pe__slope(distance + 1, decay + 1, n - 1) : 0;
    free(distance);
    pe__set(found, 0, slope);
    pe__set(found, 1, decay[1]);
    pe__set(found, 2, decay[n - 1]);
    pe__judge(found, slope * (double)(n - 2) * step <= -DECAY_LEAST);
}

/* Whether all places of these scores have a value; else the reason. */
static bool scores_are_defined(struct pe__measuring *m, struct pe_property_found *found)
{
    const struct pe_spec *spec = &m->coding.plan->spec;
    struct pe_faults faults = {0};
    double place = 24 + OFFSETS_N - 1;
    struct pe_positions last = {.axes = 1, .n = 1, .at = {&place}};
    bool ok = pe_scores_check(spec, &faults);
    ok = ok && pe_positions_check(spec, &last, "positions", &faults);
    if (!ok)
        pe__without_meaning(found, "%s", faults.item[0].detail);
    return ok;
}

/* What rounding took from each is put back before. */
static double difference(double a, double a_rest, double b, double b_rest)
{
    struct pe__dd d = pe__two_sum(a, -b);
    return d.hi + (d.lo + (a_rest - b_rest));
}

static void set_spread(struct pe_property_found *found, const double *scores, const double *rest)
{
    double spread = 0, at_offset = 0, largest = 0;
    for (size_t o = 0; o < OFFSETS_N; o++) {
        size_t min = o, max = o;
        for (size_t i = o; i < ANCHORS_N * OFFSETS_N; i += OFFSETS_N) {
            min = scores[i] < scores[min] ? i : min;
            max = scores[i] > scores[max] ? i : max;
            largest = fmax(largest, fabs(scores[i]));
        }
        double width = difference(scores[max], rest[max], scores[min], rest[min]);
        at_offset = width > spread ? (double)o : at_offset;
        spread = fmax(spread, width);
    }
    pe__set(found, 0, spread);
    pe__set(found, 1, at_offset);
    pe__set(found, 2, largest);
    pe__judge(found, spread <= RELATIVE_MOST * largest);
}

void pe__measure_relative(struct pe__measuring *m, struct pe_property_found *found)
{
    static const double anchors[ANCHORS_N] = {0, 8, 24};
    const struct pe_spec *spec = &m->coding.plan->spec;
    double offsets[OFFSETS_N], scores[ANCHORS_N * OFFSETS_N], rest[ANCHORS_N * OFFSETS_N];
    double norms[ANCHORS_N * (1 + OFFSETS_N)];
    if (!scores_are_defined(m, found))
        return;
    for (size_t o = 0; o < OFFSETS_N; o++)
        offsets[o] = (double)o;
    int head = pe_params_find(&spec->params, "head", strlen("head"));
    size_t dim = pe_spec_dim(spec) ? pe_spec_dim(spec) : m->job->dim;
    struct pe_scores job = {.plan = m->coding.plan,
                            .q = m->job->q,
                            .k = m->job->k,
                            .vectors_n = 1,
                            .dim = dim,
                            .anchors = anchors,
                            .offsets = offsets,
                            .anchors_n = ANCHORS_N,
                            .offsets_n = OFFSETS_N,
                            .head = head >= 0 ? (size_t)spec->params.value[head].number : 0,
                            .scale = 1,
                            .scores = scores,
                            .rest = rest,
                            .norm_q_after = norms,
                            .norm_k_after = norms + ANCHORS_N};
    if (pe_scores(&job) == PE_OK)
        set_spread(found, scores, rest);
    else
        m->failed = true;
}

/* ---- Lengths of vectors ------------------------------------------------------------------- */

static void ratios_of_norms(struct pe__measuring *m, double *x, double *y, void *work,
                            double *least, double *most)
{
    const struct pe_spec *spec = &m->coding.plan->spec;
    struct pe_view in = {.dtype = PE_F64, .batches = 1, .heads = 1, .tokens = 1};
    struct pe_view out = in;
    in.data = x;
    in.dim = pe_spec_dim(spec);
    out.data = y;
    out.dim = pe_spec_width(spec);
    double before = pe_norm(PE_F64, x, in.dim);
    for (size_t i = 0; i < m->codes.n; i++) {
        struct pe_positions at = {.axes = pe_spec_axes(spec), .n = 1};
        for (size_t axis = 0; axis < at.axes; axis++)
            at.at[axis] = axis >= 2 && spec->kind->counts_pixels ? &m->coding.last : &m->at[i];
        struct pe_apply apply = {.plan = m->coding.plan,
                                 .positions = &at,
                                 .positions_n = 1,
                                 .in = &in,
                                 .out = &out,
                                 .work = work};
        pe_apply(&apply);
        double ratio = pe_norm(PE_F64, y, out.dim) / before;
        *least = fmin(*least, ratio);
        *most = fmax(*most, ratio);
    }
}

void pe__measure_keeps_norm(struct pe__measuring *m, struct pe_property_found *found)
{
    const struct pe_spec *spec = &m->coding.plan->spec;
    double least = INFINITY, most = 0;
    if (spec->kind->acts == PE_BIASES) { /* which leave the vectors alone */
        least = most = 1;
    } else {
        size_t dim = pe_spec_dim(spec), bytes = pe_apply_work_bytes(m->coding.plan);
        double *x = calloc(dim + pe_spec_width(spec), sizeof *x);
        void *work = aligned_alloc(WORK_ALIGN, (bytes / WORK_ALIGN + 1) * WORK_ALIGN);
        if (x && work) {
            memcpy(x, m->job->q, dim * sizeof *x);
            ratios_of_norms(m, x, x + dim, work, &least, &most);
        }
        m->failed |= !x || !work;
        free(work);
        free(x);
    }
    pe__set(found, 0, least);
    pe__set(found, 1, most);
    pe__judge(found, fmax(fabs(least - 1), fabs(most - 1)) <= NORM_MOST);
}
