# SPDX-License-Identifier: Apache-2.0
"""rope.py: rules for rotations along one axis, and along those of text with pictures."""

import re

from mapping.ask import (
    Ask,
    angles,
    apply,
    attention,
    axes_of,
    cos_sin,
    count,
    inv_freq,
    packed,
    table,
    tokens,
)
from mapping.limits import (
    DTYPES,
    EXACTLY,
    GGML,
    Output,
    Unmapped,
    far,
    far_axes,
    flat,
    given,
    nested,
    partners,
    sent,
    vector_limits,
    within,
)

# What transformers and vLLM round: 1/fl(b^fl(2i/r)) and the angle to float32, cos and sin to the type
# of the vectors, then each product and the sum.
EMULATED = "freq:f32,angle:f32,table:{0},apply:{0}"
RECIPROCAL = "reciprocal"


# ---- transformers --------------------------------------------------------------------------------


RENAMED = {"rope_theta": "base", "original_max_position_embeddings": "original_max"}


def hf_scaling(parameters):
    """rope_parameters of a config as keys of a spec."""
    spec = {RENAMED.get(key, key): value for key, value in parameters.items()}
    kind = spec.pop("rope_type", "default")
    return {**spec, "scaling": None if kind == "default" else kind}


def hf_spec(case):
    config = case["config"]
    spec = {"kind": "rope", "dim": config["head_dim"], **hf_scaling(config["rope_parameters"])}
    longest = config.get("max_position_embeddings")
    if spec["scaling"] == "dynamic":
        spec["original_max"] = longest
    if spec["scaling"] in ("yarn", "longrope") and spec.get("factor") is None:
        spec["max_position"] = longest
    if spec["scaling"] in ("dynamic", "longrope"):
        spec["context"] = case.get("seq_len")
    return spec


def hf_frequencies(case):
    outputs = [inv_freq(case["inv_freq"]), attention(case["attention_factor"])]
    query = {"context": case.get("seq_len"), "dialect": "transformers"}
    return Ask("/v1/from-config", outputs, query, case["config"])


def truth_frequencies(case):
    outputs = [
        Output("inv_freq", flat(case["inv_freq"]), EXACTLY),
        Output("/readouts/attention_factor", flat(case["attention_factor"]), EXACTLY),
    ]
    return Ask("/v1/frequencies", outputs, hf_spec(case["peer"]))


def hf_apply(layout, out=None, width=None, pack=None, dtype=None, stages=EMULATED, **spec):
    """`out` is the layout of the answer's pairs, where it is another one."""

    def rule(case):
        keys = {"kind": "rope", "dim": case["head_dim"], "base": case["rope_theta"]}
        keys.update(hf_scaling(case.get("rope_parameters", {})), layout=layout, **spec)
        keys["freq_method"] = RECIPROCAL if stages else None
        keys["rotary_dim"] = case.get("rotary_dim") if "partial_rotary_factor" not in keys else None
        rotary = case.get("rotary_dim", case["head_dim"])
        inputs, outputs = case["inputs"], case["outputs"]
        axes = axes_of(case)
        given_positions = inputs.get("position_ids")
        steps = tokens(inputs["q"], axes)
        positions = nested(given_positions) if given_positions else count(steps)
        p = far(positions if given_positions else list(range(steps)))
        packs = [name for name in outputs if name not in ("cos", "sin", "q", "k")]
        if packs:
            extras = [packed(outputs[packs[0]], p, pack)]
        else:
            extras = cos_sin(outputs["cos"], outputs["sin"], p)
        vectors = [(name, inputs[name], outputs[name]) for name in ("q", "k") if name in inputs]
        return apply(
            keys,
            vectors,
            axes,
            positions,
            p,
            (out or layout, rotary),
            extras=extras,
            width=width,
            pack=pack,
            dtype=dtype,
            stages=stages.format(DTYPES[inputs["q"]["dtype"]]) if stages else None,
        )

    return rule


def hf_mrope(**keys):
    def rule(case):
        inputs, outputs = case["inputs"], case["outputs"]
        rows = nested(inputs["position_ids"])
        p = far_axes(rows)
        dim = case["head_dim"]
        spec = {"kind": "mrope", "dim": dim, "base": case["rope_theta"], "layout": "half"}
        spec["sections"] = case["mrope_section"]
        tables = "cos" in outputs
        return apply(
            {**spec, **keys},
            [(name, inputs[name], outputs[name]) for name in ("q", "k")],
            axes_of(case),
            {"axes": rows},
            p,
            ("half", dim),
            extras=cos_sin(outputs["cos"], outputs["sin"], p) if tables else (),
            width="tiled" if tables else None,
        )

    return rule


