"""Julius's n-best output (`-output N` of Julius 4; `-separatescore` for the two scores), among its log lines.

    input MFCC file: utt-07.mfc
    sentence1: <s> so it is </s>
    wseq1: <s> so it is </s>
    cmscore1: 1.000 0.412 0.873 0.705 1.000
    score1: -4361.208984 (AM: -4290.1  LM: -71.1)

The id of a list is the name of the input file that a line `input …file: NAME` names before it, otherwise its number,
from 0. The features are natural logarithms: `score`, and with -separatescore `acoustic` and `lm`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rerank_adapters.formats.items import names_differ
from rerank_adapters.formats.list_files import stem
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, option
from rerank_plugins.kit.files.text import finite_value

INPUT = re.compile(r"(?:.*\s)?input\s+\S*\s?file\S*:\s*(\S+)\s*", re.IGNORECASE)
TAGGED = re.compile(r"(sentence|wseq|phseq|cmscore|score)([1-9][0-9]{0,8}):\s?(.*)")
SCORE = re.compile(r"\s*(\S+)(?:\s+\(AM:\s*(\S+)\s+LM:\s*(\S+)\))?\s*")
NAMES = ("score", "acoustic", "lm")
ENDS = ("<s>", "</s>", "silB", "silE", "sp")


@dataclass
class _Block:
    """A hypothesis while its lines are being read."""

    line: int  # the number of the sentence line
    text: str
    features: dict[str, float] = field(default_factory=dict)


@dataclass
class _Segment:
    """A list while its lines are being read."""

    id: str
    blocks: list[_Block] = field(default_factory=list)


@dataclass(frozen=True)
class JuliusFormat(NBestFormat):
    """Julius's output of n sentences with their scores, among its log lines."""

    drop: tuple[str, ...] = option(ENDS, doc="words that are not part of the text, such as sentence ends")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per input. Raises FormatError with the path and the line."""
        names: tuple[str, ...] | None = None
        for place, segment in enumerate(_segments(lines, path)):
            blocks = segment.blocks
            names = tuple(blocks[0].features) if names is None else names
            for block in blocks:
                if difference := names_differ(names, tuple(block.features)):
                    raise FormatError(f"{difference}, unlike the sentences before it", path=path, line=block.line)
            hypotheses = tuple(
                Hypothesis(self._text(block), tuple(block.features.values()), block.features.get("score"))
                for block in blocks
            )
            yield NBestList(segment.id or str(place), hypotheses, names, line=blocks[0].line)

    def _text(self, block: _Block) -> str:
        return " ".join(word for word in block.text.split() if word not in self.drop)


def _segments(lines: Iterable[str], path: str) -> Iterator[_Segment]:
    """The lists, each with the name of the input that a line before it names, perhaps ""."""
    segment, input_file = _Segment(""), ""
    for number, line in enumerate(lines, 1):
        match = TAGGED.fullmatch(line.strip("\r\n"))
        if match is None:
            named = INPUT.fullmatch(line.rstrip("\r\n"))
            input_file = stem(named[1]) if named else input_file
            continue
        tag, rank, rest = match[1], int(match[2]), match[3]
        if tag == "sentence":
            if rank == 1:
                if segment.blocks:
                    yield segment
                segment, input_file = _Segment(input_file), ""
            if rank != len(segment.blocks) + 1:
                message = f"found sentence{rank}, expected sentence{len(segment.blocks) + 1}"
                raise FormatError(message, path=path, line=number)
            segment.blocks.append(_Block(number, rest))
        elif not segment.blocks or rank != len(segment.blocks):
            raise FormatError(f"{tag}{rank} comes without sentence{rank} before it", path=path, line=number)
        elif tag == "score":
            segment.blocks[-1].features = _scores(rest, path, segment.blocks[-1].line)
    if segment.blocks:
        yield segment


def _scores(text: str, path: str, line: int) -> dict[str, float]:
    """The features that a score line holds."""
    match = SCORE.fullmatch(text)
    if match is None:
        raise FormatError(f"the score is {text!r}, expected a number", path=path, line=line)
    found = zip(NAMES, match.groups(), strict=True)
    return {name: finite_value(number, f"the {name}", path, line) for name, number in found if number is not None}
