"""`rerank serve` against clients that want to stop it, and against the ends of processes, terminals and disks."""

import json
import os
import resource
import signal
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.applications.test_serving import SHORT, Server, after_a_while, httpx, simple

HEAD = b"POST /rerank HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def request_bytes(body: object) -> bytes:
    content = json.dumps(body).encode()
    return HEAD % len(content) + content


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def workers_of(server: Server) -> list[int]:
    """The processes that rerank: forks of the process that forks."""
    return [worker for child in children(server.process.pid) for worker in children(child)]


@pytest.fixture
def serve(tmp_path):
    """Starts servers, and ends those that the test does not end."""
    with ExitStack() as servers:

        def started(*flags: object) -> Server:
            server = Server(tmp_path, *flags)
            servers.callback(server.end)
            return server

        yield started


def metric(server: Server, name: str) -> float:
    lines = server.client.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).split()[1])


@pytest.mark.slow
def test_idle_connections_do_not_keep_others_out(tmp_path):
    """More clients than places connect and say nothing: everybody else is answered, and the log stays empty."""
    server = Server(tmp_path, "-j", 1, "--max-connections", 64)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        with ExitStack() as sockets:
            for _ in range(150):
                sockets.enter_context(socket.create_connection(server.address))
            for _ in range(5):
                with httpx.Client(base_url=server.url, timeout=5) as client:
                    assert client.get("/health").json() == {"status": "ok", "processes": 1}
                    assert client.post("/rerank", json=SHORT).status_code == 200
            assert metric(server, "rerank_connections") <= 64
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert server.end() == ""


def test_connections_have_room_among_the_open_files(monkeypatch, capsys):
    """The limit of open files is raised as far as it may be; fewer connections than wanted are announced."""
    from rerank_adapters.applications.serving import connections
    from rerank_plugins import ConfigError

    limits = [300, 5000]
    monkeypatch.setattr(resource, "getrlimit", lambda which: tuple(limits))
    monkeypatch.setattr(resource, "setrlimit", lambda which, new: limits.__setitem__(slice(2), new))
    assert connections.possible_connections(512, 2) == 512
    assert limits == [512 + 32 + 128 + 64 + 8, 5000]
    limits[:] = [300, 300]
    assert connections.possible_connections(512, 2) == 300 - 232
    assert capsys.readouterr().err.startswith(
        "rerank: at most 68 connections: the limit of open files (ulimit -n) is 300"
    )
    limits[:] = [200, 200]
    with pytest.raises(ConfigError, match="there is no room for connections"):
        connections.possible_connections(512, 2)


def test_half_requests_do_not_keep_others_out(serve):
    """Of twenty places eighteen have half a request, and the others come and go."""
    server = serve("-j", 1, "--max-connections", 20)
    with ExitStack() as sockets:
        for number in range(30):
            sock = sockets.enter_context(socket.create_connection(server.address))
            sock.sendall((HEAD % 100)[: None if number % 2 else 40])
        statuses = []
        for _ in range(40):
            with httpx.Client(base_url=server.url, timeout=5) as client:
                statuses.append(client.post("/rerank", json=SHORT).status_code)
    assert statuses == [200] * 40
    assert metric(server, "rerank_connections") <= 20


def test_a_client_that_pipelines_gets_one_answer(serve):
    """Who sends many requests at once and reads nothing has one of them done, and loses the connection."""
    server = serve("-j", 1, "--max-connections", 20)
    with ExitStack() as sockets:
        greedy = [sockets.enter_context(socket.create_connection(server.address)) for _ in range(18)]
        for sock in greedy:
            with suppress(OSError):
                sock.sendall(request_bytes(SHORT) * 200)
        statuses = []
        for _ in range(20):
            with httpx.Client(base_url=server.url, timeout=5) as client:
                statuses.append(client.post("/rerank", json=SHORT).status_code)
        assert statuses == [200] * 20
        received = b""
        with suppress(OSError):
            while part := greedy[0].recv(65536):
                received += part
        assert received.count(b"HTTP/1.1 200 OK") <= 1
    assert metric(server, "rerank_lists_total") < 18 * 20


@pytest.mark.slow
def test_health_is_answered_while_every_connection_has_a_request_in_work(serve):
    server = serve("-j", 1, "--max-connections", 3, "--timeout", 20)
    with ExitStack() as sockets:
        for _ in range(3):
            sock = sockets.enter_context(socket.create_connection(server.address))
            sock.sendall(request_bytes(simple("sleep 1.5", "a")))
        time.sleep(0.3)
        with httpx.Client(base_url=server.url, timeout=5) as client:
            assert client.get("/health").json() == {"status": "ok", "processes": 1}
            refusal = client.post("/rerank", json=SHORT)
        assert refusal.status_code == 503
        assert refusal.json() == {"error": "too many connections are open; try again"}


@pytest.mark.slow
def test_an_answer_that_nobody_takes_is_dropped(monkeypatch):
    import asyncio

    import uvicorn
    from uvicorn.server import ServerState

    from rerank_adapters.applications.serving import connections as module

    monkeypatch.setattr(module, "HEADERS", 0.2)
    monkeypatch.setattr(module, "RATE", 1 << 40)

    async def large(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 50_000_000})

    async def ask() -> int:
        config = uvicorn.Config(large, ws="none", lifespan="off", log_config=None)
        config.load()
        state = ServerState()
        protocol = module.protocol_for(module.Connections(9, large))
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
        async with listening:
            _, writer = await asyncio.open_connection(*listening.sockets[0].getsockname(), limit=1)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            until = loop.time() + 20
            await asyncio.sleep(0.1)
            while state.connections and loop.time() < until:
                await asyncio.sleep(0.05)
            writer.close()
            return len(state.connections)

    assert asyncio.run(ask()) == 0


