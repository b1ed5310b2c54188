// SPDX-License-Identifier: Apache-2.0
// check.js: a reader's own things: a model's config.json, and vectors before and after an encoding.

import { address, ask, askOnce, asCurl } from "../api.js";
import { el, freshId } from "../dom.js";
import { dropZone, readTensors, writeRequest } from "../files.js";
import { choice, flag, line } from "../forms.js";
import { lines } from "../line.js";
import { copyButton, Plot, problemText } from "../plot.js";
import { State } from "../state.js";
import { digits, t } from "../words.js";

const SAFETENSORS = "application/x-safetensors";
const REQUEST_FILE = "request.safetensors";
const EXAMPLE_CONFIG = "from-config-llama3"; // in the OpenAPI document
const EXAMPLE_VECTORS = {
  path: "/v1/apply.safetensors",
  query: { spec: "rope:dim=64,layout=half,shift=1", positions: "0:16", shape: "16,64", dtype: "f32" },
};
const BANDS = ["kept", "blended", "divided"]; // 0, 1, 2 in the tensor `band`

const list = (items) => (items.length ? el("ul", { lang: "en" }, items.map((item) => el("li", {}, item))) : null);

/* Names and numbers, as plots have them below. */
const facts = (pairs) => el("dl", { class: "readouts" }, pairs.map(([name, value]) =>
  el("div", {}, el("dt", {}, name), el("dd", {}, value))));

/* A part of an answer under its name; nothing if there is nothing. */
const part = (name, content) => (content ? [el("h3", {}, t(name)), content] : []);

/* A place for what the API says: show(request) puts there what `request()` makes, or why it failed. */
function resultPlace() {
  const element = el("div", { class: "result", "aria-live": "polite" });
  let newest = 0;
  const show = async (request) => {
    const own = ++newest;
    element.setAttribute("aria-busy", "true");
    let content;
    try {
      content = await request();
    } catch (error) {
      content = el("div", { class: "problem" }, problemText(error));
    }
    if (own !== newest) return;
    element.replaceChildren(...[content].flat());
    element.removeAttribute("aria-busy");
  };
  return { element, show };
}

const button = (label, onclick, primary) =>
  el("button", { type: "button", class: primary ? "primary" : "quiet", onclick }, label);

// ---- A config -----------------------------------------------------------------------------------

/* The frequencies of an encoding, in colours of their bands. */
function frequencyPlot(state, compact, i) {
  return new Plot({
    id: `frequencies-${i}`, title: compact, query: () => state.query(),
    source: () => ({
      path: "/v1/frequencies", picture: "frequencies", query: { spec: compact, context: state.get("context") },
    }),
    drawing: lines({
      x: { label: t("check.pair"), whole: true },
      y: { label: t("check.inv_freq"), unit: t("check.per_position"), log: 10 },
      draw: ({ tensors: { inv_freq: { data }, base_inv_freq: base, band } }) => ({
        x: data.map((_, pair) => pair),
        lines: [
          { name: t("check.unscaled"), y: base.data, color: 7 },
          ...BANDS.map((name, value) => ({
            name: t(`check.bands.${name}`), points: true, color: value,
            y: data.map((each, pair) => (band.data[pair] === value ? each : null)),
          })).filter(({ y }) => y.some((each) => each !== null)),
        ],
      }),
    }),
    readouts: ({ readouts }) => [
      ...BANDS.map((name) => [t(`check.bands.${name}`), digits(readouts[name])]),
      [t("check.attention_factor"), digits(readouts.attention_factor, 6)],
      [t("check.effective_base"), digits(readouts.effective_base)],
    ],
  });
}

const placed = (pointer, says) => (pointer ? `${pointer}: ${says}` : says);

/* What the answer to a config says beside the frequencies. */
function configSays({ specs, read, assumed, warnings }) {
  return [
    ...part("check.encodings", el("ul", {}, specs.map(({ applies_to: layers, compact, links }) =>
      el("li", {}, `${layers}: `, el("a", { href: links.frequencies ?? links.table }, el("code", {}, compact)))))),
    ...part("check.warnings", list(warnings.map(({ pointer, detail }) => placed(pointer, detail)))),
    ...part("check.assumed", list(assumed.map(({ key, value, because }) => `${key}=${value}: ${because}`))),
    ...part("check.read", list(read.map(({ pointer, as }) => placed(pointer, as)))),
  ];
}

