#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck.sh FLAGS...: cppcheck over the daemon and the library; a finding fails. One that is wrong
# is suppressed beside its line, with the reason (cppcheck-suppress).
set -eu
# shellcheck disable=SC2046
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 --template=gcc -j "$(nproc)" \
    -D__GNUC__=12 -D__x86_64__ -DPOSENCD_VERSION='""' -I include \
    $(find server -type d | sed 's/^/-I /') "$@" server include tests/fuzz tests/bench
echo "cppcheck: no findings"
