#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh: who includes whom. Nothing includes upward; each layer reaches only the layers and the
# system libraries of its row. `include` stands for include/posenc.h
# and the headers that it gathers.
set -eu

# layer | may include headers of | and these system headers beyond libc's
rules='
core|include|mpfr.h gmp.h immintrin.h
base||immintrin.h
json|base include|jansson.h
tensor|json base include|
http|base|microhttpd.h uv.h zlib.h linux/tcp.h
plot|base|png.h
api|http plot tensor json base include web|jansson.h gmp.h
main|api http base eval.h export.h healthcheck.h sandbox.h settings.h|
settings|api http|
eval|http base sandbox.h settings.h|
export|api http base settings.h|
config|base include|
sandbox|base|seccomp.h linux/seccomp.h
healthcheck||
'
# ISO C, POSIX and the compiler; everything else must stand in a row above.
libc='assert|complex|ctype|errno|fenv|float|inttypes|limits|locale|math|setjmp|signal|stdalign'
libc="$libc|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|threads"
libc="$libc|time|uchar|arpa/inet|dirent|fcntl|netdb|netinet/in|netinet/tcp|poll|pthread|regex"
libc="$libc|sched|sys/[a-z]*|unistd|search|endian|malloc|cpuid"
libcxx='charconv|cstdio|system_error|cstddef|cstdint|cstring|cmath|limits|algorithm'

# The folder that a quoted include of file $1 is found in: beside it first, then in its own layer,
# as the compiler does.
folder_of() {
    beside=$(dirname "$1")/$2
    for header in "$beside" "server/$layer/$2" server/"$layer"/*/"$2" server/*/"$2" server/*/*/"$2" \
        "include/$2" "server/$2"; do
        [ ! -f "$header" ] || { echo "$header" | cut -d/ -f1-2 | sed 's,^server/,,; s,^include/.*,include,'; return; }
    done
    echo "nowhere"
}

check_quoted() {
    folder=$(folder_of "$1" "$3")
    case " $layer ${layer}.h ${layer}.c config.h options.def $allowed " in
    *" $folder "*) ;;
    *) echo "$1:$2: $layer must not include \"$3\" ($folder)" ;;
    esac
}

check_system() {
    name=${3%.h}
    case " $system " in *" $3 "*) return ;; esac
    echo "$name" | grep -Eqx "$libc" && return
    case $1 in *.cpp) echo "$3" | grep -Eqx "$libcxx" && return ;; esac
    echo "$1:$2: $layer must not include <$3>"
}

faults=$(echo "$rules" | while IFS='|' read -r layer allowed system; do
    [ -n "$layer" ] || continue
    for file in $(find "server/$layer" "server/$layer.c" "server/$layer.h" -name '*.[ch]' \
        -o -name '*.cpp' -o -name '*.def' 2>/dev/null); do
        grep -nE '^[[:space:]]*#[[:space:]]*include' "$file" | while IFS=: read -r line text; do
            header=$(echo "$text" | sed -nE 's/.*include *["<]([^">]+)[">].*/\1/p')
            case $text in
            *'<'*) check_system "$file" "$line" "$header" ;;
            *) check_quoted "$file" "$line" "$header" ;;
            esac
        done
    done
done)
files=$(find server -name '*.[ch]' -o -name '*.cpp' | wc -l)
if [ -n "$faults" ]; then
    echo "$faults"
    echo "layers: FAILED"
    exit 1
fi
echo "layers: $files files keep to their layers"
