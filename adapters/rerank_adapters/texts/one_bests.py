"""Writes 1-bests as plain lines, or with the ids of their utterances as scoring tools read them.

    lines  so it is                        the line with number i is that of segment i (segment_ids.py)
    kaldi  utt-07 so it is
    trn    so it is (utt-07)
    ctm    call-3 1 12.50 0.40 so          a word a line, NIST's CTM

All are in the order of ids. Where nothing names the form, it is `lines` for ids that are numbers of lines and `kaldi`
for other ids, since only with its id is such a 1-best found again.

A CTM has times. N-best lists have none, so each word of an utterance gets an equal share of the time that a Kaldi file
of segments gives the utterance: `utterance recording start end`. Scoring by segments (sclite with an STM) needs no
more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from rerank_adapters.formats.one_line import check_id, one_line
from rerank_adapters.formats.segment_ids import ids_of_lines, is_number, numbers_of_lines, order_of_ids, some_of
from rerank_adapters.runtime.progress import counted
from rerank_plugins import ConfigError, FormatError, NBestList, open_text
from rerank_plugins.kit.files.text import finite_value

MAX_LOST_SEGMENTS = 1000  # segments between two lists that arrive one after the other
OutputForm = Literal["lines", "kaldi", "trn", "ctm"]


class Span(NamedTuple):
    """Where an utterance is spoken: the recording, and start and end in seconds."""

    recording: str
    start: float
    end: float


def read_segments(path: Path) -> dict[str, Span]:
    """The span of each utterance of a Kaldi file `segments`. Raises FormatError for a line of another form."""
    spans: dict[str, Span] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) != 4:
                message = f"found {len(fields)} columns, expected utterance, recording, start and end"
                raise FormatError(message, path=str(path), line=number)
            if fields[0] in spans:
                raise FormatError(f"the utterance {fields[0]!r} occurs twice", path=str(path), line=number)
            start, end = (finite_value(text, "a time", str(path), number) for text in fields[2:])
            if end < start:
                raise FormatError(f"the end {fields[3]} precedes the start {fields[2]}", path=str(path), line=number)
            spans[fields[0]] = Span(fields[1], start, end)
    return spans


def form_for(ids: Iterable[str]) -> OutputForm:
    """Lines for segments whose ids are the numbers of lines, Kaldi's form for utterances whose ids are words."""
    ids = list(ids)
    return "kaldi" if numbers_of_lines(ids) is None and all(id_.split() == [id_] for id_ in ids) else "lines"


@dataclass
class StreamingOneBests:
    """Makes the lines of 1-bests that are written one by one, as soon as their lists have come.

    Lines without ids are those of `OneBestFile`, so that lists must come in the order of their ids; with `any_order`
    they are in the order of arrival. Where no form is named, the first id shows it.
    """

    form: OutputForm | None = None
    spans: Mapping[str, Span] | None = None
    any_order: bool = False
    ordered: bool = True  # whether the file so far has all ids in their order
    _missing: list[str] = field(default_factory=list)
    _lines: int = 0
    _joined: int = 0  # texts that are not a single line
    _last: int | None = None  # the number of the last line

    def lines(self, nbest: NBestList, text: str) -> Iterator[str]:
        """Yield the lines of the 1-best of a list, after those of the segments that are lost before it.

        Raises FormatError for a segment that comes before another with a smaller number, and for one whose number is
        none of a line; and ConfigError as `output_lines` does.
        """
        id_ = nbest.segment_id
        self.form = self.form or ("lines" if self.any_order and is_number(id_) else form_for([id_]))
        if self.form == "lines" and is_number(id_):
            number = int(id_)
            before = min(number, 1) - 1 if self._last is None else self._last
            lost = range(before + 1, number)
            self.ordered &= number > before and not lost
            if not self.any_order:
                if number <= before or len(lost) > MAX_LOST_SEGMENTS:
                    why = f"comes after segment {before}" if number <= before else f"leaves {len(lost)} lines empty"
                    how = "--no-stream sorts them, --stream keeps the order in which they come, --as shows ids"
                    message = f"segment {id_} {why}, and the 1-bests are written as the lists come: {how}"
                    raise FormatError(message, line=nbest.line or None)
                self._missing += map(str, lost)
                yield from ["\n"] * len(lost)
            self._last, self._lines = number, self._lines + 1
        self._joined += text != one_line(text)
        yield from output_lines(self.form, id_, text, self.spans)

    @property
    def finding(self) -> str:
        """A sentence about segments without a list, the order of arrival, and texts of several lines; perhaps empty."""
        if not self.any_order:
            order = _empty_lines(self._missing, self._lines + len(self._missing)) if self._missing else ""
        else:
            order = "" if self.ordered else "the lines are in the order in which the lists came, not in that of ids"
        return "; ".join(filter(None, (order, _spaces(self._joined))))


