#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""contract.py ANSWERS [--some]: every answer that the end-to-end tests got (a line each in ANSWERS,
written by harness.c) against the OpenAPI document, which is one of them: status, media type, head
and, where it is JSON, its schema. Clients have to ignore members that they do not know; here none
may come, so every object that says nothing of others is closed. All answers that the document
promises must have come, unless only --some of the tests have run. Needs python3-jsonschema.
"""

import json
import re
import sys
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jsonschema

PROBLEM = "application/problem+json"
JSON_TYPES = ("application/json", PROBLEM)
SHAPES_MAX = 400  # bodies of different shape that are looked at, of one operation and status
LIST_MAX = 40  # items of a list that are looked at
FAILURES_MAX = 40  # that are printed


def close(node):
    """Closes every object schema that does not speak of further members."""
    if isinstance(node, list):
        for item in node:
            close(item)
    elif isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            node.setdefault("additionalProperties", False)
        for key, value in node.items():
            if key not in ("example", "examples", "default", "const", "enum"):
                close(value)


def resolve(document, node):
    while "$ref" in node:
        at = document
        for name in node["$ref"][2:].split("/"):
            at = at[name.replace("~1", "/").replace("~0", "~")]
        node = at
    return node


def pointer(*names):
    return "#/" + "/".join(n.replace("~", "~0").replace("/", "~1") for n in names)


# ---- Tensors: checked here, since a schema cannot compare data with shape, and is slow ------------


def is_nested(data, shape):
    if not shape:
        return not isinstance(data, list)
    return (
        isinstance(data, list)
        and len(data) == shape[0]
        and all(is_nested(item, shape[1:]) for item in data)
    )


def shorten(node, wrong):
    """The same with long lists cut, once tensors are known to have their shape."""
    if isinstance(node, list):
        return [shorten(item, wrong) for item in node[:LIST_MAX]]
    if not isinstance(node, dict):
        return node
    for name, tensor in node.get("tensors", {}).items():
        if not isinstance(tensor, dict) or "data" not in tensor:
            continue
        if not is_nested(tensor["data"], tensor["shape"]):
            wrong.append(f"the data of {name} do not have its shape, {tensor['shape']}")
    return {key: shorten(value, wrong) for key, value in node.items()}


def outline(node):
    """What two bodies have in common that differ in numbers and texts only."""
    if isinstance(node, dict):
        return tuple((key, outline(value)) for key, value in node.items())
    if isinstance(node, list):
        return tuple(sorted({outline(item) for item in node}, key=repr))
    return type(node).__name__


# ---- Which part of the document an answer belongs to ----------------------------------------------


class Contract:
    def __init__(self, document):
        close(document["components"])
        close(document["paths"])
        self.document = document
        self.validators = {}
        self.resolver = jsonschema.RefResolver.from_schema(document)
        self.patterns = [
            (re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path))), path)
            for path in document["paths"]
        ]
        self.seen = set()
        self.shapes = {}
        self.checked = self.answers = 0

    def path(self, target):
        target = target.split("?")[0]
        bare = re.sub(r"\.[a-z0-9]+$", "", target)
        for path in (target, bare):
            if path in self.document["paths"]:
                return path
        for path in (target, bare):
            for pattern, template in self.patterns:
                if pattern.fullmatch(path):
                    return template
        return None

    def where(self, entry):
        """Path to the response object, and the operation's name ("GET /v1/table"), or None."""
        path, method = self.path(entry["target"]), entry["method"].lower()
        method = "get" if method == "head" else method
        operation = self.document["paths"].get(path, {}).get(method)
        if operation is None:
            return ("components", "responses", "Problem"), None
        status = str(entry["status"])
        status = status if status in operation["responses"] else "default"
        return ("paths", path, method, "responses", status), f"{method.upper()} {path}"

    def problems(self, at, media, body):
        """What is wrong with a JSON body."""
        key = (at, media)
        if key not in self.validators:
            schema = {"$ref": pointer(*at, "content", media, "schema")}
            self.validators[key] = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        try:
            wrong, node = [], json.loads(body, parse_constant=lambda word: wrong.append(word))
        except ValueError as error:
            return [f"not JSON: {error}"]
        node = shorten(node, wrong)
        shapes = self.shapes.setdefault(key, set())
        shape = outline(node)
        if shape in shapes or len(shapes) >= SHAPES_MAX:
            return wrong
        shapes.add(shape)
        self.checked += 1
        for error in self.validators[key].iter_errors(node):
            leaf = jsonschema.exceptions.best_match([error])
            wrong.append(f"/{'/'.join(map(str, leaf.absolute_path))}: {leaf.message[:300]}")
        return wrong

    def head_problems(self, fields, head):
        for name, field in fields.items():
            field = resolve(self.document, field)
            pattern = resolve(self.document, field["schema"]).get("pattern", "")
            value = head.get(name.lower())
            if value is None and field.get("required"):
                yield f"without {name}"
            elif value is not None and not re.search(pattern, value):
                yield f"{name} is {value}"

    def check(self, entry):
        head = {name.lower(): value for name, value in entry["head"].items()}
        media = head.get("content-type", "").split(";")[0]
        at, operation = self.where(entry)
        self.answers += 1
        if operation is None and entry["status"] < 400:
            return []  # OPTIONS, and redirections
        response = self.document
        for name in at:
            response = response[name]
        if "$ref" in response:
            at = tuple(response["$ref"][2:].split("/"))
            response = resolve(self.document, response)
        content = response.get("content", {})
        if content and media not in content:
            return [f"{media or 'no media type'} is not among {', '.join(content)}"]
        wrong = list(self.head_problems(response.get("headers", {}), head))
        if operation:
            self.seen.add((operation, entry["status"], media))
        if media in JSON_TYPES and entry["method"] != "HEAD" and entry["body"]:
            wrong += self.problems(at, media, entry["body"])
            if media == PROBLEM and json.loads(entry["body"]).get("status") != entry["status"]:
                wrong.append("another status in the body")
        return wrong

    def never_seen(self):
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method == "parameters":
                    continue
                name = f"{method.upper()} {path}"
                for status, response in operation["responses"].items():
                    if status == "default":
                        continue
                    for media in resolve(self.document, response).get("content", {}):
                        if status == "200" or media == PROBLEM:
                            if (name, int(status), media) not in self.seen:
                                yield f"{name}: {status} {media}"


def served_document(entries):
    for entry in entries:
        if entry["target"] == "/openapi.json" and entry["status"] == 200 and entry["body"]:
            return json.loads(entry["body"])
    return None


def main(answers, some=False):
    with open(answers, encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    document = served_document(entries)
    if document is None:
        print("contract: no test asked for /openapi.json, nothing is compared")
        return 0 if some else 1
    contract = Contract(document)
    failures = {}
    for entry in entries:
        for wrong in contract.check(entry):
            first = f"{entry['method']} {entry['target'][:200]} -> {entry['status']}"
            failures.setdefault(wrong, first)
    for wrong, first in list(failures.items())[:FAILURES_MAX]:
        print(f"contract: {first}: {wrong}")
    missing = [] if some else list(contract.never_seen())
    for name in missing:
        print(f"contract: never seen: {name}")
    print(
        f"contract: {contract.answers} answers, {contract.checked} bodies of different shape, "
        f"{len(failures)} differences, {len(missing)} never seen"
    )
    return 1 if failures or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--some" in sys.argv[2:]))
