// SPDX-License-Identifier: Apache-2.0
/*
 * attention_text.c: attention for a terminal: the weights with an encoding and without as tables
 * that one can look at, and what they show in sentences.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attention.h"
#include "text.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define DECIMALS       4

/* ---- Tables -------------------------------------------------------------------------------- */

/* A token's label, or its number. */
static const char *name_of(const struct attention *own, size_t token, char number[24])
{
    if (own->labels)
        return own->labels[token];
    snprintf(number, 24, "%zu", token);
    return number;
}

/* What is exactly 0 or 1 says so. */
static void put_weight(struct buf *out, size_t columns, double weight)
{
    char text[PE_TEXT_MAX];
    if (weight == rint(weight) || isnan(weight))
        text[pe_text_print(PE_F64, &weight, 0, text)] = '\0';
    else
        snprintf(text, sizeof text, "%.*f", DECIMALS, weight);
    text_right(out, columns, text);
}

static size_t columns_of(const char *name)
{
    size_t len = strlen(name), least = strlen("0.") + DECIMALS;
    return len > least ? len : least;
}

static void put_weights(struct buf *out, const struct attention *own, const double *weights)
{
    char number[24];
    size_t names = strlen("query");
    for (size_t t = 0; t < own->tokens; t++) {
        size_t len = strlen(name_of(own, t, number));
        names = len > names ? len : names;
    }
    text_right(out, names, "query");
    for (size_t t = 0; t < own->tokens; t++) {
        const char *name = name_of(own, t, number);
        text_right(out, columns_of(name) + 1, name);
    }
    for (size_t query = 0; query < own->tokens && !out->failed; query++) {
        buf_putc(out, '\n');
        text_right(out, names, name_of(own, query, number));
        for (size_t key = 0; key < own->tokens; key++)
            put_weight(out, columns_of(name_of(own, key, number)) + 1,
                       weights[query * own->tokens + key]);
    }
    buf_puts(out, "\n\n");
}

/* ---- Sentences ----------------------------------------------------------------------------- */

static void say(struct buf *out, const char *sentence)
{
    if (!sentence) {
        out->failed = true;
        return;
    }
    text_wrap(out, 2, sentence);
    buf_putc(out, '\n');
}

static void say_order(struct buf *out, struct arena *arena, const char *name,
                      const struct attention_result *result)
{
    if (result->residual == 0)
        say(out, arena_printf(arena,
                              "With %s the order does not matter: when tokens change places their "
                              "outputs go with them, and change by exactly 0.",
                              name));
    else
        say(out, arena_printf(arena,
                              "With %s the order matters: when tokens change places the outputs "
                              "change by up to %.6g, %.3g %% of the largest.",
                              name, result->residual, 100 * attention_relative(result)));
}

/* "0.00611705", or "exactly 0" */
static const char *difference(struct arena *arena, double apart)
{
    return apart == 0 ? "exactly 0" : arena_printf(arena, "up to %.6g", apart);
}

static void say_labels(struct buf *out, struct job *job, const struct attention *own, bool alone)
{
    struct arena *arena = &job->request->arena;
    for (size_t t = 0; t < own->tokens; t++) {
        if (!attention_repeats(own, t))
            continue;
        const char *with = difference(arena, attention_apart(own, t, own->with.output));
        const char *text =
            arena_printf(arena, "The outputs of the tokens \"%s\" differ by %s with %s",
                         own->labels[t], with ? with : "", job->specs[0].compact);
        const char *without = difference(arena, attention_apart(own, t, own->without.output));
        if (text && without && !alone)
            text = arena_printf(arena, "%s, by %s with %s", text, without,
                                job->specs[WITHOUT_SPEC].compact);
        say(out, text ? arena_printf(arena, "%s.", text) : NULL);
    }
}

/* "1.575 to 1.595 nats with rope:dim=64" */
static const char *entropy_range(struct arena *arena, const struct attention *own, const char *name,
                                 const struct attention_result *result)
{
    double low = result->entropy[0], high = low;
    for (size_t t = 1; t < own->tokens; t++) {
        low = fmin(low, result->entropy[t]);
        high = fmax(high, result->entropy[t]);
    }
    return arena_printf(arena, "%.4g to %.4g nats with %s", low, high, name);
}

/* The entropy that n equal weights have. */
static double entropy_most(struct arena *arena, size_t n)
{
    double *zeros = arena_calloc(arena, n, sizeof *zeros);
    return zeros ? pe_softmax_entropy(zeros, n) : NAN;
}

static void say_entropy(struct buf *out, struct job *job, const struct attention *own, bool alone)
{
    struct arena *arena = &job->request->arena;
    const char *with = entropy_range(arena, own, job->specs[0].compact, &own->with);
    const char *without =
        entropy_range(arena, own, job->specs[WITHOUT_SPEC].compact, &own->without);
    say(out, with && without
                 ? arena_printf(arena,
                                "How widely a token looks: its weights have an entropy of %s%s%s. "
                                "If all were equal it would be %.4g nats.",
                                with, alone ? "" : ", ", alone ? "" : without,
                                entropy_most(arena, own->tokens))
                 : NULL);
}

/* ---- All of it ----------------------------------------------------------------------------- */

static void put_all(struct buf *out, struct job *job, const struct attention *own)
{
    const char *name = job->specs[0].compact, *other = job->specs[WITHOUT_SPEC].compact;
    struct arena *arena = &job->request->arena;
    bool alone = strcmp(name, other) == 0; /* there is nothing to compare it with */
    if (!job->answer.main) {
        say(out,
            arena_printf(arena, "Weights with %s; a row is what a token takes from each:", name));
        put_weights(out, own, own->with.weights);
        if (!alone) {
            say(out, arena_printf(arena, "With %s:", other));
            put_weights(out, own, own->without.weights);
        }
    }
    if (!own->has_scores) {
        say_order(out, arena, name, &own->with);
        if (!alone)
            say_order(out, arena, other, &own->without);
        say_labels(out, job, own, alone);
    }
    say_entropy(out, job, own, alone);
    say(out, arena_printf(arena, "Next: %s%s%swith .csv come all digits of the weights.",
                          own->causal ? "" : "causal=true hides what comes later; ",
                          own->seeded ? "gain=1 makes content louder; " : "",
                          alone ? "compare=alibi shows the weights with that encoding too; " : ""));
}

void attention_text(struct job *job, const struct attention *own)
{
    struct buf out;
    if (job->format == FORMAT_TXT && job->main == 0 && job_notation(job) == PE_SHORTEST)
        job->answer.main = NULL; /* the text has it, rounded */
    buf_init(&out, TEXT_BYTES_MAX);
    put_all(&out, job, own);
    job->answer.text_readouts =
        out.failed ? NULL : arena_strndup(&job->request->arena, out.data, out.len);
    buf_release(&out);
}
