#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh POSENCD BARE_MHD PROGRAM...: runs the benchmarks one after another, each printing its tables,
# and puts their figures together in build/bench.json and tests/bench/RESULTS.md. ROUNDS=1 in the
# environment does all of it in two minutes, with figures to match. A benchmark that fails does not keep
# the others from being written down.
set -eu
daemon=$1
bare=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for program in "$@"; do
    name=$(basename "$program")
    echo "## $name"
    echo
    "$program" "$work/$name.json" || status=1
done
echo "## bench_http"
/usr/bin/python3 -B tests/bench/bench_http.py "$daemon" "$bare" "$work/bench_http.json" || status=1
echo
tests/bench/report.py build/bench.json tests/bench/RESULTS.md "$work"/*.json
exit $status
