// SPDX-License-Identifier: Apache-2.0
/* aspects.c: see aspects.h. An aspect is a row of a table: who has it, its shape, what makes it. */
#include "aspects.h"

#include <string.h>

#include "widths.h"

/* Makes rows of one list of positions. */
typedef void make_rows(const struct job *job, const struct pe_positions *at, void *out,
                       void *scratch);

static const struct pe_spec *spec_of(const struct job *job)
{
    return &job->specs[job->aspects->spec].spec;
}

static const struct pe_plan *plan_of(const struct job *job)
{
    return job_plan(job, job->aspects->spec);
}

/* Whether `table` is cos and sin in one. */
static bool is_packed(const struct job *job)
{
    return spec_of(job)->kind->acts == PE_ROTATES && pack_of(job) != PACK_SEPARATE;
}

/* Rows [first, first + n) of all lists, those of one list after the other. */
static void each_list(const struct job *job, const struct output *output, size_t first, size_t n,
                      make_rows *make, void *out, void *scratch)
{
    const struct position_lists *lists = job->aspects->positions;
    size_t tokens = lists->list->n, row = job_output_row(output) * pe_dtype_size(output->dtype);
    for (size_t done = 0, some; done < n; done += some) {
        size_t at = first + done, rest = tokens - at % tokens;
        some = rest < n - done ? rest : n - done;
        struct pe_positions part = tokens_slab(&lists->list[at / tokens], at % tokens, some);
        make(job, &part, (char *)out + done * row, scratch);
    }
}

/* ---- cos and sin --------------------------------------------------------------------------- */

static void make_cos_sin(const struct job *job, const struct pe_positions *at, bool sine, void *out,
                         void *scratch)
{
    const struct aspects *own = job->aspects;
    size_t size = pe_dtype_size(own->dtype);
    char *other = (char *)scratch + at->n * own->pairs.all * size;
    void *wanted = own->pairs.some ? scratch : out;
    pe_cos_sin(plan_of(job), at, own->dtype, sine ? other : wanted, sine ? wanted : other);
    if (own->pairs.some)
        columns_take(&own->pairs, wanted, out, at->n, size);
}

static void make_cos(const struct job *job, const struct pe_positions *at, void *out, void *scratch)
{
    make_cos_sin(job, at, false, out, scratch);
}

static void make_sin(const struct job *job, const struct pe_positions *at, void *out, void *scratch)
{
    make_cos_sin(job, at, true, out, scratch);
}

static void fill_cos(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    each_list(job, output, first, n, make_cos, out, scratch);
}

static void fill_sin(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    each_list(job, output, first, n, make_sin, out, scratch);
}

static void make_packed(const struct job *job, const struct pe_positions *at, void *out,
                        void *scratch)
{
    const struct aspects *own = job->aspects;
    size_t size = pe_dtype_size(own->dtype);
    char *sin = (char *)scratch + at->n * own->pairs.all * size;
    pe_cos_sin(plan_of(job), at, own->dtype, scratch, sin);
    packed_take(pack_of(job), &own->pairs, scratch, sin, out, at->n, size);
}

static void make_encoding(const struct job *job, const struct pe_positions *at, void *out,
                          void *scratch)
{
    const struct columns *channels = &job->aspects->channels;
    enum pe_dtype dtype = job->aspects->dtype;
    pe_table(plan_of(job), at, dtype, channels->some ? scratch : out, channels->all);
    if (channels->some)
        columns_take(channels, scratch, out, at->n, pe_dtype_size(dtype));
}

static void fill_table(const struct job *job, const struct output *output, size_t first, size_t n,
                       void *out, void *scratch)
{
    each_list(job, output, first, n, is_packed(job) ? make_packed : make_encoding, out, scratch);
}

/* ---- Angles, frequencies, positions -------------------------------------------------------- */

static void make_angles(const struct job *job, const struct pe_positions *at, void *out,
                        void *scratch)
{
    const struct aspects *own = job->aspects;
    (void)scratch;
    pe_angles(plan_of(job), at, own->pairs.index, own->pairs.n, own->form, own->dtype, out);
}

static void fill_angle(const struct job *job, const struct output *output, size_t first, size_t n,
                       void *out, void *scratch)
{
    each_list(job, output, first, n, make_angles, out, scratch);
}

