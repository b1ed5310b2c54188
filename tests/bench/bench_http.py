#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench_http.py POSENCD BARE_MHD [FIGURES.json] [P4 P5 ...]: the figures of serving. Starts the
daemon and what it is compared with (servers.py), loads them with wrk in turn, in short rounds, and
prints tables; a figure is a ratio of two medians of one run. A server that is not installed (`make
bench-deps`) is said to be missing and its ratios are not measured. ROUNDS=N in the environment is
how often each is measured (7): four minutes in all.
"""

import array
import http.client
import json
import os
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import servers

ROUNDS = int(os.environ.get("ROUNDS", 7))  # that count
SECONDS = 1  # of one round of one case
SLOW_SECONDS = 2  # where a server answers some requests a second
CONNECTIONS = 16
HEAVY_CONNECTIONS = 8  # of requests that are work
DAEMON = ("--queue", "32")  # so that none of these is refused
MIB = 1 << 20

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "m": 60}


class Bench:
    """Where things are, and what has been measured: figures by target."""

    def __init__(self, program, bare_program, work):
        self.program, self.bare_program, self.work = program, bare_program, work
        self.figures = {}
        self.missing = set()

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def figure(self, key, what, value, bound, at_least, medians):
        """One ratio (or amount) of a target. Value None: not measured; bound None: beside it."""
        entry = self.figures.setdefault(key, {"what": TARGETS[key][0], "values": [], "medians": {}})
        known = value is not None and bound is not None
        met = (value >= bound if at_least else value <= bound) if known else None
        target = None if bound is None else "%s %g" % ("≥" if at_least else "≤", bound)
        entry["values"].append({"what": what, "value": value, "target": target, "met": met})
        entry["medians"].update(medians)
        shown = "not measured" if value is None else "%.2f" % value
        word = {None: "", True: "met", False: "not met"}[met]
        print("| %s | %s | %s | %s | %s |" % (key, what, shown, target or "", word))

    def ratios(self, key, medians, pairs):
        """Pairs (case, of, bound): requests a second in multiples of those of another case."""
        print("\n| target | measured | ratio | aim | |\n| --- | --- | ---: | ---: | --- |")
        for what, of, bound in pairs:
            value = medians[what] / medians[of] if what in medians and of in medians else None
            self.figure(key, "%s : %s" % (what, of), value, bound, True, medians)
        self.figures[key]["unit"] = "requests/s"


# ---- Load --------------------------------------------------------------------------------------


def post_script(bench, name, body, content_type):
    """A script for wrk that posts the body."""
    path = bench.write(name, body)
    script = (
        'wrk.method = "POST"\nlocal f = io.open("%s", "rb")\nwrk.body = f:read("*a")\nf:close()\n'
        'wrk.headers["Content-Type"] = "%s"\n' % (path, content_type)
    )
    return bench.write(name + ".lua", script.encode())


def wrk(url, seconds, connections, script=None):
    """Requests a second. Any answer but 2xx and any error of a socket is a failure of the run."""
    command = ["wrk", "-t1", "-c%d" % connections, "-d%ds" % seconds, "--timeout", "10s"]
    command += ["-s", script] if script else []
    out = subprocess.run(command + [url], stdout=subprocess.PIPE, check=True, text=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise RuntimeError("%s: %s" % (url, out))
    return float(re.search(r"Requests/sec:\s+([0-9.]+)", out).group(1))


def in_turn(cases, rounds=ROUNDS):
    """Cases (name, url, seconds, connections, script): medians of requests a second. The first
    round is not counted."""
    seen = {case[0]: [] for case in cases}
    for turn in range(rounds + 1):
        for name, url, seconds, connections, script in cases:
            servers.rest()
            got = wrk(url, seconds if turn else 1, connections, script)
            if turn:
                seen[name].append(got)
    medians = {name: statistics.median(values) for name, values in seen.items()}
    print("\n| case | requests/s | least | most |\n| --- | ---: | ---: | ---: |")
    for name, values in seen.items():
        print("| %s | %.1f | %.1f | %.1f |" % (name, medians[name], min(values), max(values)))
    return medians


# ---- P4, P5, P6: beside FastAPI ----------------------------------------------------------------


def draw_values(n):
    """f32 values as people's tensors have them."""
    draw = random.Random(1)
    return array.array("f", (draw.gauss(0, 1) for _ in range(n)))