function configCard(state) {
  const id = freshId("config");
  const text = el("textarea", { id, rows: 9, spellcheck: "false", autocomplete: "off" });
  const { element: result, show } = resultPlace();
  const plots = el("div", { class: "cards" });

  function draw() {
    const found = state.get("found").split(";").filter(Boolean);
    plots.replaceChildren(...found.map((compact, i) => frequencyPlot(state, compact, i).element));
  }
  const check = () => show(async () => {
    const [layout, context, lenient] = ["layout", "context", "lenient"].map((key) => state.get(key));
    const query = { layout, context, lenient: lenient || null };
    const answer = await ask(address("/v1/from-config", query), { body: text.value });
    const turning = answer.specs.filter(({ links }) => links.frequencies);
    state.set({ found: turning.map(({ compact }) => compact).join(";") });
    return configSays(answer);
  });
  const fill = async (content) => {
    text.value = content;
    await check();
  };

  state.listen((names) => {
    if (names.includes("found") || names.includes("context")) draw();
    if (text.value && ["layout", "context", "lenient"].some((key) => names.includes(key))) check();
  });
  draw();
  return el("section", { class: "card", id: "config" },
    el("h2", {}, t("check.config")), el("p", { class: "faint" }, t("check.config_intro")),
    dropZone({ label: t("check.drop_config"), accept: ".json", take: async ([file]) => fill(await file.text()) }),
    el("div", { class: "control" }, el("label", { for: id }, t("check.config_text")), text),
    el("div", { class: "controls" },
      choice({ state, key: "layout", label: "layout",
        options: [["", t("check.as_model")], ["half", "half"], ["interleaved", "interleaved"]] }),
      line({ state, key: "context", label: "context" }),
      flag({ state, key: "lenient", label: t("check.lenient") })),
    el("div", { class: "buttons" },
      button(t("check.check"), check, true),
      button(t("check.example"), () => show(async () => {
        const { components } = await askOnce("/openapi.json");
        text.value = JSON.stringify(components.examples[EXAMPLE_CONFIG].value, null, 2);
        return check();
      })),
      copyButton(t("plot.curl"), () => asCurl("/v1/from-config", "-d @config.json"))),
    result, plots);
}

// ---- Vectors ------------------------------------------------------------------------------------

function identifySays({ confidence, best, others, ambiguous, advice, dtype }) {
  return [
    el("p", { class: "verdict" }, t(`check.confidence.${confidence}`)),
    best && el("p", {}, el("code", {}, best.compact)),
    best && el("p", { lang: "en" }, best.says),
    best && facts([
      [t("check.max_abs"), best.max_abs === null ? "–" : digits(best.max_abs)],
      [t("check.exact"), t(best.exact ? "check.yes" : "check.no")], ["dtype", dtype],
    ]),
    ...part("check.settle", list(ambiguous.map(({ key, values, send }) => `${key} (${values.join(", ")}): ${send}`))),
    ...part("check.others", others.length ? el("ul", {}, others.map(({ spec, rms }) =>
      el("li", {}, el("code", {}, spec), ` ${t("check.rms")} ${digits(rms)}`))) : null),
    ...part("check.advice", list(advice)),
  ].filter(Boolean);
}

function compareSays(answer) {
  const { pass, shape, elements, mismatched, max_abs: largest, first_mismatch: first, diagnosis, advice } = answer;
  const at = (where) => `[${where.index.join(", ")}]`;
  return [
    el("p", { class: "verdict" }, t(pass ? "check.close" : "check.not_close")),
    ...(elements === undefined ? [el("p", {}, `${JSON.stringify(shape.actual)} ≠ ${JSON.stringify(shape.expected)}`)] : [
      facts([
        [t("check.mismatched"), t("check.of", { some: mismatched, all: elements })],
        [t("check.max_abs"), largest ? `${digits(largest.value)} ${at(largest)}` : "–"],
        [t("check.rms"), answer.rms === null ? "–" : digits(answer.rms)],
        [t("check.cosine"), answer.cosine === null ? "–" : digits(answer.cosine, 6)],
      ]),
      ...part("check.steps", facts(Object.entries(answer.ulp_histogram).map(([steps, n]) => [steps, digits(n)]))),
      ...part("check.first", first && el("p", {}, t("check.instead", {
        at: at(first), actual: digits(first.actual, 8), expected: digits(first.expected, 8),
      }))),
    ]),
    ...part("check.diagnosis", diagnosis.length ? el("ul", {}, diagnosis.map(({ says, spec }) =>
      el("li", { lang: "en" }, says, spec ? [" ", el("code", {}, spec)] : []))) : null),
    ...part("check.advice", list(advice ?? [])),
  ];
}