/* One row, of all pairs. */
static void make_frequencies(const struct job *job, bool scaled, void *out, void *scratch)
{
    size_t pairs = pe_spec_pairs(spec_of(job));
    double *rest = scratch;
    pe_frequencies(plan_of(job), &(struct pe_frequencies){
                                     .dtype = job->aspects->dtype,
                                     .context = 1,
                                     .inv_freq = scaled ? out : rest,
                                     .base_inv_freq = scaled ? rest : out,
                                     .wavelength = rest + pairs,
                                     .turns = rest + 2 * pairs,
                                     .band = (int64_t *)(void *)(rest + 3 * pairs),
                                 });
}

static void fill_inv_freq(const struct job *job, const struct output *output, size_t first,
                          size_t n, void *out, void *scratch)
{
    (void)output, (void)first, (void)n;
    make_frequencies(job, true, out, scratch);
}

static void fill_base_inv_freq(const struct job *job, const struct output *output, size_t first,
                               size_t n, void *out, void *scratch)
{
    (void)output, (void)first, (void)n;
    make_frequencies(job, false, out, scratch);
}

/* A row for each axis and list. */
static void fill_positions(const struct job *job, const struct output *output, size_t first,
                           size_t n, void *out, void *scratch)
{
    const struct position_lists *lists = job->aspects->positions;
    (void)output, (void)scratch;
    for (size_t row = first; row < first + n; row++) {
        const struct pe_positions *list = &lists->list[row % lists->lists_n];
        pe_positions_used(plan_of(job), list->at[row / lists->lists_n], list->n,
                          (double *)out + (row - first) * list->n);
    }
}

/* ---- Whole numbers ------------------------------------------------------------------------- */

static void fill_axis(const struct job *job, const struct output *output, size_t first, size_t n,
                      void *out, void *scratch)
{
    const struct pe_spec *spec = spec_of(job);
    (void)first, (void)n, (void)scratch;
    for (size_t pair = 0; pair < output->count; pair++)
        ((int64_t *)out)[pair] = (int64_t)pe_spec_pair_axis(spec, pair);
}

/* The pairs from which on frequencies are 0. */
static size_t pairs_kept(const struct pe_spec *spec)
{
    int row = pe_params_find(&spec->params, "kept_pairs", strlen("kept_pairs"));
    bool some = row >= 0 && pe_params_applies(&spec->params, (size_t)row);
    return some ? (size_t)spec->params.value[row].number : pe_spec_pairs(spec);
}

static void fill_passthrough(const struct job *job, const struct output *output, size_t first,
                             size_t n, void *out, void *scratch)
{
    const struct pe_spec *spec = spec_of(job);
    size_t dim = pe_spec_dim(spec), a, b;
    int64_t *next = out;
    char *turned = scratch;
    (void)output, (void)first, (void)n;
    memset(turned, 0, dim);
    for (size_t pair = 0; pair < pairs_kept(spec); pair++) {
        pe_spec_pair_members(spec, pair, false, &a, &b);
        turned[a] = turned[b] = 1;
    }
    for (size_t channel = 0; channel < dim; channel++)
        if (!turned[channel])
            *next++ = (int64_t)channel;
}

/* ---- Biases -------------------------------------------------------------------------------- */

/* Those of the first list; all have as many. */
static const struct pe_positions *keys_of(const struct job *job)
{
    const struct aspects *own = job->aspects;
    return (own->keys ? own->keys : own->positions)->list;
}

/* A row for each list, head and query. */
static void fill_bias(const struct job *job, const struct output *output, size_t first, size_t n,
                      void *out, void *scratch)
{
    const struct pe_positions *queries = job->aspects->positions->list, *keys = keys_of(job);
    size_t heads = pe_spec_heads(spec_of(job)), rows = queries->n;
    size_t step = keys->n * pe_dtype_size(output->dtype);
    (void)scratch;
    for (size_t row = first; row < first + n; row++) {
        size_t list = row / rows / heads;
        struct pe_positions query = tokens_slab(&queries[list], row % rows, 1);
        pe_bias(plan_of(job), &query, &keys[list], row / rows % heads, 1, output->dtype,
                (char *)out + (row - first) * step);
    }
}

