// SPDX-License-Identifier: Apache-2.0
// en.js: the words of the page in English. The other languages have the same keys.

export default {
  app: {
    skip: "Skip to the content",
    views: "Views",
    languages: "Language",
    lesson: "Lesson",
    explore: "Explore",
    check: "Check",
    precision: "Precision",
    about: "Every number on this page comes from the API of this service, where it is exact and rounded once. Nothing is stored, and nothing is loaded from elsewhere.",
    help: "Help",
    catalogue: "Encodings",
    openapi: "OpenAPI",
    offline: "The service does not answer. The page goes on as soon as it does.",
  },
  plot: {
    curl: "Copy as curl",
    copied: "Copied",
    embed: "Embed",
    copy_frame: "Copy the frame",
    copy_image: "Copy the picture",
    offline: "The service does not answer.",
    lines: "line plot",
    heat: "heat map",
    read_line: "Arrow keys read the values",
    read_heat: "Arrow keys read the cells",
  },
  forms: {
    more: "More parameters",
    unset: "not set",
    usual: "{value} (default)",
  },
  lesson: {
    title: "Where am I? How transformers learn about order",
    intro: "Nine steps from a set of words to rotary embeddings.",
    position: "Position",
    value: "Value",
  },
  explore: {
    title: "Explore",
    intro: "Any encoding, any parameter.",
    encoding: "Encoding",
    channel: "Channel",
  },
  check: {
    title: "Check",
    intro: "Your model's config, your own numbers.",
  },
  precision: {
    title: "Precision",
    intro: "What rounding costs, and where.",
  },
};
