// SPDX-License-Identifier: Apache-2.0
// lesson.js: the story of positional encodings in nine steps, each with a plot.

import { arrows } from "../arrows.js";
import { el, rich, still } from "../dom.js";
import { choice, line, slider } from "../forms.js";
import { heat } from "../heat.js";
import { lines } from "../line.js";
import { panels } from "../panels.js";
import { Plot } from "../plot.js";
import { State } from "../state.js";
import { digits, t } from "../words.js";

const ARROWS_END = 12; // positions that arrows turn through, in steps small enough to look smooth
const ARROWS_STEP = 0.125;
const ARROWS_PER_SECOND = 3;
const GRID = 14;

const state = new State({
  words: "the dog chased another dog", act: "none",
  code: "raw", length: 32,
  bits: "binary",
  dim: 64, base: 10000, context: 2048,
  term: "scores",
  size: 64, offsets: 32, anchors: "0,8,24", seed: 0, std: 0.1,
  turn: 3,
  row: 7, column: 7,
  kept: 32,
});

const numbers = (n) => Array.from({ length: n }, (_, i) => i);
const anchored = (anchors, data) =>
  data.map((y, i) => ({ name: t("lesson.anchor", { position: anchors[i] }), y }));
const position = () => ({ label: t("lesson.position"), whole: true });
const channel = () => ({ label: t("lesson.channel") });

/* A plot that follows some keys of the state. */
function plot(keys, told) {
  const made = new Plot({ ...told, query: () => state.query() });
  state.listen((names) => names.some((name) => keys.includes(name)) && made.refresh());
  return made;
}

function sets() {
  return {
    controls: [
      line({ state, key: "words", label: t("lesson.words") }),
      choice({ state, key: "act", label: t("lesson.encoding"),
        options: ["none", "sinusoidal", "rope"].map((each) => [each, each]) }),
    ],
    plots: [plot(["words", "act"], {
      id: "attention",
      first: true,
      title: t("lesson.sets.plot"),
      source: () => {
        const labels = state.get("words").split(/[\s,]+/).filter(Boolean).join(",");
        return labels && { path: "/v1/attention", picture: "attention", pictured: { select: "" },
          query: { spec: `${state.get("act")}:dim=32`, labels, select: "weights" } };
      },
      drawing: heat({
        rows: { label: t("lesson.query") }, columns: { label: t("lesson.key") },
        value: { label: t("lesson.weight") }, square: true,
        draw: ({ params, tensors }) => {
          const words = params.labels.split(",");
          return { values: tensors.weights.data, rows: words, columns: words };
        },
      }),
      readouts: ({ readouts }) => [
        ...readouts.equal_labels.map(({ label, max_abs }) =>
          [t("lesson.sets.same", { word: label }), digits(max_abs)]),
        [t("lesson.sets.moved"), digits(readouts.equivariance.max_abs)],
      ],
    })],
  };
}

function integers() {
  return {
    controls: [
      choice({ state, key: "code", label: t("lesson.integers.code"),
        options: [["raw", "p"], ["divided", "p / n"]] }),
      slider({ state, key: "length", label: t("lesson.integers.length"), min: 8, max: 128, step: 8 }),
    ],
    plots: [plot(["code", "length"], {
      id: "integer",
      title: t("lesson.integers.plot"),
      source: () => ({
        path: "/v1/apply",
        picture: "apply",
        query: {
          spec: `integer:dim=1${state.get("code") === "raw" ? "" : `,normalize_by=${state.get("length")}`}`,
          positions: `0:${state.get("length")}`,
        },
      }),
      drawing: lines({
        x: position(), y: { label: t("lesson.integers.channel") },
        draw: ({ tensors: { x, y } }) => ({
          x: numbers(x.shape[0]),
          lines: [
            { name: t("lesson.integers.with"), y: y.data.map(([each]) => each), color: 1 },
            { name: t("lesson.integers.without"), y: x.data.map(([each]) => each), color: 0 },
          ],
        }),
      }),
      readouts: ({ readouts: { norm } }) => [
        [t("lesson.integers.before"), digits(norm.before[1])],
        [t("lesson.integers.after"), digits(norm.after[1])],
      ],
    })],
  };
}

function table(id, keys, title, spec, range) {
  return plot(keys, {
    id,
    title,
    source: () => ({ path: "/v1/table", picture: "table",
      query: { spec: spec(), positions: `0:${range[2]}`, dtype: "f32" } }),
    drawing: heat({
      rows: position(), columns: channel(), value: { label: t("lesson.value") }, diverging: range[0] < 0,
      draw: ({ tensors: { table: { data } } }) => ({
        values: data, rows: numbers(data.length), columns: numbers(data[0].length), range: range.slice(0, 2),
      }),
    }),
  });
}

