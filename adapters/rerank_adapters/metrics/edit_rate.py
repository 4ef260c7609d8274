"""Edits per reference word or character: what TER, WER and CER have in common.

Statistics of a hypothesis: the edits to the closest of its references, and the mean length of its references
(Snover et al. 2006). S = 2. That length does not depend on the hypothesis, so summed over segments it is the same
whichever hypotheses are chosen, and the corpus score is a constant times a sum over segments: for these metrics the
best hypothesis of each segment (by `sentence_scores`) gives the best corpus score.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rerank_adapters.metrics.layout import Layout, lay_out
from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.interfaces import Metric


class EditRate(Metric):
    """A rate of edits, in percent; lower is better."""

    higher_is_better: ClassVar[bool] = False
    decomposes: ClassVar[bool] = True

    @abstractmethod
    def edits(self, layout: Layout) -> tuple[LongArray, LongArray]:
        """Fewest edits (distinct hypotheses) to any reference of the segment; lengths of the references, in order."""

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): edits to the closest reference, mean length of the references.

        Raises FormatError for a segment without reference.
        """
        layout = lay_out(hypotheses, references)
        edits, lengths = self.edits(layout)
        first = layout.references - layout.distinct
        totals = np.concatenate([[0], np.cumsum(lengths)])
        means = (totals[first[1:]] - totals[first[:-1]]) / np.diff(first)
        distinct = np.column_stack([edits, np.repeat(means, np.diff(layout.hypotheses))])
        return distinct[layout.rows].astype(np.float64)

    def score(self, totals: FloatArray) -> FloatArray:
        """Edits per 100 words (CER: characters) of reference: (…, 2) -> (…).

        Where the references are empty: 0 without edits, 100 with any.
        """
        totals = np.asarray(totals, np.float64)
        edits, length = totals[..., 0], totals[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(length > 0, 100 * (edits / length), np.where(edits > 0, 100.0, 0.0))

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """The rate of single hypotheses, unsmoothed; empty references count as one word.

        So hypotheses rank by their edits there too, which `score` would not tell apart.
        """
        statistics = np.asarray(statistics, np.float64)
        edits, length = statistics[..., 0], statistics[..., 1]
        return 100 * (edits / np.where(length > 0, length, 1))

    @abstractmethod
    def edit_matrix(self, hypotheses: Sequence[str]) -> tuple[LongArray, LongArray]:
        """(n, n) edits that make text j of text i; (n) lengths."""

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): rate of hypothesis i with hypothesis j as its reference."""
        edits, lengths = self.edit_matrix(hypotheses)
        return self.sentence_scores(np.stack(np.broadcast_arrays(edits, lengths), axis=-1))
