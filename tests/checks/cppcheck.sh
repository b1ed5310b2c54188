#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck.sh FLAGS...: cppcheck over the daemon and the library; findings fail. What is suppressed
# stands in cppcheck.txt with its reason, or beside its line (cppcheck-suppress).
set -eu
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppressions-list=tests/checks/cppcheck.txt --error-exitcode=1 --template=gcc -j "$(nproc)" \
    -D__GNUC__=12 -D__x86_64__ -DPOSENCD_VERSION='""' -I include -I server/base -I server/json \
    -I server/http -I server/api -I server "$@" server include tests/fuzz tests/bench
echo "cppcheck: no findings"
