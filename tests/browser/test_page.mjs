// SPDX-License-Identifier: Apache-2.0
// test_page.mjs: every view, in every language, from a telephone to a wide screen, by day and by night:
// nothing is asked of others, nothing goes wrong, everyone can use it, every word can be read.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessibilityFaults, browser, daemon, foreign, newPage, none, open, serve, settle, VIEWS }
  from "./harness.mjs";
import { inkFaults, watchInk } from "./ink.mjs";

serve();

/** What is wrong with a page as it stands, each with where. */
async function faultsOf(page, where) {
  const { width } = page.viewportSize();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  const faults = [
    ...wide > width ? [`${wide} px of content`] : [], ...await inkFaults(page), ...await accessibilityFaults(page),
  ];
  return faults.map((fault) => `${where}, ${width} px: ${fault}`);
}

const other = { light: "dark", dark: "light" };

/* As it is loaded, when night falls or day breaks, and in a window of another width. */
async function faultsByDayAndNight(page, theme, between) {
  const faults = await faultsOf(page, theme);
  await page.emulateMedia({ colorScheme: other[theme] });
  await settle(page);
  faults.push(...await faultsOf(page, other[theme]));
  await page.setViewportSize({ width: between, height: 900 });
  await settle(page);
  faults.push(...await faultsOf(page, other[theme]));
  return faults;
}

const WIDTHS = [{ width: 360, theme: "dark", between: 768 }, { width: 1920, theme: "light", between: 1280 }];

for (const view of VIEWS)
  for (const lang of ["en", "ru", "ja"])
    for (const { width, theme, between } of WIDTHS)
      test(`${view}, ${lang}, ${width} px`, async () => {
        const page = await newPage(browser, { width, theme, lang });
        await watchInk(page);
        await open(page, `${daemon.url}/?view=${view}`);
        assert.equal(await page.getAttribute("html", "lang"), lang);
        none(await faultsByDayAndNight(page, theme, between));
        none(foreign(page.requests, daemon.url));
        none(page.faults);
        await page.context().close();
      });

/* What a reader comes to see beside what is there at first. */
const STATES = [
  { name: "two encodings side by side",
    query: "view=explore&spec=rope:dim=64,scaling=yarn,factor=4,original_max=4096&other=sinusoidal:dim=64" },
  { name: "a bias", query: "view=explore&spec=alibi" },
  { name: "an encoding of two axes", query: "view=explore&spec=rope2d:dim=64" },
  { name: "an encoding that is refused", query: "view=explore&spec=rope:dim=63", refused: true },
  { name: "scores of vectors", query: "view=precision&quantity=score&measure=rms_error" },
  { name: "one plot alone", query: "view=lesson&only=scores" },
  {
    name: "answers about files", query: "view=check",
    async act(page) {
      for (const card of ["config", "vectors"])
        await page.locator(`#${card} .buttons > button.quiet`).first().click();
      await page.waitForSelector("#frequencies-0");
      await page.waitForSelector("#vectors .verdict");
    },
  },
  {
    name: "all that a plot can be taken along by", query: "view=lesson",
    act: (page) => page.$$eval("details", (all) => all.forEach((each) => (each.open = true))),
  },
];

for (const { name, query, act, refused = false } of STATES)
  for (const { width, theme, between } of WIDTHS)
    test(`${name}, ${width} px`, async () => {
      const page = await newPage(browser, { width, theme, lang: width < 400 ? "ru" : "en" });
      await watchInk(page);
      await open(page, `${daemon.url}/?${query}`);
      await act?.(page);
      await settle(page);
      none(await faultsByDayAndNight(page, theme, between));
      none(page.faults.filter((fault) => !refused || !fault.includes("400")));
      await page.context().close();
    });
