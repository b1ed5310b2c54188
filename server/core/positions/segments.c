// SPDX-License-Identifier: Apache-2.0
/*
 * segments.c: positions in sequences of text, images and videos, and of the patches of these by
 * themselves.
 */
#include <math.h>
#include <stdio.h>

#include "dd.h"
#include "posenc.h"
#include "span.h"
#include "text.h"
#include "value.h"

#define HINT "for example 3,4x4,2x4x4@0.5: text, an image, a video and its seconds per frame"

/* ---- Text --------------------------------------------------------------------------------- */

static bool fault_piece(struct pe_faults *faults, const char *param, struct pe__span piece,
                        const char *what)
{
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, HINT, "\"%s\" in %s %s",
                        pe__show_text(piece, shown), param, what);
}

/* Whole numbers from 1 to most; 0 for anything else. */
static size_t read_whole(struct pe__span text, size_t most)
{
    int64_t value = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.text[i] < '0' || text.text[i] > '9')
            return 0;
    return pe_text_read(text.text, text.len, PE_I64, &value, 0) && value > 0 &&
                   (size_t)value <= most
               ? (size_t)value
               : 0;
}

/* Two sizes, or three with frames before them. */
static bool read_sizes(struct pe__span text, struct pe_segment *segment)
{
    struct pe__span part;
    size_t size[3];
    size_t n = 0;
    for (; pe__span_cut(&text, 'x', &part); n++) {
        if (n == 3)
            return false;
        size[n] = read_whole(part, PE_POSITIONS_N_MAX);
        if (size[n] == 0)
            return false;
    }
    if (n < 2)
        return false;
    segment->size[0] = n == 3 ? size[0] : 1;
    segment->size[1] = size[n - 2];
    segment->size[2] = size[n - 1];
    return true;
}

static bool read_segment(struct pe__span piece, struct pe_segment *segment, const char *param,
                         struct pe_faults *faults)
{
    struct pe__span rest = piece;
    struct pe__span sizes = {0};
    *segment = (struct pe_segment){.seconds = NAN};
    pe__span_cut(&rest, '@', &sizes);
    segment->text = read_whole(sizes, PE_POSITIONS_N_MAX);
    if (segment->text == 0 && !read_sizes(sizes, segment))
        return fault_piece(faults, param, piece,
                           "is neither a number of tokens nor the sizes of a grid");
    if (!rest.text)
        return true;
    if (segment->text > 0)
        return fault_piece(faults, param, piece, "is text, which has no frames");
    if (pe_text_read(rest.text, rest.len, PE_F64, &segment->seconds, 0) && segment->seconds >= 0 &&
        segment->seconds <= PE_SEGMENT_SECONDS_MAX)
        return true;
    return fault_piece(faults, param, piece, "has no number of seconds from 0 to 3600 behind @");
}

bool pe_segments_parse(const char *text, const char *param, struct pe_segment *out, size_t max,
                       size_t *n, struct pe_faults *faults)
{
    struct pe__span rest = pe__span_of(text);
    struct pe__span piece;
    bool ok = true;
    for (*n = 0; pe__span_cut(&rest, ',', &piece); ++*n) {
        struct pe_segment segment;
        if (*n == PE_SEGMENTS_MAX)
            return pe_fault_add(faults, PE_LIMIT_EXCEEDED, param, NULL,
                                "%s may hold at most %d segments", param, PE_SEGMENTS_MAX);
        ok = read_segment(piece, &segment, param, faults) && ok;
        if (*n < max)
            out[*n] = segment;
    }
    return ok;
}

/* Appends as much as fits; returns the length wanted so far. */
static size_t append(char *out, size_t size, size_t len, const char *piece)
{
    return len + (size_t)snprintf(len < size ? out + len : NULL, len < size ? size - len : 0, "%s",
                                  piece);
}

