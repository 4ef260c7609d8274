"""The web application (POST /rerank, GET /health, GET /metrics) and the server that holds the connections.

The server finishes requests that have begun before it stops.
"""

from __future__ import annotations

import asyncio
import hmac
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import uvicorn
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.applications.serving.bodies import Limits
    from rerank_adapters.applications.serving.pool import Pool

BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # seconds
RETRY = {"Retry-After": "1"}
READ_ON = 4  # times the largest body: what is beyond that is cut off
CLOSE = {"Connection": "close"}
IDLE = 5  # seconds after which a connection without requests is closed
HEADERS = 10.0  # seconds within which the headers of a request must come, and a response that was sent be taken
SPARE = 5.0  # seconds beyond the time of a request that a stop waits for


class Application:
    """The routes of a server with their metrics; `token` is what requests must bear, or empty."""

    def __init__(self, pool: Pool, limits: Limits, token: str = "") -> None:
        self.pool, self.limits, self._token = pool, limits, token.encode()
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
        body = await self._body(request)
        task = Request(body, media_type == "application/json", query.get("format", ""), query.get("output", "json"))
        try:
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

    async def _body(self, request: HttpRequest) -> bytes:
        """The body, which must come in time and keep to its limit.

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


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 for clients that may hang: a connection with half a request, or with an answer unread, is dropped."""

    _timer: asyncio.TimerHandle | None = None
    _seen: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to check the connection at intervals."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEADERS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop checking the connection."""
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        """Drop the connection if it waited for the same thing when this was last called, with no request in work."""
        at_work = self.cycle is not None and not self.cycle.response_complete
        state = None if at_work else (self.cycle, self.transport.get_write_buffer_size())
        if state is not None and (state == self._seen or self.transport.is_closing()):
            self.transport.abort()
            return
        self._seen = state
        self._timer = self.loop.call_later(HEADERS, self._look)


class _Server(uvicorn.Server):
    """A server whose signals are handled by `serve`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at the address. Raises ConfigError where that is not possible."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address, family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]
        raise ConfigError(f"cannot listen at {host}, port {port}: {reason}") from None
    # Accepted connections inherit it: the body of an answer does not wait until the client has acknowledged the head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def serve(listening: socket.socket, pool: Pool, limits: Limits, token: str) -> None:
    """Serve until SIGINT or SIGTERM, and then finish the requests that have begun; a second signal ends them."""
    application = Application(pool, limits, token)
    config: dict[str, Any] = {
        "http": ImpatientProtocol,
        "ws": "none",
        "lifespan": "off",
        "loop": "asyncio",
        "log_config": None,
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "limit_concurrency": limits.connections,
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
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    await pool.load()
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"rerank: serving at http://{shown}:{port} with {pool.processes} processes", err=True)
    await server.serve(sockets=[listening])
