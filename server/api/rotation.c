// SPDX-License-Identifier: Apache-2.0
/*
 * rotation.c: GET /v1/rotation: the angle of each position and pair, its cosine and sine, and, with
 * content=, a vector's pairs before and after: what one draws as arrows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aspects.h"
#include "content.h"
#include "keys.h"
#include "widths.h"

static const struct pe_param keys[] = {
    KEYS_POSITIONS("0:32", 0),
    {"pairs", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Pairs to give, in the grammar of positions; all without it."},
    {"value", NULL, PE_ENUM, 0, 0, 0, 0, "angle", "angle angle_mod turns", NULL,
     "The angle in radians, modulo 2 pi in [0, 2 pi), or in full turns."},
    KEY_CONTENT(CONTENT_CHOICES, NULL, PE_OPTIONAL),
    KEY_SEED,
    KEY_GAIN("1"),
    KEY_WIDTH(NULL, PE_OPTIONAL),
    KEY_PACK,
    KEY_WITH,
    KEY_DTYPE("Number format of the answer; f64 by default."),
    KEY_STAGES,
};

struct own {
    struct position_lists positions;
    struct aspects aspects;
    struct columns pairs;
    struct content content; /* of the vector that is turned */
    bool arrows;
};

/* ---- Rows ---------------------------------------------------------------------------------- */

/* The chosen pairs of rows of vectors, [n, pairs, 2]. */
static void take_pairs(const struct job *job, const char *rows, size_t n, bool after, char *out)
{
    const struct own *own = job->own;
    const struct pe_spec *spec = &job->specs[0].spec;
    size_t size = pe_dtype_size(own->aspects.dtype);
    for (size_t r = 0; r < n; r++, rows += pe_spec_dim(spec) * size)
        for (size_t i = 0; i < own->pairs.n; i++, out += 2 * size) {
            size_t a, b;
            pe_spec_pair_members(spec, own->pairs.index[i], after, &a, &b);
            memcpy(out, rows + a * size, size);
            memcpy(out + size, rows + b * size, size);
        }
}

/* The vector that stands at every position, n times. */
static void repeat_vector(const struct job *job, size_t n, char *rows)
{
    const struct own *own = job->own;
    size_t dim = own->content.dim, bytes = dim * pe_dtype_size(own->aspects.dtype);
    content_fill(&own->content, "x", own->aspects.dtype, 0, dim, rows);
    for (size_t r = 1; r < n; r++)
        memcpy(rows + r * bytes, rows, bytes);
}

static void fill_before(const struct job *job, const struct output *output, size_t first, size_t n,
                        void *out, void *scratch)
{
    (void)output, (void)first;
    repeat_vector(job, n, scratch);
    take_pairs(job, scratch, n, false, out);
}

static void fill_after(const struct job *job, const struct output *output, size_t first, size_t n,
                       void *out, void *scratch)
{
    const struct own *own = job->own;
    const struct pe_plan *plan = job_plan(job, 0);
    struct pe_positions all = job_positions_all(&own->positions);
    struct pe_positions part = tokens_slab(&all, first, n);
    char *rows = (char *)scratch + output->scratch;
    struct pe_view view;
    repeat_vector(job, n, rows);
    pe_view_init(&view, own->aspects.dtype, rows, "td", (size_t[]){n, own->content.dim}, 2, 1);
    pe_apply(&(struct pe_apply){.plan = plan,
                                .positions = &part,
                                .positions_n = 1,
                                .in = &view,
                                .out = &view,
                                .work = scratch,
                                .stages = &job->stages});
    take_pairs(job, rows, n, true, out);
}

/* ---- Outputs ------------------------------------------------------------------------------- */

static bool rounds_positions(const struct job *job)
{
    return job->stages.named & 1u << PE_STAGE_POS;
}

static void arrow_state(struct job *job, const char *name, output_fill *fill)
{
    const struct own *own = job->own;
    static const char *const ends[] = {"first", "second"};
    size_t shape[] = {own->positions.lists_n, own->positions.list->n, own->pairs.n, 2};
    size_t flat = own->positions.batched ? 0 : 1;
    struct output *output = job_output(job, name, own->aspects.dtype, 4 - flat, shape + flat);
    struct answer_axis *axis = output->axes;
    output->fill = fill;
    output->row_scratch = own->content.dim * pe_dtype_size(own->aspects.dtype);
    output->row_axes = 2;
    output->position_axis = 1 - flat;
    if (own->positions.batched)
        *axis++ = (struct answer_axis){.name = "batch", .short_name = "batch"};
    *axis++ = job_position_axis(&own->positions);
    *axis++ =
        (struct answer_axis){.name = "pair", .short_name = "pair", .labels = own->pairs.labels};
    *axis = (struct answer_axis){.name = "member", .short_name = "member", .names = ends};
}

