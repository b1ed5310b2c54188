#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# overload.sh POSENCD OVERLOAD [FACTOR [SECONDS]]: starts the daemon and measures it under overload
# (overload.c; built by `make build/gcc-release/tests/bench/overload`).
set -eu
program=$1
overload=$2
shift 2
. "$(dirname "$0")/../e2e/daemon.sh"
daemon_log=/dev/null
daemon_start "$program" --log-format off
"$overload" "${url##*:}" "$@"
daemon_stop
