r"""NeMo's beams as tab-separated values (scripts/asr_language_modeling/ngram_lm/eval_beamsearch_ngram*.py, NeMo 1.23).

    so it is\t-12.71          `beam` lines for each utterance, in the order of the manifest
    so is it\t-13.05

The file does not show where the beam of one utterance ends, so the option `beam`, the beam size of the decoding, is
needed. The id of a list is its number, from 0. The score of the beam search, a natural logarithm with its language
model, is the total and the feature `score`. A rescored line has the new total, and a third column with all features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from rerank_adapters.formats.delimited import reordered
from rerank_adapters.formats.feature_field import FeatureField, spell
from rerank_adapters.formats.line_lists import LineFormat, check_size, line_end
from rerank_plugins import FormatError, Hypothesis, NBestList, Rescored, option
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite_value, shortest


@dataclass(frozen=True)
class NemoFormat(LineFormat):
    """NeMo beams as `text<TAB>score`: `beam` lines for each utterance."""

    beam: int = option(0, doc="the beam size, that is, the number of lines for each utterance (required)")

    keeps_ids: ClassVar[bool] = False

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield a list for each `beam` lines. Raises FormatError with the path and the line."""
        if self.beam < 1:
            wanted = "the number of lines for each utterance is not known: name the beam size, --format nemo,beam=128"
            raise FormatError(wanted, path=path)
        parser = FeatureField(lambda label: False, path)
        hypotheses: list[Hypothesis] = []
        number = 0
        for number, line in enumerate(lines, 1):
            columns = line.rstrip("\r\n").split("\t")
            if len(columns) not in (2, 3):
                found = f"{len(columns)} column{'s' if len(columns) > 1 else ''}"
                raise FormatError(f"found {found}, expected text<TAB>score", path=path, line=number)
            total = finite_value(columns[1], "the score", path, number)
            values, _ = parser.parse(columns[2] if len(columns) > 2 else f"score= {columns[1]}", number)
            hypotheses.append(Hypothesis(columns[0].strip(), values, total, NO_SPARSE, line))
            if len(hypotheses) == self.beam:
                first = number - self.beam + 1
                yield NBestList(str(number // self.beam - 1), tuple(hypotheses), parser.names, line=first)
                hypotheses = []
        if hypotheses:
            message = f"the file has {number} lines, expected a multiple of the beam size {self.beam}"
            raise FormatError(message, path=path, line=number)

    def written(self, nbest: NBestList, rescored: Rescored | None) -> Iterator[str]:
        """Yield the lines of a list in its new order, with totals and features.

        Raises ConfigError for a list of another size than `beam`.
        """
        check_size(nbest, self.beam, "beam")
        end = line_end(nbest)
        written = nbest if rescored is None else reordered(nbest, rescored)
        for hypothesis in written:
            features = spell(written.feature_names, hypothesis.features, "= ")
            yield f"{hypothesis.text}\t{shortest(hypothesis.score or 0.0)}\t{features}{end}"
