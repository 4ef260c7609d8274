"""How far a long job is: bars and status lines on stderr.

They appear only where stderr is a terminal, and only after two seconds, so that a quick job prints nothing but its
result. When the job ends, they are wiped away.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from rerank_plugins import TuningStep

Item = TypeVar("Item")

DELAY = 2.0  # seconds before anything appears
PACE = 0.1  # seconds between two pictures of a bar


class _LateDisplay:
    """A display of rich that is started when it is first due, and stopped at the end of the `with` block."""

    def __init__(self) -> None:
        self._started = self._shown = time.monotonic()
        self._display: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._display:
            self._display.stop()

    @property
    def seconds_passed(self) -> float:
        """Seconds since the job began."""
        return time.monotonic() - self._started

    def _is_due(self) -> bool:
        return self.seconds_passed > DELAY and sys.stderr.isatty()


class CountingBar(_LateDisplay):
    """Counts what is done: a bar with the time that is left where the `total` is known, else the pace."""

    def __init__(self, what: str, total: int | None = None) -> None:
        super().__init__()
        self.what, self.total, self.done = what, total, 0
        self._task: Any = None

    def add(self, count: int) -> None:
        """Count so many more."""
        self.done += count
        if not self._is_due():
            return
        now = time.monotonic()
        if self._display is None:
            self._display, self._task = _bar(self.what, self.total)
        elif now - self._shown < PACE and self.done != self.total:
            return
        self._shown = now
        self._display.update(self._task, completed=self.done, pace=f"{self.done / self.seconds_passed:,.0f}/s")

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items; each counts as done when the next one is asked for."""
        for item in items:
            yield item
            self.add(1)


class ExtractionProgress(CountingBar):
    """Counts hypotheses whose features are extracted; `seconds` holds the CPU seconds of each feature by its label.

    `total` is the number of all hypotheses, where it is known.
    """

    def __init__(self, total: int | None = None) -> None:
        super().__init__("hypotheses", total)
        self.seconds: Counter[str] = Counter()

    def __call__(self, rows: int, seconds: Mapping[str, float]) -> None:
        """Count `rows` more hypotheses, extracted in `seconds` by label (empty for values that were there already)."""
        self.seconds.update(seconds)
        self.add(rows)


class StatusLine(_LateDisplay):
    """Says which stage a job is in, and how much of it is done if that is known."""

    def __call__(self, stage: str, done: int | None = None) -> None:
        """Show the stage; `done` counts words."""
        if not self._is_due():
            return
        if self._display is None:
            from rich.console import Console

            self._display = Console(stderr=True).status("")
            self._display.start()
        words = f", {done:,} words" if done is not None else ""
        self._display.update(f"{stage}{words}, {self.seconds_passed:.0f} s")


class TuningProgress(StatusLine):
    """Says which restart and iteration a tuner is in, and the score that it has reached by the metric."""

    def __init__(self, metric: str) -> None:
        super().__init__()
        self.metric = metric

    def show(self, step: TuningStep) -> None:
        """Show a step."""
        self(f"tuning: restart {step.restart}, iteration {step.iteration}, {self.metric} {step.score:.2f}")


def _bar(what: str, total: int | None) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    name = TextColumn("{task.description}")
    known = (name, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    open_ended = (SpinnerColumn(), TextColumn("{task.completed:,}"), name, TextColumn("{task.fields[pace]}"))
    columns = known if total is not None else (*open_ended, TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task(what, total=total, pace="")
