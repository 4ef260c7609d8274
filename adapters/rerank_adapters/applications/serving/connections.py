"""The sockets of a server: how many there may be, and how long each may keep the server waiting.

A server cannot know who will ever ask it something, so it lets everybody connect. Where there are as many connections
as there may be, a new one takes the place of the one that has waited longest for its client: that has sent no request,
or not all of it, or has not taken its answer. A connection whose request is in work is never dropped. Only where all of
them have a request in work is a new connection told so: it may ask for /health, and gets 503 for everything else.

A client has ten seconds to send the head of a request, and ten seconds, with more for a large answer, to take what was
sent. Who sends a request before the last one is answered (pipelining) gets that answer and no other, and the connection
ends; otherwise one connection could queue any number of requests, and never read.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from rerank_adapters.applications.serving.log import say
from rerank_plugins import ConfigError

Asgi = Callable[..., Any]
IDLE = 5  # seconds after which a connection without requests is closed
HEADERS = 10.0  # seconds within which the headers of a request must come, and an answer must begin to be taken
RATE = 50_000  # bytes a second that a client must take of a large answer
BACKLOG = 64  # connections that the system keeps until they are accepted, and that are accepted at once
BEYOND = 32  # connections more than there may be, which are told so
OTHER_FILES = 64  # files of the process that are no connections: models, pipes, libraries
FILES_PER_WORKER = 4


class Connections:
    """All connections of a server, those that have waited longest first; at most `most`, as far as that depends on us.

    `refusing` is the application for connections beyond that while every other one has a request in work.
    """

    def __init__(self, most: int, refusing: Asgi) -> None:
        self.most, self._refusing = most, refusing
        self._by_age: OrderedDict[TimeoutProtocol, None] = OrderedDict()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._by_age)

    def admit(self, new: TimeoutProtocol) -> None:
        """Take a new connection, and drop another one, or the new one, where there are too many."""
        if len(self) >= self.most:
            waiting = next((old for old in self._by_age if not old.at_work), None)
            if waiting is not None:
                self.drop(waiting)
            elif len(self) >= self.most + BEYOND:
                self.drop(new)
                return
            else:
                new.app = self._refusing
        self._by_age[new] = None

    def drop(self, connection: TimeoutProtocol) -> None:
        """End a connection at once."""
        self.dropped += 1
        self.leave(connection)
        connection.transport.abort()

    def leave(self, connection: TimeoutProtocol) -> None:
        """Forget a connection that has ended."""
        self._by_age.pop(connection, None)

    def answered(self, connection: TimeoutProtocol) -> None:
        """A connection has its answer: from now on it waits for its client again."""
        if connection in self._by_age:
            self._by_age.move_to_end(connection)


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 for clients that may hang, or send and never read."""

    sockets: Connections  # of the server; a class of its own for each server has it (`protocol_for`)
    _timer: asyncio.TimerHandle | None = None
    _seen: object = None
    _paused: asyncio.TimerHandle | None = None

    @property
    def at_work(self) -> bool:
        """Whether a whole request of this connection is in work, with an answer that has not begun to be sent."""
        cycle = self.cycle
        return cycle is not None and not (cycle.response_complete or cycle.response_started or cycle.more_body)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Find a place for the connection, and begin to check it at intervals."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEADERS, self._look)
        self.sockets.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop checking the connection."""
        super().connection_lost(exc)
        self.sockets.leave(self)
        for timer in (self._timer, self._paused):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; where another one follows before the answer, that answer is the last one."""
        super().data_received(data)
        if self.at_work and self.conn.trailing_data[0]:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Begin to wait for the client."""
        self.sockets.answered(self)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Give the client time to take what is waiting to be sent."""
        super().pause_writing()
        if self._paused is None:
            seconds = HEADERS + self.transport.get_write_buffer_size() / RATE
            self._paused = self.loop.call_later(seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        if self._paused is not None:
            self._paused.cancel()
            self._paused = None

    def _look(self) -> None:
        """Drop the connection if it waited for the same thing when this was last called, with no request in work."""
        receiving = self.cycle is not None and not self.cycle.response_complete
        state = None if receiving else (self.cycle, self.transport.get_write_buffer_size())
        if state is not None and (state == self._seen or self.transport.is_closing()):
            self.transport.abort()
            return
        self._seen = state
        self._timer = self.loop.call_later(HEADERS, self._look)


def protocol_for(connections: Connections) -> type[TimeoutProtocol]:
    """The protocol of a server with these connections."""
    return type("ServerProtocol", (TimeoutProtocol,), {"sockets": connections})


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at the address. Raises ConfigError where that is not possible."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]
        raise ConfigError(f"cannot listen at {host}, port {port}: {reason}") from None
    # Accepted connections inherit it: the body of an answer does not wait until the client has acknowledged the head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def possible_connections(wanted: int, processes: int) -> int:
    """How many connections the limit of open files allows (`ulimit -n`), which is raised where it may be.

    A line on stderr says so if they are fewer than `wanted`. Raises ConfigError where there is room for none.
    """
    if sys.platform == "win32":
        return wanted
    import resource

    others = BEYOND + 2 * BACKLOG + OTHER_FILES + FILES_PER_WORKER * processes
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted + others:
        soft = wanted + others if hard == resource.RLIM_INFINITY else min(hard, wanted + others)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    possible = wanted if soft == resource.RLIM_INFINITY else min(wanted, soft - others)
    limit = f"the limit of open files (ulimit -n) is {soft}; --max-connections {wanted} wants {wanted + others}"
    if possible < 1:
        raise ConfigError(f"there is no room for connections: {limit}")
    if possible < wanted:
        say(f"rerank: at most {possible} connections: {limit}")
    return possible
