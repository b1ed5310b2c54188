// SPDX-License-Identifier: Apache-2.0
/* aspects.c: see aspects.h. An aspect is a row of a table: who has it, its shape, what makes it. */
#include "aspects.h"

#include <string.h>

#include "aspects_fill.h"

/* ---- Shapes -------------------------------------------------------------------------------- */

static void axis_add(struct output *draft, size_t n, const struct answer_axis *axis)
{
    draft->shape[draft->rank] = n;
    draft->axes[draft->rank++] = *axis;
}

static void named_axis(struct output *draft, const char *name, size_t n, const double *labels)
{
    axis_add(draft, n, &(struct answer_axis){.name = name, .short_name = name, .labels = labels});
}

/* Tokens, in lists where there are several. */
static void batch_axis(const struct job *job, struct output *draft)
{
    if (job->aspects->positions->batched)
        named_axis(draft, "batch", job->aspects->positions->lists_n, NULL);
}

static void token_axis(const struct job *job, struct output *draft)
{
    const struct position_lists *lists = job->aspects->positions;
    struct answer_axis axis = job_position_axis(lists);
    draft->position_axis = draft->rank;
    axis_add(draft, lists->list->n, &axis);
}

static void token_axes(const struct job *job, struct output *draft)
{
    batch_axis(job, draft);
    token_axis(job, draft);
}

static void shape_pairs(const struct job *job, struct output *draft)
{
    named_axis(draft, "pair", pe_spec_pairs(aspects_spec(job)), NULL);
    draft->row_scratch = 4 * pe_spec_pairs(aspects_spec(job)) * sizeof(double);
}

static void shape_columns(const struct job *job, struct output *draft)
{
    const struct columns *pairs = &job->aspects->pairs;
    token_axes(job, draft);
    named_axis(draft, width_of(job) == WIDTH_HALF ? "pair" : "channel", pairs->n, pairs->labels);
    draft->row_scratch = 2 * pairs->all * sizeof(double);
}

static void shape_table(const struct job *job, struct output *draft)
{
    static const char *const ends[] = {"cos", "sin"};
    const struct aspects *own = job->aspects;
    if (aspects_packed(job) && pack_of(job) == PACK_STACKED) {
        shape_columns(job, draft);
        axis_add(draft, 2,
                 &(struct answer_axis){.name = "part", .short_name = "part", .names = ends});
        draft->row_axes = 2;
        return;
    }
    token_axes(job, draft);
    if (aspects_packed(job)) {
        named_axis(draft, "channel", 2 * own->pairs.n, NULL);
        draft->row_scratch = 2 * own->pairs.all * sizeof(double);
    } else {
        named_axis(draft, "channel", own->channels.n, own->channels.labels);
        draft->row_scratch = own->channels.all * sizeof(double);
    }
}

static void shape_positions(const struct job *job, struct output *draft)
{
    size_t axes = job->aspects->positions->list->axes;
    if (axes > 1)
        named_axis(draft, "axis", axes, NULL);
    token_axes(job, draft);
}

static void shape_passthrough(const struct job *job, struct output *draft)
{
    size_t dim = pe_spec_dim(aspects_spec(job));
    named_axis(draft, "index", dim - 2 * aspects_kept(aspects_spec(job)), NULL);
    draft->row_scratch = dim;
}

static void shape_bias(const struct job *job, struct output *draft)
{
    bool batched = job->aspects->positions->batched;
    batch_axis(job, draft);
    named_axis(draft, "head", pe_spec_heads(aspects_spec(job)), NULL);
    token_axis(job, draft);
    named_axis(draft, "key", aspects_keys(job)->n, batched ? NULL : aspects_keys(job)->at[0]);
}

static void shape_slopes(const struct job *job, struct output *draft)
{
    named_axis(draft, "head", pe_spec_heads(aspects_spec(job)), NULL);
}

/* ---- The table ----------------------------------------------------------------------------- */

/* What a kind has. */
enum has {
    ROTATES = 1,
    ROWS = 2,
    FREQUENCIES = 4,
    BIASES = 8,
    SLOPES = 16,
    SCALES = 32,
    PASSES = 64, /* some channels may */
    ANY = 128,
};

