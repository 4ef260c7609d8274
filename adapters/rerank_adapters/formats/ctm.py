"""NIST's CTM: a word a line, with its time and perhaps the recogniser's confidence.

    call-3 1 12.50 0.40 so 0.93      file, channel, start and duration in seconds, word, confidence

The words of a file are in the order of their times. A comment begins with `;;`. See the documentation of sclite (SCTK
2.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rerank_adapters.formats.line_lists import value
from rerank_plugins.core.errors import FormatError


class TimedWord(NamedTuple):
    """A word with its channel, its start and duration in seconds, and a confidence if it has one."""

    channel: str
    start: float
    duration: float
    word: str
    confidence: float | None = None

    def line(self, file: str) -> str:
        """The line of the word in a CTM."""
        confidence = "" if self.confidence is None else f" {self.confidence:.6f}"
        return f"{file} {self.channel} {self.start:.2f} {self.duration:.2f} {self.word}{confidence}\n"


def read_ctm(lines: Iterable[str], path: str) -> dict[str, list[TimedWord]]:
    """The words of each file in the order of their times. Raises FormatError for a line of another form."""
    words: dict[str, list[TimedWord]] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        if len(fields) not in (5, 6):
            wanted = "file, channel, start, duration, word and perhaps a confidence"
            raise FormatError(f"found {len(fields)} columns, expected {wanted}", path=path, line=number)
        start = value(fields[2], "the start", path, number)
        duration = value(fields[3], "the duration", path, number)
        confidence = value(fields[5], "the confidence", path, number) if len(fields) == 6 else None
        words.setdefault(fields[0], []).append(TimedWord(fields[1], start, duration, fields[4], confidence))
    return {file: sorted(parts, key=lambda word: word.start) for file, parts in words.items()}
