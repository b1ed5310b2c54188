#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# soak.sh POSENCD SOAK [SECONDS]: starts the daemon and lets good, bad and slow clients at it (soak.c;
# built by `make build/gcc-release/tests/bench/soak`). The cache is small enough to be full, and to let
# go of what it has, from the first seconds on.
set -eu
program=$1
soak=$2
shift 2
. "$(dirname "$0")/../e2e/daemon.sh"
daemon_log=/dev/null
daemon_start "$program" --log-format off --cache-size 8M
status=0
"$soak" "${url##*:}" "$daemon" "$@" || status=1
daemon_stop
exit $status
