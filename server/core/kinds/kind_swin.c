// SPDX-License-Identifier: Apache-2.0
/*
 * kind_swin.c: a learned bias for each offset of rows and columns within a window of an image, as
 * in Swin. Positions number the window's places row by row.
 */
#include <math.h>
#include <stdio.h>

#include "heads.h"
#include "kind.h"
#include "lookup.h"
#include "params.h"
#include "rows.h"
#include "value.h"

#define SIDE_MAX 256

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    {.name = "window",
     .aliases = "window_size",
     .type = PE_REALS,
     .min = 1,
     .max = SIDE_MAX,
     .multiple_of = 1,
     .fallback = "7,7",
     .help = "Rows and columns of the window."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

struct window {
    size_t height, width;
};

static struct window window_of(const struct pe_spec *spec)
{
    const struct pe_value *window = pe_params_get(&spec->params, "window");
    if (!window->set || window->list_n != 2)
        return (struct window){1, 1};
    return (struct window){(size_t)window->list[0], (size_t)window->list[1]};
}

static size_t tokens_n(const struct pe_spec *spec)
{
    struct window window = window_of(spec);
    return window.height * window.width;
}

static void table_size(const struct pe_spec *spec, size_t *rows_n, size_t *cols)
{
    struct window window = window_of(spec);
    *rows_n = (2 * window.height - 1) * (2 * window.width - 1);
    *cols = pe_spec_heads(spec);
}

static bool check_window(const struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *window = pe_params_get(&spec->params, "window");
    if (!window->set || window->list_n == 2)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "window", "for example 7,7",
                        "window must be two numbers, rows and columns; got %zu number%s",
                        window->list_n, window->list_n == 1 ? "" : "s");
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = check_window(spec, faults);
    ok = pe__lookup_check(spec, faults) && ok;
    return pe__heads_check(spec, faults) && ok;
}

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    double n = (double)tokens_n(spec), p = position.hi;
    char shown[PE__SHOWN_MAX];
    if (p == floor(p) && p >= 0 && p < n)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "there is no place %s in the window: it has 0 to %.0f",
                        pe__show_number(p, shown), n - 1);
}

/* The plan's constants: the window's sides. */
enum { HEIGHT, WIDTH, CONSTANTS_N };

static size_t constants(const struct pe_spec *spec, double *hi, double *lo)
{
    if (!hi)
        return CONSTANTS_N;
    struct window window = window_of(spec);
    hi[HEIGHT] = (double)window.height;
    hi[WIDTH] = (double)window.width;
    lo[HEIGHT] = lo[WIDTH] = 0;
    return CONSTANTS_N;
}

/* The row of the table. */
static int64_t index_of(const struct pe_plan *plan, double m, double n)
{
    int64_t height = (int64_t)plan->constant_hi[HEIGHT];
    int64_t width = (int64_t)plan->constant_hi[WIDTH];
    int64_t query = (int64_t)m, key = (int64_t)n;
    int64_t down = query / width - key / width;
    int64_t right = query % width - key % width;
    return (down + height - 1) * (2 * width - 1) + right + width - 1;
}

static size_t element(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    return (size_t)index_of(plan, at->query, at->key) * pe_spec_heads(&plan->spec) + at->head;
}

static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct pe__ball value;
    value.eps = pe__lookup(&plan->spec, element(plan, at), 1, &value.hi, &value.lo);
    return value;
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    pe__lookup_exact(&plan->spec, element(plan, at), y);
}

/* Where in the window a query stands decides which keys are beside it. */
static bool places_count(const struct pe_spec *spec)
{
    (void)spec;
    return true;
}

static const struct pe_reference references[] = {
    {"Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", 2021,
     "arXiv:2103.14030"},
    {0},
};

static const struct pe_library libraries[] = {
    {"transformers", "Swin; BEiT has three more rows for its class token"},
    {"timm", "Swin, with the same index"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=swin&window=2,2&value=index",
    "/v1/table?kind=swin&window=2,2&heads=2",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = has_position,
    .bias = bias,
    .bias_exact = bias_exact,
    .tokens_n = tokens_n,
    .places_count = places_count,
    .bucket = index_of,
    .table_size = table_size,
    .constants = constants,
};

const struct pe_kind pe__kind_swin = {
    .name = "swin",
    .title = "Relative position bias of a window (Swin)",
    .formula = "score(m,n) = q.k + table[(row_m - row_n + H - 1)(2W - 1) + col_m - col_n + W - 1, "
               "h], window H x W",
    .help = "Adds to each attention score within a window of an image a learned number for the "
            "offset in rows and columns. Positions are places of the window, row by row. The table "
            "is posted, or drawn from table_seed.",
    .outside = "A window has no outside; models resample the table for another window.",
    .acts = PE_BIASES,
    .properties = PE_KEEPS_NORM | PE_LEARNED,
    .facets = 1u << PE_FACET_BIAS | 1u << PE_FACET_INDEX,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .table_cols = "heads",
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
