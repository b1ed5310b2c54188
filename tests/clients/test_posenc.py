# SPDX-License-Identifier: Apache-2.0
"""test_posenc.py: what posenc.py computes, with the daemon: every method, every dtype and array."""

import array
import json
import math
import struct

import numpy
import pytest

import posenc as client
from posenc import Problem, Tensor, tensor

DTYPES = ("f64", "f32", "f16", "bf16")
NUMPY = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "float32"}


@pytest.fixture(scope="session")
def exact(posenc):
    """The same service, with answers as Tensor."""
    return client.Service(posenc.url, arrays="tensor")


def floats(lists):
    """Nested lists rounded to float32."""
    return numpy.array(lists, "float32").tolist()


# ---- Numbers -------------------------------------------------------------------------------------


def test_lists_are_rounded_once():
    assert tensor([[1, 2], [3, 4.5]]) == Tensor("f64", (2, 2), struct.pack("<4d", 1, 2, 3, 4.5))
    assert tensor(7.25, "f16") == Tensor("f16", (), struct.pack("<e", 7.25))
    assert tensor([], "f32") == Tensor("f32", (0,), b"")
    assert tensor([[], []]).shape == (2, 0)
    assert tensor(range(3), "i64").values() == (0, 1, 2)
    assert tensor([numpy.float32(0.1), True]).values() == (numpy.float32(0.1), 1)


def test_bf16_is_the_nearest_with_ties_to_even():
    # By the definition: a bf16 is a float32 without its lower half; 1 is the least subnormal.
    def value(bits):
        return struct.unpack("<f", struct.pack("<HH", 0, bits))[0]

    assert value(1) == 2.0**-133
    for bits in (0, 1, 2, 0x7E, 0x7F, 0x80, 0x3F7F, 0x3F80, 0x3F81, 0x7F7D, 0x7F7E):
        low, high = value(bits), value(bits + 1)
        middle = (low + high) / 2
        given = (low, math.nextafter(middle, 0), middle, math.nextafter(middle, math.inf), high)
        nearest = (low, low, high if bits % 2 else low, high, high)
        assert tensor(given, "bf16").values() == nearest
        assert tensor([-x for x in given], "bf16").values() == tuple(-x for x in nearest)


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values_survive(dtype):
    values = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, -2.0)
    back = tensor(values, dtype).values()
    assert [math.copysign(1, x) for x in back[:4]] == [1, -1, 1, -1]
    assert back[:4] == values[:4] and math.isnan(back[4]) and back[5:] == values[5:]
    if dtype != "f64":
        with pytest.raises(OverflowError):
            tensor([1e300], dtype)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0), (0, 3), (2, 3), (2, 1, 3), (2, 2, 1, 2)])
def test_nested_lists_and_arrays_are_the_same(shape):
    array = numpy.arange(math.prod(shape), dtype="float64").reshape(shape)
    assert tensor(array) == tensor(array.tolist()) or 0 in shape
    assert tensor(array).tolist() == array.tolist()
    again = client._to_numpy(tensor(array))
    assert again.shape == shape and again.dtype == array.dtype and (again == array).all()


def test_arrays_of_any_order():
    array = numpy.arange(6, dtype="float32").reshape(2, 3)
    for same in (array.astype(">f4"), numpy.asfortranarray(array), array[:, ::-1][:, ::-1]):
        assert tensor(same) == tensor(array)


@pytest.mark.parametrize("value, dtype, error", [
    ([[1], [2, 3]], None, ValueError),
    ([[1, 2], 3], None, ValueError),
    ([1, [2]], None, ValueError),
    (["1"], None, ValueError),
    (numpy.zeros(2, "int32"), None, TypeError),
    (numpy.zeros(2, "complex64"), None, TypeError),
    (numpy.zeros(2, "float32"), "f64", TypeError),
    ([1], "f8", TypeError),
])
def test_what_is_no_tensor(value, dtype, error):
    with pytest.raises(error):
        tensor(value, dtype)


# ---- safetensors ---------------------------------------------------------------------------------


