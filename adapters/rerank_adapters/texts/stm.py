"""NIST's STM, texts with the times of their segments: `call-3 A jane 12.50 15.10 <o,f> so { it's / it is }`.

A line has the file, the channel, the speaker, the start and the end in seconds, perhaps the names of subsets in angle
brackets, and a transcript with markup (transcript.py). Lines that begin with `;;` are comments. A segment whose
transcript holds IGNORE_TIME_SEGMENT_IN_SCORING does not count, nor does what is recognised in it.

A segment has the id that sclite gives it, the speaker and the number of the segment among those of the speaker that
count: `jane-000`. Lists and outputs may have ids of one of three kinds, which all of them must have:

    jane-000    a segment
    call-3-A    a channel: its segments one after the other
    call-3      a file, where it has one channel

The segments of a channel are joined only where all of them count and none begins before the one before it has ended. An
STM of outputs is matched by the times of its segments, and where several begin together also by their ends and by their
speakers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from rerank_adapters.formats.records import Role
from rerank_adapters.texts.texts import Texts
from rerank_adapters.texts.transcript import hypothesis_text, pieces_of, reference_text, text_of
from rerank_plugins import FormatError
from rerank_plugins.kit.files.text import finite_value

IGNORED = "ignore_time_segment_in_scoring"
COMMENT = ";;"
NUMBER = r"\d+(?:\.\d*)?"
SUBSETS = re.compile(r"^<\S*\s*")
LINE = re.compile(rf"\S+\s+\S+\s+\S+\s+{NUMBER}\s+{NUMBER}(?:\s.*)?")


class Segment(NamedTuple):
    """A segment of a channel, with its transcript; None where it does not count."""

    line: int
    file: str
    channel: str
    speaker: str
    start: float
    end: float
    text: str | None


KEYS: Sequence[Callable[[Segment], tuple[object, ...]]] = (  # what tells the segments of two files apart
    lambda segment: (segment.file, segment.channel, segment.start),
    lambda segment: (segment.file, segment.channel, segment.start, segment.end),
    lambda segment: (segment.file, segment.channel, segment.start, segment.end, segment.speaker),
)


@dataclass(frozen=True)
class TimedTexts(Texts):
    """The texts of an STM by the ids of segments, channels or files; `reasons` say why an id has no text."""

    segments: tuple[Segment, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)

    def beside(self, ids: Sequence[str]) -> Texts:
        """The texts by the kind of ids that most of `ids` are of: segments, or else channels, or else files."""
        kinds = (self, *_joined(self))
        return max(kinds, key=lambda kind: sum(id_ in kind.by_id or id_ in kind.reasons for id_ in ids))

    def like(self, other: Texts) -> Texts:
        """Outputs with the ids of the segments of a reference, if that is an STM, too.

        Raises FormatError unless each segment is one of the reference, and where times and speakers tell no segments
        apart.
        """
        if not isinstance(other, TimedTexts):
            wanted = "an STM of outputs is matched with an STM of references: expected lines with ids"
            raise FormatError(wanted, path=self.path)
        key = next((key for key in KEYS if _distinct(self.segments, key) and _distinct(other.segments, key)), None)
        if key is None:
            raise _alike(self) or _alike(other) or FormatError("two segments have the same times", path=self.path)
        own_ids = iter(other.by_id)
        ids = {key(segment): "" if segment.text is None else next(own_ids) for segment in other.segments}
        by_id: dict[str, tuple[str, ...]] = {}
        for segment in self.segments:
            if key(segment) not in ids:
                wanted = f"the segments of an STM of outputs must be those of the references ({other.path})"
                message = f"found {segment.speaker} from {segment.start:g} to {segment.end:g} s of {segment.file}"
                raise FormatError(f"{message}: {wanted}", path=self.path, line=segment.line)
            if (id_ := ids[key(segment)]) and segment.text is not None:
                by_id[id_] = (segment.text,)
        return replace(self, by_id=by_id)

    def why_none(self, id_: str) -> str:
        """Why a channel or a file has no text."""
        return self.reasons.get(id_, "")


def shows_stm(lines: Iterable[str]) -> bool:
    """Whether all lines but comments have a file, a channel, a speaker and two times."""
    filled = [line for line in lines if line.strip() and not line.startswith(COMMENT)]
    return bool(filled) and all(LINE.fullmatch(line) for line in filled)


def stm_texts(lines: Iterable[str], path: str, role: Role) -> TimedTexts:
    """The texts of the segments that count: channel by channel in the order of their first appearance, each channel in
    the order of the starts.

    Raises FormatError for a line of another form and for wrong markup.
    """
    channels: dict[tuple[str, str], list[Segment]] = {}
    read = hypothesis_text if role == "output" else reference_text
    for number, line in enumerate(lines, 1):
        fields = line.split(maxsplit=5)
        if not fields or fields[0].startswith(COMMENT):
            continue
        if len(fields) < 5:
            wanted = "file, channel, speaker, start, end and the words"
            raise FormatError(f"found {len(fields)} columns, expected {wanted}", path=path, line=number)
        start = finite_value(fields[3], "the start", path, number)
        end = finite_value(fields[4], "the end", path, number)
        text = SUBSETS.sub("", "".join(fields[5:]))
        try:
            words = None if IGNORED in text.lower() else read(text)
        except ValueError as error:
            raise FormatError(str(error), path=path, line=number) from None
        segment = Segment(number, fields[0], fields[1], fields[2], start, end, words)
        channels.setdefault((segment.file, segment.channel), []).append(segment)
    segments = [segment for row in channels.values() for segment in sorted(row, key=lambda segment: segment.start)]
    numbers: dict[str, int] = {}
    by_id: dict[str, tuple[str, ...]] = {}
    for segment in segments:
        if segment.text is not None:
            number = numbers[segment.speaker] = numbers.get(segment.speaker, -1) + 1
            by_id[f"{segment.speaker}-{number:03d}"] = (segment.text,)
    return TimedTexts(path, by_id, "stm", role, "words", segments=tuple(segments))


def _distinct(segments: Sequence[Segment], key: Callable[[Segment], tuple[object, ...]]) -> bool:
    return len({key(segment) for segment in segments}) == len(segments)


def _alike(texts: TimedTexts) -> FormatError | None:
    """The error that a file has two segments with the same times and speaker, if it has."""
    seen: dict[tuple[object, ...], int] = {}
    for segment in texts.segments:
        if (before := seen.setdefault(KEYS[-1](segment), segment.line)) != segment.line:
            same = f"the segment has the file, channel, speaker and times of line {before}"
            return FormatError(same, path=texts.path, line=segment.line)
    return None


def _joined(texts: TimedTexts) -> tuple[TimedTexts, TimedTexts]:
    """The texts of whole channels, by `file-channel`, and of files, with the reasons why some have none."""
    channels: dict[tuple[str, str], list[Segment]] = {}
    for segment in texts.segments:
        channels.setdefault((segment.file, segment.channel), []).append(segment)
    of_channels: dict[str, tuple[str, ...]] = {}
    of_files: dict[str, tuple[str, ...]] = {}
    why: dict[str, str] = {}
    files = [file for file, _ in channels]
    for (file, channel), row in channels.items():
        name = f"{file}-{channel}"
        if any(segment.text is None for segment in row):
            why[name] = f"{name} has times that do not count: expected ids of segments"
        elif any(after.start < before.end for before, after in pairwise(row)):
            why[name] = f"segments of {name} overlap: expected ids of segments"
        else:
            of_channels[name] = (text_of(piece for one in row if one.text for piece in pieces_of(one.text)),)
        if files.count(file) > 1:
            why[file] = f"{file} has several channels: expected ids of channels, such as {name}"
        elif name in why:
            why[file] = why[name]
        else:
            of_files[file] = of_channels[name]
    return replace(texts, by_id=of_channels, reasons=why), replace(texts, by_id=of_files, reasons=why)
