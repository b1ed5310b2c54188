# SPDX-License-Identifier: Apache-2.0
"""ask.py: requests, and the outputs that are compared, as rules put them together."""

import math
import re

from mapping.limits import (
    ANGLES,
    DOUBLE,
    EXACTLY,
    FREQUENCY,
    Output,
    TORCH,
    flat,
    given,
    lengths,
    partners,
    row_limits,
    sent,
    vector_limits,
    within,
)


class Ask:
    """One request: a GET with a query, or a POST with a JSON document."""

    def __init__(self, path, outputs, query=None, body=None):
        self.path = path
        self.outputs = outputs
        # Every bit of the answer, in any dtype.
        self.query = {**given(query or {}), "numbers": "hex"}
        self.body = None if body is None else given(body)


ANSWERS = {"x": "y", "q": "q_out", "k": "k_out"}


def with_names(extras):
    names = [extra.name for extra in extras if not extra.name.startswith("/")]
    return names or None


def apply(spec, vectors, axes, positions, p, pairs, peer=TORCH, extras=(), first=0, **members):
    """Rotates vectors: (member, input, golden output) each; `pairs` are (layout, rotary width) of
    what comes out."""
    outputs = list(extras)
    body = {"spec": given(spec), "axes": axes, "positions": positions, "with": with_names(extras)}
    for member, vector, golden in vectors:
        body[member] = sent(vector)
        partner = partners(pairs[0], spec["dim"], *pairs[1:])
        limits = vector_limits(golden, axes, partner, p, peer, first=first)
        outputs.append(Output(ANSWERS[member], flat(golden), limits))
    return Ask("/v1/apply", outputs, body={**body, **members})


def table(spec, outputs, **query):
    """A table, and what else `with` gives; the outputs of the table itself are not asked for."""
    own = ("table", "cos", "sin", "bias", "bucket", "slopes", "index")
    extras = [output for output in outputs if output.name not in own]
    return Ask("/v1/table", outputs, {**spec, **query, "with": with_names(extras)})


def cos_sin(cos, sin, p, peer=TORCH):
    sizes = lengths(cos, sin)
    return [
        Output(name, flat(golden), row_limits(golden, p, sizes, peer))
        for name, golden in (("cos", cos), ("sin", sin))
    ]


def packed(golden, p, pack, peer=TORCH):
    """The one tensor that pack=cos_sin, sin_cos or stacked gives."""
    values, width = flat(golden), golden["shape"][-1]
    half = 1 if pack == "stacked" else width // 2
    sizes = [
        math.hypot(x, values[i + half if i % width < half else i - half])
        for i, x in enumerate(values)
    ]
    return Output("table", values, row_limits(golden, p, sizes, peer))


def inv_freq(golden, name="inv_freq", of=lambda values: values):
    expected = flat(golden)
    return Output(name, expected, within(FREQUENCY, expected), of)


def attention(golden, name="/readouts/attention_factor", of=lambda values: values):
    return Output(name, [golden], within(DOUBLE, [golden]), of)


def angles(golden, p):
    return Output("angle", flat(golden), row_limits(golden, p, peer=ANGLES))


def added(golden, p, doubles=True):
    """A table that is added to vectors; `doubles`: one of float64 comes from doubles alone."""
    if golden["dtype"] == "float64" and doubles:
        return Output("table", flat(golden), DOUBLE)
    return Output("table", flat(golden), row_limits(golden, p))


def exact(name, golden):
    return Output(name, flat(golden), EXACTLY)


def count(n):
    return f"0:{n}"


def tokens(tensor, axes):
    return tensor["shape"][axes.index("t")]


def axes_of(case, otherwise="bhtd"):
    letters = {"batch": "b", "heads": "h", "head_dim": "d"}
    names = re.findall(r"(\w+)(?: \([^)]*\))?[,\]]", case.get("axes", ""))
    return "".join(letters.get(name, "t") for name in names) or otherwise


def halves(dim):
    return [dim // 4, dim // 4]


# ---- Grids ---------------------------------------------------------------------------------------


def places(sizes, at=lambda axis, i, n: i):
    """Coordinates of every token, the first axis outermost."""
    rows = [[]]
    for axis, n in enumerate(sizes):
        rows = [row + [at(axis, i, n)] for row in rows for i in range(n)]
    return rows


def far_places(rows, factor=1):
    return [max(map(abs, row)) * factor for row in rows]


def centered(axis, i, n):
    return 2 * (i + 0.5) / n - 1


def ends(axis, i, n):
    return 2 * i / (n - 1) - 1 if n > 1 else -1


def by(sizes):
    return "x".join(map(str, sizes))


def axial(dim, base=None, **keys):
    return {"kind": "axial", "dim": dim, "base": base, "sections": halves(dim), **keys}
