// SPDX-License-Identifier: Apache-2.0
// test_controls.mjs: every control of every view does something, stands in the address, and is found
// again by who opens that; and all of it by keyboard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, daemon, newPage, none, open, serve, settle, VIEWS } from "./harness.mjs";

serve();

const CONTROLS = ".control input:visible, .control select:visible";
const TEXTS = { // something else to type than what is there
  "the dog chased another dog": "no dog chased no dog", "0,8,24": "0,5", "rope:dim=64": "rope:dim=32",
  "rope:dim=64,layout=half": "rope:dim=32", "": "0:4",
};
const CHOICES = { scaling: null, Encoding: "sinusoidal" }; // where the next may need further keys; null: each does

/** What each control shows. */
const shown = (page) => page.locator(CONTROLS).evaluateAll((controls) =>
  controls.map((control) => [control.labels[0]?.textContent, control.type === "checkbox" ? control.checked : control.value]));

/** What each plot that is seen has asked for, drawn and said. */
const drawings = (page) => page.$$eval(".plot", (figures) => figures.filter((figure) => figure.checkVisibility()).map(
  ({ id, plot }) => [id, plot.url, JSON.stringify(plot.drawing.drawn), plot.drawing.element.innerText]));

/** Gives a control another value, as a reader would. False: there is none that makes sense alone. */
async function operate(control) {
  const { type, label, value, values, placeholder } = await control.evaluate((element) => ({
    type: element.type, label: element.labels[0]?.textContent, value: element.value, placeholder: element.placeholder,
    values: [...element.options ?? []].map((option) => option.value),
  }));
  if (type === "range") {
    await control.press("ArrowRight");
    if (await control.inputValue() === value) await control.press("ArrowLeft");
  } else if (type === "select-one") {
    const next = values.find((each) => each !== value && each !== "");
    const other = CHOICES[label] === undefined ? next : CHOICES[label];
    if (!other) return false;
    await control.selectOption(other);
  } else if (type === "checkbox") {
    await control.setChecked(!await control.isChecked());
  } else if (type === "number") {
    await control.fill(String(2 * Number(value || placeholder)));
    await control.press("Enter");
  } else {
    const text = TEXTS[value];
    assert.ok(text, `nothing to type in place of "${value}" (${label})`);
    await control.fill(text);
    await control.press("Enter");
  }
  return true;
}

for (const view of VIEWS)
  test(`${view}: what controls do, and that it can be sent`, async () => {
    const page = await newPage(browser);
    const home = `${daemon.url}/?view=${view}`;
    await open(page, home);
    const before = await drawings(page);
    const usual = await shown(page);
    assert.ok(usual.length > 4);
    for (let i = 0; i < usual.length; i++) {
      const control = page.locator(CONTROLS).nth(i);
      const [name] = usual[i];
      if (!await operate(control)) continue;
      await page.waitForURL((url) => url.href !== home);
      await settle(page);
      const then = [await shown(page), await drawings(page)];
      if (view !== "check") assert.notDeepEqual(then[1], before, `${name} changes no plot`);
      await page.reload();
      await settle(page);
      assert.deepEqual([await shown(page), await drawings(page)], then, `${name} is not found again`);
      await open(page, home);
    }
    none(page.faults);
    await page.context().close();
  });

