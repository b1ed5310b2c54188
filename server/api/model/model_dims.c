// SPDX-License-Identifier: Apache-2.0
/*
 * model_dims.c: how wide a head is, how much of it rotates, and which channels make a pair.
 */
#include <string.h>

#include "model.h"

#define HEADS_NAMES  "num_attention_heads n_head n_heads num_heads"
#define HIDDEN_NAMES "hidden_size n_embd d_model n_embed"
#define TOWER_NAME   "embed_dim" /* of a vision tower, whose hidden_size is what it gives */
#define DIM_NAMES    "head_dim kv_channels"
#define SLICE_NAME   "qk_rope_head_dim"
#define GLOBAL_NAME  "global_head_dim"
#define GLOBAL_DIM   "512"

bool model_heads(struct model *model, double *heads, const char **pointer)
{
    return model_number(model, &model->config, HEADS_NAMES, heads, pointer);
}

static const char *of_class(struct model *model)
{
    return arena_printf(&model->job->request->arena, "what the class of \"%.40s\" has without it",
                        model->type);
}

/* hidden_size / num_attention_heads, as Python's // does. */
static void divided_dim(struct model *model, struct set *set)
{
    struct err *err = &model->job->request->err;
    double hidden, heads;
    const char *hidden_at, *heads_at;
    bool tower = model->family->axial && json_object_get(model->config.object, TOWER_NAME);
    bool width =
        model_number(model, &model->config, tower ? TOWER_NAME : HIDDEN_NAMES, &hidden, &hidden_at);
    bool count = model_heads(model, &heads, &heads_at);
    if (!width || !count) {
        if (err->n == 0)
            err_add(err, ERR_missing_parameter, model_pointer(model, &model->config, "head_dim"),
                    "head_dim, or hidden_size and num_attention_heads",
                    "the config does not say how wide a head is");
        return;
    }
    int64_t whole = hidden >= 1 && hidden <= 1e9 ? (int64_t)hidden : 0;
    int64_t parts = heads >= 1 && heads <= 1e9 ? (int64_t)heads : 0;
    if (whole == 0 || parts == 0 || (double)whole != hidden || (double)parts != heads) {
        err_add(err, ERR_invalid_value,
                whole == 0 || (double)whole != hidden ? hidden_at : heads_at, NULL,
                "this must be a whole number from 1 on");
        return;
    }
    if (whole % parts != 0)
        model_warn(model, hidden_at,
                   "%lld is no multiple of the %lld heads: head_dim is rounded down",
                   (long long)whole, (long long)parts);
    model_read(model, heads_at, "heads=%lld", (long long)parts);
    set_number(model, set, "dim", (double)(whole / parts), hidden_at);
}

static void read_dim(struct model *model, struct set *set)
{
    const struct family *family = model->family;
    bool slice = family->flags & FAMILY_MLA;
    bool global = family->flags & FAMILY_GLOBAL_DIM && strcmp(set->name, "full_attention") == 0;
    const char *names = slice ? SLICE_NAME : global ? GLOBAL_NAME : DIM_NAMES, *pointer;
    double dim;
    if (model_number(model, &model->config, names, &dim, &pointer))
        set_number(model, set, "dim", dim, pointer);
    else if (global)
        set_assumed(model, set, "dim", GLOBAL_DIM, of_class(model));
    else if (family->head_dim > 0)
        set_assumed(model, set, "dim", model_text(model, family->head_dim), of_class(model));
    else
        divided_dim(model, set);
}

