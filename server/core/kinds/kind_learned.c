// SPDX-License-Identifier: Apache-2.0
/*
 * kind_learned.c: one vector per position out of a table, as in BERT and GPT-2. Outside the table
 * there is no value, and none is made up.
 */
#include <math.h>

#include "kind.h"
#include "lookup.h"
#include "rows.h"
#include "value.h"

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 0),
    {.name = "rows",
     .type = PE_INT,
     .min = 1,
     .max = 1 << 30,
     .fallback = "2048",
     .help = "Rows of the table: positions 0 to rows-1 have a value."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    return pe__lookup_check(spec, faults);
}

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    double rows_n = pe_spec_number(spec, "rows");
    double p = position.hi;
    if (position.lo == 0 && p == floor(p) && p >= 0 && p < rows_n)
        return true;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "there is no value at position %s: the table has the positions 0 to %.0f",
                        pe__show_number(p, shown), rows_n - 1);
}

static size_t first_element(const struct pe_plan *plan, struct pe__pos position)
{
    return (size_t)position.hi * pe_spec_dim(&plan->spec);
}

static double row(const struct pe_plan *plan, struct pe__pos position, size_t first, size_t n,
                  double *hi, double *lo)
{
    return pe__lookup(&plan->spec, first_element(plan, position) + first, n, hi, lo);
}

static void row_exact(const struct pe_plan *plan, struct pe__pos position, size_t channel, mpfr_t y)
{
    pe__lookup_exact(&plan->spec, first_element(plan, position) + channel, y);
}

static const struct pe_library libraries[] = {
    {"transformers", "BERT, GPT-2, ViT, CLIP from row 0; RoBERTa, BART, OPT from row 2 "
                     "(shift=2)"},
    {"vLLM", "the same models"},
    {"llama.cpp", "the same models"},
    {"keras-hub", "PositionEmbedding"},
    {0},
};

static const struct pe_reference references[] = {
    {"Convolutional Sequence to Sequence Learning", 2017, "arXiv:1705.03122"},
    {"BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2018,
     "arXiv:1810.04805"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=learned&dim=8&positions=0:4",
    "/v1/scores?kind=learned",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = has_position,
    .row = row,
    .row_exact = row_exact,
};

const struct pe_kind pe__kind_learned = {
    .name = "learned",
    .title = "Learned absolute position embedding",
    .formula = "PE[p] = table[p]; y = x + PE",
    .help = "Adds row p of a table to the vector at position p. The table is posted, or drawn from "
            "table_seed as an untrained model's would be. A position outside the table is an "
            "error: there is no value.",
    .outside = "No value: the lookup fails behind the last row. Rows that training never reached "
               "are as random as at the start.",
    .acts = PE_ADDS,
    .properties = PE_LEARNED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .table_rows = "rows",
    .table_cols = "dim",
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