# ---- ggml ----------------------------------------------------------------------------------------


def ggml_spec(case, dim):
    params, inputs = case["params"], case["inputs"]
    mode, rotary = case["mode"], params["n_dims"]
    spec = {"kind": "rope", "dim": dim, "base": params["freq_base"], "rotary_dim": rotary}
    spec["layout"] = "interleaved" if mode == "NORMAL" else "half"
    if mode in ("MROPE", "IMROPE"):
        spec.update(kind="mrope", sections=case["sections"])
        spec["axes_split"] = "blocks" if mode == "MROPE" else "interleaved_ggml"
    if mode == "VISION":
        spec.update(kind="axial", rotary_dim=dim, sections=[n for n in case["sections"] if n])
    if params["ext_factor"]:
        spec.update(scaling="yarn", extrapolation_factor=params["ext_factor"])
        spec.update(beta_fast=params["beta_fast"], beta_slow=params["beta_slow"])
        spec["original_max"] = params["n_ctx_orig"]
    elif params["freq_scale"] != 1:
        spec["scaling"] = "linear"
    if "scaling" in spec:
        spec["factor"] = 1 / params["freq_scale"]
    if params["attn_factor"] != 1:
        spec["attention_gain"] = params["attn_factor"]
    if params.get("n_offs"):
        spec["rotary_offset"] = params["n_offs"]
    if "freq_factors" in inputs:
        spec["freq_factors"] = flat(inputs["freq_factors"])
    return spec


def ggml(case):
    inputs, golden = case["inputs"], case["outputs"]["y"]
    spec = ggml_spec(case, inputs["x"]["shape"][-1])
    positions = nested(inputs["positions"])
    p = far(positions)
    if spec["kind"] != "rope":
        used = positions[: len(spec["sections"])]
        p, positions = far_axes(used), {"axes": used}
    return apply(
        spec,
        [("x", inputs["x"], golden)],
        "thd",
        positions,
        p,
        (spec["layout"], spec["rotary_dim"], None, spec.get("rotary_offset", 0)),
        peer=GGML,
        inverse=True if case["op"] == "ggml_rope_ext_back" else None,
    )


# ---- vLLM ----------------------------------------------------------------------------------------


def vllm(scaling=None, frequencies="inv_freq", kind="rope", **names):
    """`names`: key of the service = argument of the class, or "=value"."""

    def rule(case):
        args, inputs, outputs = case["args"], case["inputs"], case["outputs"]
        dim = args["head_size"]
        layout = "half" if args.get("is_neox_style", True) else "interleaved"
        spec = {"kind": kind, "dim": dim, "rotary_dim": args["rotary_dim"], "base": args["base"]}
        spec.update(layout=layout, scaling=scaling(args) if callable(scaling) else scaling)
        spec["freq_method"] = RECIPROCAL
        for key, name in names.items():
            if callable(name):
                spec[key] = name(case)
            else:
                spec[key] = name[1:] if name.startswith("=") else args.get(name)
        rotary = spec["rotary_dim"]
        positions = nested(inputs["positions"])
        factor = 1 / spec["factor"] if spec["scaling"] == "linear" else 1
        if kind == "rope":
            p, where = far(positions, factor), positions
        else:
            p, where = far_axes(positions), {"axes": positions}
        extras = []
        if "cos_sin" in outputs:
            extras.append(packed(outputs["cos_sin"], p, "cos_sin"))
        if "inv_freq" in outputs:
            extras.append(inv_freq(outputs["inv_freq"], frequencies))
        if "mscale" in outputs:
            # The spec has it without the gain.
            gain = args.get("attn_factor", 1)
            whole = lambda values: [gain * values[0]]
            extras.append(attention(outputs["mscale"], "/spec/attention_factor", whole))
        query = inputs["query"]
        table_keys = {"pack": "cos_sin", "width": "half"} if "cos_sin" in outputs else {}
        return apply(
            spec,
            [("q", query, outputs["query"]), ("k", inputs["key"], outputs["key"])],
            "td" if len(query["shape"]) == 2 else "thd",
            where,
            p,
            (layout, rotary),
            extras=extras,
            stages=EMULATED.format(DTYPES[query["dtype"]]),
            **table_keys,
        )

    return rule


VLLM_YARN = {
    "factor": "scaling_factor",
    "original_max": "max_position_embeddings",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
    "truncate": "truncate",
    "extrapolation_factor": "extrapolation_factor",
    "attention_gain": "attn_factor",
}


