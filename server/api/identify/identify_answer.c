// SPDX-License-Identifier: Apache-2.0
/*
 * identify_answer.c: what was found as the members of the answer: the best, others, what could not
 * be told apart and what to send to settle it.
 */
#include <string.h>

#include "identify.h"

static const char *compact_of(struct job *job, const struct pe_spec *spec)
{
    size_t len = pe_spec_compact(spec, NULL, 0);
    char *text = job_alloc(job, len + 1, 1);
    if (text)
        pe_spec_compact(spec, text, len + 1);
    return text;
}

static void write_numbers(struct tree *node, const struct pe_candidate *candidate)
{
    if (candidate->rms == candidate->rms) {
        tree_number(node, "rms", candidate->rms);
        tree_number(node, "max_abs", candidate->max_abs);
    } else {
        tree_number(node, "rms", candidate->phase_rms);
        tree_null(node, "max_abs");
    }
}

static void write_dialects(const struct identify *own, struct tree *node)
{
    struct tree *list = tree_array(node, "dialects");
    const char *name;
    for (size_t row = 0; (name = identify_dialect(own, &own->result.found[0], &row));)
        tree_string(list, NULL, name);
}

static void write_best(struct job *job, const struct identify *own, struct tree *root)
{
    const struct pe_candidate *best = &own->result.found[0];
    struct tree *node = tree_object(root, "best");
    job_spec_tree(node, "spec", &best->spec);
    tree_string(node, "compact", compact_of(job, &best->spec));
    if (best->stages.named) {
        char text[PE_STAGES_TEXT_MAX];
        size_t len = pe_stages_print(&best->stages, text, sizeof text);
        tree_string(node, "stages", arena_strndup(&job->request->arena, text, len));
    }
    const char *twist = identify_twist(best);
    if (twist)
        tree_string(node, "twist", twist);
    write_dialects(own, node);
    write_numbers(node, best);
    tree_bool(node, "exact", best->explains == PE_EXPLAINS_BITS);
    const char *explains = identify_explains(own, best);
    if (explains)
        tree_string(node, "explains", explains);
    else
        tree_null(node, "explains");
    tree_string(node, "says", identify_says(job, own, best));
    if (own->of_scores)
        identify_scores_table(own, node);
}

static void write_others(struct job *job, const struct identify *own, struct tree *root)
{
    const struct pe_identify *result = &own->result;
    struct tree *list = tree_array(root, "others");
    size_t top = (size_t)job_key(job, "top")->number;
    for (size_t i = 1; i < result->found_n && i < top; i++) {
        const struct pe_candidate *candidate = &result->found[i];
        struct tree *node = tree_object(list, NULL);
        tree_string(node, "spec", compact_of(job, &candidate->spec));
        write_numbers(node, candidate);
        tree_bool(node, "rival", i < result->rivals_n);
    }
}

static const char *value_text(struct job *job, const struct pe_param *row,
                              const struct pe_value *value)
{
    size_t len = pe_value_print(row, value, ',', NULL, 0);
    char *text = job_alloc(job, len + 1, 1);
    if (text)
        pe_value_print(row, value, ',', text, len + 1);
    return text;
}

/* A parameter of the best that some rival has otherwise: the values of all. */
static void write_key(struct job *job, const struct identify *own, struct tree *list, size_t row)
{
    const struct pe_identify *result = &own->result;
    const struct pe_spec *best = &result->found[0].spec;
    const struct pe_param *param = &best->params.rows[row];
    struct tree *node = NULL, *values = NULL;
    for (size_t i = 1; i < result->rivals_n; i++) {
        const struct pe_spec *rival = &result->found[i].spec;
        if (best->kind->acts != PE_ROTATES && rival->kind != best->kind)
            continue;
        int at = pe_params_find(&rival->params, param->name, strlen(param->name));
        const char *mine =
            best->params.value[row].set ? value_text(job, param, &best->params.value[row]) : "none";
        const char *other = at >= 0 && rival->params.value[at].set
                                ? value_text(job, param, &rival->params.value[at])
                                : "none";
        if (!mine || !other || strcmp(mine, other) == 0)
            continue;
        if (!node) {
            node = tree_object(list, NULL);
            tree_string(node, "key", param->name);
            values = tree_array(node, "values");
            tree_string(values, NULL, mine);
        }
        tree_string(values, NULL, other);
    }
    if (!node)
        return;
    if (strcmp(param->name, "base") == 0 && result->more && result->base_high > 0)
        tree_reals(node, "between", &result->base_low, 2);
    tree_string(node, "send", identify_send(job, own, param->name));
}

