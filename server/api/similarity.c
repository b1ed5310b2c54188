// SPDX-License-Identifier: Apache-2.0
/*
 * similarity.c: GET /v1/similarity: how much alike an encoding makes every place and every other,
 * and how that decays with the distance.
 */
#include <math.h>

#include "keys.h"
#include "pairwise.h"

static const struct pe_param keys[] = {
    {"positions", NULL, PE_TEXT, 0, 0, 0, 0, "0:64", NULL, NULL,
     "Places: 7, 0,8,24, 0:128, 0:128:4, -4:4, 0:2:0.25, 2^0:2^20; of kinds with several axes a "
     "list per axis between ;."},
    {"k_positions", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "The places that they are compared with, where these are others: positions=0 and "
     "k_positions=0:1024 give one row, the similarity by the distance."},
    {"value", NULL, PE_ENUM, 0, 0, 0, 0, "similarity", "similarity bound", NULL,
     "similarity: of adding kinds the dot product of the two codes, of rotating kinds the mean of "
     "cos over the pairs. bound (rotating, one axis): RoFormer's bound of how scores decay, the "
     "mean over i of |sum of the first i cis(distance w)|."},
    {"normalize", NULL, PE_ENUM, 0, 0, 0, 0, "none", "none cosine", NULL,
     "Divide the dot product by the lengths of the codes (cosine); rotating kinds do so anyway."},
    KEY_STAGES,
};

enum value { VALUE_SIMILARITY, VALUE_BOUND };

struct own {
    struct position_lists queries, keys;
    bool same; /* places are compared with each other */
    enum value value;
    bool cosine;
};

/* ---- Reading ------------------------------------------------------------------------------- */

static bool bound_fits(struct job *job)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    static const char *const normalize[] = {"normalize", NULL};
    bool fits = spec->kind->acts == PE_ROTATES && pe_spec_axes(spec) == 1 &&
                !pe_spec_is_given(spec) && pe_spec_turns(spec);
    if (!fits)
        err_add(&job->request->err, ERR_invalid_value, "value", "for example kind=rope",
                "the bound is of rotations by one angle a pair, on one axis; %s is none",
                job->specs[0].compact);
    return job_unread(job, normalize, "the bound is one of sums of cos and sin as they are") &&
           fits;
}

/* Stages make places that are not told by their distance, which the bound is of. */
static bool read_stages(struct job *job, const struct own *own)
{
    return job_stages(job, own->value == VALUE_BOUND ? 0 : PE_STAGES_OF_PLANS, PE_F64);
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own || !job_specs_finish(job))
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    own->value = (enum value)job_key(job, "value")->number;
    own->cosine = job_key_is(job, "normalize", "cosine");
    own->same = !job_key(job, "k_positions")->set;
    bool ok = own->value != VALUE_BOUND || bound_fits(job);
    ok = job_positions(job, "positions", spec, 1, &own->queries) && ok;
    own->keys = own->queries;
    ok = (own->same || job_positions(job, "k_positions", spec, 1, &own->keys)) && ok;
    if (!ok || !read_stages(job, own))
        return false;
    size_t shape[] = {own->queries.list->n, own->keys.list->n};
    struct output *output =
        job_output(job, own->value == VALUE_BOUND ? "bound" : "similarity", PE_F64, 2, shape);
    output->axes[0] = job_position_axis(&own->queries);
    output->axes[1] = job_position_axis(&own->keys);
    output->axes[1].name = "key";
    return pairwise_similar(job, shape[0], shape[1], "positions") &&
           job_positions_check(job, &own->queries) &&
           (own->same || job_positions_check(job, &own->keys)) &&
           pairwise_plan_for(job, own->queries.list, own->keys.list);
}

/* ---- The decay ----------------------------------------------------------------------------- */

/* Mean by distance, where places lie a constant step apart. */
struct decay {
    size_t n; /* 0: they do not */
    double step;
    double *distance, *mean;
};

/* The step of a list on one axis, 0 where it has none. */
static double step_of(const struct pe_positions *list)
{
    const double *at = list->at[0];
    if (list->axes != 1 || list->n < 2)
        return 0;
    for (size_t i = 2; i < list->n; i++)
        if (at[i] - at[i - 1] != at[1] - at[0])
            return 0;
    return fabs(at[1] - at[0]);
}

