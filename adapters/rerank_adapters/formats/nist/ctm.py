"""NIST's CTM, words with their times: `call-3 A 12.50 0.40 so 0.93`.

A line has the file, the channel, start and duration in seconds, the word, and perhaps a confidence. Lines that begin
with `;;` are comments. In references, three words without times (`call-3 A * * <ALT_BEGIN>`, `<ALT>`, `<ALT_END>`)
surround and separate alternatives; an alternative without words is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rerank_adapters.formats.nist.markup import CLOSE, EMPTY, OPEN, OR, hypothesis_text, reference_text
from rerank_plugins import FormatError
from rerank_plugins.kit.files.text import finite_value

Channel = tuple[str, str]  # the names of a file and of one of its channels
ALTERNATIVES = {"<alt_begin>": OPEN, "<alt>": OR, "<alt_end>": CLOSE}
COLUMNS = "file, channel, start, duration, word and perhaps a confidence"


class TimedWord(NamedTuple):
    """A word with its file and channel, its start and duration in seconds, and a confidence if it has one."""

    file: str
    channel: str
    start: float
    duration: float
    word: str
    confidence: float | None = None

    @property
    def middle(self) -> float:
        """The time by which the word belongs to a segment."""
        return self.start + self.duration / 2


def read_ctm(lines: Iterable[str], path: str) -> dict[Channel, list[TimedWord]]:
    """The words of each channel in the order of their times, of the output of a recogniser.

    Raises FormatError for a line of another form, and for alternatives.
    """
    words: dict[Channel, list[TimedWord]] = {}
    for number, fields in _rows(lines, path):
        if fields[4].lower() in ALTERNATIVES:
            message = f"found {fields[4]}: alternatives are read in references alone"
            raise FormatError(message, path=path, line=number)
        word = _timed(fields, path, number)
        words.setdefault((word.file, word.channel), []).append(word)
    return {channel: sorted(row, key=lambda word: word.start) for channel, row in words.items()}


def ctm_references(lines: Iterable[str], path: str) -> dict[Channel, str]:
    """The transcript of each channel, with marks (`markup`) around alternatives. Raises FormatError."""
    parts: dict[Channel, list[_Part]] = {}
    opened: dict[Channel, int] = {}  # the line on which the alternation that is open begins
    for number, fields in _rows(lines, path):
        channel, sign = (fields[0], fields[1]), ALTERNATIVES.get(fields[4].lower())
        of_channel = parts.setdefault(channel, [])
        if sign is not None and (sign == OPEN) == (channel in opened):
            message = f"found {fields[4]}, expected <ALT_BEGIN>, <ALT> and <ALT_END> in this order"
            raise FormatError(message, path=path, line=number)
        if sign == OPEN or (sign is None and channel not in opened):
            of_channel.append(_Part(of_channel[-1].start if of_channel else 0.0))
        part = of_channel[-1]
        if sign is None:
            word = _timed(fields, path, number)
            part.start = part.start if part.timed else word.start
            part.timed = True
            part.pieces.append(reference_text(word.word))
        else:
            part.pieces += [EMPTY, sign] if part.pieces and part.pieces[-1] in (OPEN, OR) else [sign]
            if sign == OPEN:
                opened[channel] = number
            elif sign == CLOSE:
                del opened[channel]
    for number in opened.values():
        raise FormatError("found <ALT_BEGIN> without <ALT_END> after it", path=path, line=number)
    return {
        channel: " ".join(piece for part in sorted(row, key=lambda part: part.start) for piece in part.pieces)
        for channel, row in parts.items()
    }


@dataclass
class _Part:
    """A word, or all words of an alternation, with the start of the first one that has times."""

    start: float
    timed: bool = False
    pieces: list[str] = field(default_factory=list)


def spoken(words: Iterable[TimedWord]) -> str:
    """The words as the output of a recogniser, with marks round optional ones."""
    return hypothesis_text(" ".join(word.word for word in words))


def _rows(lines: Iterable[str], path: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the columns of each line that is no comment. Raises FormatError for other numbers of columns."""
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if fields and not fields[0].startswith(";;"):
            if len(fields) not in (5, 6):
                raise FormatError(f"found {len(fields)} columns, expected {COLUMNS}", path=path, line=number)
            yield number, fields


def _timed(fields: list[str], path: str, number: int) -> TimedWord:
    start = finite_value(fields[2], "the start", path, number)
    duration = finite_value(fields[3], "the duration", path, number)
    confidence = finite_value(fields[5], "the confidence", path, number) if len(fields) == 6 else None
    try:
        reference_text(fields[4])
    except ValueError as error:
        raise FormatError(str(error), path=path, line=number) from None
    return TimedWord(fields[0], fields[1], start, duration, fields[4], confidence)
