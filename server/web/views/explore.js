// SPDX-License-Identifier: Apache-2.0
// explore.js: any encoding with any parameters, seen from all sides; or two of them side by side.

import { askOnce } from "../api.js";
import { el, freshId } from "../dom.js";
import { encodingForm, line, parseSpec, slider } from "../forms.js";
import { heat } from "../heat.js";
import { lines } from "../line.js";
import { panels } from "../panels.js";
import { Plot } from "../plot.js";
import { State } from "../state.js";
import { digits, t } from "../words.js";

const CHANNELS_MAX = 256; // of a table that are shown
const GRID = 14;
const BANDS = ["kept", "blended", "divided"];
const SIDES = ["spec", "other"]; // keys of the state; the second is empty when nothing is compared

const state = new State({
  spec: "rope:dim=64", other: "",
  positions: 64, offsets: 64, anchors: "0,8,24", seed: 0, context: 2048,
  words: "the dog chased another dog",
});

const numbers = (n) => Array.from({ length: n }, (_, i) => i);
const position = () => ({ label: t("explore.position") });

let catalogue;

/* What the catalogue says of the kind on one side. */
function entryOf(side) {
  const { kind } = parseSpec(state.get(side));
  return catalogue.encodings.find((each) => each.kind === kind || each.aliases?.includes(kind));
}

/* Where the positions of a kind end with its usual parameters. */
function positionsEnd(side) {
  const { kind, ...keys } = parseSpec(state.get(side));
  const usual = kind && Object.keys(keys).length === 0;
  return (usual ? entryOf(side)?.positions_end : null) ?? Infinity;
}

/* Kinds with several axes stand at the same place on each. */
function positions(side) {
  const end = Math.min(state.get("positions"), positionsEnd(side));
  return Array(entryOf(side)?.axes ?? 1).fill(`0:${end}`).join(";");
}

/* As many as are wanted, and as there are beyond the last place of the query. */
function offsets(side) {
  const room = positionsEnd(side) - Math.max(...state.get("anchors").split(",").map(Number));
  return `0:${room > 0 ? Math.min(state.get("offsets"), room) : state.get("offsets")}`;
}

function tableOf(side) {
  return {
    source: () => ({
      path: "/v1/table", picture: entryOf(side)?.by === "bias" ? "bias" : "table",
      query: { spec: state.get(side), positions: positions(side),
        dtype: entryOf(side)?.by === "bias" ? "" : "f32", // some of theirs are whole numbers
        channels: Number(parseSpec(state.get(side)).dim) > CHANNELS_MAX ? `0:${CHANNELS_MAX}` : "" },
    }),
    drawing: heat({
      rows: position(),
      columns: { label: () => t(entryOf(side)?.by === "bias" ? "explore.key" : "explore.channel") },
      value: { label: t("explore.value") },
      diverging: true,
      draw: ({ tensors }) => {
        const { data, shape } = Object.values(tensors)[0];
        const values = shape.length === 3 ? data[0] : data; // a bias has a matrix for each head
        return { values, rows: numbers(values.length), columns: numbers(values[0].length) };
      },
    }),
  };
}

function frequenciesOf(side) {
  return {
    source: () => ({
      path: "/v1/frequencies", picture: "frequencies", tabled: { select: "wavelength" },
      query: { spec: state.get(side),
        context: parseSpec(state.get(side)).context ? "" : state.get("context") },
    }),
    drawing: lines({
      x: { label: t("explore.pair"), whole: true },
      y: { label: t("explore.wavelength"), unit: t("explore.positions"), log: 10 },
      draw: ({ tensors: { wavelength, band }, readouts }) => ({
        x: numbers(wavelength.data.length),
        lines: [
          ...BANDS.map((name, code) => ({
            name: t(`explore.${name}`), color: code, points: true,
            y: wavelength.data.map((each, i) =>
              (band.data[i] === code && typeof each === "number" ? each : null)),
          })).filter(({ y }) => y.some((each) => each !== null)),
          { name: t("explore.context"), color: 7, y: wavelength.data.map(() => readouts.context) },
        ],
      }),
    }),
    readouts: ({ readouts }) => [
      ...BANDS.map((name) => [t(`explore.${name}`), String(readouts[name])]),
      [t("explore.incomplete"), readouts.first_incomplete_pair === null
        ? t("explore.none") : String(readouts.first_incomplete_pair)],
      ...(readouts.attention_factor === undefined
        ? [] : [[t("explore.attention_factor"), digits(readouts.attention_factor)]]),
    ],
  };
}