def test_safetensors_as_the_format_is_described():
    # The length of the header, the header, the bytes in its order.
    header = (b'{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},'
              b'"n":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}}')
    header += b" " * (-len(header) % 8)
    data = struct.pack("<2f", 1.5, -2) + b"\x80\x3f"
    file = struct.pack("<Q", len(header)) + header + data
    tensors = {"x": Tensor("f32", (1, 2), data[:8]), "n": Tensor("bf16", (), data[8:])}
    assert client.write_safetensors(tensors, {"a": "b"}) == file
    assert client.read_safetensors(file) == (tensors, {"a": "b"})
    assert client.read_safetensors(file)[0]["n"].tolist() == 1


@pytest.mark.parametrize("dtype", [*DTYPES, "i64"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 2), (2, 2)])
def test_safetensors_there_and_back(dtype, shape):
    made = Tensor(dtype, shape, client._pack(range(math.prod(shape)), dtype))
    assert client.read_safetensors(client.write_safetensors({"é": made})) == ({"é": made}, {})


def test_malformed_safetensors():
    good = client.write_safetensors({"x": tensor([1, 2], "f32")})
    for bad in (b"", good[:7], good[:20], good[:-1], good.replace(b"F32", b"F64"),
                good.replace(b"F32", b"I32"), good.replace(b"[0,8]", b"[0,9]"),
                good.replace(b"{", b"[")):
        with pytest.raises(ValueError):
            client.read_safetensors(bad)


# ---- What is computed ----------------------------------------------------------------------------


def test_apply_of_the_documentation(posenc):
    x = numpy.array([[1, 2, 3, 4]], "float32")
    half = posenc.apply("rope:dim=4,layout=half", x=x, positions=[1])
    assert half.dtype == x.dtype and half.shape == x.shape
    assert half.tolist() == floats([[-1.9841106, 1.9599006, 2.4623778, 4.0197997]])
    for spec in ("rope:dim=4", {"kind": "rope", "dim": 4}, {"kind": "rope"}):
        y = posenc.apply(spec, x=x, positions=[1])
        assert y.tolist() == floats([[-1.1426396, 1.9220756, 2.9598505, 4.0297995]])
    assert (posenc.apply(kind="rope", dim=4, x=x, positions="1") == y).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_apply_gives_what_came_in(posenc, dtype):
    given = tensor([[1, 2, 3, 4], [0.5, -1, 0, 2]], dtype)
    body = {"spec": "rope:dim=4", "x": {"dtype": dtype, "data": given.tolist()}}
    entry = posenc.post("/v1/apply.json", body).json()["tensors"]["y"]
    expected = Tensor(entry["dtype"], (2, 4), client._pack(sum(entry["data"], []), dtype))
    assert posenc.apply("rope:dim=4", x=given) == expected
    if dtype != "bf16":
        array = posenc.apply("rope:dim=4", x=numpy.array(given.tolist(), NUMPY[dtype]))
        assert array.dtype == NUMPY[dtype] and tensor(array) == expected
    lists = posenc.apply("rope:dim=4", x=given.tolist(), dtype=dtype)
    assert isinstance(lists, list) and numpy.allclose(lists, expected.tolist(), rtol=0.05)


def test_apply_several(posenc):
    q, k = numpy.ones((1, 2, 3, 4)), numpy.full((1, 1, 3, 4), 2.0)
    q_out, k_out = posenc.apply("rope:dim=4", q=q, k=k, axes="bhtd", positions=[5, 6, 9],
                                k_positions=range(3))
    assert q_out.shape == q.shape and k_out.shape == k.shape
    assert (q_out == posenc.apply("rope:dim=4", x=q, axes="bhtd", positions=[5, 6, 9])).all()
    assert (k_out == posenc.apply("rope:dim=4", x=k, axes="bhtd")).all()
    back = posenc.apply("rope:dim=4", x=q_out, axes="bhtd", positions=[5, 6, 9], inverse=True)
    assert numpy.allclose(back, q, rtol=1e-14)
    batches = posenc.apply("rope:dim=4", x=numpy.ones((2, 1, 2, 4)), axes="bhtd",
                           positions=[[0, 1], [7, 3]])
    assert (batches[1, 0, 0] == posenc.apply("rope:dim=4", x=numpy.ones(4), positions=7)).all()


