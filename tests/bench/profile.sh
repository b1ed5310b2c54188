#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# profile.sh COUNTS [PATH]: where the time of a hot path (a row of counts.c) goes: its functions and the
# lines with the most instructions, as callgrind counts them with the avx2 kernels; and, where perf is
# and may sample, functions by time with the kernels that this processor is given. Without PATH: all
# paths by name. Nothing of what stands before a run is in it.
set -eu
program=$1
if [ -z "${2:-}" ]; then
    "$program" '' || exit 0
fi
path=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

POSENC_ISA=avx2 valgrind --tool=callgrind --toggle-collect=counted --callgrind-out-file="$work/out" \
    "$program" "$path" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
echo "== $path: instructions of its functions, and of lines with more than 2 % of them"
callgrind_annotate --threshold=98 --auto=yes --context=0 --show-percs=yes "$work/out" |
    grep -vE '^(Profile|Events|Thresholds|Include|User|Auto|I1|D1|LL|Timerange|Trigger|Profiled)|^-+$' |
    awk '/^ *[0-9,]+ \(/ { match($0, /\( *[0-9.]+%/)
             share = substr($0, RSTART + 1, RLENGTH - 2) + 0
             if (share >= 2) print substr($0, 1, 160) }'

if command -v perf >/dev/null 2>&1 && perf record -q -o "$work/try" true >/dev/null 2>&1; then
    perf record -q -o "$work/perf" "$program" "$path" 3 >/dev/null 2>"$work/log"
    echo
    echo "== $path: time of functions"
    perf report -i "$work/perf" --stdio --percent-limit 1 2>/dev/null | grep -vE '^(#|$)'
fi
