# SPDX-License-Identifier: Apache-2.0
"""test_service.py: how posenc.py starts a daemon, talks to it and tells what went wrong."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading

import pytest

import posenc as client
from posenc import Problem, Service

PROGRAM = os.environ["POSENCD"]


def python(text, *arguments, cwd=None):
    """Runs a program, not in CI; the words that it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    run = subprocess.run([sys.executable, "-c", text, *arguments], text=True, timeout=60,
                         capture_output=True, cwd=cwd, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def listens(url):
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as attempt:
        return attempt.connect_ex((host, int(port))) == 0


class Script:
    """A server that gives these answers, a connection each unless the last one keeps it open."""

    def __init__(self, *connections):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.requests = []  # their bodies
        self.thread = threading.Thread(target=self.serve, args=(connections,), daemon=True)
        self.thread.start()

    def serve(self, connections):
        for answers in connections:
            connection, _ = self.socket.accept()
            with connection, connection.makefile("rb") as lines:
                for answer in answers:
                    head = b"".join(iter(lines.readline, b"\r\n"))
                    size = re.search(rb"Content-Length: ([0-9]+)", head)
                    self.requests.append(lines.read(int(size[1]) if size else 0))
                    connection.sendall(answer)
        self.socket.close()


def answer(status, body=b"{}", **fields):
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} x\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


BUSY = answer(503, b'{"type":"/problems/overloaded"}', Retry_After="2")


# ---- A daemon of one's own -----------------------------------------------------------------------


def test_it_ends_with_close_and_with_the_block():
    with Service(binary=PROGRAM) as service:
        assert service.get("/livez").text == "ok\n" and listens(service.url)
    assert not listens(service.url)
    other = Service(binary=PROGRAM)
    other.close()
    other.close()
    assert not listens(other.url)
    with pytest.raises(OSError):
        other.get("/livez")


@pytest.mark.parametrize("end", ["", "del s", "s = None", "raise SystemExit(0)",
                                 "os.fork() or sys.exit(0); os.wait(); s.get('/livez')"])
def test_it_ends_with_its_owner_and_only_with_it(end):
    start = "import os, sys, posenc; s = posenc.Service(); print(s.url, flush=True);"
    url, = python(start + end)
    assert not listens(url)


def test_a_service_of_somebody_else_stays(posenc, monkeypatch):
    monkeypatch.setenv("POSENC_URL", posenc.url + "/")
    with Service() as service:
        assert service.url == posenc.url
    assert listens(posenc.url)


def test_where_the_program_is(monkeypatch, tmp_path):
    monkeypatch.delenv("POSENC_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="POSENC_BINARY"):
        Service()
    (tmp_path / "posencd").symlink_to(PROGRAM)
    with Service() as service:
        assert service.get("/livez").status == 200
    with pytest.raises(FileNotFoundError):
        Service(binary=str(tmp_path / "nothing"))
    with pytest.raises(RuntimeError, match="status 1"):
        Service(binary="/bin/false")


def test_threads_share_a_service(posenc):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(posenc.get("/v1/version").json()))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and all(one == answers[0] for one in answers)


# ---- HTTP ----------------------------------------------------------------------------------------


def test_raw_answers(posenc):
    got = posenc.get("/v1/table.csv?kind=integer&dim=1&positions=0:2")
    assert got.status == 200 and got.headers["content-type"].startswith("text/csv")
    assert got.text.splitlines()[1:] == ["0,0", "1,1"]
    assert got.request == "GET /v1/table.csv?kind=integer&dim=1&positions=0:2"
    again = posenc.get("/v1/table.csv?kind=integer&dim=1&positions=0:2",
                       {"If-None-Match": got.headers["ETag"]})
    assert again.status == 304 and again.body == b""
    body = {"spec": "none:dim=2", "x": [[1, 2]]}
    for sent in (body, json.dumps(body), json.dumps(body).encode()):
        assert posenc.post("/v1/apply.csv", sent).text.splitlines()[1] == "0,1,2"
    assert posenc.get("/v1/table.txt?kind=binary&dim=4&positions=2^0:2^3&dtype=f32").status == 200
    with pytest.raises(ValueError):
        posenc.post("/v1/apply", {"spec": "none:dim=1", "x": [float("nan")]})


def test_more_requests_than_a_connection_may_carry(posenc):
    limit = posenc.get("/v1/limits").json()["limits"]["connection_requests"]["value"]
    assert all(posenc.get("/livez").body == b"ok\n" for _ in range(limit + 10))


def test_a_connection_that_was_closed_while_idle():
    script = Script([answer(200, b"1")], [answer(200, b"2"), answer(200, b"3")])
    service = Service(script.url)
    assert [service.post("/", "x").text for _ in range(3)] == ["1", "2", "3"]
    assert script.requests == [b"x"] * 3


def test_a_new_connection_that_is_closed_is_an_error():
    script = Script([], [answer(200, b"never asked for")])
    with pytest.raises(OSError):
        Service(script.url).get("/")
    assert script.requests == []


def test_a_busy_service_is_asked_again(monkeypatch):
    waits = []
    monkeypatch.setattr(client.time, "sleep", waits.append)
    script = Script([BUSY, answer(429, Retry_After="999"), answer(200, b"at last")])
    assert Service(script.url).get("/").text == "at last"
    assert waits == [2, client.WAIT_S_MAX] and len(script.requests) == 3


