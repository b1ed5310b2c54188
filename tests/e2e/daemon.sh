# SPDX-License-Identifier: Apache-2.0
# daemon.sh: starts and stops a daemon from a shell script; to be sourced. Port 0, so that it never
# meets another; only the child started here is stopped.
# shellcheck shell=sh

# daemon_start PROGRAM [OPTION...]: sets $url and $daemon. Its log goes to the file $daemon_log.
daemon_start() {
    ready=$(mktemp)
    "$@" --listen 127.0.0.1:0 --ready-fd 3 3>"$ready" 2>"$daemon_log" </dev/null &
    daemon=$!
    url=
    tries=0
    while [ -z "$url" ]; do
        url=$(sed -nE 's/.*"url":"([^"]+)".*/\1/p' "$ready")
        tries=$((tries + 1))
        if [ -z "$url" ] && { [ $tries -gt 200 ] || ! kill -0 "$daemon" 2>/dev/null; }; then
            echo "$*: does not become ready:" >&2
            tail -n 20 "$daemon_log" >&2
            rm -f "$ready"
            return 1
        fi
        [ -n "$url" ] || sleep 0.05
    done
    rm -f "$ready"
}

# Asks it to end; its exit status is ours.
daemon_stop() {
    kill -TERM "$daemon"
    wait "$daemon"
}