static bool outputs_state(struct job *job)
{
    const struct own *own = job->own;
    bool packed = pack_of(job) != PACK_SEPARATE;
    aspect_state(job, ASPECT_ANGLE);
    aspect_state(job, packed ? ASPECT_TABLE : ASPECT_COS);
    if (!packed)
        aspect_state(job, ASPECT_SIN);
    if (own->arrows) {
        arrow_state(job, "before", fill_before);
        arrow_state(job, "after", fill_after);
    }
    if (rounds_positions(job))
        aspect_state(job, ASPECT_POSITIONS);
    return aspects_with(job);
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    bool ok = job_specs_finish(job);
    ok = job_positions(job, "positions", spec, JOB_BATCHES_ANY, &own->positions) && ok;
    if (!ok)
        return false;
    own->aspects = (struct aspects){.positions = &own->positions,
                                    .dtype = job_dtype(job, PE_F64),
                                    .form = (enum pe_angle)job_key(job, "value")->number};
    job->aspects = &own->aspects;
    own->arrows = job_key(job, "content")->set;
    static const char *const seeded[] = {"seed", "gain", NULL};
    ok = own->arrows || job_unread(job, seeded, "without content there is no vector to turn");
    if (own->arrows && pe_spec_is_polar(spec))
        ok = err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "content"),
                     "/v1/apply gives both channels of each",
                     "kind=%s turns channels and no pairs of them", spec->kind->name);
    ok = columns_read(job, "pairs", pe_spec_pairs(spec), &own->pairs) &&
         aspects_columns(job, &own->aspects, &own->pairs) && ok;
    ok = (!own->arrows || content_read(job, pe_spec_dim(spec), &own->content)) && ok;
    unsigned stages = PE_STAGES_OF_PLANS | (own->arrows ? 1u << PE_STAGE_APPLY : 0);
    ok = job_stages(job, stages, own->aspects.dtype) && ok;
    if (!ok || !job_center(job, &own->positions) || !job_positions_check(job, &own->positions))
        return false;
    job->plan_positions = job_positions_all(&own->positions);
    return outputs_state(job);
}

/* ---- Readouts of rounded positions --------------------------------------------------------- */

/* The step from a number of this size to the next in a dtype. */
static double spacing(enum pe_dtype dtype, double size)
{
    static const struct {
        int fraction, least;
    } formats[PE_I64] = {
        [PE_F64] = {52, -1022}, [PE_F32] = {23, -126}, [PE_F16] = {10, -14}, [PE_BF16] = {7, -126}};
    int exponent = size != 0 ? ilogb(size) : formats[dtype].least;
    exponent = exponent > formats[dtype].least ? exponent : formats[dtype].least;
    return ldexp(1, exponent - formats[dtype].fraction);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many positions are left of those asked for, the first that has moved, and the step between
 * neighbours at the largest. */
static bool positions_readouts(struct job *job)
{
    const struct own *own = job->own;
    const struct pe_positions all = job_positions_all(&own->positions);
    double *at = job_alloc(job, all.n, sizeof *at);
    size_t n = 0; /* with a position */
    if (!at)
        return false;
    double largest = 0;
    const double *moved = NULL;
    for (size_t i = 0; i < all.n; i++) {
        const double *given = &all.at[0][i];
        if (isnan(*given))
            continue;
        at[n] = pe_stages_position(&job->stages, *given);
        largest = fmax(largest, fabs(at[n]));
        moved = !moved && at[n] != *given ? given : moved;
        n++;
    }
    qsort(at, n, sizeof *at, compare);
    size_t distinct = 1;
    for (size_t i = 1; i < n; i++)
        distinct += at[i] != at[i - 1];
    struct tree *readouts = job->answer.readouts;
    tree_integer(readouts, "distinct_positions", (int64_t)distinct);
    if (moved)
        tree_number(readouts, "first_unrepresentable", *moved);
    else
        tree_null(readouts, "first_unrepresentable");
    tree_number(readouts, "spacing", spacing(job->stages.dtype[PE_STAGE_POS], largest));
    return true;
}

static bool compute(struct job *job)
{
    const struct own *own = job->own;
    for (size_t i = 0; i < job->outputs_n; i++)
        if (job->outputs[i].fill == fill_after)
            job->outputs[i].scratch = job_apply_scratch(job, 0);
    if (rounds_positions(job) && own->positions.list->axes == 1)
        return positions_readouts(job);
    return true;
}

const struct endpoint rotation_endpoint = {
    .summary = "Angle, cosine and sine of each position and pair of a rotating kind.",
    .describes = "angle",
    .schema = "RotationAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = 1u << PE_ROTATES,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