def one_factor(case):
    """Several factors are caches one behind the other."""
    factors = case["args"]["scaling_factors"]
    if isinstance(factors, list) and len(factors) > 1:
        raise Unmapped("several factors")
    return factors[0] if isinstance(factors, list) else factors


def unscaled_attention(case):
    return 1 if case["args"].get("apply_yarn_scaling", True) is False else None


def engine_length(case):
    """The longest text of the engine, which its classes do not take as an argument."""
    return int(re.search(r"max_model_len (\d+)", case["name"])[1])


# ---- ONNX ----------------------------------------------------------------------------------------


def onnx(case):
    inputs, attributes = case["inputs"], case["attributes"]
    x, golden = inputs["input"], case["outputs"]["output"]
    hidden, heads = x["shape"][-1], attributes.get("num_heads")
    flat_heads = len(x["shape"]) == 3
    dim = hidden // heads if flat_heads else hidden
    rotary = attributes.get("rotary_embedding_dim") or dim
    layout = "interleaved" if attributes.get("interleaved") else "half"
    axes = "btd" if flat_heads else "bhtd"
    ids = inputs.get("position_ids")
    partner = partners(layout, dim, rotary)
    none = [0.0] * tokens(x, axes)
    limits = vector_limits(golden, axes, partner, none, (0, 1e-6), sizes_of=x)
    body = {
        "spec": given({"kind": "rope", "dim": dim, "rotary_dim": rotary, "layout": layout}),
        "axes": axes,
        "heads": heads if flat_heads else None,
        "positions": nested(ids) if ids else None,
        "x": sent(x),
        "cos": sent(inputs["cos_cache"]),
        "sin": sent(inputs["sin_cache"]),
    }
    return Ask("/v1/apply", [Output("y", flat(golden), limits)], body=body)


# ---- lucidrains ----------------------------------------------------------------------------------


def lang(case):
    t, golden = case["inputs"]["t"], case["outputs"]["t"]
    spec = {"kind": "rope", "dim": t["shape"][-1], "rotary_dim": case["dim"], "base": case["theta"]}
    spec.update(layout="interleaved", shift=case["offset"])
    stretched = case["interpolate_factor"] != 1
    if stretched:
        spec.update(scaling="linear", factor=case["interpolate_factor"])
    elif case["theta_rescale_factor"] != 1:
        spec.update(scaling="ntk", factor=case["theta_rescale_factor"])
    steps = tokens(t, "bhtd")
    p = [(i + abs(case["offset"])) / case["interpolate_factor"] for i in range(steps)]
    name = "base_inv_freq" if stretched else "inv_freq"
    return apply(
        spec,
        [("x", t, golden)],
        "bhtd",
        count(steps),
        p,
        ("interleaved", case["dim"]),
        extras=[inv_freq(case["outputs"]["freqs"], name)],
    )


def scale_table(golden):
    return Output("scale", flat(golden), within(1e-6, flat(golden)))


def xpos(case):
    inputs, outputs = case["inputs"], case["outputs"]
    spec = {"kind": "xpos", "dim": case["dim"], "base": case["theta"], "layout": "interleaved"}
    spec["scale_base"] = case["xpos_scale_base"]
    return apply(
        spec,
        [(name, inputs[name], outputs[name]) for name in ("q", "k")],
        "bhtd",
        count(case["n"]),
        far(list(range(case["n"]))),
        ("interleaved", case["dim"]),
        extras=[scale_table(outputs["scale"])],
        width="repeated",
    )


def x_rotary(case):
    q, outputs = case["inputs"]["q"], case["outputs"]
    steps, factor = tokens(q, "bhtd"), case["interpolation_factor"]
    spec = {"kind": "rope", "dim": q["shape"][-1], "rotary_dim": case["dim"]}
    spec["layout"] = "interleaved"
    if factor != 1:
        spec.update(scaling="linear", factor=factor)
    p = [i / factor for i in range(steps)]
    extras = [angles(outputs["freqs"], p)]
    vectors = [("q", q, outputs["q"])]
    if case["use_xpos"]:
        spec.update(kind="xpos", scale_base=case["scale_base"])
        extras.append(scale_table(outputs["scale"]))
        vectors.append(("k", q, outputs["k_with_inverse_scale"]))
    pairs = ("interleaved", case["dim"])
    return apply(
        spec, vectors, "bhtd", count(steps), p, pairs, extras=extras, width="repeated"
    )


# ---- diffusers -----------------------------------------------------------------------------------


def factors(case):
    """linear_factor and ntk_factor."""
    linear, base = case["linear_factor"], case["ntk_factor"]
    keys = {"scaling": "linear", "factor": linear} if linear != 1 else {}
    return {**keys, "base_factor": None if base == 1 else base}