def _spaces(joined: int) -> str:
    texts = counted(joined, "1-best has", "1-bests have")
    return f"{texts} line ends or tabs, which are written as spaces" if joined else ""


def _empty_lines(missing: Sequence[str], count: int) -> str:
    return f"no list for {len(missing)} of {count} segments ({some_of(missing)}): their lines are empty"


@dataclass(frozen=True)
class OneBestFile:
    """The 1-best of each segment by id, as a file has them; `others` are the ids of more segments of the data set."""

    texts: Mapping[str, str]
    form: OutputForm
    others: Sequence[str] = ()

    @classmethod
    def of(cls, texts: Mapping[str, str], form: OutputForm | None = None, others: Sequence[str] = ()) -> OneBestFile:
        """The 1-bests in a form; None stands for the form that the ids show."""
        return cls(texts, form or form_for([*texts, *others]), others)

    @property
    def ids(self) -> list[str]:
        """The ids in the order of the file. In lines they have those without a 1-best, whose lines are empty."""
        return ids_of_lines(self.texts, self.others) if self.form == "lines" else order_of_ids(self.texts)

    @property
    def finding(self) -> str:
        """A sentence about segments without a 1-best, ids from 1 and texts of several lines; perhaps empty."""
        ids = self.ids
        missing = [id_ for id_ in ids if id_ not in self.texts]
        lines = numbers_of_lines([*self.texts, *self.others]) if self.form == "lines" else None
        from_1 = "the ids count from 1: the first line is segment 1" if lines and lines.start == 1 else ""
        gaps = _empty_lines(missing, len(ids)) if missing else ""
        joined = _spaces(sum(text != one_line(text) for text in self.texts.values()))
        return "; ".join(filter(None, (from_1, gaps, joined)))

    def read(self, lines: Sequence[str]) -> dict[str, str]:
        """The texts by id, as the lines of such a file (`lines` or `kaldi`), without their ends, have them."""
        bare = lines if self.form == "lines" else [line.partition(" ")[2] for line in lines]
        return dict(zip(self.ids, bare, strict=True))

    def lines(self, spans: Mapping[str, Span] | None = None) -> Iterator[str]:
        """Yield the lines of the file. Raises ConfigError as `output_lines` does."""
        for id_ in self.ids:
            yield from output_lines(self.form, id_, self.texts.get(id_, ""), spans)


def output_lines(form: OutputForm, utterance: str, text: str, spans: Mapping[str, Span] | None = None) -> Iterator[str]:
    """Yield the lines of one 1-best: a single one but in a CTM, whatever the text holds (`one_line`).

    Raises ConfigError for an id that the form cannot hold, and for a CTM without the span of the utterance.
    """
    text = one_line(text)
    if form in ("kaldi", "trn"):
        check_id(utterance, "()" if form == "trn" else "")
    if form == "lines":
        yield f"{text}\n"
    elif form == "kaldi":
        yield f"{utterance} {text}".rstrip(" ") + "\n"
    elif form == "trn":
        yield f"{text} ({utterance})\n".lstrip(" ")
    else:
        if spans is None or utterance not in spans:
            where = "there is no file of segments: name one with --segments" if spans is None else "it has no segment"
            raise ConfigError(f"a CTM needs the times of utterance {utterance!r}, but {where}")
        span, words = spans[utterance], text.split()
        duration = (span.end - span.start) / max(1, len(words))
        for position, word in enumerate(words):
            yield f"{span.recording} 1 {span.start + position * duration:.2f} {duration:.2f} {word}\n"
