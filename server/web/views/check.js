// SPDX-License-Identifier: Apache-2.0
// check.js: a view that only names itself.

import { el } from "../dom.js";
import { t } from "../words.js";

export function show(main) {
  main.append(el("div", { class: "intro" }, el("h1", {}, t("check.title")), el("p", {}, t("check.intro"))));
}
