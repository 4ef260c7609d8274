"""Julius's n-best output (`-output N` of Julius 4; `-separatescore` for the two scores), among its log lines.

    input MFCC file: utt-07.mfc
    sentence1: <s> so it is </s>
    wseq1: <s> so it is </s>
    cmscore1: 1.000 0.412 0.873 0.705 1.000
    score1: -4361.208984 (AM: -4290.1  LM: -71.1)

The id of a list is the name of the input file that a line `input …file: NAME` names before it, otherwise its number,
from 0. The features are natural logarithms: `score`, and with -separatescore `acoustic` and `lm`. A rescored list has
the new totals on its score lines, and all features, old and new, on a line `features1: score= -4361.2 new= 1` after the
other lines of the hypothesis, which takes precedence when it is read. Every other line is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rerank_adapters.formats.delimited import reordered
from rerank_adapters.formats.feature_field import FeatureField, spell
from rerank_adapters.formats.line_lists import LineFormat, line_end, stem, with_end, without
from rerank_plugins import FormatError, Hypothesis, NBestList, Rescored, option
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite_value, shortest

INPUT = re.compile(r"(?:.*\s)?input\s+\S*\s?file\S*:\s*(\S+)\s*", re.IGNORECASE)
TAGGED = re.compile(r"(sentence|wseq|phseq|cmscore|score|features)([1-9][0-9]{0,8}):\s?(.*)")
SCORE = re.compile(r"\s*(\S+)(?:\s+\(AM:\s*(\S+)\s+LM:\s*(\S+)\))?\s*")
ENDS = ("<s>", "</s>", "silB", "silE", "sp")


@dataclass
class _Block:
    """The lines of one hypothesis while they are being read."""

    raw: str
    line: int = 0  # the number of the sentence line; 0 until it has been read
    text: str = ""
    score: str | None = None
    features: str | None = None


@dataclass
class _Segment:
    """The lines of one list while they are being read."""

    id: str = ""
    blocks: list[_Block] = field(default_factory=list)


@dataclass(frozen=True)
class JuliusFormat(LineFormat):
    """Julius's output of n sentences with their scores, among its log lines."""

    drop: tuple[str, ...] = option(ENDS, doc="words that are not part of the text, such as sentence ends")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per input. Raises FormatError with the path and the line."""
        parser = FeatureField(lambda label: False, path)
        lists = 0
        segment = _Segment()
        pending, input_file = "", ""  # lines before the next sentence, and the input that they name
        for number, line in enumerate(lines, 1):
            match = TAGGED.fullmatch(line.strip("\r\n"))
            if match is None:
                named = INPUT.fullmatch(line.rstrip("\r\n"))
                if named:
                    input_file = stem(named[1])
                pending += line
                continue
            tag, rank, rest = match[1], int(match[2]), match[3]
            if tag == "sentence":
                if rank == 1:
                    if segment.blocks:
                        yield self._list(segment, str(lists), parser, path)
                        lists += 1
                    segment, input_file = _Segment(input_file), ""
                if rank != len(segment.blocks) + 1:
                    message = f"found sentence{rank}, expected sentence{len(segment.blocks) + 1}"
                    raise FormatError(message, path=path, line=number)
                segment.blocks.append(_Block(pending + line, number, rest))
                pending = ""
                continue
            if not segment.blocks or rank != len(segment.blocks):
                raise FormatError(f"{tag}{rank} comes without sentence{rank} before it", path=path, line=number)
            block = segment.blocks[-1]
            block.raw += pending + line
            pending = ""
            if tag == "score":
                block.score = rest
            elif tag == "features":
                block.features = rest
        if segment.blocks:
            segment.blocks[-1].raw += pending
            yield self._list(segment, str(lists), parser, path)

    def written(self, nbest: NBestList, rescored: Rescored | None) -> Iterator[str]:
        """Yield the lines of a list in its new order, with its totals and features.

        Raises ConfigError for a new feature whose name the list already has, or whose name no line can hold.
        """
        written = nbest if rescored is None else reordered(nbest, rescored)
        end = line_end(nbest)
        parts = [_parts(hypothesis.raw) for hypothesis in nbest]
        before = [line for lead, _, _ in parts for line in lead]
        if not any(hypothesis.raw for hypothesis in nbest):
            before = [f"input speech file: {nbest.segment_id}{end}"]
        yield from (with_end(line, end) for line in before)
        for rank, hypothesis in enumerate(written, 1):
            _, tagged, _ = _parts(hypothesis.raw)
            score = hypothesis.score
            if not tagged:
                tagged = [f"sentence1: {hypothesis.text}{end}"] + ([f"score1: 0{end}"] if score is not None else [])
            for line in tagged:
                match = TAGGED.fullmatch(line.strip("\r\n"))
                tag, rest = (match[1], match[3]) if match else ("", "")
                if tag == "score" and score is not None:
                    rest = f"{shortest(score)} {rest.partition(' ')[2].strip()}".rstrip()
                if tag != "features":
                    yield f"{tag}{rank}: {rest}{end}" if tag else with_end(line, end)
            if not any(line.startswith("score") for line in tagged) and score is not None:
                yield f"score{rank}: {shortest(score)}{end}"
            if written.feature_names:
                yield f"features{rank}: {spell(written.feature_names, hypothesis.features, '= ')}{end}"
        yield from (with_end(line, end) for _, _, trail in parts for line in trail)

    def _list(self, segment: _Segment, default: str, parser: FeatureField, path: str) -> NBestList:
        hypotheses = [self._hypothesis(block, parser, path) for block in segment.blocks]
        if len({hypothesis.score is None for hypothesis in hypotheses}) > 1:
            message = f"some sentences of {segment.id or default} have a score line and some have none"
            raise FormatError(message, path=path, line=segment.blocks[0].line)
        return NBestList(segment.id or default, tuple(hypotheses), parser.names, line=segment.blocks[0].line)

    def _hypothesis(self, block: _Block, parser: FeatureField, path: str) -> Hypothesis:
        total, features = None, block.features
        if block.score is not None:
            match = SCORE.fullmatch(block.score)
            if match is None:
                raise FormatError(f"the score is {block.score!r}, expected a number", path=path, line=block.line)
            total = finite_value(match[1], "the score", path, block.line)
            if features is None:
                features = f"score= {match[1]}" + (f" acoustic= {match[2]} lm= {match[3]}" if match[2] else "")
        values, _ = parser.parse(features or "", block.line)
        return Hypothesis(without(block.text.split(), self.drop), values, total, NO_SPARSE, block.raw)


def _parts(raw: str) -> tuple[list[str], list[str], list[str]]:
    """The log lines before the sentence line, the lines of the hypothesis, and the log lines after them."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", raw)
    tagged = [i for i, line in enumerate(lines) if TAGGED.fullmatch(line.strip("\r\n"))]
    if not tagged:
        return [], [], []
    return lines[: tagged[0]], lines[tagged[0] : tagged[-1] + 1], lines[tagged[-1] + 1 :]
