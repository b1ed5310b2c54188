#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# soak.sh POSENCD SOAK [SECONDS]: starts the daemon and lets good, bad and slow clients at it (soak.c;
# built by `make build/gcc-release/tests/bench/soak`).
set -eu
program=$1
soak=$2
shift 2
. "$(dirname "$0")/../e2e/daemon.sh"
daemon_log=/dev/null
daemon_start "$program" --log-format off
status=0
"$soak" "${url##*:}" "$daemon" "$@" || status=1
daemon_stop
exit $status
