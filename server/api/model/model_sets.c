// SPDX-License-Identifier: Apache-2.0
/*
 * model_sets.c: the parameter sets of a rotating model. Most have one; some have one for layers
 * with a window and one for those that see everything, nested in rope_parameters, or spread over
 * keys.
 */
#include <string.h>

#include "model.h"

#define THETA_NAMES  "rope_theta rotary_emb_base rope_base global_rope_theta"
#define LOCAL_NAMES  "rope_local_base_freq local_rope_theta"
#define COMPRESS     "compress_rope_theta"
#define DEFAULT_BASE 10000.0

static struct set *add_set(struct model *model, const char *name, struct node dict)
{
    const struct family *family = model->family;
    struct set *set = &model->sets[model->sets_n++];
    *set = (struct set){.name = name,
                        .dict = dict,
                        .theta_names = THETA_NAMES,
                        .theta = family->theta > 0 ? family->theta : DEFAULT_BASE};
    return set;
}

/* rope_scaling is the older name of rope_parameters, and goes before it. */
static struct node find_dict(struct model *model)
{
    struct node scaling = model_node(model, &model->config, "rope_scaling");
    struct node parameters = model_node(model, &model->config, "rope_parameters");
    if (scaling.object && parameters.object && !model_same(scaling.object, parameters.object))
        model_complain(model, ERR_conflicting_parameters, scaling.pointer, NULL,
                       "rope_scaling and rope_parameters say different things; transformers reads "
                       "rope_scaling alone");
    return scaling.object || !parameters.object ? scaling : parameters;
}

/* Whether every member is a parameter set. */
static bool is_nested(const json_t *dict)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)dict, key, value)
    {
        if (!json_is_object(value))
            return false;
    }
    return json_object_size(dict) > 0;
}

static bool is_local(const char *name)
{
    return strcmp(name, "sliding_attention") == 0 || strcmp(name, "local") == 0;
}

static void add_nested(struct model *model, const struct node *dict)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)dict->object, key, value)
    {
        if (model->sets_n == MODEL_SETS_MAX) {
            err_add(&model->job->request->err, ERR_limit_exceeded, dict->pointer, NULL,
                    "there are %zu parameter sets, at most %d are read",
                    json_object_size(dict->object), MODEL_SETS_MAX);
            return;
        }
        struct node part = {value, model_pointer(model, dict, key)};
        struct set *set = add_set(model, key, part);
        set->nested = true;
        if (is_local(key) && model->family->local_theta > 0) {
            set->theta_names = LOCAL_NAMES;
            set->theta = model->family->local_theta;
        }
        if (model->family->flags & FAMILY_MAIN_COMPRESS && strcmp(key, "compress") == 0) {
            set->theta_names = COMPRESS;
            set->theta = model->family->local_theta;
        }
    }
}

/* Layers with a window beside those that see everything: another base, and without the scaling if
 * the class says so. */
static void add_two(struct model *model, struct node dict, const char *local_names)
{
    const struct family *family = model->family;
    add_set(model, "full_attention", dict);
    struct set *local = add_set(model, "sliding_attention", dict);
    local->unscaled = family->flags & FAMILY_FULL_SCALED || local_names;
    if (local_names || family->local_theta > 0) {
        local->theta_names = local_names ? local_names : LOCAL_NAMES;
        local->theta = family->local_theta > 0 ? family->local_theta : DEFAULT_BASE;
    }
}

/* The scaling is for what was compressed only, which has a base of its own. */
static void add_main_and_compress(struct model *model, struct node dict)
{
    add_set(model, "main", dict)->unscaled = true;
    struct set *compress = add_set(model, "compress", dict);
    compress->theta_names = COMPRESS;
    compress->theta = model->family->local_theta;
}

static bool is_scaled(const struct node *dict)
{
    return json_object_get(dict->object, "factor") || json_object_get(dict->object, "rope_type") ||
           json_object_get(dict->object, "type");
}

void model_sets(struct model *model)
{
    const struct family *family = model->family;
    struct node dict = find_dict(model);
    bool local = model_find(model, &model->config, LOCAL_NAMES).json;
    bool one_base = family->local_theta == 0;
    if (is_nested(dict.object))
        add_nested(model, &dict);
    else if (family->flags & FAMILY_MAIN_COMPRESS)
        add_main_and_compress(model, dict);
    else if (local || !one_base)
        add_two(model, dict, LOCAL_NAMES);
    else if (family->flags & FAMILY_FULL_SCALED && is_scaled(&dict))
        add_two(model, dict, NULL);
    else
        add_set(model, "all", dict);
}
