#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""counts.py PROGRAM RECORD [--write]: instructions per element of the hot paths of PROGRAM
(counts.c) under callgrind, beside those in the file RECORD. They do not depend on the machine: only
our own code is counted, not that of shared libraries, with the kernels and the compiler that the
first line of RECORD names. Fails with the name and both figures of each path that is more than 5 %
off, and where RECORD does not have it, or has others; also if it has become better, so that the
record stays one of how good it is. --write makes the record anew.

Digests of answers, which valgrind makes in C since it knows no SHA instructions, have a path of their
own and are left out of the others: they would be most of what an answer costs."""
import os
import subprocess
import sys
import tempfile

DRIFT_MAX = 0.05
DIGEST, DIGEST_PATH = "sha256_blocks_portable", "SHA-256 in C"
# Two dumps a call: of what was before it, which is not read, and of the call. (--zero-before leaves
# out some of what a function did before that never came up in a dump: it shows in the first.)
VALGRIND = ["valgrind", "--tool=callgrind", "--dump-before=counted", "--dump-after=counted",
            "--dump-line=no", "--compress-strings=no", "--compress-pos=no"]


def run(program, folder):
    """What the program prints, and instructions of its own functions in each call of counted(): of
    all but the digest, and of the digest."""
    command = VALGRIND + [f"--callgrind-out-file={folder}/out", program]
    done = subprocess.run(command, env={**os.environ, "POSENC_ISA": "avx2"}, text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"counts: {program} under valgrind:\n{done.stderr}")
    calls = []
    while os.path.exists(name := f"{folder}/out.{2 * len(calls) + 2}"):
        calls.append(own_instructions(name, os.path.realpath(program)))
    return done.stdout.splitlines(), calls


def own_instructions(name, program):
    """The sum of a dump's cost lines: "0 COST" below the object that they belong to; the line below
    a "calls=" is what a callee took, which stands there once more."""
    total, digest, ours, callee, function = 0, 0, False, False, None
    with open(name, encoding="utf-8", errors="replace") as dump:
        for line in dump:
            if line.startswith("ob="):
                ours = os.path.realpath(line[3:].strip()) == program
            elif line.startswith("fn="):
                function = line[3:].strip()
            elif line.startswith("calls="):
                callee = True
            elif line[0].isdigit():
                cost = int(line.split()[1]) if ours and not callee else 0
                digest += cost if function == DIGEST else 0
                total += cost if function != DIGEST else 0
                callee = False
    return total, digest


def measure(program):
    """First line of a record for this program, and for each path instructions and their unit."""
    with tempfile.TemporaryDirectory() as folder:
        lines, calls = run(program, folder)
    head, paths = lines[0], {}
    assert len(calls) == 2 * (len(lines) - 1), f"{len(calls)} dumps of {len(lines) - 1} paths"
    for i, line in enumerate(lines[1:]):
        name, n, unit = line.split("\t")
        of = 1 if name == DIGEST_PATH else 0
        paths[name] = (calls[2 * i + 1][of] - calls[2 * i][of]) / int(n), unit
    return head, paths


def read(record):
    with open(record, encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    return head, {name: float(count) for count, _, name in
                  (line.split(maxsplit=2) for line in lines)}


def write(record, head, paths):
    with open(record, "w", encoding="utf-8") as file:
        print(head, file=file)
        for name, (count, unit) in paths.items():
            print(f"{count:12.3f} /{unit:8} {name}", file=file)


def compare(paths, recorded):
    faults = [f"{name}: not in the record" for name in paths if name not in recorded]
    faults += [f"{name}: in the record only" for name in recorded if name not in paths]
    for name, (count, unit) in paths.items():
        was = recorded.get(name, count)
        if abs(count - was) > DRIFT_MAX * was:
            faults.append(f"{name}: recorded {was:.3f}, measured {count:.3f} instructions per "
                          f"{unit} ({100 * (count / was - 1):+.1f} %)")
    return faults


def main():
    program, record, *options = sys.argv[1:]
    head, paths = measure(program)
    if options == ["--write"]:
        write(record, head, paths)
        print(f"counts: {len(paths)} paths written to {record}")
        return
    was, recorded = read(record)
    if was != head:
        sys.exit(f"counts: {record} is of {was}, this is {head}: nothing to compare")
    faults = compare(paths, recorded)
    for fault in faults:
        print(f"counts: {fault}")
    if faults:
        sys.exit(f"counts: FAILED; if that is as it should be: make counts-record")
    print(f"counts: {len(paths)} paths take the instructions that are recorded, within 5 %")


main()
