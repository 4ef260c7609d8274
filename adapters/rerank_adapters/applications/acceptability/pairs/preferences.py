"""The accuracy of a system on minimal pairs, with its interval, and a test of the difference between two systems.

A tie counts as half a success, which is what tossing a coin would bring on average. Two scores tie where they differ by
no more than rounding does (1e-9 of their size), since the sum over the same words in another order is the same score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_adapters.evaluation.significance import Interval, McNemar, binomial_p_value, wilson_interval
from rerank_plugins.core.arrays import BoolArray, FloatArray

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Preferences:
    """The preferences of a system: `credit` (pairs) is 1 where the good sentence scores higher, ½ at a tie, else 0.

    `margin` (pairs) is the score of the good sentence less that of the bad one.
    """

    system: str
    credit: FloatArray
    margin: FloatArray

    @classmethod
    def of_scores(cls, system: str, good: FloatArray, bad: FloatArray) -> Preferences:
        """The preferences that follow from the scores (pairs) of good and of bad sentences; higher is better."""
        tied = np.isclose(good, bad, rtol=ROUNDING, atol=ROUNDING)
        return cls(system, np.where(tied, 0.5, good > bad), good - bad)

    def among(self, pairs: BoolArray) -> Preferences:
        """The preferences of the same system on the pairs of a mask (pairs)."""
        return Preferences(self.system, self.credit[pairs], self.margin[pairs])

    @property
    def accuracy(self) -> float:
        """The proportion of pairs on which the good sentence is preferred, where ties count half."""
        return float(self.credit.mean())

    @property
    def ties(self) -> int:
        """The number of pairs whose sentences tie."""
        return int(np.sum(self.credit == 0.5))

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the accuracy, where a tie counts as half a success."""
        return wilson_interval(float(self.credit.sum()), len(self.credit))

    def against(self, other: Preferences) -> McNemar:
        """McNemar's exact test over the pairs on which one system does better; a tie lies between right and wrong."""
        ours, theirs = int(np.sum(self.credit > other.credit)), int(np.sum(self.credit < other.credit))
        return McNemar(ours, theirs, binomial_p_value(ours, theirs))
