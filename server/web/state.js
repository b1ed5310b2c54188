// SPDX-License-Identifier: Apache-2.0
// state.js: what the reader has chosen, in the address of the page, so that it can be sent and kept.

const WRITE_MS = 250; // browsers refuse to change the address many times a second

const given = new URLSearchParams(location.search);
const embedded = location.pathname.match(/^\/embed\/([^/]+)/);

/** The page's own keys; all others belong to the view. */
export const page = {
  view: embedded?.[1] ?? given.get("view"), // null: the first one
  embedded: Boolean(embedded),
  lang: given.get("lang"), // null: as the browser asks
  only: given.get("only"), // the id of the plot that is to be shown alone; null
};

/** The address of a view in the given state; `changes` to the page's keys: { embedded, lang, only }. */
export function pageAddress(query, changes = {}) {
  const to = { ...page, ...changes };
  const search = new URLSearchParams();
  if (!to.embedded && to.view) search.set("view", to.view);
  for (const [key, value] of Object.entries(query)) search.set(key, value);
  if (to.lang) search.set("lang", to.lang);
  if (to.only) search.set("only", to.only);
  const text = search.toString().replace(/%(3A|2C|3B|3D|2F|5E)/g, decodeURIComponent);
  return (to.embedded ? `/embed/${to.view}` : "/") + (text && `?${text}`);
}

/**
 * The state of a view. `defaults` says which keys there are and of what type (strings, numbers,
 * booleans); only what differs from them stands in the address.
 */
export class State {
  #defaults;
  #values;
  #listeners = [];
  #timer;

  constructor(defaults) {
    this.#defaults = defaults;
    this.#values = { ...defaults };
    for (const [key, value] of Object.entries(defaults)) {
      const text = given.get(key);
      if (text === null) continue;
      if (typeof value === "number") {
        if (text !== "" && Number.isFinite(Number(text))) this.#values[key] = Number(text);
      } else {
        this.#values[key] = typeof value === "boolean" ? text === "true" : text;
      }
    }
  }

  get(key) {
    return this.#values[key];
  }

  /** Changes some values, tells the listeners which, and soon the address. */
  set(changes) {
    const names = Object.keys(changes).filter((key) => this.#values[key] !== changes[key]);
    if (names.length === 0) return;
    Object.assign(this.#values, changes);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      history.replaceState(null, "", pageAddress(this.query()) + location.hash);
    }, WRITE_MS);
    for (const listener of this.#listeners) listener(names);
  }

  /** Calls back with the names of what changed. */
  listen(listener) {
    this.#listeners.push(listener);
  }

  /** What differs from the defaults. */
  query() {
    return Object.fromEntries(Object.entries(this.#values)
      .filter(([key, value]) => value !== this.#defaults[key]));
  }
}