static unsigned has_of(const struct pe_spec *spec)
{
    unsigned facets = pe_kind_facets(spec->kind), has = ANY;
    has |= facets >> PE_FACET_BOTH & 1 ? ROTATES : 0;
    has |= facets >> PE_FACET_BOTH & 1 && !pe_spec_is_polar(spec) ? PASSES : 0;
    has |= facets >> PE_FACET_ENCODING & 1 ? ROWS : 0;
    has |= facets >> PE_FACET_BIAS & 1 ? BIASES : 0;
    has |= facets >> PE_FACET_SLOPES & 1 ? SLOPES : 0;
    has |= pe_spec_has_scales(spec) ? SCALES : 0;
    return has | (pe_spec_pairs(spec) > 0 && !pe_spec_is_given(spec) ? FREQUENCIES : 0);
}

/* Stages that make a difference. */
#define OF_PLANS PE_STAGES_OF_PLANS
#define OF_FREQ  (1u << PE_STAGE_FREQ)
#define OF_POS   (1u << PE_STAGE_POS)
#define OF_ANGLE (OF_POS | OF_FREQ | 1u << PE_STAGE_ANGLE)

enum numbers { IN_DTYPE, IN_F64, IN_I64 };

static const struct row {
    const char *name;
    enum has has;
    bool placed; /* at positions */
    enum numbers numbers;
    unsigned stages;
    void (*shape)(const struct job *job, struct output *draft);
    output_fill *fill;
} rows[ASPECTS_N] = {
    [ASPECT_COS] = {"cos", ROTATES, true, IN_DTYPE, OF_PLANS, shape_columns, aspect_cos},
    [ASPECT_SIN] = {"sin", ROTATES, true, IN_DTYPE, OF_PLANS, shape_columns, aspect_sin},
    [ASPECT_TABLE] = {"table", ROWS, true, IN_DTYPE, OF_PLANS, shape_table, aspect_table},
    [ASPECT_INV_FREQ] = {"inv_freq", FREQUENCIES, false, IN_DTYPE, OF_FREQ, shape_pairs,
                         aspect_inv_freq},
    [ASPECT_BASE_INV_FREQ] = {"base_inv_freq", FREQUENCIES, false, IN_DTYPE, OF_FREQ, shape_pairs,
                              aspect_base_inv_freq},
    [ASPECT_ANGLE] = {"angle", FREQUENCIES, true, IN_DTYPE, OF_ANGLE, shape_columns, aspect_angle},
    [ASPECT_SCALE] = {"scale", SCALES, true, IN_DTYPE, OF_POS, shape_columns, aspect_scale},
    [ASPECT_POSITIONS] = {"positions", ANY, true, IN_F64, OF_POS, shape_positions,
                          aspect_positions},
    [ASPECT_AXIS] = {"axis", FREQUENCIES, false, IN_I64, 0, shape_pairs, aspect_axis},
    [ASPECT_PASSTHROUGH] = {"passthrough", PASSES, false, IN_I64, 0, shape_passthrough,
                            aspect_passthrough},
    [ASPECT_BIAS] = {"bias", BIASES, true, IN_DTYPE, OF_PLANS, shape_bias, aspect_bias},
    [ASPECT_SLOPES] = {"slopes", SLOPES, false, IN_DTYPE, OF_FREQ, shape_slopes, aspect_slopes},
};

void aspect_state(struct job *job, enum aspect aspect)
{
    const struct row *row = &rows[aspect];
    struct output draft = {.row_axes = 1};
    if (job_output_named(job, row->name))
        return;
    row->shape(job, &draft);
    enum pe_dtype dtype = row->numbers == IN_I64   ? PE_I64
                          : row->numbers == IN_F64 ? PE_F64
                                                   : job->aspects->dtype;
    struct output *output = job_output(job, row->name, dtype, draft.rank, draft.shape);
    memcpy(output->axes, draft.axes, sizeof draft.axes);
    output->position_axis = draft.position_axis;
    output->row_axes = draft.row_axes;
    output->row_scratch = draft.row_scratch;
    output->fill = row->fill;
}

