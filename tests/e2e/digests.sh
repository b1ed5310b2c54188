#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# digests.sh POSENCD...: the same bytes from every build, instruction set and worker count. Asks each
# daemon for every line of digests.txt and compares the SHA-256 of all answers (status and body) with
# those of the first.
set -eu
here=$(dirname "$0")
. "$here/daemon.sh"
work=$(mktemp -d)
daemon_log=$work/log
trap 'rm -rf "$work"' EXIT

ask_all() { # -> $work/answers: "sha256  line" for each line
    grep -v -e '^#' -e '^$' "$here/digests.txt" | while IFS=' ' read -r method target body; do
        if [ "$method" = POST ]; then set -- --data-binary "$body" -H 'Content-Type: application/json'; else set --; fi
        curl --silent --show-error --globoff --max-time 60 --write-out '%{http_code}' "$@" "$url$target" >"$work/answer"
        echo "$(sha256sum <"$work/answer" | cut -d' ' -f1) $(tail -c 3 "$work/answer") $method $target"
    done >"$work/answers"
}

runs=0
failed=0
for program in "$@"; do
    for isa in scalar base avx2 avx512; do
        for workers in 1 4; do
            runs=$((runs + 1))
            POSENC_ISA=$isa daemon_start "$program" --workers "$workers"
            ask_all
            daemon_stop
            if [ $runs = 1 ]; then
                mv "$work/answers" "$work/first"
                if grep -v ' 200 ' "$work/first"; then
                    echo "digests: these answers are not 200"
                    failed=$((failed + 1))
                fi
            elif ! diff "$work/first" "$work/answers" >"$work/diff"; then
                failed=$((failed + 1))
                echo "$program, $isa, $workers workers: other bytes:"
                grep '^>' "$work/diff"
            fi
        done
    done
done
echo "digests of $(wc -l <"$work/first") answers:"
echo "runs: $((runs - failed)) passed, $failed failed"
[ $failed -eq 0 ]
