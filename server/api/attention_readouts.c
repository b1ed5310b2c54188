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

double attention_relative(const struct attention_result *result)
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
    tree_number(node, "relative", attention_relative(result));
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

double attention_apart(const struct attention *own, size_t first, const double *output)
{
    double largest = 0;
    for (size_t a = first; a < own->tokens; a = next_equal(own, a))
        for (size_t b = next_equal(own, a); b < own->tokens; b = next_equal(own, b))
            for (size_t c = 0; c < own->width; c++)
                largest =
                    fmax(largest, fabs(output[a * own->width + c] - output[b * own->width + c]));
    return largest;
}

bool attention_repeats(const struct attention *own, size_t t)
{
    return own->labels && !own->has_scores && is_first(own, t) && next_equal(own, t) < own->tokens;
}

static void labels_tree(struct tree *readouts, const struct attention *own)
{
    struct tree *list = NULL;
    for (size_t t = 0; t < own->tokens; t++) {
        if (!attention_repeats(own, t))
            continue;
        list = list ? list : tree_array(readouts, "equal_labels");
        struct tree *node = tree_object(list, NULL);
        tree_string(node, "label", own->labels[t]);
        struct tree *tokens = tree_array(node, "tokens");
        for (size_t i = t; i < own->tokens; i = next_equal(own, i))
            tree_integer(tokens, NULL, (int64_t)i);
        tree_number(node, "max_abs", attention_apart(own, t, own->with.output));
        tree_number(node, "max_abs_without", attention_apart(own, t, own->without.output));
    }
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
        attention_text(job, own);
}