@pytest.mark.parametrize("retries, given, asked", [
    (3, [BUSY] * 9, 4), (0, [BUSY], 1), (3, [answer(503)], 1),
    (3, [answer(500, Retry_After="1")], 1),
    (3, [answer(503, Retry_After="Fri, 31 Dec 1999 23:59:59 GMT")], 1),
])
def test_but_not_for_ever(monkeypatch, retries, given, asked):
    monkeypatch.setattr(client.time, "sleep", lambda wait: None)
    script = Script(given)
    with pytest.raises(Problem):
        Service(script.url, retries=retries).get("/")
    assert len(script.requests) == asked


def test_a_body_that_is_refused_early(posenc):
    with Service(binary=PROGRAM) as service:
        limit = service.get("/v1/limits").json()["limits"]["body"]["value"]
        with pytest.raises(Problem) as caught:
            service.post("/v1/apply", b"x" * (limit + 1))
    assert caught.value.status == 413 and caught.value.type == "body-too-large"


# ---- Problems ------------------------------------------------------------------------------------


def test_a_problem_says_all(posenc):
    with pytest.raises(Problem) as caught:
        posenc.get("/v1/table?kind=rope&dims=64&layuot=half")
    problem = caught.value
    assert (problem.status, problem.type, problem.title) == (
        400, "unknown-parameter", "Unknown parameter")
    assert problem.detail == (
        '"dims" and "layuot" are not parameters of GET /v1/table with kind=rope.')
    assert [error["parameter"] for error in problem.errors] == ["dims", "layuot"]
    assert problem.document["instance"] == "/v1/table?kind=rope&dims=64&layuot=half"
    assert problem.answer.headers["Request-Id"]
    lines = str(problem).splitlines()
    assert lines[:5] == [
        "400 Unknown parameter (unknown-parameter)", problem.detail,
        f"  dims: {problem.errors[0]['detail']}", '    did you mean "dim"?',
        f"  layuot: {problem.errors[1]['detail']}"]
    assert lines[6].startswith("    allowed: kind dim base layout ")
    assert lines[-1] == "  in GET /v1/table?kind=rope&dims=64&layuot=half"


def test_a_problem_points_into_the_body(posenc):
    with pytest.raises(Problem, match=r"\n  /x: .*\n  in POST /v1/apply") as caught:
        posenc.post("/v1/apply", {"spec": "rope:dim=6", "x": [[1, 2, 3, 4]]})
    assert (caught.value.status, caught.value.type) == (422, "shape-mismatch")


def test_an_error_that_is_no_problem_document():
    for given in (answer(502, b"<h1>Bad gateway</h1>"), answer(502, b"[1]"), answer(502, b"\xff")):
        with pytest.raises(Problem) as caught:
            Service(Script([given]).url).get("/x")
        assert (caught.value.status, caught.value.type, caught.value.errors) == (502, "unknown", [])
        assert str(caught.value).startswith("502 Bad Gateway (unknown)\n")
        assert str(caught.value).endswith("\n  in GET /x")


# ---- The README, without numpy, in a shell -------------------------------------------------------


def test_the_readme_works(tmp_path):
    readme = (pathlib.Path(__file__).parents[2] / "README.md").read_text()
    example, = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    again = example + "print(y.shape, y.dtype)\n"
    for _ in range(2):  # the snapshot is kept, then compared
        assert python(again, cwd=tmp_path) == ["(2,", "8,", "64,", "128)", "float32"]
    assert (tmp_path / "snapshots" / "rope-d128.csv").exists()


def test_without_numpy(posenc):
    said = python("""
import sys
sys.modules["numpy"] = sys.modules["torch"] = None  # an import of them fails
import posenc
s = posenc.Service(sys.argv[1])
y = s.apply("rope:dim=4,layout=half", positions=range(1, 2), x=[[1, 2, 3, 4]])
half = [-1.9841106, 1.9599006, 2.4623778, 4.0197997]
assert type(y) is list and all(abs(a - b) < 1e-6 for a, b in zip(y[0], half)), y
table = s.table("sinusoidal:dim=4", positions=range(3), dtype="bf16")
assert type(table) is list and table[0] == [0, 1, 0, 1], table
assert s.frequencies("rope:dim=4")["band"] == [0, 0]
assert len(s.scores("rope:dim=4")["scores"]) == 3
s.assert_close(y, "rope:dim=4,layout=half", positions=[1], x=[[1, 2, 3, 4]])
assert "pytest" not in sys.modules
print("done")
""", posenc.url)
    assert said == ["done"]


def command(*arguments, **environment):
    file = pathlib.Path(client.__file__)
    run = subprocess.run([sys.executable, file, *arguments], capture_output=True, timeout=60,
                         env={**os.environ, **environment})
    return run.returncode, run.stdout, run.stderr.decode()


def test_command_line(posenc):
    path = "/v1/table.safetensors?kind=rope&dim=4&positions=0:2"
    assert command(path) == (0, posenc.get(path).body, "")
    body = '{"spec":"none:dim=2","x":[[1,2]]}'
    assert command("/v1/apply", body) == (0, posenc.post("/v1/apply", body).body, "")
    status, out, err = command("/v1/table?kind=rop", POSENC_URL=posenc.url)
    assert (status, out) == (22, b"") and 'did you mean "rope"?' in err
    assert command()[0] == 2
    script = Script([answer(500, b"broken")])
    assert command("/v1", POSENC_URL=script.url)[0] == 70
