"""Transcripts with times, and how they are matched with the segments of lists, of references and of other systems.

A segment of an STM has the id that sclite gives it, the speaker and the number of the segment among those of the
speaker that count: `jane-000`. Lists and outputs may have ids of one of three kinds, which all of them must have:

    jane-000    a segment
    call-3-A    a channel: its segments one after the other
    call-3      a file, where it has one channel

The segments of a channel are joined only where all of them count and none begins before the one before it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from rerank_adapters.formats.nist.stm import Channel, StmSegment, read_stm
from rerank_adapters.texts.transcript import pieces_of, text_of
from rerank_plugins import FormatError

Texts = Mapping[str, "str | FormatError"]  # by id; an error where the segment of that name has no text


@dataclass(frozen=True)
class TimedTranscripts:
    """A file in STM form, which is read as references or as the output of a system."""

    name: str
    lines: tuple[str, ...]

    @cached_property
    def segments(self) -> list[StmSegment]:
        """The segments of the file. Raises FormatError."""
        return read_stm(self.lines, self.name)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The positions in `segments` of those that count, by the ids that sclite gives them."""
        numbers: dict[str, int] = {}
        positions = {}
        for position, segment in enumerate(self.segments):
            if segment.text is not None:
                number = numbers[segment.speaker] = numbers.get(segment.speaker, -1) + 1
                positions[f"{segment.speaker}-{number:03d}"] = position
        return positions

    def references(self, ids: Sequence[str]) -> list[str]:
        """The transcripts of segments, channels or files. Raises FormatError for an id that none of them has."""
        texts = self._texts(ids)
        if lost := [id_ for id_ in ids if isinstance(texts.get(id_, self.lacks(id_, ids)), FormatError)]:
            raise self.lacks(lost[0], ids)
        return [text for id_ in ids if isinstance(text := texts[id_], str)]

    def ids_beside(self, ids: Sequence[str]) -> list[str]:
        """The ids of all segments, channels or files that have a text, whichever these ids are those of."""
        return [id_ for id_, text in self._texts(ids).items() if isinstance(text, str)]

    def lacks(self, id_: str, ids: Sequence[str], advice: str = "") -> FormatError:
        """The error that no text has an id, which is one of `ids`."""
        known = self._texts(ids).get(id_)
        if isinstance(known, FormatError):
            return known
        some, count = ", ".join(list(self.positions)[:2]), len(self.positions)
        message = f"no segment, channel or file has the id {id_!r}: the {count} segments are {some}, …"
        return FormatError(message + advice, path=self.name)

    def outputs(self, ids: Sequence[str], references: TimedTranscripts | None) -> dict[str, str]:
        """The texts of the segments, by id. Raises FormatError unless they are those of the references."""
        own = {_times(segment): segment for segment in self.segments}
        positions = {} if references is None else references.positions
        wanted = {} if references is None else {id_: _times(references.segments[at]) for id_, at in positions.items()}
        if not set(ids) <= set(wanted) or any(times not in own for times in wanted.values()) or len(own) > len(wanted):
            message = "the segments of an STM of outputs must be those of the references, which must be an STM, too"
            raise FormatError(f"{message}: expected lines with ids", path=self.name)
        return {id_: own[times].text or "" for id_, times in wanted.items()}

    def _texts(self, ids: Sequence[str]) -> Texts:
        return _of_kind(ids, self.segments, self.positions, self.name)


def _of_kind(ids: Sequence[str], segments: Sequence[StmSegment], positions: Mapping[str, int], name: str) -> Texts:
    """The texts by the kind of ids that most of `ids` are of: segments, or else channels, or else files."""
    of_segments = {id_: segments[position].text or "" for id_, position in positions.items()}
    return max((of_segments, *_joined(segments, name)), key=lambda texts: sum(id_ in texts for id_ in ids))


def _times(segment: StmSegment) -> tuple[str, str, float]:
    return segment.file, segment.channel, segment.start


def _joined(segments: Iterable[StmSegment], name: str) -> tuple[Texts, Texts]:
    """The texts of whole channels, by `file-channel`, and of files; an error for one that has no text."""
    channels: dict[Channel, list[StmSegment]] = {}
    for segment in segments:
        channels.setdefault(segment.in_channel, []).append(segment)
    texts: dict[Channel, str | FormatError] = {}
    for channel, row in channels.items():
        label = "-".join(channel)
        if any(segment.text is None for segment in row):
            texts[channel] = FormatError(f"{label} has times that do not count: expected ids of segments", path=name)
        elif any(after.start < before.end for before, after in pairwise(row)):
            texts[channel] = FormatError(f"segments of {label} overlap: expected ids of segments", path=name)
        else:
            texts[channel] = text_of(piece for segment in row if segment.text for piece in pieces_of(segment.text))
    files: dict[str, str | FormatError] = {}
    for file, number in channels:
        several = f"{file} has several channels: expected ids of channels, such as {file}-{number}"
        files[file] = FormatError(several, path=name) if file in files else texts[file, number]
    return {"-".join(channel): text for channel, text in texts.items()}, files
