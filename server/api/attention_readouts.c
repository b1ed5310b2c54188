// SPDX-License-Identifier: Apache-2.0
/*
 * attention_readouts.c: what the weights show: how widely each token looks, how far, whether the
 * order of the tokens matters, and whether equal ones can be told apart.
 */
#include <math.h>
#include <string.h>

#include "attention.h"

static const char causal_note[] =
    "With causal=true a token sees only those before it, so another order shows each token other "
    "content: not even kind=none is equivariant.";
static const char adds_note[] = "x is encoded before it becomes q, k and v.";
static const char values_note[] = "The encoding is added to q and k; v is used as it is.";
static const char forms_note[] =
    "What all of a row have in common cancels: with causal=true every form of this bias gives "
    "these weights, but for rounding.";
static const char bias_note[] = "The bias is added to the scaled score.";

/* ---- Distances ----------------------------------------------------------------------------- */

/* Mean of the weights of keys so many tokens behind the query (negative: before it). */
static void distances_tree(struct tree *parent, const struct attention *own, const double *weights)
{
    size_t n = own->tokens, offsets = 2 * n - 1;
    struct tree *node = tree_object(parent, "weight_by_distance");
    double *offset = node ? arena_alloc(node->arena, offsets * sizeof *offset) : NULL;
    double *mean = node ? arena_alloc(node->arena, offsets * sizeof *mean) : NULL;
    double *diagonal = node ? arena_alloc(node->arena, n * sizeof *diagonal) : NULL;
    if (!offset || !mean || !diagonal) {
        tree_string(node, "offset", NULL);
        return;
    }
    for (size_t i = 0; i < offsets; i++) {
        size_t count = i < n ? i + 1 : offsets - i;
        for (size_t j = 0; j < count; j++) {
            size_t query = i < n ? n - 1 - i + j : j;
            diagonal[j] = weights[query * n + query + i + 1 - n];
        }
        offset[i] = (double)i - (double)(n - 1);
        mean[i] = isnan(pe_sum(diagonal, count)) ? NAN : pe_mean(diagonal, count);
    }
    tree_reals(node, "offset", offset, offsets);
    tree_reals(node, "mean", mean, offsets);
}

/* ---- Order --------------------------------------------------------------------------------- */

static double relative(const struct attention_result *result)
{
    return result->residual == 0 ? 0 : result->residual / result->largest;
}

static void equivariance_tree(struct tree *parent, const struct attention *own,
                              const struct attention_result *result)
{
    if (own->has_scores)
        return;
    struct tree *node = tree_object(parent, "equivariance");
    struct tree *permutation = tree_array(node, "permutation");
    for (size_t t = 0; t < own->tokens; t++)
        tree_integer(permutation, NULL, (int64_t)own->permutation[t]);
    tree_number(node, "max_abs", result->residual);
    tree_number(node, "relative", relative(result));
    tree_bool(node, "equivariant", result->residual == 0);
}

static void result_tree(struct tree *parent, const struct attention *own,
                        const struct attention_result *result)
{
    tree_reals(parent, "entropy", result->entropy, own->tokens);
    distances_tree(parent, own, result->weights);
    equivariance_tree(parent, own, result);
}

/* ---- Equal labels -------------------------------------------------------------------------- */

/* The next token with the label of token t, tokens if there is none. */
static size_t next_equal(const struct attention *own, size_t t)
{
    size_t next = t + 1;
    while (next < own->tokens && strcmp(own->labels[next], own->labels[t]) != 0)
        next++;
    return next;
}

static bool is_first(const struct attention *own, size_t t)
{
    for (size_t before = 0; before < t; before++)
        if (strcmp(own->labels[before], own->labels[t]) == 0)
            return false;
    return true;
}

/* Largest difference between the outputs of tokens with the label of token `first`. */
static double outputs_apart(const struct attention *own, size_t first, const double *output)
{
    double largest = 0;
    for (size_t a = first; a < own->tokens; a = next_equal(own, a))
        for (size_t b = next_equal(own, a); b < own->tokens; b = next_equal(own, b))
            for (size_t c = 0; c < own->width; c++)
                largest =
                    fmax(largest, fabs(output[a * own->width + c] - output[b * own->width + c]));
    return largest;
}

static bool repeats(const struct attention *own, size_t t)
{
    return own->labels && !own->has_scores && is_first(own, t) && next_equal(own, t) < own->tokens;
}

