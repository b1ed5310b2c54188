// SPDX-License-Identifier: Apache-2.0
// ink.mjs: where the words of a page stand, in elements and on canvases, and in which colours; what is
// cut off, what lies upon something else, and what can hardly be read.

/* Run in the page before its own scripts: a canvas remembers its texts until it is cleared. */
function remember() {
  const texts = new WeakMap();
  globalThis.canvasTexts = (canvas) => texts.get(canvas) ?? [];
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const { actualBoundingBoxLeft: l, actualBoundingBoxRight: r, actualBoundingBoxAscent: a,
      actualBoundingBoxDescent: d } = this.measureText(text);
    const transform = this.getTransform();
    const corners = [[x - l, y - a], [x + r, y + d]].map(([px, py]) => transform.transformPoint({ x: px, y: py }));
    const list = texts.get(this.canvas) ?? [];
    list.push({ text: String(text), corners: corners.map((p) => [p.x, p.y]), color: this.fillStyle });
    texts.set(this.canvas, list);
    return fillText.call(this, text, x, y, ...rest);
  };
  CanvasRenderingContext2D.prototype.clearRect = function (x, y, width, height) {
    if (width >= this.canvas.width && height >= this.canvas.height) texts.delete(this.canvas);
    return clearRect.call(this, x, y, width, height);
  };
}

/** To be called before the page goes anywhere. */
export const watchInk = (page) => page.addInitScript(remember);

/* Run in the page: every text that is seen, with its box in CSS pixels of the document. */
function collect() {
  const LINE = 0.18; // of a line's height that letters leave free above and below
  const found = [];
  const rgb = (color) => color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const background = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = rgb(getComputedStyle(each).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  /* What is seen of a box, and how much of it ancestors cut off; what scrolls or says ... may do so. */
  const clip = (element, box) => {
    let cut = 0;
    for (let each = element; each; each = each.parentElement) {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(each);
      if (overflowX === "visible" && overflowY === "visible" && each.tagName !== "CANVAS") continue;
      const edge = each.getBoundingClientRect();
      if (!/auto|scroll/.test(overflowX + overflowY) && textOverflow !== "ellipsis")
        cut = Math.max(cut, edge.left - box.left, box.right - edge.right, edge.top - box.top, box.bottom - edge.bottom);
      box = {
        left: Math.max(box.left, edge.left), right: Math.min(box.right, edge.right),
        top: Math.max(box.top, edge.top), bottom: Math.min(box.bottom, edge.bottom),
      };
    }
    return { box, cut };
  };
  const add = (element, text, whole, color, from) => {
    const { box, cut } = clip(element, whole);
    if (cut === 0 && (box.left >= box.right || box.top >= box.bottom)) return;
    found.push({
      text: text.trim().replace(/\s+/g, " ").slice(0, 60), from, color, background: background(element),
      left: box.left + scrollX, right: box.right + scrollX, top: box.top + scrollY, bottom: box.bottom + scrollY,
      cut, sticky: Boolean(element.closest(".top, .banner")),
    });
  };

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !seen(element) || element.closest("script, noscript, option, .away, .alone .intro, .skip")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()];
    // A text that ends with ... has a box for all of it, and one for what is seen.
    const shown = getComputedStyle(element).textOverflow === "ellipsis" ? boxes.slice(0, 1) : boxes;
    for (const { left, right, top, bottom } of shown) {
      if (right - left < 1) continue;
      const free = element.closest(".name-left") ? 0 : LINE * (bottom - top);
      add(element, node.data, { left, right, top: top + free, bottom: bottom - free },
        rgb(getComputedStyle(element).color).slice(0, 3), "text");
    }
  }
  for (const control of document.querySelectorAll("input, select, textarea, button")) {
    if (!seen(control) || getComputedStyle(control).opacity === "0") continue;
    const box = control.getBoundingClientRect();
    if (box.width > 0 && control.tagName !== "BUTTON")
      add(control, control.value || control.placeholder || control.type, box, null, "control");
  }
  for (const canvas of document.querySelectorAll("canvas")) {
    if (!seen(canvas)) continue;
    const place = canvas.getBoundingClientRect();
    const scale = place.width / canvas.width;
    for (const { text, corners, color } of globalThis.canvasTexts(canvas)) {
      const xs = corners.map(([x]) => place.left + x * scale);
      const ys = corners.map(([, y]) => place.top + y * scale);
      const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
      const hex = color.match(/^#(..)(..)(..)$/);
      const ink = hex ? hex.slice(1).map((byte) => parseInt(byte, 16)) : rgb(color).slice(0, 3);
      add(canvas, text, box, ink, "canvas");
    }
  }
  return found;
}

const SLACK = 1; // pixels that boxes may share

/* Of WCAG 2. */
function contrast(a, b) {
  const [light, dark] = [a, b].map((color) => {
    const [red, green, blue] = color.map((byte) =>
      (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }).sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

/** What is wrong with the words of a page, a line for each fault. */
export async function inkFaults(page) {
  const labels = await page.evaluate(collect);
  const faults = labels.length > 10 ? [] : ["hardly a word"];
  const where = (each) => `"${each.text}" (${each.from} at ${Math.round(each.left)}, ${Math.round(each.top)})`;
  for (const each of labels) {
    if (each.cut > SLACK) faults.push(`${where(each)} is cut off by ${each.cut.toFixed(1)} px`);
    // Texts in elements are axe-core's.
    if (each.from === "canvas" && contrast(each.color, each.background) < 4.5)
      faults.push(`${where(each)} has a contrast of ${contrast(each.color, each.background).toFixed(2)}`);
  }
  const ordered = labels.filter(({ sticky }) => !sticky).sort((a, b) => a.top - b.top);
  for (const [i, a] of ordered.entries())
    for (let k = i + 1; k < ordered.length && ordered[k].top < a.bottom - SLACK; k++) {
      const b = ordered[k];
      if (a.right - SLACK > b.left && b.right - SLACK > a.left) faults.push(`${where(a)} lies upon ${where(b)}`);
    }
  return faults;
}
