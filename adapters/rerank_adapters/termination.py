"""How the signals that end a program end this one: as Ctrl-C does, so that nothing is left behind.

A batch system, a service manager, `timeout` and `kill` send SIGTERM; a terminal that is closed sends SIGHUP.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

REPEATED = 1.0  # seconds; `timeout` and others send a signal to the process and to its group


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP came. `code` is the exit code that says so: 128 + the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """In the block, SIGTERM and SIGHUP raise Terminated in the main thread, where Python raises KeyboardInterrupt.

    A signal that is ignored stays so (`nohup`), and so does one that the calling program handles; in another thread
    than the main one the block changes nothing. A signal that is repeated at once is one signal; later it counts again.
    When the block is left because of a signal, the program is about to end: from then on they are ignored.
    """
    last: float | None = None

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- what a handler is called with
        nonlocal last
        before, last = last, time.monotonic()
        if before is None or last - before >= REPEATED:
            raise Terminated(number)

    here = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if here and hasattr(signal, name)]
    handled = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL if last is None else signal.SIG_IGN)
