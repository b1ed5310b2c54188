// SPDX-License-Identifier: Apache-2.0
/*
 * positions.c: GET and POST /v1/positions: position ids and coordinates as models have them, from
 * masks and token ids, packed sequences, grids, and text with images and videos.
 */
#include "positions.h"

#include <math.h>
#include <string.h>

#include "keys.h"
#include "places.h"

static const struct pe_param keys[] = {
    KEY_ATTENTION_MASK,
    KEY_IDS,
    {"lengths", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Numbers of tokens of sequences that are packed behind each other; each starts anew."},
    KEYS_GRID(NULL),
    {"segments", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "A sequence of text, images and videos, as in 3,4x4,2x4x4@0.5: tokens, HxW, TxHxW with the "
     "seconds from frame to frame; in JSON also a list of {\"text\": 3}, {\"grid\": [1,4,4]} and "
     "{\"grid\": [2,4,4], \"seconds\": 0.5}."},
    {"style", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL,
     STYLES_OF_TOKENS " mrope mrope_interleaved vision pixtral dual_chunk", NULL,
     "Whose rule it is. Tokens: gpt2 from 0; opt, roberta and fairseq from padding_idx + 1; bart "
     "from 2. Segments: mrope, and mrope_interleaved with frames apart. Patches: vision (row and "
     "column in blocks of merge x merge), pixtral (row * max_width + column). Lengths: dual_chunk, "
     "the key and the queries of dual chunk attention. A grid needs none."},
    KEY_PADDING_IDX,
    {"patch", "patch_size", PE_INT, 1, PE_POSITION_MAX, 0, 0, "1", NULL, NULL,
     "Rows and columns of segments count pixels, of which patch x patch are one patch."},
    {"tokens_per_second", NULL, PE_INT, 1, PE_TOKENS_PER_SECOND_MAX, 0, PE_OPTIONAL, NULL, NULL,
     NULL, "Positions that a second of video takes; without it a frame is one from the next."},
    {"next_start", NULL, PE_ENUM, 0, 0, 0, 0, "max", "max side", NULL,
     "Where text goes on behind an image or a video: behind the largest position so far, or behind "
     "its longer side."},
    {"max_width", NULL, PE_INT, 1, PE_POSITIONS_N_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "style=pixtral: patches side by side in the largest image."},
    KEYS_CHUNKS("only the row of this one."),
};

/* ---- Tokens -------------------------------------------------------------------------------- */

#define OF_TOKENS  (1U << PE_STYLE_OF_TOKENS)
#define OF_IMAGES  (1U << PE_STYLE_OF_SEGMENTS | 1U << PE_STYLE_OF_PATCHES)
#define OF_LENGTHS (OF_TOKENS | 1U << PE_STYLE_OF_CHUNKS)

/* The style, which must be of what is given. */
static const struct pe_style *style_for(struct job *job, unsigned of, const char *name)
{
    const struct pe_style *style = style_read(job), *other;
    if (!style || of & 1U << style->of)
        return style;
    const char *hint = NULL;
    for (size_t i = 0; (other = pe_style_at(i)); i++)
        if (of & 1U << other->of)
            hint = arena_printf(&job->request->arena, "%s%s%s", hint ? hint : "",
                                hint ? ", " : "one of ", other->name);
    err_add(&job->request->err, ERR_invalid_value, job_where(job, "style"), hint,
            "style=%s is none for %s", style->name, name);
    return NULL;
}

static bool read_padded(struct job *job, struct ids *out)
{
    static const char *const padding[] = {"padding_idx", NULL};
    bool ids = job_key(job, "ids")->given;
    struct numbers numbers;
    const struct pe_style *style = style_for(job, OF_TOKENS, ids ? "ids" : "attention_mask");
    out->real = mask_read(job, NULL, &numbers);
    if (!style || !out->real)
        return false;
    if (!style->reads_padding_idx && !ids &&
        !job_unread(job, padding, "this style has no use for it with a mask"))
        return false;
    double padding_idx = style->reads_padding_idx ? mask_padding_idx(job, NULL) : 0;
    out->n = numbers.shape[numbers.rank - 1];
    out->rows = numbers.count / out->n;
    out->row = "batch";
    out->whole = true;
    out->at = job_alloc(job, numbers.count, sizeof *out->at);
    for (size_t i = 0; out->at && i < numbers.count; i += out->n)
        pe_style_tokens(style, padding_idx, out->real + i, out->n, out->at + i);
    return out->at != NULL;
}

/* The lengths, and all tokens in them. */
static bool read_lengths(struct job *job, struct numbers *lengths, size_t *total)
{
    if (!numbers_read(job, "lengths", lengths, NULL))
        return false;
    if (lengths->rank != 1)
        return err_add(&job->request->err, ERR_shape_mismatch, places_where(job, "lengths"), NULL,
                       "lengths are one list; got %zu axes", lengths->rank);
    if (!numbers_whole(job, "lengths", lengths, 1, (double)PE_POSITIONS_N_MAX) ||
        !numbers_echo(job, "lengths", lengths))
        return false;
    double sum = 0;
    for (size_t i = 0; i < lengths->count; i++)
        sum += lengths->at[i];
    if (sum > (double)PE_POSITIONS_N_MAX)
        return err_add(&job->request->err, ERR_limit_exceeded, places_where(job, "lengths"), NULL,
                       "the sequences have %.0f tokens; at most %zu are allowed", sum,
                       PE_POSITIONS_N_MAX);
    *total = (size_t)sum;
    return true;
}

/* A row per variant, or that of one. */
static bool fill_chunks(struct job *job, const struct numbers *lengths, struct ids *out)
{
    const struct pe_value *one = job_key(job, "variant");
    struct pe_chunks chunks = {0};
    size_t first = one->set ? (size_t)one->number : 0;
    if (!chunks_read(job, &chunks))
        return false;
    out->row = "variant";
    out->names = pe_chunk_variants() + first;
    out->rows = one->set ? 1 : PE_CHUNK_VARIANTS_N;
    double *at = out->at = job_alloc(job, out->rows * out->n, sizeof *at);
    for (size_t row = 0; at && row < out->rows; row++)
        for (size_t i = 0; i < lengths->count; i++)
            for (size_t token = 0; token < (size_t)lengths->at[i]; token++)
                *at++ =
                    pe_chunk_position(&chunks, (enum pe_chunk_variant)(first + row), (double)token);
    return out->at != NULL;
}

static bool read_packed(struct job *job, struct ids *out)
{
    static const char *const padding[] = {"padding_idx", NULL};
    struct numbers lengths;
    size_t total = 0;
    const struct pe_style *style = style_for(job, OF_LENGTHS, "lengths");
    if (!read_lengths(job, &lengths, &total) || !style)
        return false;
    bool chunks = style->of == PE_STYLE_OF_CHUNKS;
    bool ok = style->reads_padding_idx || job_unread(job, padding, "this style has no use for it");
    if (!(chunks || chunks_unread(job)) || !ok)
        return false;
    *out = (struct ids){.rows = 1, .n = total, .row = "batch", .whole = true};
    if (chunks)
        return fill_chunks(job, &lengths, out);
    double padding_idx = style->reads_padding_idx ? mask_padding_idx(job, NULL) : 0;
    double *at = out->at = job_alloc(job, out->n, sizeof *at);
    for (size_t i = 0; at && i < lengths.count; at += (size_t)lengths.at[i++])
        pe_style_tokens(style, padding_idx, NULL, (size_t)lengths.at[i], at);
    return out->at != NULL;
}

/* ---- Grids and segments -------------------------------------------------------------------- */

/* A grid by its style is a single segment. */
static bool grid_in_style(struct job *job, const struct pe_grid *grid, struct ids *out)
{
    static const char *const rules[] = {"grid_order", "coords", "coord_offset", "ref",
                                        "start",      "stop",   "coord_norm",   NULL};
    const struct pe_style *style = style_for(job, OF_IMAGES, "grid");
    if (!style || !job_unread(job, rules, "the style says how a grid is counted"))
        return false;
    if (grid->axes > 3)
        return err_add(&job->request->err, ERR_invalid_value, places_where(job, "grid"), NULL,
                       "with a style a grid has rows and columns, perhaps frames; got %zu axes",
                       grid->axes);
    struct pe_segment *segment = job_alloc(job, 1, sizeof *segment);
    if (!segment)
        return false;
    const size_t *last = grid->size + grid->axes - 2;
    *segment = (struct pe_segment){.size = {grid->axes > 2 ? grid->size[0] : 1, last[0], last[1]},
                                   .seconds = NAN};
    return positions_from_segments(job, style, "grid", segment, 1, out);
}

static bool read_grid(struct job *job, struct ids *out)
{
    static const char *const merge[] = {"merge", NULL};
    static const char *const styled[] = {"patch", "tokens_per_second", "next_start", "max_width",
                                         NULL};
    struct pe_grid grid;
    bool has_style = job_key(job, "style")->set;
    if (!grid_read(job, &grid))
        return false;
    if (has_style)
        return grid_in_style(job, &grid, out);
    bool ok = job_unread(job, styled, "without a style a grid is just one of coordinates");
    ok = (grid.order == PE_GRID_MERGE || job_unread(job, merge, "grid_order is not merge")) && ok;
    if (!ok)
        return false;
    *out = (struct ids){
        .at = grid_places(job, &grid), .rows = grid.axes, .n = pe_grid_cells(&grid), .row = "axis"};
    out->whole = grid.coords == PE_COORDS_INDEX && grid.offset == trunc(grid.offset);
    return out->at != NULL;
}

static bool read_segments(struct job *job, struct ids *out)
{
    struct pe_segment *segments;
    size_t n;
    const struct pe_style *style = style_for(job, OF_IMAGES, "segments");
    return positions_segments_read(job, &segments, &n) && style &&
           positions_from_segments(job, style, "segments", segments, n, out);
}

/* ---- All of it ----------------------------------------------------------------------------- */

static const struct source {
    const char *name;
    bool (*read)(struct job *job, struct ids *out);
    const char *reads[14]; /* besides itself; ends with NULL */
} sources[] = {
    {"attention_mask", read_padded, {"style", "padding_idx", NULL}},
    {"ids", read_padded, {"style", "padding_idx", NULL}},
    {"lengths", read_packed, {"style", "padding_idx", "chunk_size", "local_size", "variant", NULL}},
    {"grid",
     read_grid,
     {"style", "grid_order", "merge", "coords", "coord_offset", "ref", "start", "stop",
      "coord_norm", "patch", "tokens_per_second", "next_start", "max_width", NULL}},
    {"segments",
     read_segments,
     {"style", "merge", "patch", "tokens_per_second", "next_start", "max_width", NULL}},
};
#define SOURCES_N (sizeof sources / sizeof *sources)

static const struct source *find_source(struct job *job)
{
    const struct source *found = NULL;
    for (size_t i = 0; i < SOURCES_N; i++) {
        if (!job_key(job, sources[i].name)->given)
            continue;
        if (found) {
            err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, sources[i].name),
                    NULL, "%s and %s cannot be given together", sources[i].name, found->name);
            return NULL;
        }
        found = &sources[i];
    }
    if (!found)
        err_add(&job->request->err, ERR_missing_parameter, job_where(job, "attention_mask"),
                "for example attention_mask=0,0,1,1&style=gpt2, or grid=2x3",
                "positions of what? Give attention_mask, ids, lengths, grid or segments");
    return found;
}

