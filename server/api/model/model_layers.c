// SPDX-License-Identifier: Apache-2.0
/*
 * model_layers.c: what each layer does: what it sees, which parameter set it rotates by, if any;
 * and what happens to queries and scores besides.
 */
#include <string.h>

#include "model.h"

#define COUNT_NAMES   "num_hidden_layers n_layer num_layers n_layers"
#define PATTERN_NAMES "sliding_window_pattern _sliding_window_pattern global_attn_every_n_layers"

static const char full[] = "full_attention", sliding[] = "sliding_attention",
                  chunked[] = "chunked_attention";

struct layers {
    size_t n;
    const char *sees[MODEL_LAYERS_MAX];
    bool rotates[MODEL_LAYERS_MAX];
    bool hybrid; /* some see a window, others everything */
};

/* ---- What a layer sees --------------------------------------------------------------------- */

static bool read_types(struct model *model, struct layers *layers)
{
    struct found types = model_find(model, &model->config, "layer_types");
    if (!types.json)
        return false;
    size_t n = json_array_size(types.json);
    if (n != layers->n)
        model_complain(model, ERR_conflicting_parameters, types.pointer, NULL,
                       "layer_types has %zu layers, num_hidden_layers is %zu", n, layers->n);
    for (size_t i = 0; i < layers->n; i++) {
        const json_t *name = json_array_get(types.json, i);
        layers->sees[i] = json_is_string(name) ? json_string_value(name) : full;
    }
    model_read(model, types.pointer, "layers");
    return true;
}

/* One layer in so many sees everything; 0: all do. */
static size_t read_period(struct model *model)
{
    struct found period = model_find(model, &model->config, PATTERN_NAMES);
    size_t every = model->family->every;
    if (json_is_string(period.json)) /* such as "LLLG" */
        every = strlen(json_string_value(period.json));
    else if (json_is_integer(period.json) && json_integer_value(period.json) >= 0)
        every = (size_t)json_integer_value(period.json);
    else if (every > 0)
        model_assume(model, "sliding_window_pattern", model_text(model, (double)every),
                     "not in the config: the pattern of its class");
    if (period.json)
        model_read(model, period.pointer, "one layer in %zu sees everything", every);
    return every;
}

/* From which layer on there is a window, in classes without a pattern. */
static size_t first_with_window(struct model *model, size_t n)
{
    double window, first = 0;
    const char *pointer;
    bool used = true;
    model_bool(model, &model->config, "use_sliding_window", &used, &pointer);
    if (!used || !model_number(model, &model->config, "sliding_window", &window, &pointer))
        return n;
    model_number(model, &model->config, "max_window_layers", &first, &pointer);
    return first >= 0 && first < (double)n ? (size_t)first : n;
}

static void by_pattern(struct model *model, struct layers *layers)
{
    size_t every = read_period(model);
    size_t first = every == 0 ? first_with_window(model, layers->n) : 0;
    bool leads = model->family->flags & FAMILY_FULL_FIRST;
    for (size_t i = 0; i < layers->n; i++)
        layers->sees[i] = every > 0    ? (i + !leads) % every == 0 ? full : sliding
                          : i >= first ? sliding
                                       : full;
}

/* ---- Which layers rotate -------------------------------------------------------------------- */

/* A 1 stands for a layer that does. */
static bool read_list(struct model *model, struct layers *layers)
{
    struct found list = model_find(model, &model->config, "no_rope_layers");
    bool empty = list.array && list.array->count == 0;
    if (!list.array || (empty && model->family->flags & FAMILY_EMPTY_LIST))
        return false;
    if (list.array->count < layers->n || list.array->rank != 1 || list.array->fault)
        return err_add(&model->job->request->err, ERR_invalid_value, list.pointer, NULL,
                       "no_rope_layers must have a 0 or 1 for each of the %zu layers", layers->n);
    double *rotates = job_alloc(model->job, list.array->count, sizeof *rotates);
    if (!rotates || !json_array_read(list.array, PE_F64, rotates, &model->job->request->err))
        return true;
    for (size_t i = 0; i < layers->n; i++)
        layers->rotates[i] = rotates[i] != 0;
    model_read(model, list.pointer, "1: the layer rotates");
    return true;
}

static void by_interval(struct model *model, struct layers *layers)
{
    double every = 4;
    const char *pointer;
    if (model_number(model, &model->config, "no_rope_layer_interval", &every, &pointer))
        model_read(model, pointer, "one layer in %s does not rotate", model_text(model, every));
    else
        model_assume(model, "no_rope_layer_interval", "4", "not in the config: what its class has");
    for (size_t i = 0; i < layers->n && every >= 1; i++)
        layers->rotates[i] = (i + 1) % (size_t)every != 0;
}

