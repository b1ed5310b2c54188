// SPDX-License-Identifier: Apache-2.0
// precision.js: what rounding costs: the errors of pipelines by position, stage, dtype and pair.

import { places } from "../api.js";
import { el } from "../dom.js";
import { choice, encodingForm } from "../forms.js";
import { heat } from "../heat.js";
import { lines } from "../line.js";
import { Plot } from "../plot.js";
import { State } from "../state.js";
import { digits, t } from "../words.js";

/* Powers of two and halfway between them, each plus one, so that bf16 has to round the large ones. */
const DOUBLING = "1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,193,257,385,513,769,1025,1537,2049,3073,4097," +
  "6145,8193,12289,16385,24577,32769,49153,65537,98305,131073";
const QUANTITIES = ["cos", "sin", "angle", "table", "apply", "score"];
const BY_PAIR = ["cos", "sin", "angle"]; // one error for each pair
const STAGES = ["", "freq:f32;freq:f16;freq:bf16", "pos:f32;pos:bf16", "angle:f32;angle:bf16",
  "table:f32;table:f16;table:bf16"];
const PIPELINES = ["f64", "f32", "bf16-freq", "bf16-pos", "bf16-table", "all-bf16", "freq:f16", "freq:f32",
  "angle:f32", "angle:bf16", "table:f16"];
const RANGE = [1e-9, 1]; // of the colours

/* The pipelines, a row each: where the error passes what, and where positions become one. */
function thresholdTable({ readouts: { pipelines } }) {
  const position = (at) => (at === null ? "–" : digits(at));
  const heads = [t("precision.pipeline"), t("precision.largest"), t("precision.at"), "> 0.001", "> 0.01",
    "> 0.1", t("precision.collision")];
  return el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, pipelines.map((each) => el("tr", {},
      el("th", { scope: "row" }, el("code", {}, each.name)),
      [digits(each.max_abs_error, 3), position(each.at_position),
        ...["1e-3", "1e-2", "1e-1"].map((limit) => position(each.first_above[limit])),
        position(each.first_collision)].map((text) => el("td", {}, text))))));
}

/* Curves with the table below them. */
function curves(state) {
  const table = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("precision.passes") });
  const drawing = lines({
    x: { label: t("precision.position"), log: 10 },
    y: { label: t("precision.error"), log: 10,
      unit: () => (state.get("quantity") === "angle" ? t("precision.radians") : "") },
    // Logarithmic axes have no place for a position or an error of 0.
    draw: ({ params, tensors, readouts: { pipelines } }) => {
      const at = places(params.positions);
      const errors = (i) => tensors[state.get("measure")].data[i].filter((_, k) => at[k] > 0);
      return {
        x: at.filter((each) => each > 0),
        lines: pipelines.map(({ name }, i) => ({ name, y: errors(i).map((each) => (each > 0 ? each : null)) })),
      };
    },
  });
  drawing.element.append(table);
  const { update, clear } = drawing;
  drawing.update = (answer) => {
    update(answer);
    table.replaceChildren(thresholdTable(answer));
  };
  drawing.clear = () => {
    clear();
    table.replaceChildren();
  };
  return drawing;
}

const errorColors = (rows, draw) => heat({
  rows: { label: rows }, columns: { label: t("precision.position") },
  value: { label: t("precision.error") }, log: true, draw,
});

function plots(state) {
  const query = (more) => ({
    spec: state.get("spec"), quantity: state.get("quantity"), positions: state.get("positions"),
    stages: state.get("stages"), ...more,
  });
  const all = () => ({ path: "/v1/precision", picture: "precision",
    pictured: { select: state.get("measure") }, tabled: { select: state.get("measure") }, query: query({}) });
  const byPair = () => ({
    path: "/v1/precision", picture: "precision",
    query: query({ stages: state.get("pipeline"), with: "pair_error", select: "pair_error" }),
  });
  return {
    curves: new Plot({
      id: "curves", first: true, title: t("precision.curves"), source: all, drawing: curves(state),
      query: () => state.query(),
    }),
    stages: new Plot({
      id: "stages", title: t("precision.stages"), source: all, query: () => state.query(),
      drawing: errorColors(t("precision.pipeline"), ({ params, tensors, readouts: { pipelines } }) => ({
        values: tensors[state.get("measure")].data, rows: pipelines.map(({ name }) => name),
        columns: places(params.positions), range: RANGE,
      })),
    }),
    pairs: new Plot({
      id: "pairs", title: t("precision.pairs"), query: () => state.query(),
      source: () => (BY_PAIR.includes(state.get("quantity")) ? byPair() : null),
      drawing: errorColors(t("precision.pair"), ({ params, tensors: { pair_error: { data: [errors] } } }) => ({
        values: errors[0].map((_, pair) => errors.map((row) => row[pair])), rows: errors[0].map((_, pair) => pair),
        columns: places(params.positions), range: RANGE,
      })),
    }),
  };
}

function controls(state) {
  const named = (values, texts) => values.map((value) => [value, t(`precision.${texts}.${value}`)]);
  return el("section", { class: "card wide" },
    encodingForm({
      state, key: "spec", label: t("precision.encoding"),
      // Those whose errors are of cosines, too.
      kinds: ({ endpoints }) => ["/v1/precision", "/v1/frequencies"].every((path) => endpoints.includes(path)),
    }),
    el("div", { class: "controls" },
      choice({ state, key: "quantity", label: t("precision.quantity"), options: named(QUANTITIES, "quantities") }),
      choice({
        state, key: "positions", label: t("precision.positions"),
        options: [[DOUBLING, t("precision.doubling")], ["1:513", "1 … 512"], ["1:8192:61", "1 … 8191"],
          ["1:131072:1021", "1 … 131071"]],
      }),
      choice({
        state, key: "stages", label: t("precision.pipelines"),
        options: STAGES.map((each) => [each, each === "" ? t("precision.usual") : each.replaceAll(";", ", ")]),
      }),
      choice({
        state, key: "measure", label: t("precision.measure"),
        options: named(["max_abs_error", "rms_error"], "measures"),
      }),
      choice({
        state, key: "pipeline", label: t("precision.of_pairs"), options: PIPELINES.map((each) => [each, each]),
      })));
}

export function show(main) {
  const state = new State({
    spec: "rope:dim=64", quantity: "cos", positions: DOUBLING, stages: "", measure: "max_abs_error",
    pipeline: "bf16-freq",
  });
  const { curves: first, stages, pairs } = plots(state);
  const pairCard = el("section", { class: "card" }, pairs.element);
  state.listen((names) => {
    pairCard.hidden = !BY_PAIR.includes(state.get("quantity"));
    for (const plot of [first, stages, pairs]) {
      if (names.includes("measure") && plot.answer) plot.drawing.update(plot.answer);
      plot.refresh();
    }
  });
  pairCard.hidden = !BY_PAIR.includes(state.get("quantity"));
  main.append(
    el("div", { class: "intro" }, el("h1", {}, t("precision.title")), el("p", {}, t("precision.intro"))),
    el("div", { class: "cards" }, controls(state),
      el("section", { class: "card wide" }, first.element),
      el("section", { class: "card" }, stages.element), pairCard));
}
