# SPDX-License-Identifier: Apache-2.0
"""servers.py: what bench_http.py compares, each as a process of its own on a port that the system gives:
the daemon, a bare libmicrohttpd, nginx with static files, and a service written with FastAPI. Only
processes started here are ended, by their id.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

READY_S = 20  # to answer after the start
STOP_S = 10  # to end after SIGTERM
REST_S = 5  # to become idle
REST_EVERY_S = 0.1
PEERS = os.environ.get("PEERS", "../shared/tools/peers")


running = []
cores = None  # that servers may use from now on; None: all


def place(on):
    global cores
    cores = on


class Server:
    """A started process and the URL it answers at."""

    def __init__(self, command, url=None, **options):
        self.url = url
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
        running.append(self)
        if cores:
            os.sched_setaffinity(self.process.pid, cores)

    def wait_ready(self, path):
        until = time.monotonic() + READY_S
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.url + path, timeout=1) as answer:
                    answer.read()
                return self
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError("%s does not get ready" % self.process.args[0])

    def stop(self):
        running.remove(self)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def memory(self, name):
        """A field of /proc/PID/status in bytes: VmRSS (resident), VmHWM (most so far)."""
        with open("/proc/%d/status" % self.process.pid) as status:
            for line in status:
                if line.startswith(name + ":"):
                    return 1024 * int(line.split()[1])
        raise RuntimeError("no %s" % name)


    def cpu_ticks(self):
        """Processor time so far."""
        with open("/proc/%d/stat" % self.process.pid) as stat:
            return sum(int(ticks) for ticks in stat.read().rsplit(")", 1)[1].split()[11:13])


def rest():
    """Waits until no server is busy any more with what the last load left behind: wrk goes away in the
    middle of requests, which may take one server a second to end, from the time of the next."""
    until = time.monotonic() + REST_S
    before = None
    while time.monotonic() < until:
        now = [server.cpu_ticks() for server in running]
        if now == before:
            return
        before = now
        time.sleep(REST_EVERY_S)


def stop_all():
    while running:
        running[-1].stop()


def free_port():
    """For servers that cannot be told to take any: a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def posencd(program, *options):
    """The daemon; .ready_s is the time from its start to its word that it listens."""
    reader, writer = os.pipe()
    command = [program, "--listen", "127.0.0.1:0", "--ready-fd", str(writer), "--log-format", "off"]
    start = time.monotonic()
    server = Server(command + list(options), pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader) as ready:
        line = ready.readline()
    server.ready_s = time.monotonic() - start
    if not line:
        server.stop()
        raise RuntimeError("%s does not start" % program)
    server.url = json.loads(line)["url"]
    return server


def bare(program, files):
    server = Server([program] + files, stdout=subprocess.PIPE)
    server.url = "http://127.0.0.1:%d" % int(server.process.stdout.readline())
    return server


NGINX = """
daemon off; worker_processes 1; user root; pid %(work)s/nginx.pid; error_log stderr crit;
events { worker_connections 256; }
http {
    access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_timeout 30;
    default_type application/octet-stream;
    client_body_temp_path %(work)s/a; proxy_temp_path %(work)s/b; fastcgi_temp_path %(work)s/c;
    uwsgi_temp_path %(work)s/d; scgi_temp_path %(work)s/e;
    server { listen 127.0.0.1:%(port)d; root %(root)s; }
}
"""


def nginx(work, root, path):
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program:
        return None
    port = free_port()
    config = os.path.join(work, "nginx.conf")
    with open(config, "w") as file:
        text = NGINX % {"work": work, "root": root, "port": port}
        file.write(text if os.geteuid() == 0 else text.replace("user root;", ""))
    command = [program, "-p", work, "-e", "stderr", "-c", config]
    return Server(command, "http://127.0.0.1:%d" % port).wait_ready(path)


def fastapi():
    """The service of the peers' folder under uvicorn, one process, without a log."""
    if not os.path.exists(os.path.join(PEERS, "perf_service.py")):
        return None
    python = "/usr/bin/python3"  # which has the system's packages
    try:
        subprocess.run([python, "-c", "import fastapi, numpy, ujson, uvicorn"], check=True,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    port = free_port()
    command = [python, "-B", "-m", "uvicorn", "perf_service:app", "--host", "127.0.0.1",
               "--port", str(port), "--log-level", "critical"]
    return Server(command, "http://127.0.0.1:%d" % port, cwd=PEERS).wait_ready("/ping")