def test_apply_other_kinds(posenc):
    scores = numpy.zeros((2, 3, 3))
    bias = posenc.apply("alibi:heads=2", scores=scores)
    assert bias.shape == (2, 3, 3) and bias[0, 2, 0] == -2 * 2**-4 and bias[1, 0, 1] == -(2**-8)
    own = numpy.array([[1.0, 2.0], [3.0, 4.0]])
    y = posenc.apply("learned:dim=2,rows=2", x=numpy.full((2, 2), 0.5), table=own)
    assert y.tolist() == [[1.5, 2.5], [3.5, 4.5]]
    grid = posenc.apply("rope2d:dim=8", x=numpy.ones((4, 8)), grid="2x2")
    axes = {"axes": [[0, 0, 1, 1], numpy.array([0, 1, 0, 1])]}
    assert (grid == posenc.apply("rope2d:dim=8", x=numpy.ones((4, 8)), positions=axes)).all()
    diagonal = posenc.table("rope2d:dim=8", positions={"axes": [range(4), range(4)]})
    assert (diagonal == posenc.table("rope2d:dim=8", positions="0, 1, 2, 3; 0:4")).all()


def test_test_vectors(posenc):
    x, y = posenc.apply("rope:dim=4", shape=[2, 3, 4], axes="htd", seed=7)
    assert x.shape == y.shape == (2, 3, 4)
    assert (posenc.apply("rope:dim=4", x=x, axes="htd") == y).all()


def test_further_tensors(posenc):
    x = numpy.array([[1, 2, 3, 4]], "float32")
    turned = posenc.apply("rope:dim=4", x=x, positions=[8], with_=["cos", "axis"], width="tiled")
    assert sorted(turned) == ["axis", "cos", "y"]
    assert turned["y"].dtype == numpy.float32 and turned["axis"].tolist() == [0, 0]
    assert numpy.allclose(turned["cos"], numpy.cos([[8, 0.08, 8, 0.08]]), rtol=0, atol=1e-15)
    packed = posenc.table("rope:dim=4", positions=[8], pack="cos_sin", with_=["inv_freq"])
    assert packed["inv_freq"].tolist() == [1, 0.01] and packed["table"].shape == (1, 4)


def test_own_cos_and_sin(posenc):
    keys = {"x": [[1, 2, 3, 4]], "cos": [[1, 1], [0.5, 1]], "sin": [[0, 0], [0.5, 0.25]]}
    y = posenc.apply("rope:dim=4,layout=half", positions=[1], **keys)
    assert numpy.array(y).tolist() == [[-1, 1, 2, 4.5]]


def test_table_of_the_documentation(posenc):
    table = posenc.table("sinusoidal:dim=8", positions=range(3), dtype="f32")
    row = [0.84147096, 0.5403023, 0.099833414, 0.9950042, 0.009999833, 0.99995, 0.0009999998,
           0.9999995]
    assert table.dtype == "float32" and table.shape == (3, 8)
    assert table[1].tolist() == floats(row)
    cos, sin = posenc.table("rope:dim=4", positions=[0, 1, 5], value="both", width="full")
    assert cos.shape == sin.shape == (3, 4)
    assert abs(cos[2, 2] - math.cos(5 * 0.01)) < 1e-15 and abs(sin[1, 0] - math.sin(1)) < 1e-15


POSITIONS = [
    "0:4", range(4), [0, 1, 2, 3], (0, 1, 2, 3), numpy.arange(4), numpy.arange(4.0),
    array.array("i", range(4)), tensor(range(4)),
]


@pytest.mark.parametrize("positions", POSITIONS, ids=repr)
def test_spellings_of_positions(exact, positions):
    query = exact.get("/v1/table.json?kind=rope&dim=4&positions=0,1,2,3&dtype=f32").json()
    table = exact.table("rope:dim=4", positions=positions, dtype="f32")
    assert table.tolist() == floats(query["tensors"]["table"]["data"])
    x = tensor([[1, 2, 3, 4]] * 4)
    assert exact.apply("rope:dim=4", x=x, positions=positions) == exact.apply("rope:dim=4", x=x)


