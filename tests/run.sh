#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh PROGRAM...: runs test programs one after another, all of them even when one fails, and
# closes with the totals. Each Criterion program prints its own synthesis; this adds the sum.
set -u
passed=0
failed=
for program in "$@"; do
    echo "== $program"
    if "$program" 2>&1; then
        passed=$((passed + 1))
    else
        failed="$failed $program"
    fi
done
for program in $failed; do
    echo "FAILED: $program"
done
set -- $failed
echo "programs: $passed passed, $# failed"
[ $# -eq 0 ]
