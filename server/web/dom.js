// SPDX-License-Identifier: Apache-2.0
// dom.js: short ways to make elements, and what the style sheet says of colours.

/** An element: attributes, `on…` listeners, properties after a dot (".value"), then children. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith(".")) element[name.slice(1)] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

/** Text whose `words in backticks` are code. */
export function rich(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

let styles = getComputedStyle(document.documentElement);
const dark = matchMedia("(prefers-color-scheme: dark)");
const redraws = new Set();

/** The value of a custom property of the style sheet: color("--ink"). */
export function color(name) {
  return styles.getPropertyValue(name).trim();
}

/** Calls back when the colours have changed, as between day and night. */
export function onTheme(redraw) {
  redraws.add(redraw);
}

dark.addEventListener("change", () => {
  styles = getComputedStyle(document.documentElement);
  for (const redraw of redraws) redraw();
});

/** Whether the reader wants things to keep still. */
export const still = matchMedia("(prefers-reduced-motion: reduce)");

let ids = 0;
/** An id that nothing else in the page has. */
export function freshId(prefix) {
  return `${prefix}-${++ids}`;
}