size_t pe_segments_print(const struct pe_segment *segments, size_t n, char *out, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pe_segment *segment = &segments[i];
        const size_t *sizes = segment->size;
        char piece[3 * PE_TEXT_MAX];
        char number[PE_TEXT_MAX] = "";
        if (segment->text > 0)
            snprintf(piece, sizeof piece, "%s%zu", i ? "," : "", segment->text);
        else if (sizes[0] > 1)
            snprintf(piece, sizeof piece, "%s%zux%zux%zu", i ? "," : "", sizes[0], sizes[1],
                     sizes[2]);
        else
            snprintf(piece, sizeof piece, "%s%zux%zu", i ? "," : "", sizes[1], sizes[2]);
        len = append(out, size, len, piece);
        if (segment->text > 0 || isnan(segment->seconds))
            continue;
        number[pe_text_print(PE_F64, &segment->seconds, 0, number)] = '\0';
        len = append(out, size, append(out, size, len, "@"), number);
    }
    return len;
}

/* ---- Sizes in tokens ---------------------------------------------------------------------- */

/* Frames, rows and columns of the tokens of a grid; patches by themselves are not merged. */
static struct pe_grid tokens_of(const struct pe_segments *segments,
                                const struct pe_segment *segment)
{
    bool patches = segments->style->of == PE_STYLE_OF_PATCHES;
    size_t divisor = segments->patch * (patches ? 1 : segments->merge);
    return (struct pe_grid){
        .axes = 3,
        .size = {segment->size[0], segment->size[1] / divisor, segment->size[2] / divisor},
        .order = patches && !segments->style->flat ? PE_GRID_MERGE : PE_GRID_ROW,
        .merge = segments->merge};
}

static bool check_sizes(const struct pe_segments *segments, const struct pe_segment *segment,
                        const char *param, struct pe_faults *faults)
{
    const struct pe_style *style = segments->style;
    size_t divisor = segments->patch * (style->flat ? 1 : segments->merge);
    for (size_t axis = 1; axis < 3; axis++)
        if (segment->size[axis] % divisor != 0)
            return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                                "sizes of grids must be multiples of %s = %zu, got %zu",
                                style->flat ? "patch" : "patch * merge", divisor,
                                segment->size[axis]);
    if (style->flat && segment->size[2] / divisor > segments->max_width)
        return pe_fault_add(faults, PE_INVALID_VALUE, "max_width", NULL,
                            "an image of %zu patches side by side is wider than max_width=%zu",
                            segment->size[2] / divisor, segments->max_width);
    if (style->by_frame && segment->size[0] > 1)
        return pe_fault_add(faults, PE_INVALID_VALUE, param,
                            "write each frame as an image, with its timestamp as text before it",
                            "style=%s has no grids of several frames, got %zu", style->name,
                            segment->size[0]);
    return true;
}

static bool check_segment(const struct pe_segments *segments, const struct pe_segment *segment,
                          const char *param, struct pe_faults *faults)
{
    if (segment->text > 0)
        return segments->style->of == PE_STYLE_OF_SEGMENTS ||
               pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                            "style=%s is about patches alone: it has no text",
                            segments->style->name);
    if (!isnan(segment->seconds) && segments->tokens_per_second == 0)
        return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, param,
                            "give tokens_per_second, or no seconds",
                            "seconds between frames are not read without tokens_per_second");
    return check_sizes(segments, segment, param, faults);
}

bool pe_segments_check(const struct pe_segments *segments, const char *param, size_t *tokens,
                       struct pe_faults *faults)
{
    size_t errors_before = faults->n;
    *tokens = 0;
    for (size_t i = 0; i < segments->n; i++) {
        const struct pe_segment *segment = &segments->at[i];
        struct pe_grid grid = tokens_of(segments, segment);
        size_t n = segment->text;
        bool fits = true;
        check_segment(segments, segment, param, faults);
        if (n == 0)
            fits = !__builtin_mul_overflow(grid.size[0], grid.size[1], &n) &&
                   !__builtin_mul_overflow(n, grid.size[2], &n);
        if (!fits || __builtin_add_overflow(*tokens, n, tokens) || *tokens > PE_POSITIONS_N_MAX)
            return pe_fault_add(faults, PE_LIMIT_EXCEEDED, param, NULL,
                                "%s may hold at most %zu tokens", param, PE_POSITIONS_N_MAX);
    }
    return faults->n == errors_before;
}

