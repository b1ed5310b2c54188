// SPDX-License-Identifier: Apache-2.0
// api.js: the addresses of the API, requests to it, and what to say when they fail.

/** Tells "offline" when the service does not answer, and "online" when it does again. */
export const service = new EventTarget();

const RETRY_MS = 2000;
let offline = false;

/** The service refused: a problem document, whose errors name parameters and give hints. */
export class Problem extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || String(status));
    this.status = status;
    this.problem = problem;
  }
}

/** The service did not answer at all. */
export class Offline extends Error {}

/** Percent-encoding that leaves what a query may hold as it is, so that addresses can be read. */
function encode(text) {
  return encodeURIComponent(text).replace(/%(3A|2C|3B|3D|2F|5E)/g, decodeURIComponent);
}

/** "/v1/table?kind=rope&dim=8": values may be lists (a key for each); those undefined, null or ""
 * are left out. */
export function address(path, query = {}) {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value].flat().filter((each) => each !== undefined && each !== null && each !== "")
      .map((each) => `${encode(key)}=${encode(String(each))}`));
  return pairs.length ? `${path}?${pairs.join("&")}` : path;
}

/** The same with another suffix: withSuffix("/v1/table?dim=8", "csv"). */
export function withSuffix(url, suffix) {
  const [path, query] = url.split("?");
  return `${path}.${suffix}${query === undefined ? "" : `?${query}`}`;
}

async function reach(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost();
    throw new Offline(url);
  }
}

function lost() {
  if (offline) return;
  offline = true;
  service.dispatchEvent(new Event("offline"));
  const retry = setInterval(async () => {
    const answer = await fetch("/livez", { cache: "no-store" }).catch(() => null);
    if (!answer?.ok) return;
    clearInterval(retry);
    offline = false;
    service.dispatchEvent(new Event("online"));
  }, RETRY_MS);
}

/**
 * The answer to a GET, or to a POST of `body` (an object becomes JSON, bytes stay bytes of `type`),
 * as JSON. Throws Problem, Offline, or AbortError when `signal` says that nobody waits any more.
 */
export async function ask(url, { signal, body, type } = {}) {
  const options = { signal, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    const bytes = typeof body === "string" || body instanceof ArrayBuffer || ArrayBuffer.isView(body);
    options.method = "POST";
    options.body = bytes ? body : JSON.stringify(body);
    options.headers["Content-Type"] = type ?? "application/json";
  }
  const answer = await reach(url, options);
  const document = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (!answer.ok) throw new Problem(answer.status, document);
  return document;
}

/** Asks once for what does not change while the page is open, such as the catalogue. */
const kept = new Map();
export function askOnce(url) {
  if (!kept.has(url)) {
    const answer = ask(url);
    kept.set(url, answer);
    answer.catch(() => kept.delete(url));
  }
  return kept.get(url);
}

/** The numbers of a list as the API writes it: [1, 2, 5], "0:32", "0:32:4". */
export function places(list) {
  if (Array.isArray(list)) return list;
  const [first, end, step = 1] = String(list).split(":").map(Number);
  if (end === undefined) return [first];
  return Array.from({ length: Math.ceil((end - first) / step) }, (_, i) => first + i * step);
}

/** What a person types to get the same. `data` is what follows -d for a POST. */
export function asCurl(url, data) {
  const quoted = `'${new URL(url, location.href).href.replaceAll("'", "%27")}'`;
  return data === undefined ? `curl ${quoted}` : `curl ${quoted} ${data}`;
}