static void fill_slopes(const struct job *job, const struct output *output, size_t first, size_t n,
                        void *out, void *scratch)
{
    (void)first, (void)n, (void)scratch; /* one row */
    pe_slopes(plan_of(job), output->dtype, out);
}

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
    named_axis(draft, "pair", pe_spec_pairs(spec_of(job)), NULL);
    draft->row_scratch = 4 * pe_spec_pairs(spec_of(job)) * sizeof(double);
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
    if (is_packed(job) && pack_of(job) == PACK_STACKED) {
        shape_columns(job, draft);
        axis_add(draft, 2,
                 &(struct answer_axis){.name = "part", .short_name = "part", .names = ends});
        draft->row_axes = 2;
        return;
    }
    token_axes(job, draft);
    if (is_packed(job)) {
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
    size_t dim = pe_spec_dim(spec_of(job));
    named_axis(draft, "index", dim - 2 * pairs_kept(spec_of(job)), NULL);
    draft->row_scratch = dim;
}

static void shape_bias(const struct job *job, struct output *draft)
{
    bool batched = job->aspects->positions->batched;
    batch_axis(job, draft);
    named_axis(draft, "head", pe_spec_heads(spec_of(job)), NULL);
    token_axis(job, draft);
    named_axis(draft, "key", keys_of(job)->n, batched ? NULL : keys_of(job)->at[0]);
}

static void shape_slopes(const struct job *job, struct output *draft)
{
    named_axis(draft, "head", pe_spec_heads(spec_of(job)), NULL);
}

/* ---- The table ----------------------------------------------------------------------------- */

/* What a kind has. */
enum has { ROTATES = 1, ROWS = 2, FREQUENCIES = 4, BIASES = 8, SLOPES = 16, ANY = 32 };

static unsigned has_of(const struct pe_spec *spec)
{
    unsigned facets = pe_kind_facets(spec->kind), has = ANY;
    has |= facets >> PE_FACET_BOTH & 1 ? ROTATES : 0;
    has |= facets >> PE_FACET_ENCODING & 1 ? ROWS : 0;
    has |= facets >> PE_FACET_BIAS & 1 ? BIASES : 0;
    has |= facets >> PE_FACET_SLOPES & 1 ? SLOPES : 0;
    bool given = spec->kind->acts == PE_ROTATES && spec->table; /* cos and sin */
    return has | (pe_spec_pairs(spec) > 0 && !given ? FREQUENCIES : 0);
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
    [ASPECT_COS] = {"cos", ROTATES, true, IN_DTYPE, OF_PLANS, shape_columns, fill_cos},
    [ASPECT_SIN] = {"sin", ROTATES, true, IN_DTYPE, OF_PLANS, shape_columns, fill_sin},
    [ASPECT_TABLE] = {"table", ROWS, true, IN_DTYPE, OF_PLANS, shape_table, fill_table},
    [ASPECT_INV_FREQ] = {"inv_freq", FREQUENCIES, false, IN_DTYPE, OF_FREQ, shape_pairs,
                         fill_inv_freq},
    [ASPECT_BASE_INV_FREQ] = {"base_inv_freq", FREQUENCIES, false, IN_DTYPE, OF_FREQ, shape_pairs,
                              fill_base_inv_freq},
    [ASPECT_ANGLE] = {"angle", FREQUENCIES, true, IN_DTYPE, OF_ANGLE, shape_columns, fill_angle},
    [ASPECT_POSITIONS] = {"positions", ANY, true, IN_F64, OF_POS, shape_positions, fill_positions},
    [ASPECT_AXIS] = {"axis", FREQUENCIES, false, IN_I64, 0, shape_pairs, fill_axis},
    [ASPECT_PASSTHROUGH] = {"passthrough", ROTATES, false, IN_I64, 0, shape_passthrough,
                            fill_passthrough},
    [ASPECT_BIAS] = {"bias", BIASES, true, IN_DTYPE, OF_PLANS, shape_bias, fill_bias},
    [ASPECT_SLOPES] = {"slopes", SLOPES, false, IN_DTYPE, OF_FREQ, shape_slopes, fill_slopes},
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
    bool table = job_output_named(job, "table") && is_packed(job);
    bool parts = job_output_named(job, "cos") || job_output_named(job, "sin");
    bool columns = table || parts || job_output_named(job, "angle");
    bool ok = columns || job_unread(job, width, "only cos, sin and angles have a width");
    ok = (table || (parts && !is_packed(job)) ||
          job_unread(job, pack, "the answer has no table of cos and sin")) &&
         ok;
    leave_out(job, "width");
    leave_out(job, "pack");
    return ok;
}

static bool refuse(struct job *job, const struct row *row, bool has)
{
    const struct pe_spec *spec = spec_of(job);
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
        bool has = rows[i].has & has_of(spec_of(job));
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
