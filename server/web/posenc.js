// SPDX-License-Identifier: Apache-2.0
/**
 * posenc.js: a client of posencd for browsers and Node 18: an ES module that needs nothing else.
 *
 *     import { Service } from "/assets/posenc.js";
 *     const { tensors, readouts } = await new Service().scores("rope:dim=64");
 *     const { tensors: { y } } = await new Service(url).apply("rope:dim=4", { x: [[1, 2, 3, 4]] });
 *
 * An encoding is compact text ("rope:dim=64") or an object ({kind: "rope", dim: 64}). Tensors are
 * {dtype, shape, data}: Float64Array (f64), Float32Array (f32), BigInt64Array (i64). JavaScript has
 * no array of f16 or bf16: their data is a Float32Array with the same values, and `bits` a
 * Uint16Array as they are stored. They travel as safetensors, so every bit arrives.
 *
 * @typedef {"f64" | "f32" | "f16" | "bf16" | "i64"} Dtype
 * @typedef {{dtype: Dtype, shape: number[], data: Float64Array | Float32Array | BigInt64Array,
 *            bits?: Uint16Array}} Tensor
 * @typedef {string | {kind: string, [key: string]: unknown}} Spec
 * @typedef {number[] | unknown[] | Tensor | Float64Array | Float32Array | BigInt64Array} TensorLike
 *     nested lists, a tensor, whose data may be nested lists too, or a typed array of rank 1
 * @typedef {{semantics: string, spec?: object, spec_id?: string, params?: object,
 *            readouts?: object, tensors: Record<string, Tensor>}} Result members as in JSON answers
 * @typedef {{signal?: AbortSignal, headers?: Record<string, string>}} Options
 */

const SAFETENSORS = "application/x-safetensors";
const WAIT_S_MAX = 5; // for one Retry-After

// ---- Numbers ------------------------------------------------------------------------------------

/** How each dtype is stored. */
const ARRAYS = {
  f64: Float64Array, f32: Float32Array, f16: Uint16Array, bf16: Uint16Array, i64: BigInt64Array,
};
/** Formats of 16 bits: digits of the significand, the least exponent. */
const SHORT = { f16: { digits: 11, least: -14 }, bf16: { digits: 8, least: -126 } };
const scratch = new DataView(new ArrayBuffer(8));

/** The value of 16 bits; exact. */
function widen(bits, { digits, least }) {
  const unit = 2 ** (digits - 1);
  const exponent = Math.floor((bits & 0x7fff) / unit);
  const fraction = bits % unit;
  const all = 2 ** (16 - digits) - 1;
  let value = fraction * 2 ** (least - digits + 1);
  if (exponent === all) value = fraction ? NaN : Infinity;
  else if (exponent > 0) value = (unit + fraction) * 2 ** (exponent - 1 + least - digits + 1);
  return bits & 0x8000 ? -value : value;
}

/** The nearest 16 bits of a number, ties to even; RangeError if it is too large for them. */
function narrow(value, { digits, least }) {
  const unit = 2 ** (digits - 1);
  const infinity = 0x8000 - unit;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? infinity + unit / 2 : sign + infinity;
  scratch.setFloat64(0, value);
  const exponent = Math.max(((scratch.getUint16(0) >> 4) & 0x7ff) - 1023, least);
  const exact = Math.abs(value) / 2 ** (exponent - digits + 1);
  let whole = Math.floor(exact);
  if (exact - whole > 0.5 || (exact - whole === 0.5 && whole % 2 === 1)) whole++;
  const bits = (exponent - least) * unit + whole;
  if (bits >= infinity) throw new RangeError(`${value} is too large for its dtype`);
  return sign + bits;
}

/** A tensor of what is stored: 16 bits get their values. */
function stored(dtype, shape, array) {
  if (!SHORT[dtype]) return { dtype, shape, data: array };
  const data = Float32Array.from(array, (bits) => widen(bits, SHORT[dtype]));
  return { dtype, shape, data, bits: array };
}