@pytest.mark.parametrize("given, plain", [
    (range(0, 10, 5), [0, 5]), (range(2, 9, 3), "2:9:3"), (range(3, 0, -1), [3, 2, 1]),
    ([1, 2], [1, 2]), ([1, 2, 4], [1, 2, 4]), ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]), (7, 7),
    ([[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]), ("2^0:2^3", "2^0:2^3"), ([], []),
    ({"axes": [range(3), numpy.array([1, 1, 2])]}, {"axes": [[0, 1, 2], [1, 1, 2]]}),
    ([True] * 3, [True] * 3),
])
def test_short_ways_to_say_lists(given, plain):
    assert client._plain("positions", given) == plain


def test_lists_of_lists_are_not_flattened(posenc):
    with pytest.raises(ValueError, match="no place in a URL"):
        posenc.table("rope:dim=4", positions=[[0, 1], [7, 3]])
    with pytest.raises(AssertionError, match=r"not apply rope axes=btd positions=\[\[0, 1\]\]"):
        posenc.assert_close([[[0, 0], [0, 0]]], "rope", axes="btd", positions=[[0, 1]],
                            x=[[[1, 2], [3, 4]]])


def test_a_list_that_is_no_place_stays_one():
    assert client._plain("shape", [2, 3, 4]) == [2, 3, 4]


def test_lists_in_specs(posenc):
    text, keys = "alibi:slopes=0.5+0.125", {"kind": "alibi", "slopes": numpy.array([0.5, 0.125])}
    specs = [text, keys, {**keys, "slopes": (0.5, 0.125)}]
    ids = {posenc.spec(one)["spec_id"] for one in specs}
    assert ids == {posenc.spec(**keys)["spec_id"]}
    scores = numpy.zeros((2, 3, 3))
    bias = posenc.apply(text, scores=scores)
    assert bias[:, 0].tolist() == [[0, -0.5, -1], [0, -0.125, -0.25]]
    assert (bias == posenc.apply(scores=scores, **keys)).all()
    assert (bias == posenc.table(text, positions=range(3))).all()


def test_frequencies(posenc):
    result = posenc.frequencies("rope:dim=8,base=100,scaling=linear,factor=4")
    assert list(result) == ["inv_freq", "base_inv_freq", "wavelength", "turns", "band"]
    for i in range(4):
        w = 100 ** (-2 * i / 8)
        expected = [w / 4, w, 2 * math.pi / (w / 4), 2048 / (2 * math.pi / (w / 4))]
        got = [result[name][i] for name in list(result)[:4]]
        assert all(abs(a / e - 1) < 1e-15 for a, e in zip(got, expected))
    assert result["band"].dtype == "int64" and result["band"].tolist() == [2] * 4
    assert result.readouts["divided"] == 4 and result.spec["factor"] == 4
    assert result.spec_id == posenc.spec(result.spec)["spec_id"]


def test_rotation(posenc):
    result = posenc.rotation(kind="rope", dim=8, positions=[3, 1000], pairs=[0, 2])
    assert {name: array.shape for name, array in result.items()} == {
        name: (2, 2) for name in ("angle", "cos", "sin")}
    for i, p in enumerate((3, 1000)):
        for j, pair in enumerate((0, 2)):
            angle = p * 10000 ** (-2 * pair / 8)
            assert abs(result["angle"][i, j] / angle - 1) < 4e-16
            assert abs(result["cos"][i, j] - math.cos(angle)) < 2e-13
    assert result.params["positions"] == [3, 1000]


def test_precision(posenc):
    result = posenc.precision("rope:dim=64", positions=[16, 4095], stages="freq:bf16;pos:bf16")
    assert [[round(float(error), 4) for error in row] for row in result["max_abs_error"]] == [
        [0.0059, 0.5944], [0, 0.87]]
    assert result["rms_error"].shape == (2, 2) and result["worst_pair"].dtype == "int64"
    assert [one["first_collision"] for one in result.readouts["pipelines"]] == [None, 256]


def test_properties(posenc):
    result = posenc.properties("alibi:slope=0.5", positions=range(8))
    assert result["decay"].tolist() == [-0.5 * distance for distance in range(8)]
    assert result.readouts["relative"]["holds"] is True
    assert result.readouts["linear_shift"]["holds"] is None
    assert result.readouts["decay"]["slope_per_position"] == -0.5


