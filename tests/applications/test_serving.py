"""`rerank serve` through its port, with a feature that can wait, die or fail, and small limits.

The feature says that it has begun by a file, and waits for another one, so that no test takes time for an event.
"""

import json
import os
import random
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from rerank_adapters.applications.serving.bodies import Limits, Request
from rerank_adapters.applications.serving.worker import Served, answer
from tests.command_line import refused, start

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
pytest.importorskip("prometheus_client")

from rerank_adapters.applications.serving.server import listening_at  # noqa: E402 -- which imports uvicorn

PLUGIN = """
import os, time
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from rerank_plugins import FeatureExtractor, hookimpl

@dataclass
class Odd(FeatureExtractor):
    'The number of characters; some texts are trouble.'
    def extract(self, nbest):
        for text in nbest.texts:
            if text.startswith("wait "):
                gate = Path(text.split()[1])
                (gate / f"begun-{os.getpid()}-{time.monotonic_ns()}").touch()
                while not (gate / "open").exists():
                    time.sleep(0.01)
            if text == "die":
                os._exit(3)
            if text == "fail":
                raise RuntimeError("the feature's own fault")
        return np.array([[float(len(text))] for text in nbest.texts])

@hookimpl
def register_feature_extractors(register):
    register("odd", Odd)
"""
WEIGHTS = """[dense]
odd = 1
LM0 = 10
[sparse]
wt_a = 100
[provenance.job]
plugins = ["odd.py"]
nbest = {use = "moses"}
feature = [{use = "odd"}]
"""
LIMITS = ("--max-body", 20_000, "--max-lists", 3, "--max-hypotheses", 5, "--max-words", 9, "--max-characters", 300)
SHORT = {"hypotheses": [{"text": "a", "features": {"LM0": 1}}, {"text": "bbb", "features": {"LM0": 0.5}}]}
MOSES = "7 ||| a ||| LM0= 0.5\n7 ||| bbb ||| LM0= 0.5\n8 ||| x ||| LM0= 1\n8 ||| yyy ||| LM0= 0\n"
HEAD = b"POST /rerank HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
MALFORMED = 510


def simple(*texts: str) -> dict[str, object]:
    return {"hypotheses": [{"text": text, "features": {"LM0": 0}} for text in texts]}


def until(happened, seconds=60.0):
    """What `happened` returns when that is true for the first time."""
    end = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < end, "it has not happened"
        time.sleep(0.01)
    return found


def children(pid: int) -> list[int]:
    """The processes that any thread of a process has started."""
    return [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]


