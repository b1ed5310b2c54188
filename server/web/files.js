// SPDX-License-Identifier: Apache-2.0
// files.js: files that a reader drops or chooses, and the tensors in them. Their bytes are only moved
// from one file into another; what they mean is the API's business.

import { el, freshId } from "./dom.js";
import { t } from "./words.js";

/** The client's reader and writer of safetensors, fetched when they are needed. */
const client = () => import("/assets/client.js");

/** A place to drop files on, which is a button to choose them by, too. Calls back with a list. */
export function dropZone({ label, accept, multiple = false, take }) {
  const id = freshId("files");
  const input = el("input", { type: "file", id, accept, multiple });
  const zone = el("div", { class: "drop" }, input, el("label", { for: id }, label));
  input.addEventListener("change", () => {
    if (input.files.length) take([...input.files]);
    input.value = "";
  });
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take([...event.dataTransfer.files]);
  });
  return zone;
}

const NPY_DTYPES = { "<f8": ["f64", Float64Array], "<f4": ["f32", Float32Array], "<f2": ["f16", Uint16Array] };

/** The tensor of a .npy file. TypeError says what is wrong with it. */
function readNpy(buffer, name) {
  const bytes = new Uint8Array(buffer);
  const wide = bytes[6] > 1; // versions from 2 on have 4 bytes of length
  if (bytes.length < 12 || !String.fromCharCode(...bytes.subarray(1, 6)).startsWith("NUMPY"))
    throw new TypeError(t("check.no_npy", { name }));
  const view = new DataView(buffer);
  const start = wide ? 12 : 10;
  const end = start + (wide ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder("latin1").decode(bytes.subarray(start, end));
  const [, descr] = header.match(/'descr':\s*'([^']*)'/) ?? [];
  const [, order] = header.match(/'fortran_order':\s*(\w+)/) ?? [];
  const [, sizes] = header.match(/'shape':\s*\(([^)]*)\)/) ?? [];
  if (!NPY_DTYPES[descr] || order !== "False" || sizes === undefined)
    throw new TypeError(t("check.other_npy", { name }));
  const [dtype, Kind] = NPY_DTYPES[descr];
  const shape = sizes.split(",").map((size) => size.trim()).filter(Boolean).map(Number);
  const n = shape.reduce((product, size) => product * size, 1);
  if (buffer.byteLength - end !== n * Kind.BYTES_PER_ELEMENT)
    throw new TypeError(t("check.short_npy", { name }));
  const data = new Kind(buffer.slice(end));
  return Kind === Uint16Array ? { dtype, shape, data, bits: data } : { dtype, shape, data };
}

/** All tensors of .npy and .safetensors files, by their names. */
export async function readTensors(files) {
  const { readSafetensors } = await client();
  const tensors = {};
  for (const file of files) {
    const buffer = await file.arrayBuffer();
    if (file.name.endsWith(".npy")) tensors[file.name.slice(0, -4)] = readNpy(buffer, file.name);
    else Object.assign(tensors, readSafetensors(buffer).tensors);
  }
  return tensors;
}

/** The bytes of a request: tensors, and the rest of it as JSON. */
export async function writeRequest(tensors, request) {
  const { writeSafetensors } = await client();
  return writeSafetensors(tensors, { request: JSON.stringify(request) });
}
