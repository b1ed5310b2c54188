// SPDX-License-Identifier: Apache-2.0
// words.js: the words of the page in its language, and numbers as it writes them.

const { default: texts } = await import(`./texts/${document.documentElement.lang}.js`);

/** The text of a key such as "plot.copied", with values in place of {names}. */
export function t(key, values = {}) {
  const text = key.split(".").reduce((node, name) => node?.[name], texts);
  if (typeof text !== "string") {
    console.error(`no text: ${key}`);
    return key;
  }
  return text.replace(/\{(\w+)\}/g, (hole, name) => (name in values ? String(values[name]) : hole));
}

/** A number of the API to read: so many significant digits, no more than it has. */
export function digits(number, precision = 4) {
  if (typeof number !== "number") return String(number);
  const size = Math.abs(number);
  return size !== 0 && (size < 1e-4 || size >= 1e7)
    ? number.toExponential(precision - 1).replace(/\.?0+e/, "e").replace("e+", "e").replace("-", "−")
    : String(Number(number.toPrecision(Math.max(precision, Number.isInteger(number) ? 7 : 0))))
        .replace("-", "−");
}