const SPECIAL = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity }; // as JSON has them

/** A number as an element of the array that stores the dtype. */
function rounded(given, dtype) {
  const value = SPECIAL[given] ?? given;
  if (typeof value !== "number" && typeof value !== "bigint")
    throw new TypeError(`${value} is not a number`);
  if (dtype === "i64") return BigInt(value);
  if (SHORT[dtype]) return narrow(Number(value), SHORT[dtype]);
  if (dtype === "f32" && Number.isFinite(value) && !Number.isFinite(Math.fround(value)))
    throw new RangeError(`${value} is too large for f32`);
  return Number(value);
}

const product = (sizes) => sizes.reduce((n, size) => n * size, 1);

/** Shape and elements of nested lists. */
function flatten(value) {
  const shape = [];
  let flat = [value];
  while (flat.length > 0 && Array.isArray(flat[0])) {
    const n = flat[0].length;
    if (flat.some((row) => !Array.isArray(row) || row.length !== n))
      throw new TypeError("nested lists must have the same length everywhere on a level");
    shape.push(n);
    flat = flat.flat();
  }
  return { shape, flat };
}

/**
 * A tensor of what a caller may have. Lists are f64 unless a dtype says otherwise; typed arrays are
 * what they are. Numbers are rounded once; a Uint16Array has f16 and bf16 as they are stored.
 * @param {TensorLike} value
 * @param {Dtype} [dtype]
 * @returns {Tensor} TypeError: not a tensor, or of another shape; RangeError: a number too large
 */
export function tensor(value, dtype) {
  const { data = value?.bits ?? value, shape: said } = value ?? {};
  const kinds = ["f64", "f32", "i64"];
  dtype ??= value?.dtype ?? kinds.find((name) => data instanceof ARRAYS[name]) ?? "f64";
  const Kind = ARRAYS[dtype];
  if (!Kind) throw new TypeError(`posencd has no ${dtype}; it has ${Object.keys(ARRAYS)}`);
  const isView = ArrayBuffer.isView(data);
  const { shape, flat } = isView ? { shape: [data.length], flat: data } : flatten(data);
  const array = data instanceof Kind ? data : Kind.from(flat, (x) => rounded(x, dtype));
  if (array.length !== product(said ?? shape))
    throw new TypeError(`${array.length} elements do not make the shape [${said}]`);
  return stored(dtype, [...(said ?? shape)], array);
}

// ---- safetensors --------------------------------------------------------------------------------

/**
 * @param {Record<string, TensorLike>} tensors
 * @param {Record<string, string>} [metadata]
 * @returns {Uint8Array} a safetensors file
 */
export function writeSafetensors(tensors, metadata) {
  const header = metadata ? { __metadata__: metadata } : {};
  const parts = [];
  let size = 0;
  for (const [name, value] of Object.entries(tensors)) {
    const { dtype, shape, data, bits = data } = tensor(value);
    const offsets = [size, (size += bits.byteLength)];
    header[name] = { dtype: dtype.toUpperCase(), shape, data_offsets: offsets };
    parts.push(new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength));
  }
  let text = new TextEncoder().encode(JSON.stringify(header));
  text = new TextEncoder().encode(JSON.stringify(header) + " ".repeat(-text.length & 7));
  const file = new Uint8Array(8 + text.length + size);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  let at = 8;
  for (const part of [text, ...parts]) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

/**
 * @param {ArrayBuffer} buffer a safetensors file; TypeError says what is wrong with it
 * @returns {{tensors: Record<string, Tensor>, metadata: Record<string, string>}}
 */
