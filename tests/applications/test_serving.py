"""`rerank serve`: a real server, with a feature that can be slow, die or fail, and small limits."""

import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rerank_adapters.applications.serving.bodies import Limits, Request
from rerank_adapters.applications.serving.pool import Serving
from tests.command_line import refused, start

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
pytest.importorskip("prometheus_client")

PLUGIN = """
import os, time
from dataclasses import dataclass
import numpy as np
from rerank_plugins import FeatureExtractor, hookimpl

@dataclass
class Odd(FeatureExtractor):
    'The number of characters; some texts are trouble.'
    def extract(self, nbest):
        for text in nbest.texts:
            if text.startswith("sleep"):
                time.sleep(float(text.split()[1]))
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
LIMITS = [
    "--max-body",
    20_000,
    "--max-lists",
    3,
    "--max-hypotheses",
    5,
    "--max-words",
    9,
    "--timeout",
    2,
    "--max-queue",
    2,
]
SHORT = {"hypotheses": [{"text": "a", "features": {"LM0": 1}}, {"text": "bbb", "features": {"LM0": 0.5}}]}
MOSES = "7 ||| a ||| LM0= 0.5\n7 ||| bbb ||| LM0= 0.5\n8 ||| x ||| LM0= 1\n8 ||| yyy ||| LM0= 0\n"


class Server:
    def __init__(self, folder: Path, *flags: object, **environment: str) -> None:
        (folder / "odd.py").write_text(PLUGIN)
        (folder / "w.toml").write_text(WEIGHTS)
        before = {key: os.environ.get(key) for key in environment}
        os.environ.update(environment)
        try:
            self.process = start("serve", "-w", folder / "w.toml", "--port", 0, *flags)
        finally:
            for key, value in before.items():
                os.environ.pop(key) if value is None else os.environ.update({key: value})
        line = self.process.stderr.readline().decode()
        if "serving at http://127.0.0.1:" not in line:
            self.process.kill()
            pytest.fail(line + self.process.stderr.read().decode())
        self.url = line.split()[3]
        self.client = httpx.Client(base_url=self.url, timeout=30)

    def rerank(self, body: object, **more: object):
        return self.client.post("/rerank", json=body, **more)

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", int(self.url.rpartition(":")[2])

    def end(self) -> str:
        """What it has written to the log since it started; nothing where it has been ended already."""
        if self.process.stderr.closed:
            return ""
        self.client.close()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(30)
        err = self.process.stderr.read().decode()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        return err


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("server"), *LIMITS, "-j", 1)
    yield one
    one.end()


def simple(*texts: str) -> dict[str, object]:
    return {"hypotheses": [{"text": text, "features": {"LM0": 0}} for text in texts]}


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


def test_a_request_without_the_source_that_features_need_is_told_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")  # as the process of a server sets it
    weights = '[dense]\n"lexical-overlap.source" = 1\n[provenance.job]\nfeature = [{use = "lexical-overlap"}]\n'
    (tmp_path / "w.toml").write_text(weights)
    answer = Serving(tmp_path / "w.toml", (), Limits())(Request(b'{"hypotheses": ["a", "b"]}', is_json=True))
    assert answer.status == 422
    assert "give it as `source`" in answer.body.decode()


def test_lists_in_a_format(server):
    text = {"content": MOSES, "headers": {"Content-Type": "text/plain"}}
    assert server.client.post("/rerank?output=lines", **text).text == "bbb\nx\n"
    ranked = server.client.post("/rerank?output=nbest&format=moses", **text).text
    assert ranked.splitlines()[0] == "7 ||| bbb ||| LM0= 0.5 odd= 3 ||| 8"
    body = {"nbest": MOSES, "sources": ["so", "ja"]}
    assert [one["best"] for one in server.rerank(body).json()["lists"]] == ["bbb", "x"]
    assert server.rerank({**body, "sources": ["so"]}).json() == {"error": "1 sources for 2 lists"}
    kaldi = {"content": "7-1 a\n7-2 b\n", "headers": {"Content-Type": "text/plain"}}
    assert "lacks feature" in server.client.post("/rerank?format=kaldi", **kaldi).json()["error"]


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
        (simple("a" * 20_000), 413, "the body has more than 20000 bytes"),
        ({"nbest": "x", "format": "moses"}, 422, "request:1: found 1 column, expected id ||| text"),
        ({"nbest": "x", "format": "../../odd.py"}, 422, "there is no format '../../odd.py'"),
        ({"nbest": "x", "format": "plain,scores=passwd"}, 422, "there is no format 'plain,scores=passwd'"),
        (simple("fail"), 500, "the lists could not be reranked; the reason is in the server's log"),
    ],
)
def test_what_is_refused(server, body, status, message):
    answer = server.rerank(body)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]


def test_a_process_that_dies_is_replaced(server):
    answer = server.rerank(simple("die"))
    assert (answer.status_code, answer.json()["error"]) == (500, "the process that worked on the request has ended")
    after_a_while(server)


def test_a_feature_that_one_hypothesis_lacks(server):
    body = json.loads(json.dumps(SHORT))
    del body["hypotheses"][1]["features"]["LM0"]
    wanted = "hypothesis 2 of segment 0 has no feature 'LM0', which others have"
    assert server.rerank(body).json()["error"] == wanted


def test_damaged_bodies(server):
    """None of them ends a process, and each is answered."""
    whole = json.dumps({"lists": [SHORT, SHORT]}).encode()
    bodies = [whole[:cut] for cut in range(0, len(whole), 9)]
    bodies += [b"[" * 15_000, b'{"hypotheses": ["\\ud800"]}', b"\xff\xfe", b"NaN", b'{"lists": 1e999}', b"\0" * 99]
    before = server.client.get("/metrics").text
    for number, body in enumerate(bodies):
        kind = ("application/json", "text/plain")[number % 2] if number < len(bodies) - 6 else "application/json"
        answer = server.client.post("/rerank", content=body, headers={"Content-Type": kind})
        assert answer.status_code == 422, (body, answer.text)
        assert answer.json()["error"]
    assert replaced(before) == replaced(server.client.get("/metrics").text)


def replaced(metrics: str) -> float:
    return float(next(line for line in metrics.splitlines() if line.startswith("rerank_replaced ")).split()[1])


@pytest.mark.slow
def test_slow_requests_and_a_full_queue(server):
    """One is in work and two wait: the fourth is told to come again, and the slow ones are given up."""
    with ThreadPoolExecutor(4) as threads:
        slow = [threads.submit(server.rerank, simple("sleep 60")) for _ in range(3)]
        until = time.monotonic() + 20
        while "rerank_waiting 2.0" not in server.client.get("/metrics").text and time.monotonic() < until:
            time.sleep(0.02)
        busy = server.rerank(SHORT)
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
        answers = [future.result() for future in slow]
    assert [answer.status_code for answer in answers] == [504] * 3
    assert answers[0].json()["error"].startswith("no answer within 2 s")
    assert after_a_while(server).json()["lists"][0]["best"] == "a"
    assert replaced(server.client.get("/metrics").text) >= 1


def after_a_while(server):
    """The answer to a request when the process that was replaced has started."""
    until = time.monotonic() + 60
    while (answer := server.rerank(SHORT)).status_code != 200 and time.monotonic() < until:
        time.sleep(0.1)
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.slow
def test_clients_that_hang_or_leave(server):
    """Half a body is given up in time, and who leaves harms nobody."""
    head = b"POST /rerank HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    with socket.create_connection(server.address) as hanging, socket.create_connection(server.address) as leaving:
        hanging.sendall(head)
        leaving.sendall(head)
        leaving.close()
        assert after_a_while(server).status_code == 200
        hanging.settimeout(20)
        assert hanging.recv(1000).startswith(b"HTTP/1.1 408")


def test_health_and_metrics(server):
    after_a_while(server)
    assert server.client.get("/health").json() == {"status": "ok", "processes": 1}
    metrics = server.client.get("/metrics").text
    for name in ('rerank_requests_total{status="200"}', "rerank_request_seconds_bucket", "rerank_lists_total"):
        assert name in metrics
    assert server.client.get("/rerank").status_code == 405
    assert server.client.get("/").status_code == 404


@pytest.mark.slow
def test_a_token_and_a_graceful_stop(tmp_path):
    """A stop finishes the request in work, and refuses new ones; no process is left."""
    server = Server(tmp_path, "-j", 1, "--timeout", 20, RERANK_TOKEN="secret")
    try:
        assert server.client.get("/health").status_code == 200
        assert server.rerank(SHORT).status_code == server.client.get("/metrics").status_code == 401
        bearer = {"headers": {"Authorization": "Bearer secret"}}
        assert server.rerank(SHORT, **bearer).status_code == 200
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
        answers: list[object] = []
        asking = threading.Thread(target=lambda: answers.append(server.rerank(simple("sleep 1.5", "a"), **bearer)))
        asking.start()
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        asking.join(30)
        assert answers[0].json()["lists"][0]["best"] == "sleep 1.5"
        assert server.process.wait(30) == 0
        assert children
        assert not any(Path(f"/proc/{child}").exists() for child in children)
    finally:
        assert server.end() == ""


def test_what_the_command_refuses(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")  # as the command itself does, in this process
    assert "no such file" in refused("serve", "-w", tmp_path / "w.toml")
    (tmp_path / "w.toml").write_text("[dense]\nx = 1\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen at 127.0.0.1, port {port}" in refused("serve", "-w", tmp_path / "w.toml", "--port", port)


@pytest.mark.slow
def test_half_a_request_is_dropped_and_a_slow_answer_is_not(monkeypatch):
    import asyncio

    import uvicorn
    from uvicorn.server import ServerState

    from rerank_adapters.applications.serving import connections as module

    monkeypatch.setattr(module, "HEADERS", 0.1)

    async def slow(scope, receive, send):
        await asyncio.sleep(0.5)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def ask(head: bytes) -> bytes:
        config = uvicorn.Config(slow, ws="none", lifespan="off", log_config=None)
        config.load()
        state = ServerState()
        protocol = module.protocol_for(module.Connections(9, slow))
        listening = await asyncio.get_running_loop().create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
        async with listening:
            reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
            writer.write(head)
            try:
                return await asyncio.wait_for(reader.read(), 20)
            except ConnectionResetError:
                return b""
            finally:
                writer.close()
                assert not state.connections

    assert asyncio.run(ask(b"POST /rerank HTTP/1.1\r\nHo")) == b""
    assert asyncio.run(ask(b"")) == b""
    assert asyncio.run(ask(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")).endswith(b"ok")


@pytest.mark.slow
def test_the_body_of_an_answer_does_not_wait_for_the_client():
    from rerank_adapters.applications.serving.connections import bound

    with bound("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