static bool reads(const struct source *source, const char *name)
{
    if (strcmp(source->name, name) == 0)
        return true;
    for (const char *const *read = source->reads; *read; read++)
        if (strcmp(*read, name) == 0)
            return true;
    return false;
}

static bool refuse_others(struct job *job, const struct source *source)
{
    const char *because = arena_printf(&job->request->arena, "%s does not read it", source->name);
    bool ok = because;
    for (size_t i = 0; because && i < job->keys.rows_n; i++) {
        const char *const name[] = {job->keys.rows[i].name, NULL};
        ok = (reads(source, name[0]) || job_unread(job, name, because)) && ok;
    }
    return ok;
}

/* ---- Outputs ------------------------------------------------------------------------------- */

static void fill_positions(const struct job *job, const struct output *output, size_t first,
                           size_t n, void *out, void *scratch)
{
    const struct ids *own = job->own;
    (void)scratch;
    for (size_t i = 0; i < n * own->n; i++)
        if (output->dtype == PE_I64)
            ((int64_t *)out)[i] = (int64_t)own->at[first * own->n + i];
        else
            ((double *)out)[i] = own->at[first * own->n + i];
}

static void fill_mask(const struct job *job, const struct output *output, size_t first, size_t n,
                      void *out, void *scratch)
{
    const struct ids *own = job->own;
    (void)output, (void)scratch;
    for (size_t i = 0; i < n * own->n; i++)
        ((int64_t *)out)[i] = own->real[first * own->n + i];
}

