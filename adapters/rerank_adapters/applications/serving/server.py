"""The server: uvicorn with limits, behind a reverse proxy. It finishes the requests that have begun before it stops."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
from collections.abc import MutableMapping
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn

from rerank_adapters.applications.serving.worker import say
from rerank_adapters.features.processes import ENDING
from rerank_adapters.runtime.progress import FIRST_USE
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.applications.serving.application import Application

IDLE_SECONDS = 5  # seconds after which a connection without requests is closed
MAX_HEAD_BYTES = 16_384  # bytes of the head of a request
SPARE_SECONDS = 5.0  # seconds beyond the time of a request that a stop waits for


def listening_at(host: str, port: int) -> socket.socket:
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


def serve(listening: socket.socket, application: Application, connections: int) -> None:
    """Serve until a signal to stop, and then finish the requests that have begun."""

    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        """The application; while the server stops, each answer ends its connection, which may be a new one."""

        async def send_last(message: MutableMapping[str, Any]) -> None:
            if server.should_exit and message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        await application.asgi(scope, receive, send_last)

    config = uvicorn.Config(
        asgi, http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None, log_level="error",
        access_log=False, server_header=False, proxy_headers=False, limit_concurrency=connections + 1,
        timeout_keep_alive=IDLE_SECONDS, h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_graceful_shutdown=math.ceil(application.seconds + SPARE_SECONDS),
    )  # fmt: skip
    server = uvicorn.Server(config)
    asyncio.run(_serve(server, application, listening))


async def _serve(server: uvicorn.Server, application: Application, listening: socket.socket) -> None:
    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- the arguments of a signal handler
        server.should_exit = True

    pool = application.pool
    try:
        say(f"rerank: loading the models in {pool.processes} processes; {FIRST_USE}")
        await pool.start()
        for number in ENDING:  # uvicorn handles two of them, and raises these again when it has stopped
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
                signal.signal(number, stop)
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        say(f"rerank: serving at http://{shown}:{port} with {pool.processes} processes")
        await server.serve(sockets=[listening])
    finally:
        pool.stop()
