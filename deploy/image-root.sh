#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# image-root.sh PROGRAM ROOT: makes the file system of an image that holds the program, the loader and
# the libraries it needs, their licences, and one user. Debian.
set -eu
program=$1
root=$2

install -D -m 755 "$program" "$root/usr/bin/$(basename "$program")"
strip "$root/usr/bin/$(basename "$program")"

libraries=$(ldd "$program" | sed -nE 's,^.*[[:space:]](/[^ ]+) \(0x[0-9a-f]+\)$,\1,p')
[ -n "$libraries" ] || { echo "image-root.sh: $program needs no libraries?" >&2; exit 1; }
for library in $libraries; do
    install -D -m 755 "$library" "$root$library"
    # /lib is a link to /usr/lib, and a package may name its file by either.
    package=$(dpkg -S "$library" "$(readlink -f "$library")" 2>/dev/null | sed -nE '/^diversion/d; s/:.*//p' | head -n 1)
    install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
done

cp -RL /usr/share/common-licenses "$root/usr/share/" # the copyright files refer to them

mkdir -p "$root/etc"
echo 'posencd:x:10001:10001::/:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'posencd:x:10001:' >"$root/etc/group"
