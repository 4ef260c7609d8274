"""Writes 1-bests as plain lines, or with the ids of their utterances as scoring tools read them.

    lines  so it is                        in the order of the lists
    kaldi  utt-07 so it is
    trn    so it is (utt-07)
    ctm    call-3 1 12.50 0.40 so          a word a line, NIST's CTM

A CTM has times. N-best lists have none, so each word of an utterance gets an equal share of the time that a Kaldi file
of segments gives the utterance: `utterance recording start end`. Scoring by segments (sclite with an STM) needs no
more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from rerank_adapters.formats.references import is_number
from rerank_plugins import ConfigError, FormatError, open_text
from rerank_plugins.kit.files.text import finite_value

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
    """Lines for segments whose ids are the numbers of lines, Kaldi's form for utterances."""
    return "lines" if all(map(is_number, ids)) else "kaldi"


def output_lines(form: OutputForm, utterance: str, text: str, spans: Mapping[str, Span] | None = None) -> Iterator[str]:
    """Yield the lines of one 1-best. Raises ConfigError for a CTM without the span of the utterance."""
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
