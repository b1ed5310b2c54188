// SPDX-License-Identifier: Apache-2.0
// test_posenc.mjs: posenc.js under node --test, with the daemon that POSENCD names.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { Problem, Service, readSafetensors, tensor, writeSafetensors }
  from "../../server/web/posenc.js";

let daemon;
let service;

before(async () => {
  const options = ["--listen", "127.0.0.1:0", "--log-format", "off", "--ready-fd", "3"];
  daemon = spawn(process.env.POSENCD, options, { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const [line] = await once(daemon.stdio[3], "data");
  service = new Service(JSON.parse(line).url);
});

after(async () => {
  daemon.kill("SIGTERM");
  const [status] = await once(daemon, "exit");
  assert.equal(status, 0);
});

/** A server that gives these answers in turn: [status, fields, body]. */
async function scripted(answers, use) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [status, fields = {}, body = "{}"] = answers.shift();
    response.writeHead(status, fields).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(new Service(`http://127.0.0.1:${server.address().port}/`, { retries: 2 }), asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const numbers = (made) => Array.from(made.data, Number);

// ---- Numbers ------------------------------------------------------------------------------------

test("tensors of lists and typed arrays", () => {
  const cases = [
    [[[1, 2], [3, 4]], undefined, "f64", [2, 2], Float64Array],
    [7, "f32", "f32", [], Float32Array],
    [[[], []], "f64", "f64", [2, 0], Float64Array],
    [[1, 2n], "i64", "i64", [2], BigInt64Array],
    [Float32Array.of(1, 2), undefined, "f32", [2], Float32Array],
    [Float64Array.of(1, 2), undefined, "f64", [2], Float64Array],
    [BigInt64Array.of(1n, 2n), undefined, "i64", [2], BigInt64Array],
    [Int32Array.of(1, 2), undefined, "f64", [2], Float64Array],
    [{ dtype: "f32", shape: [2, 1], data: [1, 2] }, undefined, "f32", [2, 1], Float32Array],
    [{ shape: [1, 2], data: Float32Array.of(1, 2) }, undefined, "f32", [1, 2], Float32Array],
    [{ dtype: "f16", data: [["NaN", "-Infinity"]] }, undefined, "f16", [1, 2], Float32Array],
  ];
  for (const [value, asked, dtype, shape, kind] of cases) {
    const made = tensor(value, asked);
    assert.deepEqual([made.dtype, made.shape], [dtype, shape]);
    assert.ok(made.data instanceof kind);
  }
  assert.deepEqual(numbers(tensor([[1, 2], [3, 4]])), [1, 2, 3, 4]);
});

test("what is no tensor", () => {
  const cases = [
    [[[1], [2, 3]], TypeError], [[[1, 2], 3], TypeError], [[1, [2]], TypeError], [["1"], TypeError],
    [[null], TypeError], [null, TypeError], [{ dtype: "f8", data: [1] }, TypeError],
    [{ shape: [3], data: [1, 2] }, TypeError], [{ dtype: "f32", data: [1e39] }, RangeError],
    [{ dtype: "f16", data: [65520] }, RangeError], [{ dtype: "bf16", data: [3.4e38] }, RangeError],
    [{ dtype: "i64", data: [0.5] }, RangeError],
  ];
  for (const [value, error] of cases) assert.throws(() => tensor(value), error, String(value));
});

test("every f16 and bf16 has its value and comes back", () => {
  const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
  // bf16 by its definition: a float32 without its lower half.
  const halves = new Float32Array(Uint32Array.from(bits, (b) => b * 65536).buffer);
  for (const [dtype, value] of [["bf16", (b) => halves[b]], ["f16", null]]) {
    const made = tensor({ dtype, data: bits });
    const again = tensor({ dtype, data: made.data });
    for (const b of bits) {
      if (value) assert.ok(Object.is(made.data[b], value(b)), `${dtype} ${b}`);
      if (!Number.isNaN(made.data[b])) assert.equal(again.bits[b], b);
    }
  }
  // f16 by examples: bits, value (IEEE 754 binary16).
  const known = [[0x0001, 2 ** -24], [0x03ff, 1023 * 2 ** -24], [0x0400, 2 ** -14], [0x3c00, 1],
    [0x3555, 0.333251953125], [0x7bff, 65504], [0x7c00, Infinity], [0xfc00, -Infinity],
    [0x8000, -0], [0xc000, -2], [0x7e00, NaN]];
  for (const [b, value] of known)
    assert.ok(Object.is(tensor({ dtype: "f16", data: Uint16Array.of(b) }).data[0], value));
});

test("numbers are rounded once, ties to even", () => {
  for (const dtype of ["f16", "bf16"]) {
    for (const b of [0, 1, 2, 0x3f, 0x40, 0x7f, 0x80, 0x3ff, 0x400, 0x3c00, 0x3f81, 0x7bfe]) {
      const [low, high] = tensor({ dtype, data: Uint16Array.of(b, b + 1) }).data;
      const middle = (low + high) / 2;
      const near = (high - low) / 2 ** 20;
      const data = [low, middle - near, middle, middle + near, -middle];
      const even = b % 2 ? b + 1 : b;
      assert.deepEqual([...tensor({ dtype, data }).bits], [b, b, even, b + 1, 0x8000 + even]);
    }
  }
  assert.equal(tensor([0.1], "f32").data[0], Math.fround(0.1));
});

// ---- safetensors --------------------------------------------------------------------------------

test("safetensors as the format is described", () => {
  const header = '{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},'
    + '"n":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}}';
  const padded = Buffer.from(header + " ".repeat(-header.length & 7));
  const length = Buffer.alloc(8);
  length.writeUInt32LE(padded.length);
  const data = Buffer.from([0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 0x80, 0x3f]); // 1.5, -2; 1
  const file = Buffer.concat([length, padded, data]);
  const given = { x: { dtype: "f32", data: [[1.5, -2]] }, n: { dtype: "bf16", data: 1 } };
  assert.deepEqual(Buffer.from(writeSafetensors(given, { a: "b" })), file);
  const { tensors, metadata } = readSafetensors(Uint8Array.from(file).buffer);
  assert.deepEqual(metadata, { a: "b" });
  assert.deepEqual(tensors.x, { dtype: "f32", shape: [1, 2], data: Float32Array.of(1.5, -2) });
  assert.deepEqual(tensors.n,
    { dtype: "bf16", shape: [], data: Float32Array.of(1), bits: Uint16Array.of(0x3f80) });
});

test("malformed safetensors", () => {
  const good = Buffer.from(writeSafetensors({ x: Float32Array.of(1, 2) }));
  const replaced = (from, to) => Buffer.from(good.toString("latin1").replace(from, to), "latin1");
  const bad = [Buffer.alloc(0), good.subarray(0, 20), good.subarray(0, -1), replaced("F32", "F64"),
    replaced("F32", "I32"), replaced("[0,8]", "[0,9]"), replaced("{", "[")];
  for (const file of bad)
    assert.throws(() => readSafetensors(Uint8Array.from(file).buffer), Error, String(file));
});

// ---- What is computed ---------------------------------------------------------------------------

test("apply of the documentation", async () => {
  const x = { dtype: "f32", data: [[1, 2, 3, 4]] };
  const half = await service.apply("rope:dim=4,layout=half", { x, positions: [1] });
  const rotated = [-1.9841106, 1.9599006, 2.4623778, 4.0197997];
  const y = { dtype: "f32", shape: [1, 4], data: Float32Array.from(rotated) };
  assert.deepEqual(half.tensors.y, y);
  assert.equal(half.spec.layout, "half");
  const apart = [-1.1426396, 1.9220756, 2.9598505, 4.0297995];
  const calls = [["rope:dim=4", {}], [{ kind: "rope" }, {}], [null, { kind: "rope", dim: 4 }]];
  for (const [spec, keys] of calls) {
    const { tensors } = await service.apply(spec, { x, positions: "1", ...keys });
    assert.deepEqual(tensors.y.data, Float32Array.from(apart));
  }
});

test("apply in every dtype has the bits of JSON", async () => {
  for (const dtype of ["f64", "f32", "f16", "bf16"]) {
    const x = { dtype, data: [[1, 2, 3, 4], [0.5, -1, 0, 2]] };
    const body = { spec: "rope:dim=4", x };
    const json = await (await service.post("/v1/apply.json", body)).json();
    const { tensors: { y } } = await service.apply("rope:dim=4", { x });
    assert.deepEqual(y, tensor(json.tensors.y));
  }
});

test("apply with further tensors, and with cos and sin of one's own", async () => {
  const keys = { x: [[1, 2, 3, 4]], positions: [8], with: ["cos", "axis"], width: "tiled" };
  const { tensors } = await service.apply("rope:dim=4", keys);
  assert.deepEqual(Object.keys(tensors).sort(), ["axis", "cos", "y"]);
  assert.deepEqual(tensors.cos.shape, [1, 4]);
  const own = { cos: [[1, 1], [0.5, 1]], sin: [[0, 0], [0.5, 0.25]] };
  const half = { x: [[1, 2, 3, 4]], positions: [1], ...own };
  const { tensors: { y } } = await service.apply("rope:dim=4,layout=half", half);
  assert.deepEqual([...y.data], [-1, 1, 2, 4.5]);
});

test("apply of q and k, of scores, of a table; test vectors", async () => {
  const ones = { shape: [1, 2, 3, 4], data: new Float64Array(24).fill(1) };
  const keys = { axes: "bhtd", positions: Int32Array.of(5, 6, 9) };
  const both = { q: ones, k: ones, k_positions: [0, 1, 2] };
  const { tensors } = await service.apply("rope:dim=4", { ...both, ...keys });
  assert.deepEqual(Object.keys(tensors), ["q_out", "k_out"]);
  const alone = await service.apply("rope:dim=4", { x: ones, ...keys });
  assert.deepEqual(tensors.q_out, alone.tensors.y);
  const undone = await service.apply("rope:dim=4", { x: alone.tensors.y, ...keys, inverse: true });
  for (const value of undone.tensors.y.data) assert.ok(Math.abs(value - 1) < 1e-14);

  const zero = [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
  const biased = await service.apply({ kind: "alibi", slopes: [0.5] }, { scores: [zero] });
  assert.deepEqual(numbers(biased.tensors.scores_out), [0, -0.5, -1, -0.5, 0, -0.5, -1, -0.5, 0]);
  const two = { kind: "alibi", slopes: Float64Array.of(0.5, 0.125) };
  const heads = await service.apply(two, { scores: [zero, zero] });
  assert.equal(heads.tensors.scores_out.data[11], -0.25);
  const same = await service.apply(null, { scores: [zero, zero], ...two });
  assert.deepEqual(same.tensors, heads.tensors);
  const pixels = { positions: { axes: [Int32Array.of(0, 1), [2, 3]] } };
  const x = [[1, 2, 3, 4], [4, 3, 2, 1]];
  const turned = await service.apply("rope2d:dim=4", { x, ...pixels });
  const [a, b, c, d] = numbers(turned.tensors.y); // row 0 turns nothing, column 2 the second pair
  assert.deepEqual([a, b], [1, 2]);
  assert.ok(Math.abs(c - (3 * Math.cos(2) - 4 * Math.sin(2))) < 1e-14 && d !== 4);
  const learned = await service.apply("learned:dim=2,rows=2",
    { x: [[0.5, 0.5], [0.5, 0.5]], table: [[1, 2], [3, 4]] });
  assert.deepEqual(numbers(learned.tensors.y), [1.5, 2.5, 3.5, 4.5]);
  const vectors = await service.apply("rope:dim=4", { shape: [2, 3, 4], axes: "htd", seed: 7 });
  const again = await service.apply("rope:dim=4", { x: vectors.tensors.x, axes: "htd" });
  assert.deepEqual(again.tensors.y, vectors.tensors.y);
});

test("table, frequencies, rotation by their formulas", async () => {
  const first = await service.table("sinusoidal:dim=8", { positions: "0:3", dtype: "f32" });
  const row = [0.84147096, 0.5403023, 0.099833414, 0.9950042, 0.009999833, 0.99995, 0.0009999998,
    0.9999995];
  assert.deepEqual(first.tensors.table.data.slice(8, 16), Float32Array.from(row));
  const both = await service.table({ kind: "rope", dim: 4 }, { positions: "0,1,5", value: "both" });
  assert.ok(Math.abs(both.tensors.cos.data[5] - Math.cos(0.05)) < 1e-15);
  const axes = [[0, 0, 1, 1], Int32Array.of(0, 1, 0, 1)];
  const grid = await service.table("rope2d:dim=8", { positions: { axes }, dtype: null });
  assert.deepEqual(grid.tensors, (await service.table("rope2d:dim=8", { grid: "2x2" })).tensors);
  await assert.rejects(service.table("rope", { positions: [[0, 1], [7, 3]] }), TypeError);
  const spaced = await service.table("rope2d:dim=8", { positions: "0, 0, 1, 1; 0, 1, 0, 1" });
  assert.deepEqual(grid.tensors, spaced.tensors);

  const found = await service.frequencies("rope:dim=8,base=100");
  assert.equal(found.tensors.band.dtype, "i64");
  assert.deepEqual(found.tensors.band.data, new BigInt64Array(4));
  assert.equal(found.readouts.kept, 4);
  found.tensors.inv_freq.data.forEach((value, i) =>
    assert.ok(Math.abs(value / 100 ** (-2 * i / 8) - 1) < 1e-15));

  const turned = await service.rotation("rope:dim=8", { positions: [3, 1000], pairs: [0, 2] });
  assert.deepEqual(turned.tensors.angle.shape, [2, 2]);
  assert.ok(Math.abs(turned.tensors.angle.data[1] - 0.03) < 1e-17);
  assert.ok(Math.abs(turned.tensors.sin.data[3] - Math.sin(10)) < 1e-14);
});

test("precision and properties", async () => {
  const errors = await service.precision("rope:dim=64",
    { positions: [16, 4095], stages: "freq:bf16;pos:bf16" });
  assert.deepEqual(numbers(errors.tensors.max_abs_error).map((error) => error.toFixed(4)),
    ["0.0059", "0.5944", "0.0000", "0.8700"]);
  assert.equal(errors.readouts.pipelines[1].first_collision, 256);
  const { tensors, readouts } = await service.properties("alibi:slope=0.5", { positions: "0:4" });
  assert.deepEqual(numbers(tensors.decay).map((bias) => bias + 0), [0, -0.5, -1, -1.5]);
  assert.equal(readouts.relative.holds, true);
  assert.equal(readouts.linear_shift.holds, null);
});

test("scores of the documentation", async () => {
  const one = await service.scores("sinusoidal:dim=64", { offsets: [0, 1, 2] });
  assert.deepEqual(numbers(one.tensors.scores).slice(6),
    [41.111518060946671, 40.496675767563618, 37.109786011145474]);
  assert.equal(one.readouts.spread.max, 10.173739208838439);
  const { blocks } = await service.scores(["rope", { kind: "rope", layout: "half" }]);
  assert.deepEqual(blocks.map((block) => block.readouts.range.overall),
    [14.055542885604706, 9.6262102564697299]);
  assert.deepEqual(blocks[1].tensors.scores.shape, [3, 32]);
  const vectors = { q: [1, 2], k: [3, -1] };
  const own = await service.scores("rope:dim=2", { ...vectors, anchors: [0], offsets: [0] });
  assert.deepEqual(numbers(own.tensors.scores), [1]);
});

test("scores of two encodings", async () => {
  const specs = { q: "rope:dim=2", k: { kind: "rope", dim: 2, scaling: "linear", factor: 2 } };
  const keys = { specs, anchors: [4], offsets: [0, 1, 2] };
  const own = await service.scores(null, { ...keys, q: [1, 2], k: [3, -1] });
  own.tensors.scores.data.forEach((score, offset) => {
    const turn = (4 + offset) / 2 - 4; // of the key against the query
    assert.ok(Math.abs(score - (Math.cos(turn) * (3 - 2) + Math.sin(turn) * (1 + 6))) < 1e-14);
  });
  assert.equal(own.specs.k.factor, 2);
  const drawn = await service.scores(null, keys);
  assert.deepEqual(drawn.tensors.scores.shape, [1, 3]);
  const turned = await service.apply(null, { specs, q: [[1, 2]], k: [[1, 2]], positions: [4] });
  const cosine = ({ data: [first] }, angle) =>
    Math.abs(first - (Math.cos(angle) - 2 * Math.sin(angle))) < 1e-14;
  assert.ok(cosine(turned.tensors.q_out, 4) && cosine(turned.tensors.k_out, 2));
  await assert.rejects(service.scores(null, { specs: { q: "rope:dim=2" } }), /\/specs/);
  await assert.rejects(service.scores("rope:dim=2", keys), /\/spec/);
});

test("attention, similarities of places and of patches", async () => {
  const labels = ["the", "dog", "chased", "another", "dog"];
  const { tensors, readouts } = await service.attention("rope", { labels });
  assert.deepEqual(tensors.weights.shape, [5, 5]);
  assert.equal(readouts.without.equivariance.max_abs, 0);
  assert.equal(readouts.equal_labels[0].max_abs_without, 0);
  const x = { shape: [2, 2], data: Float64Array.of(1, 0, 0, 1) };
  const posted = await service.attention("none", { x, scale: "none", permutation: [1, 0] });
  const row = [Math.E / (Math.E + 1), 1 / (Math.E + 1)];
  assert.ok(row.every((w, i) => Math.abs(posted.tensors.weights.data[i] - w) < 1e-15));
  const near = await service.similarity("sinusoidal:dim=64", { positions: [0, 1] });
  assert.deepEqual(Array.from(near.tensors.similarity.data).slice(0, 2), [32, 30.916831661619025]);
  const patches = await service.grid("rope2d:dim=8", { grid: "2x3", query: [0, 2] });
  assert.equal(patches.tensors.similarity.data[2], 1);
});

test("positions of tokens, grids and segments", async () => {
  const rows = ({ tensors: { positions: { shape: [n, width], data } } }) =>
    Array.from({ length: n }, (_, i) => Array.from(data.slice(i * width, (i + 1) * width), Number));
  for (const ids of [[[1, 1, 7, 8], [5, 6, 7, 8]], "1,1,7,8;5,6,7,8"]) {
    const found = await service.positions({ ids, style: "roberta" });
    assert.equal(found.tensors.positions.dtype, "i64"); // behind padding_idx, 1
    assert.deepEqual(rows(found), [[1, 1, 2, 3], [2, 3, 4, 5]]);
    assert.deepEqual(numbers(found.tensors.mask), [0, 0, 1, 1, 1, 1, 1, 1]);
  }
  const mask = BigInt64Array.of(0n, 1n, 1n);
  const masked = await service.positions({ attention_mask: mask, style: "gpt2" });
  assert.deepEqual(rows(masked), [[0, 0, 1]]);
  const packed = await service.positions({ lengths: [3, 2], style: "bart" });
  assert.deepEqual(rows(packed), [[2, 3, 4, 2, 3]]);
  const centred = await service.positions({ grid: "1x2", coords: "center" });
  assert.equal(centred.tensors.positions.dtype, "f64");
  assert.deepEqual(rows(centred), [[0, 0], [-0.5, 0.5]]);
  for (const segments of [[{ text: 2 }, { grid: [1, 2, 2] }, { text: 1 }], "2,2x2,1"]) {
    const text = await service.positions({ segments, style: "mrope", merge: 1 });
    assert.deepEqual(rows(text),
      [[0, 1, 2, 2, 2, 2, 4], [0, 1, 2, 2, 3, 3, 4], [0, 1, 2, 3, 2, 3, 4]]);
    assert.deepEqual(text.readouts, { rope_delta: -2 });
  }
  for (const keys of [{}, { ids: [1], grid: "2x2" }, { ids: [1] }])
    await assert.rejects(service.positions(keys), Problem);
});

test("from one layout to the other", async () => {
  const keys = { from: "interleaved", to: "half", axis: 0, num_kv_heads: 2 };
  const x = [[1], [2], [3], [4], [5], [6], [7], [8]];
  const { tensors, readouts } = await service.convert({ x, ...keys });
  assert.deepEqual(numbers(tensors.y), [1, 3, 2, 4, 5, 7, 6, 8]);
  assert.deepEqual(numbers(tensors.permutation), [0, 2, 1, 3, 4, 6, 5, 7]);
  assert.deepEqual(readouts, { x: { heads: 2, head_dim: 4, moved: 2, cycle: 2 } });
  const back = { ...keys, from: "half", to: "interleaved" };
  const again = await service.convert({ k: tensors.y, ...back });
  assert.deepEqual(numbers(again.tensors.k_out), x.flat());
  assert.deepEqual(again.tensors.k_out.shape, [8, 1]);
  await assert.rejects(service.convert({ x, from: "half", to: "interleaved", axis: 0 }), Problem);
});

test("from a model's config", async () => {
  const config = { model_type: "llama", head_dim: 8, rope_theta: 1e4,
    rope_scaling: { rope_type: "linear", factor: 4 } };
  const text = JSON.stringify(config);
  for (const given of [config, text, new TextEncoder().encode(text)]) {
    const found = await service.fromConfig(given);
    found.tensors.inv_freq.data.forEach((value, i) =>
      assert.ok(Math.abs(value / (0.25 * 10 ** -i) - 1) < 1e-15));
    assert.deepEqual(numbers(found.tensors.band), [2, 2, 2, 2]);
    assert.equal(found.specs[0].compact, "rope:dim=8,layout=half,scaling=linear,factor=4");
    assert.deepEqual(found.assumed.map(({ key }) => key), ["layout"]);
    assert.deepEqual(found.warnings, []);
  }
  const other = await service.fromConfig(config, { layout: "interleaved", dtype: "f32" });
  assert.equal(other.specs[0].spec.layout, "interleaved");
  assert.equal(other.tensors.inv_freq.dtype, "f32");
  const mixed = await service.fromConfig({ model_type: "gemma3_text", num_hidden_layers: 6 });
  assert.ok(mixed.tensors.inv_freq_full_attention && mixed.tensors.inv_freq_sliding_attention);
  assert.deepEqual(mixed.layers.map(({ spec }) => spec), [1, 1, 1, 1, 1, 0]);
  config.rope_scaling = { rope_type: "linear", facto: 4 };
  await assert.rejects(service.fromConfig(config), /\/rope_scaling\/facto/);
});

test("spec in three spellings", async () => {
  const ids = await Promise.all([
    service.spec("rope:dim=64"), service.spec({ kind: "rope", dim: 64 }),
    service.spec(null, { kind: "rope", dim: 64, base: 10000 }),
  ]);
  assert.deepEqual(new Set(ids.map((found) => found.compact)), new Set(["rope:dim=64"]));
});

// ---- HTTP ---------------------------------------------------------------------------------------

test("a problem says all", async () => {
  const path = "/v1/table?kind=rope&dims=64&layuot=half";
  await assert.rejects(service.get(path), (problem) => {
    assert.ok(problem instanceof Problem && problem instanceof Error);
    assert.deepEqual([problem.name, problem.status, problem.type, problem.title],
      ["Problem", 400, "unknown-parameter", "Unknown parameter"]);
    assert.deepEqual(problem.errors.map((error) => error.parameter), ["dims", "layuot"]);
    assert.equal(problem.document.instance, path);
    const lines = problem.message.split("\n");
    assert.equal(lines[0], "400 Unknown parameter (unknown-parameter)");
    assert.equal(lines[2], `  dims: ${problem.errors[0].detail}; did you mean "dim"?`);
    assert.equal(lines.at(-1), `  in GET ${path}`);
    return true;
  });
  const unfit = service.apply("rope:dim=6", { x: [[1, 2, 3, 4]] });
  await assert.rejects(unfit, { type: "shape-mismatch" });
  const detail = "<h1>Bad gateway</h1>";
  await scripted([[502, {}, detail]], (other) =>
    assert.rejects(other.get("/x"), { status: 502, type: "unknown", detail }));
});

test("a busy service is asked again, but not for ever", async () => {
  const busy = [503, { "Retry-After": "0" }];
  const limited = [429, { "Retry-After": "0" }];
  await scripted([busy, limited, [200, {}, "at last"]], async (other, asked) => {
    assert.equal(await (await other.post("/x", "body")).text(), "at last");
    assert.deepEqual(asked, ["POST /x", "POST /x", "POST /x"]);
  });
  await scripted([busy, busy, busy, busy], async (other, asked) => {
    await assert.rejects(other.get("/x"), { status: 503 });
    assert.equal(asked.length, 3);
  });
  await scripted([[503], [500, { "Retry-After": "0" }]], async (other, asked) => {
    await assert.rejects(other.get("/x"), { status: 503 });
    await assert.rejects(other.get("/x"), { status: 500 });
    assert.equal(asked.length, 2);
  });
});

test("signals stop a request, and the wait for another", async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(service.get("/livez", { signal }), { name: "AbortError" });
  await assert.rejects(service.apply("rope", { x: [1, 2] }, { signal }), { name: "AbortError" });
  await scripted([[503, { "Retry-After": "5" }]], async (other) => {
    const start = Date.now();
    const waiting = other.get("/x", { signal: AbortSignal.timeout(100) });
    await assert.rejects(waiting, { name: "TimeoutError" });
    assert.ok(Date.now() - start < 4000);
  });
});

test("compare says what explains a difference", async () => {
  const x = { dtype: "f32", shape: [1, 4], data: new Float32Array([1, 2, 3, 4]) };
  const { tensors: { y } } = await service.apply("rope:dim=4", { x, positions: [1] });
  const asked = { spec: "rope:dim=4,layout=half", x, positions: [1] };
  const report = await service.compare(y, asked);
  assert.equal(report.pass, false);
  assert.equal(report.diagnosis[0].says, "actual equals expected computed with layout=interleaved");
  assert.equal((await service.compare(y, { ...asked, spec: "rope:dim=4" })).pass, true);
  const table = "/v1/table?kind=integer&dim=1&positions=0:2";
  assert.equal((await service.compare([[0], [1]], { expected: table })).mismatched, 0);
  assert.equal((await service.compare([1, 2], { expected: [1, 3], atol: 1 })).pass, true);
  await assert.rejects(service.compare([1], { expected: [2], strict: true }), { status: 422 });
});

test("raw answers, and conditions", async () => {
  const path = "/v1/table.csv?kind=integer&dim=1&positions=0:2";
  const answer = await service.get(path);
  assert.match(await answer.text(), /\n0,0\n1,1\n$/);
  const headers = { "If-None-Match": answer.headers.get("ETag") };
  assert.equal((await service.get(path, { headers })).status, 304);
});

test("the served module is this file, and the url is where it came from", async () => {
  const served = await (await service.get("/assets/posenc.js")).text();
  assert.equal(await (await service.get("/assets/client.js")).text(), served);
  assert.throws(() => new Service(), TypeError);
  process.env.POSENC_URL = `${service.url}//`;
  assert.equal(new Service().url, service.url);
  delete process.env.POSENC_URL;
});

test("the README works", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const [, example] = /```js\n([^]*?)```/.exec(readme);
  const module = new URL("../../server/web/posenc.js", import.meta.url);
  const text = `${example.replace("/assets/posenc.js", module)}export { readouts, tensors, y };`;
  process.env.POSENC_URL = service.url;
  const { readouts, tensors, y } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  delete process.env.POSENC_URL;
  assert.equal(readouts.range.overall, 14.055542885604706);
  assert.deepEqual(tensors.scores.shape, [3, 32]);
  assert.ok(Math.abs(y.data[0] - -1.1426396) < 1e-7);
});
