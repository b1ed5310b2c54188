#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""formats.py PROGRAM: the same bits through every representation, against a daemon of its own.

A tensor goes in as JSON (numbers or base64), safetensors and npy of every version and order, and
comes back as JSON (in every way of writing numbers), csv, npy, safetensors and bytes, each with each,
in every dtype. It is rotated by rope in its first two channels only, so that the others must come
back bit by bit: both zeros, subnormal numbers, the largest, infinities, not-a-number and random
bits. Files are read by numpy and by a reader of safetensors that is written here after the format's
description; texts are rounded here in exact arithmetic. Needs python3-numpy.
"""

import base64
import contextlib
import csv
import fractions
import functools
import http.client
import io
import itertools
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import urllib.parse

import numpy

ROTATED = 2  # channels that may change
SPEC = {"kind": "rope", "dim": 8, "rotary_dim": ROTATED}
READY_S = 20

# ---- Formats of numbers ---------------------------------------------------------------------------


class Format:
    """One dtype by its widths: bits of the exponent and of the fraction."""

    def __init__(self, name, exponent, fraction, numpy_name, file_name):
        self.name, self.exponent, self.fraction = name, exponent, fraction
        self.numpy_name, self.file_name = numpy_name, file_name
        self.size = (1 + exponent + fraction) // 8
        self.bits_type = f"<u{self.size}"
        self.bias = (1 << (exponent - 1)) - 1
        self.infinity = ((1 << exponent) - 1) << fraction
        self.sign = 1 << (exponent + fraction)
        self.nan = self.infinity | 1 << (fraction - 1)

    def value(self, bits):
        """The number as a float, which holds every one of these dtypes."""
        sign = -1.0 if bits & self.sign else 1.0
        rest = bits & ~self.sign
        if rest >= self.infinity:
            return sign * math.inf if rest == self.infinity else math.nan
        exponent, fraction = rest >> self.fraction, rest & ((1 << self.fraction) - 1)
        if exponent:
            fraction += 1 << self.fraction
        return sign * math.ldexp(fraction, max(exponent, 1) - self.bias - self.fraction)

    def round(self, exact, negative):
        """The bits of the number nearest to |exact|, ties to even; all in integers."""
        exact, sign = abs(exact), self.sign if negative else 0
        if exact == 0:
            return sign
        exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
        exponent -= exact < fractions.Fraction(2) ** exponent
        exponent = max(exponent, 1 - self.bias)
        scaled = exact / fractions.Fraction(2) ** (exponent - self.fraction)
        whole = round(scaled)  # to even
        # The exponent's field counts on from the fraction, also where rounding carries.
        bits = whole + ((exponent + self.bias - 1) << self.fraction)
        return min(bits, self.infinity) | sign

    @functools.lru_cache(maxsize=None)
    def read(self, text):
        """A number as JSON or csv have it, quoted or not."""
        special = {"NaN": self.nan, "Infinity": self.infinity, "-Infinity": self.infinity | self.sign}
        if text in special:
            return special[text]
        return self.round(fractions.Fraction(text), text.startswith("-"))


FORMATS = [
    Format("f64", 11, 52, "f8", "F64"),
    Format("f32", 8, 23, "f4", "F32"),
    Format("f16", 5, 10, "f2", "F16"),
    Format("bf16", 8, 7, None, "BF16"),
]


def elements(form):
    """Bits worth sending, as an array of rows of channels."""
    one, least = form.bias << form.fraction, 1
    smallest_normal = 1 << form.fraction
    positive = [0, least, least + 1, smallest_normal - 1, smallest_normal, smallest_normal + 1]
    positive += [one - 1, one, one + 1, form.infinity - 1, form.infinity]
    draw = random.Random(form.name)
    while len(positive) < 45:
        positive.append(draw.randrange(form.infinity))
    bits = [form.nan]
    for pattern in positive:
        bits += [pattern, pattern | form.sign]
    channels = SPEC["dim"] - ROTATED
    bits += [one] * (-len(bits) % channels)
    kept = numpy.array(bits, form.bits_type).reshape(-1, channels)
    return numpy.concatenate([numpy.zeros((len(kept), ROTATED), form.bits_type), kept], axis=1)


def not_numbers(form):
    """A row of what only bits can tell apart: quiet and signalling, of both signs."""
    quiet = form.nan & ~form.infinity
    payloads = [quiet | 1, quiet - 1 | quiet, 1, quiet - 1, quiet, quiet >> 1]
    bits = [form.infinity | payload | form.sign * (i % 2) for i, payload in enumerate(payloads)]
    return numpy.array([0] * ROTATED + bits, form.bits_type)


# ---- Representations in ---------------------------------------------------------------------------


def as_json(form, bits, member):
    """A tensor of a JSON body with its elements in the given member."""
    tensor = {"dtype": form.name, "shape": list(bits.shape), **member}
    return {"spec": SPEC, "axes": AXES[bits.ndim], "x": tensor}


def json_numbers(form, bits):
    def written(pattern):
        value = form.value(int(pattern))
        if math.isnan(value):
            return '"NaN"'
        return repr(value) if math.isfinite(value) else '"-Infinity"' if value < 0 else '"Infinity"'

    text = json.dumps(as_json(form, bits, {"data": "?"}))
    data = numpy.array2string(
        bits, separator=",", threshold=bits.size + 1, formatter={"all": written}
    )
    return "/v1/apply", "application/json", text.replace('"?"', data).encode()


def json_base64(form, bits):
    text = base64.b64encode(bits.tobytes()).decode()
    return "/v1/apply", "application/json", json.dumps(as_json(form, bits, {"b64": text})).encode()


def safetensors(form, bits):
    request = json.dumps({"spec": SPEC, "axes": AXES[bits.ndim]})
    header = json.dumps(
        {
            "__metadata__": {"request": request},
            "x": {
                "dtype": form.file_name,
                "shape": bits.shape,
                "data_offsets": [0, bits.nbytes],
            },
        }
    ).encode()
    body = struct.pack("<Q", len(header)) + header + bits.tobytes()
    return "/v1/apply", "application/x-safetensors", body


def npy(version, order, fortran):
    """Writes with numpy."""

    def write(form, bits):
        array = bits.astype(bits.dtype.newbyteorder(order))
        if form.numpy_name:
            array = array.view(order + form.numpy_name)
        if fortran:
            array = numpy.asfortranarray(array)
        file = io.BytesIO()
        numpy.lib.format.write_array(file, array, version)
        query = dict(SPEC, axes=AXES[bits.ndim])
        if not form.numpy_name:
            query["numbers"] = "bits"
        return f"/v1/apply?{urllib.parse.urlencode(query)}", "application/x-npy", file.getvalue()

    return write


AXES = {1: "d", 2: "td", 4: "bhtd"}
WAYS_IN = {
    "json": json_numbers,
    "json, base64": json_base64,
    "safetensors": safetensors,
    "npy 1.0": npy((1, 0), "<", False),
    "npy 1.0, fortran": npy((1, 0), "<", True),
    "npy 2.0, big-endian": npy((2, 0), ">", False),
    "npy 3.0, big-endian, fortran": npy((3, 0), ">", True),
}


# ---- Representations out --------------------------------------------------------------------------


def flat(nested):
    return [leaf for row in nested for leaf in flat(row)] if isinstance(nested, list) else [nested]


def from_json(form, answer, read):
    """Numbers stay text until `read` makes bits of them."""
    tensor = json.loads(answer.body, parse_int=str, parse_float=str)["tensors"]["y"]
    assert tensor["dtype"] == form.name, tensor["dtype"]
    return numpy.array([read(leaf) for leaf in flat(tensor["data"])], form.bits_type).reshape(
        [int(size) for size in tensor["shape"]]
    )


def json_text(form, answer):
    return from_json(form, answer, form.read)


def json_hex(form, answer):
    def read(text):
        if text.lstrip("-")[0] != "0":
            return form.read(text)
        return form.round(fractions.Fraction(float.fromhex(text)), text.startswith("-"))

    return from_json(form, answer, read)


def json_bits(form, answer):
    return from_json(form, answer, int)


def csv_text(form, answer):
    rows = list(csv.reader(io.StringIO(answer.body.decode(), newline="")))
    columns = 1 if rows[0][-1] == "y" else SPEC["dim"]
    return numpy.array(
        [[form.read(text) for text in row[-columns:]] for row in rows[1:]], form.bits_type
    )


def from_npy(form, answer):
    array = numpy.load(io.BytesIO(answer.body), allow_pickle=False)
    assert array.dtype.str == f"<{form.numpy_name or 'u2'}" and array.flags.c_contiguous
    written = io.BytesIO()
    numpy.save(written, array)
    assert written.getvalue() == answer.body, "numpy writes another file"
    return array.view(form.bits_type)


def from_safetensors(form, answer):
    """After https://github.com/huggingface/safetensors, Format."""
    (length,) = struct.unpack("<Q", answer.body[:8])
    header, data = answer.body[8 : 8 + length], answer.body[8 + length :]
    assert header[:1] == b"{" and length % 8 == 0
    entries = json.loads(header)
    metadata = entries.pop("__metadata__")
    assert all(isinstance(text, str) for text in metadata.values()), metadata
    assert json.loads(metadata["spec"])["kind"] == SPEC["kind"]
    end = 0
    for entry in entries.values():
        begin, stop = entry["data_offsets"]
        assert begin == end and set(entry) == {"dtype", "shape", "data_offsets"}
        end = stop
    assert end == len(data)
    entry = entries["y"]
    assert entry["dtype"] == form.file_name, entry
    begin, stop = entry["data_offsets"]
    return numpy.frombuffer(data[begin:stop], form.bits_type).reshape(entry["shape"])


