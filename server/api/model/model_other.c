// SPDX-License-Identifier: Apache-2.0
/*
 * model_other.c: encodings of models that do not rotate: ALiBi, T5's buckets, tables that are
 * learned, sinusoids.
 */
#include <string.h>

#include "model.h"

#define WIDTH_NAMES  "hidden_size n_embd d_model"
#define LENGTH_NAMES "max_position_embeddings n_positions max_seq_len n_ctx"

static struct set *add_set(struct model *model, const char *name, const char *kind)
{
    struct set *set = &model->sets[model->sets_n++];
    *set = (struct set){.name = name};
    set_begin(model, set, kind);
    return set;
}

/* What the config has to say, whatever else it leaves open. */
static bool require(struct model *model, struct set *set, const char *key, const char *names)
{
    double number;
    const char *pointer;
    if (model_number(model, &model->config, names, &number, &pointer)) {
        set_number(model, set, key, number, pointer);
        return true;
    }
    struct err *err = &model->job->request->err;
    return pointer || err_add(err, ERR_missing_parameter, model->config.pointer, NULL,
                              "%s is missing: none of %s is in the config", key, names);
}

static void alibi(struct model *model)
{
    struct set *set = add_set(model, "all", "alibi");
    struct node attention = model_node(model, &model->config, "attn_config");
    double most;
    const char *pointer;
    require(model, set, "heads", "num_attention_heads n_head n_heads");
    if (model_number(model, &attention, "alibi_bias_max", &most, &pointer))
        set_number(model, set, "bias_max", most, pointer);
    set_assumed(model, set, "form",
                model->family->flags & FAMILY_LAST_ZERO ? "last_zero" : "key_index",
                "how its class writes the bias; under a causal softmax all forms are the same");
    if (model->family->flags & FAMILY_ALIBI_KEY && model->family->scheme == SCHEME_ROPE)
        model_warn(model, NULL,
                   "this class rounds slopes and biases to bf16 and divides the biases by the root "
                   "of head_dim; what is given here is the formula");
}

static void t5_set(struct model *model, const char *name, bool bidirectional)
{
    static const struct {
        const char *key, *name, *fallback;
    } keys[] = {{"buckets", "relative_attention_num_buckets", "32"},
                {"max_distance", "relative_attention_max_distance", "128"}};
    struct set *set = add_set(model, name, "t5");
    require(model, set, "heads", "num_heads num_attention_heads");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double number;
        const char *pointer;
        if (model_number(model, &model->config, keys[i].name, &number, &pointer))
            set_number(model, set, keys[i].key, number, pointer);
        else
            set_assumed(model, set, keys[i].key, keys[i].fallback,
                        "not in the config: what its class has");
    }
    struct pe_faults faults = {0};
    pe_params_set_text(&set->slot->spec.params, "bidirectional", bidirectional ? "true" : "false",
                       &faults);
    model_assume(model, bidirectional ? "bidirectional (encoder)" : "bidirectional (decoder)",
                 bidirectional ? "true" : "false", "an encoder looks both ways, a decoder back");
}

/* Positions begin behind the rows that no token has. */
static void assume_shift(struct model *model, struct set *set, double rows)
{
    if (rows > 0)
        set_assumed(model, set, "shift", model_text(model, rows),
                    "its class keeps the first rows of the table for other purposes");
}

/* The rows up to padding_idx are such rows; it is the token's id too. */
static double read_padding(struct model *model, struct set *set)
{
    double id;
    const char *pointer;
    if (model_number(model, &model->config, "pad_token_id", &id, &pointer))
        set_number(model, set, "padding_idx", id, pointer);
    else if (!pointer)
        set_assumed(model, set, "padding_idx", "1", "not in the config: what its class has");
    return pe_params_get(&set->slot->spec.params, "padding_idx")->number + 1;
}

static void learned(struct model *model)
{
    struct set *set = add_set(model, "all", "learned");
    double rows, reserved = model->family->reserved;
    const char *pointer;
    bool more = model->family->flags & FAMILY_ROWS_MORE;
    require(model, set, "dim", WIDTH_NAMES);
    if (!more)
        require(model, set, "rows", LENGTH_NAMES);
    else if (model_number(model, &model->config, LENGTH_NAMES, &rows, &pointer))
        set_number(model, set, "rows", rows + reserved, pointer);
    if (model->family->flags & FAMILY_PADDING)
        reserved = read_padding(model, set);
    assume_shift(model, set, reserved);
    if (reserved > 0)
        set_assumed(model, set, "reserved", model_text(model, reserved), "no token stands there");
    model_warn(model, NULL,
               "the table itself is among the weights, not in the config: post it as the "
               "member \"table\", or its rows are drawn from table_seed");
}

static void sinusoidal(struct model *model)
{
    struct set *set = add_set(model, "all", "sinusoidal");
    require(model, set, "dim", WIDTH_NAMES);
    set_assumed(model, set, "layout", "half", "its class has all sines, then all cosines");
    set_assumed(model, set, "spacing", "endpoint", "its class divides by dim/2 - 1");
    assume_shift(model, set, read_padding(model, set));
}

void model_other(struct model *model)
{
    switch (model->family->scheme) {
    case SCHEME_T5:
        t5_set(model, "encoder", true);
        t5_set(model, "decoder", false);
        break;
    case SCHEME_LEARNED:
        learned(model);
        break;
    case SCHEME_SINUSOIDAL:
        sinusoidal(model);
        break;
    case SCHEME_ALIBI:
    case SCHEME_ROPE: /* with the key alibi */
        alibi(model);
        break;
    }
}
