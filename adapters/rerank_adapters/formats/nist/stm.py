"""NIST's STM, references with the times of their segments: `call-3 A jane 12.50 15.10 <o,f> so { it's / it is }`.

A line has the file, the channel, the speaker, the start and the end in seconds, perhaps the names of subsets in angle
brackets, and a transcript with markup (texts/transcript.py). Lines that begin with `;;` are comments. A segment whose
transcript holds IGNORE_TIME_SEGMENT_IN_SCORING does not count, nor do the words that are recognised in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rerank_adapters.texts.transcript import reference_text
from rerank_plugins import FormatError
from rerank_plugins.kit.files.text import finite_value

Channel = tuple[str, str]  # the names of a file and of one of its channels
IGNORED = "ignore_time_segment_in_scoring"


class StmSegment(NamedTuple):
    """A segment of a channel, with its transcript (texts/transcript.py); None where it does not count."""

    file: str
    channel: str
    speaker: str
    start: float
    end: float
    text: str | None

    @property
    def in_channel(self) -> Channel:
        """The names of the file and of the channel."""
        return self.file, self.channel


def read_stm(lines: Iterable[str], path: str) -> list[StmSegment]:
    """The segments, channel by channel in the order of their first appearance, each channel in the order of the starts.

    Raises FormatError for a line of another form.
    """
    channels: dict[Channel, list[StmSegment]] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split(maxsplit=5)
        if not fields or fields[0].startswith(";;"):
            continue
        if len(fields) < 5:
            wanted = "file, channel, speaker, start, end and the words"
            raise FormatError(f"found {len(fields)} columns, expected {wanted}", path=path, line=number)
        start = finite_value(fields[3], "the start", path, number)
        end = finite_value(fields[4], "the end", path, number)
        text = fields[5] if len(fields) > 5 else ""
        if text.startswith("<"):  # the names of subsets
            text = text.split(maxsplit=1)[1] if len(text.split(maxsplit=1)) > 1 else ""
        try:
            words = None if IGNORED in text.lower() else reference_text(text)
        except ValueError as error:
            raise FormatError(str(error), path=path, line=number) from None
        segment = StmSegment(fields[0], fields[1], fields[2], start, end, words)
        channels.setdefault(segment.in_channel, []).append(segment)
    return [segment for row in channels.values() for segment in sorted(row, key=lambda segment: segment.start)]