function scoresOf(side) {
  return {
    source: () => ({
      path: "/v1/scores", picture: "scores",
      query: { spec: state.get(side), anchors: state.get("anchors"), offsets: offsets(side),
        seed: state.get("seed") },
    }),
    drawing: lines({
      x: { label: t("explore.offset"), whole: true }, y: { label: t("explore.score") },
      draw: ({ tensors: { scores, offsets, anchors } }) => ({
        x: offsets.data,
        lines: scores.data.map((y, i) => ({ name: t("explore.anchor", { position: anchors.data[i] }), y })),
      }),
    }),
    readouts: ({ readouts: { range, spread, norm_q } }) => [
      [t("explore.range"), digits(range.overall)],
      [t("explore.spread"), digits(spread.max)],
      [t("explore.norm"), digits(norm_q.max_relative_change)],
    ],
  };
}

function similarityOf(side) {
  return {
    source: () => ({
      path: "/v1/similarity", picture: "similarity",
      query: { spec: state.get(side), positions: positions(side) },
    }),
    drawing: heat({
      rows: position(), columns: position(), value: { label: t("explore.alike") }, square: true,
      draw: ({ tensors: { similarity: { data } } }) => ({
        values: data, rows: numbers(data.length), columns: numbers(data[0].length),
      }),
    }),
    readouts: ({ readouts: { decay } }) => decay ? [
      [t("explore.half"), decay.half_distance === null ? t("explore.none") : digits(decay.half_distance)],
    ] : [],
  };
}

function gridOf(side) {
  const middle = GRID / 2;
  return {
    source: () => ({
      path: "/v1/grid", picture: "grid",
      query: { spec: state.get(side), grid: `${GRID}x${GRID}`, query: `${middle},${middle}` },
    }),
    drawing: heat({
      rows: { label: t("explore.row") }, columns: { label: t("explore.column") },
      value: { label: t("explore.alike") }, square: true,
      draw: ({ tensors: { similarity: { data } } }) => ({
        values: data, rows: numbers(GRID), columns: numbers(GRID), mark: { row: middle, column: middle },
      }),
    }),
  };
}

function attentionOf(side) {
  const weights = (name) => heat({
    rows: { label: t("explore.query") }, columns: { label: t("explore.key") },
    value: { label: t("explore.weight") }, square: true,
    draw: ({ params, tensors }) => {
      const words = params.labels.split(",");
      const both = [...tensors.weights.data, ...tensors.weights_without.data].flat();
      return { values: tensors[name].data, rows: words, columns: words,
        range: [Math.min(...both), Math.max(...both)] };
    },
  });
  const change = (readouts) => [[t("explore.moved"), digits(readouts.equivariance.max_abs)]];
  return {
    source: () => {
      const labels = state.get("words").split(/[\s,]+/).filter(Boolean).join(",");
      return labels && { path: "/v1/attention", picture: "attention-pair",
        query: { spec: state.get(side), labels } };
    },
    drawing: panels([
      { title: t("explore.before"), drawing: weights("weights_without"),
        readouts: ({ readouts }) => change(readouts.without) },
      { title: t("explore.after"), drawing: weights("weights"),
        readouts: ({ readouts }) => change(readouts) },
    ]),
  };
}

/* A drawing of verdicts: a row for each property, with what was measured. */
function verdicts() {
  const body = el("tbody");
  const heads = ["property", "holds", "measured"].map((name) => t(`explore.properties_${name}`));
  const drawing = {
    element: el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("explore.properties") },
      el("table", { class: "verdicts" },
        el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), body)),
    drawn: null,
    update({ readouts }) {
      const rows = Object.entries(readouts).filter(([, each]) => typeof each === "object")
        .map(([name, { holds, says, reason, ...measured }]) => ({ name, holds, says: says ?? reason,
          measured: Object.entries(measured).filter(([, value]) => value !== null) }));
      drawing.drawn = { rows: rows.map(({ name }) => name), holds: rows.map(({ holds }) => holds),
        values: rows.map(({ measured }) => measured.map(([, value]) => value)) };
      body.replaceChildren(...rows.map(({ name, holds, says, measured }) => el("tr", {},
        el("th", { scope: "row" }, t(`explore.property_${name}`)),
        el("td", { class: holds ? "yes" : "no" }, t(holds ? "explore.yes" : "explore.no")),
        el("td", { lang: "en" }, says, el("div", { class: "faint" }, measured
          .map(([key, value]) => `${key.replaceAll("_", " ")} ${digits(value)}`).join(", "))))));
    },
    clear() {
      drawing.drawn = null;
      body.replaceChildren();
    },
  };
  return drawing;
}

function propertiesOf(side) {
  return {
    source: () => ({ path: "/v1/properties", picture: "properties", query: { spec: state.get(side) } }),
    drawing: verdicts(),
  };
}

/* What there is to see: of kinds that have an answer at `path` (and so many axes), by which keys of the
 * state it changes. */
