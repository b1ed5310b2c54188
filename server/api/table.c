// SPDX-License-Identifier: Apache-2.0
/*
 * table.c: GET /v1/table: the encoding of each position; cos and sin of rotating kinds; the bias or
 * bucket matrix of bias kinds.
 */
#include <string.h>

#include "columns.h"
#include "job.h"
#include "keys.h"

static const struct pe_param keys[] = {
    KEY_POSITIONS("0:32", 0),
    KEY_GRID,
    {"channels", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Channels to give, in the grammar of positions; all without it."},
    {"value", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL | PE_DERIVED, NULL,
     "encoding cos sin both bias bucket slopes", NULL,
     "What to tabulate: encoding (not for biases), cos, sin, both (rotating), bias, slopes "
     "(alibi), "
     "bucket (t5)."},
    {"width", NULL, PE_ENUM, 0, 0, 0, 0, "half", "half full", NULL,
     "cos and sin once per pair, or repeated to rotary_dim as the layout needs."},
    KEY_DTYPE("Number format of the answer; f64 by default."),
    KEY_STAGES,
};

enum value { ENCODING, COS, SIN, BOTH, BIAS, BUCKET, SLOPES };

struct own {
    struct position_lists positions;
    enum value value;
    enum pe_dtype dtype;
    size_t width; /* of one row before channels are chosen */
    struct columns channels;
};

/* The value asked for, or the kind's own; refused where the kind has none of it. */
static bool read_value(struct job *job, struct own *own)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    enum pe_acts acts = spec->kind->acts;
    bool t5 = strcmp(spec->kind->name, "t5") == 0;
    job_derive(job, "value", acts == PE_BIASES ? BIAS : ENCODING);
    own->value = (enum value)job_key(job, "value")->number;
    unsigned offered = acts == PE_ROTATES  ? 1u << ENCODING | 1u << COS | 1u << SIN | 1u << BOTH
                       : acts != PE_BIASES ? 1u << ENCODING
                       : t5                ? 1u << BIAS | 1u << BUCKET
                                           : 1u << BIAS | 1u << SLOPES;
    if (offered & (1u << own->value))
        return true;
    return err_add(&job->request->err, ERR_invalid_value, "value",
                   acts == PE_ROTATES  ? "encoding, cos, sin or both"
                   : acts != PE_BIASES ? "encoding"
                   : t5                ? "bias or bucket"
                                       : "bias or slopes",
                   "kind=%s has no such value", spec->kind->name);
}

/* Keys that say nothing about the value asked for. */
static bool keys_read(struct job *job, enum value value)
{
    static const char *const width[] = {"width", NULL}, *const channels[] = {"channels", NULL};
    static const char *const dtype[] = {"dtype", NULL};
    bool ok = value == COS || value == SIN || value == BOTH ||
              job_unread(job, width, "only cos, sin and both have a width");
    if (value == BIAS || value == BUCKET || value == SLOPES)
        ok = job_unread(job, channels, "this value has no channels") && ok;
    return (value != BUCKET || job_unread(job, dtype, "buckets are i64")) && ok;
}

/* Columns of one row before channels are chosen. */
static size_t row_width(const struct job *job, enum value value)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    if (spec->kind->acts != PE_ROTATES)
        return pe_spec_dim(spec);
    bool full = value == ENCODING || job_key_is(job, "width", "full");
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
static void fill_wide(const struct job *job, enum value value, const struct pe_positions *positions,
                      void *out, void *scratch)
{
    const struct own *own = job->own;
    const struct pe_plan *plan = job_plan(job, 0);
    if (value == ENCODING) {
        pe_table(plan, positions, own->dtype, out, own->width);
        return;
    }
    bool full = own->width != pe_spec_pairs(&job->specs[0].spec);
    size_t size = pe_dtype_size(own->dtype);
    void *half = full ? scratch : out;
    void *other = (char *)scratch + positions->n * own->width * size;
    pe_cos_sin(plan, positions, own->dtype, value == COS ? half : other,
               value == COS ? other : half);
    if (full)
        repeat_pairs(&job->specs[0].spec, half, out, positions->n, size);
}

/* The same with the chosen channels only. */
static void fill_rows(const struct job *job, enum value value, size_t first, size_t n, void *out,
                      void *scratch)
{
    const struct own *own = job->own;
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
    fill_rows(job, ENCODING, first, n, out, scratch);
}

static void fill_cos(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    (void)output;
    fill_rows(job, COS, first, n, out, scratch);
}

