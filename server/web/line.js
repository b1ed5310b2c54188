// SPDX-License-Identifier: Apache-2.0
// line.js: a drawing of lines, by uPlot, that can be read with the arrow keys.

/* global uPlot */
import { color, el, onTheme } from "./dom.js";
import { digits, t } from "./words.js";

const COLORS = 8; // --line-0 … of the style sheet
/* Lines upon each other are told apart: each is thinner than the one below, and broken. */
const STYLES = [
  { width: 3 }, { width: 2.5, dash: [10, 8] }, { width: 2.5, dash: [3, 9] }, { width: 2 },
  { width: 2, dash: [6, 6] }, { width: 2, dash: [2, 5] }, { width: 1.5 }, { width: 1.5, dash: [8, 4] },
];
/* Steps between the labels of an axis of whole numbers. */
const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
const FONT = "12px system-ui, sans-serif";

/* Of the places of a logarithmic axis the powers of its base, and of these so many that they have room. */
function powers(told) {
  const base = told.log === 2 ? 2 : 10;
  const exponent = (value) => Math.log(value) / Math.log(base);
  return (u, splits, axisIndex, space) => {
    const isPower = (value) => Math.abs(exponent(value) - Math.round(exponent(value))) < 1e-6;
    const found = splits.filter(isPower);
    const length = (axisIndex === 0 ? u.bbox.width : u.bbox.height) / devicePixelRatio;
    const step = Math.ceil((found.length * space) / length);
    return splits.map((value) => (isPower(value) && Math.round(exponent(value)) % step === 0 ? value : null));
  };
}

/* How wide the labels of a y axis are. */
function wide(u, labels) {
  return 18 + 7 * Math.max(3, ...(labels ?? []).map((label) => label?.length ?? 0));
}

/* The name of an axis. */
function named({ label, unit }) {
  const now = typeof unit === "function" ? unit() : unit;
  return now ? `${label} (${now})` : label;
}

function axis(told, log, size) {
  const filtered = log ? { filter: powers(told) } : {};
  return {
    label: named(told),
    labelFont: FONT, font: FONT, labelSize: 20, labelGap: 2, size, gap: 4,
    stroke: () => color("--faint"), ...filtered,
    grid: { stroke: () => color("--grid"), width: 1, ...filtered },
    ticks: { stroke: () => color("--grid"), width: 1, size: 4, ...filtered },
    space: log ? 30 : told.space,
    ...(told.whole ? { incrs: WHOLE } : {}),
    values: (u, splits) => splits.map((value) => (value === null ? null : digits(value))),
  };
}

/**
 * Lines. `draw(answer)` says what there is: { x: [numbers], lines: [{ name, y: [numbers or null] }] },
 * with `color` (0 to 7) and `points` (dots alone) of a line where they matter, and `range` [min, max] where
 * the y axis is not to follow the values. `x` and `y` name the axes: { label, unit, log, whole }
 * (`unit` may be a function, asked at each answer; `log` is 10 or 2, `whole`: labels at whole numbers
 * only). `drawn` is what was drawn last.
 */
export function lines({ x, y, draw, height = 260 }) {
  const surface = el("div", { class: "surface", role: "group", tabindex: 0,
    "aria-roledescription": t("plot.lines"), "aria-label": t("plot.read_line") });
  const legend = el("div", { class: "legend" });
  const readout = el("output", { class: "readout" }, t("plot.read_line"));
  const element = el("div", { class: "drawing" }, surface, legend, readout);
  const hidden = new Set();
  const drawing = { element, drawn: null, update, clear };
  let plot = null;
  let shape = "";

  function options() {
    const { lines } = drawing.drawn;
    return {
      width: surface.clientWidth, height,
      padding: [12, x.log ? 28 : 16, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: false, distr: x.log ? 3 : 1, log: x.log === 2 ? 2 : 10,
          range: (u, low, high) => [low, high] },
        y: { distr: y.log ? 3 : 1, range: y.log ? undefined : range },
      },
      axes: [axis({ space: 56, ...x }, x.log, 34), axis({ space: 34, ...y }, y.log, wide)],
      series: [{}, ...lines.map((line, i) => ({
        label: line.name, show: !hidden.has(line.name), ...STYLES[i % STYLES.length], ...line.style,
        stroke: () => color(`--line-${(line.color ?? i) % COLORS}`),
        points: line.points
          ? { show: true, size: 6, fill: () => color(`--line-${(line.color ?? i) % COLORS}`) }
          : { show: false },
        paths: line.points ? () => null : undefined,
      }))],
      hooks: { setCursor: [say] },
    };
  }

  function range(u, low, high) {
    return drawing.drawn.range ?? uPlot.rangeNum(low, high, 0.1, true);
  }

  function say(u) {
    const at = u.cursor.idx;
    if (at === null || at === undefined) {
      readout.textContent = t("plot.read_line");
      return;
    }
    const { x: places, lines } = drawing.drawn;
    readout.textContent = [`${x.label} ${digits(places[at])}`, ...lines
      .filter((line) => !hidden.has(line.name) && line.y[at] !== null && line.y[at] !== undefined)
      .map((line) => `${line.name}: ${digits(line.y[at], 6)}`)].join("   ");
  }

  function update(answer) {
    drawing.drawn = draw(answer);
    const data = [drawing.drawn.x, ...drawing.drawn.lines.map((line) => line.y)];
    const wanted = JSON.stringify([named(y),
      ...drawing.drawn.lines.map((line) => [line.name, line.color, line.points])]);
    if (plot && shape === wanted) {
      plot.setData(data);
    } else {
      plot?.destroy();
      shape = wanted;
      plot = new uPlot(options(), data, surface);
      nameLines();
    }
    surface.classList.remove("empty");
    element.dispatchEvent(new Event("drawn"));
  }

  function nameLines() {
    const { lines } = drawing.drawn;
    legend.replaceChildren(...(lines.length < 2 ? [] : lines.map((line, i) => {
      const sample = el("span", {
        class: `${line.points ? "dots" : `sample sample-${i % STYLES.length}`} ` +
          `line-${(line.color ?? i) % COLORS}`,
      });
      const button = el("button", { type: "button", "aria-pressed": String(!hidden.has(line.name)) },
        sample, line.name);
      button.addEventListener("click", () => {
        const show = hidden.delete(line.name) || !hidden.add(line.name);
        button.setAttribute("aria-pressed", String(show));
        plot.setSeries(i + 1, { show });
      });
      return button;
    })));
  }

  function clear() {
    plot?.destroy();
    plot = null;
    drawing.drawn = null;
    shape = "";
    legend.replaceChildren();
    readout.textContent = t("plot.read_line");
    surface.classList.add("empty");
  }

  surface.addEventListener("keydown", (event) => {
    const last = (drawing.drawn?.x.length ?? 0) - 1;
    const at = plot?.cursor.idx ?? -1;
    const to = { ArrowRight: at + 1, ArrowLeft: at < 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (to === undefined || !plot) return;
    event.preventDefault();
    const place = Math.min(Math.max(to, 0), last);
    plot.setCursor({ left: plot.valToPos(drawing.drawn.x[place], "x"), top: 0 });
  });
  new ResizeObserver(() => {
    if (plot && surface.clientWidth > 0) plot.setSize({ width: surface.clientWidth, height });
  }).observe(surface);
  onTheme(() => plot?.redraw(false, true));
  surface.style.setProperty("min-height", `${height}px`);
  return drawing;
}
