// SPDX-License-Identifier: Apache-2.0
/* plots_lines.c: pictures that consist of curves. */
#include <math.h>
#include <string.h>

#include "plots.h"

#define WAVES_MAX   6
#define WAVE_HEIGHT 0.42 /* of a wave, in the distance of two */
#define LINES_MAX   SERIES_N
#define BAND_RADIUS (3 * UNIT)
#define TWO_PI      6.283185307179586
#define AIR         0.06 /* of the range of values, at both ends */
#define LOG_FROM    64   /* times that values must span for a logarithmic axis */

/* Least and greatest of those that are numbers, and with `positive` above 0. False: there is none,
 * and both are 0. */
static bool extent(const double *values, size_t n, bool positive, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]) && (!positive || values[i] > 0)) {
            *low = fmin(*low, values[i]);
            *high = fmax(*high, values[i]);
        }
    if (*low <= *high)
        return true;
    *low = *high = 0;
    return false;
}

/* Ends of an axis a little beyond the values, so that curves stay off its ends. */
static void with_air(const double *values, size_t n, struct axis *axis)
{
    extent(values, n, false, &axis->low, &axis->high);
    double air = (axis->high - axis->low) * AIR;
    axis->low -= air;
    axis->high += air;
}

static bool refuse_lines(struct plotting *plotting, const char *what, size_t n)
{
    return err_add(&plotting->job->request->err, ERR_limit_exceeded, NULL, "ask for fewer",
                   "%zu %s would be curves, the limit is %d", n, what, LINES_MAX);
}

static const char *compact(const struct plotting *plotting)
{
    return plotting->job->specs_n > 0 ? plotting->job->specs[0].compact : NULL;
}

/* Text of the arena; without memory the figure has failed. */
static const char *said(struct plotting *plotting, const char *text)
{
    plotting->figure->failed |= !text;
    return text ? text : "";
}

/* "rope:dim=64, 6 of 64 channels" */
static const char *channels_say(struct plotting *plotting, size_t n, size_t all)
{
    if (n == all)
        return compact(plotting);
    return said(plotting, arena_printf(plotting->arena, "%s, %zu of %zu channels",
                                       compact(plotting), n, all));
}

/* ---- Waves ---------------------------------------------------------------------------------- */

/* Row i of the picture is channel chosen[i], around the place of its label; all on one scale. */
static void draw_waves(struct plotting *plotting, const struct output *output,
                       const struct panel *panel, const size_t *chosen, const struct legend *styles,
                       size_t n)
{
    const double *values = plot_values_of(plotting, output);
    const double *at = plot_labels(plotting, output, 0);
    size_t rows = output->shape[0], columns = output->shape[1];
    double *waves = arena_calloc(plotting->arena, rows * n + 1, sizeof *waves), low, high;

    if (!waves || !values || !at) {
        plotting->figure->failed = true;
        return;
    }
    for (size_t i = 0; i < n * rows; i++)
        waves[i] = values[i % rows * columns + chosen[i / rows]];
    double most = extent(waves, n * rows, false, &low, &high) ? fmax(fabs(low), fabs(high)) : 1;
    for (size_t i = 0; i < n * rows; i++)
        waves[i] = (double)(i / rows) - waves[i] * WAVE_HEIGHT / (most > 0 ? most : 1);
    for (size_t i = 0; i < n; i++)
        chart_line(plotting->figure, panel, at, waves + i * rows, rows, &styles[i]);
}

void plot_draw_waves(struct plotting *plotting)
{
    struct job *job = plotting->job;
    const struct output *output = &job->outputs[job->main];
    size_t chosen[WAVES_MAX], n;
    const char *names[WAVES_MAX];
    struct legend styles[WAVES_MAX];
    struct panel panel;

    if (output->rank != 2 || output->shape[0] == 0) {
        err_add(&job->request->err, ERR_invalid_value, job_where(job, "positions"), NULL,
                "waves go over one list of positions");
        return;
    }
    n = plot_spread(output->shape[1], WAVES_MAX, chosen);
    for (size_t i = 0; i < n && n < output->shape[1]; i++)
        chosen[i] -= chosen[i] % 2; /* of sinusoids all are sines then */
    const double *labels = plot_labels(plotting, output, 1), *at = plot_labels(plotting, output, 0);
    if (!labels || !at)
        return;
    for (size_t i = 0; i < n; i++) {
        names[i] = plot_named(plotting, "channel", labels[chosen[i]]);
        styles[i] = plot_series(plotting, names[i], i, n);
    }
    chart_title(plotting->figure, plotting->title, channels_say(plotting, n, output->shape[1]));
    struct axis y = {.cells_n = n, .labels = names, .first_on_top = true};
    struct axis x = {.name = plot_counted(output, 0), .exact = true};
    extent(at, output->shape[0], false, &x.low, &x.high);
    chart_axes(plotting->figure, &plotting->figure->body, NULL, &x, &y, false, &panel);
    if (!plotting->figure->cramped)
        draw_waves(plotting, output, &panel, chosen, styles, n);
}

