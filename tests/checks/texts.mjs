// SPDX-License-Identifier: Apache-2.0
// texts.mjs: every language of the page has the same texts with the same holes, and each of them is used.
// Run from the root of the project.

import { readdirSync, readFileSync } from "node:fs";

const folder = "server/web";

/* Every text with its key: "plot.copied". */
function flat(node, path = []) {
  return Object.entries(node).flatMap(([name, value]) =>
    typeof value === "string" ? [[[...path, name].join("."), value]] : flat(value, [...path, name]));
}

const holes = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join(" ");

async function load(file) {
  const source = readFileSync(`${folder}/texts/${file}`);
  return new Map(flat((await import(`data:text/javascript;base64,${source.toString("base64")}`)).default));
}

const files = readdirSync(`${folder}/texts`);
const texts = new Map(await Promise.all(files.map(async (file) => [file, await load(file)])));
const english = texts.get("en.js");
const faults = [];

for (const [file, each] of texts) {
  for (const [key, text] of english)
    if (!each.has(key)) faults.push(`${file} lacks ${key}`);
    else if (holes(each.get(key)) !== holes(text)) faults.push(`${file}: ${key} has other holes than in English`);
  for (const [key, text] of each) {
    if (!english.has(key)) faults.push(`${file} has ${key}, which English lacks`);
    if (text.trim() === "") faults.push(`${file}: ${key} is empty`);
  }
}

/* A key is named whole, or made: `precision.${name}` uses all that fits. */
const code = ["", "/views"].flatMap((part) => readdirSync(folder + part)
  .filter((file) => file.endsWith(".js"))
  .map((file) => readFileSync(`${folder}${part}/${file}`, "utf8"))).join("\n");
const named = [...code.matchAll(/["`]((?:[a-z_]+|\$\{[^}]*\})(?:\.(?:[a-z_0-9]+|\$\{[^}]*\}))+)["`]/g)]
  .map(([, key]) => new RegExp(`^${key.replaceAll(".", "\\.").replace(/\$\{[^}]*\}/g, "[^.]+")}$`));
for (const key of english.keys())
  if (!named.some((pattern) => pattern.test(key))) faults.push(`nothing uses ${key}`);

for (const fault of faults) console.log(`texts: ${fault}`);
console.log(`texts: ${english.size} texts in ${texts.size} languages, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
