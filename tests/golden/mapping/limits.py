# SPDX-License-Identifier: Apache-2.0
"""limits.py: numbers of golden files, and how near an answer must come to them.

Limits are those of README.md: an error of `peer[0]` per radian of the row's largest angle, plus
`peer[1]`, times the length of the pair; more where the case has numbers of 16 bits.
"""

import math
import struct

TORCH = (1e-7, 2e-7)
GGML = (3e-7, 1e-6)
ANGLES = (1e-6, 2e-7)
SIXTEEN = {"bfloat16": 8e-3, "float16": 1e-3}
DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}
FREQUENCY = 5e-7  # relative
DOUBLE = 1e-12  # relative, of what a peer computed in doubles
EXACTLY = None  # as a limit


class Output:
    """One tensor or readout of the answer, the numbers expected and how near it must come."""

    def __init__(self, name, expected, limits, of=lambda values: values):
        self.name = name
        self.expected = expected
        self.limits = limits  # one per number, one for all, or EXACTLY
        self.of = of  # from the numbers of the answer to those that are compared


class Unmapped(Exception):
    """The case has something that no key of the service stands for."""


# ---- Numbers -------------------------------------------------------------------------------------


def given(members):
    return {key: value for key, value in members.items() if value is not None}


def number(value, dtype="float64"):
    """A number of a golden file: text as C prints hexadecimal, and float32 by its decimals."""
    if isinstance(value, str):
        value = float.fromhex(value) if "x" in value else float(value)
    return struct.unpack("f", struct.pack("f", value))[0] if dtype == "float32" else value


def flat(value):
    """All numbers of a tensor, or of nested lists, row-major."""
    if isinstance(value, dict):
        return [number(x, value["dtype"]) for x in value["data"]]
    if isinstance(value, list):
        return [x for row in value for x in flat(row)]
    return [number(value)]


def nested(tensor):
    level = flat(tensor)
    for n in reversed(tensor["shape"][1:]):
        level = [level[i : i + n] for i in range(0, len(level), n)]
    return level


def sent(tensor):
    return {
        "dtype": DTYPES[tensor["dtype"]],
        "shape": tensor["shape"],
        "data": [number(x) for x in tensor["data"]],
    }


def far(positions, factor=1):
    """The largest |angle| of each token whose fastest pair turns `factor` radians a position."""
    return [abs(p) * factor for p in flat(positions)]


def far_axes(rows, factor=1):
    return [max(abs(p) for p in token) * factor for token in zip(*map(flat, rows))]


def within(relative, expected):
    return [relative * abs(x) for x in expected]


# ---- Tables and rotated vectors ------------------------------------------------------------------


def limit(peer, p, size, dtype):
    return size * (peer[0] * p + peer[1] + SIXTEEN.get(dtype, 0))


def row_limits(golden, p, sizes=None, peer=TORCH):
    """Of a table with one row per element of p; `sizes` are the lengths of the pairs."""
    n = len(golden["data"])
    width = n // len(p)
    if width * len(p) != n:
        raise Unmapped(f"{n} numbers are no {len(p)} rows")
    return [limit(peer, p[i // width], sizes[i] if sizes else 1, golden["dtype"]) for i in range(n)]


def lengths(first, second):
    return [math.hypot(a, b) for a, b in zip(flat(first), flat(second))]


def partners(layout, dim, rotary, sections=None, offset=0):
    """For each channel that of the same pair; None where nothing is rotated. The first rotated one
    is `offset`."""
    partner = [None] * dim
    if layout == "half_per_axis":
        first = 0
        for n in sections:
            for i in range(n):
                partner[first + i], partner[first + n + i] = first + n + i, first + i
            first += 2 * n
        return partner
    for j in range(rotary):
        other = (j + rotary // 2) % rotary if layout == "half" else j ^ 1
        partner[offset + j] = offset + other
    return partner


def vector_limits(golden, axes, partner, p, peer, sizes_of=None, first=0):
    """Of rotated vectors; the pairs are as long as those of `sizes_of`, or of the golden ones. The
    first `first` tokens have no position and pass through."""
    shape, values = golden["shape"], flat(sizes_of or golden)
    batch = shape[axes.index("b")] if "b" in axes else 1
    tokens = shape[axes.index("t")] - first
    per_batch = len(p) > tokens
    if len(p) != (batch * tokens if per_batch else tokens):
        raise Unmapped(f"{len(p)} positions for {tokens} tokens")
    limits = []
    for i, value in enumerate(values):
        at, rest = {}, i
        for axis, n in reversed(list(zip(axes, shape))):
            at[axis], rest = rest % n, rest // n
        channel = at["d"] % len(partner)
        other, token = partner[channel], at["t"] - first
        if other is None or token < 0:
            limits.append(0.0)
            continue
        size = math.hypot(value, values[i - channel + other])
        row = at.get("b", 0) * tokens + token if per_batch else token
        limits.append(limit(peer, p[row], size, golden["dtype"]))
    return limits
