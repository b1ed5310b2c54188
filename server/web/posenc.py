# SPDX-License-Identifier: Apache-2.0
"""
posenc.py: a client of posencd in one file that needs nothing but Python's standard library (3.9).

    import posenc
    s = posenc.Service()                      # POSENC_URL, or starts the program posencd
    y = s.apply("rope:dim=128,base=500000", positions=range(64), x=q)
    s.assert_close(my_rope(q), kind="rope", dim=128, positions=range(64), x=q)

An encoding is compact text ("rope:dim=64"), a dict ({"kind": "rope", "dim": 64}) or keyword
arguments (kind="rope", dim=64). Positions and other lists are text ("0:64"), ranges, lists or
arrays. Tensors are numpy arrays, torch tensors, nested lists (f64) or a Tensor of this file, and an
answer to tensors has their type. They travel as safetensors, so every bit arrives. numpy has no
bf16: unless ml_dtypes is imported, such answers are float32, which holds every bf16.

In tests: pytest_plugins = ["posenc"] in conftest.py, or `from posenc import posenc` in a file, and

    def test_rope(posenc):
        posenc.snapshot("rope-llama3", "/v1/frequencies.csv?kind=rope&dim=128&base=500000")

In a shell: python posenc.py '/v1/table.txt?kind=rope&dim=8' prints an answer.
"""

from __future__ import annotations

import ctypes
import hashlib
import http.client
import itertools
import json
import math
import os
import pathlib
import select
import shutil
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import weakref
from typing import NamedTuple

SAFETENSORS = "application/x-safetensors"
READY_S = 30  # until a daemon of our own must listen
END_S = 10  # until it must have ended
WAIT_S_MAX = 5  # for one Retry-After
ULPS_OF_ROUNDING = 4  # what a few operations in the same dtype may make

# ---- Numbers -------------------------------------------------------------------------------------


class _Format(NamedTuple):
    name: str  # in numpy and torch
    size: int  # bytes of an element
    code: str  # of struct; bf16 has none and goes through f32
    bits: str  # integer of the same size
    rtol: float  # tolerances of torch.testing
    atol: float


_FORMATS = {  # from coarse to fine
    "bf16": _Format("bfloat16", 2, "f", "h", 1.6e-2, 1e-5),
    "f16": _Format("float16", 2, "e", "h", 1e-3, 1e-5),
    "f32": _Format("float32", 4, "f", "i", 1.3e-6, 1e-5),
    "f64": _Format("float64", 8, "d", "q", 1e-7, 1e-7),
    "i64": _Format("int64", 8, "q", "q", 0, 0),
}


class Tensor(NamedTuple):
    """Numbers as they travel: dtype (f64 f32 f16 bf16 i64), shape, little-endian bytes."""

    dtype: str
    shape: tuple
    data: bytes

    def values(self):
        """All elements as Python numbers, row-major."""
        data, count = self.data, len(self.data) // _FORMATS[self.dtype].size
        if self.dtype == "bf16":
            data = bytearray(4 * count)
            data[2::4], data[3::4] = self.data[0::2], self.data[1::2]
        return struct.unpack(f"<{count}{_FORMATS[self.dtype].code}", data)

    def tolist(self):
        """Nested lists of Python numbers; of rank 0 the number."""
        level = list(self.values())
        for axis in reversed(range(len(self.shape))):
            n, rows = self.shape[axis], math.prod(self.shape[:axis])
            level = [level[row * n : (row + 1) * n] for row in range(rows)]
        return level[0]


def _bf16(value):
    """The bf16 nearest to a double, ties to even, as a double: 8 bits, or the subnormal grid."""
    if not math.isfinite(value) or not value:
        return value
    grid = max(math.frexp(value)[1], -125) - 8
    return math.copysign(math.ldexp(round(math.ldexp(value, -grid)), grid), value)


def _pack(values, dtype):
    """Bytes of numbers rounded once to the dtype; OverflowError where they are too large for it."""
    if dtype != "bf16":
        return struct.pack(f"<{len(values)}{_FORMATS[dtype].code}", *values)
    wide = struct.pack(f"<{len(values)}f", *map(_bf16, values))
    data = bytearray(2 * len(values))
    data[0::2], data[1::2] = wide[2::4], wide[3::4]
    return bytes(data)


def _flatten(value):
    """Shape and elements of nested lists."""
    shape, flat = (), [value]
    while flat and isinstance(flat[0], (list, tuple, range)):
        n = len(flat[0])
        if any(not isinstance(row, (list, tuple, range)) or len(row) != n for row in flat):
            raise ValueError("nested lists must have the same length everywhere on a level")
        shape, flat = (*shape, n), [element for row in flat for element in row]
    return shape, flat


