"""Proportions of right answers: their intervals, and whether those of two systems differ by more than chance.

Wilson's score interval (1927) holds all proportions that a normal test at this level does not reject,
|s - p| <= z sqrt(p (1 - p) / n); it keeps its level near 0 and 1 too. McNemar's exact test (1947) compares two systems
on the same questions, of which only those count that one system answers correctly and the other does not. If both were
equally good, each of these would favour either system with probability 1/2, so that the smaller of the two counts is
binomial.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from rerank_adapters.evaluation.significance import Interval
from rerank_plugins.core.arrays import BoolArray

Z = 1.959963984540054  # 97.5th percentile of the standard normal distribution


def wilson_interval(successes: float, trials: int) -> Interval:
    """The 95 % interval of successes / trials, between 0 and 1; the whole range for no trials.

    >>> low, high = wilson_interval(5, 10)
    >>> f"{low:.4f} {high:.4f}"
    '0.2366 0.7634'
    """
    if trials == 0:
        return Interval(0.0, 1.0)
    rate, spread = successes / trials, Z * Z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = Z * sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


class McNemar(NamedTuple):
    """The numbers of questions that only the first or only the second system answers correctly, and the p-value."""

    first_only: int
    second_only: int
    p_value: float


def mcnemar(first: BoolArray, second: BoolArray) -> McNemar:
    """The exact two-sided test; the arrays (questions) are whether the answers of either system are correct.

    >>> mcnemar(np.array([True] * 5 + [False]), np.array([False] * 6))
    McNemar(first_only=5, second_only=0, p_value=0.0625)
    """
    first_only, second_only = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return McNemar(first_only, second_only, binomial_p_value(first_only, second_only))


def binomial_p_value(heads: int, tails: int) -> float:
    """The probability that heads + tails throws of a fair coin are at least as uneven, in either direction."""
    from scipy.stats import binomtest

    return float(binomtest(heads, heads + tails).pvalue) if heads + tails else 1.0
