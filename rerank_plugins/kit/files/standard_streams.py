"""Keeps the stdout of a command for its data, and discards data whose reader has gone away.

A plugin may print, by Python, native code or a program that it starts. While a command runs, descriptor 1 therefore is
that of stderr, as `sys.stdout` is; data goes to a copy of the descriptor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

STDOUT, STDERR = 1, 2  # file descriptors

_data: TextIO | None = None  # the stdout of the command that runs


def data_stream() -> TextIO:
    """The stream of data: the stdout that a command began with, and `sys.stdout` where none runs."""
    return _data or sys.stdout


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """In the block, prints go to stderr, except for data that are written to `data_stream()`."""
    global _data  # noqa: PLW0603
    if _data is not None:
        yield
        return
    stdout, copy = sys.stdout, None
    _data = stdout
    with suppress(OSError):  # a stream without a descriptor, or one that is closed
        if stdout.fileno() == STDOUT:
            stdout.flush()
            copy = os.dup(STDOUT)
            os.dup2(STDERR, STDOUT)
            _data = open(copy, "w", encoding=stdout.encoding, errors=stdout.errors)  # noqa: SIM115 -- closed below
    sys.stdout = sys.stderr
    try:
        yield
        _data.flush()
    finally:
        sys.stdout, data, _data = stdout, _data, None
        if copy is not None:
            os.dup2(copy, STDOUT)
            with suppress(OSError):  # of a reader that has gone away
                data.close()


def send_stdout_to_stderr() -> None:
    """From now on, whatever this process prints goes to stderr, as in worker processes."""
    sys.stdout = sys.stderr
    with suppress(OSError):
        os.dup2(STDERR, STDOUT)


def drop_unread() -> None:
    """Discard output that nobody can read, so that later flushes succeed, the interpreter's too.

    The reader of a pipe has gone away, or the disk is full. A stream that can still be written stays as it is.
    """
    for stream in (data_stream(), sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, stream.fileno())
            os.close(sink)
            stream.flush()
