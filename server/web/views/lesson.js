// SPDX-License-Identifier: Apache-2.0
// lesson.js: the story of positional encodings in nine steps, each with a plot.

import { el } from "../dom.js";
import { heat } from "../heat.js";
import { Plot } from "../plot.js";
import { State } from "../state.js";
import { t } from "../words.js";

export function show(main) {
  const state = new State({ positions: 32 });
  const table = new Plot({
    id: "table",
    title: "sinusoidal",
    source: () => ({
      path: "/v1/table", picture: "table",
      query: { spec: "sinusoidal:dim=64", positions: `0:${state.get("positions")}`, dtype: "f32" },
    }),
    drawing: heat({
      rows: { label: t("lesson.position") }, columns: { label: t("explore.channel") },
      value: { label: t("lesson.value") }, diverging: true,
      draw: ({ tensors: { table: { data } } }) => ({
        values: data, rows: data.map((_, i) => i), columns: data[0].map((_, i) => i), range: [-1, 1],
      }),
    }),
    query: () => state.query(),
  });
  main.append(el("div", { class: "intro" }, el("h1", {}, t("lesson.title")), el("p", {}, t("lesson.intro"))),
    el("section", { class: "card" }, table.element));
}
