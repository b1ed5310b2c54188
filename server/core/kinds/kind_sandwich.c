// SPDX-License-Identifier: Apache-2.0
/*
 * kind_sandwich.c: the inner product of two sinusoidal encodings as a bias: a sum of cosines of the
 * distance, less its largest value, divided by a number that grows with the head.
 */
#include "exact.h"
#include "frequency.h"
#include "heads.h"
#include "kind.h"
#include "rows.h"

#define HEADS_SCALE 8 /* the last head's sum is divided by it */

static const struct pe_param rows[] = {
    PE__ROW_HEADS, PE__ROW_HEAD, PE__ROW_DIM(2, 2), PE__ROW_BASE, PE__ROW_SHIFT,
};

static size_t cosines_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) / 2;
}

/* From k = 1 on, so that no cosine turns by a radian per position. */
static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    (void)scaled;
    pe__frequency(pe_spec_number(spec, "base"), 2 * (k + 1), pe_spec_dim(spec), 1, w);
}

/* No channel turns: the cosines are of distances. */
static size_t pairs_n(const struct pe_spec *spec)
{
    (void)spec;
    return 0;
}

static struct pe__pos distance_of(const struct pe__bias_at *at)
{
    struct pe__dd distance = pe__two_sum(at->query, -at->key);
    return (struct pe__pos){distance.hi, distance.lo};
}

/* What the sum is divided by is 8 (head + 1) / heads. */
static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct pe__pos distance = distance_of(at);
    size_t n = cosines_n(&plan->spec);
    struct pe__ball sum = pe__ball_exact(-(double)n);
    struct pe__walk walk = {.valid = false};
    struct pe__planes planes;
    if (distance.hi == 0)
        return pe__ball_exact(0);
    for (size_t first = 0; first < n; first += PE__BLOCK) {
        size_t some = n - first < PE__BLOCK ? n - first : PE__BLOCK;
        double eps = pe__cis_row(plan->cis, &walk, distance, first, some, &planes);
        walk.valid = false;
        for (size_t k = 0; k < some; k++)
            sum = pe__ball_add(sum, (struct pe__ball){planes.cos_hi[k], planes.cos_lo[k], eps});
    }
    sum = pe__ball_mul(sum, pe__ball_exact((double)pe_spec_heads(&plan->spec)));
    return pe__ball_div(sum, pe__ball_exact(HEADS_SCALE * (double)(at->head + 1)));
}

struct cosines {
    const struct pe_plan *plan;
    struct pe__pos distance;
    size_t n;
};

static void cosine_exact(const void *context, size_t k, mpfr_t y)
{
    const struct cosines *cosines = context;
    if (k < cosines->n)
        pe__cis_exact(cosines->plan->cis, cosines->distance, k, y, NULL);
    else
        mpfr_set_si(y, -(long)cosines->n, MPFR_RNDN);
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    struct cosines cosines = {plan, distance_of(at), cosines_n(&plan->spec)};
    mpfr_set_zero(y, 1);
    if (cosines.distance.hi == 0)
        return;
    pe__exact_sum(cosine_exact, &cosines, cosines.n + 1, y);
    mpfr_mul_ui(y, y, pe_spec_heads(&plan->spec), MPFR_RNDN);
    mpfr_div_ui(y, y, HEADS_SCALE * (at->head + 1), MPFR_RNDN);
}

static const struct pe_reference references[] = {
    {"Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis", 2023,
     "arXiv:2212.10356"},
    {0},
};

static const struct pe_library libraries[] = {
    {"KERPLE", "GPT-NeoX, beside its own kernels"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=sandwich&dim=64&heads=8&positions=0:4",
    "/v1/scores?kind=sandwich&heads=8&head=7",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = pe__heads_check,
    .frequencies_n = cosines_n,
    .frequency = frequency,
    .pairs_n = pairs_n,
    .bias = bias,
    .bias_exact = bias_exact,
};

const struct pe_kind pe__kind_sandwich = {
    .name = "sandwich",
    .title = "Sandwich: sinusoidal inner products as a bias",
    .formula = "score(m,n) = q.k + (sum_k cos((m-n) base^(-2k/dim)) - dim/2) heads/(8(h+1)), "
               "k = 1..dim/2",
    .help = "Adds to each attention score what two sinusoidal encodings would have as their inner "
            "product, less dim/2, so that the query's own place has 0. No parameter is learned. "
            "The heads divide it by 8/heads, 16/heads, ... 8.",
    .outside = "Without end: the sum goes on to swing around the value of no agreement.",
    .acts = PE_BIASES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_UNBOUNDED,
    .facets = 1u << PE_FACET_BIAS,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