@pytest.mark.slow
def test_bodies_have_a_limit_together(serve):
    """No more bytes of bodies are held than the requests that may wait and the one in work could have."""
    server = serve("-j", 1, "--max-queue", 1, "--max-body", 100_000)
    with ExitStack() as sockets:
        for _ in range(2):
            sock = sockets.enter_context(socket.create_connection(server.address))
            sock.sendall(HEAD % 100_000 + b"x" * 99_900)
        until = time.monotonic() + 10
        while metric(server, "rerank_held_bytes") < 199_000 and time.monotonic() < until:
            time.sleep(0.05)
        refusal = server.client.post("/rerank", content=b"x" * 2000, headers={"Content-Type": "application/json"})
        assert refusal.status_code == 503
        assert refusal.json() == {"error": "too many bodies are being received; try again"}
    until = time.monotonic() + 10
    while server.rerank(SHORT).status_code != 200 and time.monotonic() < until:
        time.sleep(0.05)
    assert metric(server, "rerank_held_bytes") == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_to_the_whole_group_lets_requests_finish(serve, number):
    """As when a terminal closes: the requests in work are answered, the log stays empty, and no process is left."""
    import threading

    server = serve("-j", 2, "--timeout", 20)
    statuses: list[int] = []
    pids = [server.process.pid, *children(server.process.pid), *workers_of(server)]
    assert len(pids) == 4
    asking = [
        threading.Thread(target=lambda: statuses.append(server.rerank(simple("sleep 1", "a")).status_code))
        for _ in range(4)
    ]
    for thread in asking:
        thread.start()
    time.sleep(0.5)
    for pid in pids:
        os.kill(pid, number)
    for thread in asking:
        thread.join(30)
    assert server.process.wait(30) == 0
    assert statuses == [200] * 4
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert server.end() == ""


@pytest.mark.slow
def test_a_process_that_dies_costs_no_request(serve):
    """Neither while it has nothing to do, nor while it works; those that replace it share the models."""
    server = serve("-j", 1)
    (first,) = workers_of(server)
    os.kill(first, signal.SIGKILL)
    time.sleep(0.2)
    assert server.rerank(SHORT).status_code == 200
    (second,) = workers_of(server)
    assert second != first
    import threading

    statuses: list[int] = []
    body = simple("sleep 0.7", "a")
    asking = threading.Thread(target=lambda: statuses.append(server.rerank(body).status_code))
    asking.start()
    time.sleep(0.3)
    os.kill(second, signal.SIGKILL)
    asking.join(20)
    assert statuses == [200]
    assert metric(server, "rerank_replaced") == 2
    assert metric(server, "rerank_retried") == 1
    (third,) = workers_of(server)
    os.kill(third, signal.SIGKILL)
    time.sleep(0.2)
    assert server.client.get("/health").json() == {"status": "starting", "processes": 0}
    after_a_while(server)
    assert server.end() == ""


@pytest.mark.slow
def test_a_server_without_the_process_that_forks_goes_on(serve):
    server = serve("-j", 1)
    (forking,) = children(server.process.pid)
    os.kill(forking, signal.SIGKILL)
    until = time.monotonic() + 60
    while metric(server, "rerank_replaced") == 0 and time.monotonic() < until:  # its worker ends a little later
        server.client.get("/health")
    after_a_while(server)
    assert "no worker process can be started" in server.end()


@pytest.mark.slow
def test_a_request_that_takes_too_long_leaves_the_log_empty(serve):
    server = serve("-j", 1, "--timeout", 0.5)
    assert server.rerank(simple("sleep 5", "a")).status_code == 504
    after_a_while(server)
    assert server.end() == ""


@pytest.mark.slow
def test_a_server_whose_log_nobody_reads_goes_on(tmp_path):
    server = Server(tmp_path, "-j", 1)
    server.process.stderr.close()
    try:
        assert server.rerank(simple("fail")).status_code == 500  # which writes to the log
        assert server.rerank(SHORT).status_code == 200
        server.process.terminate()
        assert server.process.wait(30) == 0
    finally:
        server.client.close()
        server.process.kill()
        server.process.wait()
        server.process.stdin.close()
        server.process.stdout.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("server"), "-j", 1, "--max-characters", 20)
    yield one
    one.end()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'{"hypotheses": [{"text": "a", "score": NaN}]}',
            "hypotheses.0.score: Input should be a finite number, found nan",
        ),
        (b'{"hypotheses": ["a", {"text": "b", "score": "x"}]}', "hypotheses.1.score: Input should be a valid number"),
        (b'{"hypotheses": [{"txt": "a"}]}', "hypotheses.0.text: Field required"),
        (b'{"hypotheses": [3]}', "hypotheses.0: Input should be a text or an object, found 3"),
        (
            b'{"hypotheses": [{"text": "a", "features": {"text": NaN}}]}',
            "hypotheses.0.features.text: Input should be a",
        ),
        (
            b'{"hypotheses": ["aaaaaaaaaaaaaaaaaaaaa"]}',
            "segment 0 has a text of 21 characters; this server takes at most 20",
        ),
    ],
)
def test_what_is_wrong_is_said_of_the_right_thing(server, content, message):
    answer = server.client.post("/rerank", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert message in answer.json()["error"]
