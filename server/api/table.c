// SPDX-License-Identifier: Apache-2.0
/*
 * table.c: GET /v1/table: the encoding of each position; cos and sin of rotating kinds. What bias
 * kinds have instead is in table_bias.c.
 */
#include "table.h"

#include <stdio.h>
#include <string.h>

#include "keys.h"

static const struct pe_param keys[] = {
    KEY_POSITIONS("0:32", 0),
    KEY_GRID,
    {"channels", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Channels to give, in the grammar of positions; all without it."},
    {"value", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL | PE_DERIVED, NULL,
     "encoding cos sin both bias bucket slopes index", NULL,
     "What to tabulate: encoding (not for biases); cos, sin, both (rotating); of kinds that have "
     "them bias, slopes, bucket, index."},
    {"width", NULL, PE_ENUM, 0, 0, 0, 0, "half", "half full", NULL,
     "cos and sin once per pair, or repeated to rotary_dim as the layout needs."},
    KEY_DTYPE("Number format of the answer; f64 by default."),
    KEY_STAGES,
    {"k_positions", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Matrices: positions of the keys, where they differ from those of the queries."},
    {"queries", NULL, PE_INT, 1, PE_POSITIONS_N_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Matrices: how many queries; they are the last ones of as many tokens as there are keys."},
    {"keys", NULL, PE_INT, 1, PE_POSITIONS_N_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Matrices: how many keys, at 0, 1, ... where no positions are given."},
};

/* Names of facets as in "cos, sin or both". */
static const char *list_facets(struct job *job, unsigned facets)
{
    const char *list = "";
    for (unsigned f = 0; f < PE_FACETS_N && list; f++) {
        if (!(facets >> f & 1))
            continue;
        bool is_last = facets >> f == 1;
        const char *between = *list == '\0' ? "" : is_last ? " or " : ", ";
        list = arena_printf(&job->request->arena, "%s%s%s", list, between,
                            pe_facet_name((enum pe_facet)f));
    }
    return list;
}

/* The value asked for, or the kind's first; refused where the kind has none of it. */
static bool read_value(struct job *job, struct table *own)
{
    const struct pe_kind *kind = job->specs[0].spec.kind;
    unsigned offered = pe_kind_facets(kind);
    job_derive(job, "value", __builtin_ctz(offered));
    own->value = (enum pe_facet)job_key(job, "value")->number;
    if (offered >> own->value & 1)
        return true;
    return err_add(&job->request->err, ERR_invalid_value, "value", list_facets(job, offered),
                   "kind=%s has no such value", kind->name);
}

static bool is_matrix(enum pe_facet value)
{
    return value == PE_FACET_BIAS || value == PE_FACET_BUCKET || value == PE_FACET_INDEX;
}

static bool has_integers(enum pe_facet value)
{
    return value == PE_FACET_BUCKET || value == PE_FACET_INDEX;
}

/* Keys that say nothing about the value asked for. */
static bool keys_read(struct job *job, enum pe_facet value)
{
    static const char *const width[] = {"width", NULL}, *const channels[] = {"channels", NULL};
    static const char *const dtype[] = {"dtype", NULL};
    static const char *const sides[] = {"queries", "keys", "k_positions", NULL};
    bool ok = value == PE_FACET_COS || value == PE_FACET_SIN || value == PE_FACET_BOTH ||
              job_unread(job, width, "only cos, sin and both have a width");
    if (is_matrix(value) || value == PE_FACET_SLOPES)
        ok = job_unread(job, channels, "this value has no channels") && ok;
    if (!is_matrix(value))
        ok = job_unread(job, sides, "only matrices of queries and keys have them") && ok;
    return (!has_integers(value) ||
            job_unread(job, dtype,
                       value == PE_FACET_BUCKET ? "buckets are i64" : "indices are i64")) &&
           ok;
}

/* Columns of one row before channels are chosen. */
static size_t row_width(const struct job *job, enum pe_facet value)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    if (spec->kind->acts != PE_ROTATES)
        return pe_spec_dim(spec);
    bool full = value == PE_FACET_ENCODING || job_key_is(job, "width", "full");
    return pe_spec_pairs(spec) * (full ? 2 : 1);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* cos or sin of each pair, [rows, pairs], into both channels of the pair, [rows, 2 pairs]. */
static void repeat_pairs(const struct pe_spec *spec, const char *half, char *full, size_t rows,
                         size_t size)
{
    size_t pairs = pe_spec_pairs(spec);
    for (size_t pair = 0; pair < pairs; pair++) {
        size_t a, b;
        pe_spec_pair_channels(spec, pair, &a, &b);
        for (size_t r = 0; r < rows; r++) {
            const char *from = half + (r * pairs + pair) * size;
            memcpy(full + (r * 2 * pairs + a) * size, from, size);
            memcpy(full + (r * 2 * pairs + b) * size, from, size);
        }
    }
}

/* Rows of `value` at full width. */
static void fill_wide(const struct job *job, enum pe_facet value,
                      const struct pe_positions *positions, void *out, void *scratch)
{
    const struct table *own = job->own;
    const struct pe_plan *plan = job_plan(job, 0);
    if (value == PE_FACET_ENCODING) {
        pe_table(plan, positions, own->dtype, out, own->width);
        return;
    }
    bool full = own->width != pe_spec_pairs(&job->specs[0].spec);
    size_t size = pe_dtype_size(own->dtype);
    void *half = full ? scratch : out;
    void *other = (char *)scratch + positions->n * own->width * size;
    pe_cos_sin(plan, positions, own->dtype, value == PE_FACET_COS ? half : other,
               value == PE_FACET_COS ? other : half);
    if (full)
        repeat_pairs(&job->specs[0].spec, half, out, positions->n, size);
}

/* The same with the chosen channels only. */
static void fill_rows(const struct job *job, enum pe_facet value, size_t first, size_t n, void *out,
                      void *scratch)
{
    const struct table *own = job->own;
    struct pe_positions part = tokens_slab(own->positions.list, first, n);
    size_t size = pe_dtype_size(own->dtype);
    char *rows = (char *)scratch + 2 * n * own->width * size;
    fill_wide(job, value, &part, own->channels.some ? rows : out, scratch);
    if (own->channels.some)
        columns_take(&own->channels, rows, out, n, size);
}

static void fill_encoding(const struct job *job, const struct output *output, size_t first,
                          size_t n, void *out, void *scratch)
{
    (void)output;
    fill_rows(job, PE_FACET_ENCODING, first, n, out, scratch);
}

static void fill_cos(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    (void)output;
    fill_rows(job, PE_FACET_COS, first, n, out, scratch);
}

static void fill_sin(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    (void)output;
    fill_rows(job, PE_FACET_SIN, first, n, out, scratch);
}

/* ---- Outputs ------------------------------------------------------------------------------- */

/* The stages that can make a difference to the value asked for. */
static unsigned stages_of(enum pe_facet value)
{
    switch (value) {
    case PE_FACET_BUCKET:
    case PE_FACET_INDEX:
        return 1u << PE_STAGE_POS;
    case PE_FACET_SLOPES:
        return 1u << PE_STAGE_FREQ;
    default:
        return PE_STAGES_OF_PLANS;
    }
}

static void rows_state(struct job *job, const char *name, output_fill *fill)
{
    const struct table *own = job->own;
    size_t shape[] = {own->positions.list->n, own->channels.n};
    struct output *output = job_output(job, name, own->dtype, 2, shape);
    output->fill = fill;
    output->row_scratch = 3 * own->width * pe_dtype_size(own->dtype);
    output->axes[0] = job_position_axis(&own->positions);
    output->axes[1] = (struct answer_axis){
        .name = "channel", .short_name = "channel", .labels = own->channels.labels};
}

/* The tensors of the value asked for. */
static void outputs_state(struct job *job)
{
    const struct table *own = job->own;
    switch (own->value) {
    case PE_FACET_ENCODING:
        rows_state(job, "table", fill_encoding);
        break;
    case PE_FACET_COS:
    case PE_FACET_BOTH:
        rows_state(job, "cos", fill_cos);
        if (own->value == PE_FACET_BOTH)
            rows_state(job, "sin", fill_sin);
        break;
    case PE_FACET_SIN:
        rows_state(job, "sin", fill_sin);
        break;
    case PE_FACET_SLOPES:
        table_slopes_state(job, own);
        break;
    default:
        table_matrix_state(job, own);
    }
}

static bool prepare(struct job *job)
{
    struct table *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    bool ok = job_specs_finish(job);
    bool known = read_value(job, own) && keys_read(job, own->value);
    bool placed = ok && known && is_matrix(own->value)
                      ? table_sides(job, own)
                      : job_positions(job, "positions", pe_spec_axes(spec), 1, &own->positions);
    if (!ok || !known || !placed)
        return false;
    own->dtype = has_integers(own->value) ? PE_I64 : job_dtype(job, PE_F64);
    if (!job_stages(job, stages_of(own->value), has_integers(own->value) ? PE_F64 : own->dtype))
        return false;
    own->width = row_width(job, own->value);
    if (spec->kind->acts != PE_BIASES && !columns_read(job, "channels", own->width, &own->channels))
        return false;
    job->plan_positions = *own->positions.list;
    outputs_state(job);
    return job_positions_check(job, &own->positions) &&
           (!is_matrix(own->value) || job_positions_check(job, &own->keys));
}

const struct endpoint table_endpoint = {
    .summary = "The encoding table, or the bias matrix, at the given positions.",
    .describes = "table",
    .schema = "TableAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = ~0u,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
};
