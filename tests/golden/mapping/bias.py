# SPDX-License-Identifier: Apache-2.0
"""bias.py: rules for buckets, slopes and biases."""

from mapping.ask import exact, table
from mapping.limits import DOUBLE, EXACTLY, FREQUENCY, Output, flat, nested, within


def keys_of(case, sign):
    """Places of keys for a query at 0 so that sign * key are the differences of the case, as text;
    and whether they run the other way round."""
    if "range" not in case:
        differences = flat(case["relative_positions"])
        return ",".join(str(sign * int(difference)) for difference in differences), False
    first, last = sorted(sign * end for end in case["range"])
    return f"{first}:{last + 1}", sign < 0


def buckets(kind, sign=1, **names):
    """One query at 0, the last position, and a key at each difference. `names`: the service's key =
    the member of the case, a value, or a function of the case."""

    def rule(case):
        spec = {"kind": kind}
        for key, member in names.items():
            value = member(case) if callable(member) else member
            spec[key] = case[value] if isinstance(value, str) else value
        keys, backwards = keys_of(case, sign)
        of = lambda values: values[-2::-1] if backwards else values[:-1]
        output = Output("bucket", flat(case["buckets"]), EXACTLY, of)
        return table(spec, [output], value="bucket", positions=f"{keys},0", queries=1)

    return rule


def swin(case):
    outputs = [exact("index", case["index"])]
    return table({"kind": "swin", "window": case["window"]}, outputs, value="index")


def powers(heads):
    """The number of the power that each slope is."""
    whole = 1 << heads.bit_length() - 1
    return [*range(1, whole + 1), *range(1, 2 * (heads - whole), 2)]


def power_limits(case, golden):
    """Powers of a ratio in float32: each factor adds to the error."""
    values = flat(golden)
    per_head = len(values) // case["heads"]
    slopes = powers(case["heads"])
    return [(slopes[i // per_head] + 1) * 6e-8 * abs(x) for i, x in enumerate(values)]


def alibi(value, member, limits, **keys):
    """`keys` may be functions of the case."""

    def rule(case):
        golden = case[member]
        query = {key: k(case) if callable(k) else k for key, k in keys.items()}
        spec = {"kind": "alibi", "heads": case["heads"], "bias_max": case.get("alibi_bias_max")}
        output = Output(value, flat(golden), limits(case, golden))
        return table(spec, [output], value=value, **query)

    return rule


def near(tolerance):
    return lambda case, golden: within(tolerance, flat(golden))


def truth_alibi(case):
    output = Output("slopes", flat(case["slopes"]), EXACTLY)
    return table({"kind": "alibi", "heads": case["heads"]}, [output], value="slopes")


def masked_bias(case):
    golden = case["bias"]
    batch = case["mask"]["shape"][0]
    limits = power_limits({"heads": case["heads"] * batch}, golden)
    return table(
        {"kind": "alibi", "heads": case["heads"]},
        [Output("bias", flat(golden), limits)],
        value="bias",
        form="key_index",
        queries=1,
        attention_mask=nested(case["mask"]),
        style="gpt2",
    )


def x_alibi(case):
    slopes, bias, doubles = case["slopes"], case["bias"], case["slopes_double"]
    outputs = [
        Output("bias", flat(bias), within(FREQUENCY, flat(bias))),
        Output("slopes", flat(slopes), within(FREQUENCY, flat(slopes))),
        Output("slopes", doubles, within(DOUBLE, doubles)),
    ]
    ask = table({"kind": "alibi", "heads": case["heads"]}, outputs, value="bias", form="symmetric")
    ask.query.update({"queries": case["i"], "keys": case["j"], "with": ["slopes"]})
    return ask