def _library(value):
    """Whether a value is an array of "numpy" or "torch", neither of which is imported for this."""
    for name, classes in (("numpy", ("ndarray", "generic")), ("torch", ("Tensor",))):
        module = sys.modules.get(name)
        if module and isinstance(value, tuple(getattr(module, one) for one in classes)):
            return name
    return None


def tensor(value, dtype=None):
    """
    A Tensor of nested lists (f64, or rounded once to the dtype given), a numpy array, a torch
    tensor or a Tensor, which keep their dtype. ValueError: ragged lists. TypeError: a dtype that
    posencd does not have, or not the array's. OverflowError: a number too large for the dtype.
    """
    library = _library(value)
    if dtype and dtype not in _FORMATS:
        raise TypeError(f"posencd has no {dtype}; it has {', '.join(_FORMATS)}")
    if isinstance(value, Tensor):
        made = value
    elif library:
        name = str(value.dtype).rpartition(".")[2] if library == "torch" else value.dtype.name
        short = next((short for short, form in _FORMATS.items() if form.name == name), None)
        if not short:
            raise TypeError(f"posencd has no {name}; it has {', '.join(_FORMATS)}")
        if library == "torch":
            flat = value.detach().cpu().contiguous()
            size = flat.numel() * flat.element_size()
            data = ctypes.string_at(flat.data_ptr(), size) if size else b""
        else:
            data = value.astype(value.dtype.newbyteorder("=")).tobytes()
        made = Tensor(short, tuple(value.shape), data)
    else:
        shape, flat = _flatten(value.tolist() if hasattr(value, "tolist") else value)
        try:
            made = Tensor(dtype or "f64", shape, _pack(flat, dtype or "f64"))
        except (struct.error, TypeError) as error:
            raise ValueError(f"a tensor is nested lists of numbers: {error}") from None
    if dtype not in (None, made.dtype):
        raise TypeError(f"an array of {made.dtype} is not converted to {dtype}")
    return made


def _to_numpy(made):
    import numpy

    dtype = _FORMATS[made.dtype].name
    if made.dtype == "bf16" and "ml_dtypes" in sys.modules:
        dtype = sys.modules["ml_dtypes"].bfloat16
    elif made.dtype == "bf16":
        made, dtype = Tensor("f32", made.shape, _pack(made.values(), "f32")), "float32"
    return numpy.ndarray(made.shape, dtype, bytearray(made.data))


def _to_torch(made, device=None):
    import torch

    dtype = getattr(torch, _FORMATS[made.dtype].name)
    if not made.data:
        return torch.empty(made.shape, dtype=dtype, device=device)
    return torch.frombuffer(bytearray(made.data), dtype=dtype).reshape(made.shape).to(device)


def _same(made):
    return made


_MAKERS = {"numpy": _to_numpy, "torch": _to_torch, "list": Tensor.tolist, "tensor": _same}


def _maker(value):
    """What turns a Tensor into the type of a value."""
    if _library(value) == "torch":
        return lambda made: _to_torch(made, value.device)
    return _same if isinstance(value, Tensor) else _MAKERS[_library(value) or "list"]


# ---- safetensors ---------------------------------------------------------------------------------


