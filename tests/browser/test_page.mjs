// SPDX-License-Identifier: Apache-2.0
// test_page.mjs: the page as a whole: nothing is asked of others, nothing goes wrong, everyone can
// use it, on a telephone and on a wide screen.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { accessibilityFaults, foreign, newPage, startBrowser, startDaemon } from "./harness.mjs";

let daemon;
let browser;

before(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), startBrowser()]);
});

after(async () => {
  await browser.close();
  assert.equal(await daemon.stop(), 0);
});

for (const theme of ["light", "dark"]) {
  for (const width of [360, 1920]) {
    test(`the page, ${theme}, ${width} px wide`, async () => {
      const page = await newPage(browser, { width, theme });
      await page.goto(daemon.url, { waitUntil: "networkidle" });
      assert.deepEqual(foreign(page.requests, new URL(daemon.url).origin), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} px of content`);
      assert.deepEqual(await accessibilityFaults(page), []);
      assert.deepEqual(page.faults, []);
      await page.context().close();
    });
  }
}
