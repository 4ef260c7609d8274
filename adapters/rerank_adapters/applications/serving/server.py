"""The web application (POST /rerank, GET /health, GET /metrics), and the server that runs it.

The server finishes requests that have begun before it stops.
"""

from __future__ import annotations

import asyncio
import hmac
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rerank_adapters.applications.serving.connections import BACKLOG, IDLE, Connections, protocol_for
from rerank_adapters.applications.serving.log import say

if TYPE_CHECKING:
    from rerank_adapters.applications.serving.bodies import Limits
    from rerank_adapters.applications.serving.pool import Pool

BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # seconds
RETRY = {"Retry-After": "1"}
READ_ON = 4  # times the largest body: what is beyond that is cut off
CLOSE = {"Connection": "close"}
SILENCE = 60.0  # seconds between two lines about the same fault
MOST_FAULTS = 1000  # different lines about faults
SPARE = 5.0  # seconds beyond the time of a request that a stop waits for


class BodyMemory:
    """The bytes of all bodies that are being received or wait for an answer, of which there may be `most`."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0

    @contextmanager
    def share(self) -> Iterator[Callable[[int], None]]:
        """In the block, call what this yields with the size of each part of a body.

        The call raises HTTPException where there is no room for the part.
        """
        own = 0

        def take(size: int) -> None:
            nonlocal own
            if self.held + size > self.most:
                raise HTTPException(503, "too many bodies are being received; try again", {**RETRY, **CLOSE})
            own += size
            self.held += size

        try:
            yield take
        finally:
            self.held -= own


class Application:
    """The routes of a server with their metrics; `token` is what requests must bear, or empty.

    `refusing` is the application of connections beyond those that there may be.
    """

    def __init__(self, pool: Pool, limits: Limits, token: str = "") -> None:
        self.pool, self.limits, self._token = pool, limits, token.encode()
        self.connections = Connections(limits.connections, self.refusing)
        self.bodies = BodyMemory(limits.body * (limits.waiting + pool.processes))
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "rerank_requests", "Requests to rerank, by status.", ["status"], registry=self.registry
        )
        self._seconds = Histogram("rerank_request_seconds", "Time from the first byte of a request to its answer.",
                                  buckets=BUCKETS, registry=self.registry)  # fmt: skip
        self._lists = Counter("rerank_lists", "Lists that were reranked.", registry=self.registry)
        self._hypotheses = Counter("rerank_hypotheses", "Hypotheses of these lists.", registry=self.registry)
        for name, text, value in (
            ("rerank_waiting", "Requests that wait for a process.", lambda: pool.waiting),
            ("rerank_busy", "Processes at work or being started.", lambda: pool.busy),
            ("rerank_replaced", "Processes that were replaced, since they died or exceeded their time.",
             lambda: pool.replaced),
            ("rerank_retried", "Requests that were given to a second process, since the first one died.",
             lambda: pool.retried),
            ("rerank_connections", "Open connections.", lambda: len(self.connections)),
            ("rerank_dropped", "Connections that were ended, in favour of others or since their clients hung.",
             lambda: self.connections.dropped),
            ("rerank_held_bytes", "Bytes of the bodies of requests that are being received or wait.",
             lambda: self.bodies.held),
        ):  # fmt: skip
            Gauge(name, text, registry=self.registry).set_function(value)
        ProcessCollector(registry=self.registry)
        self.asgi = Starlette(
            routes=[
                Route("/rerank", self.rerank, methods=["POST"]),
                Route("/health", self.health),
                Route("/metrics", self.metrics),
            ],
            exception_handlers={HTTPException: _in_json},
        )

    async def refusing(self, scope: Any, receive: Any, send: Any) -> None:
        """The application where all connections have a request in work: /health alone is answered."""
        if scope["path"] == "/health":
            await self.asgi(scope, receive, send)
            return
        self._requests.labels("503").inc()
        refusal = HTTPException(503, "too many connections are open; try again", {**RETRY, **CLOSE})
        await (await _in_json(HttpRequest(scope), refusal))(scope, receive, send)

    async def health(self, request: HttpRequest) -> Response:  # noqa: ARG002
        """200 while a process can answer, 503 otherwise."""
        alive = self.pool.alive
        state = {"status": "ok" if alive else "starting", "processes": alive}
        return JSONResponse(state, 200 if alive else 503)

    async def metrics(self, request: HttpRequest) -> Response:
        """The metrics in Prometheus's text format."""
        self._check_token(request)
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)

    async def rerank(self, request: HttpRequest) -> Response:
        """Rerank the lists of the body."""
        started = time.monotonic()
        status = 499  # the client has gone
        try:
            response = await self._reranked(request)
            status = response.status_code
            return response
        except HTTPException as error:
            status = error.status_code
            raise
        finally:
            self._requests.labels(str(status)).inc()
            self._seconds.observe(time.monotonic() - started)

    async def _reranked(self, request: HttpRequest) -> Response:
        from rerank_adapters.applications.serving.bodies import Request
        from rerank_adapters.applications.serving.pool import Died, Full

        self._check_token(request)
        until = time.monotonic() + self.limits.seconds
        media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        query = request.query_params
        try:
            with self.bodies.share() as take:
                body = await self._body(request, take)
                is_json = media_type == "application/json"
                task = Request(body, is_json, query.get("format", ""), query.get("output", "json"))
                answer = await self.pool.answer(task, until - time.monotonic())
        except Full:
            message = "too many requests wait; try again"
            raise HTTPException(503, message, RETRY) from None
        except TimeoutError:
            raise HTTPException(
                504, f"no answer within {self.limits.seconds:g} s; send fewer or shorter lists"
            ) from None
        except Died:
            raise HTTPException(500, "the process that worked on the request has ended") from None
        self._lists.inc(answer.lists)
        self._hypotheses.inc(answer.hypotheses)
        return Response(answer.body, answer.status, media_type=answer.media_type)

    async def _body(self, request: HttpRequest, take: Callable[[int], None]) -> bytes:
        """The body, which must come in time and keep to its limit; `take` is called with the size of each part.

        One that is a little too large is read to its end and forgotten, since a client may look for the answer only
        when it has sent everything.
        """
        length, most = request.headers.get("content-length", "0"), self.limits.body
        too_large = HTTPException(413, f"the body has more than {most} bytes", CLOSE)
        announced = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    size += len(part)
                    if max(size, announced) > READ_ON * most:
                        break
                    if max(size, announced) <= most:
                        take(len(part))
                        parts.append(part)
        except TimeoutError:
            raise HTTPException(408, f"the body did not arrive within {self.limits.seconds:g} s", CLOSE) from None
        except ClientDisconnect:
            raise HTTPException(499, "the client has gone", CLOSE) from None
        if max(size, announced) > most:
            raise too_large
        return b"".join(parts)

    def _check_token(self, request: HttpRequest) -> None:
        if self._token:
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
                raise HTTPException(401, "wanted Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer", **CLOSE})


