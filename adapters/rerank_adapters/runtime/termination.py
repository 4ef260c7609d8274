"""Handles the signals that end the program as Ctrl-C is handled, so that no unfinished files remain.

Batch systems, service managers, `timeout` and `kill` send SIGTERM; a terminal that is closed sends SIGHUP.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

REPEATED = 1.0  # seconds within which a signal counts once: `timeout` sends it to the process and to its group


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP was received. `code` is the exit code for it: 128 + the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """In the block, SIGTERM and SIGHUP raise Terminated in the main thread, as SIGINT raises KeyboardInterrupt.

    Signals that are ignored (`nohup`) or that the calling program handles are left alone, and in another thread than
    the main one the block changes nothing. A signal that is repeated within a second counts once. When a signal ends
    the block, the program is about to end, and both signals are ignored from then on.
    """
    last: float | None = None

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- the arguments of a signal handler
        nonlocal last
        before, last = last, time.monotonic()
        if before is None or last - before >= REPEATED:
            raise Terminated(number)

    in_main_thread = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if in_main_thread and hasattr(signal, name)]
    handled = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL if last is None else signal.SIG_IGN)