def from_bytes(form, answer):
    shape = answer.head["Tensor"].removeprefix(f'dtype={form.name}; shape="').removesuffix('"')
    return numpy.frombuffer(answer.body, form.bits_type).reshape(
        [int(size) for size in shape.split(",")]
    )


# format, numbers (None: the answer has none that are written), media type, reader
WAYS_OUT = {
    "json": ("json", "shortest", "application/json", json_text),
    "json, exact": ("json", "exact", "application/json", json_text),
    "json, hex": ("json", "hex", "application/json", json_hex),
    "json, bits": ("json", "bits", "application/json", json_bits),
    "csv": ("csv", "shortest", "text/csv; header=present", csv_text),
    "csv, exact": ("csv", "exact", "text/csv; header=present", csv_text),
    "npy": ("npy", None, "application/x-npy", from_npy),
    "safetensors": ("safetensors", None, "application/x-safetensors", from_safetensors),
    "bin": ("bin", None, "application/octet-stream", from_bytes),
}

# ---- The daemon -----------------------------------------------------------------------------------


@contextlib.contextmanager
def daemon(program):
    """Starts the program and gives its address; ends it, and sees that it ends well."""
    ready, theirs = os.pipe()
    child = subprocess.Popen(
        [program, "--listen", "127.0.0.1:0", "--ready-fd", str(theirs), "--log-format", "off"],
        pass_fds=[theirs],
    )
    os.close(theirs)
    signal.alarm(READY_S)
    with os.fdopen(ready) as file:
        url = json.loads(file.readline())["url"]
    signal.alarm(0)
    try:
        yield url
    finally:
        child.terminate()
        status = child.wait()
    assert status == 0, f"the daemon ended with {status}"


