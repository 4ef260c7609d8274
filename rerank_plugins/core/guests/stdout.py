"""Keeps stdout for the data of commands: what a guest writes to it goes to stderr.

While a guest runs, `sys.stdout` is an object that asks, at each use, which thread uses it: a thread that is inside a
guest gets stderr, and every other thread gets stdout. Another thread may thus write data meanwhile. In a command
(`kept_for_data`), only its own thread writes data, so that stdout is stderr in all other threads too, and the
descriptor 1 is that of stderr while this thread is inside a guest: native code and programs write there as well.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import TracebackType
from typing import Any

STDOUT, STDERR = 1, 2  # file descriptors


class _Shared:
    """What all threads share."""

    lock = threading.Lock()
    guests = 0  # how many threads, but for that of the command, are inside a guest
    command: int | None = None  # the thread of the command that has stdout to itself


class _Here(threading.local):
    """What each thread has: how many calls of guests it is in, and where descriptor 1 led before the first.

    `counted` is whether the thread is one of `_Shared.guests`.
    """

    depth = 0
    counted = False
    saved: int | None = None


_here = _Here()


def _belongs_to_guest() -> bool:
    """Whether what this thread writes now is a guest's."""
    return _here.depth > 0 or _Shared.command not in (None, threading.get_ident())


class DividedStdout:
    """Stdout for the program, and stderr for guests."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr if _belongs_to_guest() else self.data, name)


class Inside:
    """In the block, this thread is inside a guest. Blocks may be nested.

    Without `native`, as for methods that are called for each word, the descriptor 1 stays as it is.
    """

    __slots__ = ("native",)

    def __init__(self, *, native: bool = True) -> None:
        self.native = native

    def __enter__(self) -> None:
        _here.depth += 1
        if _here.depth > 1:
            return
        if _Shared.command != threading.get_ident():
            with _Shared.lock:
                _Shared.guests += 1
                _divided()
            _here.counted = True
            return
        if type(sys.stdout) is not DividedStdout:
            with _Shared.lock:
                _divided()
        if self.native:
            _here.saved = _redirect()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        _here.depth -= 1
        if _here.depth:
            return
        if _here.saved is not None:
            _restore(_here.saved)
            _here.saved = None
        if _here.counted:
            _here.counted = False
            with _Shared.lock:
                _Shared.guests -= 1
                if not _Shared.guests and _Shared.command is None:
                    _undivided()


def _divided() -> None:
    if not isinstance(sys.stdout, DividedStdout):
        sys.stdout = DividedStdout(sys.stdout)


def _undivided() -> None:
    if isinstance(sys.stdout, DividedStdout):
        sys.stdout = sys.stdout.data


@contextmanager
def kept_for_data() -> Iterator[None]:
    """In the block, which a command runs in, stdout has the data that this thread writes, and nothing else."""
    before, _Shared.command = _Shared.command, threading.get_ident()
    try:
        yield
    finally:
        _Shared.command = before
        if before is None:
            _undivided()


def none_for_data() -> None:
    """From now on, all that this process writes to stdout goes to stderr, as in worker processes."""
    sys.stdout = sys.stderr
    with suppress(OSError):
        os.dup2(STDERR, STDOUT)


def _redirect() -> int | None:
    """Let descriptor 1 lead to stderr, and return a copy of where it led; None where one of the two is closed."""
    try:
        saved = os.dup(STDOUT)
    except OSError:
        return None
    try:
        os.dup2(STDERR, STDOUT)
    except OSError:
        os.close(saved)
        return None
    return saved


def _restore(saved: int) -> None:
    """Let descriptor 1 lead where it did, after what native code has not written yet is written."""
    with suppress(Exception):  # a platform without this C library
        _native_flush()(None)
    os.dup2(saved, STDOUT)
    os.close(saved)


@cache
def _native_flush() -> Callable[[None], int]:
    """The function of C that writes what a stream, or all of them (None), have not written yet."""
    import ctypes

    function: Callable[[None], int] = ctypes.CDLL(None).fflush
    return function