function bits() {
  return {
    controls: [choice({ state, key: "bits", label: t("lesson.bits.code"),
      options: [["binary", t("lesson.bits.binary")], ["gray", t("lesson.bits.gray")]] })],
    plots: [table("bits", ["bits"], t("lesson.bits.plot"), () => `${state.get("bits")}:dim=8`, [0, 1, 32])],
  };
}

function sinusoids() {
  const spec = () => `sinusoidal:dim=${state.get("dim")},base=${state.get("base")}`;
  const waves = () => [0, 1 / 8, 1 / 4, 3 / 8].map((part) => 2 * Math.floor((state.get("dim") * part) / 2));
  return {
    controls: [
      slider({ state, key: "dim", label: t("lesson.dim"), steps: [8, 16, 32, 64, 128] }),
      slider({ state, key: "base", label: t("lesson.base"), steps: [10, 100, 1000, 10000, 100000, 1000000] }),
      slider({ state, key: "context", label: t("lesson.context"),
        steps: [128, 512, 2048, 8192, 32768, 131072] }),
    ],
    plots: [
      table("sinusoidal", ["dim", "base"], t("lesson.sinusoids.table"), spec, [-1, 1, 48]),
      plot(["dim", "base"], {
        id: "waves",
        title: t("lesson.sinusoids.waves"),
        source: () => ({ path: "/v1/table", picture: "waves",
          query: { spec: spec(), positions: "0:64:0.25", dtype: "f32",
            channels: waves().join(",") } }),
        drawing: lines({
          x: position(), y: { label: t("lesson.value") },
          draw: ({ tensors: { table: { data } } }) => ({
            x: data.map((_, i) => i / 4),
            lines: waves().map((each, i) => ({ name: t("lesson.channel_of", { channel: each }),
              y: data.map((row) => row[i]) })),
          }),
        }),
      }),
      plot(["dim", "base", "context"], {
        id: "wavelengths",
        title: t("lesson.sinusoids.wavelengths"),
        source: () => ({ path: "/v1/frequencies", picture: "frequencies", pictured: { select: "" },
          query: { spec: spec(), context: state.get("context"), select: "wavelength" } }),
        drawing: lines({
          x: { label: t("lesson.pair"), whole: true },
          y: { label: t("lesson.wavelength"), unit: t("lesson.positions"), log: 10 },
          draw: ({ tensors: { wavelength: { data } }, readouts: { context } }) => ({
            x: numbers(data.length),
            lines: [{ name: t("lesson.wavelength"), y: data },
              { name: t("lesson.context"), y: data.map(() => context) }],
          }),
        }),
        readouts: ({ readouts, tensors: { wavelength: { data } } }) => [
          [t("lesson.sinusoids.shortest"), digits(data[0])],
          [t("lesson.sinusoids.longest"), digits(data.at(-1), 6)],
          [t("lesson.sinusoids.incomplete"),
            String(readouts.first_incomplete_pair ?? t("lesson.none"))],
        ],
      }),
    ],
  };
}

const TERMS = ["scores", "content", "cross_q", "cross_k", "position"];

function terms() {
  return {
    controls: [choice({ state, key: "term", label: t("lesson.terms.term"),
      options: TERMS.map((each) => [each, t(`lesson.terms.${each}`)]) })],
    plots: [(() => {
      const drawing = lines({
        x: { label: t("lesson.offset"), whole: true }, y: { label: t("lesson.score") },
        draw: ({ tensors }) => ({
          x: tensors.offsets.data,
          lines: anchored(tensors.anchors.data, tensors[state.get("term")].data),
        }),
      });
      const made = plot(["term"], {
        id: "terms",
        title: t("lesson.terms.plot"),
        source: () => ({ path: "/v1/scores", picture: "scores",
          pictured: { select: state.get("term") }, tabled: { select: state.get("term") },
          query: { spec: "sinusoidal:dim=64", terms: 1 } }),
        drawing,
        readouts: ({ readouts: { spread, term_spread } }) => TERMS.map((each) =>
          [t("lesson.terms.spread", { term: t(`lesson.terms.${each}`) }),
            digits((term_spread[each] ?? spread).max)]),
      });
      state.listen((names) => {
        if (!names.includes("term") || !made.answer) return;
        drawing.update(made.answer);
        made.refresh();
      });
      return made;
    })()],
  };
}