class Answer:
    def __init__(self, connection, path, content_type, body):
        connection.request("POST", path, body, {"Content-Type": content_type})
        response = connection.getresponse()
        self.status, self.head, self.body = response.status, response.headers, response.read()


def trials():
    """Every tensor on every way in and out."""
    for form in FORMATS:
        rows = elements(form)
        shaped = [rows[0], rows, rows.reshape(2, 2, -1, SPEC["dim"]), rows[:0]]
        for way_in, way_out in itertools.product(WAYS_IN, WAYS_OUT):
            for bits in shaped:
                yield form, bits, way_in, way_out
            if way_in != "json" and WAYS_OUT[way_out][1] in (None, "bits"):
                yield form, not_numbers(form), way_in, way_out


def trip(connection, form, bits, way_in, way_out):
    """There and back: what is wrong, "" if all is right, None where the way is not offered."""
    path, content_type, body = WAYS_IN[way_in](form, bits)
    name, numbers, media_type, read = WAYS_OUT[way_out]
    query = {"format": name}
    if "numbers=bits" in path:  # bf16 goes into npy as bits, and then all numbers come out so
        if numbers not in (None, "bits"):
            return None
    elif numbers:
        query["numbers"] = numbers
    elif name == "npy" and not form.numpy_name:
        query["numbers"] = "bits"
    path += ("&" if "?" in path else "?") + urllib.parse.urlencode(query)
    answer = Answer(connection, path, content_type, body)
    if answer.status != 200 or answer.head["Content-Type"] != media_type:
        return f"{answer.status} {answer.head['Content-Type']} {answer.body[:300]}"
    got = read(form, answer)
    if name == "csv":
        got = got.reshape(bits.shape)
    if got.shape != bits.shape:
        return f"shape {got.shape}"
    wrong = got[..., ROTATED:] != bits[..., ROTATED:]
    sent, came = ([hex(b) for b in t[..., ROTATED:][wrong][:4]] for t in (bits, got))
    return f"{sent} came back as {came}" if wrong.any() else ""


def main(program):
    results = []
    with daemon(program) as url:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc)
        for form, bits, way_in, way_out in trials():
            says = trip(connection, form, bits, way_in, way_out)
            if says is not None:
                results.append(says)
            if says:
                print(f"{form.name} {bits.shape} {way_in} -> {way_out}: {says}")
    failed = sum(map(bool, results))
    print(f"formats: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
