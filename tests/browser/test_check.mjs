// SPDX-License-Identifier: Apache-2.0
// test_check.mjs: the view for a reader's own files: what is dropped or chosen, what is said about it,
// and what cannot be read.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { Service, writeSafetensors } from "../../server/web/posenc.js";
import { newPage, none, open, settle, startBrowser, startDaemon } from "./harness.mjs";

let daemon;
let browser;
let page;

before(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), startBrowser()]);
  page = await newPage(browser);
});

after(async () => {
  await browser.close();
  assert.equal(await daemon.stop(), 0);
});

const CONFIG = {
  model_type: "llama", head_dim: 128, rope_theta: 500000,
  rope_scaling: { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4,
    original_max_position_embeddings: 8192 },
};

const file = (name, content) =>
  ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });

const post = async (path, body, type = "application/json") => (await fetch(daemon.url + path, {
  method: "POST", body, headers: { "Content-Type": type, Accept: "application/json" },
})).json();

/** A .npy file of version 1, as numpy writes it. */
function npy({ shape, data }, { descr = "<f4", fortran = "False" } = {}) {
  const sizes = shape.length === 1 ? `${shape},` : shape.join(", ");
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': (${sizes}), }`;
  const header = `${text}${" ".repeat(64 - ((11 + text.length) % 64))}\n`;
  const length = Buffer.alloc(2);
  length.writeUInt16LE(header.length);
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, Buffer.from(header, "latin1"),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}

/** Vectors before and after an encoding, by the client. */
async function vectors(spec, dtype = "f32") {
  const x = Float32Array.from({ length: 8 * 16 }, (_, i) => Math.sin(i * i + 1));
  const given = { dtype, shape: [8, 16], data: x };
  const { tensors } = await new Service(daemon.url).apply(spec, { x: given });
  return { x: dtype === "f32" ? given : { dtype, shape: [8, 16], data: [...x] }, y: tensors.y };
}

const openCheck = (query = "") => open(page, `${daemon.url}/?view=check${query}`);
const choose = (card, files) => page.setInputFiles(`#${card} input[type=file]`, files);
const press = (card, name) => page.click(`#${card} button:text-is("${name}")`);
const said = async (card) => {
  await page.waitForSelector(`#${card} .result:not([aria-busy]):not(:empty)`);
  return page.innerText(`#${card} .result`);
};

test("a config that is chosen", async () => {
  await openCheck();
  await choose("config", file("config.json", JSON.stringify(CONFIG)));
  const text = await said("config");
  const answer = await post("/v1/from-config", JSON.stringify(CONFIG));
  const [{ compact }] = answer.specs;
  assert.ok(text.includes(compact), text);
  for (const { pointer, as } of answer.read) assert.ok(text.includes(`${pointer}: ${as}`), text);
  for (const { because } of answer.assumed) assert.ok(text.includes(because), text);
  await settle(page);
  const drawn = await page.$eval("#frequencies-0", ({ plot }) => plot.drawing.drawn);
  const [unscaled, ...bands] = drawn.lines;
  assert.equal(bands.length, 3);
  const { inv_freq: all, band } = answer.tensors;
  assert.deepEqual(all.data.map((_, i) => bands.find(({ y }) => y[i] !== null).y[i]), all.data);
  assert.deepEqual(band.data, all.data.map((_, i) => bands.findIndex(({ y }) => y[i] !== null)));
  assert.equal(unscaled.y.length, 64);
  // The encoding stands in the address: who opens that sees the plot again.
  await page.waitForFunction(() => location.search.includes("found="));
  await page.reload();
  await page.waitForSelector("#frequencies-0");
  await settle(page);
  assert.deepEqual(await page.$eval("#frequencies-0", ({ plot }) => plot.drawing.drawn), drawn);
  none(page.faults);
});

test("a config that is dropped, and one that is pasted", async () => {
  await openCheck();
  const drop = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "config.json"));
    return transfer;
  }, JSON.stringify(CONFIG));
  await page.dispatchEvent("#config .drop", "dragover", { dataTransfer: drop });
  assert.ok(await page.$("#config .drop.over"), "the place shows that it takes files");
  await page.dispatchEvent("#config .drop", "drop", { dataTransfer: drop });
  assert.match(await said("config"), /rope:dim=128,base=500000/);
  await page.fill("#config textarea", JSON.stringify({ ...CONFIG, head_dim: 32 }));
  await press("config", "Check");
  await page.waitForSelector("#config .result:has-text('rope:dim=32,base=500000')");
  await page.selectOption("#config select", "interleaved");
  await page.waitForSelector("#config .result:has-text('rope:dim=32,base=500000,scaling')");
  none(page.faults);
});

/* As tests/data/README.md says: the shapes of models' published configs. */
const models = JSON.parse(await readFile(new URL("../data/configs.json", import.meta.url), "utf8"))
  .flatMap(({ id, requests }) => requests.filter(({ request, status }) =>
    request === "POST /v1/from-config" && status[0] === 200).slice(0, 1).map(({ body }) => ({ id, body })))
  .filter(({ id }) => /^(Llama (3.1|4)|Qwen2-VL 7B|Gemma 3 4B|Phi-3-mini 128k|DeepSeek-V3|gpt-oss 20B|BLOOM|T5|GPT-2|DINOv3)/.test(id));

