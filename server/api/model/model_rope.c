// SPDX-License-Identifier: Apache-2.0
/*
 * model_rope.c: one parameter set of a rotating model: base and scaling. Where transformers reads
 * another value than the one that stands there, its value is taken, and a warning says so.
 */
#include <string.h>

#include "model.h"

#define LENGTH_NAMES "max_position_embeddings n_positions seq_length max_seq_len n_ctx"
#define ORIGINAL     "original_max_position_embeddings"

enum rope_type {
    ROPE_DEFAULT,
    ROPE_LINEAR,
    ROPE_DYNAMIC,
    ROPE_NTK,
    ROPE_YARN,
    ROPE_LONGROPE,
    ROPE_LLAMA3,
    ROPE_PROPORTIONAL,
    ROPE_TYPES_N,
};

static const char *const scalings[ROPE_TYPES_N] = {"none", "linear",   "dynamic", "ntk_fixed",
                                                   "yarn", "longrope", "llama3",  "proportional"};

static const struct {
    const char *name;
    enum rope_type type;
} type_names[] = {
    {"default", ROPE_DEFAULT},
    {"mrope", ROPE_DEFAULT},
    {"linear", ROPE_LINEAR},
    {"dynamic", ROPE_DYNAMIC},
    {"ntk", ROPE_NTK},
    {"yarn", ROPE_YARN},
    {"deepseek_yarn", ROPE_YARN},
    {"longrope", ROPE_LONGROPE},
    {"su", ROPE_LONGROPE},
    {"llama3", ROPE_LLAMA3},
    {"proportional", ROPE_PROPORTIONAL},
};

#define TYPE_NAMES_N (sizeof type_names / sizeof *type_names)

/* Keys of a parameter set, and the types that read them. Those with a parameter's name are set as
 * they stand. */
enum key_form { KEY_ELSEWHERE, KEY_NUMBER, KEY_LIST, KEY_OR_DEFAULT };

#define BIT(type)  (1u << ROPE_##type)
#define ALL_TYPES  (BIT(TYPES_N) - 1)
#define HAS_FACTOR (ALL_TYPES & ~BIT(DEFAULT))

static const struct rope_key {
    const char *name;
    enum key_form form;
    unsigned types;
} rope_keys[] = {
    {"rope_type", KEY_ELSEWHERE, ALL_TYPES},
    {"type", KEY_ELSEWHERE, ALL_TYPES},
    {"rope_theta", KEY_ELSEWHERE, ALL_TYPES},
    {"partial_rotary_factor", KEY_ELSEWHERE, ALL_TYPES},
    {"factor", KEY_NUMBER, HAS_FACTOR},
    {ORIGINAL, KEY_ELSEWHERE, BIT(YARN) | BIT(LONGROPE) | BIT(LLAMA3)},
    {"max_position_embeddings", KEY_ELSEWHERE, BIT(YARN) | BIT(LONGROPE)},
    {"attention_factor", KEY_NUMBER, BIT(YARN) | BIT(LONGROPE)},
    {"beta_fast", KEY_OR_DEFAULT, BIT(YARN)},
    {"beta_slow", KEY_OR_DEFAULT, BIT(YARN)},
    {"mscale", KEY_NUMBER, BIT(YARN)},
    {"mscale_all_dim", KEY_NUMBER, BIT(YARN)},
    {"truncate", KEY_ELSEWHERE, BIT(YARN)},
    {"extrapolation_factor", KEY_NUMBER, BIT(YARN)},
    {"finetuned", KEY_ELSEWHERE, 0},
    {"low_freq_factor", KEY_NUMBER, BIT(LLAMA3)},
    {"high_freq_factor", KEY_NUMBER, BIT(LLAMA3)},
    {"short_factor", KEY_LIST, BIT(LONGROPE)},
    {"long_factor", KEY_LIST, BIT(LONGROPE)},
    {"short_mscale", KEY_ELSEWHERE, BIT(LONGROPE)},
    {"long_mscale", KEY_ELSEWHERE, BIT(LONGROPE)},
    {"alpha", KEY_ELSEWHERE, BIT(DYNAMIC)},
    {"mixed_b", KEY_ELSEWHERE, BIT(NTK)},
    {"mrope_section", KEY_ELSEWHERE, ALL_TYPES},
    {"xdrope_section", KEY_ELSEWHERE, ALL_TYPES},
    {"mrope_interleaved", KEY_ELSEWHERE, ALL_TYPES},
    {"interleaved", KEY_ELSEWHERE, ALL_TYPES},
    {"llama_4_scaling_beta", KEY_ELSEWHERE, ALL_TYPES},
};

#define ROPE_KEYS_N (sizeof rope_keys / sizeof *rope_keys)

/* ---- Type ---------------------------------------------------------------------------------- */

