#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""report.py OUT FIGURES.json...: puts the figures of the benchmarks together in OUT, under a key for
each target (P1, P2, ...): what it is about, its values with their bounds, whether all are met, and
the medians that they are ratios of. Prints a line for each. FIGURES are those of bench.h or of
bench_http.py.
"""

import json
import os
import platform
import subprocess
import sys


def from_program(figures):
    """The figures of bench.h by target; "P1 aim" is beside P1's own."""
    seconds = {case["name"]: case["seconds"] for case in figures["cases"]}
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
        entry = targets.setdefault(key, {"values": [], "medians": {}})
        entry["values"].append(value)
        entry["medians"].update({name: seconds[name] for name in names})
    return targets


def is_met(entry):
    """All that has a bound; what was not measured is not met. Aims are beside it."""
    return all(v["met"] is True for v in entry["values"] if v["target"] and not v.get("aim"))


def order(key):
    return (not key[1:].isdigit(), int(key[1:]) if key[1:].isdigit() else 0, key)


def main():
    report = {"cores": os.cpu_count(), "system": platform.platform()}
    commit = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    report["commit"] = subprocess.run(commit, stdout=subprocess.PIPE, text=True).stdout.strip()
    targets = {}
    for path in sys.argv[2:]:
        with open(path) as file:
            figures = json.load(file)
        if "ratios" in figures:
            report.update({name: figures[name] for name in ("processor", "isa", "compiler")})
            figures = from_program(figures)
        for key, entry in figures.items():
            kept = targets.setdefault(key, {"values": [], "medians": {}})
            kept["values"] += entry["values"]
            kept["medians"].update(entry["medians"])
            if "what" in entry:
                kept["what"] = entry["what"]
    for key in sorted(targets, key=order):
        entry = targets[key]
        entry["met"] = is_met(entry)
        report[key] = entry
        open_ones = [v["what"] for v in entry["values"] if v["target"] and v["met"] is not True]
        print("%s: %s%s" % (key, "met" if entry["met"] else "NOT MET",
                            "".join("; not: " + what for what in open_ones)))
    with open(sys.argv[1], "w") as out:
        json.dump(report, out, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()
