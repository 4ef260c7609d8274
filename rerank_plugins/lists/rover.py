"""Voting in the slots of a word transition network, by frequency and confidence (Fiscus 1997).

What scores best in slot i wins, where w is a word or ε, N its number of votes, Ns that of all systems, and C the
average or the maximum of the confidences of the systems that have w in slot i:

    score(w, i) = α N(w, i) / Ns + (1 - α) C(w, i),    C(ε, i) = the null confidence

Systems may have weights: N is then the sum of the weights, and the average is weighted. Of equal scores a word wins
before ε, then the word of the first system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray, LongArray
from rerank_plugins.lists.confusion_network import ConfusionNetwork

ConfidenceKind = Literal["avg", "max"]
CONFIDENCES: tuple[ConfidenceKind, ...] = ("avg", "max")
EQUAL = 1e-9  # scores that differ by less are equal


@dataclass(frozen=True, eq=False)
class Voting:
    """The votes for what each system has in each slot; all arrays are (systems, slots).

    `empty`        whether a system has ε in a slot
    `shares`       N(w, i) / Ns of the system's w
    `confidences`  C(w, i) by its kind, without that of ε; no kinds where words have no confidences
    """

    empty: BoolArray
    shares: FloatArray
    confidences: dict[ConfidenceKind, FloatArray]

    @classmethod
    def count(
        cls, network: ConfusionNetwork, weights: FloatArray, confidences: Sequence[FloatArray] | None = None
    ) -> Voting:
        """The votes of systems with these weights (systems); `confidences` has an array (words) for each system."""
        empty = network.choices == len(network.words)
        same = network.choices[:, None, :] == network.choices[None, :, :]  # of a system, with the w of another one
        votes = np.einsum("stk,t->sk", same, weights)
        shares = votes / weights.sum()
        if confidences is None:
            return cls(empty, shares, {})
        own = np.zeros(empty.shape)
        for row, without, values in zip(own, empty, confidences, strict=True):
            row[~without] = values
        average = np.einsum("stk,t,tk->sk", same, weights, own) / votes
        highest = np.where(same, own[None, :, :], 0.0).max(axis=1)
        return cls(empty, shares, {"avg": average, "max": highest})

    def winners(self, alpha: FloatArray, null: FloatArray, kind: ConfidenceKind = "avg") -> LongArray:
        """(points, slots): the first system with what wins, for each pair of α and a null confidence (points).

        With α = 1, words need no confidences. Raises KeyError where α is lower and there are none.
        """
        alpha, null = alpha[:, None, None], null[:, None, None]
        scores = alpha * self.shares
        if self.confidences or (alpha < 1).any():
            scores = scores + (1 - alpha) * np.where(self.empty, null, self.confidences[kind])
        best = scores >= scores.max(axis=1, keepdims=True) - EQUAL
        words = best & ~self.empty
        first: LongArray = np.where(words.any(axis=1), words.argmax(axis=1), best.argmax(axis=1))
        return first
