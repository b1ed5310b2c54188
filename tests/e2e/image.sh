#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# image.sh BUILDER PROBER PROBES PASS_MIN: builds the image and tries what is in it. BUILDER builds a
# Dockerfile (CONTEXT TAG and buildah's arguments) into buildah's store; PROBER sends the raw requests
# of PROBES. The daemon of the image runs with the image's user on its file system, which is
# read-only, and without /dev or /proc. As root.
set -euo pipefail
builder=$1 prober=$2 probes=$3 pass_min=$4
size_max_mb=25
tag=posencd:image-test
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
. tests/e2e/daemon.sh

work=$(mktemp -d)
container=
daemon=
finish() {
    [ -z "$daemon" ] || kill -TERM "$daemon" 2>/dev/null || :
    [ -z "$container" ] || buildah rm "$container" >/dev/null
    rm -rf "$work"
}
trap finish EXIT
fail() {
    echo "image: FAILED: $*"
    exit 1
}

"$builder" . $tag --format docker >"$work/build" 2>&1 || { tail -n 30 "$work/build"; fail "it does not build"; }
size=$(tail -n 1 "$work/build" | awk '{ print $3 == "MB" ? $2 : $3 == "kB" ? $2 / 1000 : 99999 }')
awk -v size="$size" -v max=$size_max_mb 'BEGIN { exit !(size <= max) }' || fail "$size MB, more than $size_max_mb"

inspect() { buildah inspect --type image --format "{{$1}}" $tag; }
user=$(inspect .Docker.Config.User)
case $(inspect .Docker.Config.Healthcheck.Test) in *--healthcheck*) ;; *) fail "it does not check its health" ;; esac
case $(inspect .Docker.Config.ExposedPorts) in *8080/tcp*) ;; *) fail "it does not expose 8080" ;; esac
case $(inspect .Docker.Config.Env) in *POSENC_LISTEN=0.0.0.0:8080*) ;; *) fail "it does not listen on 0.0.0.0:8080" ;; esac
inspect .Docker.Config.Labels | grep -q 'org.opencontainers.image.licenses:Apache-2.0' || fail "it has no labels"
case $user in 0 | 0:* | root* | '') fail "it runs as \"$user\"" ;; esac

# A program that is the daemon of the image, for whatever starts daemons here.
container=$(buildah from --pull-never $tag)
cat >"$work/posencd" <<EOF
#!/bin/sh
exec unshare --mount sh -c 'mount --bind -o ro "\$0" "\$0" && exec chroot --userspec=$user "\$0" /usr/bin/posencd "\$@"' \
    $(buildah mount "$container") "\$@"
EOF
chmod +x "$work/posencd"

# The same bytes as the build of this system: the README's examples, the truth files, and what is
# pinned, over HTTP and by --eval; and the sandbox, with this C library and this libuv.
for program in test_readme test_truth test_pinned test_healthcheck test_sandbox; do
    make --no-print-directory --silent e2e T=e2e/$program POSENCD="$work/posencd" >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "$program"; }
done

daemon_log=$work/log
daemon_start "$work/posencd" --log-format off
port=${url##*:}
probe() {
    python3 "$prober" --port "$port" --probes "$probes" --get-path /livez --post-path /v1/apply \
        --post-body '{"spec":"rope","x":[[1,2]]}' --post-type application/json "$@"
}
probe --group smuggling >"$work/smuggling" || { cat "$work/smuggling"; fail "smuggling"; }
probe >"$work/probes" || :
passed=$(sed -nE '$s/^([0-9]+) passed.*/\1/p' "$work/probes")
cat "$work/probes"
[ "${passed:-0}" -ge "$pass_min" ] || fail "fewer than $pass_min probes pass"
daemon_stop || fail "it ended with $?"
daemon=
echo "image: $size MB, user $user; examples, truth, pins, health and sandbox as here; $passed probes"
