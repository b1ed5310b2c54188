// SPDX-License-Identifier: Apache-2.0
// test_plots.mjs: every plot of every view: what it has drawn is what the API answers, and what one can
// take along of it is the same again.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { promisify } from "node:util";

import { browser, daemon, newPage, none, open, serve, VIEWS } from "./harness.mjs";

const run = promisify(execFile);

serve();

const get = async (path) => (await fetch(daemon.url + path, { headers: { Accept: "application/json" } })).json();

/** All numbers in a document, at any depth. */
function numbersOf(node, found = new Set()) {
  if (typeof node === "number") found.add(node);
  else if (node && typeof node === "object") for (const each of Object.values(node)) numbersOf(each, found);
  return found;
}

/** The numbers that a drawing shows: of lines, cells, arrows, and panels of these. */
function shown(drawn) {
  if (Array.isArray(drawn)) return drawn.flatMap(shown);
  const values = [drawn.lines?.map(({ y }) => y), drawn.values, drawn.before, drawn.after];
  return values.flat(Infinity).filter((each) => typeof each === "number");
}

/* Run in the page: what is to be known of each plot. */
const describe = (figures) => figures.filter(({ plot }) => plot.url).map((figure) => ({
  id: figure.id,
  url: figure.plot.url,
  answer: figure.plot.answer,
  drawn: figure.plot.drawing.drawn,
  links: Object.fromEntries([...figure.querySelectorAll("a[download]:not([hidden])")].map((link) =>
    [link.textContent, link.getAttribute("href")])),
  address: figure.querySelector(".url").textContent,
  colors: [...figure.querySelectorAll("canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  }),
}));

for (const view of VIEWS)
  test(`${view}: what is drawn is what the API says`, async () => {
    const page = await newPage(browser);
    // A view may need a reader's config before it has a plot.
    await open(page, `${daemon.url}/?view=${view}&found=rope:dim=32`);
    const plots = await page.$$eval(".plot", describe);
    assert.ok(plots.length > 0);
    assert.equal(new Set(plots.map(({ id }) => id)).size, plots.length, "ids are unlike each other");
    for (const { id, url, answer, drawn, address, colors } of plots) {
      const asked = await get(url);
      assert.deepEqual(answer, asked, id);
      assert.equal(address, url);
      const known = numbersOf(asked);
      const numbers = shown(drawn);
      assert.ok(numbers.length > 5, `${id} shows ${numbers.length} numbers`);
      none(numbers.filter((each) => !known.has(each)).map((each) => `${id} shows ${each}`).slice(0, 5));
      for (const n of colors) assert.ok(n > 1, `${id} has an empty canvas`);
    }
    // Each by one request of its own, beside what all of the page shares.
    const asked = page.requests.map((url) => url.slice(daemon.url.length)).filter((path) => path.startsWith("/v1/"));
    const wanted = new Set(plots.map(({ url }) => url));
    none([...wanted].filter((url) => !asked.includes(url)).map((url) => `not asked: ${url}`));
    none(asked.filter((url) => !wanted.has(url) && url !== "/v1/encodings").map((url) => `for nothing: ${url}`));
    assert.equal(asked.filter((url) => url !== "/v1/encodings").length, plots.length, asked.join("\n"));
    none(page.faults);
    await page.context().close();
  });

const SIGNATURES = { CSV: /^[\w-]+(,[^\n]+)+\n/, SVG: /^<svg |^<\?xml/, PNG: /^\x89PNG\r\n/ };

/** The numbers of a CSV that are no labels: those that are not whole. */
const tabled = (text) => text.split("\n").slice(1).flatMap((row) => row.split(","))
  .filter((cell) => /^-?[\d.]+(e-?\d+)?$/.test(cell)).map(Number).filter((number) => !Number.isInteger(number));

for (const view of VIEWS)
  test(`${view}: files of plots`, async () => {
    const page = await newPage(browser, { motion: "reduce" }); // a page that scrolls is hard to hit
    await open(page, `${daemon.url}/?view=${view}&found=rope:dim=32&term=cross_q&measure=rms_error`);
    const plots = await page.$$eval(".plot", describe);
    for (const { id, address, links, drawn } of plots) {
      if (!address.startsWith("POST"))
        assert.deepEqual(Object.keys(links), ["SVG", "PNG", "CSV"], id);
      for (const [name, href] of Object.entries(links)) {
        const answer = await fetch(daemon.url + href);
        const bytes = Buffer.from(await answer.arrayBuffer());
        assert.equal(answer.status, 200, `${id}: ${href}: ${bytes.subarray(0, 400)}`);
        assert.match(bytes.toString("latin1"), SIGNATURES[name], `${id}: ${name}`);
        if (name !== "CSV" || id === "properties") continue; // which shows verdicts on what the CSV has
        const known = new Set([shown(drawn), drawn.x ?? [], drawn.positions ?? []].flat());
        none(tabled(bytes.toString()).filter((each) => !known.has(each)).map((each) => `${id}: ${each} in the CSV`).slice(0, 3));
      }
    }
    // The browser saves just these; a few times, as it takes many of them for a flood.
    const [{ id, links }] = plots;
    for (const [name, href] of Object.entries(links)) {
      const saving = page.waitForEvent("download");
      await page.click(`#${id} a[download]:text-is("${name}")`);
      const file = await saving;
      assert.match(file.suggestedFilename(), new RegExp(`\\.${name.toLowerCase()}$`));
      const bytes = Buffer.from(await (await fetch(daemon.url + href)).arrayBuffer());
      assert.deepEqual(await readFile(await file.path()), bytes);
    }
    none(page.faults);
    await page.context().close();
  });

/** What a button of a plot puts on the clipboard. */
async function copied(page, id, name) {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.click(`#${id} button:text-is("${name}")`);
  await page.waitForSelector(`#${id} button:text-is("Copied")`);
  return (await page.waitForFunction(() => navigator.clipboard.readText())).jsonValue();
}

for (const view of VIEWS)
  test(`${view}: what can be copied`, async () => {
    const page = await newPage(browser);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await open(page, `${daemon.url}/?view=${view}&found=rope:dim=32`);
    for (const { id, url, answer, links } of await page.$$eval(".plot", describe)) {
      const command = await copied(page, id, "Copy as curl");
      const { stdout } = await run("sh", ["-c", command], { maxBuffer: 1 << 26 });
      assert.equal(stdout, await (await fetch(daemon.url + url)).text());
      assert.deepEqual(JSON.parse(stdout), answer);
      await page.click(`#${id} summary:text-is("Embed")`);
      assert.match(await copied(page, id, "Copy the frame"), new RegExp(`^<iframe src="${daemon.url}/embed/${view}\\?.*only=${id}`));
      if (links.SVG)
        assert.ok((await copied(page, id, "Copy the picture")).startsWith(`<img src="${daemon.url}${links.SVG}"`));
    }
    none(page.faults);
    await page.context().close();
  });
