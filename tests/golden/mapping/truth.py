# SPDX-License-Identifier: Apache-2.0
"""truth.py: rules for what was computed with 80 digits and must come out bit for bit."""

import re

from mapping.ask import Ask, exact, table
from mapping.limits import EXACTLY, Output, Unmapped, flat


def truth_rope(case):
    outputs = [exact("cos", case["cos"]), exact("sin", case["sin"])]
    if "inv_freq" in case:
        outputs.append(exact("inv_freq", case["inv_freq"]))
    spec = {"kind": "rope", "dim": case["dim"], "base": case["base"]}
    return table(spec, outputs, value="both", positions=flat(case["positions"]))


def truth_fairseq(case):
    halves_joined = [sin + cos for sin, cos in zip(case["sin"], case["cos"])]
    outputs = [exact("table", halves_joined), exact("inv_freq", case["inv_freq"])]
    spec = {"kind": "sinusoidal", "dim": case["dim"], "base": case["base"]}
    spec.update(spacing="endpoint", order="sin_cos")
    return table(spec, outputs, positions=flat(case["positions"]))


def scores_term(dim, base, distance):
    spec = {"kind": "sinusoidal", "dim": dim, "base": base}
    return {**spec, "terms": 1, "anchors": 0, "offsets": distance}, "/v1/scores", "position"


def wavelength(pair, dim, base):
    spec = {"kind": "rope", "dim": dim, "base": base}
    return spec, "/v1/frequencies", "wavelength", lambda values: [values[int(pair)]]


def longest(dim, base, pair):
    return wavelength(pair, dim, base)


def squared_norm(dim):
    return scores_term(dim, None, 0)


def yarn_factor(factor):
    spec = {"kind": "rope", "scaling": "yarn", "factor": factor, "original_max": 4096}
    return spec, "/v1/frequencies", "/readouts/attention_factor"


FACTS = (
    (r"PE\(0\)\.PE\((?P<distance>\d+)\) d=(?P<dim>\d+) base=(?P<base>\d+)", scores_term),
    (r"wavelength of pair (?P<pair>\d+), d=(?P<dim>\d+), base=(?P<base>\d+)", wavelength),
    (r"longest wavelength d=(?P<dim>\d+) base=(?P<base>\d+) \(pair (?P<pair>\d+)\)", longest),
    (r"squared norm of every row, d=(?P<dim>\d+)", squared_norm),
    (r"yarn attention factor 0\.1 ln\((?P<factor>\d+)\) \+ 1", yarn_factor),
)


def truth_fact(case):
    for pattern, rule in FACTS:
        match = re.match(pattern, case["name"])
        if match:
            query, path, name, *of = rule(**match.groupdict())
            expected = [float(case["value"].split()[0])]
            return Ask(path, [Output(name, expected, EXACTLY, *of)], query)
    raise Unmapped("a fact of another form")
