// SPDX-License-Identifier: Apache-2.0
// screenshots.mjs FOLDER: pictures of every view and of some plots, as the README shows them.

import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";

import { newPage, open, settle, startBrowser, startDaemon } from "./harness.mjs";

const [folder] = process.argv.slice(2);

/** What each picture shows: a view at an address, and what a reader does there before. */
const pictures = [
  { name: "lesson", query: "view=lesson" },
  { name: "lesson-scores", query: "view=lesson", only: "#step-6" },
  { name: "lesson-rotation-dark", query: "view=lesson&turn=5", only: "#step-7", theme: "dark" },
  { name: "lesson-ja", query: "view=lesson", only: "#step-4", lang: "ja" },
  { name: "lesson-narrow", query: "view=lesson", width: 360, height: 780 },
  { name: "explore", query: "view=explore", whole: true },
  { name: "explore-dark", query: "view=explore", theme: "dark" },
  {
    name: "check", query: "view=check", whole: true,
    async act(page) {
      await page.click("#config button:text-is('Try an example')");
      await page.click("#vectors button:text-is('Try an example')");
      await page.waitForSelector("#frequencies-0");
      await page.waitForSelector("#vectors .verdict");
    },
  },
  { name: "precision", query: "view=precision", whole: true },
  { name: "precision-narrow-dark", query: "view=precision", width: 360, height: 780, theme: "dark" },
];

const [daemon, browser] = await Promise.all([startDaemon(), startBrowser()]);
for (const { name, query, only, whole = false, act, width = 1280, height = 860, ...settings } of pictures) {
  // One part of a page is taken from a page so high that nothing floats over it.
  const page = await newPage(browser, { width, height: only ? 2400 : height, motion: "reduce", ...settings });
  await open(page, `${daemon.url}/?${query}`);
  await act?.(page);
  await settle(page);
  const path = `${folder}/${name}.png`;
  if (only) await page.locator(only).screenshot({ path });
  else await page.screenshot({ path, fullPage: whole });
  execFileSync("pngquant", ["--force", "--skip-if-larger", "--ext", ".png", "--speed", "1", path]);
  await page.context().close();
}
await browser.close();

// And the plots that the README has by their URLs.
const readme = await readFile("README.md", "utf8");
for (const [, path] of readme.matchAll(/<img src="http:\/\/127\.0\.0\.1:8080(\/v1\/plots\/[^"]+)">/g)) {
  const picture = await fetch(daemon.url + path.replace(".svg?", ".png?density=2&"));
  const [, name] = path.match(/plots\/([^.]+)/);
  await writeFile(`${folder}/plot-${name}.png`, Buffer.from(await picture.arrayBuffer()));
}
await daemon.stop();