/* ---- Positions ---------------------------------------------------------------------------- */

/* How far a frame is from the first: its number, or its time in tokens, cut to a whole number. */
static double frame_term(const struct pe_segments *segments, const struct pe_segment *segment,
                         size_t frame)
{
    if (segments->tokens_per_second == 0)
        return (double)frame;
    double seconds = isnan(segment->seconds) ? 1 : segment->seconds;
    struct pe__dd time = pe__two_prod((double)(frame * segments->tokens_per_second), seconds);
    double whole = floor(time.hi);
    return whole == time.hi && time.lo < 0 ? whole - 1 : whole;
}

/* Adds a grid's tokens from `first` on, at `start`; returns the position behind it. */
static double fill_grid(const struct pe_segments *segments, const struct pe_segment *segment,
                        double start, size_t first, double *const at[])
{
    struct pe_grid grid = tokens_of(segments, segment);
    size_t n = pe_grid_cells(&grid);
    for (size_t i = 0; i < n; i++) {
        at[0][first + i] = start + frame_term(segments, segment, pe_grid_index(&grid, 0, i));
        at[1][first + i] = start + (double)pe_grid_index(&grid, 1, i);
        at[2][first + i] = start + (double)pe_grid_index(&grid, 2, i);
    }
    double side = (double)(grid.size[1] > grid.size[2] ? grid.size[1] : grid.size[2]);
    double last = at[0][first + n - 1] + 1; /* frames do not go back */
    return segments->after_side ? start + side : fmax(last, start + side);
}

static double fill_sequence(const struct pe_segments *segments, double *const at[])
{
    double next = 0;
    double most = 0; /* the largest position + 1 */
    size_t tokens = 0;
    for (size_t s = 0; s < segments->n; s++) {
        const struct pe_segment *segment = &segments->at[s];
        size_t n = segment->text;
        for (size_t i = 0; i < n; i++)
            at[0][tokens + i] = at[1][tokens + i] = at[2][tokens + i] = next + (double)i;
        if (n > 0) {
            next += (double)n;
        } else {
            struct pe_grid grid = tokens_of(segments, segment);
            n = pe_grid_cells(&grid);
            next = fill_grid(segments, segment, next, tokens, at);
            most = fmax(most, at[0][tokens + n - 1] + 1);
        }
        most = fmax(most, next);
        tokens += n;
    }
    return most - (double)tokens;
}

static double fill_patches(const struct pe_segments *segments, double *const at[])
{
    double most = 0;
    size_t tokens = 0;
    for (size_t s = 0; s < segments->n; s++) {
        struct pe_grid grid = tokens_of(segments, &segments->at[s]);
        size_t n = pe_grid_cells(&grid);
        for (size_t i = tokens; i < tokens + n; i++) {
            double row = (double)pe_grid_index(&grid, 1, i - tokens);
            double column = (double)pe_grid_index(&grid, 2, i - tokens);
            if (segments->style->flat) {
                at[0][i] = row * (double)segments->max_width + column;
            } else {
                at[0][i] = row;
                at[1][i] = column;
            }
            most = fmax(most, at[0][i] + 1);
        }
        tokens += n;
    }
    return most - (double)tokens;
}

double pe_segments_fill(const struct pe_segments *segments, double *const at[])
{
    return segments->style->of == PE_STYLE_OF_SEGMENTS ? fill_sequence(segments, at)
                                                       : fill_patches(segments, at);
}