/* Kinds of all rivals, if they are of several: codes of few places, biases of few distances. */
static void write_kinds(struct job *job, const struct identify *own, struct tree *list)
{
    const struct pe_identify *result = &own->result;
    struct tree *values = NULL;
    for (size_t i = 1; i < result->rivals_n; i++) {
        const char *kind = result->found[i].spec.kind->name;
        bool named = false;
        for (size_t k = 0; k < i; k++)
            named = named || strcmp(result->found[k].spec.kind->name, kind) == 0;
        if (named)
            continue;
        if (!values) {
            struct tree *node = tree_object(list, NULL);
            tree_string(node, "key", "kind");
            values = tree_array(node, "values");
            tree_string(values, NULL, result->found[0].spec.kind->name);
            tree_string(node, "send", identify_send(job, own, "kind"));
        }
        tree_string(values, NULL, kind);
    }
}

static void write_ambiguous(struct job *job, const struct identify *own, struct tree *root)
{
    const struct pe_identify *result = &own->result;
    struct tree *list = tree_array(root, "ambiguous");
    if (result->confidence != PE_IDENTIFIED_AMBIGUOUS || result->found_n == 0)
        return;
    write_kinds(job, own, list);
    for (size_t row = 0; row < result->found[0].spec.params.rows_n; row++)
        write_key(job, own, list, row);
    if (list && !list->first) {
        struct tree *node = tree_object(list, NULL);
        const char *key = own->of_scores      ? "positions"
                          : result->more      ? "base"
                          : result->axes_open ? "section_axes"
                                              : "positions";
        tree_string(node, "key", key);
        tree_array(node, "values");
        if (result->more && result->base_high > 0)
            tree_reals(node, "between", &result->base_low, 2);
        tree_string(node, "send", identify_send(job, own, key));
    }
}

/* Where the pairs of one layout stand in the other. */
static void write_conversion(struct job *job, const struct identify *own, struct tree *root)
{
    const struct pe_spec *spec = &own->result.found[0].spec;
    int row = pe_params_find(&spec->params, "layout", 6);
    size_t dim = pe_spec_dim(spec), pairs = pe_spec_pairs(spec);
    if (spec->kind->acts != PE_ROTATES || row < 0 || spec->params.value[row].number > 1)
        return;
    bool half = spec->params.value[row].number != 0;
    double *permutation = job_alloc(job, dim, sizeof *permutation);
    if (!permutation)
        return;
    for (size_t i = 0; i < dim; i++)
        permutation[i] = (double)i;
    for (size_t pair = 0; pair < pairs; pair++) {
        size_t a, b, first = dim;
        pe_spec_pair_members(spec, 0, false, &first, &b);
        pe_spec_pair_members(spec, pair, false, &a, &b);
        permutation[first + (half ? 2 * pair : pair)] = (double)a;
        permutation[first + (half ? 2 * pair + 1 : pair + pairs)] = (double)b;
    }
    struct tree *node = tree_object(root, "conversion");
    tree_string(node, "to", half ? "interleaved" : "half");
    tree_reals(node, "permutation", permutation, dim);
}

void identify_answer(struct job *job, const struct identify *own)
{
    static const char *const confidences[] = {"none", "ambiguous", "unique"};
    const struct pe_identify *result = &own->result;
    struct tree *root = job->answer.root = tree_new(&job->request->arena, TREE_OBJECT);
    const char *advice;
    tree_string(root, "semantics", API_SEMANTICS);
    tree_bool(root, "identified", result->rivals_n > 0);
    tree_string(root, "confidence", confidences[result->confidence]);
    tree_string(root, "dtype", pe_dtype_name(own->dtype));
    tree_string(root, "axes", own->axes);
    tree_integer(root, "tried", (int64_t)result->tried);
    if (result->found_n > 0)
        write_best(job, own, root);
    else
        tree_null(root, "best");
    write_others(job, own, root);
    write_ambiguous(job, own, root);
    struct tree *list = tree_array(root, "advice");
    for (size_t i = 0; (advice = identify_advice(job, own, i)); i++)
        tree_string(list, NULL, advice);
    if (own->of_scores)
        identify_scores_write(job, own, root);
    else if (result->rivals_n > 0)
        write_conversion(job, own, root);
}
