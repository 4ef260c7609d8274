"""Scores computed elsewhere (COMET, BLEURT, quality estimates, people) as a metric: the mean over chosen hypotheses.

The statistics (S = 2) are the score of the hypothesis and the number of segments (1), so that sums of them give the
mean. With several references the score is the mean over them. The scores are looked up by the texts of the hypothesis
and of the reference, as they are after the text pipeline of the metric: one file serves all data sets and all systems
whose outputs it has, and MBR decisions where it has the pairs of hypotheses. Scores that need no reference are looked
up by the text of the hypothesis alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_adapters.formats.pairs import ScoredPairs, plain_text, read_scored_pairs
from rerank_adapters.metrics.sacrebleu_conventions import join_signature
from rerank_plugins import ConfigError, FloatArray, PickledFields, __version__, check_texts, option
from rerank_plugins.core.files import content_hash
from rerank_plugins.core.metrics_and_tuners import SegmentAverage


@dataclass
class ColumnMetric(PickledFields, SegmentAverage):
    """The mean of scores computed elsewhere for pairs of a hypothesis and a reference, or for hypotheses alone."""

    file: Path = option(
        doc="file of the scores: lines of `hypothesis TAB reference TAB score` (`rerank table pairs`), or of "
        "`hypothesis TAB score` for scores that need no reference"
    )
    scale: float = option(1.0, doc="multiply the scores by this: 100 for percentages, -1 where lower scores are better")

    @cached_property
    def _scores(self) -> ScoredPairs:
        """The scores by reference and hypothesis; read on first use, in each process."""
        return read_scored_pairs(self.file)

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the scaled score of the hypothesis, and 1.

        Raises as `check_texts` does, FormatError as `read_scored_pairs` does, ConfigError for a pair without a score.
        """
        check_texts(hypotheses, references)
        scores: list[float] = []
        for texts, right in zip(hypotheses, references, strict=True):
            columns = [self._of_reference(texts, plain_text(reference)) for reference in right]
            scores += np.sort(np.array(columns, np.float64), axis=0).mean(axis=0).tolist()  # sorted: rounded alike
        return np.column_stack([self.scale * np.array(scores, np.float64), np.ones(len(scores))])

    def _of_reference(self, texts: Sequence[str], reference: str) -> list[float]:
        alone = None in self._scores  # the scores need no reference
        known = self._scores.get(None if alone else reference, {})
        try:
            return [known[text] if text in known else known[plain_text(text)] for text in texts]
        except KeyError:
            text = next(text for text in texts if plain_text(text) not in known)
            pair = f"the hypothesis {plain_text(text)[:60]!r}" + (
                "" if alone else f" with the reference {reference[:60]!r}"
            )
            wanted = "`rerank table pairs` writes the pairs to be scored"
            raise ConfigError(f"{self.file}: there is no score for {pair}; {wanted}") from None

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the scores of pairs of hypotheses; each is looked up once. Raises as `statistics` does."""
        columns = [self._of_reference(hypotheses, plain_text(other)) for other in hypotheses]
        return self.scale * np.array(columns, np.float64).reshape(len(hypotheses), len(hypotheses)).T

    def signature(self) -> str:
        """The name of the file and the start of its hash, in sacrebleu's form. Raises ConfigError if it is missing."""
        try:
            digest = content_hash(self.file)[:8]
        except OSError as error:
            raise ConfigError(f"{self.file}: cannot be read ({error.strerror})") from None
        return join_signature(__version__, scores=self.file.name, sha256=digest, scale=f"{self.scale:g}")