const aspects = [
  { name: "table", path: "/v1/table", make: tableOf, keys: ["positions"],
    controls: () => [slider({ state, key: "positions", label: t("explore.position_count"),
      min: 8, max: 128, step: 8 })] },
  { name: "frequencies", path: "/v1/frequencies", make: frequenciesOf, keys: ["context"],
    controls: () => [slider({ state, key: "context", label: t("explore.context"),
      steps: [128, 512, 2048, 4096, 8192, 32768, 131072, 1048576] })] },
  { name: "scores", path: "/v1/scores", make: scoresOf, keys: ["offsets", "anchors", "seed"],
    controls: () => [
      slider({ state, key: "offsets", label: t("explore.offset_count"), min: 4, max: 256, step: 4 }),
      line({ state, key: "anchors", label: t("explore.anchors") }),
      slider({ state, key: "seed", label: t("explore.seed"), max: 20 }),
    ] },
  { name: "similarity", path: "/v1/similarity", axes: 1, make: similarityOf, keys: ["positions"] },
  { name: "grid", path: "/v1/grid", axes: 2, make: gridOf, keys: [] },
  { name: "attention", path: "/v1/attention", make: attentionOf, keys: ["words"], wide: true,
    controls: () => [line({ state, key: "words", label: t("explore.words") })] },
  { name: "properties", path: "/v1/properties", make: propertiesOf, keys: [], wide: true },
];

/* One aspect of both sides: a card with a plot for each that it is about. */
function card({ name, path, axes, make, keys, controls, wide }) {
  const id = (side) => (side === "spec" ? name : `${name}-2`);
  const shown = (side) => {
    const entry = entryOf(side);
    return Boolean(entry?.endpoints.includes(path)) && (axes === undefined || entry.axes === axes);
  };
  const heading = freshId("heading");
  const captions = SIDES.map(() => el("p", { class: "side" }));
  const plots = SIDES.map((side) => {
    const told = make(side);
    return new Plot({ ...told, id: id(side), title: t(`explore.${name}`), heading,
      first: name === "table" && side === "spec",
      source: () => (shown(side) ? told.source() : null), query: () => state.query() });
  });
  const boxes = plots.map((plot, i) => el("div", { class: "side-box" }, captions[i], plot.element));
  const element = el("section", { class: wide ? "card wide" : "card" },
    el("h2", { id: heading }, t(`explore.${name}`)),
    controls ? el("div", { class: "controls" }, controls()) : null, el("div", { class: "sides" }, boxes));

  function follow(names) {
    const visible = SIDES.map(shown);
    element.hidden = !visible.some(Boolean);
    element.classList.toggle("wide", Boolean(wide) || state.get("other") !== "");
    SIDES.forEach((side, i) => {
      boxes[i].hidden = !visible[i];
      captions[i].textContent = state.get(side);
      captions[i].title = state.get(side);
      captions[i].hidden = state.get("other") === "";
      if (names.includes(side) || names.some((key) => keys.includes(key))) plots[i].refresh();
    });
  }

  state.listen(follow);
  follow([]);
  return element;
}

/* What the catalogue says of the chosen kind, in its own words. */
function description(side) {
  const element = el("div", { class: "about", lang: "en" });
  const show = () => {
    const entry = entryOf(side);
    element.replaceChildren(...(entry ? [
      el("p", {}, entry.description), el("p", {}, el("code", {}, entry.formula)),
      entry.outside_training ? el("p", { class: "faint" }, entry.outside_training) : null,
    ].filter(Boolean) : []));
  };
  state.listen((names) => names.includes(side) && show());
  show();
  return element;
}

function chooser() {
  const second = el("div", { class: "encoding" },
    encodingForm({ state, key: "other", label: t("explore.second") }),
    line({ state, key: "other", label: t("explore.compact") }), description("other"));
  const compare = el("button", { type: "button", class: "quiet" });
  const show = () => {
    const comparing = state.get("other") !== "";
    second.hidden = !comparing;
    compare.textContent = t(comparing ? "explore.alone" : "explore.compare");
  };
  compare.addEventListener("click", () =>
    state.set({ other: state.get("other") === "" ? "sinusoidal:dim=64" : "" }));
  state.listen((names) => names.includes("other") && show());
  show();
  return el("section", { class: "card chooser", "aria-label": t("explore.encoding") },
    encodingForm({ state, key: "spec", label: t("explore.encoding") }),
    line({ state, key: "spec", label: t("explore.compact") }), description("spec"),
    el("div", {}, compare), second);
}

export async function show(main) {
  catalogue = await askOnce("/v1/encodings");
  main.append(
    el("div", { class: "intro" }, el("h1", {}, t("explore.title")), el("p", {}, t("explore.intro"))),
    el("div", { class: "explorer" }, chooser(), el("div", { class: "cards" }, aspects.map(card))));
}
