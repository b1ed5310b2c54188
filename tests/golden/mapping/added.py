# SPDX-License-Identifier: Apache-2.0
"""added.py: rules for tables that are added to vectors, and for the rows of learned ones."""

import math

from mapping.ask import Ask, added, by, count, far_places, places, table
from mapping.limits import EXACTLY, Output, Unmapped, far, flat, nested, row_limits


def sinusoidal(case, dim, positions, golden, p=None, **keys):
    n = golden["shape"][0]
    p = p or far(range(n) if positions is None else positions)
    ask = positions if isinstance(positions, list) else count(n)
    return table({"kind": "sinusoidal", "dim": dim, **keys}, [added(golden, p)], positions=ask)


def rows(dim, **names):
    """A table from position 0 on. `names`: key of the service = member of the case, or "=value"."""

    def rule(case):
        keys = {k: v[1:] if v.startswith("=") else case.get(v) for k, v in names.items()}
        n = case["table"]["shape"][0]
        return sinusoidal(case, case[dim], None, case["table"], far(list(range(n))), **keys)

    return rule


FAIRSEQ = {
    "order": "=sin_cos",
    "spacing": "=endpoint",
    "odd": "=zero",
    "padding_idx": "padding_idx",
}


def m2m_forward(case):
    golden, ids = case["outputs"]["embedding"], case["inputs"]["input_ids"]
    spec = {"kind": "sinusoidal", "dim": golden["shape"][-1], "padding_idx": case["padding_idx"]}
    spec.update(order="sin_cos", spacing="endpoint")
    longest = ids["shape"][-1] + case["padding_idx"] + 1
    p = [float(longest)] * (ids["shape"][0] * ids["shape"][-1])
    return table(spec, [added(golden, p)], ids=nested(ids), style="roberta")


def xlnet(case):
    last = -case["qlen"] if case["attn_type"] == "bi" else -1
    positions = list(range(case["klen"], last, -1))
    clamp = case["clamp_len"] if case["clamp_len"] > 0 else None
    return sinusoidal(
        case, case["d_model"], positions, case["table"], order="sin_cos", clamp=clamp
    )


def detr(case):
    golden = case["table"]
    turn = case["scale"] or 2 * math.pi
    largest = turn if case["normalize"] else max(case["grid"])
    spec = {"kind": "sine2d", "dim": 2 * case["num_position_features"], "base": case["temperature"]}
    spec.update(normalize=case["normalize"], scale=case["scale"])
    mask = case.get("mask")
    return table(
        spec,
        [added(golden, [largest] * golden["shape"][0])],
        grid=by(case["grid"]),
        pixel_mask=[list(map(int, row)) for row in nested(mask)] if mask else None,
    )


def sincos2d(case, dim, grid, goldens, base=None, first=0, p=None, doubles=True, **keys):
    spec = {"kind": "sincos2d", "dim": case[dim], "base": base}
    p = [0.0] * first + (p or far_places(places(grid)))
    if first > 1:
        raise Unmapped(f"{first} rows without a position")
    keys["class_token"] = "first" if first else None
    outputs = [added(golden, p, doubles) for golden in goldens]
    return table({**spec, **keys.pop("spec", {})}, outputs, grid=by(grid), **keys)


def mae(case):
    first = int(case["cls_token"])
    return sincos2d(
        case, "embed_dim", case["grid"], [case["table"]], base=case["temperature"], first=first
    )


def diffusers_sincos2d(case):
    first = case["extra_tokens"] if case["cls_token"] else 0
    side, scale = case["base_size"], case["interpolation_scale"]
    # The grid is one of float32, so the doubles that come from it are no better.
    return sincos2d(
        case,
        "embed_dim",
        case["grid"],
        [case["table"], case["table_np"]],
        first=first,
        p=far_places(places(case["grid"], lambda axis, i, n: i / n * side / scale)),
        doubles=False,
        spec={"section_axes": [1, 0], "position_scale": None if scale == 1 else 1 / scale},
        coords="scaled",
        ref=[side, side],
        stages="pos:f32",
    )


def timm_sincos2d(case):
    order = "sin_cos" if case["interleave_sin_cos"] else "grouped"
    reverse = case["reverse_coord"]
    height, width = case["feat_shape"]
    # Columns outermost, if reversed.
    grid = [width, height] if reverse else [height, width]
    return sincos2d(
        case,
        "dim",
        [height, width],
        [case["table"]],
        base=case["temperature"],
        p=far_places(places(grid)),
        spec={"order": order, "section_axes": [1, 0] if reverse else None},
        grid_order="column" if reverse else None,
    )


def timestep(case):
    return sinusoidal(
        case,
        case["embedding_dim"],
        case["timesteps"],
        case["table"],
        p=far(case["timesteps"], case["scale"]),
        base=case["max_period"],
        spacing="shift",
        freq_shift=case["downscale_freq_shift"],
        order="cos_sin" if case["flip_sin_to_cos"] else "sin_cos",
        position_scale=case["scale"],
    )


def fourier(case):
    weight, x = flat(case["weight"]), flat(case["x"])
    largest = 2 * math.pi * max(map(abs, weight))
    p = [largest * abs(math.log(t) if case["log"] else t) for t in x]
    spec = {"kind": "fourier", "dim": 2 * len(weight), "freqs": weight, "angle_unit": "turn"}
    spec["order"] = "cos_sin" if case["flip_sin_to_cos"] else "sin_cos"
    spec["log_positions"] = case["log"]
    golden = case["table"]
    limits = row_limits(golden, p, peer=(2e-7, 1e-6))
    return table(spec, [Output("table", flat(golden), limits)], positions=x)


# ---- Rows of learned tables ----------------------------------------------------------------------


def opt_rows(case):
    """Tokens of the past are in the mask, but no rows are read for them."""
    mask, past = case["attention_mask"], case["past_key_values_length"]
    length = mask["shape"][-1]
    of = lambda values: [row for i, row in enumerate(values) if i % length >= past]
    output = Output("positions", flat(case["rows"]), EXACTLY, of)
    body = {"attention_mask": nested(mask), "style": "opt"}
    return Ask("/v1/positions", [output], body=body)


def roberta_ids(case):
    """Tokens of the past are not in the ids, but are counted; padding is not."""
    ids, past = case["input_ids"], case["past_key_values_length"]
    padding = case["padding_idx"]
    of = lambda values: [x + past * (token != padding) for x, token in zip(values, flat(ids))]
    output = Output("positions", flat(case["position_ids"]), EXACTLY, of)
    body = {"ids": nested(ids), "style": "roberta", "padding_idx": padding}
    return Ask("/v1/positions", [output], body=body)
