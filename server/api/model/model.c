// SPDX-License-Identifier: Apache-2.0
/*
 * model.c: values of a config and notes about them: what was read and as what, what was supposed,
 * what deserves a warning.
 */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"

static struct arena *arena_of(const struct model *model)
{
    return &model->job->request->arena;
}

/* ---- Notes --------------------------------------------------------------------------------- */

static bool same_text(const struct tree *object, const char *key, const char *text)
{
    const struct tree *member = tree_member(object, key);
    return member ? text && member->as.string && strcmp(member->as.string, text) == 0 : !text;
}

/* {"pointer": .., "as": ..}, once; a text that is NULL for want of memory ends the answer. */
static void note(struct tree *list, const char *first_key, const char *first,
                 const char *second_key, const char *second)
{
    for (const struct tree *node = list ? list->first : NULL; node; node = node->next)
        if (same_text(node, first_key, first) && same_text(node, second_key, second))
            return;
    struct tree *object = tree_object(list, NULL);
    if (first)
        tree_string(object, first_key, first);
    tree_string(object, second_key, second);
}

static const char *format_text(struct model *model, const char *format, va_list args)
{
    char text[320];
    vsnprintf(text, sizeof text, format, args);
    return arena_printf(arena_of(model), "%s", text);
}

void model_read(struct model *model, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(model->read, "pointer", pointer, "as", format_text(model, format, args));
    va_end(args);
}

void model_warn(struct model *model, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(model->warnings, "pointer", pointer, "detail", format_text(model, format, args));
    va_end(args);
}

/* Sets share keys: what is wrong with one is said once. */
static bool is_said(const struct err *err, const char *pointer)
{
    for (size_t i = 0; pointer && i < err->n && i < ERR_ITEMS_MAX; i++)
        if (strcmp(err->item[i].where, pointer) == 0)
            return true;
    return false;
}

void model_complain(struct model *model, enum err_code code, const char *pointer, const char *hint,
                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = format_text(model, format, args);
    va_end(args);
    if (!model->lenient && !is_said(&model->job->request->err, pointer))
        err_add(&model->job->request->err, code, pointer,
                hint ? hint : "lenient=1 makes it a warning", "%s", text ? text : "");
    else if (model->lenient && hint && text)
        model_warn(model, pointer, "%s (%s)", text, hint);
    else if (model->lenient)
        note(model->warnings, "pointer", pointer, "detail", text);
}

const char *model_text(struct model *model, double number)
{
    char digits[PE_TEXT_MAX];
    size_t len = pe_text_print(PE_F64, &number, 0, digits);
    const char *text = arena_strndup(arena_of(model), digits, len);
    return text ? text : "";
}

/* A number is a number in the answer too. */
void model_assume(struct model *model, const char *key, const char *value, const char *because)
{
    double number;
    for (const struct tree *node = model->assumed ? model->assumed->first : NULL; node;
         node = node->next)
        if (same_text(node, "key", key) && same_text(node, "because", because))
            return;
    struct tree *object = tree_object(model->assumed, NULL);
    tree_string(object, "key", key);
    if (value && pe_text_read(value, strlen(value), PE_F64, &number, 0))
        tree_number(object, "value", number);
    else
        tree_string(object, "value", value);
    tree_string(object, "because", because);
}

/* ---- Values -------------------------------------------------------------------------------- */

const char *model_pointer(struct model *model, const struct node *node, const char *name)
{
    const char *prefix = arena_printf(arena_of(model), "%s/", node->pointer);
    const char *pointer = prefix ? field_pointer(arena_of(model), prefix, name) : NULL;
    return pointer ? pointer : "";
}

/* A member that is neither missing nor null. Numeric arrays stand as null. */
static struct found member(struct model *model, const struct node *node, const char *name)
{
    struct found found = {.json = json_object_get(node->object, name)};
    if (!found.json)
        return found;
    found.pointer = model_pointer(model, node, name);
    if (!json_is_null(found.json))
        return found;
    found.array = json_doc_array(model->doc, found.pointer);
    if (!found.array)
        found.json = NULL;
    return found;
}

/* A value in a few words. */
static const char *shown(struct model *model, const json_t *json)
{
    if (json_is_number(json))
        return model_text(model, json_number_value(json));
    return json_is_string(json)   ? json_string_value(json)
           : json_is_true(json)   ? "true"
           : json_is_false(json)  ? "false"
           : json_is_object(json) ? "an object"
                                  : "a list";
}

bool model_same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    if (!json_is_object(a) || !json_is_object(b))
        return json_equal(a, b);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value)
    {
        if (!model_same(value, json_object_get(b, key)))
            return false;
    }
    return json_object_size(a) == json_object_size(b);
}