test("the form of an encoding has the kinds and keys of the catalogue", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=explore`);
  const { encodings } = await (await fetch(`${daemon.url}/v1/encodings`)).json();
  const kinds = await page.locator(".encoding select").first().locator("option").evaluateAll((options) =>
    options.map(({ value }) => value));
  none(kinds.filter((kind) => !encodings.some((each) => each.kind === kind)));
  for (const kind of ["sinusoidal", "alibi", "rope2d"]) {
    await page.locator(".encoding select").first().selectOption(kind);
    await page.waitForFunction((name) => location.search.includes(`spec=${name}`), kind);
    const rows = await page.$$eval(".encoding [data-row]", (inputs) => inputs.map(({ dataset }) => dataset.row.replace(/^\w+\./, "")));
    const { properties } = encodings.find((each) => each.kind === kind).schema;
    none(rows.filter((row) => !(row in properties)));
    none(Object.entries(properties).filter(([name, row]) => name !== "kind" && !row["x-when"] && !rows.includes(name)).map(([name]) => name));
  }
  await page.context().close();
});

for (const view of ["explore", "precision"])
  test(`${view}: every kind that can be chosen is drawn, and nothing is asked that has no answer`, async () => {
    const page = await newPage(browser);
    await open(page, `${daemon.url}/?view=${view}`);
    const chooser = page.locator(".encoding select").first();
    const kinds = await chooser.locator("option").evaluateAll((options) => options.map(({ value }) => value));
    assert.ok(kinds.length > 10);
    for (const kind of kinds) {
      await chooser.selectOption(kind);
      await settle(page);
      const plots = await page.$$eval(".plot", (figures) => figures.filter((figure) => figure.checkVisibility()).map(
        ({ id, plot }) => [id, plot.url, plot.drawing.drawn !== null, plot.element.querySelector(".problem").innerText,
          [...plot.element.querySelectorAll("a[download]:not([hidden])")].map((link) => link.getAttribute("href"))]));
      assert.ok(plots.length >= 2, `${kind} has ${plots.length} plots`);
      none(plots.filter(([, , drawn, problem]) => !drawn || problem).map((plot) => plot.join(" ")));
      none(plots.filter(([, url]) => !url.includes(kind)).map((plot) => `not of ${kind}: ${plot}`));
      for (const href of plots.flatMap(([, , , , links]) => links))
        assert.equal((await fetch(daemon.url + href, { method: "HEAD" })).status, 200, href);
      none(page.faults);
    }
    await page.context().close();
  });

// ---- By keyboard --------------------------------------------------------------------------------

/* Run in the page: what can have the focus, in the order of the document. */
const focusable = () => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled)
  .map((each) => each.outerHTML.replace(/ (value|style|aria-valuetext)="[^"]*"/g, "").slice(0, 160));

for (const view of VIEWS)
  test(`${view}: Tab reaches everything, in order, and shows where it is`, async () => {
    const page = await newPage(browser);
    await open(page, `${daemon.url}/?view=${view}`);
    const all = await page.evaluate(focusable);
    const reached = [];
    for (let i = 0; i < all.length; i++) {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate(() => {
        const at = document.activeElement;
        const visible = at.matches(".drop input") ? at.parentElement.querySelector("label") : at;
        const { outlineStyle, outlineWidth } = getComputedStyle(visible);
        return {
          html: at.outerHTML.replace(/ (value|style|aria-valuetext)="[^"]*"/g, "").slice(0, 160),
          ring: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
        };
      }));
    }
    assert.deepEqual(reached.map(({ html }) => html), all);
    none(reached.filter(({ ring }) => !ring).map(({ html }) => `no ring: ${html}`));
    await page.context().close();
  });

test("the first link leads past the header", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson`);
  await page.keyboard.press("Tab");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Skip/);
  const box = await page.locator(".skip").boundingBox();
  assert.ok(box.x >= 0, "it is seen when it has the focus");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.context().close();
});

test("arrow keys read maps and lines", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson`);
  await page.focus("#grid .field");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  const { values } = await page.$eval("#grid", ({ plot }) => plot.drawing.drawn);
  const said = await page.textContent("#grid .readout");
  const [row, column, value] = said.match(/[\d.]+/g).map(Number);
  assert.equal(value, Number(values[row][column].toPrecision(6)), said);
  assert.deepEqual([row, column], [1, 1]);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#grid").plot.url.includes("query=1,1"));

  await page.focus("#terms .surface");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  const { x, lines } = await page.$eval("#terms", ({ plot }) => plot.drawing.drawn);
  const text = await page.textContent("#terms .readout");
  assert.ok(text.includes(`${x[1]}`), text);
  for (const { name, y } of lines) assert.ok(text.includes(`${name}: ${Number(y[1].toPrecision(6))}`), text);
  none(page.faults);
  await page.context().close();
});

test("a language chosen keeps what else was chosen", async () => {
  const page = await newPage(browser);
  await open(page, `${daemon.url}/?view=lesson&seed=3`);
  await page.click(".languages a[lang=ru]");
  await page.waitForSelector("html[lang=ru] body[data-ready]");
  await settle(page);
  assert.match(await page.$eval("#scores", ({ plot }) => plot.url), /seed=3/);
  none(page.faults);
  await page.context().close();
});
