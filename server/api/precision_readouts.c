// SPDX-License-Identifier: Apache-2.0
/*
 * precision_readouts.c: what the errors show: the largest of each pipeline, the position from which
 * it passes a threshold, and where neighbouring positions become one number.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "precision.h"
#include "text.h"

#define COLUMN_MIN 8 /* "1.23e-05" */

static const struct {
    const char *name;
    double value;
} thresholds[] = {{"1e-3", 1e-3}, {"1e-2", 1e-2}, {"1e-1", 1e-1}};
#define THRESHOLDS_N (sizeof thresholds / sizeof *thresholds)

/* The first of the positions asked for at which the error is larger, or no number; positions_n:
 * none. */
static size_t first_above(const struct precision *all, size_t p, double threshold)
{
    size_t i = 0;
    while (i < all->positions_n && all->pipeline[p].max_abs_error[i] <= threshold)
        i++;
    return i;
}

/* Where a pipeline's error is largest; the first that is no number. */
static size_t worst_of(const struct precision *all, size_t p)
{
    const double *error = all->pipeline[p].max_abs_error;
    size_t worst = 0;
    for (size_t i = 0; i < all->positions_n; i++)
        if (!isnan(error[worst]) && !(error[i] <= error[worst]))
            worst = i;
    return worst;
}

static double largest_of(const struct precision *all, size_t p)
{
    return all->pipeline[p].max_abs_error[worst_of(all, p)];
}

static void number_or_null(struct tree *parent, const char *key, double number)
{
    if (isnan(number))
        tree_null(parent, key);
    else
        tree_number(parent, key, number);
}

void precision_readouts(struct tree *readouts, const struct precision *all)
{
    struct tree *list = tree_array(readouts, "pipelines");
    for (size_t p = 0; p < all->pipelines_n; p++) {
        const struct pipeline *pipeline = &all->pipeline[p];
        char text[PE_STAGES_TEXT_MAX];
        struct tree *node = tree_object(list, NULL);
        size_t worst = worst_of(all, p);
        pe_stages_print(pipeline->stages, text, sizeof text);
        tree_string(node, "name", pipeline->name);
        tree_string(node, "stages", arena_printf(readouts->arena, "%s", text));
        tree_number(node, "max_abs_error", pipeline->max_abs_error[worst]);
        tree_number(node, "at_position", all->at[worst]);
        struct tree *above = tree_object(node, "first_above");
        for (size_t t = 0; t < THRESHOLDS_N; t++) {
            size_t i = first_above(all, p, thresholds[t].value);
            number_or_null(above, thresholds[t].name, i < all->positions_n ? all->at[i] : NAN);
        }
        number_or_null(node, "first_collision", pe_stages_collision(pipeline->stages));
    }
}

/* ---- For a terminal ------------------------------------------------------------------------ */

#define TEXT_BYTES_MAX     ((size_t)64 << 20)
#define SENTENCE_BYTES_MAX ((size_t)4 << 10)

static void put_position(struct buf *out, double at)
{
    char text[PE_TEXT_MAX];
    buf_append(out, text, pe_text_print(PE_F64, &at, 0, text));
}

static size_t column_width(const struct pipeline *pipeline)
{
    size_t len = strlen(pipeline->name);
    return len > COLUMN_MIN ? len : COLUMN_MIN;
}

/* A column for each pipeline, a row for each position. */
static void put_table(struct buf *out, const struct precision *all)
{
    char text[PE_TEXT_MAX];
    size_t width = strlen("pos");
    for (size_t i = 0; i < all->positions_n; i++) {
        size_t len = pe_text_print(PE_F64, &all->at[i], 0, text);
        width = len > width ? len : width;
    }
    buf_printf(out, "%*s", (int)width, "pos");
    for (size_t p = 0; p < all->pipelines_n; p++)
        buf_printf(out, " %*s", (int)column_width(&all->pipeline[p]), all->pipeline[p].name);
    for (size_t i = 0; i < all->positions_n && !out->failed; i++) {
        size_t len = pe_text_print(PE_F64, &all->at[i], 0, text);
        buf_printf(out, "\n%*.*s", (int)width, (int)len, text);
        for (size_t p = 0; p < all->pipelines_n; p++)
            buf_printf(out, " %*.3g", (int)column_width(&all->pipeline[p]),
                       all->pipeline[p].max_abs_error[i]);
    }
    buf_puts(out, "\n\n");
}

