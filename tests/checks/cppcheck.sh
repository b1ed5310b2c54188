#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck.sh FLAGS...: cppcheck over the daemon and the library; findings fail. What is suppressed
# stands in cppcheck.txt with its reason, or beside its line (cppcheck-suppress).
set -eu
# shellcheck disable=SC2046
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppressions-list=tests/checks/cppcheck.txt --error-exitcode=1 --template=gcc -j "$(nproc)" \
    -D__GNUC__=12 -D__x86_64__ -DPOSENCD_VERSION='""' -I include \
    $(find server -type d | sed 's/^/-I /') "$@" server include tests/fuzz tests/bench
echo "cppcheck: no findings"
