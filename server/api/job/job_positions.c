// SPDX-License-Identifier: Apache-2.0
/*
 * job_positions.c: where tokens stand: by lists, or by one of the keys that stand in their place.
 * All become lists of doubles in the arena, with what has no position around them, and, for the
 * echo and the links, one canonical text.
 */
#include <math.h>
#include <string.h>

#include "places.h"

/* ---- Who says it --------------------------------------------------------------------------- */

typedef bool read_places(struct job *job, const struct places_ask *ask, struct places *places);

#define NO_MASK "there is neither attention_mask nor ids"

/* Keys in place of `positions`, and those that only they read. */
static const struct source {
    const char *name;
    read_places *read;
    const char *reads[12]; /* ends with NULL */
    const char *without;   /* why these have no effect without it */
} sources[] = {
    {"grid",
     places_from_grid,
     {"grid_order", "merge", "coords", "coord_offset", "ref", "start", "stop", "coord_norm", NULL},
     "there is no grid"},
    {"pixel_mask", places_from_grid, {NULL}, NULL},
    {"attention_mask", places_from_mask, {"padding_idx", NULL}, NO_MASK},
    {"ids", places_from_mask, {NULL}, NULL},
};
#define SOURCES_N (sizeof sources / sizeof *sources)

/* Not all endpoints have all of the keys. */
static bool is_set(const struct job *job, const char *name)
{
    return job_has_key(job, name) && job_key(job, name)->set;
}

static bool is_given(const struct job *job, const char *name)
{
    return is_set(job, name) && job_key(job, name)->given;
}

bool job_positions_given(const struct job *job)
{
    bool given = is_given(job, "positions");
    for (size_t i = 0; i < SOURCES_N; i++)
        given = given || is_given(job, sources[i].name);
    return given;
}

/* A grid may come with the map of its pixels. */
static bool may_follow(const struct source *first, const struct source *second)
{
    return first == &sources[0] && second == &sources[1];
}

/* The one that is given; NULL: `positions`. False when there are two. */
static bool find_source(struct job *job, const struct source **found)
{
    const char *first = is_given(job, "positions") ? "positions" : NULL;
    *found = NULL;
    for (size_t i = 0; i < SOURCES_N; i++) {
        const char *name = sources[i].name;
        if (!is_given(job, name) || (*found && may_follow(*found, &sources[i])))
            continue;
        if (first)
            return err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, name),
                           NULL, "%s and %s cannot be given together", name, first);
        first = name;
        *found = &sources[i];
    }
    return true;
}

/* Refuses what only keys read that are not given, and does not echo it; nor what stands around, if
 * nothing does. */
static bool refuse_others(struct job *job, const struct source *found)
{
    static const char *const around[] = {"class_token", "prefix"};
    bool ok = true;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        if (is_set(job, around[i]) && job_key(job, around[i])->number == 0)
            job_key_edit(job, around[i])->set = false;
    for (size_t i = 0; i < SOURCES_N; i++) {
        const struct source *source = &sources[i];
        bool reads = found && found->read == source->read;
        if (!job_has_key(job, source->name) || reads)
            continue;
        ok = (!source->without || job_unread(job, source->reads, source->without)) && ok;
    }
    return ok;
}

/* A style is of masks, or, with chunks, of tokens that are numbered. */
static bool style_fits(struct job *job, const struct source *found, const struct pe_spec *spec)
{
    static const char *const style[] = {"style", NULL};
    bool masked = found && found->read == places_from_mask, chunks = spec && chunks_asked(job);
    if (chunks && found)
        return err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "style"),
                       "give positions instead", "style=dual_chunk and %s cannot be given together",
                       found->name);
    if (chunks)
        return (spec->kind->acts == PE_ROTATES && pe_spec_axes(spec) == 1) ||
               err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "style"),
                       "for example kind=rope",
                       "style=dual_chunk is of rotations on one axis, and kind=%s is none",
                       spec->kind->name);
    bool ok = masked || job_unread(job, style, NO_MASK);
    return chunks_unread(job) && ok;
}

bool job_positions_lists_only(struct job *job, const char *because)
{
    bool ok = true;
    for (size_t i = 0; i < SOURCES_N; i++)
        ok = job_unread(job, (const char *const[]){sources[i].name, NULL}, because) && ok;
    static const char *const others[] = {"class_token", "style",   "chunk_size",
                                         "local_size",  "variant", NULL};
    ok = job_unread(job, others, because) && ok;
    return refuse_others(job, NULL) && ok;
}

/* ---- What stands around -------------------------------------------------------------------- */

/* Tokens without a position, before and behind the others. */
struct frame {
    size_t prefix, before, behind;
};

