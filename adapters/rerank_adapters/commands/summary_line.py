"""Prints the last line of a command: what it wrote, where, and the wall time it took."""

from __future__ import annotations

import time
from pathlib import Path

import click

from rerank_adapters.runtime.progress import duration


class SummaryLine:
    """A clock that starts with the command, and the line on stderr that the command ends with.

    The time is wall time: with several processes or threads it is less than the CPU time that they use together, and it
    includes the compilation of kernels that have not been compiled on this machine before.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds of wall time since the command started."""
        return time.monotonic() - self._started

    def wrote(self, what: str, path: Path | str) -> None:
        """Print that `what` was written to a path (`-` is stdout), and the wall time."""
        self.report(f"wrote {what} to {'stdout' if str(path) == '-' else path}")

    def report(self, what: str) -> None:
        """Print what was done, and the wall time."""
        click.echo(f"{what} in {duration(self.seconds)}", err=True)
