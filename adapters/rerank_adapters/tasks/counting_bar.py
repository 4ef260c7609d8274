"""A progress bar for work whose end is not known: how many are done, and how fast."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

DELAY = 2.0  # seconds before a bar appears
PACE = 0.1  # seconds between two of its pictures


class CountingBar:
    """Counts on stderr, only where that is a terminal and only after two seconds."""

    def __init__(self, what: str) -> None:
        self.what, self.done = what, 0
        self._started = self._shown = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> CountingBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def add(self, count: int) -> None:
        """Count so many more."""
        self.done += count
        now = time.monotonic()
        if now - self._started < DELAY or now - self._shown < PACE or not sys.stderr.isatty():
            return
        if self._bar is None:
            self._bar, self._task = _bar(self.what)
        self._shown = now
        self._bar.update(self._task, completed=self.done, pace=f"{self.done / (now - self._started):,.0f}/s")


def _bar(what: str) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} {task.description}"), TextColumn("{task.fields[pace]}"))
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task(what, total=None, pace="")
