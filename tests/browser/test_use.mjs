// SPDX-License-Identifier: Apache-2.0
// test_use.mjs: what readers do beside moving controls: they go back and forth, magnify, print, keep
// things still, switch scripts off, sit on a slow line; and buttons that change what is seen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessibilityFaults, browser, daemon, newPage, none, open, serve, settle, VIEWS } from "./harness.mjs";
import { inkFaults, watchInk } from "./ink.mjs";

serve();

const url = (page, id) => page.$eval(`#${id}`, ({ plot }) => plot.url);
const drawn = (page, id) => page.$eval(`#${id}`, ({ plot }) => plot.drawing.drawn);

test("back and forth between views, each as it was left", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson`);
  await page.selectOption("#step-1 select", "rope");
  await page.waitForURL(/act=rope/);
  await page.click("nav a:text-is('Explore')");
  await page.waitForSelector("body[data-view=explore][data-ready]");
  await page.selectOption(".encoding select >> nth=0", "sinusoidal");
  await page.waitForURL(/spec=sinusoidal/);
  await page.goBack();
  await page.waitForSelector("body[data-view=lesson][data-ready]");
  await settle(page);
  assert.match(await url(page, "attention"), /spec=rope/);
  await page.goForward();
  await page.waitForSelector("body[data-view=explore][data-ready]");
  await settle(page);
  assert.match(await url(page, "table"), /spec=sinusoidal/);
  none(page.faults);
  await page.context().close();
});

test("a step of the lesson by its link", async () => {
  const page = await newPage(browser, { motion: "reduce" });
  await open(page, `${daemon.url}/?view=lesson`);
  await page.click(".contents a >> nth=6");
  await page.waitForURL(/#step-7$/);
  const { top } = await page.$eval("#step-7 h2", (heading) => ({ top: heading.getBoundingClientRect().top }));
  assert.ok(top > 0 && top < 300, `the heading stands at ${top}`);
  await page.goBack();
  await page.waitForURL((where) => where.hash === "");
  none(page.faults);
  await page.context().close();
});

for (const view of VIEWS)
  test(`${view}: magnified twice`, async () => {
    const context = await browser.newContext({ viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 });
    const page = await context.newPage();
    await watchInk(page);
    await open(page, `${daemon.url}/?view=${view}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 640);
    none(await inkFaults(page));
    none(await accessibilityFaults(page));
    await context.close();
  });

for (const view of VIEWS)
  test(`${view}: on paper`, async () => {
    const page = await newPage(browser, { theme: "light" });
    await open(page, `${daemon.url}/?view=${view}`);
    await page.emulateMedia({ media: "print" });
    for (const selector of [".top", ".tools", ".play", ".drop"])
      none(await page.$$eval(selector, (all) => all.filter((each) => each.checkVisibility()).map((each) => each.outerHTML)));
    assert.ok(await page.isVisible("h1"));
    assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
    await page.context().close();
  });

test("without scripts the page says what it needs, and where to go", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  for (const path of ["/", ...VIEWS.map((view) => `/embed/${view}`)]) {
    await page.goto(daemon.url + path);
    for (const [lang, says] of [["en", "needs JavaScript"], ["ru", "нужен JavaScript"], ["ja", "JavaScript が必要"]])
      assert.ok((await page.innerText(`p[lang=${lang}]`)).includes(says), `${path}: ${lang}`);
  }
  await page.click("p[lang=en] a >> nth=0");
  assert.match(await page.innerText("body"), /posencd/);
  await context.close();
});

test("arrows stop when things are to keep still", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson`);
  const hand = () => page.getAttribute("#rotation .after", "d");
  const start = await hand();
  await page.click(".play");
  await page.waitForFunction((old) => document.querySelector("#rotation .after").getAttribute("d") !== old, start);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.waitForSelector(".play", { state: "hidden" });
  const stopped = await hand();
  await page.waitForTimeout(500);
  assert.equal(await hand(), stopped);
  none(page.faults);
  await page.context().close();
});

test("on a slow line what was chosen last is what is shown", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson`);
  const wire = await page.context().newCDPSession(page);
  await wire.send("Network.enable");
  await wire.send("Network.emulateNetworkConditions",
    { offline: false, latency: 300, downloadThroughput: 50_000, uploadThroughput: 50_000 });
  const slider = page.locator("#step-6 input[type=range]").nth(1);
  await slider.focus();
  for (let i = 0; i < 6; i++) await slider.press("ArrowRight");
  await page.waitForSelector("#scores[aria-busy]");
  await settle(page);
  assert.match(await url(page, "scores"), /offsets=0:56/);
  for (const { x } of await drawn(page, "scores")) assert.equal(x.length, 56);
  assert.equal(await page.textContent(".banner"), "");
  none(page.faults);
  await page.context().close();
});

// ---- Buttons --------------------------------------------------------------------------------------

test("a second encoding beside the first, and alone again", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=explore`);
  const seen = () => page.$$eval(".plot", (figures) =>
    figures.filter((figure) => figure.checkVisibility()).map(({ id }) => id));
  const alone = await seen();
  await page.click("button:text-is('Compare with another')");
  await settle(page);
  const both = await seen();
  assert.deepEqual(both.filter((id) => !id.endsWith("-2")), alone);
  assert.deepEqual(both.filter((id) => id.endsWith("-2")), alone.map((id) => `${id}-2`));
  for (const id of alone) {
    assert.match(await url(page, id), /spec=rope:dim=64/);
    assert.match(await url(page, `${id}-2`), /spec=sinusoidal:dim=64/);
  }
  await page.locator(".encoding:visible select").nth(-1).scrollIntoViewIfNeeded();
  await page.click("button:text-is('Compare no longer')");
  await settle(page);
  assert.deepEqual(await seen(), alone);
  none(page.faults);
  await page.context().close();
});

test("lines are hidden and shown by their names", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson`);
  const pixels = () => page.$eval("#terms canvas", (canvas) => canvas.toDataURL());
  const before = await pixels();
  const name = page.locator("#terms .legend button").nth(1);
  await name.click();
  assert.equal(await name.getAttribute("aria-pressed"), "false");
  await page.waitForFunction((old) => document.querySelector("#terms canvas").toDataURL() !== old, before);
  await page.focus("#terms .surface");
  await page.keyboard.press("Home");
  assert.doesNotMatch(await page.textContent("#terms .readout"), /Query at 8/);
  await name.click();
  assert.equal(await name.getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Tab");
  none(page.faults);
  await page.context().close();
});

test("a cell that is clicked, and one that is pointed at", async () => {
  const page = await newPage(browser, { motion: "reduce" });
  await open(page, `${daemon.url}/?view=lesson`);
  const field = page.locator("#grid .field");
  await field.scrollIntoViewIfNeeded();
  const { width, height } = await field.boundingBox();
  const position = { x: (2.5 / 14) * width, y: (11.5 / 14) * height };
  await field.hover({ position });
  const { values } = await drawn(page, "grid");
  assert.ok((await page.textContent("#grid .readout")).endsWith(String(Number(values[11][2].toPrecision(6)))));
  await field.click({ position });
  await page.waitForFunction(() => document.querySelector("#grid").plot.url.endsWith("query=11,2"));
  await settle(page);
  assert.equal((await drawn(page, "grid")).values[11][2], 1);
  none(page.faults);
  await page.context().close();
});
