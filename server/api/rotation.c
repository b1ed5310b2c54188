// SPDX-License-Identifier: Apache-2.0
/*
 * rotation.c: GET /v1/rotation: the angle of each position and pair, its cosine and sine, and, with
 * content=, a vector's pairs before and after: what one draws as arrows.
 */
#include <string.h>

#include "columns.h"
#include "content.h"
#include "job.h"
#include "keys.h"

static const struct pe_param keys[] = {
    KEY_POSITIONS("0:32", 0),
    KEY_GRID,
    {"pairs", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Pairs to give, in the grammar of positions; all without it."},
    {"value", NULL, PE_ENUM, 0, 0, 0, 0, "angle", "angle angle_mod turns", NULL,
     "The angle in radians, modulo 2 pi in [0, 2 pi), or in full turns."},
    KEY_CONTENT(CONTENT_CHOICES, NULL, PE_OPTIONAL),
    KEY_SEED,
    KEY_GAIN("1"),
    KEY_DTYPE("Number format of the answer; f64 by default."),
    KEY_STAGES,
};

struct own {
    struct position_lists positions;
    enum pe_dtype dtype;
    struct columns pairs;
    struct content content; /* of the vector that is turned */
    bool arrows;
};

static const char *const angle_names[] = {"angle", "cos", "sin"};

static void outputs_state(struct job *job)
{
    const struct own *own = job->own;
    size_t shape[] = {own->positions.list->n, own->pairs.n, 2};
    static const char *const ends[] = {"first", "second"};
    for (size_t i = 0; i < (own->arrows ? 5 : 3); i++) {
        const char *name = i < 3 ? angle_names[i] : i == 3 ? "before" : "after";
        struct output *output = job_output(job, name, own->dtype, i < 3 ? 2 : 3, shape);
        output->axes[0] = job_position_axis(&own->positions);
        output->axes[1] =
            (struct answer_axis){.name = "pair", .short_name = "pair", .labels = own->pairs.labels};
        if (i >= 3)
            output->axes[2] =
                (struct answer_axis){.name = "member", .short_name = "member", .names = ends};
    }
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    bool ok = job_specs_finish(job);
    ok = job_positions(job, "positions", spec->kind->axes, 1, &own->positions) && ok;
    if (!ok)
        return false;
    own->dtype = job_dtype(job, PE_F64);
    own->arrows = job_key(job, "content")->set;
    static const char *const seeded[] = {"seed", "gain", NULL};
    ok = own->arrows || job_unread(job, seeded, "without content there is no vector to turn");
    ok = columns_read(job, "pairs", pe_spec_pairs(spec), &own->pairs) && ok;
    ok = (!own->arrows || content_read(job, pe_spec_dim(spec), &own->content)) && ok;
    if (!ok || !job_positions_check(job, &own->positions))
        return false;
    job->plan_positions = *own->positions.list;
    outputs_state(job);
    return true;
}

/* ---- Computing ----------------------------------------------------------------------------- */

/* Angles, cosines and sines, a slab of tokens at a time. */
static bool angles_output(struct job *job)
{
    struct own *own = job->own;
    const struct pe_plan *plan = job_plan(job, 0);
    const struct pe_positions *all = own->positions.list;
    size_t pairs = pe_spec_pairs(&job->specs[0].spec);
    size_t size = pe_dtype_size(own->dtype);
    char *out[3];
    for (size_t i = 0; i < 3; i++)
        if (!(out[i] = job_output_data(job, angle_names[i])))
            return false;
    size_t slab = 1 + 4096 / pairs;
    char *scratch = job_alloc(job, 2 * slab * pairs, size);
    enum pe_angle form = (enum pe_angle)job_key(job, "value")->number;
    for (size_t first = 0; scratch && first < all->n; first += slab) {
        size_t n = all->n - first < slab ? all->n - first : slab;
        struct pe_positions part = tokens_slab(all, first, n);
        if (job_expired(job))
            return false;
        size_t at = first * own->pairs.n * size;
        pe_angles(plan, &part, own->pairs.index, own->pairs.n, form, own->dtype, out[0] + at);
        pe_cos_sin(plan, &part, own->dtype, scratch, scratch + slab * pairs * size);
        columns_take(&own->pairs, scratch, out[1] + at, n, size);
        columns_take(&own->pairs, scratch + slab * pairs * size, out[2] + at, n, size);
    }
    return scratch != NULL;
}

/* [positions, pairs, 2] of a vector that stands at every position: as it is, or turned. */
static bool arrow_output(struct job *job, const char *name, const void *rows)
{
    struct own *own = job->own;
    const struct pe_spec *spec = &job->specs[0].spec;
    size_t n = own->positions.list->n, dim = pe_spec_dim(spec);
    size_t size = pe_dtype_size(own->dtype);
    char *out = job_output_data(job, name);
    if (!out)
        return false;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < own->pairs.n; i++) {
            size_t a, b;
            pe_spec_pair_channels(spec, own->pairs.index[i], &a, &b);
            const char *row = (const char *)rows + r * dim * size;
            memcpy(out, row + a * size, size);
            memcpy(out + size, row + b * size, size);
            out += 2 * size;
        }
    return true;
}

static bool arrows_output(struct job *job)
{
    struct own *own = job->own;
    size_t n = own->positions.list->n, dim = pe_spec_dim(&job->specs[0].spec);
    size_t size = pe_dtype_size(own->dtype);
    char *rows = job_alloc(job, job_product((size_t[]){n, dim}, 2), size);
    void *work = job_apply_work(job, job_plan(job, 0));
    if (!rows || !work)
        return false;
    content_fill(&own->content, "x", own->dtype, 0, dim, rows);
    for (size_t r = 1; r < n; r++)
        memcpy(rows + r * dim * size, rows, dim * size);
    if (!arrow_output(job, "before", rows))
        return false;
    struct pe_view view;
    pe_view_init(&view, own->dtype, rows, "td", (size_t[]){n, dim}, 2, 1);
    pe_apply(&(struct pe_apply){.plan = job_plan(job, 0),
                                .positions = own->positions.list,
                                .positions_n = 1,
                                .in = &view,
                                .out = &view,
                                .work = work});
    return arrow_output(job, "after", rows);
}

static bool compute(struct job *job)
{
    const struct own *own = job->own;
    return angles_output(job) && (!own->arrows || arrows_output(job));
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
    .formats = 1 << FORMAT_JSON | 1 << FORMAT_CSV | 1 << FORMAT_TXT,
    .prepare = prepare,
    .compute = compute,
};