def nested(values, shape):
    for n in reversed(shape[1:]):
        values = [values[i : i + n] for i in range(0, len(values), n)]
    return values


def peer(bench, cases, make):
    """Runs what `make` says of FastAPI if it is there."""
    server = servers.fastapi()
    if server:
        cases += make(server.url)
    else:
        bench.missing.add("FastAPI")


def table_json(bench):
    daemon = servers.posencd(bench.program, *DAEMON)
    script = bench.write(
        "table.lua",
        b"local n = 0\nrequest = function()\n  n = n + 1\n"
        b'  return wrk.format("GET", "/v1/table.json?kind=sinusoidal&dim=64&dtype=f32&positions="'
        b' .. n .. ":" .. n + 2048)\nend\n',
    )
    cases = [("table JSON", daemon.url, SECONDS, HEAVY_CONNECTIONS, script)]
    peer(
        bench,
        cases,
        lambda url: [
            ("FastAPI ujson", url + "/table_ujson", SECONDS, HEAVY_CONNECTIONS, None),
            ("FastAPI", url + "/table", SLOW_SECONDS, HEAVY_CONNECTIONS, None),
        ],
    )
    medians = in_turn(cases)
    servers.stop_all()
    bench.ratios("P4", medians, [("table JSON", "FastAPI ujson", 5), ("table JSON", "FastAPI", 40)])


def apply_json(bench):
    daemon = servers.posencd(bench.program, *DAEMON)
    q = nested(list(draw_values(8 * 128 * 64)), (1, 8, 128, 64))
    ours = {"spec": "rope:dim=64,layout=half", "axes": "bhtd", "x": {"dtype": "f32", "data": q}}
    script = post_script(bench, "x.json", json.dumps(ours).encode(), "application/json")
    theirs = post_script(bench, "q.json", json.dumps({"q": q}).encode(), "application/json")
    cases = [("apply JSON", daemon.url + "/v1/apply", SECONDS, HEAVY_CONNECTIONS, script)]
    peer(
        bench,
        cases,
        lambda url: [
            ("FastAPI ujson", url + "/apply_ujson", SECONDS, HEAVY_CONNECTIONS, theirs),
            ("FastAPI", url + "/apply_pydantic", SLOW_SECONDS, HEAVY_CONNECTIONS, theirs),
        ],
    )
    medians = in_turn(cases)
    servers.stop_all()
    bench.ratios("P5", medians, [("apply JSON", "FastAPI ujson", 5), ("apply JSON", "FastAPI", 30)])


def npy(values, shape):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes()


def apply_binary(bench):
    shape = (1, 8, 128, 64)
    values = draw_values(8 * 128 * 64)
    daemon = servers.posencd(bench.program, *DAEMON)
    bare = servers.bare(bench.bare_program, [])
    target = daemon.url + "/v1/apply.bin?spec=rope:dim=64,layout=half&axes=bhtd"
    script = post_script(bench, "x.npy", npy(values, shape), "application/x-npy")
    raw = post_script(bench, "x.bin", values.tobytes(), "application/octet-stream")
    cases = [
        ("apply binary", target, SECONDS, HEAVY_CONNECTIONS, script),
        ("bare echo", bare.url, SECONDS, HEAVY_CONNECTIONS, raw),
    ]
    peer(
        bench,
        cases,
        lambda url: [("FastAPI bytes", url + "/apply_bin", SECONDS, HEAVY_CONNECTIONS, raw)],
    )
    medians = in_turn(cases)
    servers.stop_all()
    pairs = [("apply binary", "FastAPI bytes", 1.2), ("apply binary", "bare echo", 0.8)]
    bench.ratios("P6", medians, pairs)