def is_there(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Gate:
    """A folder for which hypotheses wait that are in work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    @property
    def body(self) -> dict[str, object]:
        return simple(f"wait {self.folder}", "a")

    def begun(self) -> list[Path]:
        return list(self.folder.glob("begun-*"))

    def open(self) -> None:
        (self.folder / "open").touch()


class Server:
    def __init__(self, folder: Path, *flags: object, **environment: str) -> None:
        (folder / "odd.py").write_text(PLUGIN)
        (folder / "w.toml").write_text(WEIGHTS)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            self.process = start("serve", "-w", folder / "w.toml", "--port", 0, *flags)
        said, line = (self.process.stderr.readline().decode() for _ in range(2))
        assert said.startswith("rerank: loading the models in ")
        assert said.endswith(" takes up to 30 s, once\n")
        if "serving at http://127.0.0.1:" not in line:
            self.process.kill()
            pytest.fail(line + self.process.stderr.read().decode())
        self.url = line.split()[3]
        self.client = httpx.Client(base_url=self.url, timeout=60)

    def rerank(self, body: object, **more: object):
        return self.client.post("/rerank", json=body, **more)

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", int(self.url.rpartition(":")[2])

    def metric(self, name: str) -> float:
        lines = self.client.get("/metrics").text.splitlines()
        return float(next(line for line in lines if line.startswith(f"{name} ")).split()[1])

    def processes(self) -> list[int]:
        """Those of the server but itself."""
        own = children(self.process.pid)
        return [*own, *(worker for child in own for worker in children(child))]

    def workers(self) -> list[int]:
        return [worker for child in children(self.process.pid) for worker in children(child)]

    def end(self) -> str:
        """What it has written to the log since it started; nothing where it has been ended already."""
        if self.process.stderr.closed:
            return ""
        self.client.close()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)
        err = self.process.stderr.read().decode()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        return err


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("server"), *LIMITS, "-j", 1)
    yield one
    one.end()


@pytest.fixture
def serve(tmp_path):
    """Starts servers, and ends those that the test does not end."""
    with ExitStack() as servers:

        def started(*flags: object, **environment: str) -> Server:
            one = Server(tmp_path, *flags, **environment)
            servers.callback(one.end)
            return one

        yield started


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path / "gate")


def test_lists_in_json(server):
    answer = server.rerank({"lists": [{**SHORT, "id": "x"}, simple("a", "b b")]}).json()
    assert answer == {
        "lists": [
            {"id": "x", "best": "a", "hypotheses": [
                {"text": "a", "score": 11.0, "row": 0}, {"text": "bbb", "score": 8.0, "row": 1}]},
            {"id": "1", "best": "b b", "hypotheses": [
                {"text": "b b", "score": 3.0, "row": 1}, {"text": "a", "score": 1.0, "row": 0}]},
        ]
    }  # fmt: skip
    sparse = simple("a", "bbb")
    sparse["hypotheses"][0]["features"]["wt_a"] = 1
    assert server.rerank(sparse).json()["lists"][0]["best"] == "a"


def test_lists_in_a_format(server):
    text = {"content": MOSES, "headers": {"Content-Type": "text/plain"}}
    assert server.client.post("/rerank?output=lines", **text).text == "bbb\nx\n"
    ranked = server.client.post("/rerank?output=nbest&format=moses", **text).text
    assert ranked.splitlines()[0] == "7 ||| bbb ||| LM0= 0.5 odd= 3 ||| 8"
    body = {"nbest": MOSES, "sources": ["so", "ja"]}
    assert [one["best"] for one in server.rerank(body).json()["lists"]] == ["bbb", "x"]
    assert server.rerank({**body, "sources": ["so"]}).json() == {"error": "1 sources for 2 lists"}
    kaldi = {"content": "u-1 a\nu-2 b\n", "headers": {"Content-Type": "text/plain"}}
    assert "features differ" in server.client.post("/rerank?format=kaldi", **kaldi).json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"hypotheses": []}, 422, "hypotheses: List should have at least 1 item after validation, not 0"),
        ({"hypotheses": ["a"], "weights": "/etc/passwd"}, 422, "weights: Extra inputs are not permitted"),
        ({}, 422, "expected one of lists, hypotheses and nbest, found none"),
        ({"hypotheses": ["a"]}, 422, "w.toml: not the weights for these lists: segment 0: features differ"),
        ({"lists": [SHORT] * 4}, 422, "the request has 4 lists; this server takes at most 3"),
        (simple(*"abcdef"), 422, "segment 0 has 6 hypotheses; this server takes at most 5"),
        (simple("a " * 10), 422, "segment 0 has a text of 10 words; this server takes at most 9"),
        (simple("a" * 301), 422, "segment 0 has a text of 301 characters; this server takes at most 300"),
        ({"nbest": MOSES, "sources": ["a", "b " * 10]}, 422, "segment 8 has a text of 10 words"),
        (simple("a" * 20_000), 413, "the body has more than 20000 bytes"),
        ({"nbest": "x", "format": "moses"}, 422, "request:1: found 1 column, expected id ||| text"),
        ({"nbest": "x", "format": "../../odd.py"}, 422, "there is no format '../../odd.py'"),
        ({"nbest": "x", "format": "plain,scores=passwd"}, 422, "there is no format 'plain,scores=passwd'"),
        ({"hypotheses": ["a", {"text": "b", "score": "x"}]}, 422, "hypotheses.1.score: Input should be a valid number"),
        ({"hypotheses": [{"txt": "a"}]}, 422, "hypotheses.0.text: Field required"),
        ({"hypotheses": [3]}, 422, "hypotheses.0: wanted a text or an object, found 3"),
        ({"lists": [{"hypotheses": ["a"], "id": 3}]}, 422, "lists.0.id: Input should be a valid string, found 3"),
        (simple("fail"), 500, "the lists could not be reranked; the reason is in the server's log"),
    ],
)
def test_what_is_refused(server, body, status, message):
    answer = server.rerank(body)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]


def test_a_feature_that_one_hypothesis_lacks(server):
    body = json.loads(json.dumps(SHORT))
    del body["hypotheses"][1]["features"]["LM0"]
    wanted = "hypothesis 2 of segment 0 has no feature 'LM0', which others have"
    assert server.rerank(body).json()["error"] == wanted


def test_a_request_without_the_source_that_features_need_is_told_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")  # as the process of a server sets it
    weights = '[dense]\n"lexical-overlap.source" = 1\n[provenance.job]\nfeature = [{use = "lexical-overlap"}]\n'
    (tmp_path / "w.toml").write_text(weights)
    refusal = answer(Served(tmp_path / "w.toml", (), Limits()), Request(b'{"hypotheses": ["a", "b"]}', is_json=True))
    assert refusal.status == 422
    assert "give it as `source`" in refusal.body.decode()


def malformed() -> list[tuple[bytes, str]]:
    """Bodies that are cut short, with a byte changed, or with a piece of them twice, and others; each with its type."""
    rng = random.Random(1)
    whole = [
        (json.dumps({"lists": [SHORT, {**SHORT, "source": "so", "id": "ü"}]}).encode(), "application/json"),
        (json.dumps({"nbest": MOSES, "format": "moses", "sources": ["so", "ja"]}).encode(), "application/json"),
        (MOSES.encode(), "text/plain"),
    ]
    bodies = [(b"[" * 15_000, "application/json"), (b'{"hypotheses": ["\\ud800"]}', "application/json")]
    bodies += [(text, "application/json") for text in (b"", b"\xff\xfe", b"NaN", b'{"lists": 1e999}', b"\0" * 99)]
    bodies += [(b'{"hypotheses": [{"text": "a", "score": %s}]}' % number, "application/json") for number in
               (b"NaN", b"1e999", b"-Infinity", b"9" * 5_000)]  # fmt: skip
    bodies += [(text, "text/plain") for text in (b"", b"\xff", b"\n\n", b"{", b"[" * 15_000, b"0 ||| a ||| LM0= nan\n")]
    while len(bodies) < MALFORMED:
        body, kind = rng.choice(whole)
        at = rng.randrange(len(body))
        damaged = (body[:at], body[:at] + bytes([rng.randrange(256)]) + body[at + 1 :], body[:at] + body[at // 2 :])
        bodies.append((rng.choice(damaged), kind))
    return bodies


def test_malformed_bodies(server):
    """None of them ends a process or is a fault: each is refused or, where it is still a list, reranked."""
    before = server.metric("rerank_replaced")
    statuses = []
    for body, kind in malformed():
        answer = server.client.post("/rerank", content=body, headers={"Content-Type": kind})
        assert answer.status_code in (200, 422), (body, answer.text)
        assert answer.status_code == 200 or answer.json()["error"]
        statuses.append(answer.status_code)
    assert len(statuses) == MALFORMED
    assert statuses.count(422) > MALFORMED / 2
    assert server.metric("rerank_replaced") == before


def test_health_metrics_and_other_paths(server):
    assert server.rerank(SHORT).status_code == 200
    assert server.client.get("/health").json() == {"status": "ok", "processes": 1}
    metrics = server.client.get("/metrics").text
    for name in ('rerank_requests_total{status="200"}', "rerank_request_seconds_bucket", "rerank_lists_total"):
        assert name in metrics
    assert server.client.get("/rerank").status_code == 405
    assert server.client.get("/").status_code == 404


def test_processes_that_die(server):
    """One that dies while it works costs no request, unless a second one dies over the same request."""
    before = server.metric("rerank_replaced")
    answer = server.rerank(simple("die"))
    assert (answer.status_code, answer.json()["error"]) == (500, "the process that worked on the request has ended")
    assert server.metric("rerank_replaced") == before + 2
    (idle,) = until(server.workers)
    os.kill(idle, signal.SIGKILL)
    assert server.rerank(SHORT).status_code == 200
    assert server.workers() != [idle]


def test_a_request_whose_process_dies_is_given_to_another_one(server, gate):
    assert server.rerank(SHORT).status_code == 200
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(server.rerank, gate.body)
        until(gate.begun)
        (working,) = server.workers()
        os.kill(working, signal.SIGKILL)
        until(lambda: len(gate.begun()) == 2)
        gate.open()
        assert asked.result().status_code == 200


def test_a_full_queue(serve, gate):
    """One is in work and two wait: the fourth is told to come again, and the others are answered."""
    server = serve("-j", 1, "--max-queue", 2)
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(server.rerank, gate.body) for _ in range(3)]
        until(lambda: server.metric("rerank_waiting") == 2)
        busy = server.rerank(SHORT)
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
        assert busy.json() == {"error": "too many requests wait; try again"}
        assert server.client.get("/health").status_code == 200
        gate.open()
        assert [future.result().status_code for future in asked] == [200] * 3
    assert server.rerank(SHORT).status_code == 200
    assert server.end() == ""


def test_requests_that_take_too_long(serve, gate):
    """They are given up, with the process; half a body is given up as well; and who leaves harms nobody."""
    server = serve("-j", 1, "--timeout", 1)
    late = server.rerank(gate.body)
    assert (late.status_code, late.json()["error"]) == (504, "no answer within 1 s; send fewer or shorter lists")
    until(lambda: server.rerank(SHORT).status_code == 200)
    with socket.create_connection(server.address) as hanging, socket.create_connection(server.address) as leaving:
        hanging.sendall(HEAD % 100 + b"{")
        leaving.sendall(HEAD % 100 + b"{")
        leaving.close()
        until(lambda: server.rerank(SHORT).status_code == 200)
        hanging.settimeout(60)
        assert hanging.recv(1000).startswith(b"HTTP/1.1 408")
    assert server.end() == ""


def test_more_connections_than_there_may_be(serve):
    server = serve("-j", 1, "--max-connections", 3)
    with ExitStack() as sockets:
        for _ in range(3):
            sock = sockets.enter_context(socket.create_connection(server.address))
            sock.sendall(b"GET /health HTTP/1.1\r\n")
        until(lambda: server.client.get("/health").status_code == 503)
    until(lambda: server.rerank(SHORT).status_code == 200)
    assert server.end() == ""


def test_a_token(serve):
    server = serve("-j", 1, RERANK_TOKEN="secret")
    assert server.client.get("/health").status_code == 200
    assert server.rerank(SHORT).status_code == server.client.get("/metrics").status_code == 401
    assert server.rerank(SHORT, headers={"Authorization": "Bearer other"}).status_code == 401
    assert server.rerank(SHORT, headers={"Authorization": "Bearer secret"}).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_all_processes_lets_requests_finish(serve, gate, number):
    """As when a terminal closes: those in work, that wait, or have half a body are answered; no process is left."""
    server = serve("-j", 2)
    pids = server.processes()
    assert len(server.workers()) == 2
    with ThreadPoolExecutor(5) as threads, socket.create_connection(server.address) as half:
        asked = [threads.submit(server.rerank, gate.body) for _ in range(5)]
        until(lambda: len(gate.begun()) == 2)
        until(lambda: server.metric("rerank_waiting") == 3)
        body = json.dumps(SHORT).encode()
        half.sendall((HEAD % len(body)).replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert half.recv(1000).startswith(b"HTTP/1.1 100 ")
        half.sendall(body[:9])
        for pid in (*pids, server.process.pid):
            os.kill(pid, number)
        until(lambda: not accepts(server.address))
        half.sendall(body[9:])
        gate.open()
        assert [future.result().status_code for future in asked] == [200] * 5
        answered = b"".join(iter(lambda: half.recv(1000), b""))
        assert answered.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close" in answered
    assert server.process.wait(60) == 0
    until(lambda: not any(map(is_there, pids)))
    log = server.end()
    assert log == "" or number == signal.SIGHUP  # by which the tracker of multiprocessing's resources ends, and says so


def accepts(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address).close()
    except OSError:
        return False
    return True


def test_processes_end_with_a_server_that_is_killed(serve):
    server = serve("-j", 2)
    pids = server.processes()
    server.process.kill()
    until(lambda: not any(map(is_there, pids)))


def test_a_server_whose_log_nobody_reads_goes_on(serve):
    server = serve("-j", 1)
    server.process.stderr.close()
    assert server.rerank(simple("fail")).status_code == 500  # which writes to the log
    assert server.rerank(SHORT).status_code == 200
    server.client.close()
    server.process.terminate()
    assert server.process.wait(60) == 0
    server.process.stdin.close()
    server.process.stdout.close()


def test_the_body_of_an_answer_does_not_wait_for_the_client():
    with listening_at("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_what_the_command_refuses(tmp_path):
    assert "no such file" in refused("serve", "-w", tmp_path / "w.toml")
    (tmp_path / "w.toml").write_text("[dense]\nx = 1\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen at 127.0.0.1, port {port}" in refused("serve", "-w", tmp_path / "w.toml", "--port", port)
    (tmp_path / "w.toml").write_text('[dense]\nx = 1\n[provenance.job]\nfeature = [{use = "nothing"}]\n')
    assert "nothing" in refused("serve", "-w", tmp_path / "w.toml")
