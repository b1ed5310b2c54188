#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""report.py OUT.json RESULTS.md FIGURES.json...: puts the figures of the benchmarks together in OUT,
under a key for each target (P1, P2, ...): what it is about, its values with their bounds, whether
all are met, and the medians that they are ratios of. Writes the same as tables into RESULTS, between
the two lines that say so. Prints a line for each. FIGURES are those of bench.h or of bench_http.py.
"""

import datetime
import json
import os
import platform
import subprocess
import sys

BEGIN = "<!-- from here on written by make bench -->"
END = "<!-- up to here -->"

# Of the programs; bench_http.py brings its own.
ABOUT = {
    "P1": "rotating 32 heads x 4096 tokens x 128, one thread",
    "P2": "tables of 64 cosines and sines a row, one thread",
    "P3": "numbers in text, one thread",
    "P9": "whole requests within the process, by one worker and by two",
    "charconv": "the same numbers by the compiler's own charconv",
    "coding": "gzip of numbers as JSON",
    "compare": "comparing, beside rotating",
    "digest": "SHA-256 by the processor's instructions",
    "identify": "finding out what made y of x, beside making it",
}


def from_program(figures):
    """The figures of bench.h by target; "P1 aim" is beside P1's own."""
    cases = {case["name"]: case for case in figures["cases"]}
    targets = {}
    for ratio in figures["ratios"]:
        key, _, aim = ratio["target"].partition(" ")
        at_least = "min" in ratio
        bound = ratio["min"] if at_least else ratio["max"]
        names = (ratio["what"], ratio["of"])
        value = {
            "what": "%s : %s, times as %s" % (names + ("fast" if at_least else "long",)),
            "value": ratio["ratio"],
            "target": "%s %g" % ("≥" if at_least else "≤", bound),
            "met": ratio["ratio"] >= bound if at_least else ratio["ratio"] <= bound,
        }
        if aim:
            value["aim"] = True
        entry = targets.setdefault(
            key, {"what": ABOUT.get(key, key), "values": [], "medians": {}, "unit": "ns"}
        )
        entry["values"].append(value)
        for name in names:
            entry["medians"][name] = 1e9 * cases[name]["seconds"] / cases[name]["elements"]
    return targets


def is_met(entry):
    """All that has a bound; what was not measured is not met. Aims are beside it."""
    return all(v["met"] is True for v in entry["values"] if v["target"] and not v.get("aim"))


def order(key):
    return (not key[1:].isdigit(), int(key[1:]) if key[1:].isdigit() else 0, key)


def gather(paths):
    """What was measured where, and the figures by target."""
    commit = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    report = {
        "commit": subprocess.run(commit, stdout=subprocess.PIPE, text=True).stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
    }
    targets = {}
    for path in paths:
        with open(path) as file:
            figures = json.load(file)
        if "ratios" in figures:
            report.update({name: figures[name] for name in ("processor", "isa", "compiler")})
            report["rounds"] = min(figures["rounds"], report.get("rounds", figures["rounds"]))
            figures = from_program(figures)
        for key, entry in figures.items():
            kept = targets.setdefault(key, dict(entry, values=[], medians={}))
            kept["values"] += entry["values"]
            kept["medians"].update(entry["medians"])
    for key in sorted(targets, key=order):
        report[key] = dict(targets[key], met=is_met(targets[key]))
    return report, sorted(targets, key=order)


def table(report, key):
    """Lines of Markdown: the figures of a target, and what they are ratios of."""
    entry = report[key]
    yield from ("", "### %s: %s" % (key, entry["what"]), "")
    yield from ("| figure | measured | bound | |", "| --- | ---: | ---: | --- |")
    for value in entry["values"]:
        shown = "not measured" if value["value"] is None else "%.2f" % value["value"]
        word = {None: "", True: "met", False: "**not met**"}[value["met"]]
        word = "only an aim, " + word if value.get("aim") else word
        yield "| %s | %s | %s | %s |" % (value["what"], shown, value["target"] or "", word)
    yield ""
    unit = {"ns": "ns per element", "requests/s": "requests a second"}.get(entry.get("unit"), "")
    yield from ("| median | %s |" % unit, "| --- | ---: |")
    for name, median in entry["medians"].items():
        yield "| %s | %.4g |" % (name, median) if median < 1000 else "| %s | %.0f |" % (name, median)


def document(report, keys):
    """All of it as Markdown."""
    yield ""
    yield "%s, %d cores, %s, %s kernels, %s. Commit %s, %s; medians of %d or more rounds." % (
        report["processor"],
        report["cores"],
        report["system"],
        report["isa"],
        report["compiler"],
        report["commit"],
        report["date"],
        report["rounds"],
    )
    yield ""
    for met, words in ((True, "Met"), (False, "Not met")):
        named = [key for key in keys if report[key]["met"] is met]
        if named:
            yield "%s: %s." % (words, ", ".join(named))
    for key in keys:
        yield from table(report, key)
    yield ""


def write_between(path, lines):
    """Replaces what stands between the two lines."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN + "\n")
    after = rest.split(END + "\n")[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([before + BEGIN, *lines, END + "\n" + after]))


def main():
    out, results, *paths = sys.argv[1:]
    report, keys = gather(paths)
    for key in keys:
        values = report[key]["values"]
        bound = [v for v in values if v["target"] and not v.get("aim")]
        open_ones = [v["what"] for v in bound if v["met"] is not True]
        print("%s: %s%s" % (key, "met" if report[key]["met"] else "NOT MET",
                            "".join("; not: " + what for what in open_ones)))
    with open(out, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1, ensure_ascii=False)
    write_between(results, document(report, keys))


if __name__ == "__main__":
    main()
