"""How often a system prefers the right one of two sentences: accuracy, its interval, and who beats whom.

A tie is half a success: what a throw of a coin would bring. Two scores are tied where they differ by no more than
rounding does (1e-9 of their size): the sum of the same words in another order is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_adapters.evaluation.proportions import McNemar, binomial_p_value, wilson_interval
from rerank_adapters.evaluation.significance import Interval
from rerank_plugins.arrays import BoolArray, FloatArray

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Preferences:
    """What a system prefers: `credit` (pairs) is 1 where the good sentence has the higher score, ½ where they tie."""

    system: str
    credit: FloatArray

    @classmethod
    def of_scores(cls, system: str, good: FloatArray, bad: FloatArray) -> Preferences:
        """From the scores (pairs) of good and bad sentences, higher is better."""
        tied = np.isclose(good, bad, rtol=ROUNDING, atol=ROUNDING)
        return cls(system, np.where(tied, 0.5, good > bad))

    def among(self, pairs: BoolArray) -> Preferences:
        """The same system on some of the pairs."""
        return Preferences(self.system, self.credit[pairs])

    @property
    def accuracy(self) -> float:
        """Share of pairs, ties half."""
        return float(self.credit.mean())

    @property
    def ties(self) -> int:
        """Pairs whose sentences have the same score."""
        return int(np.sum(self.credit == 0.5))

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the accuracy, ties as half a success."""
        return wilson_interval(float(self.credit.sum()), len(self.credit))

    def against(self, other: Preferences) -> McNemar:
        """McNemar's exact test over the pairs on which one system does better than the other (a tie lies between)."""
        ours, theirs = int(np.sum(self.credit > other.credit)), int(np.sum(self.credit < other.credit))
        return McNemar(ours, theirs, binomial_p_value(ours, theirs))