/* ---- Before and after ----------------------------------------------------------------------- */

/* One channel of `both`, x and then y. */
static void draw_channel(struct plotting *plotting, const struct panel *panel, const double *both,
                         size_t channel, const struct legend *styles)
{
    const struct output *output = job_output_named(plotting->job, "y");
    const double *at = plot_labels(plotting, output, 0);
    size_t n = output->shape[0];
    double *curves = arena_calloc(plotting->arena, 2 * n, sizeof *curves);

    plotting->figure->failed |= !curves;
    for (size_t i = 0; curves && i < 2 * n; i++)
        curves[i] = both[i * output->shape[1] + channel];
    for (size_t after = 0; curves && at && after < 2; after++)
        chart_line(plotting->figure, panel, at, curves + after * n, n, &styles[after]);
}

void plot_draw_apply(struct plotting *plotting)
{
    struct job *job = plotting->job;
    struct figure *figure = plotting->figure;
    const struct output *output = job_output_named(job, "y");
    const struct legend styles[] = {plot_curve(plotting, "before", 0, 2),
                                    plot_curve(plotting, "after", 1, 2)};
    struct box boxes[WAVES_MAX];
    size_t chosen[WAVES_MAX];

    if (output->rank != 2 || output->count == 0) {
        err_add(&job->request->err, ERR_invalid_value, job_where(job, "shape"), NULL,
                "the picture shows vectors of one list of positions");
        return;
    }
    const double *x = plot_values(plotting, "x"), *y = plot_values_of(plotting, output);
    const double *at = plot_labels(plotting, output, 0), *names = plot_labels(plotting, output, 1);
    double *both = arena_calloc(plotting->arena, 2 * output->count, sizeof *both);
    if (!x || !y || !at || !names || !both) {
        figure->failed = true;
        return;
    }
    memcpy(both, x, output->count * sizeof *both);
    memcpy(both + output->count, y, output->count * sizeof *both);
    size_t n = plot_spread(output->shape[1], WAVES_MAX, chosen);
    struct axis across = {.name = plot_counted(output, 0), .exact = true};
    struct axis up = {.name = "value", .exact = true};
    extent(at, output->shape[0], false, &across.low, &across.high);
    with_air(both, 2 * output->count, &up);
    chart_title(figure, plotting->title, channels_say(plotting, n, output->shape[1]));
    chart_legend(figure, styles, 2);
    chart_split(figure, n, 190, boxes);
    for (size_t i = 0; i < n && !figure->cramped; i++) {
        struct panel panel;
        chart_axes(figure, &boxes[i], plot_named(plotting, "channel", names[chosen[i]]), &across,
                   &up, false, &panel);
        if (!figure->cramped)
            draw_channel(plotting, &panel, both, chosen[i], styles);
    }
}

/* ---- Frequencies ---------------------------------------------------------------------------- */

struct spectrum {
    size_t pairs;
    const double *pair, *wavelength, *band;
    double *base; /* wavelengths without scaling */
    double context;
    bool scaled;
};

