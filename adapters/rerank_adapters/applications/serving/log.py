"""What a server writes to stderr. A server goes on where nobody reads its log, or the disk that takes it is full."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TextIO


class UnfailingLog:
    """A stream that takes what another one refuses, and loses it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text if that is possible."""
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream if that is possible."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def write_without_fail() -> None:
    """Let nothing that this process writes to stderr from now on raise an error."""
    if not isinstance(sys.stderr, UnfailingLog) and sys.stderr is not None:
        sys.stderr = UnfailingLog(sys.stderr)


def say(line: str) -> None:
    """Write a line to stderr."""
    print(line, file=sys.stderr, flush=True)
