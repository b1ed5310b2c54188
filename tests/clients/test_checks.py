# SPDX-License-Identifier: Apache-2.0
"""test_checks.py: posenc.py in tests: assert_close, snapshot, the fixture for pytest."""

import hashlib
import json
import math
import os
import re
import subprocess
import sys

import numpy
import pytest

import posenc as client
from posenc import Problem, Tensor, tensor

TABLE = "/v1/table.csv?kind=rope&dim=4&positions=0:3"


@pytest.fixture
def service(posenc, tmp_path, monkeypatch):
    """Of the daemon of all tests, with a folder of its own for snapshots, and not in CI."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("POSENC_UPDATE", raising=False)
    return client.Service(posenc.url, snapshots=tmp_path / "kept" / "here")


def refusal(call, *arguments, **keys):
    with pytest.raises(AssertionError) as caught:
        call(*arguments, **keys)
    return str(caught.value).splitlines()


# ---- Test vectors, by their definition -----------------------------------------------------------


def draw(stream, k, seed=0):
    fnv = 0xCBF29CE484222325
    for byte in stream.encode():
        fnv = (fnv ^ byte) * 0x100000001B3 % 2**64
    z = ((seed ^ fnv) + k * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def normal(stream, n):
    return [sum(draw(stream, 12 * i + j) >> 32 for j in range(1, 13)) * 2.0**-32 - 6
            for i in range(n)]


# ---- assert_close --------------------------------------------------------------------------------


def test_report_of_the_documentation(service):
    assert draw("q", 1) == 0xAD76A3077678D994
    q = numpy.array(normal("q", 64), "float32")
    actual = service.apply("rope:dim=64", x=q, positions=5)
    spec = {"kind": "rope", "dim": 64, "layout": "half"}
    lines = refusal(service.assert_close, actual, **spec, positions=5, x=q)
    assert lines == [
        "not apply  kind=rope dim=64 layout=half positions=5",
        "64 of 64 elements differ (rtol 1.3e-06, atol 1e-05)",
        "first: at (0,): 0.7451617121696472, expected -1.6971642971038818",
        "max abs 3.0935447216033936 at (9,): 2.231677770614624, expected -0.8618669509887695",
        lines[4],
        "max ulp 2139462603 of f32 at (34,)",
        "actual equals expected computed with layout=interleaved (rope:dim=64,layout=interleaved)",
    ]
    assert lines[4].startswith("max rel 13.27091703425659 at (14,): ")


def test_mistakes_are_named(service):
    q = numpy.array(normal("q", 2 * 3 * 5 * 8), "float32").reshape(2, 3, 5, 8)
    asked = {"kind": "rope", "dim": 8, "axes": "bhtd", "positions": range(5), "x": q}
    swapped = service.apply("rope:dim=8", axes="bthd", x=q)
    assert "heads and tokens taken for each other" in refusal(
        service.assert_close, swapped, **asked)[-1]
    report = service.compare(q, "rope:dim=8", axes="bhtd", x=q)
    assert not report["pass"]
    assert "nothing was encoded" in report["diagnosis"][0]["says"]
    right = service.apply("rope:dim=8", axes="bhtd", x=q)
    assert service.compare(right, **asked)["max_abs"]["value"] == 0
    table = "/v1/table?kind=sinusoidal&dim=4&positions=0:9"
    later = service.table("sinusoidal:dim=4", positions=range(1, 10))
    assert "shift=1" in service.compare(later, expected=table)["diagnosis"][0]["says"]
    with pytest.raises(Problem) as caught:
        service.compare([1.0], expected=[2.0], strict=True)
    assert caught.value.status == 422


def test_what_is_close(service):
    x = numpy.array(normal("x", 32)).reshape(4, 8)
    turned = numpy.empty_like(x)
    for p in range(4):
        for i in range(4):
            t = (p + 10) * 10000 ** (-2 * i / 8)
            a, b = x[p, i], x[p, i + 4]
            turned[p, i] = a * math.cos(t) - b * math.sin(t)
            turned[p, i + 4] = a * math.sin(t) + b * math.cos(t)
    spec = {"kind": "rope", "layout": "half"}
    service.assert_close(turned, spec, positions=range(10, 14), x=x)
    service.assert_close(turned.tolist(), "rope:dim=8,layout=half", positions=[10, 11, 12, 13], x=x)
    service.assert_close(turned.astype("float32"), **spec, x=x, positions="10:14")
    service.assert_close(x, spec, positions="10:14", x=turned, inverse=True)
    lines = refusal(service.assert_close, turned, spec, positions="10:14", x=x, rtol=0, atol=0)
    assert "(rtol 0, atol 0)" in lines[1]
    near = refusal(service.assert_close, [1 + 2**-50], expected=[1], rtol=0, atol=0)
    assert near[-1] == "max ulp 4 of f64 at (0,): rounding may explain it"
    assert "not apply rope:layout=half positions=10:14" == lines[0]


def test_tables(service):
    half = [[f(p * 100 ** (-2 * i / 4)) for i in range(2) for f in (math.sin, math.cos)]
            for p in range(5)]
    service.assert_close(half, "sinusoidal:dim=4,base=100", positions=range(5))
    coarse = tensor(half, "bf16")
    service.assert_close(coarse, "sinusoidal:dim=4,base=100", positions=range(5), rtol=0, atol=0)
    half[3][1] += 0.25
    lines = refusal(service.assert_close, half, "sinusoidal:dim=4,base=100", positions=range(5))
    assert lines[:2] == ["not table sinusoidal:dim=4,base=100 positions=0:5",
                         "1 of 20 elements differ (rtol 1e-07, atol 1e-07)"]
    assert lines[2].startswith("first: at (3, 1): ")
    assert lines[3].startswith("max abs 0.25 at (3, 1): ")


def test_scores_are_compared_too(service):
    biased = [[[0, -0.5], [-0.5, 0]]]
    service.assert_close(biased, "alibi:slope=0.5", scores=numpy.zeros((1, 2, 2)))


# dtypes of the two, distance from 1, whether that is close: the tolerances of torch.testing.
@pytest.mark.parametrize("a, b, apart, close", [
    ("f64", "f64", 1.9e-7, True), ("f64", "f64", 2.1e-7, False), ("f32", "f64", 1.1e-5, True),
    ("f64", "f32", 1.2e-5, False), ("f16", "f32", 2**-10, True), ("f16", "f16", 2**-9, False),
    ("bf16", "f16", 2**-6, True), ("f16", "bf16", 2**-5, False),
])
def test_the_coarser_dtype_decides(service, a, b, apart, close):
    actual, expected = tensor([1, 1 + apart], a), tensor([1, 1], b)
    if close:
        service.assert_close(actual, expected=expected)
    else:
        lines = refusal(service.assert_close, actual, expected=expected)
        assert lines[1].startswith("1 of 2 elements differ (rtol")


@pytest.mark.parametrize("a, e, close", [
    (math.inf, math.inf, True), (math.inf, -math.inf, False), (1, math.inf, False),
    (math.inf, 1, False), (math.nan, math.nan, False), (math.nan, 1, False), (1, math.nan, False),
    (0.0, -0.0, True),
])
def test_special_values(service, a, e, close):
    if close:
        service.assert_close([a], expected=[e])
    else:
        lines = refusal(service.assert_close, [a], expected=[e])
        assert lines[:3] == [
            "not what was expected", "1 of 1 elements differ (rtol 1e-07, atol 1e-07)",
            f"first: at (0,): {float(a)!r}, expected {float(e)!r}"]
        assert lines[3:4] in ([], ["actual equals expected with the other sign"])
    service.assert_close([math.nan, 1], expected=[math.nan, 1], equal_nan=True)


def test_what_cannot_be_compared(service):
    lines = refusal(service.assert_close, [[1, 2]], expected=[1, 2])
    assert lines == [
        "not what was expected", "shape (1, 2), expected (2,)",
        "actual equals expected in another shape, the same elements in the same order"]
    with pytest.raises(TypeError, match="one tensor at a time, not q, k"):
        service.assert_close([1], "rope", q=[1, 2], k=[1, 2])
    with pytest.raises(TypeError, match="table rope value=both has several"):
        service.assert_close([1], "rope", value="both")
    with pytest.raises(Problem):
        service.assert_close([1], "rope:dim=3", x=[1, 2, 3])
    # Too large for the coarser dtype: no count of units in the last place.
    lines = refusal(service.assert_close, [1e300], expected=tensor([1], "f32"))
    assert lines[-1].startswith("max rel")


@pytest.mark.parametrize("dtype, low, high, steps", [
    ("f64", 1, 1 + 2**-52, 1), ("f32", -(2**-149), 2**-149, 2), ("f16", 0.0, -0.0, 0),
    ("bf16", 1, 1.015625, 2), ("f16", -1, 1, 2 * 15 * 2**10), ("i64", -3, 4, 7),
])
def test_units_in_the_last_place(dtype, low, high, steps):
    a, b = client._steps([low, high], dtype)
    assert abs(a - b) == steps


# ---- Snapshots -----------------------------------------------------------------------------------


def test_snapshot_is_kept_and_compared(service):
    service.snapshot("rope", TABLE)
    stored = service.snapshots / "rope.csv"
    answer = service.get(TABLE)
    assert stored.read_bytes() == answer.body
    pin = json.loads((service.snapshots / "rope.pin").read_text())
    digest, etag = hashlib.sha256(answer.body).hexdigest(), answer.headers["ETag"]
    assert pin == {"path": TABLE, "file": "rope.csv", "etag": etag, "sha256": digest}
    assert service.get(f"{TABLE}&pin={digest[:16]}").body == answer.body
    service.snapshot("rope", TABLE)
    service.snapshot("rope", TABLE, folder=service.snapshots)
    assert sorted(file.name for file in service.snapshots.iterdir()) == ["rope.csv", "rope.pin"]


def test_snapshot_that_differs(service, monkeypatch):
    service.snapshot("rope", TABLE)
    stored = service.snapshots / "rope.csv"
    good = stored.read_text()
    stored.write_text(good.replace("\n1,0.54", "\n1,0.55"))
    lines = refusal(service.snapshot, "rope", TABLE)
    assert lines[:2] == [f"GET {TABLE} is not {stored} (POSENC_UPDATE=1 keeps the new one)",
                         "the file was changed"]
    assert re.fullmatch(r"line 3: b'1,0\.54.*, stored b'1,0\.55.*", lines[2]) and len(lines) == 3
    monkeypatch.setenv("POSENC_UPDATE", "1")
    service.snapshot("rope", TABLE)
    assert stored.read_text() == good
    monkeypatch.delenv("POSENC_UPDATE")
    service.snapshot("rope", TABLE)


def test_snapshot_of_another_request(service):
    service.snapshot("rope", TABLE)
    lines = refusal(service.snapshot, "rope", TABLE + "&dtype=f32")
    assert lines[1] == f"stored for GET {TABLE}"
    assert lines[2].startswith('the ETag was "1-') and lines[3].startswith("line 3: ")


def test_snapshot_with_another_tag_but_the_same_bytes(service):
    service.snapshot("rope", TABLE)
    file = service.snapshots / "rope.pin"
    file.write_text(file.read_text().replace('"1-', '"0-').replace('\\"1-', '\\"0-'))
    assert '0-' in json.loads(file.read_text())["etag"]
    service.snapshot("rope", TABLE)


@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_snapshot_of_tensors_tells_where(service, suffix):
    path = f"/v1/frequencies.{suffix}?kind=rope&dim=8"
    service.snapshot("f", path)
    stored = service.snapshots / f"f.{suffix}"
    result = client._result(service.get(path), lambda made: made)
    other = list(result["wavelength"].values())
    other[2] += 1
    changed = Tensor("f64", (4,), client._pack(other, "f64"))
    if suffix == "json":
        stored.write_text(stored.read_text().replace(repr(other[2] - 1), repr(other[2])))
    else:
        metadata = client.read_safetensors(stored.read_bytes())[1]
        tensors = {**result, "wavelength": changed}
        del tensors["turns"]
        stored.write_bytes(client.write_safetensors(tensors, {**metadata, "semantics": "0"}))
    lines = refusal(service.snapshot, "f", path)[2:]
    expected = result["wavelength"].values()[2]
    assert lines[:2] == ["wavelength: 1 of 4 elements differ (rtol 0, atol 0)",
                         f"wavelength: first: at (2,): {expected!r}, expected {other[2]!r}"]
    if suffix == "safetensors":
        assert lines[-2:] == ["turns: ('f64', (4,)), stored None", "not the same: semantics"]


def test_snapshot_in_ci(service, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert refusal(service.snapshot, "rope", TABLE) == [
        f"{service.snapshots / 'rope.pin'} is missing: run the test once and keep its files"]
    assert not service.snapshots.exists()
    monkeypatch.setenv("POSENC_UPDATE", "1")
    service.snapshot("rope", TABLE)
    monkeypatch.delenv("POSENC_UPDATE")
    service.snapshot("rope", TABLE)
    with pytest.raises(Problem):
        monkeypatch.setenv("CI", "false")
        service.snapshot("other", "/v1/table.csv?kind=rop")


# ---- The fixture ---------------------------------------------------------------------------------

SAMPLE = '''
def test_rope(posenc):
    y = posenc.apply("rope:dim=4", x=[[1, 2, 3, 4]])
    posenc.assert_close(y, kind="rope", dim=4, x=[[1, 2, 3, 4]])
    posenc.snapshot("rope", "/v1/table.csv?kind=rope&dim=4")


def test_one_daemon_for_all(posenc):
    with open("urls", "a") as file:
        print(posenc.url, file=file)
'''


@pytest.mark.parametrize("way", ["plugin", "import"])
def test_fixture(tmp_path, way):
    if way == "plugin":
        (tmp_path / "conftest.py").write_text('pytest_plugins = ["posenc"]\n')
    first = "from posenc import posenc\n\n" if way == "import" else ""
    (tmp_path / "test_a.py").write_text(first + SAMPLE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    quiet = {name: os.environ[name] for name in os.environ if name != "CI"}

    def run(**environment):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        return subprocess.run(command, cwd=tmp_path, env={**quiet, **environment}, timeout=120,
                              capture_output=True, text=True)

    for _ in range(2):
        good = run()
        assert good.returncode == 0 and "2 passed" in good.stdout, good.stdout
    assert (tmp_path / "snapshots" / "rope.csv").exists()
    bad = run(POSENC_SNAPSHOTS=str(tmp_path / "x"), CI="1")
    assert bad.returncode == 1 and "rope.pin is missing" in bad.stdout
    assert len(set((tmp_path / "urls").read_text().split())) == 3  # daemons, of three runs
