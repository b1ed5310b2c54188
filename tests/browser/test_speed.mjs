// SPDX-License-Identifier: Apache-2.0
// test_speed.mjs: how much each view weighs, how soon its first plot is there and how soon a slider shows
// what it does. Figures are printed beside what is aimed at; only much longer times fail, since the machine
// may be busy with other things. Where RECORD names a file, they are written into it, too, between the two
// lines that say so.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { after, test } from "node:test";

import { browser, daemon, newPage, open, serve, VIEWS } from "./harness.mjs";

const TRANSFER = { unit: "kB", aim: 200, most: 200 };
const FIRST_PLOT = { unit: "ms", aim: 300, most: 6000 };
const RESPONSE = { unit: "ms", aim: 50, most: 3000 };
const ROUNDS = 5;
const BEGIN = "<!-- from here on written by make browser-record -->\n";
const END = "<!-- up to here by make browser-record -->\n";

const figures = [];
let machine = "";

after(() => {
  if (process.env.RECORD) record(process.env.RECORD);
});
serve();

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function judge(what, values, { unit, aim, most }) {
  const value = median(values);
  figures.push(`| ${what} | ${value.toFixed(0)} ${unit} | ${aim} ${unit} |`);
  console.log(`${what}: ${value.toFixed(1)} ${unit}, the median of ${values.length}; the aim is ${aim} ${unit}`);
  machine = `${cpus()[0].model}, ${cpus().length} cores, Chromium ${browser.version()}`;
  assert.ok(value <= most, `${what}: ${value} ${unit}`);
}

/* Puts the figures in place of those that were there. */
function record(path) {
  const text = readFileSync(path, "utf8");
  const [before, rest] = text.split(BEGIN);
  const [, behind] = rest.split(END);
  const commit = execFileSync("git", ["describe", "--always", "--dirty", "--abbrev=12"], { encoding: "utf8" }).trim();
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(path, [before, BEGIN, `\n${machine}. Commit ${commit}, ${date}; times are medians of ${ROUNDS} or more.\n\n`,
    "| figure | measured | aim |\n| --- | ---: | ---: |\n", figures.map((row) => `${row}\n`).join(""), "\n", END, behind].join(""));
}

for (const [view, lang] of VIEWS.flatMap((each) => [[each, "en"], [each, "ja"]]))
  test(`what ${view} weighs in ${lang}`, async () => {
    const page = await newPage(browser, { lang });
    const wire = await page.context().newCDPSession(page);
    let bytes = 0;
    await wire.send("Network.enable");
    wire.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
    await open(page, `${daemon.url}/?view=${view}`);
    assert.ok(bytes > 10_000);
    judge(`${view}, ${lang}: all of it with its answers, as sent`, [bytes / 1000], TRANSFER);
    await page.context().close();
  });

/* Run in the page before its own scripts: when canvases are drawn on. */
function watchDrawing() {
  globalThis.drawn = [];
  for (const name of ["putImageData", "stroke"]) {
    const call = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      globalThis.drawn.push(performance.now());
      return call.apply(this, given);
    };
  }
}

for (const view of VIEWS.filter((each) => each !== "check")) // which has no plot before it has a file
  test(`the first plot of ${view}`, async () => {
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      const page = await newPage(browser); // each has a cache of its own
      await page.addInitScript(watchDrawing);
      await page.goto(`${daemon.url}/?view=${view}`);
      await page.waitForFunction(() => globalThis.drawn.length > 0);
      times.push(await page.evaluate(() => globalThis.drawn[0]));
      await page.context().close();
    }
    judge(`${view}: first plot after the request for the page`, times, FIRST_PLOT);
  });

for (const view of ["lesson", "explore"])
  test(`a slider of ${view}`, async () => {
    const page = await newPage(browser);
    await page.addInitScript(watchDrawing);
    await open(page, `${daemon.url}/?view=${view}`);
    const slider = page.locator(".card:has(canvas) input[type=range]").first();
    await slider.scrollIntoViewIfNeeded();
    const times = [];
    for (let round = 0; round < 2 * ROUNDS; round++) {
      times.push(await slider.evaluate(async (input) => {
        const figure = input.closest(".card").querySelector(".plot");
        const url = figure.plot.url;
        globalThis.drawn.length = 0;
        const start = performance.now();
        if (input.valueAsNumber < Number(input.max)) input.stepUp();
        else input.value = input.min;
        input.dispatchEvent(new Event("input", { bubbles: true }));
        while (globalThis.drawn.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        if (figure.plot.url === url) throw new Error("the slider asks for nothing new");
        return globalThis.drawn[0] - start;
      }));
    }
    judge(`${view}: a plot after its slider has moved`, times, RESPONSE);
    await page.context().close();
  });
