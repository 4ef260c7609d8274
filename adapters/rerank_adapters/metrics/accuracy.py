"""Accuracy and sentence error rate: the percentages of hypotheses that equal a reference, and that do not.

The statistics (S = 2) are whether the hypothesis is correct (0 or 1) and the number of questions (1). A hypothesis may
equal any of several references, or any of the alternatives of NIST's formats (word_networks.py). The words are those of
WER; nothing else is normalised. Linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rerank_adapters.metrics.edit_rate import words_of
from rerank_adapters.metrics.sacrebleu_conventions import join_signature
from rerank_adapters.metrics.word_networks import Network, NetworkAligner
from rerank_adapters.texts.transcript import Transcript
from rerank_plugins import FloatArray, __version__, check_texts, option
from rerank_plugins.core.metrics_and_tuners import SegmentAverage


@dataclass
class Accuracy(SegmentAverage):
    """The percentage of hypotheses that equal a reference."""

    unit: ClassVar[float] = 100.0
    reads_alternatives: ClassVar[bool] = True

    lowercase: bool = option(False, doc="compare lower-cased texts")

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): 1 where the hypothesis equals a reference (otherwise 0), and 1. Raises as `check_texts` does."""
        check_texts(hypotheses, references)
        correct = []
        for texts, right in zip(hypotheses, references, strict=True):
            if any(isinstance(text, Transcript) for text in (*texts, *right)):
                aligners = [NetworkAligner(Network.of(text, self._words), "levenshtein") for text in right]
                networks = [Network.of(text, self._words) for text in texts]
                correct += [any(aligner.counts(each)[0] == 0 for aligner in aligners) for each in networks]
                continue
            wanted = {self._compared(text) for text in right}
            correct += [self._compared(text) in wanted for text in texts]
        return np.column_stack([np.array(correct, np.float64), np.ones(len(correct))])

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): 100 where two hypotheses are equal, otherwise 0."""
        number: dict[str, int] = {}
        ids = np.array([number.setdefault(self._compared(text), len(number)) for text in hypotheses], np.int64)
        return np.where(ids[:, None] == ids[None, :], self.unit, 0.0)

    def signature(self) -> str:
        """The signature in sacrebleu's form."""
        return join_signature(__version__, case="lc" if self.lowercase else "mixed", tok="none")

    def _compared(self, text: str) -> str:
        return " ".join(self._words(text))

    def _words(self, text: str) -> list[str]:
        return words_of(text.lower() if self.lowercase else text)


@dataclass
class SentenceErrorRate(Accuracy):
    """Sentence error rate (SER): the percentage of hypotheses that equal no reference."""

    higher_is_better: ClassVar[bool] = False

    def score(self, totals: FloatArray) -> FloatArray:
        """The percentage of wrong answers, 0 where there are no questions: (…, 2) -> (…)."""
        totals = np.asarray(totals, np.float64)
        return np.where(totals[..., 1] > 0, 100.0 - super().score(totals), 0.0)

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): 0 where two hypotheses are equal, otherwise 100."""
        return 100.0 - super().pairwise(hypotheses)
