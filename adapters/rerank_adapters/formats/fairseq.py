r"""The output of fairseq's generate and interactive commands: lines tagged S, T, H, D and P, with log lines between.

    S-3\tein Satz          source              D-3\t-0.41\ta sentence   detokenised text
    T-3\tone sentence      target              P-3\t-0.2 -0.9 -0.1      log2 probability of each token
    H-3\t-0.41\ta sen@@ tence   hypothesis: log2 probability over length^lenpen, text (that of D- lines is not used)

The features are natural logs: `score` from the H- line and, where there are P- lines, `logprob`, the sum of their
values. `Hypothesis.score` is the number on the H- line, unchanged. A rescored list has all features, old and new, on a
line `F-3\tscore= -0.28 logprob= -0.83 new= 1` after the other lines of the hypothesis, and the new total on its H- and
D- lines. Where an F- line is read, its features replace the two above. fairseq and its scripts ignore F- lines. Every
other line is kept: a log line before the first hypothesis of a list stays before it, and one after it stays after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import fsum, log

from rerank_adapters.formats.delimited import reordered
from rerank_adapters.formats.feature_field import FeatureField, spell
from rerank_adapters.formats.line_lists import with_end
from rerank_adapters.formats.one_line import check_id, one_line, spelt_texts
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, Rescored
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite_value, shortest

LN2 = log(2)
TAGGED = re.compile(r"([A-Z])-([^\t\s]+)\t")


@dataclass
class _Block:
    """The lines of one hypothesis while they are being read."""

    line: int = 0  # the number of the H- line; 0 until it has been read
    text: str = ""
    score: float = 0.0
    positions: str | None = None  # the text of the P- line
    features: str | None = None  # the text of the F- line
    raw: list[str] = field(default_factory=list)


@dataclass
class _Segment:
    """The lines of one list while they are being read."""

    id: str
    source: str | None = None
    done: list[Hypothesis] = field(default_factory=list)
    line: int = 0


@dataclass(frozen=True)
class FairseqFormat(NBestFormat):
    """fairseq generate output: the scores of H- lines, the sums of P- lines; log lines are kept."""

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per run of tagged lines with the same id. Raises FormatError with the path and the line."""
        parser = FeatureField(lambda label: False, path)
        block, segment = _Block(), _Segment("")
        number = 0
        for number, line in enumerate(lines, 1):
            match = TAGGED.match(line)
            tag, id_ = match.groups() if match else ("", "")
            rest = line[match.end() :].rstrip("\r\n") if match else ""
            if tag in ("S", "T", "H") and (block.line or id_ != segment.id):
                if block.line:
                    segment.done.append(_hypothesis(block, parser, path))
                    block = _Block()
                if id_ != segment.id:
                    if segment.done:
                        yield _list(segment, parser)
                    elif segment.id:
                        raise FormatError(f"no H- line for segment {segment.id}", path=path, line=number)
                    segment = _Segment(id_)
            block.raw.append(line)
            if tag == "S":
                segment.source = rest
            elif tag == "H":
                block.line, segment.line = number, segment.line or number
                block.score, block.text = _scored(rest, path, number)
            elif tag in ("D", "P", "F"):
                if not block.line or id_ != segment.id:
                    raise FormatError(f"{tag}-{id_} comes before H-{id_}", path=path, line=number)
                if tag == "P":
                    block.positions = rest
                elif tag == "F":
                    block.features = rest
        if block.line:
            segment.done.append(_hypothesis(block, parser, path))
        elif segment.id:
            raise FormatError(f"no H- line for segment {segment.id}: is the file cut short?", path=path, line=number)
        if segment.done:
            yield _list(segment, parser)

    def spelling(self, text: str) -> str:
        """The text as one line."""
        return one_line(text)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lines of a list, as they were read or, with `rescored`, in its order with its totals and F- lines.

        Raises ConfigError for a new feature whose name the list already has, or whose name no line can hold, and for an
        id that is no word.
        """
        check_id(nbest.segment_id)
        nbest = spelt_texts(nbest, self.spelling)
        raws = [h.raw or _compose(nbest, h, source=i == 0) for i, h in enumerate(nbest)]
        with_raws = replace(nbest, hypotheses=tuple(h._replace(raw=raw) for h, raw in zip(nbest, raws, strict=True)))
        if rescored is None:
            for raw in raws[:-1]:
                yield from _split(with_end(raw, "\n"))
            yield from _split("".join(raws[-1:]))
            return
        written = reordered(with_raws, rescored)
        for raw in raws:
            yield from _parts(raw)[0]
        for hypothesis in written:
            features = spell(written.feature_names, hypothesis.features, "= ")
            total = shortest(hypothesis.score or 0.0)
            _, lines, _ = _parts(hypothesis.raw)
            end = "\r\n" if lines[0].endswith("\r\n") else "\n"
            for line in lines:
                if line[:2] in ("H-", "D-"):
                    tag, _, text = line.split("\t", 2)
                    line = f"{tag}\t{total}\t{text}"
                if line[:2] != "F-":
                    yield with_end(line, end)
            yield f"F-{nbest.segment_id}\t{features}{end}"
        for raw in raws:
            yield from _parts(raw)[2]


def _scored(rest: str, path: str, line: int) -> tuple[float, str]:
    score, tab, text = rest.partition("\t")
    if not tab:
        raise FormatError("expected H-id, score and text, separated by tabs", path=path, line=line)
    return finite_value(score, "the score", path, line), text


def targets(lines: Iterable[str], path: str) -> dict[str, str]:
    """The text of the T- line of each segment by its id: the references, as fairseq prints them among hypotheses.

    Raises FormatError for a second T- line of a segment, and for a file without any.
    """
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        match = TAGGED.match(line)
        if match and match[1] == "T":
            if match[2] in texts:
                raise FormatError(f"T-{match[2]} comes again: one file holds one reference", path=path, line=number)
            texts[match[2]] = line[match.end() :].rstrip("\r\n")
    if not texts:
        raise FormatError("no T- line: the file has hypotheses but no references", path=path)
    return texts


def _hypothesis(block: _Block, parser: FeatureField, path: str) -> Hypothesis:
    features = block.features
    if features is None:
        features = f"score= {shortest(block.score * LN2)}"
        if block.positions is not None:
            total = fsum(
                finite_value(text, "a value of the P- line", path, block.line) for text in block.positions.split()
            )
            features += f" logprob= {shortest(total * LN2)}"
    values, _ = parser.parse(features, block.line)
    return Hypothesis(block.text, values, block.score, NO_SPARSE, "".join(block.raw))


def _list(segment: _Segment, parser: FeatureField) -> NBestList:
    return NBestList(segment.id, tuple(segment.done), parser.names, segment.source, line=segment.line)


def _split(raw: str) -> list[str]:
    """Split a text at newlines only, into lines with their ends."""
    lines = raw.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _parts(raw: str) -> tuple[list[str], list[str], list[str]]:
    """The lines before the H- line, those of the hypothesis, and the log lines after it."""
    lines = _split(raw)
    first = next(i for i, line in enumerate(lines) if line.startswith("H-"))
    last = max(i for i, line in enumerate(lines) if TAGGED.match(line))
    return lines[:first], lines[first : last + 1], lines[last + 1 :]


def _compose(nbest: NBestList, hypothesis: Hypothesis, source: bool) -> str:
    start = f"S-{nbest.segment_id}\t{one_line(nbest.source)}\n" if source and nbest.source is not None else ""
    score = shortest(hypothesis.score or 0.0)
    features = spell(nbest.feature_names, hypothesis.features, "= ")
    return f"{start}H-{nbest.segment_id}\t{score}\t{hypothesis.text}\nF-{nbest.segment_id}\t{features}\n"