test("configs of well-known models", async () => {
  await openCheck();
  assert.ok(models.length > 10);
  for (const { id, body } of models) {
    const { specs, warnings } = await post("/v1/from-config", JSON.stringify(body));
    await page.fill("#config textarea", JSON.stringify(body));
    await press("config", "Check");
    await page.waitForFunction((all) => all.every((each) =>
      document.querySelector("#config .result:not([aria-busy])")?.innerText.includes(each)), specs.map(({ compact }) => compact));
    const text = await said("config");
    for (const { detail } of warnings) assert.ok(text.includes(detail), `${id}: ${text}`);
    const turning = specs.filter(({ links }) => links.frequencies);
    await page.waitForFunction((n) => document.querySelectorAll("#config .plot").length === n, turning.length);
    await settle(page);
    const drawn = await page.$$eval("#config .plot", (figures) => figures.map(({ plot }) => plot.drawing.drawn?.x.length ?? 0));
    none(drawn.filter((pairs) => pairs < 2).map(() => `${id} has an empty plot`));
    none(page.faults.map((fault) => `${id}: ${fault}`));
  }
});

test("a config with a mistake, and leniently", async () => {
  await openCheck();
  const wrong = { ...CONFIG, rope_scaling: { ...CONFIG.rope_scaling, facter: 8 } };
  await choose("config", file("config.json", JSON.stringify(wrong)));
  assert.match(await said("config"), /unknown key "facter".*did you mean "factor"\?/s);
  await page.check("#config input[type=checkbox]");
  await page.waitForSelector("#config .result:has-text('Warnings')");
  assert.match(await said("config"), /facter/);
  page.faults.splice(0); // the browser's own words about the first answer, a 400
});

test("the examples", async () => {
  await openCheck();
  await press("config", "Try an example");
  assert.match(await said("config"), /scaling=llama3/);
  await press("vectors", "Try an example");
  assert.match(await said("vectors"), /rope:dim=64,layout=half,shift=1/);
  await press("vectors", "Compare");
  await page.waitForSelector("#vectors .result:has-text('Not all elements are close')");
  assert.match(await said("vectors"), /shift=1/);
  none(page.faults);
});

test("two .npy files: which encoding it was, and whether it was another one", async () => {
  await openCheck();
  const { x, y } = await vectors("rope:dim=16,layout=half");
  assert.ok(await page.isDisabled("#vectors .primary >> nth=0"), "nothing to identify yet");
  await choose("vectors", [file("before.npy", npy(x)), file("after.npy", npy(y))]);
  await page.waitForSelector("#vectors .primary:enabled");
  await press("vectors", "Identify");
  const identified = await said("vectors");
  assert.match(identified, /One encoding makes y of x\.\s+rope:dim=16,layout=half\s+half-split pairs, base 10000/);
  await page.fill("#vectors .control:has(label:text-is('compare with')) input", "rope:dim=16");
  await press("vectors", "Compare");
  await page.waitForSelector("#vectors .result:has-text('What explains it')");
  const compared = await said("vectors");
  const saving = page.waitForEvent("download");
  await page.click("#vectors a[download]");
  const saved = await readFile(await (await saving).path());
  const answer = await post("/v1/compare", saved, "application/x-safetensors");
  assert.equal(answer.pass, false);
  assert.ok(compared.includes(`${answer.mismatched} of ${answer.elements}`), compared);
  assert.ok(compared.includes(answer.diagnosis[0].says), compared);
  assert.match(answer.diagnosis[0].says, /layout=half/);
  none(page.faults);
});

test("one .safetensors file with names of its own", async () => {
  await openCheck("&positions=0:8");
  const { x, y } = await vectors("rope:dim=16,base=500000", "f16");
  await choose("vectors", file("run.safetensors", writeSafetensors({ q: x, q_rotated: y })));
  await page.waitForSelector("#vectors .primary:enabled");
  assert.deepEqual(await page.$$eval("#vectors select", (selects) => selects.map(({ value }) => value)),
    ["q", "q_rotated"]);
  await press("vectors", "Identify");
  assert.match(await said("vectors"), /rope:dim=16,base=500000/);
  none(page.faults);
});

test("two .npy files that are dropped together", async () => {
  await openCheck();
  const { x, y } = await vectors("rope:dim=16");
  const dropped = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer();
    for (const [name, bytes] of files) transfer.items.add(new File([new Uint8Array(bytes)], name));
    return transfer;
  }, [["after.npy", [...npy(y)]], ["before.npy", [...npy(x)]]]);
  await page.dispatchEvent("#vectors .drop", "drop", { dataTransfer: dropped });
  await page.waitForSelector("#vectors .primary:enabled");
  await press("vectors", "Identify");
  assert.match(await said("vectors"), /One encoding makes y of x\.\s+rope:dim=16\s+neighbouring pairs/);
  none(page.faults);
});

test("files that cannot be read say why", async () => {
  await openCheck();
  const { x } = await vectors("rope:dim=16");
  const cases = [
    [file("x.npy", npy(x, { fortran: "True" })), /x\.npy: only f64, f32 and f16 in C order/],
    [file("x.npy", npy(x, { descr: ">f4" })), /little-endian/],
    [file("x.npy", npy(x).subarray(0, -4)), /x\.npy is not as long as its header says/],
    [file("x.npy", "what is this?"), /x\.npy is no \.npy file/],
    [file("x.safetensors", "what is this?"), /no complete header/],
  ];
  for (const [given, says] of cases) {
    await choose("vectors", given);
    await page.waitForFunction(([source, flags]) =>
      new RegExp(source, flags).test(document.querySelector("#vectors .result").innerText), [says.source, says.flags]);
    assert.ok(await page.isDisabled("#vectors .primary >> nth=0"));
  }
  none(page.faults);
});
