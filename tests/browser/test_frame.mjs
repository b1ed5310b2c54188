// SPDX-License-Identifier: Apache-2.0
// test_frame.mjs: the page inside other pages, and the page when the service goes away.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { newPage, none, open, settle, startBrowser, startDaemon, VIEWS } from "./harness.mjs";

let daemon;
let browser;
let others; // a server of another origin, whose pages have frames
let lesson; // its page

before(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), startBrowser()]);
  others = createServer((request, response) =>
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(lesson));
  await new Promise((resolve) => others.listen(0, "127.0.0.1", resolve));
});

after(async () => {
  others.close();
  await browser.close();
  assert.equal(await daemon.stop(), 0);
});

/** The frame in another page that has this HTML. */
async function framed(page, html) {
  lesson = `<!doctype html><html lang="en"><title>A lesson</title><body>${html}`;
  await page.goto(`http://127.0.0.1:${others.address().port}/`);
  return (await page.waitForSelector("iframe")).contentFrame();
}

for (const view of VIEWS)
  test(`/embed/${view} in another page`, async () => {
    const page = await newPage(browser);
    const frame = await framed(page, `<iframe src="${daemon.url}/embed/${view}" width="900" height="700"></iframe>`);
    await frame.waitForSelector("body[data-ready]");
    await frame.waitForSelector("h1");
    assert.equal(await frame.$(".top"), null, "the frame has no header");
    assert.equal(await frame.evaluate(() => document.body.dataset.view), view);
    none(page.faults);
    await page.context().close();
  });

test("the page itself is in no frame", async () => {
  const page = await newPage(browser);
  const frame = await framed(page, `<iframe src="${daemon.url}/" width="900" height="700"></iframe>`);
  await page.waitForLoadState("networkidle");
  assert.equal(await frame.$("main"), null);
  await page.context().close();
});

test("one plot alone, by the snippet that the page gives", async () => {
  const page = await newPage(browser);
  for (const view of VIEWS) {
    await open(page, `${daemon.url}/?view=${view}`);
    const snippets = await page.$$eval(".plot", (figures) => figures.filter(({ plot }) => plot.url)
      .map(({ id, plot }) => [id, plot.url, plot.element.querySelector(".snippet code").textContent]));
    for (const [id, url, snippet] of snippets.slice(0, 3)) {
      const frame = await framed(page, snippet);
      await frame.waitForSelector(`#${id}`);
      await frame.waitForFunction((name) => document.getElementById(name).plot.answer, id);
      const [shown, asked] = await frame.evaluate((name) => [
        [...document.querySelectorAll(".plot")].filter((figure) => figure.checkVisibility()).map((figure) => figure.id),
        document.getElementById(name).plot.url,
      ], id);
      assert.ok(shown.includes(id), `${view}: ${shown} instead of ${id}`);
      assert.equal(asked, url);
    }
  }
  none(page.faults);
  await page.context().close();
});

/* Moves the first control that asks for something new. */
async function change(page) {
  const control = page.locator(".control select").first();
  const values = await control.locator("option").evaluateAll((options) => options.map(({ value }) => value));
  const now = await control.inputValue();
  await control.selectOption(values.find((value) => value !== now));
}

test("a service that goes away is missed, and found again", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=precision`);
  assert.equal(await page.textContent(".banner"), "");
  await page.context().setOffline(true);
  await page.locator("select").nth(-1).selectOption("f32"); // of the pairs
  await page.locator("select").nth(-4).selectOption("1:513");
  await page.waitForFunction(() => document.querySelector(".banner").textContent !== "");
  assert.match(await page.textContent(".banner"), /does not answer/);
  assert.ok(await page.locator(".problem:not([hidden])").count() > 0, "plots say it, too");
  await page.context().setOffline(false);
  await page.waitForFunction(() => document.querySelector(".banner").textContent === "");
  await settle(page);
  assert.equal(await page.locator(".problem:not([hidden])").count(), 0);
  assert.ok(await page.$$eval(".plot", (figures) => figures.every(({ plot }) => plot.drawing.drawn)));
  await page.context().close();
});

test("a daemon that ends, and the next one", async () => {
  const mortal = await startDaemon();
  const page = await newPage(browser);
  await open(page, `${mortal.url}/?view=precision`);
  assert.equal(await mortal.stop(), 0);
  await change(page);
  await page.waitForFunction(() => /does not answer/.test(document.querySelector(".banner").textContent));
  const next = await startDaemon(new URL(mortal.url).port);
  await page.waitForFunction(() => document.querySelector(".banner").textContent === "");
  await settle(page);
  assert.equal(await page.locator(".problem:not([hidden])").count(), 0);
  assert.ok(await page.$$eval(".plot", (figures) => figures.every(({ plot }) => plot.drawing.drawn)));
  await page.context().close();
  assert.equal(await next.stop(), 0);
});