static bool type_named(const char *name, enum rope_type *type)
{
    for (size_t i = 0; i < TYPE_NAMES_N; i++)
        if (strcmp(type_names[i].name, name) == 0) {
            *type = type_names[i].type;
            return true;
        }
    return false;
}

static void refuse_type(struct model *model, const char *name, const char *pointer)
{
    const char *names[TYPE_NAMES_N], *hint = NULL;
    for (size_t i = 0; i < TYPE_NAMES_N; i++)
        names[i] = type_names[i].name;
    const char *nearest = pe_nearest_name(name, names, TYPE_NAMES_N);
    if (nearest)
        hint = arena_printf(&model->job->request->arena, "did you mean \"%s\"?", nearest);
    struct err *err = &model->job->request->err;
    err_add(err, ERR_invalid_value, pointer, hint, "\"%.60s\" is no type of scaling", name);
    if (err->n <= ERR_ITEMS_MAX)
        err->item[err->n - 1].allowed = "default linear dynamic ntk yarn longrope su llama3 "
                                        "proportional mrope";
}

/* `type` is the older name. "mrope" beside "default" is how Qwen's configs are written. */
static enum rope_type read_type(struct model *model, struct set *set, const char **place)
{
    enum rope_type type = ROPE_DEFAULT, older = ROPE_DEFAULT;
    const char *pointer, *older_at;
    const char *name = model_string(model, &set->dict, "rope_type", &pointer);
    const char *old = model_string(model, &set->dict, "type", &older_at);
    if (name && !type_named(name, &type))
        refuse_type(model, name, pointer);
    if (old && !type_named(old, &older))
        refuse_type(model, old, older_at);
    if (name && old && type != older)
        model_complain(model, ERR_conflicting_parameters, older_at, NULL,
                       "type is \"%.40s\", but rope_type is \"%.40s\"", old, name);
    if (!name) {
        type = older;
        pointer = older_at;
    }
    if (type == ROPE_YARN && model->family->flags & FAMILY_YARN_LONGROPE) {
        type = ROPE_LONGROPE;
        model_warn(model, pointer, "the class of \"%.40s\" takes \"yarn\" for \"longrope\"",
                   model->type);
    }
    *place = pointer;
    return type;
}

/* ---- Keys that nobody reads ----------------------------------------------------------------- */

static void unknown_key(struct model *model, const char *key, const char *pointer)
{
    const char *names[ROPE_KEYS_N], *hint = NULL;
    for (size_t i = 0; i < ROPE_KEYS_N; i++)
        names[i] = rope_keys[i].name;
    const char *nearest = pe_nearest_name(key, names, ROPE_KEYS_N);
    if (nearest)
        hint = arena_printf(&model->job->request->arena, "did you mean \"%s\"?", nearest);
    model_complain(model, ERR_unknown_parameter, pointer, hint,
                   "unknown key \"%.60s\": no scaling reads it", key);
}

static void check_keys(struct model *model, const struct set *set, enum rope_type type)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)set->dict.object, key, value)
    {
        const char *pointer = model_pointer(model, &set->dict, key);
        size_t i = 0;
        while (i < ROPE_KEYS_N && strcmp(rope_keys[i].name, key) != 0)
            i++;
        if (i == ROPE_KEYS_N)
            unknown_key(model, key, pointer);
        else if (!(rope_keys[i].types & 1u << type))
            model_warn(model, pointer, "not read with %s", scalings[type]);
    }
}

/* ---- Base ---------------------------------------------------------------------------------- */

static void assume_base(struct model *model, struct set *set)
{
    double ratio;
    const char *pointer;
    if (model_number(model, &model->config, "rope_ratio", &ratio, &pointer)) {
        set_number(model, set, "base", set->theta * ratio, pointer);
        return;
    }
    const char *because = "not in the config: what most classes of transformers have";
    if (model->family->types[0])
        because = arena_printf(&model->job->request->arena,
                               "not in the config: what the class of \"%.40s\" has in transformers",
                               model->type);
    set_assumed(model, set, "base", model_text(model, set->theta), because);
    if (model->family->theta_note)
        model_warn(model, model_pointer(model, &model->config, "rope_theta"), "%s",
                   model->family->theta_note);
}

static void read_base(struct model *model, struct set *set)
{
    double inside, outside;
    const char *inside_at, *outside_at;
    bool own = !set->unscaled || set->nested;
    bool has_inside = own && model_number(model, &set->dict, "rope_theta", &inside, &inside_at);
    bool has_outside = model_number(model, &model->config, set->theta_names, &outside, &outside_at);
    if (has_inside && has_outside && inside != outside && !set->nested)
        model_complain(model, ERR_conflicting_parameters, outside_at, NULL,
                       "rope_theta is given twice, as %s here and as %s at %s",
                       model_text(model, outside), model_text(model, inside), inside_at);
    if (has_inside)
        set_number(model, set, "base", inside, inside_at);
    else if (has_outside)
        set_number(model, set, "base", outside, outside_at);
    else
        assume_base(model, set);
}

