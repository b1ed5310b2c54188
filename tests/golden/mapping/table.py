# SPDX-License-Identifier: Apache-2.0
"""table.py: which rule reproduces a case: RULES, by file and kind.

A rule is a function from a case to an Ask. It sees the members of the case and nothing else, so it
also holds for other cases of that kind. Absent and null members are left out of the request: the
defaults of the service hold.
"""

import fnmatch
import math

from mapping.added import (
    FAIRSEQ,
    detr,
    diffusers_sincos2d,
    fourier,
    m2m_forward,
    mae,
    opt_rows,
    roberta_ids,
    rows,
    timestep,
    timm_sincos2d,
    xlnet,
)
from mapping.ask import ends
from mapping.bias import alibi, buckets, masked_bias, near, power_limits, swin, truth_alibi, x_alibi
from mapping.grid import (
    diffusers_crop,
    dinov3,
    eva,
    gemma_vision,
    llama_vision,
    lucidrains_axial,
    lumina,
    pixtral,
    qwen_vision,
    rope_cat,
    timm_dinov3,
)
from mapping.limits import DOUBLE, EXACTLY, FREQUENCY
from mapping.rope import (
    VLLM_YARN,
    diffusers_rotary,
    engine_length,
    frequencies,
    ggml,
    hf_apply,
    hf_frequencies,
    hf_mrope,
    keras_rotary,
    lang,
    meta_llama,
    meta_scaling,
    one_factor,
    onnx,
    plain_apply,
    torchtune_llama3,
    truth_frequencies,
    unscaled_attention,
    vllm,
    x_rotary,
    xpos,
)
from mapping.truth import truth_fact, truth_fairseq, truth_rope

T5 = {"buckets": "num_buckets", "max_distance": "max_distance"}