def write_safetensors(tensors, metadata=None):
    """Bytes of a safetensors file of {name: Tensor}, with metadata {name: text}."""
    header, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, made in tensors.items():
        offsets = [at, at := at + len(made.data)]
        header[name] = {"dtype": made.dtype.upper(), "shape": made.shape, "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(made.data for made in tensors.values())


def read_safetensors(data):
    """({name: Tensor}, metadata) of a safetensors file; ValueError says what is wrong with it."""
    start = 8 + (struct.unpack_from("<Q", data)[0] if len(data) >= 8 else 0)
    if not 8 < start <= len(data):
        raise ValueError(f"safetensors: {len(data)} bytes do not hold the header")
    header = json.loads(data[8:start])
    metadata, tensors = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        dtype, shape = entry["dtype"].lower(), tuple(entry["shape"])
        begin, end = (start + offset for offset in entry["data_offsets"])
        if dtype not in _FORMATS:
            raise ValueError(f"safetensors: {name} is of {entry['dtype']}, which is not read here")
        if end > len(data) or end - begin != math.prod(shape) * _FORMATS[dtype].size:
            raise ValueError(f"safetensors: the offsets of {name} do not fit its shape or the file")
        tensors[name] = Tensor(dtype, shape, data[begin:end])
    return tensors, metadata


# ---- Answers -------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """An HTTP answer as it came; `headers` is a mapping in which case does not matter."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes
    request: str  # "GET /v1/..."

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


class Problem(Exception):
    """
    The service refused a request, or failed. `status`, `type` ("invalid-value"), `title`, `detail`,
    `errors` (dicts: parameter or pointer, detail, hint, allowed), `document` (all of these as they
    came), `answer` (an Answer).
    """

    def __init__(self, answer):
        super().__init__(answer)
        try:
            self.document = dict(answer.json())
        except (ValueError, TypeError):  # text, or of a proxy
            self.document = {"detail": answer.body[:2000].decode(errors="replace")}
        self.answer, self.status = answer, answer.status
        self.type = self.document.get("type", "unknown").rpartition("/")[2]
        self.title = self.document.get("title", http.client.responses.get(self.status, ""))
        self.detail, self.errors = self.document.get("detail"), self.document.get("errors", [])

    def __str__(self):
        lines = [f"{self.status} {self.title} ({self.type})", f"{self.detail}"]
        for error in self.errors:
            place = error.get("parameter") or error.get("pointer") or "request"
            lines.append(f"  {place}: {error.get('detail')}")
            lines += [f"    {error['hint']}"] if "hint" in error else []
            lines += [f"    allowed: {' '.join(error['allowed'])}"] if "allowed" in error else []
        return "\n".join([*lines, f"  in {self.answer.request}"])


class Result(dict):
    """
    Tensors of an answer by name, in its order: result["inv_freq"]. What else it says is in `spec`,
    `spec_id`, `params` and `readouts`; `document` has all of it.
    """

    def __init__(self, tensors, document):
        super().__init__(tensors)
        self.document = document
        self.spec, self.spec_id = document.get("spec"), document.get("spec_id")
        self.params, self.readouts = document.get("params"), document.get("readouts")

    def one(self):
        """The only tensor, or a tuple of all."""
        made = tuple(self.values())
        return made if len(made) > 1 else made[0]


_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _json_result(document, make):
    tensors = {}
    for name, entry in document.get("tensors", {}).items():
        values = [_SPECIAL.get(x, x) for x in _flatten(entry["data"])[1]]
        made = Tensor(entry["dtype"], tuple(entry["shape"]), _pack(values, entry["dtype"]))
        tensors[name] = make(made)
    return Result(tensors, document)


def _result(answer, make):
    """The Result of an answer in JSON, or in safetensors with objects and lists as JSON texts."""
    if answer.headers.get_content_type() != SAFETENSORS:
        return _json_result(answer.json(), make)
    tensors, document = read_safetensors(answer.body)
    for name, text in document.items():
        document[name] = json.loads(text) if text[:1] in ("{", "[") else text
    return Result({name: make(made) for name, made in tensors.items()}, document)


# ---- Requests ------------------------------------------------------------------------------------


_PLACES = ("positions", "k_positions", "offsets", "anchors")  # lists that may be said as a range


def _plain(name, value):
    """What JSON has as the value of a key: arrays as lists, ranges as text."""
    if str(getattr(value, "dtype", "")).endswith("bool"):  # masks, as 0 and 1
        value = value * 1
    value = value.tolist() if hasattr(value, "tolist") else value
    if name == "specs":  # {"q": one, "k": another}
        return {which: _compact(spec) for which, spec in value.items()}
    if isinstance(value, dict):  # {"axes": [rows, columns]}
        return {axes: [tensor(axis).tolist() for axis in lists] for axes, lists in value.items()}
    if isinstance(value, (list, tuple)) and name in _PLACES and len(value) > 2:
        if all(type(x) is int for x in value) and value[1] > value[0]:
            run = range(value[0], value[-1] + 1, value[1] - value[0])
            value = run if list(run) == list(value) else value
    if isinstance(value, range) and value.step > 0 and len(value) > 2:
        return f"{value.start}:{value.stop}" + (f":{value.step}" if value.step > 1 else "")
    return list(value) if isinstance(value, (list, tuple, range)) else value


def _text(value, comma=","):
    """A value as the query has it; the compact form joins lists with "+"."""
    if isinstance(value, dict):
        return ";".join(_text(axis) for axes in value.values() for axis in axes)
    if isinstance(value, (list, tuple)):
        if any(isinstance(x, (list, tuple)) for x in value):
            raise ValueError(f"lists in a list have no place in a URL: {value}")
        return comma.join(_text(x) for x in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compact(spec):
    """Compact text of a spec: itself, or that of {"kind": ..., key: value}."""
    if isinstance(spec, str):
        return spec
    keys = ",".join(f"{key}={_text(_plain(key, spec[key]), '+')}" for key in spec if key != "kind")
    return f"{spec['kind']}:{keys}" if keys else spec["kind"]


def _spell(spec, keys, has_body):
    """A request as query text and JSON members: lists go into the body where there is one."""
    specs = spec if isinstance(spec, (list, tuple)) else [spec] if spec else []
    query, members = [("spec", _compact(one)) for one in specs], {}
    for name, value in keys.items():
        name = name.rstrip("_")  # with_, as Python keeps the word for itself
        value = _plain(name, value)
        if has_body and isinstance(value, (list, dict)):
            members[name] = value
        elif value is not None:
            query.append((name, _text(value)))
    return urllib.parse.urlencode(query, safe=":,;=+*^", quote_via=urllib.parse.quote), members


# ---- Comparing -----------------------------------------------------------------------------------


def _differing(pairs, rtol, atol, equal_nan):
    """Places of the pairs (actual, expected) that are not close."""
    return [i for i, (a, e) in enumerate(pairs)
            if not (a == e or (equal_nan and a != a and e != e)
                    or (abs(a - e) <= atol + rtol * abs(e) and not math.isinf(e)))]


def _steps(values, dtype):
    """Numbers as integers that count the values of the dtype, from zero on."""
    form = _FORMATS[dtype]
    least = -(1 << 8 * form.size - 1)
    bits = struct.unpack(f"<{len(values)}{form.bits}", _pack(values, dtype))
    return [least - b if b < 0 and dtype != "i64" else b for b in bits]


def _report(actual, expected, rtol, atol, equal_nan):
    """What a person would write about two tensors of one shape that differ; [] if they do not."""
    pairs = list(zip(actual.values(), expected.values()))
    wrong = _differing(pairs, rtol, atol, equal_nan)
    if not wrong:
        return []

    def at(i):
        index = []
        for n in reversed(expected.shape):
            i, place = divmod(i, n)
            index.append(place)
        return f"at {tuple(reversed(index))}"

    def line(what, i):
        return f"{what} {at(i)}: {pairs[i][0]!r}, expected {pairs[i][1]!r}"

    dtype = _coarser(actual, expected)
    finite = [i for i, pair in enumerate(pairs) if all(map(math.isfinite, pair))]
    lines = [f"{len(wrong)} of {len(pairs)} elements differ (rtol {rtol}, atol {atol})",
             line("first:", wrong[0])]
    gap = {i: abs(pairs[i][0] - pairs[i][1]) for i in finite}
    ratio = {i: gap[i] / abs(pairs[i][1]) for i in finite if pairs[i][1]}
    for what, errors in (("max abs", gap), ("max rel", ratio)):
        worst = max(errors, key=errors.get, default=None)
        lines += [line(f"{what} {errors[worst]!r}", worst)] if errors else []
    try:
        steps = zip(*(_steps([pairs[i][side] for i in finite], dtype) for side in (0, 1)))
        ulps, worst = max(((abs(a - e), i) for (a, e), i in zip(steps, finite)), default=(0, None))
    except OverflowError:  # finite, but not in the coarser dtype
        return lines
    note = ": rounding may explain it" if ulps <= ULPS_OF_ROUNDING else ""
    return lines + ([f"max ulp {ulps} of {dtype} {at(worst)}{note}"] if ulps else [])


def _coarser(a, b):
    return min(a.dtype, b.dtype, key=list(_FORMATS).index)


def _changes(old, new):
    """How an answer differs from an old one: tensor by tensor, else the first line that does."""
    try:
        was, now = (_result(answer, _same) for answer in (old, new))
    except (ValueError, KeyError, TypeError, AttributeError):  # nothing with tensors
        lines = itertools.zip_longest(*(answer.body.splitlines() for answer in (new, old)))
        differ = ((n, a, b) for n, (a, b) in enumerate(lines, 1) if a != b)
        return [f"line {n}: {a!r}, stored {b!r}" for n, a, b in itertools.islice(differ, 1)]
    lines = []
    for name in {**was, **now}:
        a, b = now.get(name), was.get(name)
        if not a or not b or a[:2] != b[:2]:
            lines.append(f"{name}: {a and a[:2]}, stored {b and b[:2]}")
        elif a != b:
            lines += [f"{name}: {text}" for text in _report(a, b, 0, 0, True) or ["bits differ"]]
    old, new = ({**result.document, "tensors": None} for result in (was, now))
    parts = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return lines + ([f"not the same: {', '.join(parts)}"] if parts else [])


# ---- The service ---------------------------------------------------------------------------------


def _start(program):
    """A daemon of our own on a free port: its process and URL."""
    ready, write = os.pipe()
    try:
        process = subprocess.Popen(
            [program, "--listen", "127.0.0.1:0", "--log-format", "off", "--ready-fd", str(write)],
            pass_fds=[write], stdin=subprocess.DEVNULL)
    except OSError:
        os.close(ready)
        raise
    finally:
        os.close(write)
    with open(ready, encoding="utf-8") as pipe:
        line = pipe.readline() if select.select([pipe], [], [], READY_S)[0] else ""
    if not line:
        process.kill()
        raise RuntimeError(f"{program} did not get ready; it ended with status {process.wait()}")
    return process, json.loads(line)["url"]


def _end(process, owner):
    if os.getpid() != owner:  # a fork of the one that started it
        return
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Service:
    """
    The service at `url`, or at POSENC_URL, or else one of our own: the program `binary`, or
    POSENC_BINARY, or posencd on the PATH. That ends with this object: at close(), at the end of a
    `with` block or of Python. `arrays` ("numpy", "torch", "list", "tensor") is what answers come as
    where no tensor came in: numpy if there is numpy, else lists. Threads may share a Service; each
    has a connection of its own. Methods raise Problem for what the service refuses, OSError where
    there is none.
    """

    def __init__(self, url=None, binary=None, *, arrays=None, snapshots="snapshots", timeout=60,
                 retries=5):
        url, self._daemon = url or os.environ.get("POSENC_URL"), None
        if not url:
            program = binary or os.environ.get("POSENC_BINARY") or shutil.which("posencd")
            if not program:
                raise FileNotFoundError("no posencd: set POSENC_URL or POSENC_BINARY")
            process, url = _start(program)
            self._daemon = weakref.finalize(self, _end, process, os.getpid())
        if arrays is None:
            try:
                import numpy as _
            except ImportError:
                arrays = "list"
        self.url, self.timeout, self.retries = url.rstrip("/"), timeout, retries
        self.snapshots, self._make = pathlib.Path(snapshots), _MAKERS[arrays or "numpy"]
        self._thread = threading.local()

    def close(self):
        """Ends the daemon if it is our own."""
        if self._daemon:
            self._daemon()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    # -- HTTP

    def _exchange(self, method, target, body, headers):
        """One request on this thread's connection; on a new one if that was closed while idle."""
        base = urllib.parse.urlsplit(self.url)
        connection = getattr(self._thread, "connection", None)
        if not connection:
            https = base.scheme == "https"
            kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
            connection = self._thread.connection = kind(base.netloc, timeout=self.timeout)
        reused = connection.sock is not None
        try:
            try:
                connection.request(method, base.path + target, body, headers)
            except (BrokenPipeError, ConnectionResetError):
                if reused:
                    raise  # else an answer may tell why the body was not read
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read(), f"{method} {target}")
        except BaseException as error:
            connection.close()
            if not reused or not isinstance(error, ConnectionError):
                raise
        return self._exchange(method, target, body, headers)

    def request(self, method, target, body=None, headers=None):
        """
        The Answer, with a status below 400, else Problem. One that says when to try again (503,
        429) is asked for again, `retries` times at most.
        """
        target = urllib.parse.quote(target, safe="%/:=&?~+!$,;'@()*[]")
        for left in range(self.retries, -1, -1):
            answer = self._exchange(method, target, body, headers or {})
            wait = answer.headers.get("Retry-After", "")
            if answer.status not in (429, 503) or not wait.isdigit() or not left:
                break
            time.sleep(min(int(wait), WAIT_S_MAX))
        if answer.status >= 400:
            raise Problem(answer)
        return answer

    def get(self, path, headers=None):
        """The raw Answer to GET of a path with its query."""
        return self.request("GET", path, None, headers)

    def post(self, path, body, content_type="application/json", headers=None):
        """The raw Answer to POST of bytes, text, or anything else as JSON."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body, allow_nan=False)
        body = body.encode() if isinstance(body, str) else body
        return self.request("POST", path, body, {"Content-Type": content_type, **(headers or {})})

    def _ask(self, path, spec, keys, tensors=None, in_body=False):
        """GET; POST where there are tensors, or what has a place in a body only."""
        query, members = _spell(spec, keys, in_body or bool(tensors) or "specs" in keys)
        target = f"{path}?{query}"
        if not tensors:
            return self.post(target, members) if members else self.get(target)
        metadata = {"request": json.dumps(members, allow_nan=False)}
        return self.post(target, write_safetensors(tensors, metadata), SAFETENSORS)

    # -- What it computes; keys that are not named here go into the request as they are

    def apply(self, spec=None, *, x=None, q=None, k=None, scores=None, table=None, cos=None,
              sin=None, **keys):
        """
        x encoded, or q, k, or for bias kinds scores: an array of its shape and type, a tuple for
        several. The caller's own are `table`, for learned and t5, and `cos` and `sin`, for rope; q
        and k may have encodings of their own, specs={"q": ..., "k": ...} in place of spec. Keys:
        positions, k_positions, axes ("bhtd", ...: needed from rank 3 on), inverse, dtype, stages.
        Without tensors: test vectors and what becomes of them, (x, y), by the keys shape, content,
        seed. With with_=["cos", "sin", ...] a Result that has these too, laid out by width and
        pack.
        """
        given = {"x": x, "q": q, "k": k, "scores": scores, "table": table, "cos": cos, "sin": sin}
        given = {name: value for name, value in given.items() if value is not None}
        make = _maker(next(iter(given.values()))) if given else self._make
        tensors = {name: tensor(value) for name, value in given.items()}
        result = _result(self._ask("/v1/apply.safetensors", spec, keys, tensors), make)
        return result if "with_" in keys else result.one()

    def table(self, spec=None, **keys):
        """
        The table [positions, dim], or the bias [heads, T, T]; with value="both" (cos, sin). Keys:
        positions, channels, value, width, pack, dtype, stages. With with_=["inv_freq", ...] a
        Result that has these too.
        """
        result = _result(self._ask("/v1/table.safetensors", spec, keys), self._make)
        return result if "with_" in keys else result.one()

    def frequencies(self, spec=None, **keys):
        """Result with inv_freq, base_inv_freq, wavelength, turns, band (i64), each [pairs]."""
        return _result(self._ask("/v1/frequencies.safetensors", spec, keys), self._make)

    def rotation(self, spec=None, **keys):
        """
        Result with angle, cos, sin, each [positions, pairs]. Keys: positions, pairs, value, width,
        pack, with_.
        """
        return _result(self._ask("/v1/rotation.safetensors", spec, keys), self._make)

    def precision(self, spec=None, **keys):
        """
        Result with max_abs_error, rms_error and worst_pair, each [stages, positions], and readouts:
        how far pipelines that round are from the exact numbers. Keys: quantity ("cos", "sin",
        "table", "angle", "apply", "score"), stages (pipelines between ";"), positions, distance,
        content, seed, gain.
        """
        return _result(self._ask("/v1/precision.safetensors", spec, keys), self._make)

    def properties(self, spec=None, **keys):
        """
        Result with decay [positions], and readouts: what one wishes of an encoding, each property
        with holds (None: it has no meaning there) and its numbers. Keys: positions, trained,
        content, seed, gain.
        """
        return _result(self._ask("/v1/properties.safetensors", spec, keys), self._make)

    def scores(self, spec=None, *, q=None, k=None, **keys):
        """
        Result with scores [anchors, offsets], offsets, anchors, and readouts; a list of Results for
        a list of encodings. q and k are [d] or [n, d], seeded if not given. They may have encodings
        of their own, specs={"q": ..., "k": ...} in place of spec. Keys: anchors, offsets, content,
        seed, gain, scale, normalize, terms.
        """
        tensors = {name: tensor(x) for name, x in (("q", q), ("k", k)) if x is not None}
        document = self._ask("/v1/scores.json", spec, keys, tensors).json()
        if "blocks" in document:
            return [_json_result(block, self._make) for block in document["blocks"]]
        return _json_result(document, self._make)

    def attention(self, spec=None, *, x=None, q=None, k=None, v=None, scores=None, table=None,
                  **keys):
        """
        Result with weights and weights_without, [tokens, tokens], and output; readouts have
        entropy, weight_by_distance, equivariance, equal_labels, and the same of `without`. x, or q,
        k and v, are [tokens, dim], scores (none, bias kinds) [tokens, tokens]; else vectors are
        drawn, for labels=["the", "dog", ...] equal ones for equal labels. Keys: tokens, positions,
        causal, compare (another encoding than none), permutation, scale, content, seed, gain.
        """
        given = {"x": x, "q": q, "k": k, "v": v, "scores": scores, "table": table}
        tensors = {name: tensor(value) for name, value in given.items() if value is not None}
        return _result(self._ask("/v1/attention.safetensors", spec, keys, tensors), self._make)

    def similarity(self, spec=None, **keys):
        """
        similarity [positions, k_positions]: dot products of codes, or for rotations the mean of cos
        over the pairs. Keys: positions, k_positions, normalize, value ("bound"), stages.
        """
        return _result(self._ask("/v1/similarity.safetensors", spec, keys), self._make).one()

    def grid(self, spec=None, **keys):
        """
        similarity of one cell with all cells of a grid, in its shape. Keys: grid ("14x14"), query
        ([7, 7]), coords, normalize, stages.
        """
        return _result(self._ask("/v1/grid.safetensors", spec, keys), self._make).one()

    def positions(self, **keys):
        """
        Result with positions, i64, or f64 where they are no integers. Of attention_mask or ids,
        [tokens] or [batch, tokens], with style ("gpt2", "opt", "roberta", "fairseq", "bart"):
        [batch, tokens], and mask of the same shape; of packed lengths with style: [1, all tokens];
        of grid ("2x3") or segments ("3,2x2,2", or dicts as in JSON) with style="mrope" or the like:
        [axes, tokens]; readouts have rope_delta of segments. Two of these, or none: Problem. Keys:
        padding_idx, merge, patch, coords, grid_order and more.
        """
        answer = self._ask("/v1/positions.safetensors", None, keys, in_body=True)
        return _result(answer, self._make)

    def convert(self, *, x=None, q=None, k=None, **keys):
        """
        Result with y and permutation: x (vectors, or weights whose rows make them) from one pair
        layout to the other, y = numpy.take(x, permutation, axis); of q and k together q_out,
        q_permutation, k_out, k_permutation. Keys: from_ and to ("interleaved" or "half"), axis (-1;
        0 for weights), num_heads, num_kv_heads, rotary_dim, rotary_offset.
        """
        given = {name: a for name, a in (("x", x), ("q", q), ("k", k)) if a is not None}
        make = _maker(next(iter(given.values()))) if given else self._make
        tensors = {name: tensor(value) for name, value in given.items()}
        answer = self._ask("/v1/convert.safetensors", None, keys, tensors, in_body=True)
        return _result(answer, make)

    def identify(self, x, y, **keys):
        """
        Which encoding makes y of x: a dict with confidence ("unique", "ambiguous", "none"), best
        (spec, compact, rms, explains, says), others, ambiguous, advice, conversion. Keys:
        positions, axes ("bhtd", ...), heads, known (part of a spec), search (names of parameters),
        top, dtype (that y was rounded to).
        """
        tensors = {"x": tensor(x), "y": tensor(y)}
        return self._ask("/v1/identify.json", None, keys, tensors, in_body=True).json()

    def from_config(self, config, **keys):
        """
        A model's config.json (a dict, its text, or a pathlib.Path of the file) as encodings. Result
        with inv_freq and band [pairs], or slopes [heads]; of models whose layers differ
        inv_freq_full_attention and the like. `document` has specs (applies_to, spec, compact),
        layers, read, assumed, warnings. Keys: layout, context, layer_type, lenient, dtype, dialect.
        Problem: where the config contradicts itself, or lacks something.
        """
        body = config.read_bytes() if isinstance(config, pathlib.PurePath) else config
        query, _ = _spell(None, keys, False)
        return _result(self.post(f"/v1/from-config.safetensors?{query}", body), self._make)

    def spec(self, spec=None, **keys):
        """A dict: spec with all defaults, compact, spec_id."""
        return self._ask("/v1/spec.json", spec, keys).json()

    # -- Tests

    def compare(self, actual, spec=None, *, expected=None, rtol=None, atol=None, max_ulp=None,
                equal_nan=False, diagnose=True, strict=False, **keys):
        """
        A dict, the report of /v1/compare: pass, mismatched, max_abs, first_mismatch, ...; and of
        what is not close the diagnosis. `expected` is an array, or the path of a GET ("/v1/table?
        ..."); without it what apply() makes of x, q, k or scores (and table, cos, sin), by spec and
        keys, or else table() in the dtype of `actual`. With strict a comparison that fails is a
        Problem, which has the same members.
        """
        actual, parts = tensor(actual), ("x", "q", "k", "scores", "table", "cos", "sin")
        tensors = {name: tensor(keys.pop(name)) for name in parts if keys.get(name) is not None}
        asked = {"rtol": rtol, "atol": atol, "max_ulp": max_ulp, "equal_nan": equal_nan,
                 "diagnose": diagnose, "strict": strict}
        members = {name: value for name, value in asked.items() if value is not None}
        if isinstance(expected, str):
            members["expected"] = {"get": expected}
        elif expected is not None:
            tensors["expected"] = tensor(expected)
        else:
            keys = keys if tensors else {"dtype": actual.dtype, **keys}
            query, lists = _spell(spec, keys, bool(tensors))
            path = f"/v1/{'apply' if tensors else 'table'}?{query}"
            members["expected"] = {"get": path, **lists}
        body = write_safetensors({"actual": actual, **tensors},
                                 {"request": json.dumps(members, allow_nan=False)})
        return self.post("/v1/compare.json", body, SAFETENSORS).json()

    def _accounts(self, actual, **keys):
        """What explains a difference, a line each; none of what the service does not compare."""
        try:
            diagnosis = self.compare(actual, **keys)["diagnosis"]
        except Problem:
            return []
        return [f"{one['says']}{' (' + one['spec'] + ')' if 'spec' in one else ''}"
                for one in diagnosis]

    def assert_close(self, actual, spec=None, *, expected=None, rtol=None, atol=None,
                     equal_nan=False, **keys):
        """
        Raises AssertionError with a report, and with what explains the difference by the diagnosis
        of compare(), unless `actual` is what the service makes of the spec:
        apply() with one of x, q, k, scores, else table() in the dtype of `actual`. `expected` is an
        array to compare with instead. An element passes if |a - e| <= atol + rtol * |e|; defaults
        are those of torch.testing for the coarser of the two dtypes.
        """
        actual = tensor(actual)
        given = {name: tensor(keys.pop(name)) for name in ("x", "q", "k", "scores") if name in keys}
        if len(given) > 1:
            raise TypeError(f"assert_close takes one tensor at a time, not {', '.join(given)}")
        said = "".join(f" {name}={_plain(name, value)}" for name, value in keys.items())
        what = f"{'apply' if given else 'table'} {_compact(spec) if spec else ''}{said[:200]}"
        told = {"spec": spec, **given, **keys}
        if expected is not None:
            expected, what = tensor(expected), "what was expected"
            told = {"expected": expected}
        elif given:
            expected = self.apply(spec, **given, **keys)
        else:
            answer = self._ask("/v1/table.safetensors", spec, {"dtype": actual.dtype, **keys})
            expected = _result(answer, _same).one()
        if not isinstance(expected, Tensor):
            raise TypeError(f"assert_close takes one tensor at a time, {what} has several")
        if actual.shape != expected.shape:
            lines = [f"shape {actual.shape}, expected {expected.shape}"]
        else:
            form = _FORMATS[_coarser(actual, expected)]
            rtol, atol = form.rtol if rtol is None else rtol, form.atol if atol is None else atol
            lines = _report(actual, expected, rtol, atol, equal_nan)
        if lines:
            lines += self._accounts(actual, rtol=rtol, atol=atol, equal_nan=equal_nan, **told)
            raise AssertionError("\n".join([f"not {what}", *lines]))

    def snapshot(self, name, path, folder=None):
        """
        Raises AssertionError unless GET `path` answers with the bytes that the folder (by default
        `snapshots` of this service) keeps as NAME.csv or the like. NAME.pin beside it is JSON with
        path, ETag and SHA-256, for If-Match and pin=. The first run writes both, and so does any
        run with POSENC_UPDATE=1; with CI in the environment a missing snapshot is an error. Paths
        with .csv or .safetensors keep best: later versions may add members to JSON.
        """
        folder = pathlib.Path(folder or self.snapshots)
        pin_file, update = folder / f"{name}.pin", os.environ.get("POSENC_UPDATE") == "1"
        if update or not pin_file.exists():
            if not update and os.environ.get("CI", "") not in ("", "0", "false"):
                raise AssertionError(f"{pin_file} is missing: run the test once and keep its files")
            _keep(folder, name, path, self.get(path))
            return
        pin = json.loads(pin_file.read_text())
        stored = (folder / pin["file"]).read_bytes()
        try:
            answer = self.get(path, {"If-Match": pin["etag"]} if pin["etag"] else None)
        except Problem as problem:
            if problem.status != 412:
                raise
            answer = self.get(path)  # to tell the difference
        if answer.body != stored or path != pin["path"]:
            raise AssertionError("\n".join([
                f"GET {path} is not {folder / pin['file']} (POSENC_UPDATE=1 keeps the new one)",
                *([f"stored for GET {pin['path']}"] if path != pin["path"] else []),
                *(["the file was changed"] if _sha256(stored) != pin["sha256"] else []),
                *([f"the ETag was {pin['etag']}, is {answer.headers.get('ETag')}"]
                  if pin["etag"] != answer.headers.get("ETag") else []),
                *_changes(answer._replace(body=stored), answer)]))


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


def _keep(folder, name, path, answer):
    """Writes the two files of a snapshot."""
    suffixes = {"application/json": "json", "text/csv": "csv", "text/plain": "txt",
                "application/x-npy": "npy", SAFETENSORS: "safetensors"}
    file = f"{name}.{suffixes.get(answer.headers.get_content_type(), 'bin')}"
    pin = {"path": path, "file": file, "etag": answer.headers.get("ETag"),
           "sha256": _sha256(answer.body)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(answer.body)
    (folder / f"{name}.pin").write_text(json.dumps(pin, indent=1) + "\n")


# ---- pytest, and the command line ----------------------------------------------------------------

if "pytest" in sys.modules:
    import pytest

    @pytest.fixture(scope="session")
    def posenc(pytestconfig):
        """A Service for all tests, its snapshots in POSENC_SNAPSHOTS or snapshots/ of the root."""
        folder = os.environ.get("POSENC_SNAPSHOTS") or pytestconfig.rootpath / "snapshots"
        with Service(snapshots=folder) as service:
            yield service


def main(arguments):
    """PATH, or PATH and a JSON body: prints the answer; exit status 0, 22 (4xx) or 70 (5xx)."""
    if len(arguments) not in (1, 2):
        print("usage: posenc.py '/v1/table.txt?kind=rope&dim=8' [BODY]", file=sys.stderr)
        return 2
    try:
        with Service() as service:
            answer = service.get(*arguments) if len(arguments) == 1 else service.post(*arguments)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 22 if problem.status < 500 else 70
    sys.stdout.buffer.write(answer.body)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