/* ---- Lengths ------------------------------------------------------------------------------- */

/* The original length: at the top, else in the set, else the longest. */
static bool read_original(struct model *model, struct set *set, double *length)
{
    double inside, outside;
    const char *inside_at, *outside_at, *pointer;
    bool has_inside = model_number(model, &set->dict, ORIGINAL, &inside, &inside_at);
    bool has_outside = model_number(model, &model->config, ORIGINAL, &outside, &outside_at);
    if (has_inside && has_outside && inside != outside)
        model_complain(model, ERR_conflicting_parameters, inside_at, NULL,
                       "%s is %s here and %s at %s, which transformers reads", ORIGINAL,
                       model_text(model, inside), model_text(model, outside), outside_at);
    if (has_inside || has_outside) {
        *length = has_outside ? outside : inside;
        set_number(model, set, "original_max", *length, has_outside ? outside_at : inside_at);
        return true;
    }
    if (!model_number(model, &model->config, LENGTH_NAMES, length, &pointer)) {
        set_place(set, "original_max", model_pointer(model, &set->dict, ORIGINAL));
        return false;
    }
    set_number(model, set, "original_max", *length, pointer);
    model_assume(model, "original_max", model_text(model, *length),
                 "the config does not say " ORIGINAL
                 ": transformers takes max_position_embeddings");
    return true;
}

/* yarn and longrope: without a factor it is the longest length over the original one. */
static void read_factor(struct model *model, struct set *set, double original)
{
    double factor, longest;
    const char *factor_at, *longest_at;
    bool has_factor = model_number(model, &set->dict, "factor", &factor, &factor_at);
    if (!model_number(model, &model->config, LENGTH_NAMES, &longest, &longest_at))
        return;
    if (has_factor && original * factor != longest && original > 0)
        model_warn(model, factor_at,
                   "factor is %s, but %s/%s would be %s: the factor that is given holds",
                   model_text(model, factor), model_text(model, longest),
                   model_text(model, original), model_text(model, longest / original));
    if (has_factor)
        return;
    if (json_object_get(set->dict.object, "factor"))
        model_warn(model, model_pointer(model, &set->dict, "factor"),
                   "a factor of null is none: it follows from the lengths");
    set_number(model, set, "max_position", longest, longest_at);
    model_assume(model, "factor", model_text(model, original > 0 ? longest / original : 0),
                 "no factor in the config: max_position_embeddings over the original length");
}

static void read_lengths(struct model *model, struct set *set, enum rope_type type)
{
    double original = 0, longest;
    const char *pointer;
    if (type == ROPE_DYNAMIC) {
        set_place(set, "original_max",
                  model_pointer(model, &model->config, "max_position_embeddings"));
        if (model_number(model, &model->config, LENGTH_NAMES, &longest, &pointer))
            set_number(model, set, "original_max", longest, pointer);
    }
    if (type == ROPE_YARN || type == ROPE_LONGROPE || type == ROPE_LLAMA3)
        read_original(model, set, &original);
    if (type == ROPE_YARN || type == ROPE_LONGROPE)
        read_factor(model, set, original);
    if (type == ROPE_LLAMA3 && original > 0 &&
        model_number(model, &model->config, LENGTH_NAMES, &longest, &pointer) &&
        longest <= original)
        model_warn(model, pointer, "llama3 is meant for more than the original %s positions",
                   model_text(model, original));
}

/* ---- The rest of a scaling ------------------------------------------------------------------ */

static void read_plain_keys(struct model *model, struct set *set, enum rope_type type)
{
    for (size_t i = 0; i < ROPE_KEYS_N; i++) {
        const struct rope_key *key = &rope_keys[i];
        struct found list;
        double number;
        const char *pointer;
        if (key->form == KEY_ELSEWHERE || !(key->types & 1u << type))
            continue;
        if (key->form == KEY_LIST) {
            list = model_find(model, &set->dict, key->name);
            if (list.json)
                set_list(model, set, key->name, &list);
        } else if (model_number(model, &set->dict, key->name, &number, &pointer)) {
            if (key->form == KEY_OR_DEFAULT && number == 0)
                model_warn(model, pointer, "transformers takes its default for a %s of 0",
                           key->name);
            else
                set_number(model, set, key->name, number, pointer);
        }
    }
}

/* transformers looks for it beside the parameter sets of layers, where it never stands. */
static void read_truncate(struct model *model, struct set *set)
{
    bool truncate;
    const char *pointer;
    if (!model_bool(model, &set->dict, "truncate", &truncate, &pointer))
        return;
    if (set->nested && !truncate)
        model_warn(model, pointer,
                   "transformers does not look for truncate inside of %.40s: it truncates",
                   set->name);
    else
        set_word(model, set, "truncate", truncate ? "true" : "false", pointer);
}

