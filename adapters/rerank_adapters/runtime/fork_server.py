"""A process that does nothing but fork workers, for programs that have threads and still want forks.

It is a fork of the program, made before that has a thread, with the program's loaded models and compiled kernels. Each
worker that it forks later shares them as well, whereas a worker started by `spawn` loads its own. The program asks for
workers over a socket, along which the worker's end of its pipe travels (SCM_RIGHTS). The workers end with this process,
and this process ends with the program.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from rerank_adapters.runtime.worker_process import end_with, serve_fork
from rerank_plugins import RerankError

ORDER = struct.Struct("=cid")  # what is to be done, the process with which, and the seconds that it may take
REPLY = struct.Struct("=i")
FORK, KILL, WAIT = b"f", b"k", b"w"
RUNNING = 1 << 16  # in the place of an exit code
POLL = 0.01  # seconds between two looks at a process that is waited for


class ForkServer:
    """A process that forks workers for `work`. It may only be started where a fork is safe (`workers.may_fork`)."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        """Fork the process now."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        context = multiprocessing.get_context("fork")
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs, self._socket, os.getpid(), work))
        self._lock = threading.Lock()
        self._process.start()
        theirs.close()

    @property
    def alive(self) -> bool:
        """Whether it can still fork workers."""
        return self._process.is_alive()

    def worker(self) -> tuple[ForkedWorker, Connection[Any, Any]]:
        """A new worker, and the connection over which it takes items. Raises RerankError where none can be forked."""
        ours, theirs = multiprocessing.Pipe()
        with theirs:
            number = self.ask(FORK, 0, 0.0, theirs.fileno())
        if number <= 0:
            ours.close()
            raise RerankError(f"no worker process can be started: {os.strerror(-number)}")
        return ForkedWorker(self, number), ours

    def ask(self, what: bytes, process: int, seconds: float, *descriptors: int) -> int:
        """The reply to an order; -ESRCH where the process that forks has ended."""
        with self._lock:
            try:
                socket.send_fds(self._socket, [ORDER.pack(what, process, seconds)], descriptors)
                reply = self._socket.recv(REPLY.size)
            except OSError:
                reply = b""
        return int(REPLY.unpack(reply)[0]) if reply else -errno.ESRCH

    def stop(self) -> None:
        """End the process, and with it its workers."""
        self._process.kill()
        self._process.join()
        self._socket.close()


class ForkedWorker:
    """A worker that a ForkServer has forked: what of a `multiprocessing` process its owner needs."""

    def __init__(self, server: ForkServer, number: int) -> None:
        self._server, self.pid = server, number
        self.exitcode: int | None = None

    def kill(self) -> None:
        """End the process at once."""
        if self.exitcode is None:
            self._server.ask(KILL, self.pid, 0.0)

    def join(self, seconds: float = 5.0) -> None:
        """Wait until the process has ended, at most this long; `exitcode` is set then, negative for a signal."""
        if self.exitcode is None:
            code = self._server.ask(WAIT, self.pid, seconds)
            self.exitcode = None if code == RUNNING else code


def _serve(orders: socket.socket, other: socket.socket, parent: int, work: Callable[[Any], Any]) -> NoReturn:
    """The main function of the process: obey orders until the program ends."""
    other.close()
    end_with(parent, thread=False)  # a fork copies this thread alone
    with suppress(OSError):
        while True:
            order, descriptors, _, _ = socket.recv_fds(orders, ORDER.size, 1)
            if not order:
                break
            what, process, seconds = ORDER.unpack(order)
            if what == FORK:
                reply = _fork(orders, descriptors[0], work)
            elif what == KILL:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                reply = 0
            else:
                reply = _wait(process, seconds)
            orders.send(REPLY.pack(reply))
    os._exit(0)


def _fork(orders: socket.socket, descriptor: int, work: Callable[[Any], Any]) -> int:
    """The number of a new worker, or minus the number of the error."""
    parent = os.getpid()
    connection: Connection[Any, Any] = Connection(descriptor)
    try:
        process = os.fork()
    except OSError as error:
        return -(error.errno or 1)
    finally:
        if os.getpid() == parent:
            connection.close()
    if process:
        return process
    try:
        orders.close()
        serve_fork(connection, parent, work, ())
    finally:
        os._exit(0)


def _wait(process: int, seconds: float) -> int:
    """The exit code of a process, negative for a signal; RUNNING where it has not ended in time."""
    until = time.monotonic() + seconds
    while True:
        try:
            number, status = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:
            return -signal.SIGKILL
        if number:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return RUNNING
        time.sleep(POLL)
