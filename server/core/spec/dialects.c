// SPDX-License-Identifier: Apache-2.0
/*
 * dialects.c: THE table of dialects: what the libraries that people come from do where others do
 * otherwise, in the parameters of encodings and of requests.
 */
#include "params.h"
#include "posenc.h"
#include "span.h"

#define ROTARY "rope rope2d mrope axial"

static const struct pe_dialect dialects[] = {
    {"transformers", ROTARY, "layout=half", "freq_method=reciprocal",
     "width=tiled,stages=transformers", NULL, NULL,
     "Cohere, GLM, GPT-J and a few more pair neighbours: layout=interleaved."},
    {"vllm", ROTARY, "layout=half", "freq_method=reciprocal", "pack=cos_sin,stages=vllm", NULL,
     "attention_factor mscale mscale_all_dim",
     "Its is_neox_style=False is layout=interleaved; its yarn does not read attention_factor, "
     "mscale and mscale_all_dim."},
    {"ggml", ROTARY, "layout=interleaved", "freq_method=iterated", "stages=ggml", NULL, NULL,
     "Its type NEOX is layout=half."},
    {"onnx", ROTARY, "layout=half", NULL, "stages=onnx", NULL, NULL,
     "Its attribute interleaved is layout=interleaved; cos and sin are the caller's."},
    {"onnxruntime", ROTARY, "layout=half", NULL, "stages=onnx", NULL, NULL,
     "Its attribute interleaved is layout=interleaved; a single position is where the first token "
     "stands."},
    {"meta", ROTARY, "layout=interleaved", NULL, "pack=stacked,stages=meta", NULL, NULL, NULL},
    {"torchtune", ROTARY, "layout=interleaved", NULL, "pack=stacked,stages=meta", NULL, NULL, NULL},
    {"lucidrains", "rope xpos", "layout=interleaved", NULL, "width=repeated", NULL, NULL, NULL},
    {"lucidrains", "axial", "layout=interleaved,bands=linear,max_freq=10", NULL,
     "width=repeated,coords=linspace", NULL, NULL, "Frequencies for pixels."},
    {"diffusers", ROTARY, "layout=interleaved", NULL, "width=full", NULL, NULL,
     "layout=half where it unbinds the next to last axis; its ntk_factor is base_factor."},
    {"diffusers", "sinusoidal", "layout=sin_cos,spacing=shift,freq_shift=1", NULL, NULL, NULL, NULL,
     "flip_sin_to_cos is layout=cos_sin, downscale_freq_shift is freq_shift."},
    {"timm", "axial", "layout=interleaved,bands=log,max_freq=224", NULL,
     "width=repeated,pack=sin_cos,coords=linspace", NULL, NULL,
     "Frequencies for pixels; in_pixels=False is bands=geometric and coords=index."},
    {"keras", ROTARY, "layout=half,yarn_clamp=pairs,truncate=false,original_max=4096", NULL,
     "width=tiled", "scaling=dynamic>ntk_divide", NULL, "Its dynamic is ntk_divide."},
    {"keras", "sinusoidal", "odd=sin", NULL, NULL, NULL, NULL, NULL},
    {"fairseq", "sinusoidal", "layout=sin_cos,spacing=endpoint,odd=zero,padding_idx=1", NULL,
     "style=fairseq", NULL, NULL, "Tokens count from padding_idx + 1, as ids and masks have them."},
};

size_t pe_dialects_n(void)
{
    return sizeof dialects / sizeof *dialects;
}

const struct pe_dialect *pe_dialect_at(size_t i)
{
    return &dialects[i];
}

bool pe_dialect_has(const struct pe_dialect *row, const struct pe_kind *kind)
{
    return !row->kinds ||
           pe__span_index(pe__span_of(row->kinds), ' ', pe__span_of(kind->name)) >= 0;
}

/* ---- Into a spec ---------------------------------------------------------------------------- */

static struct pe_value *value_named(struct pe_params *params, struct pe__span name, size_t *row)
{
    int i = pe_params_find(params, name.text, name.len);
    *row = i < 0 ? 0 : (size_t)i;
    return i < 0 ? NULL : &params->value[i];
}

/* key=word>word: what the caller means by that word. */
static void change_word(struct pe_params *params, const char *means)
{
    struct pe__span meant = pe__span_of(means), said, key;
    if (!pe__span_cut(&meant, '>', &said))
        return;
    pe__span_cut(&said, '=', &key);
    size_t row, len;
    const struct pe_value *value = value_named(params, key, &row);
    if (!value || !value->set)
        return;
    const char *name = pe_choice_name(&params->rows[row], value->number, &len);
    if (!pe__span_equal((struct pe__span){name, len}, said))
        return;
    struct pe_faults none = {0};
    pe__params_drop(params, params->rows[row].name);
    pe__params_set(params, key, meant, &none);
}

static bool refuse_unread(const struct pe_dialect *dialect, struct pe_params *params,
                          struct pe_faults *faults)
{
    struct pe__span rest = pe__span_of(dialect->unread), name;
    bool ok = true;
    while (pe__span_cut(&rest, ' ', &name)) {
        size_t row;
        const struct pe_value *value = value_named(params, name, &row);
        if (value && value->given)
            ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, params->rows[row].name,
                              "leave out it or the dialect", "%s has no use for %s", dialect->name,
                              params->rows[row].name);
    }
    return ok;
}

static void set_keys(struct pe_params *params, const char *keys, struct pe_faults *faults)
{
    struct pe__span rest = pe__span_of(keys), text;
    while (pe__span_cut(&rest, ',', &text)) {
        struct pe__span name;
        size_t row;
        pe__span_cut(&text, '=', &name);
        const struct pe_value *value = value_named(params, name, &row);
        if (value && !value->given && pe_params_reads(params, row))
            pe__params_set(params, name, text, faults);
    }
}

/* Whether frequencies are those of a series: there are no others to which methods lead. */
static bool has_series(struct pe_params *params)
{
    const struct pe_value *freqs = pe__params_value(params, "freqs");
    const struct pe_value *bands = pe__params_value(params, "bands");
    return freqs && !freqs->given && !(bands && bands->given);
}

bool pe_dialect_apply(const struct pe_dialect *dialect, struct pe_spec *spec, bool staged,
                      struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    change_word(params, dialect->means);
    set_keys(params, dialect->keys, faults);
    if (staged && has_series(params))
        set_keys(params, dialect->method, faults);
    return refuse_unread(dialect, params, faults);
}
