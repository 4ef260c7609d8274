"""Progress of long jobs on stderr, as bars and status lines; times and amounts as messages write them.

Displays have no thread of their own, so that a process which shows one can fork: they are drawn when the job reports
what it has done. Where stderr is a terminal, a bar appears with the first report after two seconds, so that a quick job
prints nothing but its result, and is wiped away when the job ends. Elsewhere, as in the log of a batch job, the first
report of each minute writes a line to the log of the library, which commands write to stderr and other programs need
not show.
"""

from __future__ import annotations

import logging
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TypeVar

from rerank_plugins.core.counted import counted as counted

Item = TypeVar("Item")

SECONDS_TO_BAR = 2.0  # seconds before a bar appears on a terminal
SECONDS_OF_LINE = 60.0  # seconds between the lines of a log
SECONDS_OF_DRAWING = 0.1  # seconds between two drawings
HYPOTHESES = "hypotheses"
FIRST_USE = "the first use of features compiles their kernels, which takes up to 30 s, once"

logger = logging.getLogger(__name__)


def warn(findings: Iterable[str]) -> None:
    """Log each finding, a sentence about the data, as a warning."""
    for finding in findings:
        logger.warning("rerank: warning: %s", finding)


def duration(seconds: float) -> str:
    """A time as a user reads it.

    >>> duration(0.42), duration(12.34), duration(200)
    ('0.4 s', '12.3 s', '3 min 20 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def size_text(size: int) -> str:
    """A number of bytes as megabytes or gigabytes.

    >>> size_text(2_500_000), size_text(3_000_000_000)
    ('2.50 MB', '3.00 GB')
    """
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.2f} MB"


_shown: ContextVar[bool | None] = ContextVar("_shown", default=None)  # None: where stderr is a terminal


@contextmanager
def showing(shown: bool) -> Iterator[None]:
    """In the block, displays are shown wherever rich can show them, a notebook included, or nowhere."""
    token = _shown.set(shown)
    try:
        yield
    finally:
        _shown.reset(token)


class _Display(ABC):
    """A line of rich that is drawn when something is reported, and is wiped away at the end; or lines of a log."""

    delay: float

    def __init__(self, what: str = "working", total: int | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self._started = time.monotonic()
        self._display: Any = None
        self._due = 0.0  # when it is drawn, or written to the log, next
        shown = _shown.get()
        self._shows = sys.stderr.isatty() if shown is None else shown

    def __enter__(self) -> Self:
        self._due = time.monotonic() + (self.delay if self._shows else SECONDS_OF_LINE)
        if not self.delay:
            self._report()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._due = float("inf")
        if self._display:
            self._display.stop()

    def _report(self) -> None:
        """Draw the changes, or write them to the log, where that is due."""
        if time.monotonic() < self._due:
            return
        if not self._shows:
            with suppress(OSError):  # nobody reads the log any more
                logger.info("rerank: %s", self._line())
            self._due = time.monotonic() + SECONDS_OF_LINE
            return
        if self._display is None:
            self._display = self._opened()
        self._display.update(self._display.task_ids[0], description=self.what, completed=self.done, refresh=True)
        self._due = time.monotonic() + SECONDS_OF_DRAWING

    def _opened(self) -> Any:
        """The display of rich, started."""
        from rich.console import Console
        from rich.progress import Progress

        display = Progress(*self._columns(), console=Console(stderr=True), transient=True, auto_refresh=False)
        display.add_task(self.what, total=self.total, completed=self.done)
        display.start()
        return display

    @abstractmethod
    def _line(self) -> str:
        """The line of the log."""

    @abstractmethod
    def _columns(self) -> tuple[Any, ...]:
        """The columns of rich that the display shows."""


class CountingBar(_Display):
    """Counts items: a bar with the remaining time where the `total` is known, else with the pace."""

    delay = SECONDS_TO_BAR

    def add(self, count: int) -> None:
        """Count `count` more."""
        self.done += count
        self._report()

    def _line(self) -> str:
        seconds = time.monotonic() - self._started
        if self.total is None:
            return f"{self.done:,} {self.what}, {duration(seconds)} so far"
        left = f", about {duration(seconds * (self.total - self.done) / self.done)} left" if self.done else ""
        return f"{self.done:,} of {self.total:,} {self.what}, {duration(seconds)} so far{left}"

    def _columns(self) -> tuple[Any, ...]:
        from rich import progress

        name, count = progress.TextColumn("{task.description}"), progress.TextColumn("{task.completed:,}")
        if self.total is not None:
            return name, progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn()
        return count, name, progress.TaskProgressColumn(show_speed=True), progress.TimeElapsedColumn()

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items; each counts as done when the next one is taken."""
        for item in items:
            yield item
            self.add(1)


class ExtractionProgress(CountingBar):
    """Counts hypotheses whose features are extracted; `seconds` holds the CPU seconds of each feature by its label.

    The CPU seconds are sums over all processes. `total` is the number of all hypotheses, where it is known.
    """

    def __init__(self, total: int | None = None) -> None:
        super().__init__(HYPOTHESES, total)
        self.seconds: Counter[str] = Counter()

    def __call__(self, rows: int, seconds: Mapping[str, float]) -> None:
        """Count `rows` more hypotheses, extracted in `seconds` by label (empty for values that were there already)."""
        self.seconds.update(seconds)
        self.add(rows)

    def costs(self) -> str:
        """The wall time, and the CPU seconds of each feature, the most expensive first; empty without features."""
        if not self.seconds:
            return ""
        by_feature = ", ".join(f"{label} {seconds:.2f}" for label, seconds in self.seconds.most_common())
        took = duration(time.monotonic() - self._started)
        return f"features took {took}; CPU seconds, summed over processes: {by_feature}"


class StatusLine(_Display):
    """A line with the stage of a job, which is there at once, and how much of it is done if that is known."""

    delay = 0.0

    def __call__(self, stage: str, done: int | None = None) -> None:
        """Show the stage; `done` counts words."""
        self.what = f"{stage}, {done:,} words" if done is not None else stage
        self._report()

    def _line(self) -> str:
        return f"{self.what}, {duration(time.monotonic() - self._started)} so far"

    def _columns(self) -> tuple[Any, ...]:
        from rich import progress

        return progress.TextColumn("{task.description}"), progress.TimeElapsedColumn()