static bool read_spectrum(struct plotting *plotting, struct spectrum *spectrum)
{
    const struct output *output = job_output_named(plotting->job, "wavelength");
    const double *base = plot_values(plotting, "base_inv_freq");

    spectrum->pairs = output->count;
    spectrum->pair = plot_labels(plotting, output, 0);
    spectrum->wavelength = plot_values_of(plotting, output);
    spectrum->band = plot_values(plotting, "band");
    spectrum->context = plot_readout(plotting->job->answer.readouts, "context");
    spectrum->base = arena_calloc(plotting->arena, spectrum->pairs + 1, sizeof *spectrum->base);
    if (!base || !spectrum->base || !spectrum->pair || !spectrum->wavelength || !spectrum->band) {
        plotting->figure->failed = true;
        return false;
    }
    for (size_t i = 0; i < spectrum->pairs; i++) {
        spectrum->base[i] = TWO_PI / base[i];
        spectrum->scaled |= spectrum->band[i] != 0;
    }
    return true;
}

/* Dots of the pairs of one band. */
static void draw_band(struct plotting *plotting, const struct panel *panel,
                      const struct spectrum *spectrum, int band, enum ink ink)
{
    struct point *points = figure_points(plotting->figure, spectrum->pairs + 1);
    size_t n = 0;

    for (size_t i = 0; points && i < spectrum->pairs; i++)
        if (spectrum->band[i] == band && isfinite(spectrum->wavelength[i]) &&
            spectrum->wavelength[i] > 0)
            points[n++] = (struct point){scale_at(&panel->x, spectrum->pair[i]),
                                         scale_at(&panel->y, spectrum->wavelength[i])};
    if (n > 0)
        figure_dots(plotting->figure, points, n, ink, BAND_RADIUS);
}

void plot_draw_frequencies(struct plotting *plotting)
{
    static const char *const bands[] = {"kept", "blended", "divided"};
    static const size_t colours[] = {0, 2, 1};
    static const struct dash broken = {4 * UNIT, 4 * UNIT};
    struct figure *figure = plotting->figure;
    struct legend entries[5] = {{"wavelength", INK_SERIES, .dots = true, .width = BAND_RADIUS}};
    struct spectrum spectrum = {0};
    struct panel panel;
    size_t n = 1;

    if (!read_spectrum(plotting, &spectrum))
        return;
    for (size_t i = 0; spectrum.scaled && i < 3; i++) {
        entries[i] = plot_series(plotting, bands[i], colours[i], 3);
        entries[i].dots = true;
        entries[i].width = BAND_RADIUS;
    }
    n = spectrum.scaled ? 3 : 1;
    if (spectrum.scaled)
        entries[n++] = (struct legend){.text = "without scaling", .ink = INK_AXIS};
    entries[n++] = (struct legend){
        .text = plot_named(plotting, "context", spectrum.context), .ink = INK_TEXT, .dash = broken};
    chart_title(figure, plotting->title, compact(plotting));
    chart_legend(figure, entries, n);
    struct axis x = {
        .name = "pair", .high = (double)spectrum.pairs - 1, .whole = true, .exact = true};
    struct axis y = {.name = "positions for a full turn", .type = SCALE_LOG10};
    double low, high;
    if (!extent(spectrum.wavelength, spectrum.pairs, true, &y.low, &y.high))
        y.low = y.high = 1; /* an axis of powers has no 0 */
    if (extent(spectrum.base, spectrum.pairs, true, &low, &high)) {
        y.low = fmin(y.low, low);
        y.high = fmax(y.high, high);
    }
    y.low = fmin(y.low, spectrum.context > 0 ? spectrum.context : y.low);
    y.high = fmax(y.high, spectrum.context > 0 ? spectrum.context : y.high);
    chart_axes(figure, &figure->body, NULL, &x, &y, false, &panel);
    if (spectrum.scaled)
        chart_line(figure, &panel, spectrum.pair, spectrum.base, spectrum.pairs, &entries[3]);
    if (spectrum.context > 0) {
        int32_t at = scale_at(&panel.y, spectrum.context);
        figure_rule(figure, (struct point){panel.area.left, at},
                    (struct point){panel.area.right, at}, INK_TEXT, UNIT)
            ->dash = broken;
    }
    for (int band = 0; band < (spectrum.scaled ? 3 : 1); band++)
        draw_band(plotting, &panel, &spectrum, band, entries[band].ink);
}

/* ---- Scores --------------------------------------------------------------------------------- */

