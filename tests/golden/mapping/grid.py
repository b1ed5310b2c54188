# SPDX-License-Identifier: Apache-2.0
"""grid.py: rules for rotations by rows and columns of pictures."""

import math

from mapping.ask import (
    angles,
    apply,
    axes_of,
    axial,
    by,
    centered,
    cos_sin,
    ends,
    far_places,
    halves,
    inv_freq,
    packed,
    places,
    table,
)
from mapping.limits import Unmapped, far_axes, nested
from mapping.rope import factors


# ---- transformers --------------------------------------------------------------------------------


def qwen_vision(case):
    inputs, outputs, dim = case["inputs"], case["outputs"], case["head_dim"]
    frames, rows, columns = case["grid_thw"]
    merge = case["spatial_merge_size"]
    spec = axial(dim, case["rope_theta"], layout="half")
    grid = [rows, columns]
    if frames > 1:  # the same places in every frame
        grid, spec["section_axes"] = [frames, rows, columns], [1, 2]
    # Blocks of merge * merge patches: (block row, block column, row, column).
    blocks = places([frames, rows // merge, columns // merge, merge, merge])
    p = far_places([[b * merge + r, c * merge + s] for _, b, c, r, s in blocks])
    return apply(
        spec,
        [(name, inputs[name], outputs[name]) for name in ("q", "k")],
        "thd",
        None,
        p,
        ("half", dim),
        extras=[angles(outputs["freqs"], p)],
        grid=by(grid),
        grid_order="merge",
        merge=merge,
    )


def pixtral(case):
    inputs, outputs, dim = case["inputs"], case["outputs"], case["head_dim"]
    p = far_places(places(case["grid"]))
    return apply(
        axial(dim, case["rope_theta"], layout="half", spectrum="strided"),
        [(name, inputs[name], outputs[name]) for name in ("q", "k")],
        "bhtd",
        None,
        p,
        ("half", dim),
        extras=cos_sin(outputs["cos"], outputs["sin"], p),
        grid=by(case["grid"]),
        width="tiled",
    )


def gemma_vision(case):
    inputs, outputs, dim = case["inputs"], case["outputs"], case["head_dim"]
    # The last axis of position_ids is that of the axes.
    batches = nested(inputs["position_ids"])
    rows = [[[token[axis] for token in batch] for batch in batches] for axis in (0, 1)]
    p = far_axes(rows)
    return apply(
        axial(dim, case["rope_theta"], layout="half_per_axis"),
        [("x", inputs["x"], outputs["x"])],
        axes_of(case),
        {"axes": rows},
        p,
        ("half_per_axis", dim, halves(dim)),
        extras=cos_sin(outputs["cos"], outputs["sin"], p),
        width="per_axis",
    )


def llama_vision(case):
    side, dim = case["side"], case["head_dim"]
    p = far_places(places([side, side], lambda axis, i, n: i + 1)) + [0.0]
    spec = axial(dim, case["rope_theta"], layout="interleaved", section_axes=[1, 0], shift=1)
    golden = case["outputs"]["freqs_ci_re_im"]
    keys = {"grid": by([side, side]), "class_token": "last"}
    return table(spec, [packed(golden, p, "stacked")], pack="stacked", width="half", **keys)


def dinov3(case):
    inputs, outputs, dim = case["inputs"], case["outputs"], case["head_dim"]
    p = far_places(places(case["grid"], centered), 2 * math.pi)
    one_axis = inv_freq(outputs["inv_freq"], of=lambda values: values[: dim // 4])
    return apply(
        axial(dim, case["rope_theta"], layout="half", angle_unit="turn"),
        [(name, inputs[name], outputs[name]) for name in ("q", "k")],
        "bhtd",
        None,
        p,
        ("half", dim),
        extras=[one_axis, *cos_sin(outputs["cos"], outputs["sin"], p)],
        first=case["prefix_tokens"],
        grid=by(case["grid"]),
        coords="center",
        prefix=case["prefix_tokens"],
        width="tiled",
    )


# ---- lucidrains, diffusers -----------------------------------------------------------------------


def lucidrains_axial(bands, coords, at, largest):
    def rule(case):
        width = case["dim"]
        spec = axial(2 * width, layout="interleaved", bands=bands, max_freq=case.get("max_freq"))
        p = far_places(places(case["grid"], at), largest(case))
        outputs = [angles(case["outputs"]["angles"], p)]
        if "freqs" in case["outputs"]:
            of = lambda values: values[: width // 2]
            outputs.append(inv_freq(case["outputs"]["freqs"], of=of))
        return table(
            spec, outputs, grid=by(case["grid"]), coords=coords, value="both", width="repeated"
        )

    return rule


def diffusers_crop(case):
    dim, (start, stop) = case["embed_dim"], case["crops_coords"]
    grid, spec = list(case["grid"]), axial(dim, section_axes=[1, 0])
    if "temporal_size" in case:
        frames = case["temporal_size"]
        spec.update(sections=[dim // 8, 3 * dim // 16, 3 * dim // 16], section_axes=None)
        grid, start, stop = [frames, *grid], [0, *start], [frames, *stop]
    at = lambda axis, i, n: start[axis] + (stop[axis] - start[axis]) * i / n
    p = far_places(places(grid, at))
    return table(
        spec,
        cos_sin(case["outputs"]["cos"], case["outputs"]["sin"], p),
        value="both",
        grid=by(grid),
        coords="crop",
        start=start,
        stop=stop,
        width="repeated",
    )


def lumina(case):
    grid = [case["len_h"], case["len_w"]]
    spec = axial(case["embed_dim"], axes_split="alternate", **factors(case))
    p = far_places(places(grid), 1 / case["linear_factor"])
    golden = packed(case["outputs"]["cis"], p, "stacked")
    return table(spec, [golden], grid=by(grid), pack="stacked", width="half")


# ---- timm, EVA -----------------------------------------------------------------------------------


def grid_apply(case, spec, layout, keys, p, extras):
    x, golden = case["inputs"]["x"], case["outputs"]["x"]
    pairs = (layout, spec["dim"])
    spec["layout"] = layout
    return apply(spec, [("x", x, golden)], "bhtd", None, p, pairs, extras=extras, **keys)


def rope_cat(case):
    sizes, reference, offset = case["feat_shape"], case["ref_feat_shape"], case["grid_offset"]
    spec = axial(case["dim"])
    if case["grid_indexing"] == "xy":
        spec["section_axes"] = [1, 0]
    keys = {"grid": by(sizes), "width": "repeated", "pack": "sin_cos"}
    if case["in_pixels"]:
        spec.update(bands="log", max_freq=case["max_res"])
        keys["coords"] = "linspace"
        p = far_places(places(sizes, ends), math.pi * case["max_res"] / 2)
    else:
        spec["base"] = case["temperature"]
        keys["coord_offset"] = offset or None
        if reference:
            keys.update(coords="scaled", ref=reference)
        trained = reference or sizes
        p = far_places(places(sizes, lambda axis, i, n: (i + offset) * trained[axis] / n))
    extras = [packed(case["outputs"]["sin_cos"], p, "sin_cos")]
    return grid_apply(case, spec, case["layout"], keys, p, extras)


def timm_dinov3(case):
    if case["min_max_period"]:
        raise Unmapped("periods between a smallest and a largest one")
    half, dim = case["rotate_half"], case["dim"]
    keys = {"grid": by(case["feat_shape"]), "coords": "center", "pack": "sin_cos"}
    keys["width"] = "tiled" if half else "repeated"
    largest = max(case["feat_shape"])
    at = centered
    if case["normalize_coords"] == "max":
        keys["coord_norm"] = "max"
        at = lambda axis, i, n: 2 * (i + 0.5) / largest - 1
    elif case["normalize_coords"] != "separate":
        raise Unmapped("coordinates divided by the smaller side")
    p = far_places(places(case["feat_shape"], at), 2 * math.pi)
    periods = inv_freq(case["periods"], of=lambda values: [1 / w for w in values[: dim // 4]])
    extras = [packed(case["outputs"]["sin_cos"], p, "sin_cos"), periods]
    spec = axial(dim, case["temperature"], angle_unit="turn")
    return grid_apply(case, spec, "half" if half else "interleaved", keys, p, extras)


def eva(case):
    trained = case["pt_seq_len"]
    side = case["ft_seq_len"] or trained
    p = far_places(places([side, side], lambda axis, i, n: i / n * trained))
    keys = {"grid": by([side, side]), "coords": "scaled", "ref": [trained, trained]}
    keys["width"] = "repeated"
    extras = cos_sin(case["outputs"]["cos"], case["outputs"]["sin"], p)
    spec = axial(2 * case["dim"], case["theta"])
    return grid_apply(case, spec, case["layout"], keys, p, extras)
