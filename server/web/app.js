// SPDX-License-Identifier: Apache-2.0
// app.js: the page: its views, the frame around them, and what stands there when the service is away.

import { service } from "./api.js";
import { el } from "./dom.js";
import { page, pageAddress } from "./state.js";
import { t } from "./words.js";

/** The views, the first of which is shown where none is named. show(main) fills the page. */
const views = [
  { name: "lesson", load: () => import("./views/lesson.js") },
  { name: "explore", load: () => import("./views/explore.js") },
  { name: "check", load: () => import("./views/check.js") },
  { name: "precision", load: () => import("./views/precision.js") },
];

const languages = { en: "English", ru: "Русский", ja: "日本語" };

const view = views.find((each) => each.name === page.view) ?? views[0];

function header() {
  const lang = document.documentElement.lang;
  return el("header", { class: "top" },
    el("a", { class: "skip", href: "#main" }, t("app.skip")),
    el("div", { class: "bar" },
      el("a", { class: "brand", href: pageAddress({}, { view: null, only: null }) }, "posencd"),
      el("nav", { "aria-label": t("app.views") }, views.map((each) =>
        el("a", {
          href: pageAddress({}, { view: each.name, only: null }),
          "aria-current": each === view ? "page" : null,
        }, t(`app.${each.name}`)))),
      el("nav", { class: "languages", "aria-label": t("app.languages") },
        Object.entries(languages).map(([code, name]) =>
          el("a", {
            href: pageAddress({}, { lang: code }), lang: code, hreflang: code,
            "aria-current": code === lang ? "true" : null,
            // What the reader has chosen meanwhile goes along.
            onclick: (event) => {
              const to = new URL(location.href);
              to.searchParams.set("lang", code);
              event.currentTarget.href = to.pathname + to.search + to.hash;
            },
          }, name)))));
}

function footer() {
  return el("footer", {},
    el("p", {}, t("app.about")),
    el("p", {}, [["/help", "app.help"], ["/v1/encodings?format=txt", "app.catalogue"],
      ["/openapi.json", "app.openapi"]].map(([href, key]) => el("a", { href }, t(key)))));
}

/* Says that the service is away for as long as it is. */
function banner() {
  const element = el("div", { class: "banner", role: "status" });
  service.addEventListener("offline", () => (element.textContent = t("app.offline")));
  service.addEventListener("online", () => (element.textContent = ""));
  return element;
}

/* Leaves the card of one plot, which is what a frame in another page shows. */
function showAlone(id) {
  const card = document.getElementById(id)?.closest(".card");
  if (!card) return;
  card.classList.add("chosen");
  document.body.classList.add("alone");
}

async function start() {
  const main = el("main", { id: "main", tabindex: -1 });
  document.title = `${t(`app.${view.name}`)} – posencd`;
  document.body.dataset.view = view.name;
  document.body.classList.toggle("embedded", page.embedded);
  document.body.append(...[page.embedded ? null : header(), banner(), main, page.embedded ? null : footer()]
    .filter(Boolean));
  const { show } = await view.load();
  await show(main);
  if (page.only) showAlone(page.only);
  document.body.dataset.ready = "true";
}

await start();
