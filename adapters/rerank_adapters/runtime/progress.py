"""Progress of long jobs on stderr, as bars and status lines; times and amounts as messages write them.

Where stderr is a terminal, bars and status lines appear after two seconds, so that a quick job prints nothing but its
result, and are wiped away when the job ends. Elsewhere, as in the log of a batch job, a line says every minute how far
the job is. It goes to the log of the library, which commands write to stderr and other programs need not show.
"""

from __future__ import annotations

import logging
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from threading import Lock, Timer
from types import TracebackType
from typing import Any, Self, TypeVar

from rerank_adapters.runtime.kernel_cache import compiled
from rerank_plugins.core.counted import counted as counted

Item = TypeVar("Item")

DELAY = 2.0  # seconds before anything appears on a terminal
MINUTE = 60.0  # seconds between the lines of a log
HYPOTHESES = "hypotheses"
FIRST_USE = "kernels, which takes up to 30 s on the first use only"

logger = logging.getLogger(__name__)
_open_displays: list[_LateDisplay] = []  # those whose block has begun and not ended


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


class _LateDisplay(ABC):
    """A line of rich that appears when it is due, and is wiped away at the end of the `with` block; or lines of a log.

    A timer lets them appear, so that they do even where nothing has been reported by then. Of displays within each
    other, the innermost writes to the log.
    """

    def __init__(self, what: str = "working", total: int | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self._started = time.monotonic()
        self._display: Any = None
        self._ended = False
        self._lock = Lock()  # between the timer and the thread that does the work
        self._timer: Timer | None = None
        self._due = 0.0  # when the timer does its work
        shown = _shown.get()
        self._shows = sys.stderr.isatty() if shown is None else shown

    def __enter__(self) -> Self:
        _open_displays.append(self)
        self._due = time.monotonic() + (DELAY if self._shows else MINUTE)
        self._start_timer()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self in _open_displays:
            _open_displays.remove(self)
        with self._lock:
            self._ended = True
            if self._timer:
                self._timer.cancel()
            if self._display:
                self._display.stop()

    def _start_timer(self) -> None:
        action = self._appear if self._shows else self._log
        timer = Timer(max(0.0, self._due - time.monotonic()), action)
        timer.daemon = True
        timer.start()
        self._timer = timer  # only now, since only a timer that has started can be waited for

    def _stop_timer(self) -> bool:
        """End the timer and its thread; return whether there is still something for it to do."""
        running = self._timer is not None
        while (timer := self._timer) is not None:  # the next one, where this one has just started it
            self._timer = None
            timer.cancel()
            timer.join()
        return running and not self._ended and self._display is None

    def _appear(self) -> None:
        """Start the display, unless its block has ended."""
        with self._lock:
            if not self._ended:
                self._display = self._opened()

    def _log(self) -> None:
        """Write how far the job is to the log, unless the block has ended, and do so again in a minute."""
        with self._lock:
            if self._ended:
                return
            if _open_displays and _open_displays[-1] is self:
                with suppress(OSError):  # nobody reads the log any more
                    logger.info("rerank: %s", self._line())
            self._due = time.monotonic() + MINUTE
            if self._timer is not None:  # the displays are not being paused
                self._start_timer()

    def _line(self) -> str:
        """What a line of the log says."""
        return f"{self.what}, {duration(time.monotonic() - self._started)} so far"

    def _opened(self) -> Any:
        """The display of rich, started."""
        from rich.console import Console
        from rich.progress import Progress

        display = Progress(*self._columns(), console=Console(stderr=True), transient=True)
        display.add_task(self.what, total=self.total, completed=self.done)
        display.start()
        return display

    @abstractmethod
    def _columns(self) -> tuple[Any, ...]:
        """What the line shows, as columns of rich."""

    def _show(self) -> None:
        """Show what has changed."""
        if self._display:
            self._display.update(self._display.task_ids[0], description=self.what, completed=self.done)


@contextmanager
def paused() -> Iterator[None]:
    """In the block, no display is shown, and none of their threads exists or holds a lock."""
    displays = list(_open_displays)
    timed = [display for display in displays if display._stop_timer()]
    with ExitStack() as locks:
        for display in displays:
            locks.enter_context(display._lock)
        shown = [display._display for display in displays if display._display is not None]
        for picture in shown:
            picture.stop()
        try:
            yield
        finally:
            for picture in shown:
                picture.start()
            for display in timed:
                if not display._ended:  # as in a fork that has been detached
                    display._start_timer()


def detach() -> None:
    """In a fork of a process whose displays are paused: nothing is shown, and no lock is held."""
    for display in _open_displays:
        display._lock = Lock()
        display._display, display._timer, display._ended = None, None, True
    _open_displays.clear()


class CountingBar(_LateDisplay):
    """Counts what is done: a bar with the time that is left where the `total` is known, else the pace."""

    def add(self, count: int) -> None:
        """Count `count` more."""
        self.done += count
        self._show()

    def _line(self) -> str:
        seconds = time.monotonic() - self._started
        if self.total is None:
            return f"{self.done:,} {self.what}, {duration(seconds)} so far"
        left = f", about {duration(seconds * (self.total - self.done) / self.done)} left" if self.done else ""
        return f"{self.done:,} of {self.total:,} {self.what}, {duration(seconds)} so far{left}"

    def _columns(self) -> tuple[Any, ...]:
        from rich import progress

        name, count = self._name_column(), progress.TextColumn("{task.completed:,}")
        if self.total is not None:
            return name, progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn()
        pace = progress.TaskProgressColumn(show_speed=True)
        return progress.SpinnerColumn(), count, name, pace, progress.TimeElapsedColumn()

    def _name_column(self) -> Any:
        """The column that says what is counted."""
        from rich import progress

        return progress.TextColumn("{task.description}")

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
        self._compiled = len(compiled())  # when values came last

    def _name_column(self) -> Any:
        from rich.progress import TextColumn

        doing = self._doing

        class Doing(TextColumn):
            """What is counted, or that kernels are being compiled, as it is when the line is drawn."""

            def render(self, task: Any) -> Any:
                task.description = doing()
                return super().render(task)

        return Doing("{task.description}")

    def _doing(self) -> str:
        """What the job is doing: until values come, it may be compiling kernels."""
        kernels = len(compiled()) - self._compiled
        return f"compiling {FIRST_USE} ({kernels} so far)" if kernels else self.what

    def _line(self) -> str:
        line, doing = super()._line(), self._doing()
        return line if doing == self.what else f"{line}, {doing}"

    def __call__(self, rows: int, seconds: Mapping[str, float]) -> None:
        """Count `rows` more hypotheses, extracted in `seconds` by label (empty for values that were there already)."""
        self._compiled = len(compiled())
        self.seconds.update(seconds)
        self.add(rows)

    def costs(self) -> str:
        """The wall time, and the CPU seconds of each feature, the most expensive first; empty without features."""
        if not self.seconds:
            return ""
        by_feature = ", ".join(f"{label} {seconds:.2f}" for label, seconds in self.seconds.most_common())
        took = duration(time.monotonic() - self._started)
        return f"features took {took}; CPU seconds, summed over processes: {by_feature}"


class StatusLine(_LateDisplay):
    """A line with the stage of a job, and how much of it is done if that is known."""

    def __call__(self, stage: str, done: int | None = None) -> None:
        """Show the stage; `done` counts words."""
        self.what = f"{stage}, {done:,} words" if done is not None else stage
        self._show()

    def _columns(self) -> tuple[Any, ...]:
        from rich import progress

        return progress.SpinnerColumn(), progress.TextColumn("{task.description}"), progress.TimeElapsedColumn()
