#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD SECONDS TARGET...: fuzzes each target, starting from its stored inputs. What libFuzzer
# learns goes to BUILD/corpus; an input that fails is left in BUILD/crashes, to be put into
# tests/fuzz/regress/TARGET once it is understood. All targets run even when one fails. FUZZ_SEED other
# than 0 starts every run at the same place.
set -u
build=$1
seconds=$2
shift 2
passed=0
failed=0
mkdir -p "$build/crashes"
for target in "$@"; do
    learned=$build/corpus/$target
    mkdir -p "$learned"
    stored=
    for folder in tests/fuzz/corpus/$target tests/fuzz/regress/$target; do
        [ -d "$folder" ] && stored="$stored $folder"
    done
    log=$build/crashes/$target.log
    # shellcheck disable=SC2086
    if "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" \
        -seed="${FUZZ_SEED:-0}" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$build/crashes/$target-" "$learned" $stored >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "fuzz $target: $(tail -n 1 "$log")"
    else
        failed=$((failed + 1))
        tail -n 60 "$log"
        echo "fuzz $target: FAILED; see $log"
    fi
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