/* The two of all tensors that are x and y: by these names, else the first two. */
function pick(names, wanted, place) {
  return names.find((name) => wanted.includes(name)) ?? names[Math.min(place, names.length - 1)];
}

function vectorsCard(state) {
  let tensors = {};
  const { element: result, show } = resultPlace();
  const selects = { x: el("select", { id: freshId("x") }), y: el("select", { id: freshId("y") }) };
  let posted = "";
  const kept = el("a", { class: "quiet", download: REQUEST_FILE, hidden: true }, t("check.save"));
  const curl = copyButton(t("plot.curl"), () =>
    asCurl(posted, `-H 'Content-Type: ${SAFETENSORS}' --data-binary @${REQUEST_FILE}`));
  curl.hidden = true;
  const needy = el("div", { class: "buttons" });

  function fill(found) {
    tensors = found;
    const names = Object.keys(tensors);
    const described = (name) => `${name}: ${tensors[name].dtype} [${tensors[name].shape.join(", ")}]`;
    for (const [place, which] of ["x", "y"].entries()) {
      selects[which].replaceChildren(...names.map((name) => el("option", { value: name }, described(name))));
      selects[which].value = pick(names, which === "x" ? ["x", "before"] : ["y", "after"], place);
    }
    for (const each of needy.querySelectorAll(".primary")) each.disabled = names.length < 2;
  }
  async function post(path, rest, [xName, yName], say) {
    const own = { [xName]: tensors[selects.x.value], [yName]: tensors[selects.y.value] };
    const body = await writeRequest(own, rest);
    URL.revokeObjectURL(kept.href);
    kept.href = URL.createObjectURL(new Blob([body], { type: SAFETENSORS }));
    kept.hidden = curl.hidden = false;
    posted = path;
    return say(await ask(path, { body, type: SAFETENSORS }));
  }
  const where = () => Object.fromEntries(
    ["positions", "axes"].map((key) => [key, state.get(key)]).filter(([, value]) => value));
  const identify = () => show(() => post("/v1/identify", where(), ["x", "y"], identifySays));
  const compare = () => show(() =>
    post("/v1/compare", { expected: { spec: state.get("spec"), ...where() } }, ["x", "actual"], compareSays));
  const take = (files) => show(async () => {
    fill(await readTensors(files));
    return [];
  });
  const example = () => show(async () => {
    const bytes = await fetch(address(EXAMPLE_VECTORS.path, EXAMPLE_VECTORS.query)).then((answer) => answer.blob());
    fill(await readTensors([new File([bytes], "example.safetensors")]));
    return post("/v1/identify", where(), ["x", "y"], identifySays);
  });

  needy.append(button(t("check.identify"), identify, true), button(t("check.compare"), compare, true),
    button(t("check.example"), example), kept, curl);
  fill({});
  return el("section", { class: "card", id: "vectors" },
    el("h2", {}, t("check.vectors")), el("p", { class: "faint" }, t("check.vectors_intro")),
    dropZone({ label: t("check.drop_vectors"), accept: ".npy,.safetensors", multiple: true, take }),
    el("div", { class: "controls" },
      ["x", "y"].map((which) => el("div", { class: "control" },
        el("label", { for: selects[which].id }, t(`check.${which}`)), selects[which])),
      line({ state, key: "positions", label: "positions", placeholder: "0:T" }),
      line({ state, key: "axes", label: "axes", placeholder: "td" }),
      line({ state, key: "spec", label: t("check.compared") })),
    needy, result);
}

export function show(main) {
  const state = new State({
    layout: "", context: "", lenient: false, found: "", positions: "", axes: "", spec: "rope:dim=64,layout=half",
  });
  main.append(
    el("div", { class: "intro" }, el("h1", {}, t("check.title")), el("p", {}, t("check.intro"))),
    el("div", { class: "cards" }, configCard(state), vectorsCard(state)));
}
