// SPDX-License-Identifier: Apache-2.0
// forms.js: controls that are bound to the state of a view, and the form of an encoding, made of the
// parameter rows that the catalogue lists.

import { askOnce } from "./api.js";
import { el, freshId } from "./dom.js";
import { t } from "./words.js";

/* A control with its name before it; `help` is a sentence of the API, in English. */
function labelled(label, input, { help, value } = {}) {
  input.id = freshId("control");
  if (help) input.title = help;
  return el("div", { class: "control" },
    el("label", { for: input.id }, label), input, value ? el("output", { for: input.id }, value) : null);
}

function bind(state, key, show) {
  state.listen((names) => names.includes(key) && show(state.get(key)));
  show(state.get(key));
}

/** A slider over a range, or over a list of `steps`; its value stands beside it. */
export function slider({ state, key, label, min = 0, max, step = 1, steps, unit = "" }) {
  const value = el("span");
  const input = el("input", steps
    ? { type: "range", min: 0, max: steps.length - 1, step: 1 } : { type: "range", min, max, step });
  input.addEventListener("input", () =>
    state.set({ [key]: steps ? steps[Number(input.value)] : Number(input.value) }));
  const control = labelled(label, input, { value });
  bind(state, key, (now) => {
    input.value = steps ? Math.max(0, steps.findIndex((each) => each >= now)) : now;
    value.textContent = unit ? `${now} ${unit}` : String(now);
    input.setAttribute("aria-valuetext", value.textContent);
  });
  return control;
}

/** A list to choose from: `options` are pairs of a value and its name. */
export function choice({ state, key, label, options }) {
  const input = el("select", {}, options.map(([value, name]) => el("option", { value }, name)));
  input.addEventListener("change", () => state.set({ [key]: input.value }));
  const control = labelled(label, input);
  bind(state, key, (now) => (input.value = now));
  return control;
}

/** A box to tick. */
export function flag({ state, key, label }) {
  const input = el("input", { type: "checkbox" });
  input.addEventListener("change", () => state.set({ [key]: input.checked }));
  const control = labelled(label, input);
  bind(state, key, (now) => (input.checked = now));
  return control;
}

/** A line of text, taken when the reader leaves it or presses Enter. */
export function line({ state, key, label, placeholder = "" }) {
  const input = el("input", { type: "text", placeholder, spellcheck: "false", autocomplete: "off" });
  input.addEventListener("change", () => state.set({ [key]: input.value.trim() }));
  const control = labelled(label, input);
  bind(state, key, (now) => (input.value = now));
  return control;
}

/** "rope:dim=64,base=500000" as { kind, dim: "64", base: "500000" }. */
export function parseSpec(text) {
  const [kind, rest = ""] = text.split(/:(.*)/s);
  const pairs = rest.split(",").filter(Boolean).map((pair) => pair.split(/=(.*)/s).slice(0, 2));
  return { kind, ...Object.fromEntries(pairs) };
}

/** The way back; empty values are left out. */
export function formatSpec({ kind, ...keys }) {
  const pairs = Object.entries(keys).filter(([, value]) => value !== "")
    .map(([key, value]) => `${key}=${value}`);
  return pairs.length ? `${kind}:${pairs.join(",")}` : kind;
}

/** Whether a row is read at all: "scaling=linear|ntk" names the values of another key. */
function applies(row, keys, rows) {
  if (!row["x-when"]) return true;
  const [key, values] = row["x-when"].split("=");
  return values.split("|").includes(keys[key] ?? String(rows[key]?.default ?? ""));
}

function rowInput(name, row, value) {
  const attributes = { placeholder: row.default === undefined ? "" : String(row.default) };
  const names = row.enum;
  if (names || row.type === "boolean") {
    const values = names ?? ["false", "true"];
    return el("select", { ".value": value }, el("option", { value: "" },
      row.default === undefined ? t("forms.unset") : t("forms.usual", { value: row.default })),
    values.filter((each) => String(each) !== String(row.default)).map((each) =>
      el("option", { value: each, selected: String(each) === value }, each)));
  }
  if (row.type === "integer" || row.type === "number")
    return el("input", { type: "number", inputmode: "decimal", min: row.minimum, max: row.maximum,
      step: row.multipleOf ?? (row.type === "integer" ? 1 : "any"), value, ...attributes });
  return el("input", { type: "text", value, spellcheck: "false", autocomplete: "off", ...attributes });
}

/**
 * The form of an encoding, in its compact spelling at `key` of the state: a kind, then a control for
 * each of its parameters that is read. `kinds(entry)` says which of the catalogue are offered.
 */
export function encodingForm({ state, key, label, kinds = () => true }) {
  const kind = el("select");
  const rows = el("div", { class: "controls" });
  const more = el("details", {}, el("summary", {}, t("forms.more")), el("div", { class: "controls" }));
  const element = el("div", { class: "encoding" }, labelled(label, kind), rows, more);
  const USUAL = ["dim", "base", "layout", "scaling"];

  function change(name, value) {
    state.set({ [key]: formatSpec({ ...parseSpec(state.get(key)), [name]: value }) });
  }

  function show(catalogue) {
    const keys = parseSpec(state.get(key));
    const entry = catalogue.encodings.find((each) => each.kind === keys.kind);
    kind.value = keys.kind;
    kind.title = entry?.description ?? "";
    const focused = document.activeElement?.dataset?.row;
    const schema = entry?.schema.properties ?? {};
    const controls = Object.entries(schema).filter(([name, row]) =>
      name !== "kind" && applies(row, keys, schema)).map(([name, row]) => {
      const input = rowInput(name, row, keys[name] ?? "");
      input.dataset.row = `${key}.${name}`;
      input.addEventListener("change", () => change(name, input.value.trim()));
      return [USUAL.includes(name) || row["x-when"] || keys[name] !== undefined,
        labelled(name, input, { help: row.description })];
    });
    rows.replaceChildren(...controls.filter(([usual]) => usual).map(([, control]) => control));
    more.lastChild.replaceChildren(...controls.filter(([usual]) => !usual).map(([, control]) => control));
    more.hidden = more.lastChild.childElementCount === 0;
    if (focused) element.querySelector(`[data-row="${CSS.escape(focused)}"]`)?.focus();
  }

  askOnce("/v1/encodings").then((catalogue) => {
    kind.append(...catalogue.encodings.filter(kinds).map((each) =>
      el("option", { value: each.kind }, `${each.kind}: ${each.title}`)));
    kind.addEventListener("change", () => {
      const { dim } = parseSpec(state.get(key));
      const { schema, positions_end: end } = catalogue.encodings.find((each) => each.kind === kind.value);
      const keeps = schema.properties.dim && end === null; // else it says how many positions there are
      state.set({ [key]: formatSpec({ kind: kind.value, dim: keeps && dim ? dim : "" }) });
    });
    bind(state, key, () => show(catalogue));
  }, () => element.append(el("p", { class: "problem" }, t("plot.offline"))));
  return element;
}