/* The lowest and the highest score of all encodings, so that their curves can be compared. */
function together(blocks) {
  const low = Math.min(...blocks.map(({ readouts }) => readouts.range.min.value));
  const high = Math.max(...blocks.map(({ readouts }) => readouts.range.max.value));
  const air = 0.06 * (high - low) || 1;
  return [low - air, high + air];
}

/* The least and the greatest number, or the one that all are. */
const extremes = (all) => [...new Set([Math.min(...all), Math.max(...all)])];

function scores() {
  const kinds = ["none", "sinusoidal", "learned", "rope"];
  const spec = (kind) =>
    `${kind}:dim=${state.get("size")}${kind === "learned" ? `,table_std=${state.get("std")}` : ""}`;
  return {
    wide: true,
    controls: [
      slider({ state, key: "size", label: t("lesson.size"), steps: [8, 16, 32, 64, 128, 256] }),
      slider({ state, key: "offsets", label: t("lesson.scores.offsets"), min: 4, max: 128, step: 4 }),
      line({ state, key: "anchors", label: t("lesson.scores.anchors") }),
      slider({ state, key: "seed", label: t("lesson.scores.seed"), max: 20 }),
      slider({ state, key: "std", label: t("lesson.scores.std"), steps: [0.02, 0.05, 0.1, 0.2, 0.3, 0.5] }),
    ],
    plots: [plot(["size", "offsets", "anchors", "seed", "std"], {
      id: "scores",
      title: t("lesson.scores.plot"),
      source: () => ({ path: "/v1/scores", picture: "scores",
        query: { spec: kinds.map(spec), anchors: state.get("anchors"),
          offsets: `0:${state.get("offsets")}`, seed: state.get("seed") } }),
      drawing: panels(kinds.map((kind, i) => ({
        title: t(`lesson.scores.${kind}`),
        drawing: lines({
          x: { label: t("lesson.offset"), whole: true }, y: { label: t("lesson.score") }, height: 220,
          draw: ({ blocks }) => ({
            x: blocks[i].tensors.offsets.data,
            lines: anchored(blocks[i].tensors.anchors.data, blocks[i].tensors.scores.data),
            range: together(blocks),
          }),
        }),
        readouts: ({ blocks }) => {
          const { range, spread, norm_q } = blocks[i].readouts;
          return [
            [t("lesson.scores.range"), digits(range.overall)],
            [t("lesson.scores.spread"), digits(spread.max)],
            [t("lesson.scores.norm"), `× ${extremes(norm_q.ratio).map((each) => digits(each, 3)).join(" … ")}`],
          ];
        },
      }))),
    })],
  };
}

/* A button that lets the arrows turn; not for those who want things to keep still. */
function player() {
  const button = el("button", { type: "button", class: "quiet play" }, t("lesson.arrows.play"));
  let last = 0;

  function step(now) {
    if (last === 0) return;
    const next = state.get("turn") + ((now - last) / 1000) * ARROWS_PER_SECOND;
    const whole = Math.floor(next / ARROWS_STEP) * ARROWS_STEP;
    if (whole !== state.get("turn")) {
      last = now;
      state.set({ turn: whole % ARROWS_END });
    }
    requestAnimationFrame(step);
  }

  function play(on) {
    last = on ? performance.now() : 0;
    button.textContent = t(on ? "lesson.arrows.pause" : "lesson.arrows.play");
    if (on) requestAnimationFrame(step);
  }

  function quieten() {
    button.hidden = still.matches;
    if (still.matches) play(false);
  }

  button.addEventListener("click", () => play(last === 0));
  still.addEventListener("change", quieten);
  quieten();
  return button;
}

function turns() {
  const drawing = arrows({
    position: state.get("turn"),
    draw: ({ tensors: { before, after } }) => ({
      positions: after.data.map((_, i) => i * ARROWS_STEP), before: before.data, after: after.data,
      names: after.data[0].map((_, i) => t("lesson.pair_of", { pair: i })),
    }),
  });
  state.listen((names) => names.includes("turn") && drawing.move(state.get("turn")));
  return {
    controls: [
      slider({ state, key: "turn", label: t("lesson.position"),
        max: ARROWS_END - ARROWS_STEP, step: ARROWS_STEP }),
      player(),
    ],
    plots: [plot(["turn"], {
      id: "rotation",
      title: t("lesson.arrows.plot"),
      source: () => ({ path: "/v1/rotation", picture: "rotation",
        pictured: { positions: `0,${state.get("turn")}`, dtype: "" }, tabled: { select: "after" },
        query: { spec: "rope:dim=8,base=100", positions: `0:${ARROWS_END}:${ARROWS_STEP}`,
          content: "random", dtype: "f32" } }),
      drawing,
    })],
  };
}

