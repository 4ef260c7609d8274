"""Runs the process that holds the connections: it binds the port, and finishes begun requests before it stops."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from rerank_adapters.applications.serving.application import Application
from rerank_adapters.applications.serving.limits import Limits
from rerank_adapters.applications.serving.pool import Pool
from rerank_plugins import ConfigError

IDLE = 5  # seconds after which a connection without requests is closed
HEADERS = 10.0  # seconds within which the headers of a request must come, and a response that was sent be taken
SPARE = 5.0  # seconds beyond the time of a request that a stop waits for


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
