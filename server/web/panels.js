// SPDX-License-Identifier: Apache-2.0
// panels.js: several drawings of one answer, side by side, each with readouts of its own.

import { el } from "./dom.js";

/** The children of a list of definitions for pairs of a name and a text. */
export function readoutList(pairs) {
  return pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
}

/**
 * Panels: `panels` are { title, drawing, readouts(answer) }, each of which gets the whole answer. `drawn`
 * is what each of them has drawn.
 */
export function panels(parts) {
  const boxes = parts.map(({ title, drawing }) => {
    const list = el("dl", { class: "readouts" });
    return { list, box: el("div", { class: "panel" }, el("h3", {}, title), drawing.element, list) };
  });
  return {
    element: el("div", { class: "panels" }, boxes.map(({ box }) => box)),
    get drawn() {
      return parts.map(({ drawing }) => drawing.drawn);
    },
    update(answer) {
      parts.forEach(({ drawing, readouts }, i) => {
        drawing.update(answer);
        boxes[i].list.replaceChildren(...readoutList(readouts(answer)));
      });
    },
    clear() {
      parts.forEach(({ drawing }, i) => {
        drawing.clear();
        boxes[i].list.replaceChildren();
      });
    },
  };
}
