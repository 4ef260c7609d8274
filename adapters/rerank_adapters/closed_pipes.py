"""What to do when the reader of our output goes away, as `head` does: nothing more is written, and that is no error."""

from __future__ import annotations

import os
import sys


def drop_unread() -> None:
    """Let what is buffered for a reader that went away go nowhere: later flushes, the interpreter's own too, succeed.

    Stdout and stderr that still have a reader stay as they are.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, stream.fileno())
            os.close(sink)
            stream.flush()
