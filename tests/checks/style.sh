#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# style.sh: what no compiler checks: the licence line, the opening paragraph, files of at most 500
# lines, functions of at most 70, no notes to self, and in the core no libm function whose last bit differs
# between processors. (What banned.h poisons, the compiler refuses.)
set -eu

sources=$(find include server tests -name '*.[ch]' -o -name '*.cpp' -o -name '*.def' -o -name '*.S' |
    grep -v '^tests/golden/' | sort)

# A function runs from the line that starts its signature to the `}` in column 1.
lengths='
FNR == 1 { start = 0; first = $0 }
FNR == 1 && !/SPDX-License-Identifier: Apache-2\.0/ { print FILENAME ":1: the first line names no licence" }
FNR == 2 && !/^(\/\*|\/\/|#)/ { print FILENAME ":2: no paragraph says what this file does" }
FNR == 501 { print FILENAME ":501: the file has over 500 lines" }
/(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)/ { print FILENAME ":" FNR ": a note to self" }
/^\t/ { print FILENAME ":" FNR ": a tab" }
FNR == 1 || /clang-format on/ { laid_out = 1 }
/clang-format off/ { laid_out = 0 }
length($0) > 100 && laid_out && FILENAME !~ /\.S$/ { print FILENAME ":" FNR ": over 100 columns" }
/^[A-Za-z_].*\(/ && !/;[ ]*$/ { start = FNR; name = $0 }
/^}/ { if (start && FNR - start + 1 > 70) print FILENAME ":" start ": a function of " FNR - start + 1 " lines: " name; start = 0 }
'

# Functions of libm without a correctly rounded result; sqrt, fma, floor and the like are exact.
libm='sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|pow|log|log2|log10|log1p|cbrt|hypot|tgamma|lgamma|erf'

faults=$(
    # shellcheck disable=SC2086
    awk "$lengths" $sources
    for file in $(find server -name '*.[ch]' -o -name '*.cpp'); do
        # The preprocessor takes the comments out and keeps the lines.
        gcc -fpreprocessed -dD -E -x c "$file" 2>/dev/null |
            awk -v file="$file" -v libm="$libm" '
                /^# [0-9]+ "/ { line = $2 - 1; next }
                { line++; gsub(/"([^"\\]|\\.)*"/, "\"\"") }
                $0 ~ "(^|[^A-Za-z0-9_.>])(" libm ")[fl]?\\(" { print file ":" line ": libm decides a bit here: " $0 }'
    done
)
if [ -n "$faults" ]; then
    echo "$faults"
    echo "style: FAILED"
    exit 1
fi
echo "style: $(echo "$sources" | wc -l) files, $(cat $sources | wc -l) lines keep to the house rules"
