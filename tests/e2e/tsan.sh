#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tsan.sh POSENCD PROGRAM...: runs the end-to-end programs (built without ThreadSanitizer, under which
# Criterion does not start) against a daemon with it. A report fails, whatever the programs say.
set -eu
daemon=$1
shift
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
export POSENCD="$PWD/$daemon"
export TSAN_OPTIONS="log_path=$reports/tsan second_deadlock_stack=1 ${TSAN_OPTIONS:-}"
status=0
"$(dirname "$0")/../run.sh" "$@" || status=1
if [ -n "$(ls "$reports")" ]; then
    head -n 80 "$reports"/*
    echo "tsan: $(ls "$reports" | wc -l) reports"
    exit 1
fi
echo "tsan: no reports"
exit $status
