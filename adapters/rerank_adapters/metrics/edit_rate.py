"""The common base of TER, WER and CER: edits per word or character of the reference.

The statistics of a hypothesis are the edits to the closest of its references and the mean length of its references
(Snover et al. 2006): S = 2. As that length does not depend on the hypothesis, its sum over segments is the same
whichever hypotheses are chosen, and the corpus score is a constant times a sum over segments. For these metrics the
best hypothesis of each segment (by `sentence_scores`) therefore gives the best corpus score.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rerank_adapters.metrics.layout import Layout, lay_out
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.metrics_and_tuners import Metric


class EditRate(Metric):
    """A rate of edits, in percent; lower is better."""

    higher_is_better: ClassVar[bool] = False
    decomposes: ClassVar[bool] = True

    @abstractmethod
    def edits(self, layout: Layout) -> tuple[LongArray, LongArray]:
        """(distinct hypotheses) the fewest edits to any reference of the segment; (references) their lengths."""

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the edits to the closest reference, and the mean length of the references.

        Raises FormatError for a segment without a reference.
        """
        layout = lay_out(hypotheses, references)
        edits, lengths = self.edits(layout)
        first = layout.references - layout.distinct
        totals = np.concatenate([[0], np.cumsum(lengths)])
        means = (totals[first[1:]] - totals[first[:-1]]) / np.diff(first)
        distinct = np.column_stack([edits, np.repeat(means, np.diff(layout.hypotheses))])
        return distinct[layout.rows].astype(np.float64)

    def score(self, totals: FloatArray) -> FloatArray:
        """Edits per 100 words (CER: characters) of the references: (…, 2) -> (…).

        Where the references are empty the rate is 0 without edits and 100 with any edits.
        """
        totals = np.asarray(totals, np.float64)
        edits, length = totals[..., 0], totals[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(length > 0, 100 * (edits / length), np.where(edits > 0, 100.0, 0.0))

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """The rates of single hypotheses, unsmoothed; an empty reference counts as one word.

        With an empty reference too, hypotheses are thus ranked by their edits, which `score` would not distinguish.
        """
        statistics = np.asarray(statistics, np.float64)
        edits, length = statistics[..., 0], statistics[..., 1]
        return 100 * (edits / np.where(length > 0, length, 1))

    @abstractmethod
    def edit_matrix(self, hypotheses: Sequence[str]) -> tuple[LongArray, LongArray]:
        """(n, n) the edits that turn text i into text j; (n) the lengths."""

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the rate of hypothesis i with hypothesis j as its reference."""
        edits, lengths = self.edit_matrix(hypotheses)
        return self.sentence_scores(np.stack(np.broadcast_arrays(edits, lengths), axis=-1))
