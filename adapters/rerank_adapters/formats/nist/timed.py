"""Transcripts with times, and how they are matched with the segments of lists, of references and of other systems.

A segment of an STM has the id that sclite gives it, the speaker and the number of the segment among those of the
speaker that count: `jane-000`. A CTM of references has one segment for each channel, `call-3-A`. Lists and outputs may
have ids of one of three kinds instead, which all of them must have:

    jane-000    a segment
    call-3-A    a channel: its segments one after the other
    call-3      a file, where it has one channel

The segments of a channel are joined only where all of them count and none begins before the one before it has ended.

The words of a CTM belong to the segments of an STM by the middles of their times, as in sclite: in the order of the
segments of a channel, each takes the words whose middle lies before its end, so that words between two segments belong
to the second one, and the last segment takes the rest. A channel without words in the CTM has empty outputs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf

from rerank_adapters.formats.nist.ctm import Channel, TimedWord, ctm_references, read_ctm, spoken
from rerank_adapters.formats.nist.stm import Segment, read_stm
from rerank_plugins import FormatError

logger = logging.getLogger(__name__)
Texts = Mapping[str, "str | FormatError"]  # by id; an error where the segment of that name has no text


@dataclass(frozen=True)
class TimedTranscripts:
    """A file in STM or CTM form, which is read as references or as the output of a system."""

    name: str
    form: str  # stm or ctm
    lines: tuple[str, ...]

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments of references: the lines of an STM, the channels of a CTM. Raises FormatError."""
        if self.form == "stm":
            return read_stm(self.lines, self.name)
        channels = ctm_references(self.lines, self.name)
        return [Segment(*channel, "-".join(channel), -inf, inf, text) for channel, text in channels.items()]

    @cached_property
    def positions(self) -> dict[str, int]:
        """The positions in `segments` of those that count, by the ids that sclite gives them."""
        numbers: dict[str, int] = {}
        positions = {}
        for position, segment in enumerate(self.segments):
            if segment.text is not None:
                number = numbers[segment.speaker] = numbers.get(segment.speaker, -1) + 1
                positions[segment.speaker if self.form == "ctm" else f"{segment.speaker}-{number:03d}"] = position
        return positions

    def references(self, ids: Sequence[str]) -> list[str]:
        """The transcripts of segments, channels or files. Raises FormatError for an id that none of them has."""
        texts = self._texts(ids)
        if lost := [id_ for id_ in ids if isinstance(texts.get(id_, self.lacks(id_, ids)), FormatError)]:
            raise self.lacks(lost[0], ids)
        return [str(texts[id_]) for id_ in ids]

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

    def outputs(self, ids: Sequence[str], references: TimedTranscripts | None) -> Mapping[str, str]:
        """What a system recognised, by id: in the segments, channels or files of `references`, as `ids` are.

        Without references that have times, the file is one of utterances, which are its files or channels. Words that
        the references exclude are left out; a channel without words is empty, which a warning says. Raises FormatError
        for a channel that the references lack, and for an STM with other segments.
        """
        if self.form == "stm":
            return self._same_segments(ids, references)
        words = read_ctm(self.lines, self.name)
        if references is None:
            return self._of_utterances(ids, words)
        segments = references.segments
        channels = dict.fromkeys(segment.in_channel for segment in segments)
        _check_channels(list(channels), words, self.name, references.name)
        parts = {
            channel: _cut(words.get(channel, []), [s for s in segments if s.in_channel == channel])
            for channel in channels
        }
        recognised = [spoken(next(parts[segment.in_channel])) for segment in segments]
        filled = [
            segment._replace(text=None if segment.text is None else text)
            for segment, text in zip(segments, recognised, strict=True)
        ]
        texts = _of_kind(ids, filled, references.positions, self.name)
        return {id_: text for id_, text in texts.items() if isinstance(text, str)}

    def _texts(self, ids: Sequence[str]) -> Texts:
        return _of_kind(ids, self.segments, self.positions, self.name)

    def _of_utterances(self, ids: Sequence[str], words: Mapping[Channel, list[TimedWord]]) -> dict[str, str]:
        """The words of each utterance, which is a file or a channel."""
        if set(ids) & {"-".join(channel) for channel in words}:
            return {"-".join(channel): spoken(row) for channel, row in words.items()}
        channels: dict[str, str] = {}
        for file, channel in words:
            if channels.setdefault(file, channel) != channel:
                found = f"the channels {channels[file]} and {channel}"
                raise FormatError(f"{file} has {found}, expected one, or {file}-{channel} as an id", path=self.name)
        return {file: spoken(row) for (file, _), row in words.items()}

    def _same_segments(self, ids: Sequence[str], references: TimedTranscripts | None) -> dict[str, str]:
        """The texts of an STM's own segments, which must be those of the references."""
        own = {_times(segment): segment for segment in self.segments}
        positions = {} if references is None else references.positions
        wanted = {} if references is None else {id_: _times(references.segments[at]) for id_, at in positions.items()}
        if not set(ids) <= set(wanted) or any(times not in own for times in wanted.values()) or len(own) > len(wanted):
            message = "the segments of an STM of outputs must be those of the references, which must be an STM, too"
            raise FormatError(f"{message}: expected a CTM, or lines with ids", path=self.name)
        return {id_: own[times].text or "" for id_, times in wanted.items()}


def _of_kind(ids: Sequence[str], segments: Sequence[Segment], positions: Mapping[str, int], name: str) -> Texts:
    """The texts by the kind of ids that most of `ids` are of: segments, or else channels, or else files."""
    of_segments = {id_: segments[position].text or "" for id_, position in positions.items()}
    return max((of_segments, *_joined(segments, name)), key=lambda texts: sum(id_ in texts for id_ in ids))


def _times(segment: Segment) -> tuple[str, str, float]:
    return segment.file, segment.channel, segment.start


def _cut(words: Sequence[TimedWord], segments: Sequence[Segment]) -> Iterator[list[TimedWord]]:
    """The words of each segment of a channel."""
    first = 0
    for position, segment in enumerate(segments):
        end = first
        last = position == len(segments) - 1
        while end < len(words) and (last or words[end].middle < segment.end):
            end += 1
        yield list(words[first:end])
        first = end


def _joined(segments: Iterable[Segment], name: str) -> tuple[Texts, Texts]:
    """The texts of whole channels, by `file-channel`, and of files; an error for one that has no text."""
    channels: dict[Channel, list[Segment]] = {}
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
            texts[channel] = " ".join(segment.text for segment in row if segment.text)
    files: dict[str, str | FormatError] = {}
    for file, number in channels:
        several = f"{file} has several channels: expected ids of channels, such as {file}-{number}"
        files[file] = FormatError(several, path=name) if file in files else texts[file, number]
    return {"-".join(channel): text for channel, text in texts.items()}, files


def _check_channels(wanted: Sequence[Channel], words: Mapping[Channel, object], name: str, references: str) -> None:
    surplus = next((channel for channel in words if channel not in wanted), None)
    if surplus is not None:
        have = ", ".join("-".join(channel) for channel in wanted[:2])
        message = f"found words of file {surplus[0]}, channel {surplus[1]}, which {references} has not ({have}, …)"
        raise FormatError(message, path=name)
    missing = ["-".join(channel) for channel in wanted if channel not in words]
    if missing:
        some = ", ".join(missing[:2]) + (", …" if len(missing) > 2 else "")
        message = "rerank: warning: %s has no words of %d of %d channels (%s): all of theirs are deletions"
        logger.warning(message, name, len(missing), len(wanted), some)
