// SPDX-License-Identifier: Apache-2.0
/*
 * families.c: THE table of model classes, as transformers 5 has them: what holds where a config is
 * silent. A class that is not here is read by the rules that most have.
 */
#include <ctype.h>
#include <string.h>

#include "model.h"

#define LAYERS_MIXED                                                                               \
    "transformers 5 rotates all of head_dim in this class unless partial_rotary_factor is there; " \
    "what the model was trained with is rotary_dim"
#define NOT_READ_AGAIN "its released configs were not read again: what is supposed of it may differ"
#define THETA_OF_RELEASES                                                                          \
    "the class has another base than the released models, whose configs all say rope_theta"
#define COUNTED                                                                                    \
    "positions count tokens from 0, and shift leads to their rows; ids and attention_mask need "   \
    "shift=0, and style="

// clang-format off
static const struct family families[] = {
    /* ---- Halves, all of the head ---- */
    {.types = "llama mistral starcoder2 internlm2 olmo olmoe minicpm laguna granite"},
    {.types = "qwen2 qwen2_moe", .theta_note = THETA_OF_RELEASES},
    {.types = "qwen3 qwen3_moe", .head_dim = 128, .theta_note = THETA_OF_RELEASES},
    {.types = "seed_oss", .head_dim = 128, .note = NOT_READ_AGAIN},
    {.types = "mixtral", .theta = 1e6},
    {.types = "olmo2", .theta_note = THETA_OF_RELEASES},
    {.types = "lfm2 cwm emu3 emu3_text_model", .theta = 1e6},
    {.types = "mllama mllama_text_model bitnet csm", .theta = 5e5},
    {.types = "apertus", .theta = 12e6},
    {.types = "fuyu", .theta = 25000},
    {.types = "nomic_bert", .theta = 1000},
    {.types = "jina_embeddings_v3 xlm_roberta_flash", .theta = 20000},
    {.types = "hunyuan hunyuan_v1_dense hunyuan_v1_moe", .head_dim = 128},
    {.types = "hy_v3", .theta = 11158840},
    {.types = "gemma", .head_dim = 256},
    {.types = "ministral3", .head_dim = 128},

    /* ---- Halves, a part of the head ---- */
    {.types = "gpt_neox gpt_neox_japanese", .partial = 0.25},
    {.types = "phi persimmon nemotron bamba", .partial = 0.5},
    {.types = "stablelm stablelm_epoch", .partial = 0.25},
    {.types = "glm4_moe glm4v_moe glm4v_moe_text", .partial = 0.5, .head_dim = 128},
    {.types = "qwen3_next qwen3_5_text qwen3_5_moe_text qwen3_5 qwen3_5_moe", .flags = FAMILY_AXES_MIXED,
     .partial = 0.25, .head_dim = 256, .theta_note = THETA_OF_RELEASES},
    {.types = "mimo_v2 mimo_v2_flash", .partial = 0.334, .note = NOT_READ_AGAIN},
    {.types = "minimax minimax_text_01 minimax_m1", .theta = 1e6, .flags = FAMILY_ROTARY_DIM, .note = LAYERS_MIXED},
    {.types = "minimax_m2", .theta = 5e6, .flags = FAMILY_ROTARY_DIM, .note = LAYERS_MIXED},

    /* ---- Longer contexts by another list of divisors ---- */
    {.types = "phi3 phi4mm phi4_multimodal", .flags = FAMILY_YARN_LONGROPE},
    {.types = "phimoe", .theta = 1e6, .flags = FAMILY_YARN_LONGROPE},

    /* ---- Windows, and layers that see everything ---- */
    {.types = "gemma2", .head_dim = 256, .every = 2},
    {.types = "gemma3 gemma3_text", .theta = 1e6, .local_theta = 1e4, .head_dim = 256, .every = 6,
     .flags = FAMILY_FULL_SCALED},
    {.types = "gemma3n gemma3n_text", .theta = 1e6, .local_theta = 1e4, .head_dim = 256, .every = 5,
     .flags = FAMILY_FULL_SCALED},
    {.types = "gemma4 gemma4_text", .theta = 1e6, .local_theta = 1e4, .head_dim = 256, .every = 6,
     .flags = FAMILY_FULL_SCALED | FAMILY_GLOBAL_DIM},
    {.types = "modernbert", .theta = 160000, .local_theta = 10000, .every = 3, .flags = FAMILY_FULL_FIRST},
    {.types = "olmo3 flex_olmo", .theta = 5e5, .every = 4, .flags = FAMILY_FULL_SCALED},
    {.types = "gpt_oss", .theta = 150000, .head_dim = 64, .every = 2},
    {.types = "exaone4", .every = 4, .flags = FAMILY_FULL_NOPE, .theta_note = THETA_OF_RELEASES},
    {.types = "cohere2", .theta = 5e5, .head_dim = 128, .every = 4,
     .flags = FAMILY_INTERLEAVED | FAMILY_FULL_NOPE, .theta_note = THETA_OF_RELEASES},

    /* ---- Layers without rotation ---- */
    {.types = "smollm3", .theta = 2e6, .flags = FAMILY_NOPE_LIST, .theta_note = THETA_OF_RELEASES},
    {.types = "llama4 llama4_text", .theta = 5e5, .head_dim = 128,
     .flags = FAMILY_INTERLEAVED | FAMILY_NOPE_LIST | FAMILY_EMPTY_LIST | FAMILY_CHUNKED | FAMILY_TEMPERATURE,
     .note = "vLLM permutes the weights and rotates halves"},

    /* ---- Neighbours ---- */
    {.types = "gptj codegen", .flags = FAMILY_INTERLEAVED | FAMILY_ROTARY_DIM,
     .note = "the table of the class has n_positions rows: a position beyond is an error there"},
    {.types = "cohere", .theta = 5e5, .flags = FAMILY_INTERLEAVED, .theta_note = THETA_OF_RELEASES},
    {.types = "glm glm4 chatglm glm4v glm4v_text", .partial = 0.5, .head_dim = 128, .flags = FAMILY_INTERLEAVED},
    {.types = "ernie4_5 ernie4_5_moe", .theta = 5e5, .flags = FAMILY_INTERLEAVED},
    {.types = "helium", .theta = 1e5, .head_dim = 128, .flags = FAMILY_INTERLEAVED},
    {.types = "blt blt_global_transformer", .theta = 5e5, .flags = FAMILY_INTERLEAVED},
    {.types = "moonshine", .flags = FAMILY_INTERLEAVED},

    /* ---- A slice of its own ---- */
    {.types = "deepseek_v2", .head_dim = 64, .flags = FAMILY_INTERLEAVED | FAMILY_MLA},
    {.types = "deepseek_v3 deepseek_v32 kimi_k2 kimi_k25 mistral4", .head_dim = 64,
     .flags = FAMILY_INTERLEAVED | FAMILY_MLA | FAMILY_HALVES_OUT},
    {.types = "longcat_flash", .theta = 1e7, .head_dim = 64,
     .flags = FAMILY_INTERLEAVED | FAMILY_MLA | FAMILY_HALVES_OUT},
    {.types = "glm_moe_dsa", .head_dim = 64, .flags = FAMILY_INTERLEAVED | FAMILY_MLA,
     .theta_note = THETA_OF_RELEASES},
    {.types = "deepseek_v4", .head_dim = 512, .partial = 0.125, .local_theta = 160000,
     .flags = FAMILY_INTERLEAVED | FAMILY_TAIL | FAMILY_MAIN_COMPRESS},

    /* ---- Several axes ---- */
    {.types = "qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text", .theta = 1e6},
    {.types = "qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text", .theta = 5e5, .head_dim = 128,
     .flags = FAMILY_AXES_MIXED, .theta_note = THETA_OF_RELEASES},
    {.types = "qwen3_omni_moe qwen3_omni_moe_text", .theta = 1e6, .head_dim = 128, .flags = FAMILY_AXES_MIXED},
    {.types = "paddleocr_vl paddleocr_vl_text", .theta = 5e5},
    {.types = "ernie4_5_vl ernie4_5_vl_moe ernie4_5_vl_moe_text", .theta = 5e5,
     .flags = FAMILY_INTERLEAVED | FAMILY_TIME_LAST},

    /* ---- Rows and columns ---- */
    {.types = "pixtral", .axial = "layout=half,spectrum=strided",
     .note = "Mistral's own code pairs neighbours"},
    {.types = "llama4_vision_model", .axial = "layout=interleaved,section_axes=1+0,shift=1",
     .note = "the class token comes last and is not rotated"},
    {.types = FAMILY_MERGING_TOWER, .axial = "layout=half",
     .note = "patches come in blocks of spatial_merge_size (grid_order=merge)"},
    {.types = "gemma4_vision", .theta = 100, .head_dim = 64, .axial = "layout=half_per_axis"},
    {.types = "dinov3_vit", .theta = 100, .axial = "layout=half,angle_unit=turn",
     .note = "positions are coordinates from -1 to 1 (coords=center); class and register tokens come "
             "first and are not rotated; the published weights hold periods in bf16"},

    /* ---- Biases ---- */
    {.types = "bloom", .scheme = SCHEME_ALIBI},
    {.types = "mpt", .scheme = SCHEME_ALIBI, .flags = FAMILY_ALIBI_KEY | FAMILY_LAST_ZERO},
    {.types = "falcon RefinedWeb RefinedWebModel RW", .flags = FAMILY_ALIBI_KEY},
    {.types = "t5 mt5 umt5", .scheme = SCHEME_T5},

    /* ---- Added to the embedding ---- */
    {.types = "bert electra gpt2 gpt_bigcode gpt_neo clip_text_model", .scheme = SCHEME_LEARNED},
    {.types = "roberta xlm_roberta camembert longformer", .scheme = SCHEME_LEARNED, .flags = FAMILY_PADDING,
     .note = COUNTED "roberta"},
    {.types = "opt", .scheme = SCHEME_LEARNED, .flags = FAMILY_ROWS_MORE, .reserved = 2, .note = COUNTED "opt"},
    {.types = "bart mbart led", .scheme = SCHEME_LEARNED, .flags = FAMILY_ROWS_MORE, .reserved = 2,
     .note = COUNTED "bart"},
    {.types = "m2m_100 xglm speech_to_text", .scheme = SCHEME_SINUSOIDAL, .flags = FAMILY_PADDING,
     .note = COUNTED "roberta"},
};
// clang-format on

