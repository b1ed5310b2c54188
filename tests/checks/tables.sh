#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tables.sh: what stands in a table of the code and once more where people read it is the same there:
# options, metrics and dialects in README.md; and no page names a path that routes.c does not have.
# (OpenAPI needs no check: the daemon makes its paths, parameters and problem types from the tables.)
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

agree() { # NAME-A FILE-A NAME-B FILE-B: two sorted lists without a difference, and not empty
    if [ ! -s "$2" ]; then
        echo "tables: $1: the list is empty"
        status=1
    elif ! diff "$2" "$4" >"$work/diff"; then
        sed -nE "s|^< (.*)|tables: \1 stands in $1 but not in $3|p; s|^> (.*)|tables: \1 stands in $3 but not in $1|p" "$work/diff"
        status=1
    fi
}

# As patterns: {name} stands for one segment, and a computed answer may have a suffix.
sed -nE 's/^ *\{ *(GET|POST)[^"]*"([^"]+)".*/\2/p' server/api/routes.c | sed -E 's,\{[^}]*\},[^/]+,g; s,\.,\\.,g' >"$work/routes"
[ -s "$work/routes" ] || { echo "tables: no routes found in server/api/routes.c"; status=1; }
for page in README.md server/README.md .github/*.md; do
    { grep -oE '(/v1|\$U)(/[a-z0-9-]+(\.[a-z]+)?)*' "$page" || :; } | sed -E 's/^\$U//; s/\.(txt|csv|json|npy|safetensors|bin|svg|png)$//; s,^/openapi$,/openapi.json,' |
        sort -u | grep -vxE -f "$work/routes" | grep . | sed "s|.*|tables: $page names &, which routes.c does not have|"
done >"$work/strays" || :
[ ! -s "$work/strays" ] || { cat "$work/strays"; status=1; }

sed -nE 's/^ *OPTION\([^"]*"([a-z-]+)".*/--\1/p' server/options.def | sort -u >"$work/options"
grep -oE '`--[a-z-]+' README.md | tr -d '`' | sort -u >"$work/readme_options"
agree server/options.def "$work/options" README.md "$work/readme_options"

# The few that are no plain row are printed by metrics.c under their full name.
{
    sed -nE 's/^ *METRIC\([a-z0-9_#]+, *[a-z]+, *"([a-z_]+)".*/posenc_\1/p' server/base/metrics.def
    grep -oE 'posenc_[a-z_]+' server/base/metrics.c | sed -E 's/_(bucket|sum|count)$//'
} | sort -u >"$work/metrics"
grep -oE '`posenc_[a-z_]+' README.md | tr -d '`' | sort -u >"$work/readme_metrics"
agree server/base/metrics.def "$work/metrics" README.md "$work/readme_metrics"

# The last column of the table of libraries.
sed -n '/#define PE_DIALECTS/,/[^\\]$/p' include/posenc/dialect.h | grep -oE '[a-z]+' | grep -vx define | sort -u >"$work/dialects"
sed -nE 's/^\|.*\| `([a-z]+)` \|$/\1/p' README.md | sort -u >"$work/readme_dialects"
agree include/posenc/dialect.h "$work/dialects" README.md "$work/readme_dialects"

[ $status -eq 0 ] && echo "tables: paths, options, metrics and dialects agree" || echo "tables: FAILED"
exit $status
