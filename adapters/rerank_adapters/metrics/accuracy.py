"""Accuracy: how many hypotheses are their reference, in percent; for tasks with one right answer.

Statistics (S = 2): correct (0 or 1), questions (1). Of several references any will do. White space is compared as
single spaces; nothing else is normalised. Linear in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rerank_adapters.metrics.signatures import join_signature
from rerank_plugins import __version__
from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import Metric, check_texts, option


@dataclass
class Accuracy(Metric):
    """Share of hypotheses that equal a reference, in percent."""

    decomposes: ClassVar[bool] = True

    lowercase: bool = option(False, doc="compare lower-cased texts")

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): 1 where the hypothesis is one of its references, and 1. Raises what `check_texts` raises."""
        check_texts(hypotheses, references)
        correct = []
        for texts, right in zip(hypotheses, references, strict=True):
            wanted = {self._compared(text) for text in right}
            correct += [self._compared(text) in wanted for text in texts]
        return np.column_stack([np.array(correct, np.float64), np.ones(len(correct))])

    def score(self, totals: FloatArray) -> FloatArray:
        """Percent correct: (…, 2) -> (…); 0 of no questions."""
        totals = np.asarray(totals, np.float64)
        correct, questions = totals[..., 0], totals[..., 1]
        return np.asarray(100 * (correct / np.where(questions > 0, questions, 1)))

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """(n) 0 or 100."""
        return self.score(statistics)

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): 100 where two hypotheses are the same."""
        number: dict[str, int] = {}
        ids = np.array([number.setdefault(self._compared(text), len(number)) for text in hypotheses], np.int64)
        return np.where(ids[:, None] == ids[None, :], 100.0, 0.0)

    def signature(self) -> str:
        """In sacrebleu's form."""
        return join_signature(__version__, case="lc" if self.lowercase else "mixed", tok="none")

    def _compared(self, text: str) -> str:
        return " ".join((text.lower() if self.lowercase else text).split())