def diffusers_rotary(case):
    spec = {"kind": "rope", "dim": case["dim"], "base": case["theta"], **factors(case)}
    p = [i / case["linear_factor"] for i in range(case["n"])]
    outputs = case["outputs"]
    if not case["use_real"]:
        keys = {"pack": "stacked", "width": "half"}
        expected = [packed(outputs["cis"], p, "stacked")]
    else:
        keys = {"width": "repeated" if case["repeat_interleave_real"] else "tiled"}
        expected = cos_sin(outputs["cos"], outputs["sin"], p)
    return table(spec, expected, value="both", positions=count(case["n"]), **keys)


def plain_apply(case, dim, base, x="x"):
    """RoPE on x from position 0 on."""
    axes, vector = axes_of(case), case["inputs"][x]
    spec = {"kind": "rope", "dim": case[dim], "base": case[base], "layout": case["layout"]}
    steps = tokens(vector, axes)
    golden = case["outputs"][x]
    pairs = (case["layout"], case[dim])
    return apply(spec, [("x", vector, golden)], axes, count(steps), far(list(range(steps))), pairs)


# ---- torchtune, Meta, the first YaRN, keras-hub --------------------------------------------------


def torchtune_llama3(case):
    inputs, outputs = case["inputs"], case["outputs"]
    axes, positions = axes_of(case), nested(inputs["input_pos"])
    spec = {"kind": "rope", "dim": case["dim"], "base": case["base"], "layout": case["layout"]}
    spec.update(scaling="llama3", factor=case["scale_factor"])
    spec.update(low_freq_factor=case["low_freq_factor"], high_freq_factor=case["high_freq_factor"])
    spec["original_max"] = case["old_context_len"]
    return apply(
        spec,
        [("x", inputs["x"], outputs["x"])],
        axes,
        positions,
        far(positions),
        (case["layout"], case["dim"]),
        extras=[inv_freq(outputs["theta"])],
    )


def meta_llama(case):
    inputs, outputs, axes = case["inputs"], case["outputs"], axes_of(case)
    spec = {"kind": "rope", "dim": case["dim"], "base": case["theta"], "layout": case["layout"]}
    steps = tokens(inputs["q"], axes)
    p = far(list(range(steps)))
    return apply(
        spec,
        [(name, inputs[name], outputs[name]) for name in ("q", "k")],
        axes,
        count(steps),
        p,
        (case["layout"], case["dim"]),
        extras=[packed(outputs["freqs_cis"], p, "stacked")],
        pack="stacked",
        width="half",
    )


def meta_scaling(case):
    spec = {"kind": "rope", "dim": case["dim"], "base": case["theta"], "scaling": "llama3"}
    spec.update(factor=8, low_freq_factor=1, high_freq_factor=4, original_max=8192)
    positions = [0, 1, 2]
    outputs = [
        packed(case["outputs"]["cis_0_1_2"], far(positions), "stacked"),
        inv_freq(case["outputs"]["freqs"]),
    ]
    return table(spec, outputs, pack="stacked", width="half", positions=positions)


def frequencies(scaling, **names):
    def rule(case):
        spec = {"kind": "rope", "dim": case["dim"], "base": case["base"], "scaling": scaling}
        spec.update({key: case.get(member) for key, member in names.items()})
        outputs = [inv_freq(case["outputs"]["inv_freq"])]
        if "mscale" in case["outputs"]:
            outputs.append(attention(case["outputs"]["mscale"]))
        return Ask("/v1/frequencies", outputs, spec)

    return rule


def keras_rotary(case):
    x, axes = case["inputs"]["x"], axes_of(case)
    spec = {"kind": "rope", "dim": case["dim"], "base": case["max_wavelength"]}
    spec["layout"] = case["layout"]
    factor, kind = case["scaling_factor"], case["rope_type"]
    if kind != "linear" or factor != 1:
        spec.update(scaling="ntk_divide" if kind == "dynamic" else kind, factor=factor)
    if kind == "yarn":
        spec.update(beta_fast=case.get("beta_fast"), beta_slow=case.get("beta_slow"))
        spec.update(truncate=case.get("truncate", False), yarn_clamp="pairs")
        spec["original_max"] = case.get("original_max_position_embeddings", 4096)
    steps = tokens(x, axes)
    return apply(
        spec,
        [("x", x, case["outputs"]["x"])],
        axes,
        count(steps),
        far(list(range(steps))),
        (case["layout"], case["dim"]),
        extras=[inv_freq(case["outputs"]["inv_freq"])],
    )
