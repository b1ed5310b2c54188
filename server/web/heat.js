// SPDX-License-Identifier: Apache-2.0
// heat.js: a drawing of a matrix as colours, on a canvas of a pixel per cell, that can be read with the
// arrow keys.

import { color, el, onTheme } from "./dom.js";
import { digits, t } from "./words.js";

const SHADES = 256;
const STOPS = 7; // --diverging-0 … and --rising-0 … of the style sheet

/* Colours of SHADES values from the lowest to the highest, as bytes. */
function shades(name) {
  const stops = Array.from({ length: STOPS }, (_, i) =>
    color(`--${name}-${i}`).match(/[0-9a-f]{2}/gi).map((byte) => parseInt(byte, 16)));
  return Array.from({ length: SHADES }, (_, i) => {
    const at = (i / (SHADES - 1)) * (STOPS - 1);
    const from = Math.min(Math.floor(at), STOPS - 2);
    return stops[from].map((byte, k) => Math.round(byte + (stops[from + 1][k] - byte) * (at - from)));
  });
}

/* Where labels stand on an axis of n cells: every one if there is room, else round steps. */
function labelled(n, room) {
  const steps = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024];
  const step = steps.find((each) => n / each <= room) ?? Math.ceil(n / room);
  return Array.from({ length: Math.ceil(n / step) }, (_, i) => i * step);
}

/**
 * A heat map. `draw(answer)` says what there is: { values: [[numbers]], rows: [names], columns: [names] },
 * with `range` [min, max] where the colours are not to follow the values, and `mark` { row, column }.
 * `rows`, `columns` and `value` name the axes and the numbers: { label, unit }; the label of an axis may
 * be a function, asked at each answer. `diverging`: 0 is in the middle of the colours. `log`: they follow
 * the digits of the numbers. `square`: the map is as high as wide. choose(row, column) is called for the
 * cell that is clicked, or where Enter is pressed. `drawn` is what was drawn last.
 */
