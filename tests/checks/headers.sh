#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh CC CXX LAYER:FLAGS...: every header compiles alone, with the include paths of its layer
# and nothing before it; those of the library also as C++.
set -eu
cc=$1
cxx=$2
shift 2

alone() { # HEADER COMMAND...: compiles a file that only includes the header, twice
    header=$1
    shift
    printf '#include "%s"\n#include "%s"\n' "$PWD/$header" "$PWD/$header" |
        "$@" -fsyntax-only -Wall -Wextra -Werror - && return
    echo "$header: does not compile alone with: $*"
    return 1
}

n=0
failed=0
for row in "$@"; do
    layer=${row%%:*}
    flags=${row#*:}
    if [ "$layer" = main ]; then files=$(ls server/*.h 2>/dev/null || :); else
        files=$(find "server/$layer" -name '*.h' | sort); fi
    for header in $files; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        alone "$header" "$cc" -std=c11 -D_GNU_SOURCE $flags -x c || failed=$((failed + 1))
    done
done
for command in "$cc -std=c11 -pedantic -x c" "$cxx -std=c++11 -pedantic -x c++"; do
    for header in include/posenc.h include/posenc/*.h; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        alone "$header" $command || failed=$((failed + 1))
    done
done
echo "headers: $n compiled alone, $failed failed"
[ "$failed" -eq 0 ]