def test_scores_of_the_documentation(posenc):
    specs = ["rope", {"kind": "rope", "layout": "half"}, "sinusoidal", "alibi:slope=0.5", "none"]
    expected = [14.055542885604706, 9.6262102564697299, 30.154414820848432, 15.5, 0]
    results = posenc.scores(specs)
    assert [result.readouts["range"]["overall"] for result in results] == expected
    assert [result["scores"].shape for result in results] == [(3, 32)] * 5
    one = posenc.scores("sinusoidal:dim=64", offsets=range(3))
    assert one["scores"].tolist()[2] == [41.111518060946671, 40.496675767563618, 37.109786011145474]
    assert one.readouts["spread"]["max"] == 10.173739208838439 and not one.readouts["relative"]


def test_attention_without_an_order(posenc):
    labels = ["the", "dog", "chased", "another", "dog"]
    result = posenc.attention("none", labels=labels)
    assert result["output"][1].tolist() == result["output"][4].tolist()
    assert result.readouts["equivariance"]["max_abs"] == 0
    result = posenc.attention("rope", labels=labels, compare="sinusoidal")
    assert result.readouts["equal_labels"][0]["max_abs"] > 0
    assert numpy.allclose(result["weights"].sum(axis=1), 1)
    x = numpy.array([[1.0, 0.0], [0.0, 2.0]])
    result = posenc.attention("none", x=x, scale="none", permutation=[1, 0])
    row = numpy.exp([1.0, 0.0]) / (math.e + 1)
    assert numpy.allclose(result["weights"][0], row) and numpy.allclose(result["output"][0], row @ x)
    result = posenc.attention("alibi:slope=0.5", scores=[[1.0, 2.0], [0.0, 1.0]], causal=True)
    assert result["weights"].tolist()[0] == [1, 0]
    with pytest.raises(Problem, match="q, k and v"):
        posenc.attention("none", q=x, k=x)


def test_similarity(posenc):
    found = posenc.similarity("sinusoidal:dim=64", positions=range(3))
    assert found.tolist()[0] == [32, 30.916831661619025, 28.303862004129687]
    found = posenc.grid("rope2d:dim=8", grid="2x3", query=[0, 2])
    assert found.shape == (2, 3) and found[0, 2] == 1 and found[0, 0] < found[0, 1]


def test_scores_of_own_vectors(posenc):
    q, k = [1.0, 2.0], numpy.array([3.0, -1.0])
    result = posenc.scores("rope:dim=2", q=q, k=k, anchors=[0], offsets=[0, 1])
    # The key is turned by one radian: q.k there is (3c + s) + 2 (3s - c).
    turned = math.cos(1) * (3 - 2) + math.sin(1) * (1 + 6)
    assert result["scores"][0, 0] == 1 and abs(result["scores"][0, 1] - turned) < 1e-15


def test_scores_of_two_encodings(posenc):
    q, k = [1.0, 2.0], [3.0, -1.0]
    own = {"q": "rope:dim=2", "k": {"kind": "rope", "dim": 2, "scaling": "linear", "factor": 2}}
    keys = {"specs": own, "anchors": [4], "offsets": [0, 1, 2]}
    result = posenc.scores(q=q, k=k, **keys)
    for offset, score in enumerate(result["scores"][0]):
        turn = (4 + offset) / 2 - 4  # of the key against the query
        expected = math.cos(turn) * (3 - 2) + math.sin(turn) * (1 + 6)
        assert abs(score - expected) < 1e-14
    assert result.document["specs"]["k"]["factor"] == 2 and result.spec is None
    assert posenc.scores(**keys)["scores"].shape == (1, 3)  # of drawn vectors
    q_out, k_out = posenc.apply(specs=own, q=[[1.0, 2.0]], k=[[1.0, 2.0]], positions=[4])
    assert numpy.allclose(q_out, [[math.cos(4) - 2 * math.sin(4), math.sin(4) + 2 * math.cos(4)]])
    assert numpy.allclose(k_out, [[math.cos(2) - 2 * math.sin(2), math.sin(2) + 2 * math.cos(2)]])
    with pytest.raises(Problem, match="/specs"):
        posenc.scores(specs={"q": "rope:dim=2"})
    with pytest.raises(Problem, match="/spec"):
        posenc.scores("rope:dim=2", **keys)