RULES = {
    ("*hf_inv_freq*", "*"): hf_frequencies,
    ("*hf_rope_apply*", "llama half"): hf_apply("half", width="tiled"),
    ("*hf_rope_apply*", "llama half bfloat16"): hf_apply("half", width="tiled"),
    ("*hf_rope_apply*", "llama half float16"): hf_apply("half", width="tiled"),
    ("*hf_rope_apply*", "llama scaled"): hf_apply("half", width="tiled"),
    ("*hf_rope_apply*", "glm interleaved partial"): hf_apply("interleaved", width="tiled"),
    ("*hf_rope_apply*", "cohere interleaved"): hf_apply("interleaved", width="repeated"),
    ("*hf_rope_apply*", "neox half partial"): hf_apply("half", width="tiled"),
    ("*hf_rope_apply*", "deepseek interleave"): hf_apply(
        "interleaved", out="half", width="tiled", output_order="halves"
    ),
    ("*hf_rope_apply*", "llama4 complex"): hf_apply("interleaved", width="half", pack="stacked"),
    ("*hf_rope_apply*", "gptj interleaved"): hf_apply("interleaved", width="half"),
    ("*hf_rope_apply*", "roformer interleaved"): hf_apply(
        "interleaved", width="half", pack="sin_cos"
    ),
    ("*hf_rope_apply*", "esm float32 inside"): hf_apply(
        "half", width="tiled", dtype="f32", stages=None  # rounded once
    ),
    ("*hf_rope_multi*", "qwen2-vl mrope"): hf_mrope(axes_split="blocks"),
    ("*hf_rope_multi*", "qwen3-vl interleaved mrope"): hf_mrope(axes_split="interleaved"),
    ("*hf_rope_multi*", "qwen2-vl vision"): qwen_vision,
    ("*hf_rope_multi*", "pixtral 2-D"): pixtral,
    ("*hf_rope_multi*", "gemma4 vision 2-D"): gemma_vision,
    ("*hf_rope_multi*", "llama4 vision 2-D"): llama_vision,
    ("*hf_rope_multi*", "dinov3 2-D"): dinov3,
    ("*hf_buckets*", "t5"): buckets("t5", bidirectional="bidirectional", **T5),
    ("*hf_buckets*", "t5 far"): buckets("t5", bidirectional="bidirectional", **T5),
    ("*hf_buckets*", "wavlm"): buckets("t5", bidirectional=True, **T5),
    ("*hf_buckets*", "deberta"): buckets(
        "deberta", sign=-1, buckets="bucket_size", max_distance="max_position"
    ),
    ("*hf_buckets*", "swin index"): swin,
    ("*hf_alibi*", "bloom slopes"): alibi("slopes", "slopes", power_limits),
    ("*hf_alibi*", "mpt slopes"): alibi("slopes", "slopes", near(FREQUENCY)),
    ("*hf_alibi*", "falcon slopes"): alibi(
        "slopes", "slopes", lambda case, golden: EXACTLY, stages="freq:bf16"
    ),
    ("*hf_alibi*", "bias"): alibi(
        "bias", "bias", power_limits, form="key_index", queries=1, keys=lambda c: c["keys"]
    ),
    ("*hf_alibi*", "bias mpt"): alibi(
        "bias", "bias", near(FREQUENCY), form="last_zero", queries=1, keys=lambda c: c["keys"]
    ),
    ("*hf_alibi*", "bias masked"): masked_bias,
    ("*hf_sinusoidal*", "detr"): detr,
    ("*hf_sinusoidal*", "mae"): mae,
    ("*hf_sinusoidal*", "m2m100"): rows("embedding_dim", **FAIRSEQ),
    ("*hf_sinusoidal*", "speech2text"): rows("embedding_dim", **FAIRSEQ),
    ("*hf_sinusoidal*", "m2m100 forward"): m2m_forward,
    ("*hf_sinusoidal*", "gptj table"): rows("dim", order="=sin_cos", odd="=sin"),
    ("*hf_sinusoidal*", "roformer table"): rows("dim", order="=sin_cos", odd="=sin"),
    ("*hf_sinusoidal*", "whisper"): rows(
        "channels", order="=sin_cos", spacing="=endpoint", base="max_timescale"
    ),
    ("*hf_sinusoidal*", "xlnet relative"): xlnet,
    ("*hf_sinusoidal*", "opt rows"): opt_rows,
    ("*hf_sinusoidal*", "roberta position ids"): roberta_ids,
    ("*ggml_rope*", "*"): ggml,
    ("*vllm_rope*", "default"): vllm(),
    ("*vllm_rope*", "half precision cache"): vllm(),
    ("*vllm_rope*", "linear"): vllm("linear", "base_inv_freq", factor=one_factor),
    ("*vllm_rope*", "dynamic ntk"): vllm(
        "dynamic",
        factor="scaling_factor",
        original_max="max_trained_positions",
        context="max_position_embeddings",
    ),
    ("*vllm_rope*", "ntk alpha"): vllm("ntk", factor="scaling_alpha"),
    ("*vllm_rope*", "ntk fixed/mixed"): vllm(
        lambda args: "ntk_mixed" if args["mixed_b"] else "ntk_fixed",
        factor="scaling_factor",
        mixed_b="mixed_b",
    ),
    ("*vllm_rope*", "yarn"): vllm("yarn", **VLLM_YARN, attention_factor=unscaled_attention),
    ("*vllm_rope*", "deepseek yarn"): vllm(
        "yarn",
        **VLLM_YARN,
        mscale=lambda case: case["args"].get("mscale", 1),
        mscale_all_dim=lambda case: case["args"].get("mscale_all_dim", 0),
    ),
    ("*vllm_rope*", "telechat3"): vllm("yarn", **VLLM_YARN, mscale_coefficient="=0.07"),
    ("*vllm_rope*", "llama3"): vllm(
        "llama3",
        factor="scaling_factor",
        low_freq_factor="low_freq_factor",
        high_freq_factor="high_freq_factor",
        original_max="orig_max_position",
    ),
    ("*vllm_rope*", "proportional"): vllm(
        "proportional",
        rotary_dim="head_size",
        kept_pairs=lambda case: case["args"]["rotary_dim"] // 2,
    ),
    ("*vllm_rope*", "mrope"): vllm(kind="mrope", sections="mrope_section", axes_split="=blocks"),
    ("*vllm_rope*", "mrope interleaved"): vllm(
        kind="mrope", sections="mrope_section", axes_split="=interleaved"
    ),
    ("*vllm_rope*", "ernie 4.5 vl"): vllm(
        kind="mrope",
        sections="mrope_section",
        section_axes=lambda case: [1, 2, 0],
        axes_split="=alternate_tail",
    ),
    ("*vllm_rope*", "xdrope 4 axes"): vllm(
        "ntk",
        kind="mrope",
        factor="scaling_alpha",
        sections="xdrope_section",
        axes_split="=blocks",
    ),
    ("*vllm_rope*", "longrope *"): vllm(
        "longrope",
        short_factor="short_factor",
        long_factor="long_factor",
        original_max="original_max_position_embeddings",
        max_position="max_position_embeddings",
        context=engine_length,
    ),
    ("*onnx_rotary_node_tests*", "node test"): onnx,
    ("*onnx_rotary_reference*", "reference"): onnx,
    ("*rotary_embedding_torch*", "lang"): lang,
    ("*rotary_embedding_torch*", "xpos"): xpos,
    ("*rotary_embedding_torch*", "pixel axial"): lucidrains_axial(
        "linear", "linspace", ends, lambda case: math.pi * case["max_freq"] / 2
    ),
    ("*rotary_embedding_torch*", "lang axial"): lucidrains_axial(
        "geometric", "index", lambda axis, i, n: i, lambda case: 1
    ),
    ("*x_transformers*", "alibi"): x_alibi,
    ("*x_transformers*", "rotary"): x_rotary,
    ("*x_transformers*", "relative bucket"): buckets(
        "t5", bidirectional=lambda case: not case["causal"], **T5
    ),
    ("*diffusers*", "timestep"): timestep,
    ("*diffusers*", "2d sincos"): diffusers_sincos2d,
    ("*diffusers*", "1d sincos"): rows("embed_dim", order="=sin_cos"),
    ("*diffusers*", "1d rotary"): diffusers_rotary,
    ("*diffusers*", "apply"): lambda case: plain_apply(case, "dim", "theta"),
    ("*diffusers*", "2d rotary"): diffusers_crop,
    ("*diffusers*", "3d rotary"): diffusers_crop,
    ("*diffusers*", "2d rotary lumina"): lumina,
    ("*diffusers*", "sinusoidal interleaved"): rows("embed_dim"),
    ("*diffusers*", "gaussian fourier"): fourier,
    ("*timm*", "sincos2d"): timm_sincos2d,
    ("*timm*", "rope cat"): rope_cat,
    ("*timm*", "dinov3"): timm_dinov3,
    ("*misc_rope*", "torchtune llama3"): torchtune_llama3,
    ("*misc_rope*", "torchtune"): lambda case: plain_apply(case, "dim", "base"),
    ("*misc_rope*", "meta llama"): meta_llama,
    ("*misc_rope*", "meta llama3 scaling"): meta_scaling,
    ("*misc_rope*", "yarn original"): frequencies(
        "yarn",
        factor="scale",
        original_max="original_max_position_embeddings",
        beta_fast="beta_fast",
        beta_slow="beta_slow",
        extrapolation_factor="extrapolation_factor",
        attention_gain="attn_factor",
    ),
    ("*misc_rope*", "ntk by parts original"): frequencies(
        "ntk_by_parts",
        factor="scale",
        original_max="original_max_position_embeddings",
        ntk_factor="ntk_factor",
        extrapolation_factor="extrapolation_factor",
    ),
    ("*misc_rope*", "ntk-aware original"): frequencies("ntk", factor="alpha"),
    ("*misc_rope*", "eva-02 2-D"): eva,
    ("*misc_rope*", "fairseq sinusoidal"): rows("embedding_dim", **FAIRSEQ),
    ("*keras_hub*", "rotary"): keras_rotary,
    ("*keras_hub*", "sine"): rows("dim", base="max_wavelength", odd="=sin"),
    ("*keras_hub*", "alibi"): alibi("slopes", "slopes_double", near(DOUBLE)),
    ("truth_hf_inv_freq*", ""): truth_frequencies,
    ("truth_rope*", ""): truth_rope,
    ("truth_fractional_positions*", ""): truth_rope,
    ("truth_fairseq*", ""): truth_fairseq,
    ("truth_alibi*", ""): truth_alibi,
    ("truth_facts*", ""): truth_fact,
}


def find(file, kind):
    """The rule of a case, or None. More than one that fits is a mistake of the table."""
    truth = file.startswith("truth_")
    fitting = [
        rule
        for (files, kinds), rule in RULES.items()
        if fnmatch.fnmatchcase(file, files)
        and fnmatch.fnmatchcase(kind, kinds)
        and files.startswith("truth_") == truth
    ]
    assert len(fitting) <= 1, f"{file}: several rules for {kind}"
    return fitting[0] if fitting else None