static bool decay_of(struct job *job, const struct own *own, const double *matrix,
                     struct decay *decay)
{
    const struct pe_positions *list = own->queries.list;
    *decay = (struct decay){.step = own->same ? step_of(list) : 0};
    if (decay->step == 0)
        return true;
    size_t n = list->n;
    double *at = job_alloc(job, n, sizeof *at);
    decay->distance = job_alloc(job, n, sizeof *decay->distance);
    decay->mean = job_alloc(job, n, sizeof *decay->mean);
    if (!at || !decay->distance || !decay->mean)
        return false;
    for (size_t d = 0; d < n; d++) { /* the matrix is symmetric */
        if (job_expired(job))
            return false;
        for (size_t i = 0; i + d < n; i++)
            at[i] = matrix[i * n + i + d];
        decay->distance[d] = (double)d * decay->step;
        decay->mean[d] = pe_mean(at, n - d);
    }
    decay->n = n;
    return true;
}

/* Where the mean is first at most half of what it is at distance 0; decay->n: nowhere. */
static size_t half_way(const struct decay *decay)
{
    size_t d = 0;
    while (d < decay->n && !(decay->mean[d] <= decay->mean[0] / 2))
        d++;
    return d;
}

static void decay_tell(struct job *job, const struct decay *decay)
{
    if (decay->n == 0)
        return;
    struct tree *node = tree_object(job->answer.readouts, "decay");
    size_t half = half_way(decay);
    tree_reals(node, "distance", decay->distance, decay->n);
    tree_reals(node, "mean", decay->mean, decay->n);
    if (half < decay->n)
        tree_number(node, "half_distance", decay->distance[half]);
    else
        tree_null(node, "half_distance");
}

static const char *decay_sentences(struct job *job, const struct decay *decay)
{
    struct arena *arena = &job->request->arena;
    size_t half = half_way(decay), least = 0;
    for (size_t d = 0; d < decay->n; d++)
        least = decay->mean[d] < decay->mean[least] ? d : least;
    const char *halves =
        half < decay->n
            ? arena_printf(arena, "At distance %g it is at most half of that for the first time.",
                           decay->distance[half])
            : arena_printf(arena, "Up to the last distance, %g, it stays above half of that.",
                           decay->distance[decay->n - 1]);
    if (!halves)
        return NULL;
    return arena_printf(arena,
                        "Two positions have %.6g in common at distance 0, on average, and %.6g at "
                        "distance %g.\n"
                        "%s\n"
                        "The least is %.6g, at distance %g.\n"
                        "Next: positions=0&k_positions=0:4096 gives one row, by the distance.\n",
                        decay->mean[0], decay->mean[1], decay->distance[1], halves,
                        decay->mean[least], decay->distance[least]);
}

/* ---- Computing ----------------------------------------------------------------------------- */

static bool bounds(struct job *job, const struct own *own, double *out)
{
    const struct pe_positions *queries = own->queries.list, *places = own->keys.list;
    double *distance = job_alloc(job, places->n, sizeof *distance);
    for (size_t i = 0; distance && i < queries->n; i++) {
        if (job_expired(job))
            return false;
        for (size_t j = 0; j < places->n; j++)
            distance[j] = queries->at[0][i] - places->at[0][j];
        pe_decay_bound(job_plan(job, 0), distance, places->n, out + i * places->n);
    }
    return distance != NULL;
}

static bool compute(struct job *job)
{
    const struct own *own = job->own;
    bool bound = own->value == VALUE_BOUND;
    double *out = job_output_data(job, bound ? "bound" : "similarity");
    struct decay decay;
    if (!out ||
        !(bound ? bounds(job, own, out)
                : pairwise_similarities(job, own->queries.list, own->keys.list, own->cosine, out)))
        return false;
    if (!decay_of(job, own, out, &decay))
        return false;
    decay_tell(job, &decay);
    if (job_in_words(job) && decay.n > 0)
        job->answer.text_readouts = decay_sentences(job, &decay);
    return true;
}

const struct endpoint similarity_endpoint = {
    .summary = "How much alike the encoding makes two places, and how that decays with distance.",
    .describes = "similarity",
    .schema = "SimilarityAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = 1u << PE_ADDS | 1u << PE_ROTATES,
    .takes = pairwise_takes,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
