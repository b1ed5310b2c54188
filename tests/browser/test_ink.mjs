// SPDX-License-Identifier: Apache-2.0
// test_ink.mjs: whether ink.mjs finds what it is meant to find.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { newPage, none, startBrowser } from "./harness.mjs";
import { inkFaults, watchInk } from "./ink.mjs";

let browser;

before(async () => (browser = await startBrowser()));
after(() => browser.close());

const FILLER = "<p>one</p><p>two</p><p>three</p><p>four</p><p>five</p><p>six</p><p>seven</p><p>eight</p>";

async function faultsOf(html, draw = () => {}) {
  const page = await newPage(browser, { width: 400 });
  await watchInk(page);
  await page.goto("about:blank");
  await page.setContent(`${FILLER}<p>nine</p><p>ten</p><p>eleven</p>${html}`);
  await page.evaluate(draw);
  const faults = await inkFaults(page);
  await page.context().close();
  return faults.join("\n");
}

test("words that stand well", async () => {
  none([await faultsOf(`<div style="width: 9em; overflow: hidden">within</div>
    <div style="width: 3em; overflow: auto"><span style="white-space: nowrap">scrolls to the right</span></div>
    <div style="width: 4em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap">ends with dots</div>
    <span style="position: absolute; left: 0; top: 0; opacity: 0">unseen</span>`)]);
});

test("words upon others", async () => {
  const faults = await faultsOf(`<span style="position: absolute; left: 200px; top: 50px">below</span>
    <span style="position: absolute; left: 210px; top: 52px">above</span>`);
  assert.match(faults, /^"below" .* lies upon "above" .*$/);
  assert.match(await faultsOf(`<input style="position: absolute; left: 8px; top: 20px" value="typed">`),
    /"one" .* lies upon "typed"|"typed" .* lies upon "one"/);
});

test("words that are cut off", async () => {
  assert.match(await faultsOf(`<div style="width: 3em; overflow: hidden; white-space: nowrap">too wide for it</div>`),
    /^"too wide for it" .* is cut off by \d/);
});

test("words on canvases", async () => {
  const canvas = `<canvas width="200" height="100" style="width: 100px; background: #fff"></canvas>`;
  const draw = (calls) => `const c = document.querySelector("canvas").getContext("2d"); ${calls}`;
  none([await faultsOf(canvas, draw(`c.fillText("well", 100, 50)`))]);
  assert.match(await faultsOf(canvas, draw(`c.fillText("outside", 180, 50)`)), /"outside" .* cut off/);
  assert.match(await faultsOf(canvas, draw(`c.fillStyle = "#999"; c.fillText("pale", 100, 50)`)),
    /"pale" .* contrast of 2\.8/);
  assert.match(await faultsOf(canvas, draw(`c.translate(50, 50); c.fillText("a", 0, 0); c.fillText("b", 1, 1)`)),
    /"a" .* lies upon "b"|"b" .* lies upon "a"/);
  none([await faultsOf(canvas, draw(`c.fillText("gone", 199, 50); c.clearRect(0, 0, 200, 100)`))]);
});