struct found model_find(struct model *model, const struct node *node, const char *names)
{
    struct found first = {0};
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, " ");
        const char *name = arena_strndup(arena_of(model), at, len);
        struct found found = name ? member(model, node, name) : (struct found){0};
        at += len + (at[len] == ' ');
        if (!found.json)
            continue;
        if (!first.json)
            first = found;
        else if (!model_same(first.json, found.json))
            model_complain(model, ERR_conflicting_parameters, found.pointer, NULL,
                           "\"%s\" is %.40s here, but %.40s at %.80s", name,
                           shown(model, found.json), shown(model, first.json), first.pointer);
    }
    return first;
}

static bool wrong_type(struct model *model, const struct found *found, const char *wanted)
{
    if (is_said(&model->job->request->err, found->pointer))
        return false;
    return err_add(&model->job->request->err, ERR_invalid_value, found->pointer, NULL,
                   "this must be %s; got %.60s", wanted, shown(model, found->json));
}

bool model_number(struct model *model, const struct node *node, const char *names, double *number,
                  const char **pointer)
{
    struct found found = model_find(model, node, names);
    *pointer = found.pointer;
    if (!found.json)
        return false;
    if (!json_is_number(found.json))
        return wrong_type(model, &found, "a number");
    *number = json_number_value(found.json);
    return true;
}

bool model_bool(struct model *model, const struct node *node, const char *names, bool *value,
                const char **pointer)
{
    struct found found = model_find(model, node, names);
    *pointer = found.pointer;
    if (!found.json)
        return false;
    if (!json_is_boolean(found.json))
        return wrong_type(model, &found, "true or false");
    *value = json_is_true(found.json);
    return true;
}

const char *model_string(struct model *model, const struct node *node, const char *names,
                         const char **pointer)
{
    struct found found = model_find(model, node, names);
    *pointer = found.pointer;
    if (!found.json)
        return NULL;
    if (!json_is_string(found.json)) {
        wrong_type(model, &found, "a string");
        return NULL;
    }
    return json_string_value(found.json);
}

struct node model_node(struct model *model, const struct node *node, const char *name)
{
    struct found found = model_find(model, node, name);
    if (!found.json)
        return (struct node){.pointer = model_pointer(model, node, name)};
    if (!json_is_object(found.json)) {
        wrong_type(model, &found, "an object");
        found.json = NULL;
    }
    return (struct node){found.json, found.pointer};
}

/* ---- Parameters of an encoding -------------------------------------------------------------- */

static struct pe_params *params_of(struct set *set)
{
    return &set->slot->spec.params;
}

void set_place(struct set *set, const char *key, const char *pointer)
{
    int row = pe_params_find(params_of(set), key, strlen(key));
    if (row >= 0)
        set->where[row] = pointer;
}

/* Faults of a value stand where the value does. */
static void set_done(struct model *model, struct set *set, const char *key, const char *pointer,
                     const struct pe_faults *faults)
{
    api_faults_at(&model->job->request->err, faults, pointer);
    set_place(set, key, pointer);
}

void set_number(struct model *model, struct set *set, const char *key, double number,
                const char *pointer)
{
    struct pe_faults faults = {0};
    pe_params_set_number(params_of(set), key, number, &faults);
    set_done(model, set, key, pointer, &faults);
    model_read(model, pointer, "%s=%s", key, model_text(model, number));
}

void set_word(struct model *model, struct set *set, const char *key, const char *word,
              const char *pointer)
{
    struct pe_faults faults = {0};
    pe_params_set_text(params_of(set), key, word, &faults);
    set_done(model, set, key, pointer, &faults);
    model_read(model, pointer, "%s=%.40s", key, word);
}

void set_list(struct model *model, struct set *set, const char *key, const struct found *list)
{
    struct err *err = &model->job->request->err;
    const struct json_array *array = list->array;
    if (!array || array->fault || array->rank != 1) {
        err_add(err, ERR_invalid_value, array && array->fault ? array->fault : list->pointer, NULL,
                "this must be a flat list of numbers");
        return;
    }
    struct pe_faults faults = {0};
    double *numbers = job_alloc(model->job, array->count, sizeof *numbers);
    if (!numbers || !json_array_read(array, PE_F64, numbers, err))
        return;
    pe_params_set_list(params_of(set), key, numbers, array->count, &faults);
    set_done(model, set, key, list->pointer, &faults);
    model_read(model, list->pointer, "%s (%zu numbers)", key, array->count);
}

void set_assumed(struct model *model, struct set *set, const char *key, const char *value,
                 const char *because)
{
    struct pe_faults faults = {0};
    pe_params_set_text(params_of(set), key, value, &faults);
    set_done(model, set, key, model->config.pointer, &faults);
    model_assume(model, key, value, because);
}

