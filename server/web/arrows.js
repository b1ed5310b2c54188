// SPDX-License-Identifier: Apache-2.0
// arrows.js: a drawing of pairs of channels as arrows, before and after they are turned.

import { el } from "./dom.js";
import { digits, t } from "./words.js";

const REACH = 1.15; // half the side of a picture, in lengths of its longer arrow
const HEAD = 0.16; // of an arrow, in the same

function shape(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/* An arrow from the middle to (x, y), the y axis upwards, as a path; `unit` is the size of the picture. */
function arrow([x, y], unit) {
  const length = Math.hypot(x, y);
  if (length === 0) return "M0 0";
  const [ux, uy] = [x / length, y / length];
  const head = Math.min(HEAD * unit, length);
  const wing = (side) => `${x - head * (ux + side * uy * 0.55)} ${-(y - head * (uy - side * ux * 0.55))}`;
  return `M0 0L${x} ${-y}M${wing(1)}L${x} ${-y}L${wing(-1)}`;
}

/**
 * Arrows. `draw(answer)` says what there is: { positions: [numbers], before, after: [position][pair] of
 * [x, y], names: of the pairs }. `move(position)` shows the arrows there; `drawn` is what was drawn last.
 */
export function arrows({ draw, position: start }) {
  const field = el("div", { class: "arrows" });
  // The slider speaks for itself; this would say each step while they turn.
  const readout = el("output", { class: "readout", "aria-live": "off" });
  const element = el("div", { class: "drawing" }, field, readout);
  const drawing = { element, drawn: null, update, clear, move };
  let position = start;
  let turned = [];

  function picture(pair) {
    const [before, after] = [drawing.drawn.before[0][pair], drawing.drawn.after[0][pair]];
    const unit = Math.max(Math.hypot(...before), Math.hypot(...after)) || 1;
    const side = REACH * unit;
    const name = drawing.drawn.names[pair];
    const svg = shape("svg",
      { viewBox: `${-side} ${-side} ${2 * side} ${2 * side}`, role: "img", "aria-label": name });
    const hand = shape("path", { class: "after" });
    svg.append(
      shape("circle", { r: Math.hypot(...after), class: "circle" }),
      shape("path", { d: `M${-side} 0H${side}M0 ${-side}V${side}`, class: "axes" }),
      shape("path", { d: arrow(before, unit), class: "before" }), hand);
    turned.push({ hand, unit, pair });
    return el("div", {}, svg, el("div", { class: "faint" }, name));
  }

  function update(answer) {
    drawing.drawn = draw(answer);
    turned = [];
    field.replaceChildren(...drawing.drawn.names.map((_, pair) => picture(pair)));
    move(position);
  }

  function move(to) {
    position = to;
    if (!drawing.drawn) return;
    const { positions, after, names } = drawing.drawn;
    const row = Math.max(0, positions.findLastIndex((each) => each <= position));
    for (const { hand, unit, pair } of turned) hand.setAttribute("d", arrow(after[row][pair], unit));
    readout.textContent = `${t("lesson.position")} ${digits(positions[row])}   ` + names.map((name, pair) =>
      `${name}: ${after[row][pair].map((each) => digits(each, 3)).join(", ")}`).join("   ");
  }

  function clear() {
    drawing.drawn = null;
    turned = [];
    field.replaceChildren();
    readout.textContent = "";
  }

  return drawing;
}
