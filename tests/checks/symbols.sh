#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBPOSENC.a LIBPOSENC.so: the libraries define and need what they should. The archive:
# pe_ and pe__ names only (and the C++ run time's weak templates, of the one C++ file). The shared
# library: exactly the pe_ functions that posenc.h declares. The core calls nothing that prints,
# locks, logs, reads a clock or the environment (but POSENC_ISA), nor libm beyond its exact functions.
set -eu
archive=$1
shared=$2
faults=$(mktemp)
trap 'rm -f "$faults"' EXIT

nm -g --defined-only "$archive" | awk 'NF == 3 && $3 !~ /^pe_/ && !($2 ~ /[WVu]/ && $3 ~ /^_Z/) {
    print "libposenc.a defines " $3 }' >>"$faults"

exported=$(nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(cat include/posenc/*.h | gcc -fpreprocessed -dD -E -x c - | grep -v '^ *#' | tr '\n' ' ' | tr ';{}' '\n' |
    sed -nE 's/^[^(]*[ *](pe_[a-z0-9_]+)\(.*/\1/p' | sort -u)
for name in $exported; do
    echo "$declared" | grep -qx "$name" || echo "libposenc.so exports $name, which posenc.h does not declare"
done >>"$faults"
for name in $declared; do
    echo "$exported" | grep -qx "$name" || echo "libposenc.so lacks $name"
done >>"$faults"

forbidden='printf|fprintf|vfprintf|vprintf|puts|fputs|putchar|perror|fopen|fwrite|stdout|stderr|syslog'
forbidden="$forbidden|pthread_mutex_.*|pthread_rwlock_.*|pthread_cond_.*|sem_.*"
forbidden="$forbidden|time|clock|clock_gettime|gettimeofday|rand|random|drand48|setlocale|exit|abort"
forbidden="$forbidden|(sin|cos|tan|sincos|asin|acos|atan|atan2|exp|exp2|pow|log|log2|log10|cbrt|hypot)[fl]?"
nm -u "$archive" | awk -v bad="^(__)?($forbidden)(_chk)?$" '
    /:$/ { object = $1 }
    NF == 2 && $2 ~ bad { print object " calls " $2 }' >>"$faults"

if [ -s "$faults" ]; then
    cat "$faults"
    echo "symbols: FAILED"
    exit 1
fi
echo "symbols: $(echo "$exported" | wc -l) functions exported, all of posenc.h and no other"