static void find_rotating(struct model *model, struct layers *layers)
{
    unsigned flags = model->family->flags;
    for (size_t i = 0; i < layers->n; i++) {
        layers->rotates[i] = true;
        layers->hybrid = layers->hybrid || strcmp(layers->sees[i], full) != 0;
    }
    if (flags & FAMILY_NOPE_LIST && !read_list(model, layers))
        by_interval(model, layers);
    for (size_t i = 0; i < layers->n; i++) {
        if (flags & FAMILY_FULL_NOPE && layers->hybrid)
            layers->rotates[i] = strcmp(layers->sees[i], full) != 0;
        if (flags & FAMILY_CHUNKED)
            layers->sees[i] = layers->rotates[i] ? chunked : full;
    }
}

/* ---- The answer ---------------------------------------------------------------------------- */

/* The parameter set of a layer; MODEL_SETS_MAX: one that was not asked for. */
static size_t set_of(const struct model *model, const char *sees)
{
    bool compressed = model->family->flags & FAMILY_MAIN_COMPRESS;
    const char *name = !compressed ? sees : strcmp(sees, sliding) == 0 ? "main" : "compress";
    for (size_t i = 0; i < model->sets_n; i++)
        if (strcmp(model->sets[i].name, name) == 0 || strcmp(model->sets[i].name, "all") == 0)
            return i;
    return MODEL_SETS_MAX;
}

static void write_layers(struct model *model, const struct layers *layers)
{
    struct tree *list = tree_array(model->answer, "layers");
    for (size_t i = 0; i < layers->n; i++) {
        struct tree *layer = tree_object(list, NULL);
        size_t set = set_of(model, layers->sees[i]);
        tree_string(layer, "attention", layers->sees[i]);
        if (!layers->rotates[i])
            tree_null(layer, "spec");
        else if (set < MODEL_SETS_MAX)
            tree_integer(layer, "spec", (int64_t)set);
    }
}

/* t(p) = 1 + scale * ln(1 + floor((p + offset) / length)), a factor of the query at p. */
static void write_temperature(struct model *model, const char *where, double scale, double length,
                              int offset)
{
    struct tree *object = tree_object(model->answer, "query_temperature");
    tree_string(object, "formula",
                offset ? "1 + scale*ln(1 + floor((p + 1)/length))"
                       : "1 + scale*ln(1 + floor(p/length))");
    tree_number(object, "scale", scale);
    tree_number(object, "length", length);
    tree_string(object, "layers", where);
}

static double read_or(struct model *model, const char *name, double fallback)
{
    double number;
    const char *pointer;
    if (model_number(model, &model->config, name, &number, &pointer)) {
        model_read(model, pointer, "query_temperature");
        return number;
    }
    model_assume(model, name, model_text(model, fallback), "not in the config: what its class has");
    return fallback;
}

static void temperature(struct model *model)
{
    bool tuned = true;
    const char *pointer;
    double scale, length;
    if (model->family->flags & FAMILY_TEMPERATURE) {
        model_bool(model, &model->config, "attn_temperature_tuning", &tuned, &pointer);
        if (tuned)
            write_temperature(model, "those that do not rotate", read_or(model, "attn_scale", 0.1),
                              read_or(model, "floor_scale", 8192), 1);
        return;
    }
    const struct set *set = &model->sets[0];
    if (!model_number(model, &set->dict, "llama_4_scaling_beta", &scale, &pointer))
        return;
    model_read(model, pointer, "query_temperature");
    int row = pe_params_find(&set->slot->spec.params, "original_max", 12);
    length = row >= 0 ? set->slot->spec.params.value[row].number : 0;
    if (length > 0)
        write_temperature(model, "all", scale, length, 0);
}

void model_layers(struct model *model)
{
    double n;
    const char *pointer;
    temperature(model);
    if (!model_number(model, &model->config, COUNT_NAMES, &n, &pointer))
        return;
    if (n < 1 || n > MODEL_LAYERS_MAX || n != (double)(size_t)n) {
        err_add(&model->job->request->err, ERR_invalid_value, pointer, NULL,
                "the number of layers must be 1 to %d", MODEL_LAYERS_MAX);
        return;
    }
    struct layers *layers = job_alloc(model->job, 1, sizeof *layers);
    if (!layers)
        return;
    *layers = (struct layers){.n = (size_t)n};
    for (size_t i = 0; i < MODEL_LAYERS_MAX; i++)
        layers->sees[i] = full;
    if (!read_types(model, layers))
        by_pattern(model, layers);
    find_rotating(model, layers);
    write_layers(model, layers);
}
