// SPDX-License-Identifier: Apache-2.0
/*
 * kind_shaw.c: relative position representations: a learned vector for each distance up to a
 * largest one, which is added to the key; so the score has its product with the query more.
 */
#include <math.h>

#include "dots.h"
#include "heads.h"
#include "kind.h"
#include "lookup.h"
#include "rows.h"

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    PE__ROW_DIM(1, 0),
    {.name = "max_distance",
     .aliases = "clip max_relative_position",
     .type = PE_INT,
     .min = 1,
     .max = PE__TABLE_MAX / 2,
     .fallback = "16",
     .help = "Distance from which on all have the same vector, on either side."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

static void table_size(const struct pe_spec *spec, size_t *rows_n, size_t *cols)
{
    *rows_n = 2 * (size_t)pe_spec_number(spec, "max_distance") + 1;
    *cols = pe_spec_dim(spec);
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    static const char *const sizes[] = {"max_distance", "dim", NULL};
    bool ok = pe__lookup_check(spec, faults);
    return pe__heads_check(spec, faults) && ok && pe__lookup_fits(spec, sizes, faults);
}

/* The row of the table: clip(n - m) from 0 on. */
static int64_t index_of(const struct pe_plan *plan, double m, double n)
{
    double most = pe_spec_number(&plan->spec, "max_distance");
    return (int64_t)(fmin(fmax(n - m, -most), most) + most);
}

static struct pe__dots product(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    size_t dim = pe_spec_dim(&plan->spec);
    size_t row = (size_t)index_of(plan, at->query, at->key);
    return (struct pe__dots){dim, 1, {at->q}, {pe__lookup_doubles(plan) + row * dim}};
}

static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct pe__dots dots = product(plan, at);
    return pe__dots_ball(&dots);
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    struct pe__dots dots = product(plan, at);
    pe__dots_exact(&dots, y);
}

static const struct pe_reference references[] = {
    {"Self-Attention with Relative Position Representations", 2018, "arXiv:1803.02155"},
    {0},
};

static const struct pe_library libraries[] = {
    {"tensor2tensor", "keys as here, values with a table of their own"},
    {"transformers", "wav2vec2-BERT, with 64 distances to the left and 8 to the right"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=shaw&max_distance=2&positions=0:5",
    "/v1/scores?kind=shaw&table_std=0.5",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = pe__heads_whole,
    .bias = bias,
    .bias_exact = bias_exact,
    .bucket = index_of,
    .table_size = table_size,
    .constants = pe__lookup_constants,
};

const struct pe_kind pe__kind_shaw = {
    .name = "shaw",
    .title = "Relative position representations (Shaw et al.)",
    .formula = "score(m,n) = q_m.(k_n + table[clip(n-m, -max_distance, max_distance) + "
               "max_distance])",
    .help = "Adds to each attention score the product of the query and a learned vector for the "
            "distance. The table [2 max_distance + 1, dim] is shared by the heads; it is posted, "
            "or drawn from table_seed. What it adds to values is another table and not given here.",
    .outside = "All distances beyond max_distance share a vector, so longer texts have one that "
               "was trained.",
    .acts = PE_BIASES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_LEARNED | PE_UNBOUNDED | PE_CONTENT,
    .facets = 1u << PE_FACET_INDEX,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .table_cols = "dim",
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
