#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memory.sh POSENCD: what large requests take at their peak. Each has a daemon of its own; printed are
# the bytes of body and answer, and the most resident memory (VmHWM) above that of the idle daemon.
set -eu
program=$1
. "$(dirname "$0")/../e2e/daemon.sh"
daemon_log=/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

field() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$daemon/status"; }

measure() { # NAME TARGET [BODY TYPE]
    daemon_start "$program" --log-format off --max-elements 4G --max-text-elements 4G --max-body 1G
    idle=$(field VmRSS)
    body=0
    set -- "$1" "$2" "${3:-}" "${4:-}"
    if [ -n "$3" ]; then
        body=$(wc -c <"$3")
        got=$(curl --silent --show-error -H 'Expect:' -H "Content-Type: $4" --data-binary "@$3" \
            -o /dev/null --write-out '%{http_code} %{size_download} %{time_total}' "$url$2")
    else
        got=$(curl --silent --show-error -o /dev/null \
            --write-out '%{http_code} %{size_download} %{time_total}' "$url$2")
    fi
    peak=$(($(field VmHWM) - idle))
    daemon_stop
    echo "$got" | awk -v name="$1" -v body="$body" -v peak="$peak" '
        $1 != 200 { print name ": status " $1; exit 1 }
        { printf "| %s | %.1f | %.1f | %.1f | %.2f | %.1f |\n", name, body / 1e6, $2 / 1e6,
              peak * 1024 / 1e6, peak * 1024 / (1.2 * body + $2), $3 }'
}

python3 - "$work" <<'END'
import array, json, random, struct, sys
random.seed(1)
values = array.array('f', (random.gauss(0, 1) for _ in range(1 << 16)))
count = 32 * 4096 * 128
request = json.dumps({'spec': 'rope:dim=128,layout=half', 'axes': 'bhtd'})
header = json.dumps({'__metadata__': {'request': request},
                     'x': {'dtype': 'F32', 'shape': [1, 32, 4096, 128],
                           'data_offsets': [0, 4 * count]}}).encode()
header += b' ' * (-len(header) % 8)
with open(sys.argv[1] + '/x.safetensors', 'wb') as file:
    file.write(struct.pack('<Q', len(header)) + header)
    for _ in range(count >> 16):
        file.write(values.tobytes())
for name, rows in (('10', 8000), ('60', 48000)):
    with open(sys.argv[1] + '/x' + name + '.json', 'w') as file:
        file.write('{"spec":"rope:dim=64","axes":"td","x":[')
        for row in range(rows):
            numbers = ','.join(repr(random.gauss(0, 1)) for _ in range(64))
            file.write((',[' if row else '[') + numbers + ']')
        file.write(']}')
END

echo '| request | body MB | answer MB | peak MB | of 1.2 x body + answer | s |'
echo '| --- | ---: | ---: | ---: | ---: | ---: |'
measure 'GET table, bin' '/v1/table.bin?kind=rope&dim=512&positions=0:1048576'
measure 'GET table, npy' '/v1/table.npy?kind=rope&dim=512&positions=0:100000'
measure 'GET table, JSON' '/v1/table?kind=rope&dim=512&positions=0:100000'
measure 'GET table, csv' '/v1/table.csv?kind=rope&dim=512&positions=0:100000'
measure 'GET apply, safetensors' '/v1/apply.safetensors?kind=rope&dim=128&shape=8,8,4096,128&axes=bhtd'
measure 'POST apply, safetensors' '/v1/apply' "$work/x.safetensors" application/x-safetensors
measure 'POST apply, JSON' '/v1/apply' "$work/x10.json" application/json
measure 'POST apply, JSON' '/v1/apply' "$work/x60.json" application/json