async def _in_json(request: HttpRequest, error: Exception) -> Response:  # noqa: ARG001
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


class _Server(uvicorn.Server):
    """A server whose signals are handled by `serve`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield


def serve(listening: socket.socket, pool: Pool, limits: Limits, token: str) -> None:
    """Serve until a signal to stop, and then finish the requests that have begun; a second signal ends them."""
    application = Application(pool, limits, token)
    config: dict[str, Any] = {
        "http": protocol_for(application.connections),
        "ws": "none",
        "lifespan": "off",
        "loop": "asyncio",
        "log_config": None,
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "backlog": BACKLOG,
        "timeout_keep_alive": IDLE,
        "timeout_graceful_shutdown": int(limits.seconds + SPARE),
    }
    server = _Server(uvicorn.Config(application.asgi, **config))
    asyncio.run(_serve(server, pool, listening))


async def _serve(server: uvicorn.Server, pool: Pool, listening: socket.socket) -> None:
    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_Faults())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
            loop.add_signal_handler(number, stop)
    await pool.load()
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    say(f"rerank: serving at http://{shown}:{port} with {pool.processes} processes")
    await server.serve(sockets=[listening])


class _Faults:
    """Writes a line about what fails outside of requests; the same line at most once in a while."""

    def __init__(self) -> None:
        self._said: dict[str, float] = {}

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        message = context["message"] + (f" ({type(error).__name__}: {error})" if error is not None else "")
        if loop.time() - self._said.get(message, -SILENCE) >= SILENCE and len(self._said) < MOST_FAULTS:
            self._said[message] = loop.time()
            say(f"rerank: {message}")
