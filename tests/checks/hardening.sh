#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening.sh POSENCD ARCHIVE...: how the program was built, read from its ELF headers (PIE, full
# RELRO, no memory both writable and executable, stack protector, FORTIFY), and, since the C library's
# start code need not have it, from each object: control-flow protection (CET or BTI).
set -eu
program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readelf -hldW "$program" >"$work/headers"
readelf -W --dyn-syms "$program" >"$work/symbols"

need() { # FILE PATTERN WHAT
    grep -Eq "$2" "$work/$1" || echo "$program: no $3"
}
lack() {
    ! grep -Eq "$2" "$work/$1" || echo "$program: $3"
}
marks() { # objects of the archives that hold code, and whether each is marked
    readelf -SnW "$@" | awk '
        /^File: / { if (file && code && !marked) print file ": no control-flow protection"
                    file = $2; code = marked = 0 }
        $0 ~ / \.text(\.[^ ]*)? +PROGBITS/ && $0 !~ / PROGBITS +0+ [0-9a-f]+ 0+ / { code = 1 }
        /IBT, SHSTK|BTI/ { marked = 1 }
        END { if (file && code && !marked) print file ": no control-flow protection" }'
}

faults=$(
    need headers 'Type: +DYN' 'position independence'
    need headers 'FLAGS_1.*PIE' 'PIE flag'
    need headers '^ *GNU_RELRO' 'RELRO'
    need headers 'BIND_NOW|FLAGS_1.*NOW' 'immediate binding, so RELRO is partial'
    need headers '^ *GNU_STACK .* RW ' 'stack without execution'
    lack headers ' (RWE|R?WE) ' 'memory both writable and executable'
    lack headers 'TEXTREL' 'text relocations'
    lack headers 'R(UN)?PATH' 'a search path for libraries'
    need symbols '__stack_chk_fail' 'stack protector'
    need symbols '__(snprintf|vsnprintf|fprintf)_chk' 'FORTIFY'
    case $(uname -m) in x86_64 | aarch64) marks "$@" ;; esac
)
if [ -n "$faults" ]; then
    echo "$faults"
    echo "hardening: FAILED"
    exit 1
fi
echo "hardening: PIE, full RELRO, no executable stack, stack protector, FORTIFY, control flow"
