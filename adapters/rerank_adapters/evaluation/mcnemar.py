"""Two systems answer the same questions: is the one better than chance makes it? McNemar's test (1947), exact.

Only questions that one system has right and the other wrong can tell. If both were equally good, each of these would
favour either with probability ½, so the smaller of the two counts is binomial. Linear in the number of such questions
(exact integers).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.interfaces import BoolArray


class McNemar(NamedTuple):
    """Questions that only the first or only the second system has right, and the two-sided p-value."""

    first_only: int
    second_only: int
    p_value: float


def mcnemar(first: BoolArray, second: BoolArray) -> McNemar:
    """The exact test, two-sided, of whether each of two systems is right: (questions) each.

    >>> mcnemar(np.array([True] * 5 + [False]), np.array([False] * 6))
    McNemar(first_only=5, second_only=0, p_value=0.0625)
    """
    first_only, second_only = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return McNemar(first_only, second_only, binomial_p_value(first_only, second_only))


def binomial_p_value(heads: int, tails: int) -> float:
    """Probability that a fair coin falls as unevenly, either way, in heads + tails throws."""
    throws = heads + tails
    term = tail = 1  # C(throws, k) for k = 0, each from the one before
    for k in range(min(heads, tails)):
        term = term * (throws - k) // (k + 1)
        tail += term
    return float(min(1.0, 2 * tail / (1 << throws)))
