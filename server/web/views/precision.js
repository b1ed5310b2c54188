// SPDX-License-Identifier: Apache-2.0
// precision.js: a view that only names itself.

import { el } from "../dom.js";
import { t } from "../words.js";

export function show(main) {
  main.append(el("div", { class: "intro" }, el("h1", {}, t("precision.title")), el("p", {}, t("precision.intro"))));
}
