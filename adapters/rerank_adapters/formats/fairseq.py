r"""The output of fairseq's generate and interactive commands: lines tagged S, T, H, D and P, with log lines between.

    S-3\tein Satz          source              D-3\t-0.41\ta sentence   detokenised text
    T-3\tone sentence      target              P-3\t-0.2 -0.9 -0.1      log2 probability of each token
    H-3\t-0.41\ta sen@@ tence   hypothesis: log2 probability over length^lenpen, text (that of D- lines is not used)

The features are natural logs: `score` from the H- line and, where there are P- lines, `logprob`, the sum of their
values. `Hypothesis.score` is the number on the H- line, unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import fsum, log

from rerank_adapters.formats.items import names_differ
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList
from rerank_plugins.kit.files.text import finite_value

LN2 = log(2)
TAGGED = re.compile(r"([A-Z])-([^\t\s]+)\t")


@dataclass
class _Block:
    """A hypothesis while its lines are being read."""

    line: int  # the number of the H- line
    score: float
    text: str
    features: dict[str, float]


@dataclass
class _Segment:
    """A list while its lines are being read."""

    id: str
    source: str | None = None
    blocks: list[_Block] = field(default_factory=list)


@dataclass(frozen=True)
class FairseqFormat(NBestFormat):
    """fairseq generate output: the scores of H- lines and the sums of P- lines, among log lines."""

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per run of tagged lines with the same id. Raises FormatError with the path and the line."""
        names: tuple[str, ...] = ()
        for segment, line in _segments(lines, path):
            if not segment.blocks:
                raise FormatError(f"no H- line for segment {segment.id}: is the file cut short?", path=path, line=line)
            names = names or tuple(segment.blocks[0].features)
            for block in segment.blocks:
                if difference := names_differ(names, tuple(block.features)):
                    raise FormatError(f"{difference}, unlike the hypotheses before it", path=path, line=block.line)
            hypotheses = tuple(
                Hypothesis(block.text, tuple(block.features.values()), block.score) for block in segment.blocks
            )
            yield NBestList(segment.id, hypotheses, names, segment.source, line=segment.blocks[0].line)


def _segments(lines: Iterable[str], path: str) -> Iterator[tuple[_Segment, int]]:
    """The segments, each with the number of the line at which its end shows."""
    segment, number = _Segment(""), 0
    for number, line in enumerate(lines, 1):
        match = TAGGED.match(line)
        if match is None:
            continue
        tag, id_ = match.groups()
        rest = line[match.end() :].rstrip("\r\n")
        if tag in ("S", "T", "H") and id_ != segment.id:
            if segment.id:
                yield segment, number
            segment = _Segment(id_)
        if tag == "S":
            segment.source = rest
        elif tag == "H":
            score, text = _scored(rest, path, number)
            segment.blocks.append(_Block(number, score, text, {"score": score * LN2}))
        elif tag in ("D", "P"):
            if not segment.blocks or id_ != segment.id:
                raise FormatError(f"{tag}-{id_} comes before H-{id_}", path=path, line=number)
            if tag == "P":
                block, what = segment.blocks[-1], "a value of the P- line"
                total = fsum(finite_value(text, what, path, block.line) for text in rest.split())
                block.features["logprob"] = total * LN2
    if segment.id:
        yield segment, number


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