size_t families_n(void)
{
    return sizeof families / sizeof *families;
}

const struct family *family_at(size_t i)
{
    return &families[i];
}

/* ---- By name ------------------------------------------------------------------------------- */

#define NAME_MAX_LEN 64

/* Letters and digits, in lower case: a model_type and its class have the same. "" if too long. */
static void squeeze(const char *name, size_t len, char out[NAME_MAX_LEN])
{
    size_t n = 0;
    for (size_t i = 0; i < len && n < NAME_MAX_LEN - 1; i++)
        if (isalnum((unsigned char)name[i]))
            out[n++] = (char)tolower((unsigned char)name[i]);
    out[n < NAME_MAX_LEN - 1 ? n : 0] = '\0';
}

/* Without what says what the class is for: "LlamaForCausalLM", "GPT2LMHeadModel", "T5Model". */
static size_t class_name_len(const char *architecture)
{
    static const char *const ends[] = {"ForCausalLM",
                                       "ForConditionalGeneration",
                                       "ForMaskedLM",
                                       "ForSequenceClassification",
                                       "ForTokenClassification",
                                       "ForQuestionAnswering",
                                       "ForImageClassification",
                                       "LMHeadModel",
                                       "Model"};
    size_t len = strlen(architecture);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (len > end && strcmp(architecture + len - end, ends[i]) == 0)
            return len - end;
    }
    return len;
}

static const struct family *family_named(const char *name, size_t len)
{
    char wanted[NAME_MAX_LEN], known[NAME_MAX_LEN];
    squeeze(name, len, wanted);
    for (size_t i = 0; wanted[0] && i < families_n(); i++)
        for (const char *type = families[i].types; *type;) {
            size_t type_len = strcspn(type, " ");
            squeeze(type, type_len, known);
            if (strcmp(known, wanted) == 0)
                return &families[i];
            type += type_len + (type[type_len] == ' ');
        }
    return NULL;
}

const struct family *family_find(const char *model_type, const char *architecture)
{
    const struct family *family = model_type ? family_named(model_type, strlen(model_type)) : NULL;
    if (!family && architecture)
        family = family_named(architecture, class_name_len(architecture));
    return family;
}
