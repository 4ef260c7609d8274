"""How far an extraction is, what each feature cost, and a progress bar for the patient."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any

DELAY = 2.0  # seconds before a bar appears


class ExtractionProgress:
    """Give it to `extract_features` or `stream_features`; `seconds` then holds CPU seconds by label.

    A bar on stderr, only where that is a terminal and only after two seconds. `total`: all hypotheses, where known.
    """

    def __init__(self, total: int | None = None) -> None:
        self.total, self.rows = total, 0
        self.seconds: Counter[str] = Counter()
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ExtractionProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, rows: int, seconds: Mapping[str, float]) -> None:
        """Count `rows` more hypotheses, extracted in `seconds` by label (empty for values that were there already)."""
        self.rows += rows
        self.seconds.update(seconds)
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._started > DELAY:
            self._bar, self._task = _bar(self.total)
        if self._bar:
            self._bar.update(self._task, completed=self.rows)


def _bar(total: int | None) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("features"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task("features", total=total)
