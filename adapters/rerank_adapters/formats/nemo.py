r"""NeMo's beams as tab-separated values (scripts/asr_language_modeling/ngram_lm/eval_beamsearch_ngram*.py, NeMo 1.23).

    so it is\t-12.71          `beam` lines for each utterance, in the order of the manifest
    so is it\t-13.05

The file does not show where the beam of one utterance ends, so the option `beam`, the beam size of the decoding, is
needed. The id of a list is its number, from 0. The score of the beam search, a natural logarithm with its language
model, is the total and the feature `score`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, option
from rerank_plugins.kit.files.text import finite_value


@dataclass(frozen=True)
class NemoFormat(NBestFormat):
    """NeMo beams as `text<TAB>score`: `beam` lines for each utterance."""

    beam: int = option(0, doc="the beam size, that is, the number of lines for each utterance (required)")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield a list for each `beam` lines. Raises FormatError with the path and the line."""
        if self.beam < 1:
            wanted = "the number of lines for each utterance is not known: name the beam size, --format nemo,beam=128"
            raise FormatError(wanted, path=path)
        hypotheses: list[Hypothesis] = []
        number = 0
        for number, line in enumerate(lines, 1):
            columns = line.rstrip("\r\n").split("\t")
            if len(columns) != 2:
                found = f"{len(columns)} column{'s' if len(columns) > 1 else ''}"
                raise FormatError(f"found {found}, expected text<TAB>score", path=path, line=number)
            total = finite_value(columns[1], "the score", path, number)
            hypotheses.append(Hypothesis(columns[0].strip(), (total,), total))
            if len(hypotheses) == self.beam:
                first = number - self.beam + 1
                yield NBestList(str(number // self.beam - 1), tuple(hypotheses), ("score",), line=first)
                hypotheses = []
        if hypotheses:
            message = f"the file has {number} lines, expected a multiple of the beam size {self.beam}"
            raise FormatError(message, path=path, line=number)
