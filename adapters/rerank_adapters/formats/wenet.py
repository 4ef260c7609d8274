"""The n-best output of WeNet's runtime (`decoder_main --output_nbest`, runtime/core/bin/decoder_main.cc, WeNet 3).

    wav utt-07
    candidate -8.21 so it is
    candidate -9.87 so is it

The score after `candidate`, a natural logarithm, is the total and the feature `score`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList
from rerank_plugins.kit.files.text import finite_value


@dataclass(frozen=True)
class WenetFormat(NBestFormat):
    """WeNet n-best output: a line `wav utterance`, then lines `candidate score words`."""

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per `wav` line. Raises FormatError with the path and the line."""
        utterance, start = "", 0
        hypotheses: list[Hypothesis] = []
        for number, line in enumerate(lines, 1):
            fields = line.split(maxsplit=2)
            if fields[:1] == ["wav"] and len(fields) == 2:
                if start:
                    yield _list(utterance, hypotheses, start, path)
                utterance, start, hypotheses = fields[1], number, []
            elif fields[:1] == ["candidate"] and len(fields) > 1 and start:
                score = finite_value(fields[1], "the score", path, number)
                text = fields[2].rstrip() if len(fields) > 2 else ""
                hypotheses.append(Hypothesis(text, (score,), score))
            else:
                wanted = "`wav utterance`, then `candidate score words`"
                raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
        if start:
            yield _list(utterance, hypotheses, start, path)


def _list(utterance: str, hypotheses: list[Hypothesis], line: int, path: str) -> NBestList:
    if not hypotheses:
        raise FormatError(f"no candidate for utterance {utterance!r}", path=path, line=line)
    return NBestList(utterance, tuple(hypotheses), ("score",), line=line)
