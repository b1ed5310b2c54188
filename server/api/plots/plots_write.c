// SPDX-License-Identifier: Apache-2.0
/*
 * plots_write.c: from a request to the figure it asks for, and from that to bytes: the picture's
 * keys, its title, what it says to those who do not see it, and the pieces that drawing functions
 * share.
 */
#include <math.h>
#include <string.h>

#include "font.h"
#include "picture.h"
#include "plots.h"
#include "render.h"

#define TITLE_BYTES_MAX 200
#define WORDS_BYTES_MAX ((size_t)64 << 10)
#define CURVE_WIDTH     220
#define CURVE_STEP      160 /* by which those below are wider */
#define PIECES_MAX      4
#define PIECE           (6 * UNIT)

/* ---- Keys ---------------------------------------------------------------------------------- */

bool plot_begin(struct job *job)
{
    job->look = job_alloc(job, 1, sizeof *job->look);
    if (job->look) {
        memset(job->look, 0, sizeof *job->look);
        pe_params_init(job->look, job->picture->keys, job->picture->keys_n);
    }
    return job->look;
}

void plot_defaults(struct job *job, struct pe_faults *faults)
{
    const struct plot_default *row = job->picture->plot->defaults;
    bool placed = job_positions_given(job); /* by a grid, a mask, ... */

    for (; row && row->key; row++) {
        struct pe_value *value = job_key_edit(job, row->key);
        if (placed && strcmp(row->key, "positions") == 0)
            continue;
        if (!value->given && pe_params_set_text(&job->keys, row->key, row->text, faults))
            value->implied = true;
    }
    pe_params_finish(job->look, faults);
}

static const struct pe_value *look(const struct job *job, const char *name)
{
    return pe_params_get(job->look, name);
}

static bool refuse_without_effect(struct job *job, const char *name, const char *because)
{
    return err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, name),
                   "leave it out", "\"%s\" has no effect: %s", name, because);
}