# ---- P7: answers that are there ----------------------------------------------------------------

SIZES = {
    # name: request whose answer has so many bytes; bounds beside bare libmicrohttpd and nginx
    "200 B": ("/v1/table.bin?kind=rope&dim=50&dtype=f32&positions=0:1", 200, 0.9, 1.0),
    "100 kB": ("/v1/table.bin?kind=rope&dim=50&dtype=f32&positions=0:500", 100000, 0.9, 0.6),
    "2.6 MB": ("/v1/table.bin?kind=rope&dim=50&dtype=f32&positions=0:13000", 2600000, 0.9, 1.0),
    "/livez": ("/livez", 3, 0.9, None),
}


def fetch(url):
    """The fields of an answer, without those that every server sets, and its body."""
    host, path = re.fullmatch(r"http://([^/]+)(/.*)", url).groups()
    connection = http.client.HTTPConnection(host, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    fields = [f for f in answer.getheaders() if f[0] not in ("Date", "Content-Length")]
    body = answer.read()
    connection.close()
    return fields, body


def with_head(fields, body):
    return "".join("%s: %s\n" % field for field in fields).encode() + b"\n" + body


def kept_answers(bench):
    """All of these are one thread. It has a core of its own and wrk another: who moves between them
    when decides half of the time otherwise."""
    cores = sorted(os.sched_getaffinity(0))
    servers.place(cores[:1])
    daemon = servers.posencd(bench.program)
    root = bench.path("www")
    os.mkdir(root)
    files = []
    for i, (target, size, _, _) in enumerate(SIZES.values()):
        fields, body = fetch(daemon.url + target)
        if len(body) != size:
            raise RuntimeError("%s: %d bytes" % (target, len(body)))
        bench.write("www/%d" % i, body)
        files.append(bench.write("%d.same" % i, with_head(fields, body)))
        files.append(bench.write("%d.short" % i, with_head(fields[:1], body)))
    bare = servers.bare(bench.bare_program, files)
    static = servers.nginx(bench.work, root, "/0")
    if not static:
        bench.missing.add("nginx")
    cases, pairs = [], []
    for i, (name, (target, _, least_bare, least_nginx)) in enumerate(SIZES.items()):
        cases.append((name, daemon.url + target, SECONDS, CONNECTIONS, None))
        cases.append((name + " bare", "%s/%d" % (bare.url, 2 * i), SECONDS, CONNECTIONS, None))
        if i == 0:
            short = "%s/%d" % (bare.url, 2 * i + 1)
            cases.append((name + " bare, short head", short, SECONDS, CONNECTIONS, None))
            pairs.append((name, name + " bare, short head", None))
        pairs.append((name, name + " bare", least_bare))
        pairs.append((name, name + " nginx", least_nginx))
        if static:
            cases.append((name + " nginx", "%s/%d" % (static.url, i), SECONDS, CONNECTIONS, None))
    os.sched_setaffinity(0, cores[-1:])
    medians = in_turn(cases)
    os.sched_setaffinity(0, cores)
    servers.place(None)
    servers.stop_all()
    bench.ratios("P7", medians, pairs)


# ---- P8: small requests while all workers are busy ---------------------------------------------

PROBE_S = 5
PROBES_MAX = 5  # so often, at most
PROBE_EVERY_S = 0.005
PROBE = "/v1/table.json?kind=rope&dim=64&positions=%d"


def probe(url, seconds):
    """Small GETs, each computed, at fixed times; milliseconds from those times to the answers'
    ends, sorted."""
    host = url[len("http://") :]
    connection = http.client.HTTPConnection(host, timeout=10)
    seen = []
    start = time.monotonic()
    for i in range(int(seconds / PROBE_EVERY_S)):
        due = start + i * PROBE_EVERY_S
        time.sleep(max(0, due - time.monotonic()))
        connection.request("GET", PROBE % i)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError("status %d" % answer.status)
        seen.append(1e3 * (time.monotonic() - due))
    connection.close()
    return sorted(seen)


def percentile(values, part):
    return values[min(len(values) - 1, int(part * len(values)))]


def json_rows(rows):
    """A request of about 1.26 kB for each row."""
    draw = random.Random(1)
    values = [draw.gauss(0, 1) for _ in range(64 * rows)]
    request = {"spec": "rope:dim=64", "axes": "td", "x": nested(values, (rows, 64))}
    return json.dumps(request, separators=(",", ":")).encode()


def mixed_load(bench):
    daemon = servers.posencd(bench.program)
    body = json_rows(8000)
    script = post_script(bench, "large.json", body, "application/json")
    workers = os.cpu_count()
    probes = min(ROUNDS, PROBES_MAX)
    idle = [probe(daemon.url, PROBE_S) for _ in range(probes)]
    seconds = probes * (PROBE_S + 1) + 2
    posts = []
    load = threading.Thread(
        target=lambda: posts.append(wrk(daemon.url + "/v1/apply", seconds, 2 * workers, script))
    )
    load.start()
    time.sleep(1)
    busy = [probe(daemon.url, PROBE_S) for _ in range(probes)]
    load.join()
    daemon.stop()
    if not posts:
        raise RuntimeError("the posts failed")
    medians = {"posts of %.1f MB a second" % (len(body) / 1e6): posts[0]}
    print("\n| small GETs, medians of %d times | p50 ms | p99 ms | least, most p99 |" % probes)
    print("| --- | ---: | ---: | ---: |")
    for name, each in (("idle", idle), ("all workers busy", busy)):
        p50, p99 = ([percentile(values, part) for values in each] for part in (0.5, 0.99))
        medians[name + " p50 ms"] = statistics.median(p50)
        medians[name + " p99 ms"] = statistics.median(p99)
        row = (name, statistics.median(p50), statistics.median(p99), min(p99), max(p99))
        print("| %s | %.2f | %.2f | %.2f, %.2f |" % row)
    load = (2 * workers, len(body) / 1e6, posts[0])
    print("\n%d connections posting %.1f MB of JSON: %.1f a second" % load)
    print("\n| target | measured | ms | aim | |\n| --- | --- | ---: | ---: | --- |")
    p99 = medians["all workers busy p99 ms"]
    bench.figure("P8", "p99 of small GETs, all workers busy, ms", p99, 10, False, medians)
    bench.figure("P8", "p99 when idle, ms", medians["idle p99 ms"], None, False, medians)


# ---- P10: memory -------------------------------------------------------------------------------

LIMITS = ("--max-elements", "4G", "--max-text-elements", "4G", "--max-body", "1G")
READY_ROUNDS = 11
SLAB = 12 * MIB  # what a streamed answer may take at its peak: blocks, their scratch, positions


def transfer(url, body=None, content_type=None):
    """Sends a request and reads its answer; the bytes of that."""
    host, target = re.fullmatch(r"http://([^/]+)(/.*)", url).groups()
    connection = http.client.HTTPConnection(host, timeout=60)
    headers = {"Content-Type": content_type} if content_type else {}
    connection.request("POST" if body else "GET", target, body, headers)
    answer = connection.getresponse()
    total = 0
    while part := answer.read(MIB):
        total += len(part)
    connection.close()
    if answer.status != 200:
        raise RuntimeError("status %d" % answer.status)
    return total


def safetensors_post():
    """64 MiB of f32, as a request."""
    shape = [1, 32, 4096, 128]
    size = 4 * 32 * 4096 * 128
    request = json.dumps({"spec": "rope:dim=128,layout=half", "axes": "bhtd"})
    tensor = {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}
    header = json.dumps({"__metadata__": {"request": request}, "x": tensor}).encode()
    header += b" " * (-len(header) % 8)
    part = draw_values(1 << 16).tobytes()
    return struct.pack("<Q", len(header)) + header + part * (size // len(part))


def peak(bench, target, body=None, content_type=None):
    """Of a daemon of its own: bytes of the answer, most resident memory above that when idle."""
    daemon = servers.posencd(bench.program, *LIMITS)
    idle = daemon.memory("VmRSS")
    answer = transfer(daemon.url + target, body, content_type)
    most = daemon.memory("VmHWM") - idle
    daemon.stop()
    return answer, most


def memory_cases():
    """name, target, body, media type"""
    yield "GET table, bin", "/v1/table.bin?kind=rope&dim=512&positions=0:524288", None, None
    yield "GET table, JSON", "/v1/table?kind=rope&dim=512&positions=0:40000", None, None
    yield "GET table, csv", "/v1/table.csv?kind=rope&dim=512&positions=0:40000", None, None
    apply = "/v1/apply.safetensors?kind=rope&dim=128&shape=8,8,4096,128&axes=bhtd"
    yield "GET apply, safetensors", apply, None, None
    yield "POST apply, safetensors", "/v1/apply", safetensors_post(), "application/x-safetensors"
    yield "POST apply, JSON", "/v1/apply", json_rows(8000), "application/json"
    yield "POST apply, JSON 60 MB", "/v1/apply", json_rows(48000), "application/json"


def memory(bench):
    ready, idle = [], []
    for _ in range(READY_ROUNDS):
        daemon = servers.posencd(bench.program)
        ready.append(1e3 * daemon.ready_s)
        idle.append(daemon.memory("VmRSS") / MIB)
        daemon.stop()
    medians = {"ready ms": statistics.median(ready), "idle MiB": statistics.median(idle)}
    figures = [
        ("start to ready, ms", medians["ready ms"], 50),
        ("idle daemon, MiB", medians["idle MiB"], 12),
    ]
    print("\n| request | body MB | answer MB | peak MB | of 1.2 x body + answer |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, target, body, content_type in memory_cases():
        answer, most = peak(bench, target, body, content_type)
        size = len(body) if body else 0
        part = most / (1.2 * size + answer)
        row = (name, size / 1e6, answer / 1e6, most / 1e6, part)
        print("| %s | %.1f | %.1f | %.1f | %.2f |" % row)
        medians[name + " peak MB"] = most / 1e6
        if body:
            figures.append((name + ", peak : 1.2 x body + answer", part, 1))
        else:
            figures.append((name + ", peak MiB", most / MIB, SLAB / MIB))
    print("\n| target | measured | | aim | |\n| --- | --- | ---: | ---: | --- |")
    for what, value, bound in figures:
        bench.figure("P10", what, value, bound, False, medians)


# ---- All ---------------------------------------------------------------------------------------

TARGETS = {
    "P4": ("GET table 2048 x 64 as JSON, f32, not kept, requests a second", table_json),
    "P5": ("POST apply of q[1,8,128,64] as JSON, requests a second", apply_json),
    "P6": ("POST apply of q[1,8,128,64] as bytes, requests a second", apply_binary),
    "P7": ("GET of answers that are kept or tiny, requests a second", kept_answers),
    "P8": ("latency of small GETs under mixed load", mixed_load),
    "P10": ("memory, and time to start", memory),
}


def main():
    names = [name for name in sys.argv[3:] if name in TARGETS] or list(TARGETS)
    paths = [name for name in sys.argv[3:] if name not in TARGETS]
    if not shutil.which("wrk"):
        sys.exit("bench_http.py: wrk is missing (make bench-deps)")
    work = tempfile.mkdtemp()
    bench = Bench(sys.argv[1], sys.argv[2], work)
    failed = []
    try:
        for name in names:
            print("\n### %s: %s" % (name, TARGETS[name][0]), flush=True)
            try:
                TARGETS[name][1](bench)
            except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
                print("\n%s failed: %s" % (name, error))
                bench.figure(name, "all", None, 0, True, {})
                failed.append(name)
            servers.stop_all()
    finally:
        servers.stop_all()
        shutil.rmtree(work)
    for name in sorted(bench.missing):
        print("\n%s is not here (make bench-deps): ratios to it are not measured." % name)
    for path in paths:
        with open(path, "w") as out:
            json.dump(bench.figures, out, indent=1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
