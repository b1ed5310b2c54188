// SPDX-License-Identifier: Apache-2.0
// explore.js: a view that only names itself.

import { el } from "../dom.js";
import { t } from "../words.js";

export function show(main) {
  main.append(el("div", { class: "intro" }, el("h1", {}, t("explore.title")), el("p", {}, t("explore.intro"))));
}