/* " It passes 0.001 at position 64, 0.01 at 512." */
static void put_passes(struct buf *out, const struct precision *all, size_t p)
{
    bool any = false;
    for (size_t t = 0; t < THRESHOLDS_N; t++) {
        size_t i = first_above(all, p, thresholds[t].value);
        if (i == all->positions_n)
            continue;
        buf_printf(out, any ? ", %g at " : " It passes %g at position ", thresholds[t].value);
        put_position(out, all->at[i]);
        any = true;
    }
    buf_puts(out, any ? "." : "");
}

static void put_sentence(struct buf *out, const struct precision *all, size_t p)
{
    const struct pipeline *pipeline = &all->pipeline[p];
    size_t worst = worst_of(all, p);
    double error = pipeline->max_abs_error[worst];
    double collision = pe_stages_collision(pipeline->stages);
    buf_printf(out, "%s: ", pipeline->name);
    if (isnan(error))
        buf_puts(out, "an angle is beyond the range of its stage, at position ");
    else if (error == 0)
        buf_puts(out, "no error at these positions");
    else
        buf_printf(out, "off by at most %.3g, at position ", error);
    if (error != 0) {
        put_position(out, all->at[worst]);
        if (all->member && pipeline->worst[worst] >= 0)
            buf_printf(out, ", %s %lld", all->member, (long long)pipeline->worst[worst]);
    }
    buf_puts(out, ".");
    put_passes(out, all, p);
    if (!isnan(collision))
        buf_printf(out, " Positions %.0f and %.0f become the same number.", collision,
                   collision + 1);
}

/* What to do about it, by what was seen. */
static const char *advice(const struct precision *all)
{
    const unsigned of_places = 1u << PE_STAGE_POS | 1u << PE_STAGE_FREQ | 1u << PE_STAGE_ANGLE;
    for (size_t p = 0; p < all->pipelines_n; p++)
        if (all->pipeline[p].stages->named & of_places &&
            first_above(all, p, 1e-1) < all->positions_n)
            return "Where rounded positions, frequencies or angles err by more than 0.1, positions "
                   "get lost: make all three in f32 or better, and round cos and sin last.";
    return "No rounded position, frequency or angle costs more than 0.1 here; farther away it may.";
}

/* Of several formats of 8 bits the best and the worst. */
static void put_formats(struct buf *out, const struct precision *all)
{
    size_t best = all->pipelines_n, worst = best, n = 0;
    for (size_t p = 0; p < all->pipelines_n; p++) {
        if (!(all->pipeline[p].stages->named >> PE_STAGE_QUANTIZE & 1))
            continue;
        double error = largest_of(all, p);
        best = n == 0 || error < largest_of(all, best) ? p : best;
        worst = n == 0 || error > largest_of(all, worst) ? p : worst;
        n++;
    }
    if (n > 1)
        buf_printf(out, "Of those that keep 8 bits %s errs least, by %.3g, and %s most, by %.3g.",
                   all->pipeline[best].name, largest_of(all, best), all->pipeline[worst].name,
                   largest_of(all, worst));
}

/* The text of `from`, wrapped, with lines after the first set in. */
static void put_wrapped(struct buf *out, struct buf *from)
{
    buf_putc(from, '\0');
    if (from->failed)
        out->failed = true;
    else
        text_wrap(out, 2, from->data);
    buf_putc(out, '\n');
    from->len = 0;
}

const char *precision_text(struct arena *arena, const struct precision *all)
{
    struct buf out, said;
    buf_init(&out, TEXT_BYTES_MAX);
    buf_init(&said, SENTENCE_BYTES_MAX);
    buf_printf(&out, "The largest error of %s%s, %s:\n\n", all->quantity,
               strcmp(all->quantity, "angle") == 0 ? " in radians" : "", all->compact);
    put_table(&out, all);
    for (size_t p = 0; p < all->pipelines_n; p++) {
        put_sentence(&said, all, p);
        put_wrapped(&out, &said);
    }
    buf_putc(&out, '\n');
    put_formats(&said, all);
    if (said.len > 0)
        put_wrapped(&out, &said);
    buf_puts(&said, advice(all));
    put_wrapped(&out, &said);
    buf_printf(&said, "Next: %sstages=f32;bf16-table measures pipelines of your own.",
               strcmp(all->quantity, "score") == 0
                   ? ""
                   : "quantity=score tells what attention sees of it, ");
    put_wrapped(&out, &said);
    const char *text = out.failed ? NULL : arena_strndup(arena, out.data, out.len);
    buf_release(&said);
    buf_release(&out);
    return text;
}
