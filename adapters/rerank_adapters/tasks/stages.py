"""A line on the terminal that says which stage a long job is in."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

DELAY = 2.0  # seconds before it appears


class Stages:
    """Call it with what is being done, and how much of it is done if that is known; only a terminal shows it."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._status: Any = None

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._status:
            self._status.stop()

    def __call__(self, stage: str, done: int | None = None) -> None:
        """Show the stage."""
        seconds = time.monotonic() - self._started
        if not sys.stderr.isatty() or seconds < DELAY:
            return
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        self._status.update(f"{stage}{f', {done:,} words' if done is not None else ''}, {seconds:.0f} s")