/* ---- with= --------------------------------------------------------------------------------- */

static uint64_t wanted(const struct job *job)
{
    const struct pe_value *with = job_key(job, "with");
    return with->set ? (uint64_t)with->number : 0;
}

bool aspects_asked(const struct job *job, enum aspect aspect)
{
    return wanted(job) >> aspect & 1;
}

unsigned aspects_stages(const struct job *job)
{
    unsigned stages = 0;
    for (size_t i = 0; i < ASPECTS_N; i++)
        stages |= wanted(job) >> i & 1 ? rows[i].stages : 0;
    return stages;
}

bool aspects_columns(struct job *job, struct aspects *aspects, const struct columns *pairs)
{
    const struct pe_spec *spec = &job->specs[aspects->spec].spec;
    size_t pairs_n = pe_spec_pairs(spec);
    bool rotates = spec->kind->acts == PE_ROTATES;
    struct columns all;
    aspects->channels = columns_all(rotates ? 2 * pairs_n : pe_spec_dim(spec));
    if (!pairs && !columns_count(job, pairs_n, &all))
        return false;
    return widths_read(job, spec, pairs ? pairs : &all, &aspects->pairs);
}

/* The first choice is what an answer has without the key. */
static void leave_out(struct job *job, const char *name)
{
    struct pe_value *value = job_key_edit(job, name);
    const struct pe_param *row = &job->keys.rows[value - job->keys.value];
    if (value->number == 0 && !row->fallback)
        value->given = value->set = false;
}

/* Keys about columns of which the answer has none. */
static bool keys_read(struct job *job)
{
    static const char *const width[] = {"width", NULL}, *const pack[] = {"pack", NULL};
    bool table = job_output_named(job, "table") && aspects_packed(job);
    bool parts = job_output_named(job, "cos") || job_output_named(job, "sin");
    bool columns =
        table || parts || job_output_named(job, "angle") || job_output_named(job, "scale");
    bool ok = columns || job_unread(job, width, "only cos, sin, angles and scales have a width");
    ok = (table || (parts && !aspects_packed(job)) ||
          job_unread(job, pack, "the answer has no table of cos and sin")) &&
         ok;
    leave_out(job, "width");
    leave_out(job, "pack");
    return ok;
}

static bool refuse(struct job *job, const struct row *row, bool has)
{
    const struct pe_spec *spec = aspects_spec(job);
    const char *names = "";
    for (size_t i = 0; names && i < ASPECTS_N; i++)
        if (rows[i].has & has_of(spec) && (job->aspects->positions || !rows[i].placed))
            names = arena_printf(&job->request->arena, "%s%s%s", names, *names ? " " : "",
                                 rows[i].name);
    struct err *err = &job->request->err;
    err_add(err, ERR_invalid_value, job_where(job, "with"), NULL,
            has ? "\"%s\" is of positions, which %s has not" : "\"%s\" is nothing that %s has",
            row->name, has ? job->request->path : spec->kind->name);
    if (err->n <= ERR_ITEMS_MAX)
        err->item[err->n - 1].allowed = names;
    return false;
}

bool aspects_with(struct job *job)
{
    struct pe_value *with = job_key_edit(job, "with");
    uint64_t further = 0; /* than what the answer has anyway */
    bool ok = true;
    for (size_t i = 0; i < ASPECTS_N; i++) {
        bool has = rows[i].has & has_of(aspects_spec(job));
        if (!(wanted(job) >> i & 1) || (has && job_output_named(job, rows[i].name)))
            continue;
        further |= (uint64_t)1 << i;
        if (has && (job->aspects->positions || !rows[i].placed))
            aspect_state(job, (enum aspect)i);
        else
            ok = refuse(job, &rows[i], has);
    }
    with->number = (double)further;
    with->set = with->given = further != 0;
    return (pe_params_find(&job->keys, "width", 5) < 0 || keys_read(job)) && ok;
}