static struct frame frame_of(const struct job *job)
{
    struct frame frame = {0};
    if (is_set(job, "class_token")) {
        frame.before = job_key_is(job, "class_token", "first");
        frame.behind = job_key_is(job, "class_token", "last");
    }
    if (is_set(job, "prefix"))
        frame.prefix = (size_t)job_key(job, "prefix")->number;
    return frame;
}

size_t job_positions_around(const struct job *job)
{
    struct frame frame = frame_of(job);
    return frame.prefix + frame.before + frame.behind;
}

static void fill_none(double *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = NAN;
}

static bool frame_places(struct job *job, struct frame frame, struct places *places)
{
    size_t lead = frame.prefix + frame.before, n = lead + places->n + frame.behind;
    size_t rows = places->axes * places->batches;
    if (n == places->n)
        return true;
    double *at = job_alloc(job, job_product((size_t[]){rows, n}, 2), sizeof *at);
    for (size_t row = 0; at && row < rows; row++) {
        double *to = at + row * n;
        fill_none(to, lead);
        memcpy(to + lead, places->at + row * places->n, places->n * sizeof *to);
        fill_none(to + lead + places->n, frame.behind);
    }
    places->at = at;
    places->n = n;
    return at != NULL;
}

/* ---- Lists --------------------------------------------------------------------------------- */

static bool lists_make(struct job *job, const struct places *places, struct position_lists *out)
{
    struct pe_positions *list = job_alloc(job, places->batches, sizeof *list);
    if (!list)
        return false;
    for (size_t b = 0; b < places->batches; b++) {
        list[b] = (struct pe_positions){.axes = places->axes, .n = places->n};
        for (size_t axis = 0; axis < places->axes; axis++)
            list[b].at[axis] = places->at + (axis * places->batches + b) * places->n;
    }
    out->list = list;
    out->lists_n = places->batches;
    out->batched = places->batched;
    return true;
}

struct pe_positions job_positions_all(const struct position_lists *lists)
{
    struct pe_positions all = *lists->list; /* lists follow each other on each axis */
    all.n *= lists->lists_n;
    return all;
}

bool job_positions_behind(struct job *job, const struct position_lists *lists, size_t first,
                          struct position_lists *out)
{
    struct pe_positions *list = job_alloc(job, lists->lists_n, sizeof *list);
    *out = *lists;
    out->list = list;
    for (size_t b = 0; list && b < lists->lists_n; b++) {
        list[b] = lists->list[b];
        list[b].n -= first;
        for (size_t axis = 0; axis < list[b].axes; axis++)
            list[b].at[axis] += first;
    }
    return list != NULL;
}

bool job_positions_count(struct job *job, const struct pe_spec *spec, size_t tokens,
                         struct position_lists *out)
{
    bool read = style_fits(job, NULL, spec);
    struct frame frame = frame_of(job);
    size_t around = job_positions_around(job), axes = pe_spec_axes(spec);
    struct places places = {.axes = axes, .batches = 1};
    if (!refuse_others(job, NULL) || !read)
        return false;
    if (around > tokens)
        return err_add(&job->request->err, ERR_shape_mismatch,
                       job_where(job, frame.prefix ? "prefix" : "class_token"), NULL,
                       "%zu tokens are to have no position, the tensor has %zu", around, tokens);
    places.n = tokens - around;
    places.at = job_alloc(job, axes * places.n, sizeof *places.at);
    for (size_t i = 0; places.at && i < axes * places.n; i++)
        places.at[i] = (double)(i % places.n);
    *out = (struct position_lists){.where = "positions"};
    if (places.n > 0) /* no text says: no positions */
        out->text = arena_printf(&job->request->arena, "0:%zu", places.n);
    return places.at && (!chunks_asked(job) || places_in_chunks(job, out->where, &places)) &&
           frame_places(job, frame, &places) && lists_make(job, &places, out);
}

static bool read_places_of(struct job *job, const struct places_ask *ask,
                           const struct source *source, struct position_lists *out)
{
    struct places places = {0};
    struct frame frame = ask->spec ? frame_of(job) : (struct frame){0};
    const struct pe_value *value = job_key(job, ask->name);
    if (!source && ask->axes != 1 && !value->given)
        return err_add(&job->request->err, ERR_missing_parameter, ask->name,
                       "for example grid=4x4, or positions=0,0,1,1;0,1,0,1",
                       "this kind has %zu axes and no default positions", ask->axes);
    if (!(source ? source->read : places_from_lists)(job, ask, &places))
        return false;
    out->where = places_where(job, source ? source->name : ask->name);
    out->text = source ? NULL : value->text;
    if (!source && strcmp(ask->name, "positions") == 0 && chunks_asked(job) &&
        !places_in_chunks(job, out->where, &places))
        return false;
    return frame_places(job, frame, &places) && lists_make(job, &places, out);
}

