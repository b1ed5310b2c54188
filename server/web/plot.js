// SPDX-License-Identifier: Apache-2.0
// plot.js: a plot: one request to the API, the drawing of its answer, what it says in numbers, and the
// ways to take it along. What is drawn, and how, is a drawing's business (line.js, heat.js, ...).

import { address, ask, asCurl, Offline, service, withSuffix } from "./api.js";
import { el, freshId } from "./dom.js";
import { readoutList } from "./panels.js";
import { page, pageAddress } from "./state.js";
import { t } from "./words.js";

const SHARP = 2; // pixels of a PNG for each of the page
const AHEAD = "300px"; // how far below what is seen plots are made

/** Puts a text on the clipboard, also where pages may not do so by themselves. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { ".value": text, class: "away" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** A button that copies what `text()` is when it is pressed, and says so for a moment. */
export function copyButton(label, text) {
  const button = el("button", { type: "button", class: "quiet" }, label);
  button.addEventListener("click", async () => {
    await copy(text());
    button.textContent = t("plot.copied");
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

/** What a failed request says, with its hints, as paragraphs. */
export function problemText(error) {
  if (error instanceof Offline) return [el("p", {}, t("plot.offline"))];
  const errors = error.problem?.errors ?? [];
  return [
    el("p", { lang: "en" }, error.message),
    ...errors.filter((each) => each.hint || each.detail).map((each) =>
      el("p", { lang: "en", class: "faint" }, [each.detail, each.hint].filter(Boolean).join("; "))),
  ];
}

/**
 * A plot. Of what it is told:
 *   id        names it in addresses and for embedding; unlike any other in the view
 *   title     words above it; with `heading`, the id of an element that has them, they are not repeated
 *   source()  what to ask now: { path, query, picture, pictured, tabled, body, data }; or null: nothing.
 *             `picture` is its name under /v1/plots, `pictured` what differs in the query there, `tabled`
 *             what differs in that of the CSV, which has one tensor of the answer; `body` makes it a POST,
 *             and `data` is then what curl has after -d
 *   drawing   { element, update(answer), clear() }: see line.js, heat.js, arrows.js and panels.js
 *   readouts(answer)   pairs of a name and a text to show below
 *   first     whether it is at the top of the view: it asks at once, before the page has been laid out
 *   query()   the state of the view, for the snippet that embeds it
 * It has `element` to put into the page, and `refresh()` to call when what source() says may have
 * changed: it asks only if it did, and only when the plot is near what is seen. `element.plot` is the
 * plot: its `url`, `answer`, `drawing.drawn` (what was drawn) and `idle` (a promise) are for tests.
 */
export class Plot {
  #told;
  #source = null;
  #seen = false;
  #stale = true;
  #abort;
  #parts;

  constructor(told) {
    this.#told = told;
    this.id = told.id;
    this.drawing = told.drawing;
    this.url = "";
    this.answer = null;
    this.idle = Promise.resolve();
    this.element = this.#build();
    this.element.plot = this;
    if (page.only ? page.only === this.id : told.first) {
      this.#seen = true;
      queueMicrotask(() => this.refresh());
    }
    new IntersectionObserver((entries) => {
      this.#seen = entries.at(-1).isIntersecting;
      if (this.#seen && this.#stale) this.refresh();
    }, { rootMargin: AHEAD }).observe(this.element);
    service.addEventListener("online", () => {
      this.url = "";
      this.refresh();
    });
  }

  #build() {
    const title = this.#told.heading ?? freshId("title");
    const parts = {
      readouts: el("dl", { class: "readouts" }),
      problem: el("div", { class: "problem", role: "alert", hidden: true }),
      url: el("a", { class: "url" }),
      csv: el("a", { class: "quiet", download: true }, "CSV"),
      svg: el("a", { class: "quiet", download: true }, "SVG"),
      png: el("a", { class: "quiet", download: true }, "PNG"),
      frame: el("code"),
      image: el("code"),
    };
    this.#parts = parts;
    const snippet = (label, code) =>
      el("div", { class: "snippet" }, code, copyButton(label, () => code.textContent));
    parts.imageSnippet = snippet(t("plot.copy_image"), parts.image);
    parts.embed = el("details", { class: "embed", ontoggle: () => this.#point() },
      el("summary", { class: "quiet" }, t("plot.embed")),
      snippet(t("plot.copy_frame"), parts.frame), parts.imageSnippet);
    parts.tools = el("div", { class: "tools" },
      parts.url,
      el("div", { class: "buttons" },
        copyButton(t("plot.curl"), () => asCurl(this.url, this.#source?.data)),
        parts.svg, parts.png, parts.csv, parts.embed));
    return el("figure", { class: "plot", id: this.#told.id, "aria-labelledby": title },
      this.#told.heading ? null : el("figcaption", { id: title }, this.#told.title),
      this.drawing.element, parts.problem, parts.readouts, parts.tools);
  }

  /** Asks for what source() says, unless it is what is shown; whoever waited before waits no more. */
  refresh() {
    this.#stale = !this.#seen;
    if (this.#stale) return this.idle;
    this.#source = this.#told.source();
    const url = this.#source ? address(this.#source.path, this.#source.query) : "";
    const same = url === this.url && this.#source?.body === undefined;
    this.url = url;
    this.#point();
    if (same) return this.idle;
    this.#abort?.abort();
    if (!this.#source) {
      this.drawing.clear();
      return this.idle;
    }
    this.#abort = new AbortController();
    this.element.setAttribute("aria-busy", "true");
    this.idle = this.#fetch(url, this.#abort.signal);
    return this.idle;
  }

  async #fetch(url, signal) {
    try {
      const answer = await ask(url, { signal, body: this.#source.body, type: this.#source.type });
      if (signal.aborted) return;
      this.answer = answer;
      this.drawing.update(answer);
      this.#say(this.#told.readouts?.(answer) ?? [], []);
    } catch (error) {
      if (signal.aborted) return;
      if (error.problem === undefined && !(error instanceof Offline)) throw error;
      this.drawing.clear();
      this.#say([], problemText(error));
    } finally {
      if (!signal.aborted) this.element.removeAttribute("aria-busy");
    }
  }

  #say(readouts, problem) {
    this.#parts.readouts.replaceChildren(...readoutList(readouts));
    this.#parts.problem.replaceChildren(...problem);
    this.#parts.problem.hidden = problem.length === 0;
  }

  /** The links and snippets of the tool bar. */
  #point() {
    const { tools, url, csv, svg, png, image, imageSnippet, frame } = this.#parts;
    const source = this.#source;
    tools.hidden = !source;
    if (!source) return;
    const get = source.body === undefined;
    const picture = get && source.picture
      ? (suffix, more) => address(`/v1/plots/${source.picture}.${suffix}`,
        { ...source.query, ...source.pictured, ...more }) : null;
    url.textContent = get ? this.url : `POST ${this.url}`;
    if (get) url.href = this.url;
    csv.href = withSuffix(address(source.path, { ...source.query, ...source.tabled }), "csv");
    csv.hidden = !get;
    svg.hidden = png.hidden = imageSnippet.hidden = !picture;
    if (picture) {
      svg.href = picture("svg");
      png.href = picture("png", { density: SHARP });
      image.textContent = `<img src="${location.origin}${picture("svg")}" alt="${this.#told.title}">`;
    }
    const shown = pageAddress(this.#told.query?.() ?? {}, {
      embedded: true, only: this.id, view: document.body.dataset.view,
      lang: document.documentElement.lang,
    });
    frame.textContent = `<iframe src="${location.origin}${shown}" title="${this.#told.title}" ` +
      `width="100%" height="560" loading="lazy"></iframe>`;
  }
}