/* "score: range 30.15, spread 12.32; length of q +-34 %", of a term "cross_q: spread 5.69" */
static const char *scores_say(struct plotting *plotting, const char *name,
                              const struct tree *readouts)
{
    if (strcmp(name, "scores") != 0) {
        const char *path =
            said(plotting, arena_printf(plotting->arena, "term_spread/%s/max", name));
        return said(plotting, arena_printf(plotting->arena, "%s: spread %s", name,
                                           plot_number(plotting, plot_readout(readouts, path))));
    }
    double change = plot_readout(readouts, "norm_q/max_relative_change");
    const char *norm =
        !(change > 1e-9) ? "kept" : arena_printf(plotting->arena, "\xc2\xb1%.2g %%", change * 100);
    return said(plotting,
                arena_printf(plotting->arena, "score: range %s, spread %s; length of q %s",
                             plot_number(plotting, plot_readout(readouts, "range/overall")),
                             plot_number(plotting, plot_readout(readouts, "spread/max")),
                             norm ? norm : ""));
}

static const char *block_name(struct plotting *plotting, size_t block, size_t blocks_n)
{
    const struct job *job = plotting->job;

    if (blocks_n == job->specs_n)
        return job->specs[block].compact;
    return said(plotting, arena_printf(plotting->arena, "q %s, k %s", job->specs[0].compact,
                                       job->specs[1].compact));
}

void plot_draw_scores(struct plotting *plotting)
{
    struct job *job = plotting->job;
    struct figure *figure = plotting->figure;
    const struct output *output = &job->outputs[job->main];
    const struct output *whole = job_output_named(job, "scores");
    if (output->rank != whole->rank || output->count != whole->count) {
        err_add(&job->request->err, ERR_invalid_value, "select", "select=scores",
                "the picture shows scores, or with terms=1 one of their terms");
        return;
    }
    size_t blocks_n = output->rank == 3 ? output->shape[0] : 1;
    size_t anchors_n = output->shape[output->rank - 2], n = output->shape[output->rank - 1];
    const double *scores = plot_values_of(plotting, output);
    const double *offsets = plot_values(plotting, "offsets");
    const double *anchors = plot_values(plotting, "anchors");
    const struct tree *blocks = tree_member(job->answer.root, "blocks");
    const struct tree *block = blocks ? blocks->first : NULL;
    struct legend entries[LINES_MAX];
    struct box boxes[JOB_SPECS_MAX];

    if (anchors_n > LINES_MAX) {
        refuse_lines(plotting, "anchors", anchors_n);
        return;
    }
    if (!scores || !offsets || !anchors)
        return;
    for (size_t a = 0; a < anchors_n; a++)
        entries[a] = plot_curve(plotting, plot_named(plotting, "anchor", anchors[a]), a, anchors_n);
    chart_title(figure, plotting->title, NULL);
    chart_legend(figure, entries, anchors_n);
    chart_split(figure, blocks_n, 190, boxes);
    struct axis x = {.name = "offset", .whole = true, .exact = true}, y = {.exact = true};
    extent(offsets, n, false, &x.low, &x.high);
    with_air(scores, output->count, &y);
    for (size_t s = 0; s < blocks_n; s++) {
        struct panel panel;
        const struct tree *readouts = block ? tree_member(block, "readouts") : job->answer.readouts;
        y.name = scores_say(plotting, output->name, readouts);
        chart_axes(figure, &boxes[s], block_name(plotting, s, blocks_n), &x, &y, false, &panel);
        for (size_t a = 0; a < anchors_n && !figure->cramped; a++)
            chart_line(figure, &panel, offsets, scores + (s * anchors_n + a) * n, n, &entries[a]);
        block = block ? block->next : NULL;
    }
}

/* ---- Decay ---------------------------------------------------------------------------------- */