bool job_positions(struct job *job, const char *name, const struct pe_spec *spec,
                   size_t batches_max, struct position_lists *out)
{
    static const char *const around[] = {"class_token", NULL};
    struct places_ask ask = {name, spec, spec ? pe_spec_axes(spec) : 1, batches_max};
    const struct source *source = NULL;
    *out = (struct position_lists){0};
    if (strcmp(name, "positions") == 0) {
        if (!find_source(job, &source) || !style_fits(job, source, spec) ||
            !refuse_others(job, source))
            return false;
        if (source)
            *job_key_edit(job, name) = (struct pe_value){0};
        bool rows = !spec || spec->kind->acts != PE_BIASES;
        if (!rows && !job_unread(job, around, "biases are of pairs of tokens"))
            return false;
    }
    return read_places_of(job, &ask, source, out);
}

bool job_positions_empty(const struct job *job, const char *name)
{
    struct arena *arena = &job->request->arena;
    const struct safetensors_tensor *tensor = safetensors_tensor(&job->file, name);
    for (int i = 0; i < 2; i++) {
        const char *pointer = arena_printf(arena, i == 0 ? "/%s" : "/%s/axes", name);
        const struct json_array *array = pointer ? json_doc_array(&job->doc, pointer) : NULL;
        if (array && array->count == 0)
            return true;
    }
    return tensor && tensor->view.count == 0;
}

static double largest_place(const struct pe_spec *spec, const struct position_lists *positions)
{
    double most = -INFINITY;
    for (size_t b = 0; b < positions->lists_n; b++)
        for (size_t i = 0; i < positions->list[b].n; i++)
            most = fmax(most, pe_spec_place(spec, positions->list[b].at[0][i])); /* NaN: none */
    return most;
}

bool job_center(struct job *job, const struct position_lists *positions)
{
    bool ok = true;
    for (size_t s = 0; s < job->specs_n; s++) {
        struct pe_spec *spec = &job->specs[s].spec;
        if (!pe_spec_has_scales(spec))
            continue;
        struct pe_value *center =
            &spec->params.value[pe_params_find(&spec->params, "center", strlen("center"))];
        double half = floor((largest_place(spec, positions) + 1) / 2);
        if (center->given || !isfinite(half) || (center->set && center->number >= half))
            continue;
        center->set = true;
        center->number = half + 0;
        ok = job_spec_name(job, &job->specs[s]) && ok;
    }
    return ok;
}

bool job_positions_check(struct job *job, const struct position_lists *positions)
{
    struct pe_faults faults = {0};
    for (size_t s = 0; s < job->specs_n + job->beside_n; s++)
        for (size_t b = 0; b < positions->lists_n; b++)
            pe_stages_check(&job->stages, &job->specs[s].spec, &positions->list[b],
                            positions->where, &faults);
    api_faults_at(&job->request->err, &faults, positions->where);
    return faults.n == 0;
}

struct answer_axis job_position_axis(const struct position_lists *positions)
{
    const struct pe_positions *list = positions->list;
    struct answer_axis axis = {.name = "position", .short_name = "pos"};
    if (positions->batched) /* each batch row has its own: numbered */
        return axis;
    axis.labels = list->at[0];
    for (size_t a = 1; a < list->axes; a++)
        axis.more[a - 1] = list->at[a];
    return axis;
}

/* ---- Scores -------------------------------------------------------------------------------- */

/* n consecutive positions from `first`. */
static bool count_up(struct job *job, size_t n, double first, const char *where,
                     struct position_lists *out)
{
    double *at = job_alloc(job, n, sizeof *at);
    struct pe_positions *list = job_alloc(job, 1, sizeof *list);
    if (!at || !list)
        return false;
    for (size_t i = 0; i < n; i++)
        at[i] = first + (double)i;
    *list = (struct pe_positions){.axes = 1, .n = n, .at = {at}};
    *out = (struct position_lists){.list = list, .lists_n = 1, .where = where};
    size_t len = pe_positions_print(at, n, NULL, 0);
    char *text = job_alloc(job, len + 1, 1);
    if (text)
        pe_positions_print(at, n, text, len + 1);
    out->text = n > 0 ? text : NULL; /* no text says: no positions */
    return text != NULL;
}

bool job_positions_side(struct job *job, const char *name, const struct pe_spec *spec, size_t n,
                        double first, struct position_lists *out)
{
    if (!job_key(job, name)->set)
        return count_up(job, n, first, name, out);
    if (!job_positions(job, name, spec, 1, out))
        return false;
    if (out->list->n == n)
        return true;
    return err_add(&job->request->err, ERR_shape_mismatch, out->where, NULL,
                   "%zu positions for %zu rows or columns of scores", out->list->n, n);
}
