"""The n-best output of WeNet's runtime (`decoder_main --output_nbest`, runtime/core/bin/decoder_main.cc, WeNet 3).

    wav utt-07
    candidate -8.21 so it is
    candidate -9.87 so is it

The score after `candidate`, a natural logarithm, is the total and the feature `score`. A rescored list has its new
totals there; there is no place for new features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from rerank_adapters.formats.line_lists import LineFormat, line_end
from rerank_plugins import FormatError, Hypothesis, NBestList, Rescored
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite_value, shortest


@dataclass(frozen=True)
class WenetFormat(LineFormat):
    """WeNet n-best output: a line `wav utterance`, then lines `candidate score words`."""

    keeps_features: ClassVar[bool] = False
    ids_are_words: ClassVar[bool] = True

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per `wav` line. Raises FormatError with the path and the line."""
        utterance, start, lead = "", 0, ""
        hypotheses: list[Hypothesis] = []
        number = 0
        for number, line in enumerate(lines, 1):
            fields = line.split(maxsplit=2)
            if fields[:1] == ["wav"] and len(fields) == 2:
                if start:
                    yield _list(utterance, hypotheses, start, path)
                utterance, start, lead, hypotheses = fields[1], number, line, []
            elif fields[:1] == ["candidate"] and len(fields) > 1 and start:
                score = finite_value(fields[1], "the score", path, number)
                text = fields[2].rstrip() if len(fields) > 2 else ""
                hypotheses.append(Hypothesis(text, (score,), score, NO_SPARSE, lead + line))
                lead = ""
            else:
                wanted = "`wav utterance`, then `candidate score words`"
                raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
        if start:
            yield _list(utterance, hypotheses, start, path)

    def written(self, nbest: NBestList, rescored: Rescored | None) -> Iterator[str]:
        """Yield the lines of a list in its new order, with its totals."""
        end = line_end(nbest)
        totals = [h.score or 0.0 for h in nbest] if rescored is None else rescored.scores
        yield f"wav {nbest.segment_id}{end}"
        for row in range(len(nbest)) if rescored is None else rescored.order:
            yield f"candidate {shortest(totals[row])} {nbest[row].text}".rstrip(" ") + end


def _list(utterance: str, hypotheses: list[Hypothesis], line: int, path: str) -> NBestList:
    if not hypotheses:
        raise FormatError(f"no candidate for utterance {utterance!r}", path=path, line=line)
    return NBestList(utterance, tuple(hypotheses), ("score",), line=line)
