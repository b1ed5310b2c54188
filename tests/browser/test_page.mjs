// SPDX-License-Identifier: Apache-2.0
// test_page.mjs: every view, in every language, on a telephone and on a wide screen, by day and by
// night: nothing is asked of others, nothing goes wrong, everyone can use it, every word can be read.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessibilityFaults, browser, daemon, foreign, newPage, none, open, serve, VIEWS }
  from "./harness.mjs";
import { inkFaults, watchInk } from "./ink.mjs";

serve();

for (const view of VIEWS)
  for (const lang of ["en", "ru", "ja"])
    for (const [width, theme] of [[360, "dark"], [1920, "light"]])
      test(`${view}, ${lang}, ${width} px, ${theme}`, async () => {
        const page = await newPage(browser, { width, theme, lang });
        await watchInk(page);
        await open(page, `${daemon.url}/?view=${view}`);
        assert.equal(await page.getAttribute("html", "lang"), lang);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} px of content`);
        none(await inkFaults(page));
        none(await accessibilityFaults(page));
        none(foreign(page.requests, daemon.url));
        none(page.faults);
        await page.context().close();
      });