/* Phi-3.5-MoE: attention factors of its own, by the length in use. */
static void read_mscales(struct model *model, struct set *set)
{
    const struct pe_value *context = job_key(model->job, "context");
    double original = pe_params_get(&set->slot->spec.params, "original_max")->number, factor;
    bool longer = context->set && context->number > original;
    const char *pointer;
    if (model_number(model, &set->dict, longer ? "long_mscale" : "short_mscale", &factor, &pointer))
        set_number(model, set, "attention_factor", factor, pointer);
}

/* HunYuan's alpha is a factor of the base, whatever the length. */
static bool read_alpha(struct model *model, struct set *set)
{
    double alpha;
    const char *pointer;
    if (!model_number(model, &set->dict, "alpha", &alpha, &pointer))
        return false;
    set_word(model, set, "scaling", "ntk", pointer);
    set_number(model, set, "factor", alpha, pointer);
    model_warn(model, pointer,
               "with alpha the base is changed once for all lengths: factor is not "
               "read");
    return true;
}

/* vLLM's type "ntk". */
static void read_mixed(struct model *model, struct set *set)
{
    double mixed;
    const char *pointer;
    if (!model_number(model, &set->dict, "mixed_b", &mixed, &pointer))
        return;
    set_word(model, set, "scaling", "ntk_mixed", pointer);
    set_number(model, set, "mixed_b", mixed, pointer);
}

/* A scaling that no set of the config names, but its class has. */
static void assume_scaling(struct model *model, struct set *set)
{
    bool full = strcmp(set->name, "full_attention") == 0;
    if (full && model->family->flags & FAMILY_GLOBAL_DIM && !set->dict.object)
        set_assumed(model, set, "scaling", "proportional",
                    "not in the config: what its class has for layers that see everything");
}

static void read_scaling(struct model *model, struct set *set)
{
    const char *pointer;
    if (set->unscaled)
        return;
    enum rope_type type = read_type(model, set, &pointer);
    check_keys(model, set, type);
    if (type == ROPE_DYNAMIC && read_alpha(model, set))
        return;
    if (type == ROPE_NTK && json_object_get(set->dict.object, "mixed_b"))
        read_mixed(model, set);
    else if (pointer)
        set_word(model, set, "scaling", scalings[type], pointer);
    else
        assume_scaling(model, set);
    read_lengths(model, set, type);
    read_plain_keys(model, set, type);
    if (type == ROPE_YARN)
        read_truncate(model, set);
    if (type == ROPE_YARN && model->family->flags & FAMILY_MAIN_COMPRESS &&
        !model_find(model, &set->dict, "attention_factor").json)
        set_assumed(model, set, "attention_factor", "1", "its class does not scale cos and sin");
    if (type == ROPE_LONGROPE)
        read_mscales(model, set);
}

/* ---- Several axes --------------------------------------------------------------------------- */

/* Which pairs are of which axis; the list itself says how many each has. */
static void read_sections(struct model *model, struct set *set, const struct found *sections)
{
    static const char because[] = "what its class does with the list";
    unsigned flags = model->family->flags;
    bool mixed = false;
    const char *pointer;
    set_list(model, set, "sections", sections);
    if (flags & FAMILY_TIME_LAST) {
        set_assumed(model, set, "section_axes", "1,2,0", because);
        set_assumed(model, set, "axes_split", "alternate_tail", because);
    } else if (model_bool(model, &set->dict, "mrope_interleaved interleaved", &mixed, &pointer)) {
        set_word(model, set, "axes_split", mixed ? "interleaved" : "blocks", pointer);
    } else if (flags & FAMILY_AXES_MIXED) {
        set_assumed(model, set, "axes_split", "interleaved", because);
    }
}

/* What a vision tower's class stands for. */
static void assume_axial(struct model *model, struct set *set)
{
    const char *list = model->family->axial;
    char *rest = arena_strndup(&model->job->request->arena, list, strlen(list));
    for (char *value; (value = strsep(&rest, ","));) {
        const char *key = strsep(&value, "=");
        if (strcmp(key, "layout") != 0 || !job_key(model->job, "layout")->given)
            set_assumed(model, set, key, value, "what its class does, in the keys of kind=axial");
    }
}

void model_rope(struct model *model, struct set *set)
{
    struct found sections = model_find(model, &set->dict, "mrope_section xdrope_section");
    bool axial = model->family->axial != NULL;
    set_begin(model, set, axial ? "axial" : sections.json ? "mrope" : "rope");
    if (axial)
        assume_axial(model, set);
    else if (sections.json)
        read_sections(model, set, &sections);
    model_dims(model, set);
    read_base(model, set);
    read_scaling(model, set);
}
