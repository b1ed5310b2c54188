// SPDX-License-Identifier: Apache-2.0
// test_lesson.mjs: the story that the lesson tells at its default settings, read from the page; and that
// it goes on telling it when a reader moves the controls.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { newPage, none, open, settle, startBrowser, startDaemon } from "./harness.mjs";

let daemon;
let browser;
let page;

before(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), startBrowser()]);
  page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson`);
});

after(async () => {
  none(page.faults);
  await browser.close();
  assert.equal(await daemon.stop(), 0);
});

/** The readouts of a plot or a panel: texts by their names. */
const readouts = (selector) => page.$$eval(`${selector} .readouts > div`, (rows) =>
  rows.map((row) => [row.querySelector("dt").textContent, row.querySelector("dd").textContent]));

const drawn = (id) => page.$eval(`#${id}`, ({ plot }) => plot.drawing.drawn);

/** How far apart the curves are, at the offset where they are farthest apart. */
const apart = ({ lines }) => Math.max(...lines[0].y.map((_, i) => {
  const at = lines.map(({ y }) => y[i]);
  return Math.max(...at) - Math.min(...at);
}));

const within = ({ lines }) => {
  const all = lines.flatMap(({ y }) => y);
  return Math.max(...all) - Math.min(...all);
};

test("nine steps, each with a plot", async () => {
  const steps = await page.$$eval(".step", (sections) => sections.map((section) =>
    [section.querySelector("h2").textContent, section.querySelectorAll(".plot").length]));
  assert.equal(steps.length, 9);
  none(steps.filter(([, plots]) => plots === 0).map(([title]) => title));
});

test("without positions the two dogs are one, exactly; with RoPE they are not", async () => {
  assert.deepEqual((await readouts("#attention")).map(([, value]) => value), ["0", "0"]);
  const { rows } = await drawn("attention");
  assert.deepEqual(rows, ["the", "dog", "chased", "another", "dog"]);
  await page.selectOption("#step-1 select", "rope");
  await settle(page);
  none((await readouts("#attention")).filter(([, value]) => !(Number(value) > 0)).flat());
  await page.selectOption("#step-1 select", "none");
  await settle(page);
});

test("scores: none, sinusoidal, learned, RoPE", async () => {
  const panels = {};
  for (const [i, kind] of ["none", "sinusoidal", "learned", "rope"].entries()) {
    const values = (await readouts(`#scores .panel:nth-child(${i + 1})`)).map(([, value]) => value);
    panels[kind] = { range: Number(values[0]), spread: Number(values[1]), norm: values[2], drawn: (await drawn("scores"))[i] };
  }
  const { none: nothing, sinusoidal, learned, rope } = panels;
  assert.deepEqual([nothing.range, nothing.spread, nothing.norm], [0, 0, "× 1"]);
  assert.ok(rope.range > 10, "RoPE's score depends on the distance");
  assert.deepEqual([rope.spread, rope.norm], [0, "× 1"]);
  assert.ok(sinusoidal.spread > 0.3 * sinusoidal.range, `${sinusoidal.spread} of ${sinusoidal.range}`);
  assert.ok(learned.spread > 0 && learned.spread < sinusoidal.spread / 2, `learned: ${learned.spread}`);
  assert.notEqual(sinusoidal.norm, "× 1");

  // What is seen: curves in one scale, which lie upon each other or do not.
  const [low, high] = rope.drawn.range;
  const heights = Object.fromEntries(Object.entries(panels).map(([kind, panel]) => {
    assert.deepEqual(panel.drawn.range, [low, high], kind);
    assert.equal(panel.drawn.lines.length, 3);
    return [kind, { apart: apart(panel.drawn) / (high - low), within: within(panel.drawn) / (high - low) }];
  }));
  assert.deepEqual(heights.none, { apart: 0, within: 0 });
  assert.equal(heights.rope.apart, 0);
  assert.ok(heights.rope.within > 0.2, "RoPE goes up and down");
  assert.ok(heights.sinusoidal.apart > 0.2, "sinusoidal: three curves");
  assert.ok(heights.learned.apart > 0.02 && heights.learned.apart < heights.sinusoidal.apart, "learned: between");
});

test("scores follow size, offsets, anchors and seed", async () => {
  const before = await drawn("scores");
  await page.fill("#step-6 .control:has(label:text-is('Anchors')) input, #step-6 input[type=text]", "0,100");
  await page.press("#step-6 input[type=text]", "Enter");
  await settle(page);
  const [, , , rope] = await drawn("scores");
  assert.equal(rope.lines.length, 2);
  assert.equal(apart(rope), 0);
  for (let i = 0; i < await page.locator("#step-6 input[type=range]").count(); i++) {
    const url = await page.$eval("#scores", ({ plot }) => plot.url);
    const slider = page.locator("#step-6 input[type=range]").nth(i);
    await slider.focus();
    await slider.press("ArrowRight");
    await settle(page);
    assert.notEqual(await page.$eval("#scores", ({ plot }) => plot.url), url, `slider ${i}`);
    assert.equal(apart((await drawn("scores"))[3]), 0, "RoPE sees the distance alone");
  }
  assert.notDeepEqual(await drawn("scores"), before);
});

test("what is half true of sinusoids: the last of the four terms alone is relative", async () => {
  const values = (await readouts("#terms")).map(([, value]) => Number(value));
  assert.equal(values.length, 5);
  assert.ok(values[0] > 1, "the scores themselves are not");
  assert.equal(values[1], 0, "nor would the content be any different");
  assert.equal(values[4], 0, "the product of the two codes is");
  await page.selectOption("#step-5 select", "position");
  await settle(page);
  assert.equal(apart(await drawn("terms")), 0);
  await page.selectOption("#step-5 select", "cross_q");
  await settle(page);
  assert.ok(apart(await drawn("terms")) > 1);
});

test("wavelengths of the first Transformer", async () => {
  const { lines: [{ y }] } = await drawn("wavelengths");
  assert.deepEqual([0, 8, 16, 31].map((pair) => Number(y[pair].toPrecision(7))), [6.283185, 62.83185, 628.3185, 47117.24]);
});

test("arrows turn when they are told to, unless things are to keep still", async () => {
  const hand = () => page.getAttribute("#rotation .after", "d");
  const start = await hand();
  await page.click(".play");
  await page.waitForFunction((old) => document.querySelector("#rotation .after").getAttribute("d") !== old, start);
  await page.click(".play");
  const stopped = await hand();
  await page.waitForTimeout(500);
  assert.equal(await hand(), stopped);
  const calm = await newPage(browser, { motion: "reduce" });
  await open(calm, `${daemon.url}/?view=lesson`);
  assert.equal(await calm.isVisible(".play"), false);
  assert.equal(await calm.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto");
  assert.equal(await calm.evaluate(() => document.getAnimations().length), 0);
  none(calm.faults);
  await calm.context().close();
});