export function heat({
  rows, columns, value, draw, choose, diverging = false, log = false, square = false, height = 260,
}) {
  const canvas = el("canvas");
  const cursor = el("div", { class: "cell-cursor", hidden: true });
  const mark = el("div", { class: "cell-mark", hidden: true });
  const field = el("div", { class: "field", role: "group", tabindex: 0,
    "aria-roledescription": t("plot.heat"), "aria-label": t("plot.read_heat") }, canvas, mark, cursor);
  const left = el("div", { class: "ticks-left", "aria-hidden": "true" });
  const below = el("div", { class: "ticks-below", "aria-hidden": "true" });
  const scale = el("div", { class: "scale" },
    el("span", {}), el("canvas", { width: SHADES, height: 1 }), el("span", {}),
    el("span", { class: "faint" }, value.label));
  const readout = el("output", { class: "readout" }, t("plot.read_heat"));
  const label = (told) => (typeof told.label === "function" ? told.label() : told.label);
  const name = (told) => (told.unit ? `${label(told)} (${told.unit})` : label(told));
  const [nameLeft, nameBelow] = [el("div", { class: "name-left" }), el("div", { class: "name-below" })];
  const map = el("div", { class: square ? "heat square" : "heat" },
    nameLeft, left, field, below, nameBelow);
  const element = el("div", { class: "drawing" }, map, scale, readout);
  const drawing = { element, drawn: null, update, clear };
  let at = null;

  function update(answer) {
    drawing.drawn = draw(answer);
    nameLeft.textContent = name(rows);
    nameBelow.textContent = name(columns);
    paint();
    ticks();
    if (at) pointNear(at.row, at.column);
    element.classList.remove("empty");
  }

  function limits() {
    const { values, range } = drawing.drawn;
    if (range) return range;
    let [low, high] = [Infinity, -Infinity];
    for (const row of values)
      for (const each of row)
        if (typeof each === "number") [low, high] = [Math.min(low, each), Math.max(high, each)];
    const most = Math.max(Math.abs(low), Math.abs(high));
    return diverging ? [-most, most] : [low, high];
  }

  function paint() {
    const { values } = drawing.drawn;
    const [low, high] = limits();
    const onScale = log ? Math.log : (number) => number;
    const [start, end] = [low, high].map(onScale);
    const palette = shades(diverging ? "diverging" : "rising");
    const none = color("--none").match(/[0-9a-f]{2}/gi).map((byte) => parseInt(byte, 16));
    canvas.height = values.length;
    canvas.width = values[0]?.length ?? 0;
    if (canvas.width === 0) return;
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    let byte = 0;
    for (const row of values)
      for (const each of row) {
        const part = high > low ? (onScale(each) - start) / (end - start) : diverging ? 0.5 : 0;
        const shade = typeof each === "number"
          ? palette[Math.min(SHADES - 1, Math.max(0, Math.round(part * (SHADES - 1))))] : none;
        image.data.set(shade, byte);
        image.data[byte + 3] = 255;
        byte += 4;
      }
    context.putImageData(image, 0, 0);
    const [first, bar, last] = scale.children;
    first.textContent = digits(low, 3);
    last.textContent = digits(high, 3);
    const strip = bar.getContext("2d").createImageData(SHADES, 1);
    palette.forEach((shade, i) => strip.data.set([...shade, 255], 4 * i));
    bar.getContext("2d").putImageData(strip, 0, 0);
  }

  function ticks() {
    const { rows: rowNames, columns: columnNames, mark: place } = drawing.drawn;
    const high = square ? field.clientWidth : height;
    const widest = Math.max(...columnNames.map((each) => String(each).length));
    left.style.setProperty("min-width", `${Math.max(...rowNames.map((each) => String(each).length))}ch`);
    const put = (box, names, room, side) => box.replaceChildren(...labelled(names.length, room).map((i) => {
      const tick = el("span", {}, typeof names[i] === "number" ? digits(names[i]) : String(names[i]));
      tick.style.setProperty(side, `${((i + 0.5) / names.length) * 100}%`);
      return tick;
    }));
    put(left, rowNames, Math.max(2, Math.floor(high / 20)), "top");
    put(below, columnNames, Math.max(2, Math.floor(field.clientWidth / (widest * 8 + 12))), "left");
    frame(mark, place);
  }

  function frame(box, place) {
    box.hidden = !place;
    if (!place) return;
    const { rows: rowNames, columns: columnNames } = drawing.drawn;
    box.style.setProperty("left", `${(place.column / columnNames.length) * 100}%`);
    box.style.setProperty("top", `${(place.row / rowNames.length) * 100}%`);
    box.style.setProperty("width", `${100 / columnNames.length}%`);
    box.style.setProperty("height", `${100 / rowNames.length}%`);
  }

  function point(row, column) {
    const { values, rows: rowNames, columns: columnNames } = drawing.drawn;
    at = { row, column };
    frame(cursor, at);
    const each = values[row][column];
    readout.textContent = `${label(rows)} ${rowNames[row]}   ${label(columns)} ${columnNames[column]}   ` +
      `${value.label}: ${digits(each, 6)}`;
  }

  /* The same for the nearest cell that there is. */
  function pointNear(row, column) {
    const near = (place, names) => Math.min(Math.max(place, 0), names.length - 1);
    point(near(row, drawing.drawn.rows), near(column, drawing.drawn.columns));
  }

  function leave() {
    at = null;
    cursor.hidden = true;
    readout.textContent = t("plot.read_heat");
  }

  function clear() {
    drawing.drawn = null;
    leave();
    mark.hidden = true;
    canvas.width = 0;
    element.classList.add("empty");
  }

  field.addEventListener("pointermove", (event) => {
    if (!drawing.drawn) return;
    const box = field.getBoundingClientRect();
    const cell = (part, size, n) => Math.min(n - 1, Math.max(0, Math.floor((part / size) * n)));
    point(cell(event.clientY - box.top, box.height, drawing.drawn.rows.length),
      cell(event.clientX - box.left, box.width, drawing.drawn.columns.length));
  });
  field.addEventListener("pointerleave", leave);
  field.addEventListener("blur", leave);
  field.addEventListener("click", () => at && choose?.(at.row, at.column));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && at) choose?.(at.row, at.column);
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !drawing.drawn) return;
    event.preventDefault();
    const from = at ?? { row: 0, column: 0 };
    const [down, right] = at ? step : [0, 0];
    pointNear(from.row + down, from.column + right);
  });
  new ResizeObserver(() => drawing.drawn && ticks()).observe(field);
  onTheme(() => drawing.drawn && paint());
  if (!square) field.style.setProperty("height", `${height}px`);
  return drawing;
}