static void labels_tree(struct tree *readouts, const struct attention *own)
{
    struct tree *list = NULL;
    for (size_t t = 0; t < own->tokens; t++) {
        if (!repeats(own, t))
            continue;
        list = list ? list : tree_array(readouts, "equal_labels");
        struct tree *node = tree_object(list, NULL);
        tree_string(node, "label", own->labels[t]);
        struct tree *tokens = tree_array(node, "tokens");
        for (size_t i = t; i < own->tokens; i = next_equal(own, i))
            tree_integer(tokens, NULL, (int64_t)i);
        tree_number(node, "max_abs", outputs_apart(own, t, own->with.output));
        tree_number(node, "max_abs_without", outputs_apart(own, t, own->without.output));
    }
}

/* ---- Sentences ----------------------------------------------------------------------------- */

static const char *order_sentence(struct arena *arena, const char *name,
                                  const struct attention_result *result)
{
    if (result->residual == 0)
        return arena_printf(arena, "%s: exactly 0, the order does not matter\n", name);
    return arena_printf(arena, "%s: up to %.6g, %.3g %% of the largest output; the order matters\n",
                        name, result->residual, 100 * relative(result));
}

static const char *entropy_sentence(struct arena *arena, const struct attention *own,
                                    const char *name, const struct attention_result *result)
{
    double low = result->entropy[0], high = low;
    for (size_t t = 1; t < own->tokens; t++) {
        low = fmin(low, result->entropy[t]);
        high = fmax(high, result->entropy[t]);
    }
    return arena_printf(arena, "%s: %.4g to %.4g nats\n", name, low, high);
}

static const char *labels_sentences(struct job *job, const struct attention *own)
{
    struct arena *arena = &job->request->arena;
    const char *name = job->specs[0].compact, *other = job->specs[WITHOUT_SPEC].compact;
    const char *text = "";
    for (size_t t = 0; text && t < own->tokens; t++) {
        if (!repeats(own, t))
            continue;
        double with = outputs_apart(own, t, own->with.output);
        double without = outputs_apart(own, t, own->without.output);
        text = arena_printf(arena,
                            "%sdifference between the outputs of tokens \"%s\":\n"
                            "  %.6g with %s, %.6g with %s\n",
                            text, own->labels[t], with, name, without, other);
    }
    return text;
}

/* The entropy that n equal weights have. */
static double entropy_most(struct arena *arena, size_t n)
{
    double *zeros = arena_calloc(arena, n, sizeof *zeros);
    return zeros ? pe_softmax_entropy(zeros, n) : NAN;
}

static const char *sentences(struct job *job, const struct attention *own)
{
    struct arena *arena = &job->request->arena;
    const char *name = job->specs[0].compact, *without = job->specs[WITHOUT_SPEC].compact;
    const char *order = "", *labels = "";
    if (!own->has_scores) {
        const char *with = order_sentence(arena, name, &own->with);
        const char *other = order_sentence(arena, without, &own->without);
        labels = labels_sentences(job, own);
        order = with && other ? arena_printf(arena,
                                             "change of the outputs when tokens change places:\n"
                                             "  %s  %s",
                                             with, other)
                              : NULL;
    }
    const char *looks = entropy_sentence(arena, own, name, &own->with);
    const char *others = entropy_sentence(arena, own, without, &own->without);
    if (!order || !labels || !looks || !others)
        return NULL;
    const char *next = own->seeded
                           ? "next: causal=true hides what comes later, gain=1 makes content "
                             "louder,\n  select=weights_without shows the other matrix\n"
                           : "next: causal=true hides what comes later,\n"
                             "  select=weights_without shows the other matrix\n";
    return arena_printf(arena,
                        "%s%sentropy of the weights of a token, %.4g nats if all were equal:\n"
                        "  %s  %s%s",
                        order, labels, entropy_most(arena, own->tokens), looks, others, next);
}

/* ---- All of it ----------------------------------------------------------------------------- */

static void notes(struct job *job, const struct attention *own)
{
    const struct pe_kind *kind = job->specs[0].spec.kind;
    if (own->causal && !own->has_scores)
        job_note(job, causal_note);
    if (kind->acts == PE_ADDS)
        job_note(job, own->same ? adds_note : values_note);
    if (own->causal && pe_kind_facets(kind) >> PE_FACET_SLOPES & 1)
        job_note(job, forms_note);
    if (kind->acts == PE_BIASES && !(kind->properties & PE_CONTENT) && !own->has_scores)
        job_note(job, bias_note);
}

void attention_tell(struct job *job, const struct attention *own)
{
    struct tree *readouts = job->answer.readouts;
    result_tree(readouts, own, &own->with);
    result_tree(tree_object(readouts, "without"), own, &own->without);
    labels_tree(readouts, own);
    notes(job, own);
    if (job_in_words(job))
        job->answer.text_readouts = sentences(job, own);
}
