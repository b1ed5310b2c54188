// SPDX-License-Identifier: Apache-2.0
/*
 * kind_learned.c: one vector per position out of a table, as in BERT and GPT-2. Outside the table
 * there is no value, and none is made up.
 */
#include <math.h>

#include "kind.h"
#include "lookup.h"
#include "params.h"
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
    {.name = "reserved",
     .type = PE_INT,
     .min = 0,
     .max = 1 << 30,
     .flags = PE_OPTIONAL,
     .help = "First rows of the table that no token's position has, fewer than rows, such as 2 in "
             "OPT, BART and RoBERTa, whose shift is 2 as well: to read one is an error, but for "
             "padding_idx; without it all rows can be read."},
    PE__ROW_PADDING,
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = pe__lookup_check(spec, faults);
    const struct pe_value *rows_n = pe__params_value(&spec->params, "rows");
    static const char *const names[] = {"reserved", "padding_idx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pe_value *value = pe__params_value(&spec->params, names[i]);
        if (value->set && rows_n->set && value->number >= rows_n->number)
            ok = pe_fault_add(faults, PE_INVALID_VALUE, names[i], NULL,
                              "%s must be less than rows (%.0f), got %.0f", names[i],
                              rows_n->number, value->number);
    }
    return ok;
}

/* Rows that only padding reads. */
static double reserved(const struct pe_spec *spec)
{
    const struct pe_value *value = pe_params_get(&spec->params, "reserved");
    return value->set ? value->number : 0;
}

static bool is_padding(const struct pe_spec *spec, double p)
{
    const struct pe_value *value = pe_params_get(&spec->params, "padding_idx");
    return value->set && value->number == p;
}

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    double rows_n = pe_spec_number(spec, "rows");
    double p = position.hi;
    double first = reserved(spec);
    char shown[PE__SHOWN_MAX];
    if (position.lo == 0 && p == floor(p) && p >= 0 && p < rows_n) {
        if (p >= first || is_padding(spec, p))
            return true;
        return pe_fault_add(faults, PE_INVALID_VALUE, param,
                            "positions of tokens come after the reserved rows: shift moves them",
                            "position %s is a reserved row: the table has the positions %.0f to "
                            "%.0f",
                            pe__show_number(p, shown), first, rows_n - 1);
    }
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "there is no value at position %s: the table has the positions %.0f "
                        "to %.0f",
                        pe__show_number(p, shown), first, rows_n - 1);
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
    {"transformers", "BERT, GPT-2, ViT, CLIP from row 0; BART, OPT from row 2 (shift=2, "
                     "reserved=2); RoBERTa too, with padding_idx=1"},
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
    "/v1/table?kind=learned&dim=8&rows=514&shift=2&reserved=2&padding_idx=1&positions=-1,0,1",
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