static void fill_sin(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    (void)output;
    fill_rows(job, SIN, first, n, out, scratch);
}

/* Bias or bucket matrices, [heads * queries] rows. */
static void fill_matrix(const struct job *job, const struct output *output, size_t first, size_t n,
                        void *out, void *scratch)
{
    const struct own *own = job->own;
    const struct pe_plan *plan = job_plan(job, 0);
    const struct pe_positions *at = own->positions.list;
    size_t step = at->n * pe_dtype_size(output->dtype);
    (void)scratch;
    for (size_t r = first; r < first + n; r++) {
        struct pe_positions query = tokens_slab(at, r % at->n, 1);
        void *row = (char *)out + (r - first) * step;
        if (own->value == BIAS)
            pe_bias(plan, &query, at, r / at->n, 1, own->dtype, row);
        else
            pe_buckets(plan, &query, at, row);
    }
}

static void fill_slopes(const struct job *job, const struct output *output, size_t first, size_t n,
                        void *out, void *scratch)
{
    (void)first, (void)n, (void)scratch; /* one row */
    pe_slopes(job_plan(job, 0), output->dtype, out);
}

/* ---- Outputs ------------------------------------------------------------------------------- */

/* The stages that can make a difference to the value asked for. */
static unsigned stages_of(enum value value)
{
    switch (value) {
    case BUCKET:
        return 1u << PE_STAGE_POS;
    case SLOPES:
        return 1u << PE_STAGE_FREQ;
    default:
        return PE_STAGES_OF_PLANS;
    }
}

static void rows_state(struct job *job, const char *name, output_fill *fill)
{
    const struct own *own = job->own;
    size_t shape[] = {own->positions.list->n, own->channels.n};
    struct output *output = job_output(job, name, own->dtype, 2, shape);
    output->fill = fill;
    output->row_scratch = 3 * own->width * pe_dtype_size(own->dtype);
    output->axes[0] = job_position_axis(&own->positions);
    output->axes[1] = (struct answer_axis){
        .name = "channel", .short_name = "channel", .labels = own->channels.labels};
}

static void matrix_state(struct job *job)
{
    const struct own *own = job->own;
    const struct pe_positions *at = own->positions.list;
    size_t shape[] = {pe_spec_heads(&job->specs[0].spec), at->n, at->n};
    bool bias = own->value == BIAS;
    struct output *output = job_output(job, bias ? "bias" : "bucket", own->dtype, bias ? 3 : 2,
                                       bias ? shape : shape + 1);
    struct answer_axis *axis = output->axes;
    output->fill = fill_matrix;
    output->position_axis = bias ? 1 : 0;
    if (bias)
        *axis++ = (struct answer_axis){.name = "head", .short_name = "head"};
    *axis++ = job_position_axis(&own->positions);
    *axis = (struct answer_axis){.name = "key", .short_name = "key", .labels = at->at[0]};
}

/* The tensors of the value asked for. */
static void outputs_state(struct job *job)
{
    const struct own *own = job->own;
    size_t heads = pe_spec_heads(&job->specs[0].spec);
    struct output *output;
    switch (own->value) {
    case ENCODING:
        rows_state(job, "table", fill_encoding);
        break;
    case COS:
    case BOTH:
        rows_state(job, "cos", fill_cos);
        if (own->value == BOTH)
            rows_state(job, "sin", fill_sin);
        break;
    case SIN:
        rows_state(job, "sin", fill_sin);
        break;
    case SLOPES:
        output = job_output(job, "slopes", own->dtype, 1, &heads);
        output->fill = fill_slopes;
        output->axes[0] = (struct answer_axis){.name = "head", .short_name = "head"};
        break;
    default:
        matrix_state(job);
    }
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    bool ok = job_specs_finish(job);
    ok = job_positions(job, "positions", pe_spec_axes(spec), 1, &own->positions) && ok;
    ok = read_value(job, own) && keys_read(job, own->value) && ok;
    if (!ok)
        return false;
    own->dtype = own->value == BUCKET ? PE_I64 : job_dtype(job, PE_F64);
    if (!job_stages(job, stages_of(own->value), own->value == BUCKET ? PE_F64 : own->dtype))
        return false;
    own->width = row_width(job, own->value);
    if (spec->kind->acts != PE_BIASES && !columns_read(job, "channels", own->width, &own->channels))
        return false;
    job->plan_positions = *own->positions.list;
    outputs_state(job);
    return job_positions_check(job, &own->positions);
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