void plot_draw_decay(struct plotting *plotting)
{
    struct job *job = plotting->job;
    struct figure *figure = plotting->figure;
    const struct output *output = &job->outputs[job->main];
    size_t rows = output->shape[0], n = output->shape[1];
    const double *values = plot_values_of(plotting, output);
    const double *from = plot_labels(plotting, output, 0), *to = plot_labels(plotting, output, 1);
    struct legend entries[LINES_MAX];
    struct panel panel;

    if (rows > LINES_MAX) {
        refuse_lines(plotting, "positions", rows);
        return;
    }
    if (output->axes[0].more[0]) {
        err_add(&job->request->err, ERR_invalid_value, "kind", NULL,
                "the distance of positions with several axes is not one number");
        return;
    }
    double *distance = arena_calloc(plotting->arena, rows * n + 1, sizeof *distance);
    if (!distance || !values || !from || !to) {
        figure->failed = true;
        return;
    }
    for (size_t i = 0; i < rows * n; i++)
        distance[i] = to[i % n] - from[i / n];
    for (size_t row = 0; row < rows; row++)
        entries[row] =
            plot_curve(plotting, plot_named(plotting, "from position", from[row]), row, rows);
    chart_title(figure, plotting->title, compact(plotting));
    if (rows > 1)
        chart_legend(figure, entries, rows);
    struct axis x = {.name = "distance", .exact = true}, y = {.name = "similarity"};
    extent(distance, rows * n, false, &x.low, &x.high);
    extent(values, rows * n, false, &y.low, &y.high);
    y.low = fmin(y.low, 0);
    chart_axes(figure, &figure->body, NULL, &x, &y, false, &panel);
    for (size_t row = 0; row < rows && !figure->cramped; row++)
        chart_line(figure, &panel, distance + row * n, values + row * n, n, &entries[row]);
}

/* ---- Precision ------------------------------------------------------------------------------ */

static bool has_errors(const struct output *output)
{
    return strcmp(output->name, "worst_pair") != 0;
}

/* "largest error of cos" */
static const char *error_name(struct plotting *plotting, const struct output *output)
{
    const struct pe_value *quantity = job_key(plotting->job, "quantity");
    const struct pe_params *keys = &plotting->job->keys;
    const char *what =
        strcmp(output->name, "max_abs_error") == 0 ? "largest error of" : "mean error (rms) of";
    size_t len;
    if (!has_errors(output))
        return "worst pair";
    const char *name = pe_choice_name(&keys->rows[quantity - keys->value], quantity->number, &len);
    return said(plotting, arena_printf(plotting->arena, "%s %.*s", what, (int)len, name));
}

/* "bf16-pos, no error", where a logarithmic axis has no place for it. */
static const char *pipeline_name(struct plotting *plotting, const struct output *output,
                                 const double *values, size_t line)
{
    const char *name = output->axes[0].names ? output->axes[0].names[line] : "pipeline";
    size_t n = output->shape[1];
    double low, high;

    if (!has_errors(output) || extent(values + line * n, n, true, &low, &high))
        return name;
    return said(plotting, arena_printf(plotting->arena, "%s, no error", name));
}

static struct axis error_axis(struct plotting *plotting, const struct output *output,
                              const double *values)
{
    struct axis axis = {.name = error_name(plotting, output), .type = SCALE_LOG10};
    bool any = has_errors(output) && extent(values, output->count, true, &axis.low, &axis.high);

    if (any)
        return axis;
    axis.type = SCALE_LINEAR;
    axis.whole = !has_errors(output);
    extent(values, output->count, false, &axis.low, &axis.high);
    return axis;
}

void plot_draw_precision(struct plotting *plotting)
{
    struct job *job = plotting->job;
    struct figure *figure = plotting->figure;
    const struct output *output = &job->outputs[job->main];
    size_t lines = output->shape[0], n = output->shape[1];
    const double *values = plot_values_of(plotting, output);
    const double *at = plot_labels(plotting, output, 1);
    struct legend entries[LINES_MAX];
    struct panel panel;
    struct axis x = {.name = "position", .exact = true};

    if (output->rank > 2) { /* of each pair apart */
        plot_draw_errors(plotting);
        return;
    }
    if (lines > LINES_MAX) {
        refuse_lines(plotting, "pipelines", lines);
        return;
    }
    if (!values || !at)
        return;
    for (size_t i = 0; i < lines; i++)
        entries[i] = plot_curve(plotting, pipeline_name(plotting, output, values, i), i, lines);
    chart_title(figure, plotting->title, compact(plotting));
    chart_legend(figure, entries, lines);
    extent(at, n, false, &x.low, &x.high);
    if (x.low > 0 && x.high / x.low >= LOG_FROM)
        x.type = SCALE_LOG2;
    struct axis y = error_axis(plotting, output, values);
    chart_axes(figure, &figure->body, NULL, &x, &y, false, &panel);
    for (size_t i = 0; i < lines && !figure->cramped; i++)
        chart_line(figure, &panel, at, values + i * n, n, &entries[i]);
}