@pytest.mark.parametrize("ids", [
    [[1, 1, 7, 8], [5, 6, 7, 8]], numpy.array([[1, 1, 7, 8], [5, 6, 7, 8]]),
    tensor([[1, 1, 7, 8], [5, 6, 7, 8]], "i64"), "1,1,7,8;5,6,7,8",
], ids=lambda ids: type(ids).__name__)
def test_positions_of_tokens(posenc, ids):
    result = posenc.positions(ids=ids, style="roberta")
    assert result["positions"].dtype == "int64"  # behind padding_idx, 1
    assert result["positions"].tolist() == [[1, 1, 2, 3], [2, 3, 4, 5]]
    assert result["mask"].tolist() == [[0, 0, 1, 1], [1, 1, 1, 1]]
    for mask in (result["mask"], result["mask"] == 1):
        masked = posenc.positions(attention_mask=mask, style="gpt2")["positions"]
        assert masked.tolist() == [[0, 0, 0, 1], [0, 1, 2, 3]]


def test_positions_of_other_things(posenc):
    packed = posenc.positions(lengths=[3, 2], style="bart")
    assert list(packed) == ["positions"] and packed["positions"].tolist() == [[2, 3, 4, 2, 3]]
    assert posenc.positions(grid="2x2")["positions"].tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
    centred = posenc.positions(grid="1x2", coords="center")["positions"]
    assert centred.dtype == "float64" and centred.tolist() == [[0, 0], [-0.5, 0.5]]
    segments = [{"text": 2}, {"grid": [1, 2, 2]}, {"text": 1}]
    for given in (segments, "2,2x2,1"):
        text = posenc.positions(segments=given, style="mrope", merge=1)
        assert text["positions"].tolist() == [[0, 1, 2, 2, 2, 2, 4], [0, 1, 2, 2, 3, 3, 4],
                                              [0, 1, 2, 3, 2, 3, 4]]
        assert text.readouts == {"rope_delta": -2}
    for keys in ({}, {"ids": [1], "grid": "2x2"}, {"ids": [1]}):
        with pytest.raises(Problem):
            posenc.positions(**keys)


def as_transformers(w, heads):
    """permute() of convert_llama_weights_to_hf.py."""
    dim1, dim2 = w.shape
    return w.reshape(heads, dim1 // heads // 2, 2, dim2).transpose(0, 2, 1, 3).reshape(dim1, dim2)


def test_convert(posenc):
    q = numpy.arange(64 * 6, dtype="float32").reshape(64, 6)
    k = numpy.arange(32 * 6, dtype="float32").reshape(32, 6)
    keys = {"from_": "interleaved", "to": "half", "axis": 0, "num_heads": 4, "num_kv_heads": 2}
    both = posenc.convert(q=q, k=k, **keys)
    assert (both["q_out"] == as_transformers(q, 4)).all() and both["q_out"].dtype == q.dtype
    assert (both["k_out"] == as_transformers(k, 2)).all()
    back = {"from_": "half", "to": "interleaved", "axis": 0}
    assert (posenc.convert(x=both["k_out"], num_kv_heads=2, **back)["y"] == k).all()
    x = numpy.random.default_rng(0).standard_normal((2, 3, 16)).astype("float16")
    one = posenc.convert(x=x, from_="half", to="interleaved", rotary_dim=8)
    assert (one["y"] == numpy.take(x, one["permutation"], axis=-1)).all()
    assert (one["y"][..., 8:] == x[..., 8:]).all() and not (one["y"] == x).all()
    turned = posenc.apply("rope:dim=16,rotary_dim=8", x=one["y"], axes="btd", positions="7:10")
    there = posenc.apply("rope:dim=16,rotary_dim=8,layout=half", x=x, axes="btd", positions="7:10")
    assert (turned == numpy.take(there, one["permutation"], axis=-1)).all()
    with pytest.raises(Problem, match="num_heads is missing"):
        posenc.convert(x=q, from_="half", to="interleaved", axis=0)


def test_from_config(posenc, tmp_path):
    config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4,
              "rope_scaling": {"rope_type": "linear", "factor": 4}}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    for given in (config, json.dumps(config), file):
        result = posenc.from_config(given)
        assert numpy.allclose(result["inv_freq"] * 4, [1, 0.1, 0.01, 0.001], rtol=1e-15, atol=0)
        assert result["band"].tolist() == [2] * 4 and result.readouts["divided"] == 4
        one, = result.document["specs"]
        assert one["compact"] == "rope:dim=8,layout=half,scaling=linear,factor=4"
        assert {"pointer": "/head_dim", "as": "dim=8"} in result.document["read"]
        assert [assumed["key"] for assumed in result.document["assumed"]] == ["layout"]
        assert result.document["warnings"] == []
    other = posenc.from_config(config, layout="interleaved", dtype="f32")
    assert other.document["specs"][0]["spec"]["layout"] == "interleaved"
    assert other["inv_freq"].dtype == "float32"


