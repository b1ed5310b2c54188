#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh POSENCD BARE_MHD PROGRAM...: runs the benchmarks one after another, each printing its tables,
# and puts their figures together in build/bench.json.
set -eu
daemon=$1
bare=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in "$@"; do
    name=$(basename "$program")
    echo "## $name"
    echo
    "$program" "$work/$name.json"
done
echo "## bench_http"
/usr/bin/python3 -B tests/bench/bench_http.py "$daemon" "$bare" "$work/bench_http.json"
echo
tests/bench/report.py build/bench.json "$work"/*.json