void set_begin(struct model *model, struct set *set, const char *kind)
{
    struct pe_faults faults = {0};
    const struct pe_kind *row = pe_kind_require(kind, strlen(kind), &faults);
    set->slot = &model->job->specs[model->job->specs_n++];
    set->slot->prefix = "";
    pe_spec_init(&set->slot->spec, row);
}

/* ---- The config and its class --------------------------------------------------------------- */

/* Files of models for several kinds of input have the text model's config inside. */
static void find_text_config(struct model *model)
{
    static const char *const paths[][2] = {{"text_config", NULL},
                                           {"llm_config", NULL},
                                           {"language_config", NULL},
                                           {"thinker_config", "text_config"}};
    model->config = model->root;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const json_t *part = json_object_get(model->root.object, paths[i][0]);
        if (!json_is_object(part))
            continue;
        model->config = (struct node){part, model_pointer(model, &model->root, paths[i][0])};
        if (paths[i][1])
            model->config = model_node(model, &model->config, paths[i][1]);
        break;
    }
    if (!model->config.object)
        model->config = model->root;
}

/* Keys that transformers looks for in the text model's config only. */
static void warn_outside(struct model *model)
{
    static const char *const keys[] = {"rope_theta", "rope_scaling", "rope_parameters",
                                       "partial_rotary_factor"};
    if (model->config.object == model->root.object)
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *outside = json_object_get(model->root.object, keys[i]);
        if (outside && !json_is_null(outside) &&
            !model_same(outside, json_object_get(model->config.object, keys[i])))
            model_warn(model, model_pointer(model, &model->root, keys[i]),
                       "not read: the text model's config is %s", model->config.pointer);
    }
    if (json_is_object(json_object_get(model->root.object, "vision_config")))
        model_warn(model, "/vision_config",
                   "not read: this answer is about the text model; send that object by itself");
}

/* A whole model has its parts inside. */
static bool is_merging_tower(const struct model *model)
{
    return model->config.object == model->root.object &&
           json_object_get(model->root.object, MERGING_TOWER_KEY) &&
           !json_object_get(model->root.object, "vision_config");
}

static void find_family(struct model *model)
{
    const char *pointer, *type = model_string(model, &model->config, "model_type", &pointer);
    struct found classes = model_find(model, &model->root, "architectures");
    const json_t *first = json_is_array(classes.json) ? json_array_get(classes.json, 0) : NULL;
    const char *architecture = json_is_string(first) ? json_string_value(first) : NULL;
    model->type = type ? type : architecture ? architecture : "";
    model->family = is_merging_tower(model) ? family_find(FAMILY_MERGING_TOWER, NULL)
                                            : family_find(type, architecture);
    if (!model->family && model->config.object != model->root.object) {
        struct found outer = model_find(model, &model->root, "model_type");
        if (json_is_string(outer.json))
            model->family = family_find(json_string_value(outer.json), NULL);
    }
    static const struct family unknown = {.types = ""};
    if (model->family && type)
        model_read(model, pointer, "the class of \"%.40s\" in transformers", model->type);
    else if (model->family)
        model_read(model, classes.pointer ? classes.pointer : "/model_type",
                   "the class \"%.60s\" in transformers", model->type);
    else if (model->type[0])
        model_warn(model, type ? pointer : classes.pointer,
                   "\"%.60s\" is no class that is known here: read by the rules that most have",
                   model->type);
    else
        model_warn(
            model, NULL,
            "there is neither model_type nor architectures: read by the rules that most have");
    if (!model->family)
        model->family = &unknown;
    if (model->family->note)
        model_warn(model, NULL, "%s", model->family->note);
}

static void make_answer(struct model *model)
{
    struct tree *root = tree_new(arena_of(model), TREE_OBJECT);
    tree_string(root, "semantics", API_SEMANTICS);
    model->answer = root;
    model->specs = tree_array(root, "specs");
    model->params = tree_object(root, "params");
    model->tensors = tree_object(root, "tensors");
    model->readouts = tree_object(root, "readouts");
    model->read = tree_array(root, "read");
    model->assumed = tree_array(root, "assumed");
    model->warnings = tree_array(root, "warnings");
}

bool model_begin(struct model *model, struct job *job)
{
    model->job = job;
    model->doc = &job->document;
    model->root = (struct node){job->document.root, ""};
    model->lenient = job_key(job, "lenient")->number != 0;
    make_answer(model);
    find_text_config(model);
    find_family(model);
    warn_outside(model);
    return job->request->err.n == 0;
}