def test_from_config_of_other_models(posenc):
    mixed = posenc.from_config({"model_type": "gemma3_text", "num_hidden_layers": 6})
    assert list(mixed)[::2] == ["inv_freq_full_attention", "inv_freq_sliding_attention"]
    assert [layer["spec"] for layer in mixed.document["layers"]] == [1, 1, 1, 1, 1, 0]
    bloom = posenc.from_config({"model_type": "bloom", "n_head": 2})
    assert bloom["slopes"].tolist() == [2**-4, 2**-8]
    learned = posenc.from_config({"model_type": "gpt2", "n_embd": 8, "n_positions": 32})
    assert not learned and learned.document["specs"][0]["compact"] == "learned:dim=8,rows=32"
    with pytest.raises(Problem, match="/rope_scaling/facto"):
        posenc.from_config({"model_type": "llama", "head_dim": 8,
                            "rope_scaling": {"rope_type": "linear", "facto": 4}})


def test_spec(posenc):
    document = posenc.spec("rope:dim=64,base=10000")
    assert document["compact"] == "rope:dim=64" and document["spec"]["layout"] == "interleaved"
    assert document == posenc.spec({"kind": "rope", "dim": 64}) == posenc.spec(kind="rope", dim=64)


BINARY = [
    ("/v1/table", "kind=sinusoidal&dim=6&positions=2^0:2^40"),
    ("/v1/table", "kind=rope&dim=6&positions=-3:3:0.5&value=both"),
    ("/v1/table", "kind=alibi&heads=3&positions=0:4"),
    ("/v1/frequencies", "kind=rope&dim=6&scaling=linear&factor=3"),
    ("/v1/rotation", "kind=rope&dim=6&positions=0:9"),
    ("/v1/apply", "kind=rope&dim=6&seed=3&content=uniform"),
    ("/v1/scores", "kind=rope&dim=6&terms=0"),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("path, query", BINARY)
def test_json_and_binary_carry_the_same_bits(posenc, path, query, dtype):
    query += "" if path == "/v1/scores" else f"&dtype={dtype}"
    text, binary = (client._result(posenc.get(f"{path}.{suffix}?{query}"), lambda made: made)
                    for suffix in ("json", "safetensors"))
    assert dict(text) == dict(binary) and len(text) > 0
    assert text.spec == binary.spec and text.params == binary.params
    assert text.readouts == binary.readouts or path == "/v1/apply"  # norms are for people


# ---- Arrays of torch -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*DTYPES, "i64"])
def test_torch(posenc, dtype):
    torch = pytest.importorskip("torch")
    kind = getattr(torch, client._FORMATS[dtype].name)
    x = torch.arange(8, dtype=kind).reshape(2, 4)
    assert tensor(x) == tensor(x.tolist(), dtype) == tensor(x.T.contiguous().T)
    assert torch.equal(client._to_torch(tensor(x)), x)
    assert client._to_torch(tensor(x[:0])).shape == (0, 4)
    if dtype != "i64":
        y = posenc.apply("rope:dim=4", x=x.requires_grad_())
        assert y.dtype == kind and tensor(y) == posenc.apply("rope:dim=4", x=tensor(x))
        posenc.assert_close(y, "rope:dim=4", x=x)
