#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh SET...: sees to it that what the sets need is there: `build` (make run), `test` (make
# test), `clang` (CC=clang, make fuzz), `lint` (make lint, coverage), `counts` (make counts), `bench`
# (make bench-deps), `browser` (make browser), `screenshots` (make screenshots). Asks the tools
# themselves (a command, a pkg-config module, a file, a module of the system's Python), so that it is
# fast and silent about the package manager when nothing is missing; else it installs the Debian
# packages with apt-get, as root or through sudo without a password, or says what to install by hand.
# Debian 12 and 13; others: by hand.
set -eu

# kind, what to look for, Debian package
build_needs='
cmd gcc gcc
cmd g++ g++
cmd pkg-config pkg-config
pc libmicrohttpd libmicrohttpd-dev
pc libuv libuv1-dev
pc jansson libjansson-dev
pc mpfr libmpfr-dev
pc libseccomp libseccomp-dev
pc zlib zlib1g-dev
pc libpng libpng-dev
pc freetype2 libfreetype-dev
file /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf fonts-dejavu-core
cmd npm npm
'
test_needs='
pc criterion libcriterion-dev
pc libcurl libcurl4-openssl-dev
cmd curl curl
cmd nm binutils
py jsonschema python3-jsonschema
py pytest python3-pytest
cmd node nodejs
py numpy python3-numpy
'
clang_needs='
cmd clang clang
cmd clang++ clang
deb libclang-rt-dev libclang-rt-dev
'
lint_needs='
cmd clang-format clang-format
cmd clang-tidy clang-tidy
cmd cppcheck cppcheck
cmd gcovr gcovr
'
bench_needs='
cmd wrk wrk
cmd nginx nginx-light
py fastapi python3-fastapi
py uvicorn python3-uvicorn
py numpy python3-numpy
py ujson python3-ujson
'
browser_needs='
cmd chromium chromium
cmd node nodejs
cmd npm npm
deb fonts-dejavu-core fonts-dejavu-core
deb fonts-ipaexfont-gothic fonts-ipaexfont-gothic
'
screenshots_needs='
cmd pngquant pngquant
'
counts_needs='
cmd valgrind valgrind
cmd python3 python3
'

present() {
    case $1 in
    cmd) command -v "$2" >/dev/null 2>&1 ;;
    file) [ -f "$2" ] ;;
    pc) pkg-config --exists "$2" >/dev/null 2>&1 ;;
    py) /usr/bin/python3 -c "import $2" >/dev/null 2>&1 ;;
    deb) # what no tool knows: run-time libraries of clang, fonts; elsewhere taken as there
        ! command -v dpkg-query >/dev/null 2>&1 ||
            dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q ' installed$' ;;
    esac
}

missing() {
    echo "$1" | while read -r kind name package; do
        [ -z "$kind" ] || present "$kind" "$name" || echo "$package"
    done
}

packages=
for set in "$@"; do
    case $set in
    build) needs=$build_needs ;;
    test) needs=$test_needs ;;
    clang) needs=$clang_needs ;;
    lint) needs=$lint_needs ;;
    counts) needs=$counts_needs ;;
    bench) needs=$bench_needs ;;
    browser) needs=$browser_needs ;;
    screenshots) needs=$screenshots_needs ;;
    *) echo "deps.sh: no set called $set, see its first lines" >&2; exit 2 ;;
    esac
    packages="$packages $(missing "$needs")"
done
packages=$(printf '%s\n' $packages | sort -u | tr '\n' ' ' | sed 's/ *$//')
[ -n "$packages" ] || exit 0

by_hand() {
    echo "deps: missing: $packages" >&2
    echo "deps: $1; install these (Debian's names) by hand, e.g.:" >&2
    echo "    apt-get install --no-install-recommends $packages" >&2
    exit 1
}

command -v apt-get >/dev/null 2>&1 || by_hand "there is no apt-get here"
root=
if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || by_hand "installing needs root"
    root="sudo -n"
fi

echo "deps: installing with apt-get: $packages"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 \
        -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$log" 2>&1
}
# A list that cannot be refreshed may still be good enough; the installation decides.
apt update || echo "deps: apt-get update failed, going on with the lists that are here" >&2
# shellcheck disable=SC2086
if ! apt install -y --no-install-recommends $packages; then
    tail -n 20 "$log" >&2
    by_hand "apt-get could not install them"
fi