export function readSafetensors(buffer) {
  const long = buffer.byteLength >= 8;
  const length = long ? Number(new DataView(buffer).getBigUint64(0, true)) : Infinity;
  if (8 + length > buffer.byteLength) throw new TypeError("safetensors: no complete header");
  const text = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(text);
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(entries)) {
    const Kind = ARRAYS[dtype.toLowerCase()];
    if (!Kind) throw new TypeError(`safetensors: ${name} is of ${dtype}, which is not read here`);
    const bytes = buffer.slice(...offsets.map((offset) => 8 + length + offset));
    const size = product(shape) * Kind.BYTES_PER_ELEMENT;
    if (bytes.byteLength !== size || offsets[1] - offsets[0] !== size)
      throw new TypeError(`safetensors: the offsets of ${name} do not fit its shape or the file`);
    tensors[name] = stored(dtype.toLowerCase(), shape, new Kind(bytes));
  }
  return { tensors, metadata };
}

// ---- Requests -----------------------------------------------------------------------------------

/**
 * The service refused a request, or failed: `status`, `type` ("invalid-value"), `title`, `detail`,
 * `errors` (parameter or pointer, detail, hint, allowed), `document` (all of it), `request`.
 */
export class Problem extends Error {
  constructor(status, document, request) {
    const { type = "unknown", title = "", detail = "", errors = [] } = document;
    const lines = [`${status} ${title} (${type.split("/").pop()})`, detail];
    for (const { parameter, pointer, detail: says, hint } of errors)
      lines.push(`  ${parameter ?? pointer ?? "request"}: ${says}${hint ? `; ${hint}` : ""}`);
    super([...lines, `  in ${request}`].join("\n"));
    Object.assign(this, { name: "Problem", status, title, detail, errors, document, request });
    this.type = type.split("/").pop();
  }
}

const PLACES = ["positions", "k_positions", "offsets", "anchors"];

/** @param {Spec} spec */
function compact(spec) {
  if (typeof spec === "string") return spec;
  const { kind, ...keys } = spec;
  const text = ([key, value]) => `${key}=${[lists(value)].flat().join("+")}`;
  const all = Object.entries(keys).map(text).join(",");
  return all ? `${kind}:${all}` : kind;
}

/** What JSON has of a value: typed arrays as lists. */
function lists(value) {
  if (ArrayBuffer.isView(value)) return Array.from(value, Number);
  if (Array.isArray(value)) return value.map(lists);
  return value?.axes ? { axes: value.axes.map(lists) } : value;
}

/** The same; of places, lists that are a range as its text; of specs, their compact texts. */
function plain(name, given) {
  if (name === "specs")
    return Object.fromEntries(Object.entries(given).map(([which, one]) => [which, compact(one)]));
  const value = lists(given);
  if (!PLACES.includes(name) || !Array.isArray(value) || value.length < 3) return value;
  const step = value[1] - value[0];
  if (!(step >= 1) || value.some((x, i) => !Number.isInteger(x) || x !== value[0] + i * step))
    return value;
  return `${value[0]}:${value.at(-1) + 1}${step > 1 ? `:${step}` : ""}`;
}

/** A request as query and JSON members: lists go into the body where there is one. */
function spell(spec, keys, hasBody) {
  const query = new URLSearchParams([spec ?? []].flat().map((one) => ["spec", compact(one)]));
  const members = {};
  for (const [name, given] of Object.entries(keys)) {
    if (given === undefined || given === null) continue;
    const value = plain(name, given);
    if (hasBody && typeof value === "object") members[name] = value;
    else if (Array.isArray(value?.[0]))
      throw new TypeError(`lists in a list have no place in a URL: ${name}`);
    else query.append(name, String(value.axes?.join(";") ?? value));
  }
  return { query: String(query).replaceAll("+", "%20"), members };
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), resolve()), ms);
    signal?.addEventListener("abort", stop);
  });
}

/** Where this module came from, or what POSENC_URL says. */
function home() {
  const here = new URL(import.meta.url);
  const url = here.protocol.startsWith("http") ? here.origin : globalThis.process?.env.POSENC_URL;
  if (!url) throw new TypeError("no url: new Service(\"http://...\"), or POSENC_URL");
  return url;
}