static bool check_title(struct job *job)
{
    const struct pe_value *title = look(job, "title");
    struct err *err = &job->request->err;
    const char *where = job_where(job, "title");

    if (!title->set || !title->given)
        return true;
    if (!title->text)
        return err_add(err, ERR_invalid_value, where, NULL, "title must be a text");
    if (strlen(title->text) > TITLE_BYTES_MAX)
        return err_add(err, ERR_limit_exceeded, where, NULL, "title has %zu bytes, the limit is %d",
                       strlen(title->text), TITLE_BYTES_MAX);
    for (const char *c = title->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return err_add(err, ERR_invalid_value, where, NULL,
                           "title must be one line without control characters");
    return true;
}

bool plot_check(struct job *job)
{
    bool ok = check_title(job);

    if (look(job, "density")->given && job->format != FORMAT_PNG)
        ok = refuse_without_effect(job, "density", "an SVG has no pixels");
    if (job->common.value[COMMON_SELECT].given && !job->picture->plot->selects)
        ok = refuse_without_effect(job, "select", "this picture shows one tensor of its own");
    return ok;
}

/* ---- Words --------------------------------------------------------------------------------- */

/* "similarity, 64x64 numbers from 13.4 to 32", of the main tensor. NULL without memory. */
static const char *describe_tensor(struct plotting *plotting)
{
    const struct job *job = plotting->job;
    const struct output *output = &job->outputs[job->main];
    const double *values = plot_values_of(plotting, output);
    const char *text = arena_printf(plotting->arena, "%s, ", output->name);
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; values && i < output->count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    for (size_t axis = 0; text && axis < output->rank; axis++)
        text = arena_printf(plotting->arena, "%s%s%zu", text, axis > 0 ? "x" : "",
                            output->shape[axis]);
    return text ? arena_printf(plotting->arena, "%s numbers from %s to %s", text,
                               plot_number(plotting, low), plot_number(plotting, high))
                : NULL;
}

/* What the answer says of itself, for those who do not see the picture. NULL without memory. */
static const char *describe(struct plotting *plotting)
{
    struct job *job = plotting->job;
    const struct answer *answer = &job->answer;
    struct buf words;

    if (answer->text_readouts)
        return answer->text_readouts;
    if (!answer->readouts || !answer->readouts->first)
        return describe_tensor(plotting);
    buf_init(&words, WORDS_BYTES_MAX);
    render_tree_txt(&words, answer->readouts);
    const char *text =
        words.failed ? NULL
                     : arena_strndup(&job->request->arena, words.len ? words.data : "", words.len);
    buf_release(&words);
    return text;
}

/* "Table: rope:dim=64", of all encodings. */
static const char *full_title(const struct job *job, const char *title)
{
    for (size_t i = 0; title && i < job->specs_n; i++)
        title = arena_printf(&job->request->arena, "%s%s%s", title, i > 0 ? ", " : ": ",
                             job->specs[i].compact);
    return title;
}

static void set_look(struct figure *figure, const struct job *job)
{
    /* The choices of both rows stand in the order of their types. */
    figure->look.theme = (enum theme)look(job, "theme")->number;
    figure->look.palette = (enum palette)look(job, "palette")->number;
    figure->text_size = (int32_t)floor(look(job, "font_size")->number * UNIT + 0.5);
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* The first character that a PNG cannot show; 0: it shows all. */
static uint32_t lacks(const struct figure *figure)
{
    uint32_t code = 0;

    for (const struct mark *mark = figure->first; mark && !code; mark = mark->next)
        if (mark->type == MARK_TEXT)
            code = font_missing(mark->caption.text);
    return code;
}

static bool check_drawn(struct job *job, const struct figure *figure)
{
    struct err *err = &job->request->err;
    uint32_t code = job->format == FORMAT_PNG ? lacks(figure) : 0;

    if (err->n > 0)
        return false;
    if (figure->failed)
        return err_add(err, ERR_overloaded, NULL, NULL, "no memory for the picture");
    if (figure->cramped)
        return err_add(err, ERR_invalid_value, job_where(job, "width"),
                       "a larger width or height, or a smaller font_size",
                       "this picture has no room in %dx%d with font_size=%g", figure->width,
                       figure->height, (double)figure->text_size / UNIT);
    return !code || err_add(err, ERR_invalid_value, job_where(job, "title"),
                            "ask for .svg, which uses the fonts of its reader",
                            "the font of PNG has no character U+%04X", code);
}

bool plot_write(struct job *job)
{
    const struct pe_value *title = look(job, "title");
    struct buf *out = &job->request->response.body;
    struct figure figure;
    struct plotting plotting = {job, &job->request->arena, &figure,
                                title->text ? title->text : job->picture->plot->title};

    figure_init(&figure, plotting.arena, (int32_t)look(job, "width")->number,
                (int32_t)look(job, "height")->number);
    set_look(&figure, job);
    figure.title = full_title(job, plotting.title);
    figure.describes = describe(&plotting);
    figure.failed |= !figure.title || !figure.describes;
    job->picture->plot->draw(&plotting);
    if (!check_drawn(job, &figure))
        return false;
    if (job->format == FORMAT_SVG)
        picture_write_svg(out, &figure);
    else if (!picture_write_png(out, &figure, (unsigned)look(job, "density")->number))
        out->failed = true;
    return !out->failed ||
           err_add(&job->request->err, ERR_overloaded, NULL, NULL, "no memory for the picture");
}

/* ---- Pieces -------------------------------------------------------------------------------- */

const double *plot_values_of(struct plotting *plotting, const struct output *output)
{
    double *values = arena_calloc(plotting->arena, output->count + 1, sizeof *values);

    if (!values || !output->node) {
        plotting->figure->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < output->count; i++)
        values[i] = output->dtype == PE_I64
                        ? (double)((const int64_t *)output->node->as.tensor.data)[i]
                        : pe_load(output->dtype, output->node->as.tensor.data, i);
    return values;
}

const double *plot_values(struct plotting *plotting, const char *name)
{
    const struct output *output = job_output_named(plotting->job, name);
    return output ? plot_values_of(plotting, output) : NULL;
}

const double *plot_labels(struct plotting *plotting, const struct output *output, size_t axis)
{
    if (output->axes[axis].labels && !output->axes[axis].more[0])
        return output->axes[axis].labels;
    double *labels = arena_calloc(plotting->arena, output->shape[axis] + 1, sizeof *labels);
    for (size_t i = 0; labels && i < output->shape[axis]; i++)
        labels[i] = (double)i;
    plotting->figure->failed |= !labels;
    return labels;
}

const char *plot_number(struct plotting *plotting, double value)
{
    char text[TICK_TEXT_MAX];

    scale_print(value, 4, text);
    const char *copy = arena_strndup(plotting->arena, text, strlen(text));
    plotting->figure->failed |= !copy;
    return copy ? copy : "";
}

const char *plot_named(struct plotting *plotting, const char *name, double number)
{
    char text[TICK_TEXT_MAX];

    scale_print(number, 10, text);
    const char *named = arena_printf(plotting->arena, "%s%s%s", name, *name ? " " : "", text);
    plotting->figure->failed |= !named;
    return named ? named : "";
}

const char *plot_place(struct plotting *plotting, const struct output *output, size_t axis,
                       size_t i)
{
    const struct answer_axis *from = &output->axes[axis];
    if (from->names)
        return from->names[i];
    const char *text = plot_named(plotting, "", from->labels ? from->labels[i] : (double)i);
    for (size_t k = 0; text && k < PE_AXES_MAX && from->more[k]; k++)
        text = arena_printf(plotting->arena, "%s;%s", text,
                            plot_named(plotting, "", from->more[k][i]));
    plotting->figure->failed |= !text;
    return text ? text : "";
}

const char *plot_counted(const struct output *output, size_t axis)
{
    return output->axes[axis].more[0] ? "token" : output->axes[axis].name;
}

double plot_readout(const struct tree *readouts, const char *path)
{
    const struct tree *node = readouts ? readouts->first : NULL;
    size_t len = strcspn(path, "/");

    while (node && !(node->key && strlen(node->key) == len && memcmp(node->key, path, len) == 0))
        node = node->next;
    if (node && path[len] == '/')
        return plot_readout(node, path + len + 1);
    return !node                        ? NAN
           : node->type == TREE_NUMBER  ? node->as.number
           : node->type == TREE_INTEGER ? (double)node->as.integer
                                        : NAN;
}

struct legend plot_series(const struct plotting *plotting, const char *text, size_t i, size_t n)
{
    bool ramp = plotting->figure->look.palette != PALETTE_DEFAULT;
    size_t at = ramp && n > 1 ? i * (SERIES_N - 1) / (n - 1) : i % SERIES_N;

    return (struct legend){.text = text, .ink = (enum ink)(INK_SERIES + at)};
}

/* Of m curves the last has the first of m pieces, the one below it two, and so on; past PIECES_MAX
 * curves the next ones lie on those, and are thinner. */
struct legend plot_curve(const struct plotting *plotting, const char *text, size_t i, size_t n)
{
    struct legend curve = plot_series(plotting, text, i, n);
    size_t first = i - i % PIECES_MAX, m = n - first < PIECES_MAX ? n - first : PIECES_MAX;

    if (n > 1)
        curve.width = CURVE_WIDTH + CURVE_STEP * (int32_t)((n - 1) / PIECES_MAX - i / PIECES_MAX);
    if (i > first)
        curve.dash = (struct dash){PIECE * (int32_t)(first + m - i), PIECE * (int32_t)(i - first)};
    return curve;
}

size_t plot_spread(size_t n, size_t most, size_t *chosen)
{
    size_t take = n < most ? n : most;

    for (size_t i = 0; i < take; i++)
        chosen[i] = take > 1 ? i * (n - 1) / (take - 1) : 0;
    return take;
}
