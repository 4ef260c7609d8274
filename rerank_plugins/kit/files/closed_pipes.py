"""Output for a reader that has gone away, as `head` does."""

from __future__ import annotations

import os
import sys


def drop_unread() -> None:
    """Discard what is buffered for a reader that has gone away, so that later flushes succeed, the interpreter's too.

    Where stdout or stderr still has a reader, it stays as it is.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, stream.fileno())
            os.close(sink)
            stream.flush()