/** A service at a URL; by default where this module came from. */
export class Service {
  /**
   * @param {string} [url]
   * @param {{retries?: number}} [options] how often an answer that says when to try again (503,
   *     429) is asked for again
   */
  constructor(url = home(), { retries = 5 } = {}) {
    this.url = String(url).replace(/\/+$/, "");
    this.retries = retries;
  }

  /**
   * @param {string} method
   * @param {string} path with its query
   * @param {Options & {body?: BodyInit}} [options]
   * @returns {Promise<Response>} with a good status; else Problem
   */
  async request(method, path, { body, headers, signal } = {}) {
    for (let left = this.retries; ; left--) {
      const response = await fetch(this.url + path, { method, body, headers, signal });
      if (response.ok || response.status === 304) return response;
      const text = await response.text();
      const wait = response.headers.get("Retry-After");
      if (left <= 0 || ![429, 503].includes(response.status) || !/^[0-9]+$/.test(wait ?? "")) {
        const isJson = response.headers.get("Content-Type")?.includes("json");
        const document = isJson ? JSON.parse(text) : { title: response.statusText, detail: text };
        throw new Problem(response.status, document, `${method} ${path}`);
      }
      await pause(1000 * Math.min(Number(wait), WAIT_S_MAX), signal);
    }
  }

  /** @param {string} path @param {Options} [options] */
  get(path, options) {
    return this.request("GET", path, options);
  }

  /** @param {string} path @param {BodyInit | object} body bytes, text, or anything as JSON */
  post(path, body, { headers, ...options } = {}) {
    const isRaw = [ArrayBuffer, String].some((kind) => Object(body) instanceof kind);
    if (!isRaw && !ArrayBuffer.isView(body)) body = JSON.stringify(body);
    headers = { "Content-Type": "application/json", ...headers };
    return this.request("POST", path, { ...options, body, headers });
  }