/* The fraction of the dict, then of the config, then of the class. */
static bool read_fraction(struct model *model, struct set *set)
{
    static const char name[] = "partial_rotary_factor";
    double inside, outside;
    const char *inside_at, *outside_at;
    bool has_inside = model_number(model, &set->dict, name, &inside, &inside_at);
    bool has_outside = model_number(model, &model->config, "partial_rotary_factor rotary_pct",
                                    &outside, &outside_at);
    if (has_inside && has_outside && inside != outside)
        model_complain(model, ERR_conflicting_parameters, outside_at, NULL,
                       "%s is given twice, as %s here and as %s at %s", name,
                       model_text(model, outside), model_text(model, inside), inside_at);
    if (has_inside || has_outside)
        set_number(model, set, name, has_inside ? inside : outside,
                   has_inside ? inside_at : outside_at);
    return has_inside || has_outside;
}

static bool read_rotary_dim(struct model *model, struct set *set)
{
    double channels;
    const char *pointer;
    if (!model_number(model, &model->config, "rotary_dim", &channels, &pointer))
        return false;
    if (!(model->family->flags & FAMILY_ROTARY_DIM) && model->family->types[0]) {
        model_warn(model, pointer, "not read by the class of \"%.40s\"", model->type);
        return false;
    }
    set_number(model, set, "rotary_dim", channels, pointer);
    return true;
}

/* Of the slice that DeepSeek's attention keeps for it, all rotates. */
static void read_width(struct model *model, struct set *set)
{
    const struct family *family = model->family;
    bool gemma_full =
        family->flags & FAMILY_GLOBAL_DIM && strcmp(set->name, "sliding_attention") != 0;
    if (family->flags & FAMILY_MLA)
        return;
    double slice;
    const char *pointer;
    if (family->flags & FAMILY_TAIL &&
        model_number(model, &model->config, SLICE_NAME, &slice, &pointer)) {
        set_number(model, set, "rotary_dim", slice, pointer);
        return;
    }
    if (read_fraction(model, set) || read_rotary_dim(model, set))
        return;
    if (family->partial > 0)
        set_assumed(model, set, "partial_rotary_factor", model_text(model, family->partial),
                    of_class(model));
    else if (gemma_full && !set->dict.object)
        set_assumed(model, set, "partial_rotary_factor", "0.25", of_class(model));
}

static void read_layout(struct model *model, struct set *set)
{
    const struct pe_value *asked = job_key(model->job, "layout");
    bool interleaved = model->family->flags & FAMILY_INTERLEAVED, said;
    const char *pointer;
    if (asked->given) {
        struct pe_faults faults = {0};
        pe_params_set_text(&set->slot->spec.params, "layout",
                           asked->number == 0 ? "interleaved" : "half", &faults);
        return;
    }
    if (model->family->axial)
        return;
    if (model->family->flags & FAMILY_MLA &&
        model_bool(model, &model->config, "rope_interleave", &said, &pointer)) {
        set_word(model, set, "layout", said ? "interleaved" : "half", pointer);
        return;
    }
    set_assumed(model, set, "layout", interleaved ? "interleaved" : "half",
                model->family->types[0]
                    ? "no config says it: this is how the class in transformers pairs channels; "
                      "layout= chooses otherwise"
                    : "not stated in the config; add ?layout=interleaved if the weights are not "
                      "permuted");
}

/* The last channels in place of the first; neighbours that end in two halves. */
static void assume_places(struct model *model, struct set *set)
{
    unsigned flags = model->family->flags;
    const struct pe_params *params = &set->slot->spec.params;
    const char *dialect = job_dialect(model->job);
    bool theirs = !dialect || strcmp(dialect, "transformers") == 0;
    if (flags & FAMILY_TAIL)
        set_assumed(model, set, "rotary_offset", "tail", "its class rotates the last channels");
    bool interleaved = pe_params_get(params, "layout")->number == 0;
    if (flags & FAMILY_HALVES_OUT && theirs && interleaved)
        set_assumed(model, set, "output_order", "halves",
                    "its class in transformers leaves what it rotated in two halves, as others do "
                    "not; scores are the same");
}

void model_dims(struct model *model, struct set *set)
{
    read_dim(model, set);
    read_width(model, set);
    read_layout(model, set);
    assume_places(model, set);
}