static void output_state(struct job *job, const char *name, enum pe_dtype dtype, output_fill *fill)
{
    const struct ids *own = job->own;
    size_t shape[] = {own->rows, own->n};
    struct output *output = job_output(job, name, dtype, 2, shape);
    output->fill = fill;
    output->axes[0] =
        (struct answer_axis){.name = own->row, .short_name = own->row, .names = own->names};
    output->axes[1] = (struct answer_axis){.name = "token", .short_name = "token"};
}

static bool prepare(struct job *job)
{
    struct ids *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    const struct source *source = own ? find_source(job) : NULL;
    if (!source)
        return false;
    bool ok = refuse_others(job, source);
    if (!source->read(job, own) || !ok)
        return false;
    output_state(job, "positions", own->whole ? PE_I64 : PE_F64, fill_positions);
    if (own->real)
        output_state(job, "mask", PE_I64, fill_mask);
    return true;
}

static bool compute(struct job *job)
{
    const struct ids *own = job->own;
    if (own->decodes)
        tree_number(job->answer.readouts, "rope_delta", own->delta);
    struct tree *names = own->names ? tree_array(job->answer.readouts, "variants") : NULL;
    for (size_t i = 0; names && i < own->rows; i++)
        tree_string(names, NULL, own->names[i]);
    if (job_in_words(job))
        job->answer.text_readouts = positions_text(&job->request->arena, own);
    return true;
}

const struct endpoint positions_endpoint = {
    .summary =
        "Position ids and coordinates, as models have them, of masks, packed sequences, grids "
        "and text with images.",
    .describes = "positions",
    .schema = "PositionsAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