  /** GET; POST where there are tensors, or what has a place in a body only. */
  async #ask(path, spec, keys, options, tensors = {}, inBody = false) {
    const given = Object.entries(tensors).filter(([, value]) => value !== undefined);
    const { query, members } = spell(spec, keys, inBody || given.length > 0 || "specs" in keys);
    const target = `${path}?${query}`;
    const isPlain = Object.keys(members).length === 0;
    if (given.length === 0)
      return isPlain ? this.get(target, options) : this.post(target, members, options);
    const body = writeSafetensors(Object.fromEntries(given), { request: JSON.stringify(members) });
    const headers = { "Content-Type": SAFETENSORS, ...options?.headers };
    return this.post(target, body, { ...options, headers });
  }

  async #tensors(...request) {
    return this.#read(await this.#ask(...request));
  }

  async #read(response) {
    const { tensors, metadata } = readSafetensors(await response.arrayBuffer());
    const members = Object.entries(metadata) // objects and lists are JSON
      .map(([name, text]) => [name, /^[{[]/.test(text) ? JSON.parse(text) : text]);
    return { ...Object.fromEntries(members), tensors };
  }

  /**
   * y for x, q_out and k_out for q and k, scores_out for scores (bias kinds). The caller's own are
   * `table`, for learned and t5, and `cos` and `sin`, for rope; q and k may have encodings of their
   * own, `specs` {q, k} in place of spec. Without tensors: test vectors x, and y. Keys: positions,
   * axes, inverse, dtype, stages, with (further tensors), width, pack.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  apply(spec, { x, q, k, scores, table, cos, sin, ...keys } = {}, options) {
    const given = { x, q, k, scores, table, cos, sin };
    return this.#tensors("/v1/apply.safetensors", spec, keys, options, given);
  }

  /**
   * table [positions, dim], bias [heads, T, T], or cos and sin. Keys: positions, channels, value,
   * width, pack, with (further tensors), dtype, stages.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  table(spec, keys = {}, options) {
    return this.#tensors("/v1/table.safetensors", spec, keys, options);
  }

  /**
   * inv_freq, base_inv_freq, wavelength, turns, band, each [pairs].
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  frequencies(spec, keys = {}, options) {
    return this.#tensors("/v1/frequencies.safetensors", spec, keys, options);
  }

  /**
   * angle, cos, sin, each [positions, pairs]. Keys: positions, pairs, value, width, pack, with.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  rotation(spec, keys = {}, options) {
    return this.#tensors("/v1/rotation.safetensors", spec, keys, options);
  }

  /**
   * max_abs_error, rms_error and worst_pair, each [stages, positions], and readouts: how far
   * pipelines that round are from the exact numbers. Keys: quantity ("cos", "sin", "table", "angle",
   * "apply", "score"), stages (pipelines between ";"), positions, distance, content, seed, gain.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  precision(spec, keys = {}, options) {
    return this.#tensors("/v1/precision.safetensors", spec, keys, options);
  }

  /**
   * decay [positions], and readouts: what one wishes of an encoding, each property with holds (null:
   * it has no meaning there) and its numbers. Keys: positions, trained, content, seed, gain.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  properties(spec, keys = {}, options) {
    return this.#tensors("/v1/properties.safetensors", spec, keys, options);
  }

  /**
   * scores [anchors, offsets] and readouts; for a list of encodings `blocks` of them. q and k are
   * seeded if not given. They may have encodings of their own, `specs` {q, k} in place of spec.
   * Keys: anchors, offsets, content, seed, scale, normalize, terms.
   * @param {Spec | Spec[]} spec @param {object} [keys] @param {Options} [options]
   * @returns {Promise<Result & {blocks?: Result[]}>}
   */
  async scores(spec, { q, k, ...keys } = {}, options) {
    const response = await this.#ask("/v1/scores.json", spec, keys, options, { q, k });
    const answer = await response.json();
    for (const { tensors } of [answer, ...(answer.blocks ?? [])])
      for (const name of Object.keys(tensors)) tensors[name] = tensor(tensors[name]);
    return answer;
  }

  /**
   * weights and weights_without, [tokens, tokens], and output; readouts have entropy,
   * weight_by_distance, equivariance, equal_labels, and the same of `without`. x, or q, k and v, are
   * [tokens, dim], scores (none, bias kinds) [tokens, tokens]; else vectors are drawn, for labels
   * equal ones for equal labels. Keys: tokens, labels, positions, causal, compare (another encoding
   * than none), permutation, scale, content, seed, gain.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  attention(spec, { x, q, k, v, scores, table, ...keys } = {}, options) {
    const given = { x, q, k, v, scores, table };
    return this.#tensors("/v1/attention.safetensors", spec, keys, options, given);
  }

  /**
   * similarity [positions, k_positions]: dot products of codes, or for rotations the mean of cos
   * over the pairs. Keys: positions, k_positions, normalize, value ("bound"), stages.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  similarity(spec, keys = {}, options) {
    return this.#tensors("/v1/similarity.safetensors", spec, keys, options);
  }

  /**
   * similarity of one cell with all cells of a grid, in its shape. Keys: grid ("14x14"), query
   * ([7, 7]), coords, normalize, stages.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options] @returns {Promise<Result>}
   */
  grid(spec, keys = {}, options) {
    return this.#tensors("/v1/grid.safetensors", spec, keys, options);
  }

  /**
   * positions, i64, or f64 where they are no integers. Of attention_mask or ids, [tokens] or
   * [batch, tokens], with style ("gpt2", "opt", "roberta", "fairseq", "bart"): [batch, tokens], and
   * mask of the same shape; of packed lengths with style: [1, all tokens]; of grid ("2x3") or
   * segments ("3,2x2,2", or objects as in JSON) with style "mrope" or the like: [axes, tokens];
   * readouts have rope_delta of segments. Two of these, or none: Problem. Keys: padding_idx, merge,
   * patch, coords, grid_order and more.
   * @param {object} keys @param {Options} [options] @returns {Promise<Result>}
   */
  positions(keys, options) {
    return this.#tensors("/v1/positions.safetensors", null, keys, options, {}, true);
  }

  /**
   * y and permutation: x (vectors, or weights whose rows make them) from one pair layout to the
   * other; of q and k together q_out, q_permutation, k_out, k_permutation. Keys: from and to
   * ("interleaved" or "half"), axis (-1; 0 for weights), num_heads, num_kv_heads, rotary_dim,
   * rotary_offset.
   * @param {object} keys @param {Options} [options] @returns {Promise<Result>}
   */
  convert({ x, q, k, ...keys }, options) {
    return this.#tensors("/v1/convert.safetensors", null, keys, options, { x, q, k }, true);
  }

  /**
   * Whether `actual` is what is expected, how far they are apart, and why: pass, mismatched,
   * max_abs, first_mismatch, diagnosis and more. `expected` is a tensor or the path of a GET;
   * without it what apply() makes of x, q, k or scores by spec and keys, or table(). Other keys:
   * rtol, atol, max_ulp, equal_nan, diagnose, strict (then a comparison that fails is a Problem).
   * @param {TensorLike} actual @param {object} keys @param {Options} [options]
   * @returns {Promise<object>}
   */
  async compare(actual, keys, options) {
    const { spec, expected, x, q, k, scores, table, cos, sin, ...others } = keys;
    const { rtol, atol, max_ulp, equal_nan, diagnose, strict, ...asked } = others;
    const members = { rtol, atol, max_ulp, equal_nan, diagnose, strict };
    const given = Object.entries({ x, q, k, scores, table, cos, sin, actual })
      .filter(([, value]) => value !== undefined);
    const tensors = Object.fromEntries(given);
    const { query, members: lists } = spell(spec, asked, given.length > 1);
    if (typeof expected === "string") members.expected = { get: expected };
    else if (expected !== undefined) tensors.expected = expected;
    else members.expected = { get: `/v1/${given.length > 1 ? "apply" : "table"}?${query}`, ...lists };
    const body = writeSafetensors(tensors, { request: JSON.stringify(members) });
    const headers = { "Content-Type": SAFETENSORS, ...options?.headers };
    return (await this.post("/v1/compare.json", body, { ...options, headers })).json();
  }

  /**
   * Which encoding makes y of x: confidence ("unique", "ambiguous", "none"), best (spec, compact,
   * rms, explains, says), others, ambiguous, advice, conversion. Keys: positions, axes ("bhtd", ...),
   * heads, known (part of a spec), search (names of parameters), top, dtype (that y was rounded to).
   * @param {object} keys @param {Options} [options] @returns {Promise<object>}
   */
  async identify({ x, y, ...keys }, options) {
    return (await this.#ask("/v1/identify.json", null, keys, options, { x, y }, true)).json();
  }

  /**
   * A model's config.json (an object, its text or bytes) as encodings: inv_freq and band [pairs],
   * or slopes [heads]; of models whose layers differ inv_freq_full_attention and the like. `specs`
   * (applies_to, spec, compact), `layers`, `read`, `assumed` and `warnings` stand beside tensors.
   * Keys: layout, context, layer_type, lenient, dtype, dialect. Problem: where the config
   * contradicts itself, or lacks something.
   * @param {object | string | ArrayBuffer} config @param {object} [keys] @param {Options} [options]
   * @returns {Promise<Result & {specs: object[], layers?: object[], read: object[],
   *     assumed: object[], warnings: object[]}>}
   */
  async fromConfig(config, keys = {}, options) {
    const { query } = spell(null, keys, false);
    return this.#read(await this.post(`/v1/from-config.safetensors?${query}`, config, options));
  }

  /**
   * The spec with all defaults, its compact form and id.
   * @param {Spec} spec @param {object} [keys] @param {Options} [options]
   * @returns {Promise<{spec: object, compact: string, spec_id: string}>}
   */
  async spec(spec, keys = {}, options) {
    return (await this.#ask("/v1/spec.json", spec, keys, options)).json();
  }
}