function plane() {
  const row = { state, key: "row", label: t("lesson.row"), max: GRID - 1 };
  const column = { state, key: "column", label: t("lesson.column"), max: GRID - 1 };
  return {
    controls: [slider(row), slider(column)],
    plots: [plot(["row", "column"], {
      id: "grid",
      title: t("lesson.plane.plot"),
      source: () => ({ path: "/v1/grid", picture: "grid",
        query: { spec: "rope2d:dim=64", grid: `${GRID}x${GRID}`,
          query: `${state.get("row")},${state.get("column")}` } }),
      drawing: heat({
        rows: { label: t("lesson.row") }, columns: { label: t("lesson.column") },
        value: { label: t("lesson.similarity") }, square: true,
        draw: ({ tensors: { similarity: { data } } }) => ({
          values: data, rows: numbers(GRID), columns: numbers(GRID),
          mark: { row: state.get("row"), column: state.get("column") },
        }),
        choose: (to, across) => state.set({ row: to, column: across }),
      }),
      readouts: ({ readouts: { nearest, least } }) => [
        [t("lesson.plane.nearest", { row: nearest.cell[0], column: nearest.cell[1] }), digits(nearest.value)],
        [t("lesson.plane.least", { row: least.cell[0], column: least.cell[1] }), digits(least.value)],
      ],
    })],
  };
}

function next() {
  return {
    controls: [slider({ state, key: "kept", label: t("lesson.next.kept"), min: 1, max: 32 })],
    plots: [
      plot(["kept"], {
        id: "decay",
        title: t("lesson.next.decay"),
        source: () => ({ path: "/v1/similarity", picture: "decay",
          query: { spec: `rope:dim=64,kept_pairs=${state.get("kept")}`, positions: "0",
            k_positions: "0:256" } }),
        drawing: lines({
          x: { label: t("lesson.distance"), unit: t("lesson.positions"), whole: true },
          y: { label: t("lesson.similarity") },
          draw: ({ tensors: { similarity: { data } } }) => ({
            x: numbers(data[0].length), lines: [{ name: t("lesson.similarity"), y: data[0] }],
            range: [-0.4, 1.05],
          }),
        }),
      }),
      plot([], {
        id: "precision",
        title: t("lesson.next.precision"),
        source: () => ({ path: "/v1/precision", picture: "precision",
          query: { spec: "rope:dim=64", positions: "2^0:2^17",
            stages: "f32;bf16-table;bf16-freq;all-bf16" } }),
        drawing: lines({
          x: { label: t("lesson.position"), log: 2 }, y: { label: t("lesson.next.error"), log: 10 },
          draw: ({ params, tensors: { max_abs_error: { data } }, readouts: { pipelines } }) => ({
            x: params.positions,
            lines: pipelines.map(({ name }, i) => ({ name, y: data[i].map((each) => each || null) })),
          }),
        }),
      }),
    ],
  };
}

const steps = [
  ["sets", sets], ["integers", integers], ["bits", bits], ["sinusoids", sinusoids], ["terms", terms],
  ["scores", scores], ["arrows", turns], ["plane", plane], ["next", next],
];

function section([name, make], i) {
  const { controls, plots, wide } = make();
  return el("section", { class: wide ? "card step stacked" : "card step", id: `step-${i + 1}`,
    "aria-labelledby": `step-${i + 1}-title` },
  el("div", { class: "story" },
    el("h2", { id: `step-${i + 1}-title` },
      el("span", { class: "number" }, String(i + 1)), t(`lesson.${name}.title`)),
    el("p", {}, rich(t(`lesson.${name}.text`))),
    el("p", {}, rich(t(`lesson.${name}.look`))),
    el("div", { class: "controls" }, controls)),
  el("div", { class: "plots" }, plots.map((each) => each.element)));
}

export function show(main) {
  main.append(
    el("div", { class: "intro" }, el("h1", {}, t("lesson.title")), el("p", {}, t("lesson.intro")),
      el("nav", { class: "contents", "aria-label": t("lesson.contents") }, steps.map(([name], i) =>
        el("a", { href: `#step-${i + 1}` }, `${i + 1}. ${t(`lesson.${name}.short`)}`)))),
    ...steps.map(section));
}
