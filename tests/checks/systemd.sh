#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# systemd.sh: how much of the machine the unit exposes, as systemd-analyze counts it from 0 to 10: at
# most 1.5. And that it allows the call by which the daemon confines itself. Says so where there is no
# systemd-analyze.
set -eu
unit=deploy/systemd/posencd.service
tenths_max=15
if ! command -v systemd-analyze >/dev/null 2>&1; then
    echo "systemd: no systemd-analyze here, $unit is not judged"
    exit 0
fi
if ! report=$(systemd-analyze security --no-pager --offline=true --threshold=$tenths_max "$unit" 2>&1); then
    echo "$report" | grep -v '^✓' || :
    echo "systemd: FAILED: $unit exposes more than $tenths_max tenths"
    exit 1
fi
grep -qx 'SystemCallFilter=.*seccomp' "$unit" ||
    { echo "systemd: FAILED: $unit does not allow seccomp, so the daemon would not start"; exit 1; }
echo "systemd: $(echo "$report" | sed -nE 's/.*(exposure level.*: [0-9.]+).*/\1/p')"
