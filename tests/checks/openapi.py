#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""openapi.py FILE [--write]: the OpenAPI document on standard input is the one in FILE, where people
read it, and is one: it is valid against the schema of OpenAPI 3.1, every schema in it is valid JSON
Schema, every reference leads somewhere and every component is used; operations, parameters and
answers say all that a reader needs, and examples fit the schemas they stand at. With --write it is
laid out and put into FILE instead. Needs python3-jsonschema.
"""

import json
import re
import sys
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jsonschema

META = "tests/data/openapi-3.1/schema.json"
METHODS = ("get", "post")
COLUMNS = 100
VALUES = ("example", "default", "const", "enum")
PROBLEM = "application/problem+json"
SENTENCE = re.compile(r"[A-Za-z0-9/].*[.?]", re.S)
TELLING = {"default", "enum", "examples"}

faults = []


def fault(where, text):
    faults.append(f"{where}: {text}")


def walk(node, path=()):
    """Every object of the document with its path, examples and their like left out."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            is_value = key in VALUES and path[-1:] != ("responses",)
            if not is_value and path + (key,) != ("components", "examples"):
                yield from walk(value, path + (key,))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from walk(value, path + (str(i),))


class Document:
    def __init__(self, root):
        self.root = root
        self.resolver = jsonschema.RefResolver.from_schema(root)
        # Bodies that are examples of mistakes.
        self.mistakes = {
            example["x-body"]
            for example in root["components"]["examples"].values()
            if "x-body" in example and example["x-status"] >= 400
        }

    def at(self, ref):
        node = self.root
        for name in ref[2:].split("/"):
            node = node[name.replace("~1", "/").replace("~0", "~")]
        return node

    def resolve(self, node):
        while "$ref" in node:
            node = self.at(node["$ref"])
        return node

    def fits(self, value, schema):
        validator = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
        return error and error.message[:200]


def check_form(document):
    with open(META, encoding="utf-8") as file:
        meta = jsonschema.Draft202012Validator(json.load(file))
    for error in meta.iter_errors(document.root):
        fault("/".join(map(str, error.absolute_path)), error.message[:200])
    for path, node in walk(document.root):
        is_schema = path[:-1] == ("components", "schemas") or path[-1:] == ("schema",)
        if not is_schema or path[-2:-1] == ("properties",):
            continue
        try:
            jsonschema.Draft202012Validator.check_schema(node)
        except jsonschema.SchemaError as error:
            fault("/".join(path), error.message[:200])


def check_references(document):
    used = set()
    for path, node in walk(document.root):
        ref = node.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#/"):
            continue
        used.add(tuple(ref[2:].split("/"))[:3])
        try:
            document.at(ref)
        except (KeyError, TypeError):
            fault("/".join(path), f"{ref} leads nowhere")
    for section, members in document.root["components"].items():
        for name in members:
            if ("components", section, name) not in used:
                fault(f"components/{section}/{name}", "nothing refers to it")


def check_parameters(document, path, item):
    parts = [item] + [item[method] for method in METHODS if method in item]
    parameters = [document.resolve(p) for part in parts for p in part.get("parameters", [])]
    names = [(p["in"], p["name"]) for p in parameters]
    for name in {n for n in names if names.count(n) > 1}:
        fault(path, f"parameter {name} stands twice")
    if sorted(re.findall(r"\{(\w+)\}", path)) != sorted(n for i, n in names if i == "path"):
        fault(path, "its parameters are not those of the path")
    for parameter in parameters:
        where, schema = f"{path}: parameter {parameter['name']}", parameter["schema"]
        variants = schema.get("anyOf", [schema])
        if not SENTENCE.fullmatch(parameter.get("description", "")):
            fault(where, "is not described in a sentence")
        if "example" in parameter:
            misfit = document.fits(parameter["example"], schema)
            if misfit:
                fault(where, f"its example does not fit: {misfit}")
        elif not all(TELLING & (v.keys() | v.get("items", {}).keys()) or v["type"] == "boolean" for v in variants):
            fault(where, "has no example, default or list of values")


def check_content(document, where, content):
    for media, body in content.items():
        if media.endswith("json") and "schema" not in body:
            fault(f"{where} {media}", "has no schema")
        for name, example in body.get("examples", {}).items():
            misfit = document.fits(document.resolve(example)["value"], body.get("schema", {}))
            if misfit and name not in document.mistakes:
                fault(f"{where} {media}", f"example {name} does not fit: {misfit}")


def check_operation(document, where, operation, ids):
    if operation["operationId"] in ids or not re.fullmatch(r"[a-z0-9_]+", operation["operationId"]):
        fault(where, f"operationId {operation['operationId']} is not new, or no name")
    ids.add(operation["operationId"])
    if not SENTENCE.fullmatch(operation.get("summary", "")):
        fault(where, "its summary is no sentence")
    if not set(operation["tags"]) <= {tag["name"] for tag in document.root["tags"]}:
        fault(where, "has a tag that is not declared")
    if "requestBody" in operation:
        check_content(document, f"{where} body", operation["requestBody"]["content"])
        if "examples" not in operation["requestBody"]["content"]["application/json"]:
            fault(where, "its body has no example")
    for status, answer in operation["responses"].items():
        answer = document.resolve(answer)
        content = answer.get("content", {})
        check_content(document, f"{where} {status}", content)
        if not answer["description"]:
            fault(f"{where} {status}", "is not described")
        if status[0] in "45d" and PROBLEM not in content:
            fault(f"{where} {status}", "is no problem document")
    good = operation["responses"]["200"]["content"]
    if "encodings" in operation["tags"] and not any("examples" in body for body in good.values()):
        fault(where, "has no example of an answer")
    if not {"400", "default"} <= operation["responses"].keys():
        fault(where, "does not say what happens to mistakes")


def lay_out(node, indent, ahead):
    """On one line if that holds it, behind `ahead` characters; else a line for each member."""
    line = json.dumps(node, ensure_ascii=False)
    if not node or not isinstance(node, (dict, list)) or len(indent) + ahead + len(line) < COLUMNS:
        return line
    inner = indent + "  "
    if isinstance(node, list):
        lines = [inner + lay_out(value, inner, 0) for value in node]
    else:
        names = [(json.dumps(name) + ": ", value) for name, value in node.items()]
        lines = [inner + name + lay_out(value, inner, len(name)) for name, value in names]
    first, last = "[]" if isinstance(node, list) else "{}"
    return first + "\n" + ",\n".join(lines) + "\n" + indent + last


def write(path, root):
    with open(path, "w", encoding="utf-8") as file:
        file.write(lay_out(root, "", 0) + "\n")


def check_copy(path, root):
    with open(path, encoding="utf-8") as file:
        if json.load(file) != root:
            fault(path, "is not what the daemon serves; make openapi writes it anew")


def main(copy, to_write=False):
    document, ids = Document(json.load(sys.stdin)), set()
    if to_write:
        write(copy, document.root)
    check_form(document)
    check_references(document)
    paths = {} if faults else document.root["paths"]  # the rest relies on them
    for path, item in paths.items():
        check_parameters(document, path, item)
        for method in METHODS:
            if method in item:
                check_operation(document, f"{method.upper()} {path}", item[method], ids)
    check_copy(copy, document.root)
    for text in faults:
        print(f"openapi: {text}")
    print(f"openapi: {len(ids)} operations, {len(faults)} faults")
    return 1 if faults or not ids else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv[2:]))
