#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh PROGRAM...: runs the benchmarks one after another, each printing its table, and puts their
# figures together in build/bench.json.
set -eu
mkdir -p build
json=
for program in "$@"; do
    name=$(basename "$program")
    echo "## $name"
    echo
    "$program" "$program.json"
    json="$json${json:+,}\"$name\":$(cat "$program.json")"
done
printf '{%s}\n' "$json" >build/bench.json
